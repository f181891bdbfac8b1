//! Objects that contain nothing but an error and what belongs to it.

use serde_json::Value as Schema;

use super::super::names::{is, is_one_of, member};
use super::{CLIENTS, FoundError, as_status};
use crate::json::Value;
use crate::nearest::has_word;
use crate::tool::Tool;
use crate::vocabulary::{ErrorSign, word_list};

/// Members that hold an error.
const ERRORS: &[&str] = word_list![
    error errors errormessage errormsg exception err errordescription
];

/// Members that hold an error's message.
const WORDS: &[&str] = word_list![
    message msg detail details description reason title error errormessage text
];

/// Members that belong to an error. With others next to them, an object is a record that mentions an error.
const ENVELOPE: &[&str] = word_list![
    error errors errormessage errormsg exception err errordescription errorcode errortype
    errorname message msg detail details description reason title hint suggestion suggestions
    code status statuscode statustext success ok type name cause stack traceback timestamp time
    path instance requestid traceid retryafter retryable documentationurl helpurl url jsonrpc
    method
];

/// Examines an object, which is the result or wrapped in it.
pub(super) fn look<'v>(
    tool: &Tool,
    output: &Value<'_>,
    object: &'v Value<'_>,
) -> Option<FoundError<'v>> {
    let (key, sign) = sign(tool, object)?;
    if is_declared(tool, output, object, key) {
        return None;
    }
    let words = words(object);
    Some(FoundError { sign, words })
}

/// The member that reveals the error.
fn sign<'v>(tool: &Tool, object: &'v Value<'_>) -> Option<(&'v str, ErrorSign)> {
    let strangers = strangers(object);
    // One more member may be the id of the call's subject.
    let is_error = strangers <= 1;
    if let Some((key, value)) = member(object, &["statuscode", "status"])
        && let Some(status) = as_status(value)
    {
        let fits = is_error
            && !has_word(tool.name(), CLIENTS)
            && (is(key, "statuscode") || strangers == 0);
        return fits.then_some((key, ErrorSign::Status(status)));
    }
    let members = object.as_object()?.iter();
    let full = members
        .map(|(key, value)| (key.as_ref(), value))
        .find(|(key, value)| is_one_of(key, ERRORS) && is_something(value));
    if let Some((key, _)) = full {
        return is_error.then_some((key, ErrorSign::Member));
    }
    if let Some((key, Value::Bool(false))) = member(object, &["success", "ok", "succeeded"]) {
        return is_error.then_some((key, ErrorSign::Member));
    }
    match member(object, &["status"]) {
        // A status alone is a fact about something.
        Some((key, Value::String(status)))
            if status.eq_ignore_ascii_case("error")
                && strangers == 0
                && member(object, WORDS).is_some() =>
        {
            Some((key, ErrorSign::Member))
        }
        _ => None,
    }
}

/// How many non-empty members do not belong to an error; a list or an object counts as many.
fn strangers(object: &Value<'_>) -> usize {
    let members = object.as_object().unwrap_or_default().iter();
    members
        .filter(|(key, _)| !is_one_of(key, ENVELOPE))
        .map(|(_, value)| match value {
            Value::Null | Value::Bool(_) => 0,
            Value::String(text) => usize::from(!text.is_empty()),
            Value::Number(_) => 1,
            Value::Array(items) => items.len() * 2,
            Value::Object(members) => members.len() * 2,
        })
        .sum()
}

/// Whether an error member is not empty. A number may be a margin or a count.
fn is_something(value: &Value<'_>) -> bool {
    match value {
        Value::Bool(yes) => *yes,
        Value::String(text) => {
            let text = text.trim().to_ascii_lowercase();
            // Values that mean no error.
            !matches!(
                text.as_str(),
                "" | "none"
                    | "null"
                    | "no"
                    | "false"
                    | "0"
                    | "ok"
                    | "n/a"
                    | "no error"
                    | "no errors"
            )
        }
        Value::Array(items) => items.iter().any(is_something),
        Value::Object(members) => members.iter().any(|(_, value)| *value != Value::Null),
        Value::Null | Value::Number(_) => false,
    }
}

/// Whether the output schema declares the revealing member and accepts the result: then it is data.
fn is_declared(tool: &Tool, output: &Value<'_>, object: &Value<'_>, key: &str) -> bool {
    let Some(schema) = tool.output_schema() else {
        return false;
    };
    let has = |node: &Schema| {
        let properties = schema.follow(node).get("properties");
        properties.is_some_and(|properties| properties.get(key).is_some())
    };
    let root = schema.follow(schema.source());
    let wrapper = output
        .as_object()
        .and_then(<[_]>::first)
        .and_then(|(name, _)| root.get("properties")?.get(name.as_ref()));
    let is_named = if std::ptr::eq(output, object) {
        has(root)
    } else {
        wrapper.is_some_and(has)
    };
    is_named && schema.accepts(output)
}

/// The message of an error: its own, or that of its content.
fn words<'v>(object: &'v Value<'_>) -> &'v str {
    let inner = |value: &'v Value<'_>| match value {
        Value::Array(items) => items.first().map(text),
        other => Some(text(other)),
    };
    let own = member(object, ERRORS)
        .and_then(|(_, value)| inner(value))
        .unwrap_or_default();
    // Often `error` is a name and `message` the sentence, or the other way round: the longer one says more.
    let beside = text(object);
    if beside.len() > own.len() {
        beside
    } else {
        own
    }
}

fn text<'v>(value: &'v Value<'_>) -> &'v str {
    match value {
        Value::String(text) => text,
        other => {
            let found = WORDS.iter().find_map(|name| {
                let (_, value) = member(other, &[name])?;
                value.as_str().filter(|text| !text.is_empty())
            });
            found.unwrap_or_default()
        }
    }
}
