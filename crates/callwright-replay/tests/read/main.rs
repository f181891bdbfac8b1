//! Reads records: the cases of the corpus, files of mixed formats, and arbitrary text.
#![allow(clippy::expect_used, clippy::unwrap_used, reason = "a test may panic")]

mod cases;
mod files;
mod properties;

use callwright::call::{Arguments, Completeness};
use callwright_replay::read::{Reader, Reading, RecordPlace};
use callwright_replay::seen::{At, RecordedTool, Seen, ToolAnswer};
use serde_json::{Value, json};

/// What a record shows, as JSON.
fn shown(text: &str) -> Value {
    let mut reading = Reading::default();
    let place = RecordPlace {
        file: "log.jsonl",
        line: 7,
    };
    Reader::new().read(text, place, &mut reading);
    json!({
        "format": reading.format.map(callwright_replay::read::Format::name),
        "seen": reading.seen.iter().map(seen).collect::<Vec<_>>(),
        "troubles": reading.troubles,
    })
}

fn seen(seen: &Seen<'_>) -> Value {
    match seen {
        Seen::Tools(tools) => {
            json!({"tools": tools.iter().map(|tool| &tool.name).collect::<Vec<_>>()})
        }
        Seen::Call(call) => {
            let mut value = place(&call.at);
            let completeness = match call.call.completeness {
                Completeness::Unknown => "unknown",
                Completeness::Complete => "complete",
                Completeness::Doubtful => "doubtful",
                Completeness::CutOff => "cut_off",
            };
            let arguments = match &call.call.arguments {
                Arguments::Absent => Value::Null,
                Arguments::Text(text) => Value::from(text.as_ref()),
                Arguments::Value(value) => value.into(),
            };
            value["call"] = json!({
                "id": call.call.id.as_ref().map(Value::from),
                "tool": call.call.tool,
                "arguments": arguments,
                "completeness": completeness,
            });
            value["answer"] = call.answer.as_ref().map(answer).unwrap_or_default();
            value["latency_us"] = call.latency_us.into();
            value["in_history"] = call.in_history.into();
            value["recorded_tool"] = match &call.recorded_tool {
                None => Value::Null,
                Some(RecordedTool::Meant(tool)) => json!({"meant": tool}),
                Some(RecordedTool::Unknown) => "unknown".into(),
            };
            value
        }
        Seen::Result(result) => {
            let mut value = place(&result.at);
            value["result"] = answer(&result.answer);
            value["result"]["id"] = Value::from(&result.id);
            value
        }
    }
}

fn place(at: &At<'_>) -> Value {
    json!({"session": at.session, "turn": at.turn, "round": at.round, "time": at.time, "model": at.model})
}

fn answer(answer: &ToolAnswer<'_>) -> Value {
    json!({"output": Value::from(&answer.output), "is_error": answer.is_error})
}
