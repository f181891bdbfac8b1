//! Anthropic messages, which Bedrock also has.

use serde_json::{Map, Value as Json};

use super::finish::declared_completeness;
use super::history::{CallResult, content_output};
use super::members::{has_type, one_message, typed_text};
use super::provider::{ProviderShape, ProviderSummary, RawAnswer, RunnableCall, Vocabulary};
use super::{object, present, text, tool_name, value_arguments};
use crate::call::Call;
use crate::error::Error;
use crate::json::Value;
use crate::words::ToolSpec;

pub(super) struct Anthropic;

static VOCABULARY: Vocabulary = Vocabulary {
    finished: &["end_turn", "tool_use"],
    cut_off: &["max_tokens", "model_context_window_exceeded", "refusal"],
    history: Some("messages"),
    parts: &["content"],
    input_schema: &["input_schema"],
    output_schema: &["output_schema"],
    ..Vocabulary::of(ProviderSummary {
        title: "Anthropic",
        tool: r#"{"name", "description", "input_schema"}"#,
        call: r#"{"type": "tool_use", "id", "name", "input"}"#,
        message: Some(
            r#"{"type": "text", "text"}, or {"role": "assistant", "content": [one text]}"#,
        ),
        answer: Some(r#"{"type": "message", "content": [blocks], "stop_reason"}"#),
    })
};

impl ProviderShape for Anthropic {
    fn vocabulary(&self) -> &'static Vocabulary {
        &VOCABULARY
    }

    /// A `tool_use` block.
    fn is_call(&self, value: &Value<'_>) -> bool {
        has_type(value, "tool_use")
    }

    fn read_call<'a>(&self, mut value: Value<'a>) -> Result<Call<'a>, Error> {
        let tool = tool_name(&mut value, "name")?;
        let mut call = Call::new(tool, value_arguments(&mut value)?);
        call.id = present(&mut value, "id");
        Ok(call)
    }

    fn take_answers<'a>(&self, body: &mut Value<'a>) -> Option<Vec<RawAnswer<'a>>> {
        if !has_type(body, "message") {
            return None;
        }
        let completeness = declared_completeness(body);
        let message = object([("content", body.take("content"))]);
        Some(vec![RawAnswer {
            messages: vec![message],
            completeness,
        }])
    }

    fn text<'p>(&self, part: &'p Value<'_>) -> Option<&'p str> {
        typed_text(part, "text")
    }

    /// A `tool_result` block.
    fn take_result<'a>(&self, part: &mut Value<'a>) -> Option<CallResult<'a>> {
        if !has_type(part, "tool_result") {
            return None;
        }
        Some(CallResult {
            id: Some(part.take("tool_use_id")?),
            tool: None,
            output: content_output(part.take("content")),
            is_error: part.get("is_error") == Some(&Value::Bool(true)),
        })
    }

    fn render_call<'v>(&self, call: RunnableCall<'v>) -> Value<'v> {
        object([
            ("type", text("tool_use")),
            ("id", call.id),
            ("name", text(call.tool)),
            ("input", Some(call.arguments.clone())),
        ])
    }

    /// A `tool_result` block.
    fn render_result<'v>(&self, call: &'v Call<'_>, content: String, is_error: bool) -> Value<'v> {
        object([
            ("type", text("tool_result")),
            ("tool_use_id", call.id.clone()),
            ("content", text(content)),
            ("is_error", is_error.then_some(Value::Bool(true))),
        ])
    }

    fn round<'v>(&self, results: Vec<Value<'v>>) -> Vec<Value<'v>> {
        one_message("content", results)
    }

    fn declare(&self, mut declared: Map<String, Json>, schema: Json, _: &ToolSpec) -> Json {
        declared.insert("input_schema".to_owned(), schema);
        Json::Object(declared)
    }
}
