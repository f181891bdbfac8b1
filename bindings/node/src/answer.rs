//! Reads whole answers and histories of providers; returns their calls, texts and results as JSON.

use callwright::call::{Arguments, Completeness};
use callwright::json::{Value, read_value};
use callwright::wire::{self, HistoryEntry, WholeAnswer};
use napi::Result;
use napi_derive::napi;

use crate::text::Text;
use crate::thrown;

/// Reads a provider's whole response: a JSON list, one answer for each choice.
#[napi(catch_unwind)]
pub fn read_answer(body: Text) -> Result<String> {
    let answers = wire::read_whole_answer(read(&body.0)?).map_err(thrown)?;
    Ok(Value::Array(answers.iter().map(told).collect()).to_string())
}

/// Reads a request, or its list of messages: its entries, and the tools whose calls have no result yet.
#[napi(catch_unwind)]
pub fn read_history(request: Text) -> Result<String> {
    let request = read(&request.0)?;
    let open = wire::unanswered(&request);
    let unanswered = open
        .iter()
        .map(|call| text(&call.tool).into_owned())
        .collect();
    let entries = wire::read_history(request.clone());
    let entries = Value::Array(entries.iter().map(entry).collect());
    let told = object([
        ("entries", entries),
        ("unanswered", Value::Array(unanswered)),
    ]);
    Ok(told.to_string())
}

fn read(text: &str) -> Result<Value<'_>> {
    read_value(text).map_err(|error| {
        let (line, column) = error.line_and_column(text);
        thrown(format_args!("not JSON at line {line}, column {column}"))
    })
}

fn object<'v, const N: usize>(members: [(&'static str, Value<'v>); N]) -> Value<'v> {
    Value::Object(
        members
            .into_iter()
            .map(|(key, value)| (key.into(), value))
            .collect(),
    )
}

fn text(text: &str) -> Value<'_> {
    Value::String(text.into())
}

fn or_null<'v>(value: Option<&'v Value<'v>>) -> Value<'v> {
    value.cloned().unwrap_or_default()
}

fn entry<'v>(entry: &'v HistoryEntry<'v>) -> Value<'v> {
    match entry {
        HistoryEntry::User => text("user"),
        HistoryEntry::Answer(answer) => told(answer),
        HistoryEntry::Result(result) => object([
            ("id", or_null(result.id.as_ref())),
            ("tool", result.tool.as_deref().map(text).unwrap_or_default()),
            ("output", result.output.clone()),
            ("is_error", Value::Bool(result.is_error)),
        ]),
        HistoryEntry::Tools(tools) => object([("tools", Value::Array(tools.clone()))]),
        // Something that a newer core knows and this binding does not.
        _ => Value::Null,
    }
}

fn told<'v>(answer: &'v WholeAnswer<'v>) -> Value<'v> {
    let calls = answer.calls.iter().map(|call| match call {
        Ok(call) => object([
            ("id", or_null(call.id.as_ref())),
            ("tool", text(&call.tool)),
            (
                "arguments",
                match &call.arguments {
                    Arguments::Absent => Value::Null,
                    Arguments::Text(sent) => text(sent),
                    Arguments::Value(value) => value.clone(),
                },
            ),
            ("completeness", completeness(call.completeness)),
        ]),
        Err(error) => object([("error", Value::String(error.to_string().into()))]),
    });
    let hosted = answer.hosted.iter().map(|hosted| {
        let tool = hosted.call.as_ref().map_or("", |call| &call.tool);
        let output = hosted.result.as_ref().map(|result| result.output.clone());
        object([("tool", text(tool)), ("output", output.unwrap_or_default())])
    });
    let message = answer.message.as_ref();
    object([
        ("calls", Value::Array(calls.collect())),
        ("hosted", Value::Array(hosted.collect())),
        (
            "text",
            message
                .map(|message| text(&message.text))
                .unwrap_or_default(),
        ),
        (
            "message_id",
            or_null(message.and_then(|message| message.id.as_ref())),
        ),
        ("completeness", completeness(answer.completeness)),
    ])
}

fn completeness(of: Completeness) -> Value<'static> {
    text(match of {
        Completeness::Unknown => "unknown",
        Completeness::Complete => "complete",
        Completeness::Doubtful => "doubtful",
        Completeness::CutOff => "cut_off",
    })
}
