//! Reads one span: a tool that ran, or a model that answered.

use callwright::Call;
use callwright::call::Arguments;
use callwright::json::Value;

use super::attributes::Attributes;
use super::openinference;
use crate::read::context::Context;
use crate::read::dialogue::Dialogue;
use crate::read::messages;
use crate::read::pick::{list, present, set, text};
use crate::read::{RecordReader, exchange, time};
use crate::seen::ToolAnswer;

/// The libraries' names for the name, the arguments and the result of a tool.
const NAMES: &str = "gen_ai.tool.name tool.name ai.toolCall.name traceloop.entity.name";
const IDS: &str = "gen_ai.tool.call.id tool_call.id tool.id ai.toolCall.id";
const ARGUMENTS: &str = "gen_ai.tool.call.arguments gen_ai.tool.input input.value tool.parameters ai.toolCall.args \
                         traceloop.entity.input";
const RESULTS: &str = "gen_ai.tool.call.result gen_ai.tool.output output.value ai.toolCall.result \
                       traceloop.entity.output";

/// The libraries' names for a conversation; without any of them it is the trace.
const SESSIONS: &str = "gen_ai.conversation.id session.id langfuse.session.id \
                        traceloop.association.properties.session_id";
const MODELS: &str = "gen_ai.response.model gen_ai.request.model llm.model_name ai.model.id";

pub(super) fn read<'a>(
    record: &mut RecordReader<'a, '_>,
    mut span: Value<'a>,
    outer: &Context<'a>,
) {
    let mut attributes = Attributes::new(span.take("attributes"));
    let mut context = outer.clone();
    for key in SESSIONS.split(' ') {
        if let Some(session) = attributes.get(key) {
            context.add_session(0, session);
        }
    }
    context.add(&span);
    if let Some(inner) = span.get("context") {
        context.add(inner);
    }
    for key in MODELS.split(' ') {
        if let Some(Value::String(model)) = attributes.get(key) {
            context.set_model(0, model.clone());
        }
    }
    let start = span.get("startTimeUnixNano").and_then(time::of_nanos);
    let start = start.or_else(|| span.get("start_time").and_then(time::read));
    if let Some(start) = start {
        context.set_time(start);
    }
    let end = span.get("endTimeUnixNano").and_then(time::of_nanos);
    let end = end.or_else(|| span.get("end_time").and_then(time::read));
    let latency = start
        .zip(end)
        .and_then(|(start, end)| u64::try_from(end.checked_sub(start)?).ok());
    let mut dialogue = record.dialogue(context);
    // A model span and a tool span show the same call.
    dialogue.in_history = true;
    if is_tool(&span, &attributes) {
        tool(&mut dialogue, &span, attributes, latency);
    } else {
        if let Some(tools @ Value::Array(_)) =
            attributes.take_json("gen_ai.tool.definitions ai.prompt.tools")
        {
            dialogue.tools(&tools);
        }
        messages_of(&mut dialogue, &mut attributes);
        for event in list(&mut span, "events") {
            read_event(&mut dialogue, event);
        }
        openinference::read(&mut dialogue, attributes);
    }
    dialogue.end();
}

fn is_tool(span: &Value<'_>, attributes: &Attributes<'_>) -> bool {
    let is = |key: &str, kind: &str| {
        attributes
            .text(key)
            .is_some_and(|found| found.eq_ignore_ascii_case(kind))
    };
    is("gen_ai.operation.name", "execute_tool")
        || is("openinference.span.kind", "tool")
        || is("traceloop.span.kind", "tool")
        || attributes.get("ai.toolCall.name").is_some()
        || (attributes.get("gen_ai.tool.name").is_some()
            && attributes.get("gen_ai.operation.name").is_none())
        || text(span, "name").is_some_and(|name| name.starts_with("execute_tool "))
}

fn tool<'a>(
    dialogue: &mut Dialogue<'a, '_>,
    span: &Value<'a>,
    mut attributes: Attributes<'a>,
    latency: Option<u64>,
) {
    let named = match attributes.take(NAMES) {
        Some(Value::String(name)) => Some(name),
        _ => match span.get("name") {
            Some(Value::String(name)) => Some(
                name.strip_prefix("execute_tool ")
                    .unwrap_or(name)
                    .to_owned()
                    .into(),
            ),
            _ => None,
        },
    };
    let Some(name) = named else {
        dialogue.trouble("a tool span without a tool name");
        return;
    };
    let Some(arguments) = attributes.take(ARGUMENTS) else {
        // Conventions omit arguments unless asked for.
        dialogue.trouble(
            "a tool span without arguments; let your instrumentation capture them (gen_ai.tool.call.arguments)",
        );
        return;
    };
    let arguments = match arguments {
        Value::String(text) => Arguments::Text(text),
        value => Arguments::Value(value),
    };
    let mut call = Call::new(name, arguments);
    call.id = attributes.take(IDS);
    let status = span.get("status");
    let code = status.and_then(|status| status.get("code").or_else(|| status.get("status_code")));
    let failed = match code {
        Some(Value::String(code)) => code.to_ascii_uppercase().ends_with("ERROR"),
        Some(Value::Number(code)) => code.as_u64() == Some(2),
        _ => false,
    };
    let is_error = failed || attributes.get("error.type").is_some();
    let output = attributes.take(RESULTS).or_else(|| {
        let said =
            status.and_then(|status| status.get("message").or_else(|| status.get("description")));
        is_error.then(|| said.cloned().unwrap_or(Value::String("".into())))
    });
    let answer = output.map(|output| ToolAnswer { output, is_error });
    dialogue.call_with(call, answer, latency);
}

/// The input and output messages.
fn messages_of<'a>(dialogue: &mut Dialogue<'a, '_>, attributes: &mut Attributes<'a>) {
    let before = attributes.take_json("gen_ai.input.messages ai.prompt.messages");
    if let Some(Value::Array(items)) = before {
        dialogue.begins_here();
        exchange::conversation(dialogue, items);
    }
    let after = attributes.take_json("gen_ai.output.messages");
    if let Some(Value::Array(items)) = after {
        messages::read(dialogue, items);
    }
}

/// Older conventions put messages into events.
fn read_event<'a>(dialogue: &mut Dialogue<'a, '_>, mut event: Value<'a>) {
    let mut attributes = Attributes::new(event.take("attributes"));
    messages_of(dialogue, &mut attributes);
    match text(&event, "name").unwrap_or_default() {
        "gen_ai.user.message" => dialogue.user(&Value::Null),
        "gen_ai.assistant.message" | "gen_ai.choice" => {
            let reason = attributes.take("finish_reason");
            let message = attributes.take_json("message gen_ai.event.content event.body");
            let mut message = message.unwrap_or(Value::Object(Vec::new()));
            if let Some(inner @ Value::Object(_)) = present(&mut message, "message") {
                message = inner;
            }
            if let (Some(calls), Value::Object(members)) =
                (attributes.take_json("tool_calls"), &mut message)
            {
                members.push(("tool_calls".into(), calls));
            }
            set(&mut message, "role", "assistant");
            messages::read_one(dialogue, message, reason);
        }
        "gen_ai.tool.message" => {
            let body = attributes.take_json("gen_ai.event.content event.body");
            let mut body = body.unwrap_or_default();
            let mut either = |key| attributes.take(key).or_else(|| present(&mut body, key));
            let (id, content) = (either("id"), either("content"));
            if let Some(content) = content {
                dialogue.result(id, None, content, false);
            }
        }
        _ => {}
    }
}
