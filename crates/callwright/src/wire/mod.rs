//! Stage 1, and the way back: provider shapes → [`Call`], and its outcome → provider shapes.
//!
//! Pure functions. Each provider has one file, which describes its calls, answers, histories, results and tools, and a row in
//! the table of `provider.rs`. Never judges a call; ids are returned exactly as they arrived.
//!
//! Between a provider's response and the messages that follow it in the history:
//!
//! ```
//! use callwright::parse::read_value;
//! use callwright::wire::{Provider, read_tools, read_whole_answer, render_settled};
//! use callwright::{Gate, Opened, Verdict, admit::Place, check::Ran, feedback::Feedback};
//!
//! let tools = read_tools(r#"[{"type": "function", "function": {"name": "search", "parameters": {
//!     "type": "object", "properties": {"limit": {"type": "integer"}}}}}]"#)?;
//! let gate = Gate::builder().tools(tools).build()?;
//! let response = r#"{"choices": [{"finish_reason": "tool_calls", "message": {"role": "assistant", "tool_calls": [
//!     {"id": "call_1", "type": "function", "function": {"name": "search", "arguments": "{\"limit\": \"5\"}"}}]}}]}"#;
//!
//! for answer in read_whole_answer(read_value(response).expect("JSON"))? {
//!     for call in answer.calls {
//!         let call = call?;
//!         let settled = match gate.open(&call, Place::new("chat-1", 0, 0)) {
//!             // Run ticket.tool() with ticket.arguments() here.
//!             Opened::Admitted(ticket) => gate.close(ticket, Ran::ok("12 lamps")),
//!             Opened::Refused(refused) => Verdict::Refused(refused).into(),
//!         };
//!         let message = render_settled(Provider::OpenAiChat, &call, &settled, &Feedback::default());
//!         assert_eq!(message.to_string(), r#"{"role":"tool","tool_call_id":"call_1","content":"12 lamps"}"#);
//!     }
//! }
//! # Ok::<(), callwright::Error>(())
//! ```

mod answer;
mod anthropic;
mod elicitation;
mod event;
mod finish;
mod gemini;
mod history;
mod line;
pub(crate) mod mcp;
mod members;
mod open_calls;
mod openai_chat;
mod openai_responses;
mod provider;
pub(crate) mod raw;
mod read_event;
mod recorded;
mod settled;
mod streamed;
pub(crate) mod tools;
mod verdict_line;

pub use answer::{RecordedLine, WholeAnswer, read_record, read_recorded_line, read_whole_answer};
pub use elicitation::{elicitation, read_elicitation};
pub use history::{CallResult, HistoryEntry, HostedCall, read_history, unanswered};
pub use line::read_line;
pub use mcp::read_result as read_mcp_result;
pub use open_calls::OpenCalls;
pub use provider::{Provider, ProviderSummary};
pub use raw::UnreadableAnswer;
pub use recorded::{Recorded, read_recorded, recorded, recorded_outcome};
pub use settled::{render_round, render_settled};
pub use streamed::{
    AnswerReader, EnvelopeDefect, Extent, Site, SiteRole, StreamedAnswer, StreamedCall,
    StreamedChoice, StreamedText,
};
pub use tools::{declare, read_each_tool, read_tools};
pub use verdict_line::VerdictLine;
pub(crate) use verdict_line::{ToldFailure, write_edits, write_notice};

use self::finish::declared_completeness;
use self::members::{
    custom_call, each_key_once, not_a_call, object, present, text, text_arguments, tool_name,
    value_arguments,
};
use self::provider::{RunnableCall, shapes};
use crate::call::{Arguments, Call};
use crate::error::Error;
use crate::feedback::Feedback;
use crate::json::Value;
use crate::verdict::Verdict;

/// Reads a call in any known shape, recognised by its keys.
///
/// # Errors
/// Fails if the value has none of the shapes; the error names what is missing.
pub fn read_call(value: Value<'_>) -> Result<Call<'_>, Error> {
    let Value::Object(_) = value else {
        let found = value.kind().name();
        return Err(not_a_call(&format!("expected an object, found {found}")));
    };
    each_key_once(&value)?;
    let completeness = declared_completeness(&value);
    let call = if value.get("tool").is_some() {
        if value.get(event::ARGUMENTS_SENT).is_some() {
            event::read(value)
        } else {
            line::read(value)
        }
    } else if let Some(shape) = shapes().find(|shape| shape.is_call(&value)) {
        shape.read_call(value)
    } else {
        line::read(value)
    }?;
    Ok(match completeness {
        Some(known) => call.with_completeness(known),
        None => call,
    })
}

/// The verdict in a provider's shape: a call that may run as a call, a refused one as the result that goes back to the model.
pub fn render<'v>(
    provider: Provider,
    call: &'v Call<'_>,
    verdict: &'v Verdict<'_>,
    feedback: &Feedback,
) -> Value<'v> {
    let shape = provider.shape();
    let (tool, arguments, sent) = match verdict {
        Verdict::Valid(valid) => (valid.tool(), valid.arguments(), sent_text(call)),
        Verdict::Repaired(repaired) => (repaired.tool(), repaired.arguments(), None),
        Verdict::Refused(refused) => {
            let text = feedback.render_with(&refused.failure, refused.notice.as_ref());
            return shape.render_result(call, text, true);
        }
    };
    shape.render_call(RunnableCall {
        id: call.id.clone(),
        tool: tool.name(),
        arguments,
        sent,
    })
}

/// The text of arguments that were sent as text.
fn sent_text<'v>(call: &'v Call<'_>) -> Option<&'v str> {
    match &call.arguments {
        Arguments::Text(text) if !text.trim_ascii().is_empty() => Some(text),
        _ => None,
    }
}

/// The result of a call, as text, in a provider's shape.
pub fn render_result<'v>(
    provider: Provider,
    call: &'v Call<'_>,
    text: String,
    is_error: bool,
) -> Value<'v> {
    provider.shape().render_result(call, text, is_error)
}
