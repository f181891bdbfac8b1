//! Answers in the formats of all APIs, a guard that they pass through, and clients that assemble them.
#![allow(dead_code, unused_imports, reason = "each test uses a part")]

pub(crate) mod guarded;
mod heard;
pub(crate) mod judge;
mod said;
pub(crate) mod scripted;

pub(crate) use callwright_gateway::Api;
use serde_json::{Value, json};

pub(crate) use self::heard::Heard;
pub(crate) use self::said::Said;

/// What the tests need to know about an API.
pub(crate) trait TestApi {
    /// Whether a whole answer has arguments as a JSON value, so that only valid JSON can be written.
    fn wants_json(self) -> bool;

    /// The path of a request for a whole answer; the script decides whether it is streamed.
    fn path(self) -> &'static str;

    /// A request that declares one tool.
    fn request(self) -> String;

    /// The same, after a conversation.
    fn request_after(self, history: &Value) -> String;

    /// An answer as a whole body.
    fn whole(self, said: &Said) -> String;

    /// An answer as a stream, with text in pieces of `piece` characters.
    fn streamed(self, said: &Said, piece: usize) -> String;

    /// What a client reads from a whole body.
    fn hear_whole(self, body: &str) -> Heard;

    /// What a client reads from a stream.
    fn hear_stream(self, stream: &str) -> Heard;
}

impl TestApi for Api {
    fn wants_json(self) -> bool {
        matches!(self, Api::Messages | Api::Gemini)
    }

    fn path(self) -> &'static str {
        match self {
            Api::Chat => "/v1/chat/completions",
            Api::Messages => "/v1/messages",
            Api::Responses => "/v1/responses",
            Api::Gemini => "/v1beta/models/m:generateContent",
        }
    }

    fn request(self) -> String {
        self.request_after(&json!([]))
    }

    fn request_after(self, history: &Value) -> String {
        let schema = json!({"type": "object", "properties": {"city": {"type": "string"}, "days": {"type": "integer"}},
            "required": ["city"]});
        match self {
            Api::Chat => json!({"model": "m", "messages": history, "tools": [
                {"type": "function", "function": {"name": "get_weather", "parameters": schema}}]}),
            Api::Messages => json!({"model": "m", "messages": history,
                "tools": [{"name": "get_weather", "input_schema": schema}]}),
            Api::Responses => json!({"model": "m", "input": history, "tools": [
                {"type": "function", "name": "get_weather", "parameters": schema}]}),
            Api::Gemini => json!({"contents": history, "tools": [
                {"functionDeclarations": [{"name": "get_weather", "parametersJsonSchema": schema}]}]}),
        }
        .to_string()
    }

    fn whole(self, said: &Said) -> String {
        said::whole(self, said)
    }

    fn streamed(self, said: &Said, piece: usize) -> String {
        said::streamed(self, said, piece)
    }

    fn hear_whole(self, body: &str) -> Heard {
        heard::whole(self, body)
    }

    fn hear_stream(self, stream: &str) -> Heard {
        heard::stream(self, stream)
    }
}
