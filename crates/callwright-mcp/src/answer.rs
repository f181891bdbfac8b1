//! Messages of our own: refusals, results with a note, the question for the tools.

use callwright::json::Value;
use serde_json::json;

use crate::message::Id;

/// The answer to a call that does not reach the server: a result that says that it is an error, since only then the
/// model sees it. Protocols since 2026-07-28 ask every result whether it is all; older ones do not know the question.
pub(crate) fn refusal(id: Id<'_>, text: &str, says_all: bool) -> Vec<u8> {
    let mut result = json!({"content": [{"type": "text", "text": text}], "isError": true});
    if says_all {
        result["resultType"] = json!("complete");
    }
    response(id, &result.to_string())
}

/// Whether a result says that it is not the result of the call yet: the server wants to know something first, or works on
/// it elsewhere.
pub(crate) fn is_interim(result: &Value<'_>) -> bool {
    matches!(result.get("resultType"), Some(Value::String(kind)) if kind != "complete")
}

/// A result with a text beside its content: before it if the result is no good, behind it if it is only not all.
pub(crate) fn with_note(id: Id<'_>, result: &Value<'_>, note: &str, is_error: bool) -> Vec<u8> {
    let block = Value::Object(vec![
        ("type".into(), Value::String("text".into())),
        ("text".into(), Value::String(note.into())),
    ]);
    let mut members = match result {
        Value::Object(members) => members.clone(),
        _ => Vec::new(),
    };
    let at = members.iter().position(|(key, _)| key == "content");
    match at.map(|at| &mut members[at].1) {
        Some(Value::Array(blocks)) if is_error => blocks.insert(0, block),
        Some(Value::Array(blocks)) => blocks.push(block),
        Some(other) => *other = Value::Array(vec![block]),
        None => members.push(("content".into(), Value::Array(vec![block]))),
    }
    if is_error {
        members.retain(|(key, _)| key != "isError");
        members.push(("isError".into(), Value::Bool(true)));
    }
    response(id, &Value::Object(members).to_string())
}

/// Asks the server for its tools. `meta` is what the client sends with its own requests.
pub(crate) fn list_request(id: &str, cursor: Option<&str>, meta: Option<&str>) -> Vec<u8> {
    let mut params = String::new();
    if let Some(cursor) = cursor {
        params.push_str("\"cursor\":");
        params.push_str(&json!(cursor).to_string());
    }
    if let Some(meta) = meta {
        if !params.is_empty() {
            params.push(',');
        }
        params.push_str("\"_meta\":");
        params.push_str(meta);
    }
    format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"tools/list\",\"params\":{{{params}}}}}")
        .into_bytes()
}

/// A protocol error, where a request cannot be answered otherwise.
pub(crate) fn error(id: &str, code: i32, message: &str) -> Vec<u8> {
    let error = json!({"code": code, "message": message});
    format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"error\":{error}}}").into_bytes()
}

fn response(id: Id<'_>, result: &str) -> Vec<u8> {
    format!(
        "{{\"jsonrpc\":\"2.0\",\"id\":{},\"result\":{result}}}",
        id.0
    )
    .into_bytes()
}
