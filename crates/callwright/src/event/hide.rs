//! A value → the same without its secrets.

use std::borrow::Cow;
use std::sync::Arc;

use super::mask::MASKED;
use crate::call::Arguments;
use crate::json::{Path, Value};
use crate::parse::read_value;
use crate::tool::Tool;
use crate::validate::Secrets;

/// Secrets with fewer characters are looked for as whole words: one or two letters are a part of any text.
const SHORT: usize = 4;

/// A part of a tool's arguments as it may be shown: without what the schema marks as secrets. `at` is its place.
///
/// ```
/// use callwright::json::Path;
/// use callwright::parse::read_value;
/// use callwright::{Gate, ToolSpec, event::shown_argument};
/// use serde_json::json;
///
/// let tool = ToolSpec::new("login", json!({"properties": {"password": {"writeOnly": true}}}));
/// let gate = Gate::builder().tool(tool).build()?;
/// let tool = gate.tool("login").expect("it was just added");
/// let sent = read_value(r#"{"password": "hunter2", "user": 5}"#).expect("JSON");
/// let shown = shown_argument(tool, &sent, &Path::root());
/// assert_eq!(shown.to_string(), r#"{"password":"[masked]","user":5}"#);
/// # Ok::<(), callwright::Error>(())
/// ```
pub fn shown_argument<'v>(tool: &Tool, value: &'v Value<'_>, at: &Path) -> Cow<'v, Value<'v>> {
    shown_by(tool.secrets(), value, at)
}

/// A part of a tool's result as it may be shown. Where the tool takes secrets too, the result might repeat one, and only
/// the types of its values are shown.
pub fn shown_result<'v>(tool: &Tool, value: &'v Value<'_>, at: &Path) -> Cow<'v, Value<'v>> {
    if tool.takes_secrets() {
        return Cow::Owned(shape(value));
    }
    shown_by(tool.output_secrets(), value, at)
}

fn shown_by<'v>(
    secrets: Option<&Arc<Secrets>>,
    value: &'v Value<'_>,
    at: &Path,
) -> Cow<'v, Value<'v>> {
    match secrets {
        None => Cow::Borrowed(value),
        Some(secrets) => {
            let mask = Mask::new(std::slice::from_ref(secrets), &[]);
            Cow::Owned(mask.value(value, at, &mut Vec::new()))
        }
    }
}

/// Hides values by their place, and by what is known of other values.
pub(super) struct Mask<'m> {
    secrets: &'m [Arc<Secrets>],
    known: &'m [String],
}

impl<'m> Mask<'m> {
    pub(super) fn new(secrets: &'m [Arc<Secrets>], known: &'m [String]) -> Self {
        Mask { secrets, known }
    }

    fn any(&self, is: impl Fn(&Secrets) -> bool) -> bool {
        self.secrets.iter().any(|secrets| is(secrets))
    }

    /// The value without its secrets, which are noted in `found`.
    pub(super) fn value(
        &self,
        value: &Value<'_>,
        at: &Path,
        found: &mut Vec<String>,
    ) -> Value<'static> {
        if self.any(|secrets| secrets.cover(at)) {
            note(value, found);
            return masked_value();
        }
        match value {
            Value::Array(items) => {
                let items = items.iter().enumerate();
                Value::Array(
                    items
                        .map(|(index, item)| self.value(item, &at.index(index), found))
                        .collect(),
                )
            }
            Value::Object(members) => Value::Object(
                members
                    .iter()
                    .map(|(key, member)| {
                        let shown = self.value(member, &at.key(key), found);
                        (Cow::Owned(key.clone().into_owned()), shown)
                    })
                    .collect(),
            ),
            leaf if self.hides_leaf(leaf, at) => {
                note(leaf, found);
                masked_value()
            }
            leaf => leaf.clone().into_owned(),
        }
    }

    fn hides_leaf(&self, leaf: &Value<'_>, at: &Path) -> bool {
        // A value that came in the stead of the whole object may be any of its parts.
        let keyless = || {
            at.segments()
                .all(|segment| segment.parse::<usize>().is_ok())
        };
        let by_place = |secrets: &Secrets| secrets.hide(at) || keyless();
        let repeats = |text: &str| self.known.iter().any(|secret| stands_in(secret, text));
        if self.any(by_place) {
            return true;
        }
        match leaf {
            Value::String(text) => {
                let is_json = text.trim_start().starts_with(['{', '[']);
                (is_json && self.any(|secrets| secrets.named_in(text))) || repeats(text)
            }
            Value::Number(number) => repeats(number.as_str()),
            _ => false,
        }
    }

    /// A text of arguments: as it is if nothing in it is a secret, written anew without its secrets if it can be
    /// read, else nothing of it.
    pub(super) fn text<'t>(
        &self,
        text: &'t str,
        found: &mut Vec<String>,
    ) -> Cow<'t, Arguments<'t>> {
        Cow::Owned(Arguments::Text(match read_value(text) {
            Err(_) if text.trim_ascii().is_empty() => Cow::Borrowed(text),
            Err(_) => Cow::Borrowed(MASKED),
            Ok(Value::Null) => Cow::Borrowed(text),
            Ok(value) => {
                let shown = self.value(&value, &Path::root(), found);
                if shown == value {
                    Cow::Borrowed(text)
                } else {
                    Cow::Owned(shown.to_string())
                }
            }
        }))
    }
}

fn masked_value() -> Value<'static> {
    Value::String(Cow::Borrowed(MASKED))
}

/// Notes the texts and numbers of a secret.
fn note(value: &Value<'_>, found: &mut Vec<String>) {
    let mut add = |text: &str| {
        let text = text.trim();
        if !text.is_empty() && !found.iter().any(|known| known == text) {
            found.push(text.to_owned());
        }
    };
    match value {
        Value::String(text) => add(text),
        Value::Number(number) => add(number.as_str()),
        Value::Array(items) => items.iter().for_each(|item| note(item, found)),
        Value::Object(members) => members.iter().for_each(|(_, member)| note(member, found)),
        // There are too few of these to recognise one.
        Value::Null | Value::Bool(_) => {}
    }
}

/// Whether a secret stands in a text, as it is or as JSON and our own words write it.
pub(super) fn stands_in(secret: &str, text: &str) -> bool {
    let escaped = secret.escape_debug().to_string();
    [secret, &escaped].into_iter().any(|secret| {
        let is_word = |byte: Option<u8>| byte.is_some_and(|byte| byte.is_ascii_alphanumeric());
        let is_whole = |at: usize| {
            let bytes = text.as_bytes();
            !is_word(at.checked_sub(1).map(|before| bytes[before]))
                && !is_word(bytes.get(at + secret.len()).copied())
        };
        let mut places = text.match_indices(secret);
        let is_short = secret.chars().count() < SHORT;
        places.any(|(at, _)| !is_short || is_whole(at))
    })
}

/// The value with the name of its type in the stead of each leaf.
pub(super) fn shape(value: &Value<'_>) -> Value<'static> {
    match value {
        Value::Array(items) => Value::Array(items.iter().map(shape).collect()),
        Value::Object(members) => Value::Object(
            members
                .iter()
                .map(|(key, member)| (Cow::Owned(key.clone().into_owned()), shape(member)))
                .collect(),
        ),
        leaf => Value::String(Cow::Borrowed(leaf.kind().name())),
    }
}
