//! OpenAI responses.

use std::borrow::Cow;

use serde_json::{Map, Value as Json, json};

use super::finish::declared_completeness;
use super::history::{CallResult, HostedCall, content_output};
use super::members::{has_type, take_list, typed_text};
use super::provider::{ProviderShape, ProviderSummary, RawAnswer, RunnableCall, Vocabulary};
use super::raw::{RawObject, UnreadableAnswer, valid_items};
use super::read_event::{EventData, Part};
use super::streamed::Extent;
use super::{custom_call, object, present, text, text_arguments, tool_name};
use crate::call::Call;
use crate::error::Error;
use crate::json::Value;
use crate::vocabulary::ToolSpec;

pub(super) struct OpenAiResponses;

static VOCABULARY: Vocabulary = Vocabulary {
    finished: &["completed"],
    cut_off: &[
        "max_output_tokens",
        "max_messages",
        "steered",
        "incomplete",
        "in_progress",
    ],
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

    /// Arguments appear in four places: in pieces, at their end, in their item, and in the final response.
    fn read_event<'d>(
        &self,
        data: &RawObject<'d>,
        event: &mut EventData<'d, '_>,
    ) -> Result<(), UnreadableAnswer> {
        let choice = event.choice(0)?;
        if data.text("object").as_deref() == Some("response") {
            return read_response(choice, data, event);
        }
        let index = data.number("output_index");
        let kind = data.text("type").unwrap_or_default();
        match kind.as_ref() {
            "response.created" => {
                if let Some(response) = data.object("response")? {
                    event.answer_id(&response, "id");
                }
            }
            "response.output_item.added" | "response.output_item.done" => {
                let is_done = kind.ends_with("done");
                let Some(item) = data.object("item")? else {
                    return Ok(());
                };
                if item.is_a("message") {
                    let id = item.text("id");
                    let text = match known_text(id.as_deref(), index, event) {
                        Some(text) => text,
                        None => event.text_part(Part::new(choice, index, id.as_deref()))?,
                    };
                    read_content(choice, text, &item, event)?;
                    event.is_of_text(text);
                } else if item.is_a("function_call") {
                    let known = known_call(index, &item, event);
                    read_item((choice, index), known, &item, is_done, event)?;
                } else if !is_done {
                    event.other_part(Part::new(choice, index, item.text("id").as_deref()))?;
                }
            }
            "response.function_call_arguments.delta" | "response.function_call_arguments.done" => {
                let id = data.text("item_id");
                let part = event.part(|part| match (&part.name, &id) {
                    (Some(name), Some(id)) => name == id,
                    _ => part.index.is_some() && part.index == index,
                });
                let Some(call) = part.and_then(|part| part.call) else {
                    return Ok(());
                };
                if let Some(piece) = data.get("delta") {
                    event.arguments(call, piece, Extent::Piece, true);
                } else if let Some(whole) = data.get("arguments") {
                    event.arguments(call, whole, Extent::Whole, true);
                }
            }
            "response.output_text.delta"
            | "response.output_text.done"
            | "response.output_text.annotation.added"
            | "response.content_part.added"
            | "response.content_part.done" => {
                let id = data.text("item_id");
                let text = match known_text(id.as_deref(), index, event) {
                    Some(text) => text,
                    None => event.text_part(Part::new(choice, index, id.as_deref()))?,
                };
                let part = data.object("part")?;
                let is_other = part.as_ref().is_some_and(|part| !part.is_a("output_text"));
                if is_other || data.number("content_index").is_some_and(|at| at > 0) {
                    event.is_mixed(choice);
                }
                if let Some(said) = data.get("delta") {
                    event.say_in(text, said);
                } else if let Some(said) =
                    data.get("text").or(part.and_then(|part| part.get("text")))
                {
                    event.say_again(text, said);
                }
                event.is_of_text(text);
            }
            "response.completed"
            | "response.incomplete"
            | "response.failed"
            | "response.cancelled" => {
                if let Some(response) = data.object("response")? {
                    event.event_number(data, "sequence_number");
                    read_response(choice, &response, event)?;
                }
            }
            _ => {}
        }
        Ok(())
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

    /// An `mcp_call` item, which contains its result.
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

    /// A `function_call_output` item. The shape has no error flag; the text has to say it.
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

/// The whole response: alone, or repeated at the end of a stream.
fn read_response<'d>(
    choice: usize,
    response: &RawObject<'d>,
    event: &mut EventData<'d, '_>,
) -> Result<(), UnreadableAnswer> {
    event.answer_id(response, "id");
    let streamed = event.answer.calls.len();
    if let Some(list) = response.get("output") {
        let mut parts = Vec::new();
        let mut messages = 0;
        for (index, written) in valid_items(list)?.into_iter().enumerate() {
            let item = RawObject::of_valid(written)?;
            let index = u64::try_from(index).ok();
            let mut start = None;
            if item.is_a("message") {
                let text = match event.text_of_choice(choice, messages) {
                    Some(text) => text,
                    None => {
                        event.text_part(Part::new(choice, index, item.text("id").as_deref()))?
                    }
                };
                read_content(choice, text, &item, event)?;
                messages += 1;
                start = event.answer.texts.get(text).map(|text| text.span.start);
            } else if item.is_a("function_call") {
                let known = known_call(index, &item, event)
                    .or_else(|| renamed_call(index, &item, event))
                    .filter(|call| *call < streamed);
                read_item((choice, index), known, &item, true, event)?;
            } else if messages > 0 {
                event.is_mixed(choice);
            }
            parts.push((written, start));
        }
        event.part_list(choice, list, parts);
    }
    let is_cut = response.get("incomplete_details").is_some();
    if let Some(status) = response.get("status") {
        event.ended(choice, status, is_cut);
    }
    Ok(())
}

