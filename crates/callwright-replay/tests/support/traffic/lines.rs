//! Writes records as lines of a log, in the formats that people use.

use serde_json::{Value, json};

use super::session::{Record, Sent};
use super::world::rfc3339;

/// The format of a log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Format {
    /// callwright's own events.
    Events,
    /// One line per call: `tool`, `arguments` and the other keys of a call line.
    Lines,
    /// Requests to a chat API with their responses. Every request repeats the conversation; an error is a text like any
    /// other.
    OpenAi,
    /// OpenTelemetry spans, OTLP as JSON: one `execute_tool` span per line.
    Otlp,
}

impl Format {
    pub(crate) const ALL: [(&'static str, Format); 4] = [
        ("events", Format::Events),
        ("lines", Format::Lines),
        ("openai", Format::OpenAi),
        ("otlp", Format::Otlp),
    ];

    /// The lines of one conversation, each with its time.
    pub(crate) fn lines(self, records: &[Record], declared: &[Value]) -> Vec<(i64, String)> {
        match self {
            Format::Events => each(records, event),
            Format::Lines => each(records, line),
            Format::Otlp => each(records, span),
            Format::OpenAi => requests(records, declared),
        }
    }
}

fn each(records: &[Record], write: fn(&Record) -> Value) -> Vec<(i64, String)> {
    records
        .iter()
        .map(|record| (record.time, write(record).to_string()))
        .collect()
}

/// What `--record` writes with validation off: nothing is refused, and the tool gets what was sent.
fn event(record: &Record) -> Value {
    let (sent, arguments) = match &record.sent {
        Sent::Text(text) => (
            json!(text),
            serde_json::from_str(text).unwrap_or(Value::Null),
        ),
        Sent::Value(value) => (value.clone(), value.clone()),
    };
    let mut event = json!({
        "v": 1,
        "time": rfc3339(record.time),
        "session": record.session,
        "turn": record.turn,
        "round": record.round,
        "model": record.model,
        "id": record.id,
        "tool": record.tool,
        "fingerprint": format!("{:016x}{:016x}", record.time, record.latency_us),
        "verdict": "valid",
        "arguments_sent": sent,
        "arguments": arguments,
        "edits": [],
        "failure": null,
        "output_digest": record.output.as_ref().map(|_| format!("{:016x}", record.latency_us)),
        "latency_us": record.latency_us,
        "gate_us": 9,
        "attempts": 1,
    });
    add_output(&mut event, record);
    event
}

fn line(record: &Record) -> Value {
    let mut line = json!({
        "time": rfc3339(record.time),
        "session": record.session,
        "turn": record.turn,
        "round": record.round,
        "model": record.model,
        "id": record.id,
        "tool": record.tool,
        "arguments": arguments(record),
        "latency_us": record.latency_us,
    });
    add_output(&mut line, record);
    line
}

fn arguments(record: &Record) -> Value {
    match &record.sent {
        Sent::Text(text) => json!(text),
        Sent::Value(value) => value.clone(),
    }
}

fn add_output(line: &mut Value, record: &Record) {
    if let Some(output) = &record.output {
        line["output"] = output.clone();
    }
    if record.is_error {
        line["is_error"] = json!(true);
    }
}

fn text(value: &Value) -> String {
    value
        .as_str()
        .map_or_else(|| value.to_string(), str::to_owned)
}

fn span(record: &Record) -> Value {
    let end = record.time + record.latency_us;
    let attribute = |key: &str, value: &str| json!({"key": key, "value": {"stringValue": value}});
    let mut attributes = vec![
        attribute("gen_ai.operation.name", "execute_tool"),
        attribute("gen_ai.tool.name", &record.tool),
        attribute("gen_ai.tool.call.id", &record.id),
        attribute("gen_ai.conversation.id", &record.session),
        attribute("gen_ai.request.model", record.model),
        attribute("gen_ai.tool.call.arguments", &text(&arguments(record))),
    ];
    if let Some(output) = &record.output {
        attributes.push(attribute("gen_ai.tool.call.result", &text(output)));
    }
    if record.is_error {
        attributes.push(attribute("error.type", "tool_error"));
    }
    let status = if record.is_error {
        json!({"code": 2})
    } else {
        json!({})
    };
    json!({"resourceSpans": [{
        "resource": {"attributes": [attribute("service.name", "agent")]},
        "scopeSpans": [{"scope": {"name": "agent"}, "spans": [{
            "traceId": format!("{:032x}", record.time),
            "spanId": format!("{:016x}", record.latency_us),
            "name": format!("execute_tool {}", record.tool),
            "kind": 1,
            "startTimeUnixNano": (record.time * 1_000).to_string(),
            "endTimeUnixNano": (end * 1_000).to_string(),
            "attributes": attributes,
            "status": status,
        }]}],
    }]})
}

/// One line per answer of the model: the request with the whole conversation so far, and the response.
fn requests(records: &[Record], declared: &[Value]) -> Vec<(i64, String)> {
    let offered: Vec<&Value> = declared
        .iter()
        .filter(|tool| is_called(tool, records))
        .collect();
    let mut messages = Vec::new();
    let mut lines = Vec::new();
    let mut turn = None;
    for round in records.chunk_by(|one, other| one.round == other.round) {
        if turn != Some(round[0].turn) {
            turn = Some(round[0].turn);
            messages.push(json!({"role": "user", "content": "Please go on."}));
        }
        let calls: Vec<Value> = round
            .iter()
            .map(|record| {
                json!({"id": record.id, "type": "function", "function": {
                    "name": record.tool, "arguments": text(&arguments(record))}})
            })
            .collect();
        let answer = json!({"role": "assistant", "content": null, "tool_calls": calls});
        let cut = round.iter().any(|record| is_cut(&record.sent));
        let line = json!({
            "session": round[0].session,
            "time": rfc3339(round[0].time),
            "request": {"model": round[0].model, "messages": messages, "tools": offered},
            "response": {
                "object": "chat.completion",
                "model": round[0].model,
                "created": round[0].time / 1_000_000,
                "choices": [{"index": 0, "message": answer, "finish_reason": if cut { "length" } else { "tool_calls" }}],
            },
        });
        lines.push((round[0].time, line.to_string()));
        messages.push(answer);
        for record in round {
            let content = record.output.as_ref().map_or_else(String::new, text);
            messages.push(json!({"role": "tool", "tool_call_id": record.id, "content": content}));
        }
    }
    lines
}

/// Whether a conversation uses a tool: clients only offer tools that fit the task.
fn is_called(tool: &Value, records: &[Record]) -> bool {
    let name = tool.pointer("/function/name").or(tool.get("name"));
    records
        .iter()
        .any(|record| name.and_then(Value::as_str) == Some(&record.tool))
}

fn is_cut(sent: &Sent) -> bool {
    matches!(sent, Sent::Text(text) if serde_json::from_str::<serde::de::IgnoredAny>(text).is_err())
}
