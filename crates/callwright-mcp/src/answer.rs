//! Builds the guard's own messages: refusals, results with a note, requests for lists.

use callwright::feedback::{Content, Presented};
use callwright::internal::first_bytes;
use callwright::json::Value as Tree;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use crate::members::members;
use crate::message::{Id, comma, place, with_edits};

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

/// The server's answer as the model gets it. Content that is kept stays byte for byte, with a note after it; a bad
/// result gets the note instead of its content and its data, and one that is too long loses its data and the end of
/// its texts. `None` if the result is malformed.
pub(crate) fn presented(
    message: &[u8],
    result: &RawValue,
    value: &Tree<'_>,
    presented: &Presented<'_>,
    typed: bool,
) -> Option<Vec<u8>> {
    let note = presented.note.as_deref().unwrap_or_default();
    let data = value.get("structuredContent");
    let has_data = data.is_some_and(|data| *data != Tree::Null);
    let shown = presented.content_text().unwrap_or_default();
    let content = match presented.content {
        Content::Kept(_) => return with_note(message, result, note),
        Content::Withheld => vec![text_block(note)],
        // The data is what was judged and cut, and what the model would have seen; the texts beside it repeat it.
        Content::Cut(..) if has_data => vec![text_block(&shown), text_block(note)],
        Content::Cut(_, bytes) => {
            let blocks = value.get("content").and_then(Tree::as_array)?;
            let mut left = bytes;
            let cut = blocks.iter().map(|block| cut_texts(block, &mut left));
            cut.chain([text_block(note)]).collect()
        }
    };
    // Clients insist on the data of a tool that declares its results, unless the result is an error.
    let is_error = presented.is_error || (typed && has_data);
    let kept = value
        .as_object()?
        .iter()
        .filter(|(key, _)| !matches!(key.as_ref(), "content" | "structuredContent" | "isError"));
    let placed = [
        ("content".into(), Tree::Array(content)),
        ("isError".into(), Tree::Bool(is_error)),
    ];
    let placed = Tree::Object(placed.into_iter().chain(kept.cloned()).collect());
    let whole = place(message, result.get())?;
    Some(with_edits(message, vec![(whole, placed.to_string())]))
}

fn text_block(text: &str) -> Tree<'_> {
    Tree::Object(vec![
        ("type".into(), Tree::String("text".into())),
        ("text".into(), Tree::String(text.into())),
    ])
}

/// A content block with at most this many bytes of text, including text in an embedded resource. Media are left
/// alone.
fn cut_texts<'v>(block: &Tree<'v>, left: &mut usize) -> Tree<'v> {
    let Tree::Object(members) = block else {
        return block.clone();
    };
    let cut = members.iter().map(|(key, member)| {
        let member = match (key.as_ref(), member) {
            ("text", Tree::String(text)) => {
                let kept = first_bytes(text, *left);
                *left -= kept.len();
                Tree::String(kept.to_owned().into())
            }
            ("resource", resource) => cut_texts(resource, left),
            (_, member) => member.clone(),
        };
        (key.clone(), member)
    });
    Tree::Object(cut.collect())
}

/// The server's answer with a text after the content of its result, and everything else byte for byte.
fn with_note(message: &[u8], result: &RawValue, note: &str) -> Option<Vec<u8>> {
    let [content] = members(result.get(), ["content"]).ok()?;
    let block = json!({"type": "text", "text": note});
    let edit = match content {
        Some(content) if content.get().starts_with('[') => {
            let end = place(message, content.get())?.end - 1;
            (end..end, format!("{}{block}", comma(content)))
        }
        Some(content) => (place(message, content.get())?, format!("[{block}]")),
        None => {
            let end = place(message, result.get())?.end - 1;
            (end..end, format!("{}\"content\":[{block}]", comma(result)))
        }
    };
    Some(with_edits(message, vec![edit]))
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
