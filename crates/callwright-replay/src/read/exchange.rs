//! Reads requests to models and their responses: alone, or both in one record as proxies and tracing tools write
//! them.

use callwright::json::Value;

use super::dialogue::Dialogue;
use super::pick::{
    first_of, has, has_list, has_object, inner_json, list, object, opened, present, set, text,
};
use super::{Format, messages, stream};

/// The names of a request and its response in one record.
const PAIRS: [(&str, &str); 6] = [
    ("request", "response"),
    ("request_body", "response_body"),
    ("requestBody", "responseBody"),
    ("input", "output"),
    ("inputs", "outputs"),
    ("body", "response"),
];

/// The names of the response inside a request that is the record itself.
const RESPONSES: [&str; 3] = ["response", "completion_message", "output"];

/// Keys that wrap a body.
const BODIES: [&str; 4] = ["body", "inputBodyJson", "outputBodyJson", "json"];

/// Where a request keeps its parameters, if not at the top level.
const PARAMETERS: &str = "optional_params model_parameters modelParameters invocation_params toolConfig tool_config \
                          generation_config config";

/// How many wrappers there may be around a body.
const DEEPEST_BODY: usize = 3;

/// Whether this is a conversation sent to a model.
pub(super) fn is_request(value: &Value<'_>) -> bool {
    let declares = || {
        ["model", "instructions", "tools", "previous_response_id"]
            .iter()
            .any(|key| has(value, key))
    };
    has_list(value, "messages")
        || has_list(value, "prompt_messages")
        || has_list(value, "contents")
        || (is_input(value.get("input")) && !has(value, "name") && declares())
}

fn is_input(input: Option<&Value<'_>>) -> bool {
    match input {
        Some(Value::String(_)) => true,
        Some(Value::Array(items)) => items
            .first()
            .is_some_and(|item| is_item(item) || has(item, "role")),
        _ => false,
    }
}

/// Whether this is a model's answer.
pub(super) fn is_response(value: &Value<'_>) -> bool {
    has_list(value, "choices")
        || has_list(value, "candidates")
        || is_anthropic_response(value)
        || is_responses_response(value)
        || (has_object(value, "message")
            && (has(value, "done") || has(value, "done_reason") || has(value, "finish_reason")))
}

fn is_anthropic_response(value: &Value<'_>) -> bool {
    has_list(value, "content")
        && (value.get("stop_reason").is_some() || text(value, "type") == Some("message"))
        && text(value, "role") != Some("user")
}

fn is_responses_response(value: &Value<'_>) -> bool {
    let Some(Value::Array(items)) = value.get("output") else {
        return false;
    };
    text(value, "object") == Some("response") || items.first().is_some_and(is_item)
}

/// Whether something is an item of a responses conversation, rather than a chat message.
pub(super) fn is_item(value: &Value<'_>) -> bool {
    const KINDS: &str = "function_call function_call_output reasoning message mcp_call mcp_list_tools custom_tool_call \
                         web_search_call file_search_call item_reference";
    text(value, "type").is_some_and(|kind| KINDS.split(' ').any(|known| known == kind))
}

/// Whether these are the messages of a conversation.
pub(super) fn is_messages(value: &Value<'_>) -> bool {
    let Some(first) = value.as_array().and_then(<[_]>::first) else {
        return false;
    };
    has(first, "role") || is_item(first)
}

/// A record that is itself a request or a response; the response may be inside its request.
pub(super) fn read<'a>(mut dialogue: Dialogue<'a, '_>, mut value: Value<'a>) {
    if is_request(&value) {
        let answered = first_of(&mut value, &RESPONSES).map(body);
        request(&mut dialogue, value);
        if let Some(answered) = answered {
            response(&mut dialogue, answered);
        }
        dialogue.format(Format::OpenAiChat);
    } else {
        response(&mut dialogue, value);
    }
    dialogue.end();
}

/// The two parts of a record that contains a request and its response, if it does; otherwise nothing is changed.
pub(super) fn take_pair<'a>(value: &mut Value<'a>) -> Option<(Value<'a>, Value<'a>)> {
    let is = |key: &str, test: fn(&Value<'_>) -> bool| {
        value.get(key).is_some_and(|part| holds(part, test))
    };
    let (asked, answered) = PAIRS
        .into_iter()
        .find(|(asked, answered)| is(asked, is_asked) || is(answered, is_answered))?;
    let request = present(value, asked).map(body).unwrap_or_default();
    let response = present(value, answered).map(body).unwrap_or_default();
    Some((request, response))
}

/// Whether a part, or what is wrapped in it, passes a test.
fn holds(part: &Value<'_>, test: fn(&Value<'_>) -> bool) -> bool {
    let inside = |part: &Value<'_>| {
        let mut part = part;
        for _ in 0..DEEPEST_BODY {
            if test(part) {
                return true;
            }
            match BODIES.iter().find_map(|key| part.get(key)) {
                Some(Value::String(body)) => {
                    return inner_json(body).is_some_and(|inner| test(&inner));
                }
                Some(inner) => part = inner,
                None => return false,
            }
        }
        test(part)
    };
    match part {
        Value::String(body) => match inner_json(body) {
            Some(inner) => inside(&inner),
            None => test(part),
        },
        part => inside(part),
    }
}

fn is_asked(value: &Value<'_>) -> bool {
    is_request(value) || is_messages(value) || has(value, "jsonrpc")
}

