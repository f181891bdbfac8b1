//! OpenAI chat completions, and the many servers that imitate them (vLLM, Ollama, Mistral, `OpenRouter`).

use serde_json::{Map, Value as Json, json};

use super::finish::declared_completeness;
use super::history::{CallResult, content_output};
use super::members::{take_list, typed_text};
use super::provider::{ProviderShape, ProviderSummary, RawAnswer, RunnableCall, Vocabulary};
use super::raw::{RawObject, UnreadableAnswer, text as text_of};
use super::read_event::{EventData, Part};
use super::streamed::{EnvelopeDefect, Extent};
use super::{custom_call, each_key_once, object, present, text, text_arguments, tool_name};
use crate::call::Call;
use crate::error::Error;
use crate::json::Value;
use crate::vocabulary::ToolSpec;

pub(super) struct OpenAiChat;

/// The key of a call before there could be several. No call has this as its id.
const OLDER: &str = "function_call";

/// Vendors' names for a message's reasoning.
const REASONING: [&str; 4] = [
    "reasoning_content",
    "reasoning",
    "reasoning_details",
    "thinking",
];

/// Tokens that are counted but do not appear in the text.
const NOT_READ: (&str, &[&str]) = (
    "completion_tokens_details",
    &[
        "reasoning_tokens",
        "audio_tokens",
        "rejected_prediction_tokens",
    ],
);

static VOCABULARY: Vocabulary = Vocabulary {
    finished: &["stop", "tool_calls", "function_call"],
    cut_off: &["length", "max_completion_tokens", "content_filter"],
    history: Some("messages"),
    parts: &["content", "tool_calls", "function_call"],
    tool_lists: &["functions"],
    // The content of `function` looks like a tool of the responses API.
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
        // The choices of a streaming chunk have a `delta` instead of a message. Ollama's answer has the form of a single
        // choice.
        let choices = match take_list(body, "choices") {
            None if matches!(body.get("message"), Some(Value::Object(_))) => {
                vec![std::mem::take(body)]
            }
            choices => choices?,
        };
        choices.into_iter().map(answer).collect()
    }

    fn read_event<'d>(
        &self,
        data: &RawObject<'d>,
        event: &mut EventData<'d, '_>,
    ) -> Result<(), UnreadableAnswer> {
        event.answer_id(data, "id");
        if let Ok(Some(usage)) = data.object("usage") {
            event.tokens(&usage, "completion_tokens", NOT_READ);
        }
        for (number, choice) in (0..).zip(data.list("choices")?) {
            let choice = RawObject::of_valid(choice)?;
            let at = event.choice(choice.number("index").unwrap_or(number))?;
            let message = choice.object("message")?;
            let is_delta = message.is_none();
            let delta = choice.object("delta")?;
            if let Some(message) = message.or(delta) {
                read_message(at, &message, is_delta, event)?;
            }
            if let Some(reason) = choice.get("finish_reason") {
                event.finish(at, reason, &["stop"], Some("\"tool_calls\""));
            }
            if !is_delta {
                event.end_choice(at);
            }
        }
        Ok(())
    }

    fn text<'p>(&self, part: &'p Value<'_>) -> Option<&'p str> {
        typed_text(part, "text")
    }

    /// A `tool` message, or a `function` message, which has only the name of the tool. Libraries that know about an error say
    /// so next to the content.
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

    /// A `tool` message. The shape has no error flag; the text has to say it.
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

/// A message, or the new part of one.
fn read_message<'d>(
    choice: usize,
    message: &RawObject<'d>,
    is_delta: bool,
    event: &mut EventData<'d, '_>,
) -> Result<(), UnreadableAnswer> {
    if let Some(content) = message.get("content") {
        event.say(choice, content);
    }
    if REASONING.iter().any(|key| message.get(key).is_some()) {
        event.reasoning();
    }
    let entries = message.list("tool_calls")?;
    let last = entries.last().copied();
    if !is_delta || last.is_some() {
        event.call_list(choice, message, ("tool_calls", "\"tool_calls\":["), last);
    }
    for entry in entries {
        let entry = RawObject::of_valid(entry)?;
        let (call, is_new) = find_call(choice, &entry, is_delta, event)?;
        match entry.object("function")? {
            Some(function) => read_function(call, is_new, &function, event),
            // A custom tool takes text, not JSON.
            None => event.is_foreign(call),
        }
    }
    // The predecessor of `tool_calls`: at most one call, without an id.
    if let Some(function) = message.object("function_call")? {
        let is_older = |part: &Part| part.choice == choice && part.name.as_deref() == Some(OLDER);
        let known = event.part(is_older).and_then(|part| part.call);
        let call = match known {
            Some(call) => call,
            None => event.begin(Part::new(choice, None, Some(OLDER)))?,
        };
        event.is_single(call);
        read_function(call, known.is_none(), &function, event);
    }
    Ok(())
}

/// The call that an entry of `tool_calls` belongs to, and whether it starts there. Servers leave out the index, or give all
/// calls the same one; a new id starts a call.
fn find_call<'d>(
    choice: usize,
    entry: &RawObject<'d>,
    is_delta: bool,
    event: &mut EventData<'d, '_>,
) -> Result<(usize, bool), UnreadableAnswer> {
    let index = entry.number("index");
    let id = entry.text("id").filter(|id| !id.is_empty());
    let of_choice = |part: &Part| part.choice == choice && part.name.as_deref() != Some(OLDER);
    let has_id = |part: &Part| of_choice(part) && part.name.as_deref() == id.as_deref();
    let before = match (index, &id) {
        _ if !is_delta => None,
        (Some(_), _) => event.part(|part| of_choice(part) && part.index == index),
        (None, Some(_)) => event.part(has_id),
        (None, None) => event.part(of_choice),
    };
    let is_same = |part: &&Part| id.is_none() || part.name.is_none() || has_id(part);
    let known = before.filter(is_same).and_then(|part| part.call);
    let is_used = id.is_some() && event.part(has_id).is_some();
    let call = if let Some(call) = known {
        call
    } else {
        event.end_if_complete(choice);
        event.begin(Part::new(choice, index, id.as_deref()))?
    };
    if is_delta {
        event.numbered(entry, index, event.number_in_choice(call));
    }
    match &id {
        Some(_) if known.is_some() && is_used => {
            event.surplus(entry, "id", EnvelopeDefect::CallId);
        }
        Some(_) => event.identify(call, entry, "id"),
        None => {}
    }
    Ok((call, known.is_none()))
}

/// The name and the arguments of a call, or their new parts.
fn read_function<'d>(
    call: usize,
    is_new: bool,
    function: &RawObject<'d>,
    event: &mut EventData<'d, '_>,
) {
    if let Some(written) = function.get("name")
        && let Some(name) = text_of(written).filter(|name| !name.is_empty())
    {
        // The whole name repeated, which a client would append to the first.
        if !is_new && event.tool(call) == Some(&name) {
            event.surplus(function, "name", EnvelopeDefect::CallName);
        } else {
            event.name(call, written, Extent::Piece);
        }
    }
    match function.get("arguments") {
        Some(arguments) => event.arguments(call, arguments, Extent::Piece, true),
        None if is_new => event.no_arguments(call, function, "\"arguments\":", true),
        None => {}
    }
}
