//! The server's answer as the model gets it, once its result has been judged.
//!
//! Content that is kept stays byte for byte, with a note after it; any other result is rewritten by the core.

use callwright::feedback::{Content, Presented};
use callwright::internal::{Replacements, appended, present_mcp_result, span_in};
use callwright::json::Value as Tree;
use serde_json::json;
use serde_json::value::RawValue;

use crate::members::members;

/// `value` is the result that was read. `None` if the result is malformed.
pub(crate) fn present_result(
    message: &[u8],
    result: &RawValue,
    value: &Tree<'_>,
    presented: &Presented<'_>,
    typed: bool,
) -> Option<Vec<u8>> {
    if let Content::Kept(_) = presented.content {
        let note = presented.note.as_deref().unwrap_or_default();
        return with_note(message, result, note);
    }
    let placed = present_mcp_result(value, presented, typed)?;
    let change = (span_in(message, result.get()), placed.to_string());
    Some(Replacements::from_iter([change]).in_bytes(message))
}

/// The server's answer with a text after the content of its result, and everything else byte for byte.
fn with_note(message: &[u8], result: &RawValue, note: &str) -> Option<Vec<u8>> {
    let [content] = members(result.get(), ["content"]).ok()?;
    let block = json!({"type": "text", "text": note});
    let change = match content.map(RawValue::get) {
        Some(list) if list.starts_with('[') => appended(message, list, &block.to_string()),
        Some(other) => (span_in(message, other), format!("[{block}]")),
        None => {
            let content = format!("\"content\":[{block}]");
            appended(message, result.get(), &content)
        }
    };
    Some(Replacements::from_iter([change]).in_bytes(message))
}
