//! Writes the messages, items and parts that are inserted into a conversation, in each provider's format.

use callwright::internal::{RawObject, raw_items, raw_text};
use serde_json::{Value, json};

use super::conversation::{CallInHistory, ResultInHistory};
use crate::api::Api;

/// The content of a result that is missing.
const INTERRUPTED: &str = "The call was interrupted; its result is unknown.";

/// The result for a call without one.
pub(super) fn interrupted(api: Api, call: &CallInHistory<'_>, id: Option<&str>) -> String {
    match api {
        Api::Chat => json!({"role": "tool", "tool_call_id": id, "content": INTERRUPTED}),
        Api::Responses => {
            let kind = format!("{}_output", call.kind);
            json!({"type": kind, "call_id": id, "output": INTERRUPTED})
        }
        Api::Messages => {
            json!({"type": "tool_result", "tool_use_id": id, "content": INTERRUPTED, "is_error": true})
        }
        Api::Gemini => {
            let mut response = json!({"name": call.tool, "response": {"error": INTERRUPTED}});
            if let Some(id) = id {
                response["id"] = id.into();
            }
            json!({"functionResponse": response})
        }
    }
    .to_string()
}

/// The message member that contains its parts.
pub(super) fn parts_key(api: Api) -> &'static str {
    match api {
        Api::Chat | Api::Responses | Api::Messages => "content",
        Api::Gemini => "parts",
    }
}

/// A user message with these parts.
pub(super) fn user_message(api: Api, parts: &[String]) -> String {
    let parts = parts.join(",");
    let key = parts_key(api);
    format!("{{\"role\":\"user\",\"{key}\":[{parts}]}}")
}

/// A text as a part of a user message.
pub(super) fn text_part(api: Api, text: &str) -> String {
    match api {
        Api::Gemini => json!({"text": text}),
        Api::Responses => json!({"type": "input_text", "text": text}),
        Api::Chat | Api::Messages => json!({"type": "text", "text": text}),
    }
    .to_string()
}

/// A result without a call, as parts of a user message. Images are kept as they are.
pub(super) fn orphan(api: Api, result: &ResultInHistory<'_>, tool: Option<&str>) -> Vec<String> {
    let of = tool.map_or("a tool".to_owned(), |tool| format!("the tool {tool}"));
    let lead = format!("Result of {of}, whose call is not in this conversation:");
    let object = RawObject::read(result.text).ok();
    let content = object.and_then(|object| match api {
        Api::Responses => object.get("output"),
        Api::Gemini => object.object("functionResponse").ok()??.get("response"),
        Api::Chat | Api::Messages => object.get("content"),
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
    let mut parts = vec![text_part(api, &text)];
    parts.extend(blocks.into_iter().map(|block| {
        let is_taken = RawObject::read(block)
            .is_ok_and(|block| USER_PARTS.iter().any(|kind| block.is_a(kind)));
        if is_taken {
            block.to_owned()
        } else {
            text_part(api, block)
        }
    }));
    parts
}

/// The part types that results and user messages have in common.
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

/// A result without a call, as a separate message.
pub(super) fn orphan_message(api: Api, result: &ResultInHistory<'_>, tool: Option<&str>) -> String {
    let parts = orphan(api, result, tool);
    // A single text is written as a plain string, which more chat completion servers accept than a list.
    let may_be_text = match api {
        Api::Chat => true,
        Api::Responses | Api::Messages | Api::Gemini => false,
    };
    if let [part] = parts.as_slice()
        && may_be_text
        && let Ok(Value::Object(part)) = serde_json::from_str(part)
        && let Some(text) = part.get("text")
    {
        return json!({"role": "user", "content": text}).to_string();
    }
    user_message(api, &parts)
}
