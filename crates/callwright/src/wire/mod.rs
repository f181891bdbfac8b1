//! Stage 1, and the way back: provider shapes → [`Call`], and what became of it → provider shapes.
//!
//! Pure functions, one file per provider, each with the same three: `read` takes a call out of the
//! provider's shape, `call` puts a call that may run back into it, `result` answers it. Nothing is judged
//! here, and ids go back exactly as they came.

mod anthropic;
mod declare;
mod elicitation;
mod event;
mod gemini;
mod line;
mod mcp;
mod message;
mod openai_chat;
mod openai_responses;
mod recorded;
mod settled;
mod unanswered;

use std::borrow::Cow;

pub use declare::declare;
pub use elicitation::{elicitation, read_elicitation};
pub use line::read_line;
pub use mcp::read_result as read_mcp_result;
pub use message::{RecordedLine, read_recorded_line};
pub use recorded::{Recorded, into_recorded_output, read_recorded, recorded, recorded_output};
pub use settled::{render_round, render_settled};
pub use unanswered::unanswered;

use crate::call::{Arguments, Call, Completeness};
use crate::error::{Error, ErrorKind};
use crate::feedback::Feedback;
use crate::json::{Value, has_duplicate};
use crate::text::{list, quoted};
use crate::verdict::Verdict;

/// A provider whose shapes are known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Provider {
    /// OpenAI chat completions: `tool_calls[]` and `tool` messages.
    OpenAiChat,
    /// OpenAI responses: `function_call` and `function_call_output` items.
    OpenAiResponses,
    /// Anthropic messages: `tool_use` and `tool_result` blocks.
    Anthropic,
    /// Gemini: `functionCall` and `functionResponse` parts.
    Gemini,
    /// MCP: `tools/call` requests and `CallToolResult`s.
    Mcp,
}

