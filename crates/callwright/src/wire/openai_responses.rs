//! OpenAI responses.

use serde_json::{Map, Value as Json, json};

use super::finish::declared_completeness;
use super::history::{CallResult, HostedCall, content_output};
use super::members::{has_type, take_list, typed_text};
use super::provider::{ProviderShape, ProviderSummary, RawAnswer, RunnableCall, Vocabulary};
use super::{custom_call, object, present, text, text_arguments, tool_name};
use crate::call::Call;
use crate::error::Error;
use crate::json::Value;
use crate::words::ToolSpec;

pub(super) struct OpenAiResponses;

static VOCABULARY: Vocabulary = Vocabulary {
    finished: &["completed"],
    cut_off: &["max_output_tokens", "incomplete", "in_progress"],
    history: Some("input"),
    parts: &["content"],
    input_schema: &["parameters"],
    ..Vocabulary::of(ProviderSummary {
        title: "OpenAI responses",
        tool: r#"{"type": "function", "name", "description", "parameters"}"#,
        call: r#"{"type": "function_call", "call_id", "name", "arguments"}"#,
        message: None,
        answer: Some(r#"{"object": "response", "output": [items], "status"}"#),
    })
};

impl ProviderShape for OpenAiResponses {
    fn vocabulary(&self) -> &'static Vocabulary {
        &VOCABULARY
    }

    /// A `function_call` item.
    fn is_call(&self, value: &Value<'_>) -> bool {
        has_type(value, "function_call") || has_type(value, "custom_tool_call")
    }

    fn read_call<'a>(&self, mut value: Value<'a>) -> Result<Call<'a>, Error> {
        if has_type(&value, "custom_tool_call") {
            return Err(custom_call());
        }
        let tool = tool_name(&mut value, "name")?;
        let mut call = Call::new(tool, text_arguments(&mut value)?);
        call.id = present(&mut value, "call_id").or_else(|| present(&mut value, "id"));
        Ok(call)
    }

    fn take_answers<'a>(&self, body: &mut Value<'a>) -> Option<Vec<RawAnswer<'a>>> {
        if body.get("object")?.as_str()? != "response" {
            return None;
        }
        let completeness = declared_completeness(body);
        Some(vec![RawAnswer {
            messages: take_list(body, "output")?,
            completeness,
        }])
    }

    fn text<'p>(&self, part: &'p Value<'_>) -> Option<&'p str> {
        typed_text(part, "output_text")
    }

    /// A `function_call_output` item.
    fn take_result<'a>(&self, part: &mut Value<'a>) -> Option<CallResult<'a>> {
        if !has_type(part, "function_call_output") {
            return None;
        }
        Some(CallResult {
            id: Some(part.take("call_id")?),
            tool: None,
            output: content_output(part.take("output")),
            is_error: false,
        })
    }

    /// An `mcp_call` item, which has its result in itself.
    fn take_hosted_call<'a>(&self, item: &mut Value<'a>) -> Option<HostedCall<'a>> {
        if !has_type(item, "mcp_call") {
            return None;
        }
        let mut item = std::mem::take(item);
        let completeness = declared_completeness(&item).unwrap_or_default();
        let (error, output) = (present(&mut item, "error"), present(&mut item, "output"));
        let is_error = error.is_some();
        let call = self.read_call(item);
        let id = call.as_ref().ok().and_then(|call| call.id.clone());
        Some(HostedCall {
            call: call.map(|call| call.with_completeness(completeness)),
            result: error.or(output).map(|output| CallResult {
                id,
                tool: None,
                output,
                is_error,
            }),
        })
    }

    /// An `mcp_list_tools` item.
    fn take_listed_tools<'a>(&self, item: &mut Value<'a>) -> Option<Vec<Value<'a>>> {
        (has_type(item, "mcp_list_tools")).then(|| take_list(item, "tools").unwrap_or_default())
    }

    fn render_call<'v>(&self, call: RunnableCall<'v>) -> Value<'v> {
        let arguments = call.arguments_text();
        object([
            ("type", text("function_call")),
            ("call_id", call.id),
            ("name", text(call.tool)),
            ("arguments", text(arguments)),
        ])
    }

    /// A `function_call_output` item. The shape has no flag for errors; the text says it.
    fn render_result<'v>(&self, call: &'v Call<'_>, output: String, _: bool) -> Value<'v> {
        object([
            ("type", text("function_call_output")),
            ("call_id", call.id.clone()),
            ("output", text(output)),
        ])
    }

    fn declare(&self, mut declared: Map<String, Json>, schema: Json, _: &ToolSpec) -> Json {
        declared.insert("type".to_owned(), json!("function"));
        declared.insert("parameters".to_owned(), schema);
        Json::Object(declared)
    }
}
