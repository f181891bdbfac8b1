//! OpenAI chat completions, and the many servers that follow them (vLLM, Ollama, Mistral, `OpenRouter`).

use serde_json::{Map, Value as Json, json};

use super::finish::declared_completeness;
use super::history::{CallResult, content_output};
use super::members::{take_list, typed_text};
use super::provider::{ProviderShape, ProviderSummary, RawAnswer, RunnableCall, Vocabulary};
use super::{custom_call, each_key_once, object, present, text, text_arguments, tool_name};
use crate::call::Call;
use crate::error::Error;
use crate::json::Value;
use crate::words::ToolSpec;

pub(super) struct OpenAiChat;

static VOCABULARY: Vocabulary = Vocabulary {
    finished: &["stop", "tool_calls", "function_call"],
    cut_off: &["length", "max_completion_tokens", "content_filter"],
    history: Some("messages"),
    parts: &["content", "tool_calls", "function_call"],
    tool_lists: &["functions"],
    // What is inside of `function` looks like a tool of the responses API.
    ..Vocabulary::of(ProviderSummary {
        title: "OpenAI chat",
        tool: r#"{"type": "function", "function": {"name", "description", "parameters"}}"#,
        call: r#"{"id", "type": "function", "function": {"name", "arguments"}}"#,
        message: Some(r#"{"role": "assistant", "content"}"#),
        answer: Some(r#"{"choices": [{"message", "finish_reason"}]}"#),
    })
};

impl ProviderShape for OpenAiChat {
    fn vocabulary(&self) -> &'static Vocabulary {
        &VOCABULARY
    }

    /// An element of `tool_calls[]`.
    fn is_call(&self, value: &Value<'_>) -> bool {
        let has = |key: &str| matches!(value.get(key), Some(Value::Object(_)));
        has("function") || has("custom")
    }

    fn read_call<'a>(&self, mut value: Value<'a>) -> Result<Call<'a>, Error> {
        if value.get("function").is_none() {
            return Err(custom_call());
        }
        let mut function = value.take("function").unwrap_or_default();
        each_key_once(&function)?;
        let tool = tool_name(&mut function, "name")?;
        let mut call = Call::new(tool, text_arguments(&mut function)?);
        call.id = present(&mut value, "id");
        Ok(call)
    }

    fn take_answers<'a>(&self, body: &mut Value<'a>) -> Option<Vec<RawAnswer<'a>>> {
        let answer = |mut choice: Value<'a>| {
            Some(RawAnswer {
                messages: vec![choice.take("message")?],
                completeness: declared_completeness(&choice),
            })
        };
        // The choices of a streamed piece have a `delta` instead of a message. Ollama's answer is like one choice.
        let choices = match take_list(body, "choices") {
            None if matches!(body.get("message"), Some(Value::Object(_))) => {
                vec![std::mem::take(body)]
            }
            choices => choices?,
        };
        choices.into_iter().map(answer).collect()
    }

    fn text<'p>(&self, part: &'p Value<'_>) -> Option<&'p str> {
        typed_text(part, "text")
    }

    /// A `tool` message, or a `function` message, which has the name of the tool only. Libraries that know of an error
    /// say so beside the content.
    fn take_result<'a>(&self, part: &mut Value<'a>) -> Option<CallResult<'a>> {
        if !matches!(part.get("role")?.as_str()?, "tool" | "function") {
            return None;
        }
        Some(CallResult {
            id: present(part, "tool_call_id"),
            tool: match part.take("name") {
                Some(Value::String(name)) => Some(name),
                _ => None,
            },
            is_error: part.get("is_error") == Some(&Value::Bool(true))
                || part.get("status").and_then(Value::as_str) == Some("error"),
            output: content_output(part.take("content")),
        })
    }

    fn render_call<'v>(&self, call: RunnableCall<'v>) -> Value<'v> {
        let function = object([
            ("name", text(call.tool)),
            ("arguments", text(call.arguments_text())),
        ]);
        object([
            ("id", call.id),
            ("type", text("function")),
            ("function", Some(function)),
        ])
    }

    /// A `tool` message. The shape has no flag for errors; the text says it.
    fn render_result<'v>(&self, call: &'v Call<'_>, content: String, _: bool) -> Value<'v> {
        object([
            ("role", text("tool")),
            ("tool_call_id", call.id.clone()),
            ("content", text(content)),
        ])
    }

    fn declare(&self, mut declared: Map<String, Json>, schema: Json, _: &ToolSpec) -> Json {
        declared.insert("parameters".to_owned(), schema);
        json!({"type": "function", "function": declared})
    }
}