fn is_answered(value: &Value<'_>) -> bool {
    is_response(value) || is_stream(value) || is_answer(value)
}

fn is_answer(value: &Value<'_>) -> bool {
    text(value, "role") == Some("assistant")
        && (has(value, "content") || has_list(value, "tool_calls"))
}

fn is_stream(value: &Value<'_>) -> bool {
    match value {
        Value::Array(items) => items.first().is_some_and(stream::is_piece),
        Value::String(text) => stream::is_text(text),
        _ => false,
    }
}

/// A request and its response.
pub(super) fn read_pair<'a>(mut dialogue: Dialogue<'a, '_>, asked: Value<'a>, answered: Value<'a>) {
    request(&mut dialogue, asked);
    response(&mut dialogue, answered);
    dialogue.end();
}

/// The contents of the wrappers around a body.
fn body(value: Value<'_>) -> Value<'_> {
    let mut value = opened(value);
    for _ in 0..DEEPEST_BODY {
        if is_request(&value) || is_response(&value) {
            break;
        }
        match first_of(&mut value, &BODIES) {
            Some(inner) => value = opened(inner),
            None => break,
        }
    }
    value
}

/// What was sent to the model: tools, and the whole conversation so far.
pub(super) fn request<'a>(dialogue: &mut Dialogue<'a, '_>, mut value: Value<'a>) {
    dialogue.context.add(&value);
    dialogue.begins_here();
    dialogue.in_history = true;
    if has_list(&value, "messages")
        && ["system", "anthropic_version", "stop_sequences"]
            .iter()
            .any(|key| has(&value, key))
    {
        dialogue.format(Format::Anthropic);
    }
    declared(dialogue, &mut value);
    if let Value::Array(items) = value {
        conversation(dialogue, items);
    } else if has_list(&value, "contents") {
        dialogue.format(Format::Gemini);
        messages::read(dialogue, list(&mut value, "contents"));
    } else if let Some(messages) = first_of(&mut value, &["messages", "prompt_messages"]) {
        if let Value::Array(messages) = messages {
            conversation(dialogue, messages);
        }
    } else if let Some(input) = present(&mut value, "input") {
        dialogue.format(Format::OpenAiResponses);
        match input {
            items @ Value::Array(_) => dialogue.history(items),
            said => dialogue.user(&said),
        }
    }
    dialogue.in_history = false;
}

/// Chat messages, or items of the responses API.
pub(super) fn conversation<'a>(dialogue: &mut Dialogue<'a, '_>, items: Vec<Value<'a>>) {
    if items.iter().any(|item| !has(item, "role") && is_item(item)) {
        dialogue.format(Format::OpenAiResponses);
        dialogue.history(Value::Array(items));
    } else {
        messages::read(dialogue, items);
    }
}

/// The tools of a request.
fn declared<'a>(dialogue: &mut Dialogue<'a, '_>, value: &mut Value<'a>) {
    for key in ["tools", "functions"] {
        if let Some(tools @ Value::Array(_)) = present(value, key) {
            let mut all = tools.as_array().unwrap_or_default().iter();
            if all.any(|tool| has(tool, "input_schema")) {
                dialogue.format(Format::Anthropic);
            }
            dialogue.tools(&tools);
        }
    }
    for key in PARAMETERS.split(' ') {
        if let Some(parameters) = value.get(key) {
            for key in ["tools", "functions"] {
                if let Some(tools @ Value::Array(_)) = parameters.get(key) {
                    dialogue.tools(tools);
                }
            }
        }
    }
}

/// The model's answer.
pub(super) fn response<'a>(dialogue: &mut Dialogue<'a, '_>, mut value: Value<'a>) {
    dialogue.context.add(&value);
    dialogue.answered_as(&value);
    if text(&value, "object") == Some("chat.completion.chunk") {
        dialogue.format(Format::OpenAiChat);
        dialogue.trouble(
            "a piece of a streamed answer; pieces are only assembled if they are in one array",
        );
    } else if has_list(&value, "choices") {
        dialogue.history(value);
    } else if has_list(&value, "candidates") {
        dialogue.format(Format::Gemini);
        // Of several candidates, the first one counts.
        let first = list(&mut value, "candidates").into_iter().take(1);
        dialogue.history(object([(
            "candidates",
            Some(Value::Array(first.collect())),
        )]));
    } else if is_responses_response(&value) {
        dialogue.format(Format::OpenAiResponses);
        declared(dialogue, &mut value);
        set(&mut value, "object", "response");
        dialogue.history(value);
    } else if is_anthropic_response(&value) {
        dialogue.format(Format::Anthropic);
        set(&mut value, "type", "message");
        dialogue.history(value);
    } else if is_stream(&value) {
        stream::read(dialogue, value);
    } else if has(&value, "role") {
        messages::read_one(dialogue, value, None);
    } else if let Some(message @ Value::Object(_)) = present(&mut value, "message") {
        let reason = first_of(&mut value, &["done_reason", "finish_reason", "stopReason"]);
        messages::read_one(dialogue, message, reason);
    } else if let Some(output @ Value::Object(_)) = present(&mut value, "output") {
        // Bedrock's key.
        let reason = present(&mut value, "stopReason");
        messages::read_one(dialogue, output, reason);
    } else if let Value::Array(items) = value {
        messages::read(dialogue, items);
    }
    dialogue.format(Format::OpenAiChat);
}