/// The text that an event refers to: the text of this item, or of the last one if none is named.
fn known_text(id: Option<&str>, index: Option<u64>, event: &EventData<'_, '_>) -> Option<usize> {
    let part = event.part(|part| match (part.name.as_deref(), id, index) {
        (Some(name), Some(id), _) => name == id,
        (_, _, Some(_)) => part.index == index,
        _ => part.text.is_some(),
    });
    part.and_then(|part| part.text)
}

/// The content of a message. If it is more than a single text, the choice is mixed.
fn read_content<'d>(
    choice: usize,
    text: usize,
    item: &RawObject<'d>,
    event: &mut EventData<'d, '_>,
) -> Result<(), UnreadableAnswer> {
    for (at, part) in item
        .list("content")
        .unwrap_or_default()
        .into_iter()
        .enumerate()
    {
        let part = RawObject::of_valid(part)?;
        match part.get("text").filter(|_| part.is_a("output_text")) {
            Some(said) if at == 0 => event.say_again(text, said),
            Some(said) => {
                event.is_mixed(choice);
                let _ = event.say(choice, said);
            }
            None => event.is_mixed(choice),
        }
    }
    Ok(())
}

/// The call that an item belongs to, if it was announced.
fn known_call(
    index: Option<u64>,
    item: &RawObject<'_>,
    event: &EventData<'_, '_>,
) -> Option<usize> {
    let id = item.text("id");
    let known = event.part(|part| {
        let is = |id: &Option<Cow<'_, str>>| id.is_some() && part.name.as_deref() == id.as_deref();
        is(&id) || part.name.is_none() && part.index.is_some() && part.index == index
    });
    known.and_then(|part| part.call).or_else(|| {
        // A server without item ids.
        let call_id = item.text("call_id").filter(|_| id.is_none());
        event.call_with_id(call_id.as_deref()?)
    })
}

/// The streamed call that the final response repeats under a new item id, and perhaps a new call id: some servers make up ids
/// each time they write one.
fn renamed_call(
    index: Option<u64>,
    item: &RawObject<'_>,
    event: &EventData<'_, '_>,
) -> Option<usize> {
    let call_id = item.text("call_id");
    let by_call_id = call_id.and_then(|id| event.call_with_id(&id));
    let by_place = || {
        let call = event.part(|part| part.index == index)?.call?;
        let is_same_tool = event.tool(call) == item.text("name").as_deref();
        is_same_tool.then_some(call)
    };
    by_call_id.or_else(by_place)
}

/// A call, announced earlier or new.
fn read_item<'d>(
    (choice, index): (usize, Option<u64>),
    known: Option<usize>,
    item: &RawObject<'d>,
    is_done: bool,
    event: &mut EventData<'d, '_>,
) -> Result<(), UnreadableAnswer> {
    let id = item.text("id");
    let call_id = item.text("call_id");
    let call = match known {
        Some(call) => call,
        None => event.begin(Part::new(choice, index, id.as_deref()))?,
    };
    match id {
        Some(id) if call_id.is_none() => event.identify_as(call, &id),
        _ => event.identify(call, item, "call_id"),
    }
    if let Some(name) = item.get("name") {
        event.name(call, name, Extent::Whole);
    }
    let extent = match item.get("arguments") {
        _ if is_done => Extent::Whole,
        // Pieces will follow.
        Some("\"\"") => Extent::Initial,
        _ => Extent::Piece,
    };
    match item.get("arguments") {
        Some(arguments) => event.arguments(call, arguments, extent, true),
        None if is_done && known.is_none() => {
            event.no_arguments(call, item, "\"arguments\":", true);
        }
        None => {}
    }
    if is_done {
        event.end_call(call);
        if item.text("status").as_deref() == Some("incomplete") {
            event.is_cut(call);
        }
    }
    if let Some(namespace) = item.text("namespace") {
        event.namespace(call, namespace.into_owned());
    }
    // A call made by a program has already been handled by it.
    let caller = item.object("caller")?;
    if caller.is_some_and(|caller| !caller.is_a("direct")) {
        event.is_foreign(call);
    }
    Ok(())
}
