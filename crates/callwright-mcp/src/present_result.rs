//! The server's answer as the model gets it, once its result has been judged.
//!
//! Content that is kept stays byte for byte, with a note after it; any other result is rewritten by the core.

use callwright::feedback::{Content, Presented};
use callwright::internal::present_mcp_result;
use callwright::json::Value as Tree;
use serde_json::json;
use serde_json::value::RawValue;

use crate::members::members;
use crate::message::{comma, place, with_edits};

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
    let whole = place(message, result.get())?;
    Some(with_edits(message, vec![(whole, placed.to_string())]))
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
