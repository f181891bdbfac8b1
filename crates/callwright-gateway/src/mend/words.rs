//! Messages, items and parts that are put into a conversation, in a provider's shape.

use callwright::internal::{RawObject, raw_items, raw_text};
use callwright::wire::Provider;
use serde_json::{Value, json};

use super::conversation::{CallInHistory, ResultInHistory};

/// What is said instead of a result that is not there.
const INTERRUPTED: &str = "The call was interrupted; nothing is known of its result.";

/// The result of a call that has none.
pub(super) fn interrupted(
    provider: Provider,
    call: &CallInHistory<'_>,
    id: Option<&str>,
) -> String {
    match provider {
        Provider::OpenAiChat => json!({"role": "tool", "tool_call_id": id, "content": INTERRUPTED}),
        Provider::OpenAiResponses => {
            let kind = format!("{}_output", call.kind);
            json!({"type": kind, "call_id": id, "output": INTERRUPTED})
        }
        Provider::Anthropic => {
            json!({"type": "tool_result", "tool_use_id": id, "content": INTERRUPTED, "is_error": true})
        }
        _ => {
            let mut response = json!({"name": call.tool, "response": {"error": INTERRUPTED}});
            if let Some(id) = id {
                response["id"] = id.into();
            }
            json!({"functionResponse": response})
        }
    }
    .to_string()
}

/// A message of the user with these parts.
pub(super) fn user_message(provider: Provider, parts: &[String]) -> String {
    let parts = parts.join(",");
    let key = if provider == Provider::Gemini {
        "parts"
    } else {
        "content"
    };
    format!("{{\"role\":\"user\",\"{key}\":[{parts}]}}")
}

/// A text as a part of a message of the user.
pub(super) fn text_part(provider: Provider, text: &str) -> String {
    match provider {
        Provider::Gemini => json!({"text": text}),
        Provider::OpenAiResponses => json!({"type": "input_text", "text": text}),
        _ => json!({"type": "text", "text": text}),
    }
    .to_string()
}

/// A result without a call as parts of a message of the user. Pictures stay what they are.
pub(super) fn orphan(
    provider: Provider,
    result: &ResultInHistory<'_>,
    tool: Option<&str>,
) -> Vec<String> {
    let of = tool.map_or("a tool".to_owned(), |tool| format!("the tool {tool}"));
    let lead = format!("Result of {of}, whose call is not in this conversation:");
    let object = RawObject::read(result.text).ok();
    let content = object.and_then(|object| match provider {
        Provider::OpenAiResponses => object.get("output"),
        Provider::Gemini => object.object("functionResponse").ok()??.get("response"),
        _ => object.get("content"),
    });
    let (said, blocks) = match content.map(|content| (content, raw_text(content))) {
        None => (String::new(), Vec::new()),
        Some((_, Some(text))) => (text.into_owned(), Vec::new()),
        Some((content, None)) => match raw_items(content) {
            Ok(blocks) => (String::new(), blocks),
            Err(_) => (content.to_owned(), Vec::new()),
        },
    };
    let text = if said.is_empty() {
        lead
    } else {
        format!("{lead}\n{said}")
    };
    let mut parts = vec![text_part(provider, &text)];
    parts.extend(blocks.into_iter().map(|block| {
        let is_taken = RawObject::read(block)
            .is_ok_and(|block| USER_PARTS.iter().any(|kind| block.is_a(kind)));
        if is_taken {
            block.to_owned()
        } else {
            text_part(provider, block)
        }
    }));
    parts
}

/// The kinds of parts that results and messages of the user have in common.
const USER_PARTS: [&str; 8] = [
    "text",
    "image",
    "document",
    "search_result",
    "image_url",
    "input_text",
    "input_image",
    "input_file",
];

/// A result without a call as its own message.
pub(super) fn orphan_message(
    provider: Provider,
    result: &ResultInHistory<'_>,
    tool: Option<&str>,
) -> String {
    let parts = orphan(provider, result, tool);
    // One text is content by itself, which more servers take than a list.
    if let [part] = parts.as_slice()
        && provider == Provider::OpenAiChat
        && let Ok(Value::Object(part)) = serde_json::from_str(part)
        && let Some(text) = part.get("text")
    {
        return json!({"role": "user", "content": text}).to_string();
    }
    user_message(provider, &parts)
}
