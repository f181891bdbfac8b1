//! Gemini: `contents` of a request, `candidates` of a response. Most calls have no id; results come in their order.

use callwright::json::Value;

use super::dialogue::Dialogue;
use super::pick::{first_of, has, list, present, text};

/// The conversation so far.
pub(super) fn contents<'a>(dialogue: &mut Dialogue<'a, '_>, contents: Vec<Value<'a>>) {
    for content in contents {
        read_content(dialogue, content, None);
    }
}

/// What the model answered. Of several candidates the first is the one that counts.
pub(super) fn candidates<'a>(dialogue: &mut Dialogue<'a, '_>, candidates: Vec<Value<'a>>) {
    if let Some(mut candidate) = candidates.into_iter().next() {
        let reason = first_of(&mut candidate, &["finishReason", "finish_reason"]);
        if let Some(content) = present(&mut candidate, "content") {
            read_content(dialogue, content, reason.as_ref().and_then(Value::as_str));
        }
    }
}

fn read_content<'a>(dialogue: &mut Dialogue<'a, '_>, mut content: Value<'a>, reason: Option<&str>) {
    let parts = list(&mut content, "parts");
    let is_result =
        |part: &Value<'_>| has(part, "functionResponse") || has(part, "function_response");
    let by_model = text(&content, "role") == Some("model")
        || parts
            .iter()
            .any(|part| has(part, "functionCall") || has(part, "function_call"));
    if by_model {
        dialogue.begin_answer();
    } else if !parts.iter().any(is_result) {
        dialogue.user();
    }
    for mut part in parts {
        if let Some(mut call) = first_of(&mut part, &["functionCall", "function_call"]) {
            let (name, id) = (present(&mut call, "name"), present(&mut call, "id"));
            dialogue.named_call(name, id, present(&mut call, "args"));
        } else if let Some(mut result) =
            first_of(&mut part, &["functionResponse", "function_response"])
        {
            let id = present(&mut result, "id");
            let name = present(&mut result, "name");
            let mut said = present(&mut result, "response").unwrap_or_default();
            // An error is under `error`, anything else mostly under `output` or `result`.
            let only = |said: &Value<'_>, key: &str| {
                said.as_object().is_some_and(|all| all.len() == 1) && has(said, key)
            };
            let is_error = only(&said, "error");
            for key in ["error", "output", "result"] {
                if only(&said, key) {
                    said = present(&mut said, key).unwrap_or_default();
                    break;
                }
            }
            let name = name.as_ref().and_then(Value::as_str);
            dialogue.result(id, name, said, is_error);
        }
    }
    if by_model {
        dialogue.end_answer(reason);
    }
}