impl Provider {
    /// All providers with their names.
    pub const ALL: [(&'static str, Provider); 5] = [
        ("openai_chat", Provider::OpenAiChat),
        ("openai_responses", Provider::OpenAiResponses),
        ("anthropic", Provider::Anthropic),
        ("gemini", Provider::Gemini),
        ("mcp", Provider::Mcp),
    ];
}

/// Takes a call out of any known shape; which one it is shows in its keys.
///
/// # Errors
/// Fails if the value is in none of the shapes; the error names what it lacks.
pub fn read_call(value: Value<'_>) -> Result<Call<'_>, Error> {
    let Value::Object(_) = value else {
        let found = value.kind().name();
        return Err(not_a_call(&format!("expected an object, found {found}")));
    };
    each_key_once(&value)?;
    let completeness = declared_completeness(&value);
    let kind = value.get("type").and_then(Value::as_str);
    let call = if value.get("tool").is_some() {
        if value.get(event::ARGUMENTS_SENT).is_some() {
            event::read(value)
        } else {
            line::read(value)
        }
    } else if value.get("method").is_some() {
        mcp::read(value)
    } else if let Some(Value::Object(_)) = value.get("function") {
        openai_chat::read(value)
    } else if kind == Some("function_call") {
        openai_responses::read(value)
    } else if kind == Some("tool_use") {
        anthropic::read(value)
    } else if value.get("functionCall").is_some() {
        gemini::read(value)
    } else {
        line::read(value)
    }?;
    Ok(match completeness {
        Some(known) => call.with_completeness(known),
        None => call,
    })
}

/// What a provider says about the end of an answer, if anything, beside the call or in what is around it. Where several
/// say something, the worst counts.
fn declared_completeness(value: &Value<'_>) -> Option<Completeness> {
    const AROUND: [&str; 6] = [
        "function",
        "functionCall",
        "function_call",
        "params",
        "metadata",
        "response_metadata",
    ];
    let members = value.as_object().unwrap_or_default();
    let around = members
        .iter()
        .filter(|(key, _)| AROUND.contains(&key.as_ref()));
    let inner = around.flat_map(|(_, inner)| inner.as_object().unwrap_or_default());
    let inner = inner.filter(|(key, _)| key != "status");
    members
        .iter()
        .chain(inner)
        .filter_map(|(key, said)| said_of_the_end(key, said))
        .max()
}

/// What one member of a provider's answer says about its end.
fn said_of_the_end(key: &str, said: &Value<'_>) -> Option<Completeness> {
    /// As providers, gateways and libraries spell them, in any case.
    const REASONS: [&str; 15] = [
        "finish_reason",
        "finishReason",
        "finish-reason",
        "stop_reason",
        "stopReason",
        "stop-reason",
        // OpenRouter.
        "native_finish_reason",
        // Ollama.
        "done_reason",
        "doneReason",
        "finish_details",
        "completion_reason",
        "termination_reason",
        // OpenAI responses.
        "status",
        "incomplete_details",
        "incompleteDetails",
    ];
    let cut = match (key, said) {
        ("truncated" | "incomplete", Value::Bool(cut)) => *cut,
        ("done" | "complete" | "is_complete", Value::Bool(done)) => !done,
        _ => false,
    };
    if cut {
        return Some(Completeness::CutOff);
    }
    if !REASONS.iter().any(|name| name.eq_ignore_ascii_case(key)) {
        return None;
    }
    match said {
        Value::Null => None,
        // `{"reason": "max_output_tokens"}`, only where something is incomplete.
        _ if key.starts_with("incomplete") => Some(Completeness::CutOff),
        // Recordings say how the call ended, not how the answer did.
        Value::String(status) if key == "status" && is_of_the_run(status) => None,
        Value::String(reason) => Some(Completeness::from_finish_reason(reason)),
        // `{"type": "max_tokens"}`.
        Value::Object(_) => {
            let kind = said.get("type").and_then(Value::as_str);
            Some(kind.map_or(Completeness::Doubtful, Completeness::from_finish_reason))
        }
        _ => Some(Completeness::Doubtful),
    }
}

fn is_of_the_run(status: &str) -> bool {
    let of_runs = ["ok", "success", "succeeded", "done", "finished"];
    of_runs.iter().any(|word| word.eq_ignore_ascii_case(status))
}

/// The verdict in a provider's shape: a call that may run as the call it is, a refused one as the
/// result that goes back to the model.
pub fn render<'v>(
    provider: Provider,
    call: &'v Call<'_>,
    verdict: &'v Verdict<'_>,
    feedback: &Feedback,
) -> Value<'v> {
    match verdict {
        Verdict::Valid(valid) => {
            let tool = valid.tool().name();
            render_call(provider, call, tool, valid.arguments(), sent_text(call))
        }
        Verdict::Repaired(repaired) => {
            let tool = repaired.tool().name();
            render_call(provider, call, tool, repaired.arguments(), None)
        }
        Verdict::Refused(refused) => {
            render_result(provider, call, feedback.render(&refused.failure), true)
        }
    }
}

/// A call with the arguments that go to its tool, in a provider's shape. `sent` is their text as it
/// came, if it goes on byte for byte.
fn render_call<'v>(
    provider: Provider,
    call: &'v Call<'_>,
    tool: &'v str,
    arguments: &'v Value<'_>,
    sent: Option<&'v str>,
) -> Value<'v> {
    let text = || sent.map_or_else(|| Cow::Owned(arguments.to_string()), Cow::Borrowed);
    match provider {
        Provider::OpenAiChat => openai_chat::call(call, tool, text()),
        Provider::OpenAiResponses => openai_responses::call(call, tool, text()),
        Provider::Anthropic => anthropic::call(call, tool, arguments),
        Provider::Gemini => gemini::call(call, tool, arguments),
        Provider::Mcp => mcp::call(call, tool, arguments),
    }
}

/// What a call led to, as text, in a provider's shape.
pub fn render_result<'v>(
    provider: Provider,
    call: &'v Call<'_>,
    text: String,
    is_error: bool,
) -> Value<'v> {
    match provider {
        Provider::OpenAiChat => openai_chat::result(call, text),
        Provider::OpenAiResponses => openai_responses::result(call, text),
        Provider::Anthropic => anthropic::result(call, text, is_error),
        Provider::Gemini => gemini::result(call, text, is_error),
        Provider::Mcp => mcp::result(text, is_error),
    }
}

