//! Decides what may be shown of a call. Nothing else does.
//!
//! Takes a call of a tool whose schema marks secrets with `writeOnly` or `format: password`; decides for any value, text, key
//! or name how much may be shown. Secrets are hidden at their place, and wherever else their text occurs: in another argument,
//! in a key, in JSON inside a text, in a tool's result. A secret in the wrong place or under the wrong name is hidden too, and
//! nothing is shown of arguments that cannot be parsed. Everything that prints asks here. In rare cases it hides too much,
//! never too little.
//!
//! A tool that marks nothing has no secrets, and nothing is searched; neither is a valid call, unless it is recorded.

mod failure;
mod known;
mod rules;

use std::borrow::Cow;
use std::sync::Arc;

pub(crate) use self::failure::clean_result;
use self::known::Known;
use self::rules::{Noting, Rules, is_index};
use crate::call::{Arguments, Call};
use crate::json::{Path, Value, read_value};
use crate::tool::{Tool, ToolSet};
use crate::validate::Secrets;
use crate::verdict::{Refused, Verdict};

/// What is shown instead of a hidden value.
pub(crate) const MASKED: &str = "[masked]";

/// What may be shown of one call and its result.
///
/// ```
/// use callwright::json::Path;
/// use callwright::secrecy::Secrecy;
/// use callwright::{Call, Gate, ToolSpec};
/// use serde_json::json;
///
/// let tool = ToolSpec::new("login", json!({"properties": {"password": {"writeOnly": true}, "user": {}}}));
/// let gate = Gate::builder().tool(tool).build()?;
/// let call = Call::from_text("login", r#"{"password": "hunter2", "user": 5}"#);
/// let verdict = gate.judge(&call);
/// let secrecy = gate.secrecy(&call, &verdict);
/// let arguments = verdict.arguments().expect("they can be read");
/// assert_eq!(secrecy.value(arguments, &Path::root()).to_string(), r#"{"password":"[masked]","user":5}"#);
/// assert_eq!(secrecy.text("wrong password: hunter2"), "wrong password: [masked]");
/// # Ok::<(), callwright::Error>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct Secrecy {
    input: Option<Arc<Secrets>>,
    output: Option<Arc<Secrets>>,
    known: Known,
    /// The arguments could not be parsed as sent, so any part of them may be a secret.
    unreadable: bool,
    /// Whether paths refer to the result.
    is_about_result: bool,
    /// Some arguments could be parsed: those that were sent, or the repaired ones.
    read: bool,
}

impl Secrecy {
    /// What may be shown of a call and of the gate's verdict on it. A call of an unknown tool may have been meant for any tool,
    /// so whatever any of them marks is a secret.
    pub(crate) fn of(tools: &ToolSet, call: &Call<'_>, verdict: &Verdict<'_>) -> Self {
        match verdict {
            Verdict::Valid(valid) => Secrecy::of_call(tools, call, Some(valid.tool())),
            Verdict::Refused(refused) => Secrecy::of_refused(tools, call, refused),
            Verdict::Repaired(repaired) => {
                let mut secrecy = Secrecy::of_call(tools, call, Some(repaired.tool()));
                secrecy.arguments(repaired.arguments());
                secrecy
            }
        }
    }

    /// The same for a refusal.
    pub(crate) fn of_refused(tools: &ToolSet, call: &Call<'_>, refused: &Refused<'_>) -> Self {
        Secrecy::of_call(tools, call, refused.tool())
    }

    fn of_call(tools: &ToolSet, call: &Call<'_>, tool: Option<&Tool>) -> Self {
        let mut secrecy = Secrecy::new(match tool {
            Some(tool) => tool.secrets().cloned(),
            None => tools.all_secrets().cloned(),
        });
        secrecy.sent(&call.arguments);
        secrecy
    }

    /// What may be shown of a call that went to its tool with these arguments.
    pub fn of_arguments(tool: &Tool, arguments: &Value<'_>) -> Self {
        let mut secrecy = Secrecy::new(tool.secrets().cloned());
        secrecy.output = tool.output_secrets().cloned();
        secrecy.arguments(arguments);
        secrecy
    }

    /// Does not know a call yet.
    pub(crate) fn new(input: Option<Arc<Secrets>>) -> Self {
        Secrecy {
            input,
            ..Secrecy::default()
        }
    }

    /// Whether everything may be shown.
    pub fn hides_nothing(&self) -> bool {
        self.input.is_none() && self.output.is_none()
    }

    /// Whether the arguments could not be parsed as sent.
    pub(crate) fn is_unreadable(&self) -> bool {
        self.unreadable
    }

    /// The same, with a result of this tool, whose own secrets are hidden too.
    #[must_use]
    pub fn with_result(mut self, tool: &Tool, result: &Value<'_>) -> Self {
        self.result(tool.output_secrets(), result);
        self
    }

    /// Records the arguments as sent.
    pub(crate) fn sent(&mut self, sent: &Arguments<'_>) {
        if self.input.is_none() {
            return;
        }
        match sent {
            Arguments::Absent => {}
            Arguments::Value(value) => self.arguments(value),
            Arguments::Text(text) => match read_value(text) {
                Ok(value) => self.arguments(&value),
                Err(_) if text.trim_ascii().is_empty() => {}
                Err(_) => self.unreadable = true,
            },
        }
    }

