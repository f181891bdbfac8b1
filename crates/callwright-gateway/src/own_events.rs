//! Events that the upstream did not send: only in forms that every client of the API takes. Comments break some clients,
//! and event types of our own others.

use bytes::Bytes;
use callwright::wire::Provider;
use serde_json::{Map, Value, json};

/// Whether data may serve as a sample for other events: it has choices, where the API has such.
pub(crate) fn is_sample(provider: Provider, data: &[u8]) -> bool {
    let key: &[u8] = match provider {
        Provider::OpenAiChat => b"\"choices\"",
        Provider::Gemini => b"\"candidates\"",
        _ => return false,
    };
    memchr::memmem::find(data, key).is_some()
}

/// An event that keeps a stream alive while something is held. `sample` is the data of an earlier event.
pub(crate) fn keep_alive(provider: Provider, sample: Option<&str>) -> Option<Bytes> {
    match provider {
        Provider::Anthropic => Some("event: ping\ndata: {\"type\": \"ping\"}\n\n".into()),
        Provider::OpenAiResponses => {
            Some("event: keepalive\ndata: {\"type\":\"keepalive\"}\n\n".into())
        }
        Provider::OpenAiChat => {
            let choice = json!({"index": 0, "delta": {}, "finish_reason": null});
            like(sample?, "choices", &choice.to_string())
        }
        Provider::Gemini => {
            let candidate = json!({"index": 0, "content": {"role": "model", "parts": []}});
            like(sample?, "candidates", &candidate.to_string())
        }
        _ => None,
    }
}

/// An event that says that a choice ended with calls, where the upstream left that out: clients of chat completions fail
/// without it.
pub(crate) fn missing_finish(
    provider: Provider,
    sample: Option<&str>,
    choice: u64,
) -> Option<Bytes> {
    let choice = json!({"index": choice, "delta": {}, "finish_reason": "tool_calls"});
    let is_needed = provider == Provider::OpenAiChat;
    is_needed.then(|| like(sample?, "choices", &choice.to_string()))?
}

/// An event like another one of the same stream, with this one choice in it, as JSON on one line.
pub(crate) fn like(sample: &str, key: &str, choice: &str) -> Option<Bytes> {
    let mut members: Map<String, Value> = serde_json::from_str(sample).ok()?;
    // Tokens are counted where they were counted.
    members.shift_remove("usage");
    members.shift_remove("usageMetadata");
    members.shift_remove(key);
    // The choice as it is: reading it could change the numbers in it.
    let others = Value::Object(members).to_string();
    let others = others.strip_prefix('{')?;
    let comma = if others == "}" { "" } else { "," };
    Some(format!("data: {{\"{key}\":[{choice}]{comma}{others}\n\n").into())
}
