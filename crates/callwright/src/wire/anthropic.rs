//! Anthropic messages, which Bedrock offers too.

use serde_json::{Map, Value as Json};

use super::finish::declared_completeness;
use super::history::{CallResult, content_output};
use super::members::{has_type, one_message, typed_text};
use super::provider::{ProviderShape, ProviderSummary, RawAnswer, RunnableCall, Vocabulary};
use super::raw::{RawObject, UnreadableAnswer, valid_items};
use super::read_event::{EventData, Part};
use super::streamed::{EnvelopeDefect, Extent};
use super::{object, present, text, tool_name, value_arguments};
use crate::call::Call;
use crate::error::Error;
use crate::json::Value;
use crate::vocabulary::ToolSpec;

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

    fn read_event<'d>(
        &self,
        data: &RawObject<'d>,
        event: &mut EventData<'d, '_>,
    ) -> Result<(), UnreadableAnswer> {
        let choice = event.choice(0)?;
        let kind = data.text("type").unwrap_or_default();
        match kind.as_ref() {
            "message_start" => {
                if let Some(message) = data.object("message")? {
                    event.answer_id(&message, "id");
                }
            }
            "message" => {
                event.answer_id(data, "id");
                if let Some(list) = data.get("content") {
                    let mut blocks = Vec::new();
                    for block in valid_items(list)? {
                        let read = RawObject::of_valid(block)?;
                        blocks.push((
                            block,
                            begin_block(choice, None, &read, Extent::Whole, event)?,
                        ));
                    }
                    event.part_list(choice, list, blocks);
                }
                read_stop_reason(choice, data, event);
                event.end_choice(choice);
            }
            "content_block_start" => {
                let index = data.number("index");
                if let Some(block) = data.object("content_block")? {
                    begin_block(choice, index, &block, Extent::Initial, event)?;
                }
                read_text_part(index, event);
                check_index(data, index, event);
            }
            "content_block_delta" => {
                let index = data.number("index");
                let part = event
                    .part(|part| part.index == index)
                    .map(|part| (part.call, part.text));
                if let (Some(part), Some(delta)) = (part, data.object("delta")?) {
                    match (part, delta.get("partial_json"), delta.get("text")) {
                        ((Some(call), _), Some(piece), _) => {
                            event.arguments(call, piece, Extent::Piece, true);
                        }
                        ((_, Some(text)), _, Some(said)) if delta.is_a("text_delta") => {
                            event.say_in(text, said);
                        }
                        _ => {}
                    }
                }
                read_text_part(index, event);
                check_index(data, index, event);
            }
            "content_block_stop" => {
                let index = data.number("index");
                let call = event
                    .part(|part| part.index == index)
                    .and_then(|part| part.call);
                if let Some(call) = call {
                    event.end_call(call);
                }
                read_text_part(index, event);
                check_index(data, index, event);
            }
            "message_delta" => {
                if let Some(delta) = data.object("delta")? {
                    read_stop_reason(choice, &delta, event);
                }
            }
            "message_stop" => event.end_choice(choice),
            _ => {}
        }
        Ok(())
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

/// Records that an event belongs to a block of text, if it does.
fn read_text_part(index: Option<u64>, event: &mut EventData<'_, '_>) {
    let part = event.part(|part| part.index == index);
    if let Some(text) = part.and_then(|part| part.text) {
        event.is_of_text(text);
    }
}

/// A block of an answer starts; `input` holds all of a call's arguments, unless pieces of them follow. Returns where the block
/// starts in the text, if it is text.
fn begin_block<'d>(
    choice: usize,
    index: Option<u64>,
    block: &RawObject<'d>,
    input: Extent,
    event: &mut EventData<'d, '_>,
) -> Result<Option<usize>, UnreadableAnswer> {
    if block.is_a("text") {
        let text = event.text_part(Part::new(choice, index, None))?;
        if let Some(said) = block.get("text") {
            event.say_in(text, said);
        }
        return Ok(event.answer.texts.get(text).map(|text| text.span.start));
    }
    if !block.is_a("tool_use") {
        event.other_part(Part::new(choice, index, None))?;
        return Ok(None);
    }
    let call = event.begin(Part::new(choice, index, None))?;
    event.identify(call, block, "id");
    if let Some(name) = block.get("name") {
        event.name(call, name, Extent::Whole);
    }
    match block.get("input") {
        Some(arguments) => event.arguments(call, arguments, input, false),
        None => event.no_arguments(call, block, "\"input\":", false),
    }
    // A toolset has no schemas, and a call made by a program has already been handled by it.
    let caller = block.object("caller")?;
    if caller.is_some_and(|caller| !caller.is_a("direct")) || block.get("toolset_name").is_some() {
        event.is_foreign(call);
    }
    Ok(None)
}

/// Blocks are numbered without gaps: otherwise clients fail, or lose the input.
fn check_index<'d>(data: &RawObject<'d>, index: Option<u64>, event: &mut EventData<'d, '_>) {
    let Some(written) = data.get("index") else {
        return;
    };
    if let Some(number) = event.number_of_part(|part| part.index == index)
        && index != Some(number)
    {
        event.defect(written, EnvelopeDefect::CallIndex, number.to_string());
    }
}

fn read_stop_reason<'d>(choice: usize, data: &RawObject<'d>, event: &mut EventData<'d, '_>) {
    if let Some(reason) = data.get("stop_reason") {
        event.finish(choice, reason, &["end_turn"], Some("\"tool_use\""));
    }
}
