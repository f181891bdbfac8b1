//! Members of JSON objects: helpers for every provider's file to read calls and write results.

use std::borrow::Cow;

use crate::call::Arguments;
use crate::error::{Error, ErrorKind};
use crate::json::{Value, has_duplicate};
use crate::text::{list, quoted};

/// The names under which arguments are sent. Each shape has its own, and gateways mix them up: the one with content is taken,
/// so that no argument is silently dropped.
const ARGUMENTS: [&str; 5] = ["arguments", "input", "args", "parameters", "params"];

/// The arguments of a shape that carries them as text, though some gateways send values.
pub(super) fn text_arguments<'a>(value: &mut Value<'a>) -> Result<Arguments<'a>, Error> {
    Ok(match value_arguments(value)? {
        Arguments::Value(value) => sent_arguments(Some(value)),
        other => other,
    })
}

/// The same for a member that is not null.
pub(super) fn sent_arguments(member: Option<Value<'_>>) -> Arguments<'_> {
    match member {
        Some(Value::String(text)) => Arguments::Text(text),
        Some(value) => Arguments::Value(value),
        None => Arguments::Absent,
    }
}

/// The arguments of a shape that carries them as a value. A string there is a value of the wrong type, not text to be parsed.
pub(super) fn value_arguments<'a>(value: &mut Value<'a>) -> Result<Arguments<'a>, Error> {
    let mut found: Option<(&str, Value<'a>)> = None;
    for key in ARGUMENTS {
        match (present(value, key), &found) {
            (Some(arguments), None) => found = Some((key, arguments)),
            (Some(arguments), Some((other, first))) if arguments != *first => {
                return Err(not_a_call(&format!("it has both `{other}` and `{key}`")));
            }
            _ => {}
        }
    }
    Ok(found.map_or(Arguments::Absent, |(_, arguments)| {
        Arguments::Value(arguments)
    }))
}

/// Takes out a member that is not null.
pub fn present<'a>(value: &mut Value<'a>, key: &str) -> Option<Value<'a>> {
    value.take(key).filter(|member| *member != Value::Null)
}

/// A key that occurs twice could mean either value, so it is an error.
pub(super) fn each_key_once(value: &Value<'_>) -> Result<(), Error> {
    let members = value.as_object().unwrap_or_default();
    if !has_duplicate(members) {
        return Ok(());
    }
    let mut seen = std::collections::HashSet::new();
    let keys = members.iter().map(|(key, _)| key.as_ref());
    let twice = keys.into_iter().find(|key| !seen.insert(*key));
    Err(not_a_call(&format!(
        "the key {} occurs twice",
        quoted(twice.unwrap_or_default(), 40)
    )))
}

/// Takes out a list.
pub fn take_list<'a>(value: &mut Value<'a>, key: &str) -> Option<Vec<Value<'a>>> {
    value.get(key)?.as_array()?;
    match value.take(key) {
        Some(Value::Array(list)) => Some(list),
        _ => None,
    }
}

/// The text of a part with this type.
pub(super) fn typed_text<'p>(part: &'p Value<'_>, kind: &str) -> Option<&'p str> {
    part.get("text")?.as_str().filter(|_| has_type(part, kind))
}

/// Whether the value's `type` is this.
pub(super) fn has_type(value: &Value<'_>, kind: &str) -> bool {
    value.get("type").and_then(Value::as_str) == Some(kind)
}

/// All results of a round in one user message, where a provider requires that.
pub(super) fn one_message<'v>(key: &'static str, results: Vec<Value<'v>>) -> Vec<Value<'v>> {
    if results.is_empty() {
        return results;
    }
    let results = Some(Value::Array(results));
    vec![object([("role", text("user")), (key, results)])]
}

/// An object made of these members; those without a value are left out.
pub fn object<'v, const N: usize>(members: [(&'static str, Option<Value<'v>>); N]) -> Value<'v> {
    Value::Object(
        members
            .into_iter()
            .filter_map(|(key, value)| Some((Cow::Borrowed(key), value?)))
            .collect(),
    )
}

#[expect(clippy::unnecessary_wraps, reason = "a member for `object`")]
pub(super) fn text<'v>(text: impl Into<Cow<'v, str>>) -> Option<Value<'v>> {
    Some(Value::String(text.into()))
}

/// The name of the tool, which every shape must have. Each key must occur once: see [`each_key_once`].
pub(super) fn tool_name<'a>(
    value: &mut Value<'a>,
    key: &'static str,
) -> Result<Cow<'a, str>, Error> {
    match value.take(key) {
        Some(Value::String(name)) => Ok(name),
        Some(other) => Err(not_a_call(&format!(
            "`{key}` must be the tool's name, found {}",
            other.kind().name()
        ))),
        None => {
            let keys: Vec<&str> = value
                .as_object()
                .unwrap_or_default()
                .iter()
                .map(|(key, _)| key.as_ref())
                .collect();
            let found = match keys.as_slice() {
                [] => String::new(),
                keys => format!(", only {}", list(keys, 60)),
            };
            Err(not_a_call(&format!("it has no `{key}`{found}")))
        }
    }
}

/// The error for OpenAI's custom tools, which take arbitrary text.
pub(super) fn custom_call() -> Error {
    let why = "a call of a custom tool: its input is not JSON, so there is nothing to judge";
    ErrorKind::NotACall(why.to_owned()).into()
}

pub(super) fn not_a_call(why: &str) -> Error {
    ErrorKind::NotACall(format!(
        "not a call: {why}; a call is {{\"tool\": …, \"arguments\": …}} or a provider's own shape"
    ))
    .into()
}
