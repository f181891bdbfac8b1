//! Builds the guard's own messages: refusals, questions, requests for lists, errors.

use serde_json::{Value, json};

use crate::message::Id;

/// The answer to a call that does not reach the server: a result marked as an error, since that is the only form the
/// model sees. Results since protocol 2026-07-28 have a `resultType`; older protocols do not know it. A question to
/// the user, with its id and its form, is meant for the client program: models do not see `_meta`.
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

/// The user's answers that a client program may pass on.
const ANSWERS: [&str; 3] = ["allow_once", "allow_tool", "stop"];

/// Since 2026-07-28: the call is not finished; the client asks the user and repeats it with the answer.
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

/// A request of ours. The parameters are already serialised.
pub(crate) fn request(id: &str, method: &str, params: &str) -> Vec<u8> {
    format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"{method}\",\"params\":{params}}}")
        .into_bytes()
}

/// Cancels a request of ours.
pub(crate) fn cancelled(id: &str) -> Vec<u8> {
    format!("{{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":{{\"requestId\":{id}}}}}")
        .into_bytes()
}

/// Asks a server for a page of a list. `cursor` is from the previous page, as written; `meta` is what the client
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
    /// In the range that JSON-RPC leaves to servers: the server is gone, does not read its input, or is too busy.
    pub(crate) const SERVER_FAILED: i32 = -32_000;
}

/// A protocol error, for a request that cannot be answered otherwise.
pub(crate) fn error(id: &str, code: i32, message: &str) -> Vec<u8> {
    let error = error_object(code, message);
    format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"error\":{error}}}").into_bytes()
}

/// The `error` member of such an answer.
pub(crate) fn error_object(code: i32, message: &str) -> String {
    json!({"code": code, "message": message}).to_string()
}
