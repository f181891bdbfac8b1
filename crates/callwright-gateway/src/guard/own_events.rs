//! Events that the upstream did not send, only in forms that every client of the API accepts. Comments break some
//! clients, and custom event types break others.

use bytes::Bytes;
use serde_json::{Map, Value, json};

use crate::api::Api;

/// Whether data can serve as a template for other events: it has choices, if the API has them.
pub(crate) fn is_sample(api: Api, data: &[u8]) -> bool {
    let key: &[u8] = match api {
        Api::Chat => b"\"choices\"",
        Api::Gemini => b"\"candidates\"",
        Api::Responses | Api::Messages => return false,
    };
    memchr::memmem::find(data, key).is_some()
}

/// An event that keeps a stream alive while something is held. `sample` is the data of an earlier event.
pub(crate) fn keep_alive(api: Api, sample: Option<&str>) -> Option<Bytes> {
    match api {
        Api::Messages => Some("event: ping\ndata: {\"type\": \"ping\"}\n\n".into()),
        Api::Responses => Some("event: keepalive\ndata: {\"type\":\"keepalive\"}\n\n".into()),
        Api::Chat => {
            let choice = json!({"index": 0, "delta": {}, "finish_reason": null});
            like(sample?, "choices", &choice.to_string())
        }
        Api::Gemini => {
            let candidate = json!({"index": 0, "content": {"role": "model", "parts": []}});
            like(sample?, "candidates", &candidate.to_string())
        }
    }
}

/// An event that ends a choice with calls, where the upstream omitted it and clients fail without it.
pub(crate) fn missing_finish(api: Api, sample: Option<&str>, choice: u64) -> Option<Bytes> {
    match api {
        Api::Chat => {
            let choice = json!({"index": choice, "delta": {}, "finish_reason": "tool_calls"});
            like(sample?, "choices", &choice.to_string())
        }
        // Gemini clients go by the parts; in the other APIs, an answer without an end was cut off.
        Api::Gemini | Api::Responses | Api::Messages => None,
    }
}

/// An event like another one of the same stream, with this choice in it, as JSON on one line.
pub(crate) fn like(sample: &str, key: &str, choice: &str) -> Option<Bytes> {
    let mut members: Map<String, Value> = serde_json::from_str(sample).ok()?;
    // Tokens are counted in the original event.
    members.shift_remove("usage");
    members.shift_remove("usageMetadata");
    members.shift_remove(key);
    // The choice is copied verbatim: parsing it could change numbers in it.
    let others = Value::Object(members).to_string();
    let others = others.strip_prefix('{')?;
    let comma = if others == "}" { "" } else { "," };
    Some(format!("data: {{\"{key}\":[{choice}]{comma}{others}\n\n").into())
}