    /// Records the secrets in arguments.
    pub(crate) fn arguments(&mut self, arguments: &Value<'_>) {
        if let Some(secrets) = self.input.clone() {
            Noting::new(Rules::of_arguments(&secrets), &mut self.known).all(arguments);
            self.read = true;
            self.forget_names();
        }
    }

    /// Records the secrets in a result.
    pub(crate) fn result(&mut self, secrets: Option<&Arc<Secrets>>, result: &Value<'_>) {
        self.output = secrets.cloned();
        if let Some(secrets) = secrets {
            Noting::new(Rules::of_result(secrets), &mut self.known).all(result);
            self.forget_names();
        }
    }

    /// Names that the schema itself lists are not secrets.
    fn forget_names(&mut self) {
        for secrets in [&self.input, &self.output].into_iter().flatten() {
            self.known.forget(secrets.names());
        }
    }

    /// A part of the arguments in a form that may be shown; `at` is its path.
    pub fn value<'v>(&self, value: &'v Value<'_>, at: &Path) -> Cow<'v, Value<'v>> {
        match &self.input {
            Some(secrets) => {
                let rules = Rules::of_arguments(secrets);
                Cow::Owned(self.masked(value, at, Some(rules)))
            }
            None => Cow::Borrowed(value),
        }
    }

    /// A part of the result in a form that may be shown; `at` is its path.
    pub fn result_value<'v>(&self, value: &'v Value<'_>, at: &Path) -> Cow<'v, Value<'v>> {
        if self.hides_nothing() {
            return Cow::Borrowed(value);
        }
        let rules = self.output.as_deref().map(Rules::of_result);
        Cow::Owned(self.masked(value, at, rules))
    }

    /// A text with the texts of all secrets masked. If the arguments could not be parsed, it may contain any secret.
    pub fn text<'t>(&self, text: &'t str) -> Cow<'t, str> {
        if self.unreadable && !self.read && !text.is_empty() {
            return Cow::Borrowed(MASKED);
        }
        self.known.mask(text)
    }

    /// A path in a form that may be shown: keys may be secrets too.
    pub fn path<'p>(&self, at: &'p Path) -> Cow<'p, Path> {
        if self.hides_nothing() {
            return Cow::Borrowed(at);
        }
        let rules = self.rules();
        let shown = at.segments().fold(Path::root(), |path, segment| {
            let key = self.key(&segment, &path, rules);
            path.key(&key)
        });
        if shown == *at {
            Cow::Borrowed(at)
        } else {
            Cow::Owned(shown)
        }
    }

    /// The name of a tool as the model wrote it.
    pub fn name<'n>(&self, name: &'n str) -> Cow<'n, str> {
        let Some(secrets) = &self.input else {
            return Cow::Borrowed(name);
        };
        let is_plain = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | ':' | '/');
        if name.chars().all(is_plain) && !secrets.named_in(name) {
            self.known.mask(name)
        } else {
            Cow::Borrowed(MASKED)
        }
    }

    /// A key in a form that may be shown; `around` is the path of its object.
    fn key<'k>(&self, key: &'k str, around: &Path, rules: Option<Rules<'_>>) -> Cow<'k, str> {
        let Some(rules) = rules else {
            return self.text(key);
        };
        let secrets = rules.secrets;
        if secrets.lists(key) || is_index(key) {
            return Cow::Borrowed(key);
        }
        let is_unread = self.unreadable && !secrets.is_nearly_listed(key);
        if is_unread || rules.hides_key(key, around) {
            return Cow::Borrowed(MASKED);
        }
        self.known.mask(key)
    }

    /// The rules for the current subject: the arguments, or the result.
    fn rules(&self) -> Option<Rules<'_>> {
        if self.is_about_result {
            self.output.as_deref().map(Rules::of_result)
        } else {
            self.input.as_deref().map(Rules::of_arguments)
        }
    }

    fn masked(&self, value: &Value<'_>, at: &Path, rules: Option<Rules<'_>>) -> Value<'static> {
        if self.known.overflows() || rules.is_some_and(|it| it.certainty(value, at).is_some()) {
            return masked_value();
        }
        match value {
            Value::Array(items) => {
                let items = items.iter().enumerate();
                let items = items.map(|(index, item)| self.masked(item, &at.index(index), rules));
                Value::Array(items.collect())
            }
            Value::Object(members) => Value::Object(
                members
                    .iter()
                    .map(|(key, member)| {
                        let shown = self.masked(member, &at.key(key), rules);
                        let key = self.key(key, at, rules);
                        (Cow::Owned(key.into_owned()), shown)
                    })
                    .collect(),
            ),
            Value::String(text) => Value::String(Cow::Owned(self.text(text).into_owned())),
            Value::Number(number) if self.text(number.as_str()) != number.as_str() => {
                masked_value()
            }
            leaf => leaf.clone().into_owned(),
        }
    }
}

pub(crate) fn masked_value() -> Value<'static> {
    Value::String(Cow::Borrowed(MASKED))
}