/// The names under which arguments travel. Each shape has one of its own, and gateways mix them up:
/// whichever holds something is taken, so that no argument is dropped unseen.
const ARGUMENTS: [&str; 5] = ["arguments", "input", "args", "parameters", "params"];

/// The arguments of a shape that carries them as text, though some gateways send values.
fn text_arguments<'a>(value: &mut Value<'a>) -> Result<Arguments<'a>, Error> {
    Ok(match value_arguments(value)? {
        Arguments::Value(Value::String(text)) => Arguments::Text(text),
        other => other,
    })
}

/// The arguments of a shape that carries them as a value. A string there is a value of the wrong
/// type, not text to be read.
fn value_arguments<'a>(value: &mut Value<'a>) -> Result<Arguments<'a>, Error> {
    let mut found: Option<(&str, Value<'a>)> = None;
    for key in ARGUMENTS {
        match (present(value, key), &found) {
            (Some(arguments), None) => found = Some((key, arguments)),
            (Some(arguments), Some((other, first))) if arguments != *first => {
                return Err(not_a_call(&format!("it has both `{other}` and `{key}`")));
            }
            _ => {}
        }
    }
    Ok(found.map_or(Arguments::Absent, |(_, arguments)| {
        Arguments::Value(arguments)
    }))
}

/// Takes out a member that is not null.
fn present<'a>(value: &mut Value<'a>, key: &str) -> Option<Value<'a>> {
    value.take(key).filter(|member| *member != Value::Null)
}

/// A key that stands twice could mean either value, and we do not choose.
fn each_key_once(value: &Value<'_>) -> Result<(), Error> {
    let members = value.as_object().unwrap_or_default();
    if !has_duplicate(members) {
        return Ok(());
    }
    let mut seen = std::collections::HashSet::new();
    let keys = members.iter().map(|(key, _)| key.as_ref());
    let twice = keys.into_iter().find(|key| !seen.insert(*key));
    Err(not_a_call(&format!(
        "the key {} stands twice",
        quoted(twice.unwrap_or_default(), 40)
    )))
}

/// The text of arguments that came as text.
fn sent_text<'v>(call: &'v Call<'_>) -> Option<&'v str> {
    match &call.arguments {
        Arguments::Text(text) if !text.trim_ascii().is_empty() => Some(text),
        _ => None,
    }
}

/// An object out of its members; one without a value is left out.
fn object<'v, const N: usize>(members: [(&'static str, Option<Value<'v>>); N]) -> Value<'v> {
    Value::Object(
        members
            .into_iter()
            .filter_map(|(key, value)| Some((Cow::Borrowed(key), value?)))
            .collect(),
    )
}

#[expect(clippy::unnecessary_wraps, reason = "a member for `object`")]
fn text<'v>(text: impl Into<Cow<'v, str>>) -> Option<Value<'v>> {
    Some(Value::String(text.into()))
}

fn name<'v>(call: &'v Call<'_>) -> Option<Value<'v>> {
    text(call.tool.as_ref())
}

fn id<'v>(call: &'v Call<'_>) -> Option<Value<'v>> {
    call.id.clone()
}

/// The name of the tool, which every shape must have. Whoever asks has made sure that each key stands once.
fn tool_name<'a>(value: &mut Value<'a>, key: &'static str) -> Result<Cow<'a, str>, Error> {
    match value.take(key) {
        Some(Value::String(name)) => Ok(name),
        Some(other) => Err(not_a_call(&format!(
            "`{key}` must be the tool's name, found {}",
            other.kind().name()
        ))),
        None => {
            let keys: Vec<&str> = value
                .as_object()
                .unwrap_or_default()
                .iter()
                .map(|(key, _)| key.as_ref())
                .collect();
            let found = match keys.as_slice() {
                [] => String::new(),
                keys => format!(", only {}", list(keys, 60)),
            };
            Err(not_a_call(&format!("it has no `{key}`{found}")))
        }
    }
}

fn not_a_call(why: &str) -> Error {
    ErrorKind::NotACall(format!(
        "not a call: {why}; a call is {{\"tool\": …, \"arguments\": …}} or a provider's own shape"
    ))
    .into()
}
