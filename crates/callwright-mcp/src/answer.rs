//! Messages of our own: refusals, results with a note, requests for lists.

use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use crate::message::{Id, comma, place, with_edits, written};

/// The answer to a call that does not reach the server: a result marked as an error, since only then the model sees it.
/// Results since protocol 2026-07-28 have a `resultType`; older protocols do not know it. A question to the user, with
/// its id and its form, is for the program: models do not see `_meta`.
pub(crate) fn refusal(
    id: Id<'_>,
    text: &str,
    has_result_type: bool,
    question: Option<(&str, &str)>,
) -> Vec<u8> {
    let mut result = json!({"content": [{"type": "text", "text": text}], "isError": true});
    if has_result_type {
        result["resultType"] = json!("complete");
    }
    if let Some((question, form)) = question {
        let form: Value = serde_json::from_str(form).unwrap_or_default();
        let asked = json!({"id": question, "message": form["message"], "answers": ANSWERS});
        result["_meta"] = json!({ "callwright/question": asked });
    }
    of(id, &result)
}

/// The answers of a user that a program may pass on.
const ANSWERS: [&str; 3] = ["allow_once", "allow_tool", "stop"];

/// Since 2026-07-28: the call is not over; the client asks the user and repeats it with the answer.
pub(crate) fn input_required(id: Id<'_>, question: &str, form: &str) -> Vec<u8> {
    let form: Value = serde_json::from_str(form).unwrap_or_default();
    let asked = json!({"method": "elicitation/create", "params": form});
    let result = json!({
        "resultType": "input_required",
        "inputRequests": { (crate::call::ASKED_AS): asked },
        "requestState": question,
    });
    of(id, &result)
}

fn of(id: Id<'_>, result: &Value) -> Vec<u8> {
    let id = id.0;
    format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":{result}}}").into_bytes()
}

/// A request of ours. The parameters are written already.
pub(crate) fn request(id: &str, method: &str, params: &str) -> Vec<u8> {
    format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"{method}\",\"params\":{params}}}")
        .into_bytes()
}

/// Takes a request of ours back.
pub(crate) fn cancelled(id: &str) -> Vec<u8> {
    format!("{{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":{{\"requestId\":{id}}}}}")
        .into_bytes()
}

#[derive(Deserialize)]
struct CallResult<'m> {
    #[serde(borrow, default, deserialize_with = "written")]
    content: Option<&'m RawValue>,
    #[serde(borrow, default, rename = "isError", deserialize_with = "written")]
    is_error: Option<&'m RawValue>,
}

/// The answer of a server with a text beside the content of its result, and everything else byte for byte: before the
/// content if the result is invalid, after it if it is merely incomplete. `None` if the result is not an object.
pub(crate) fn with_note(
    message: &[u8],
    result: &RawValue,
    note: &str,
    is_error: bool,
) -> Option<Vec<u8>> {
    let parts: CallResult<'_> = serde_json::from_str(result.get()).ok()?;
    let whole = place(message, result.get())?;
    let block = json!({"type": "text", "text": note});
    let mut edits = Vec::with_capacity(3);
    let mut added = String::new();
    match parts.content {
        Some(content) if content.get().starts_with('[') => {
            let range = place(message, content.get())?;
            let comma = comma(content);
            edits.push(if is_error {
                (range.start + 1..range.start + 1, format!("{block}{comma}"))
            } else {
                (range.end - 1..range.end - 1, format!("{comma}{block}"))
            });
        }
        Some(content) => edits.push((place(message, content.get())?, format!("[{block}]"))),
        None => added = format!("{}\"content\":[{block}]", comma(result)),
    }
    if is_error {
        if let Some(flag) = parts.is_error {
            edits.push((place(message, flag.get())?, "true".to_owned()));
        } else {
            added.push_str(if added.is_empty() { comma(result) } else { "," });
            added.push_str("\"isError\":true");
        }
    }
    edits.push((whole.end - 1..whole.end - 1, added));
    Some(with_edits(message, edits))
}

/// Asks a server for a page of a list. `cursor` is from the page before, as it is written; `meta` is what the client
/// sends with its own requests.
pub(crate) fn page_request(
    method: &str,
    id: &str,
    cursor: Option<&str>,
    meta: Option<&str>,
) -> Vec<u8> {
    let cursor = cursor.map(|cursor| format!("\"cursor\":{cursor}"));
    let meta = meta.map(|meta| format!("\"_meta\":{meta}"));
    let params: Vec<String> = cursor.into_iter().chain(meta).collect();
    let params = params.join(",");
    request(id, method, &format!("{{{params}}}"))
}

/// Error codes of JSON-RPC and MCP.
pub(crate) mod code {
    pub(crate) const NOT_JSON: i32 = -32_700;
    pub(crate) const NOT_A_MESSAGE: i32 = -32_600;
    pub(crate) const NO_METHOD: i32 = -32_601;
    pub(crate) const BAD_PARAMS: i32 = -32_602;
    pub(crate) const NO_RESOURCE: i32 = -32_002;
    /// In the range that JSON-RPC leaves to servers: the server is gone, does not read, or is too busy.
    pub(crate) const SERVER_FAILED: i32 = -32_000;
}

/// A protocol error, where a request cannot be answered otherwise.
pub(crate) fn error(id: &str, code: i32, message: &str) -> Vec<u8> {
    let error = error_object(code, message);
    format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"error\":{error}}}").into_bytes()
}

/// The `error` member of such an answer.
pub(crate) fn error_object(code: i32, message: &str) -> String {
    json!({"code": code, "message": message}).to_string()
}
