//! A call between `open` and `close`, and a finished call, as JavaScript classes.

use std::borrow::Cow;
use std::sync::Arc;
use std::time::Duration;

use callwright::check::{Output, Ran};
use callwright::feedback::Content;
use callwright::json::{Path, read_value};
use callwright::wire;
use callwright_bindings::{
    FailedOutcome, FindingOutcome, Guard, OpenCall, SettledCall, provider, read,
};
use napi::bindgen_prelude::AsyncTask;
use napi::{Env, Result, Task};
use napi_derive::napi;
use serde::{Deserialize, Deserializer};
use serde_json::{json, value::RawValue};

use crate::text::Text;
use crate::thrown;

/// A call that asked to run.
#[napi]
pub struct NativeCall {
    guard: Arc<Guard>,
    /// `None` once it is closed.
    call: Option<OpenCall>,
}

/// A finished call: refused, or with its outcome judged.
#[napi]
pub struct NativeSettled {
    guard: Arc<Guard>,
    settled: SettledCall,
}

/// The outcome of a call: either `output` or `failed`, and the finding of the caller's own check.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Outcome<'j> {
    #[serde(borrow, default, deserialize_with = "also_null")]
    output: Option<&'j RawValue>,
    #[serde(default)]
    is_error: bool,
    /// A tool's answer that JSON cannot represent.
    #[serde(default)]
    unwritable: Option<Unwritable>,
    #[serde(default)]
    failed: Option<FailedOutcome>,
    #[serde(default)]
    finding: Option<FindingOutcome>,
    #[serde(default)]
    attempts: u32,
    #[serde(default)]
    latency_us: u64,
}

/// `null` is also an answer.
fn also_null<'j, D: Deserializer<'j>>(
    reader: D,
) -> std::result::Result<Option<&'j RawValue>, D::Error> {
    <&RawValue>::deserialize(reader).map(Some)
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Unwritable {
    /// A JSON Pointer into the answer.
    path: String,
    why: String,
}

#[napi]
impl NativeCall {
    pub(crate) fn new(guard: Arc<Guard>, call: OpenCall) -> Self {
        NativeCall {
            guard,
            call: Some(call),
        }
    }

    /// Whether it may run: it was admitted and is not closed.
    #[napi(getter, catch_unwind)]
    pub fn is_open(&self) -> bool {
        self.call
            .as_ref()
            .is_some_and(|call| call.ticket().is_some())
    }

    /// What to run, or the verdict line of a refused call.
    #[napi(catch_unwind)]
    pub fn line(&self) -> Result<String> {
        let call = self.held()?;
        match (call.ticket(), call.refusal()) {
            // Written by hand, so that long numbers keep their digits.
            (Some(ticket), _) => Ok(format!(
                r#"{{"tool":{},"arguments":{},"edited":{},"fingerprint":"{}"}}"#,
                json!(ticket.tool().name()),
                ticket.arguments(),
                !ticket.edits().is_empty(),
                ticket.fingerprint(),
            )),
            (None, Some(refusal)) => Ok(refusal.line(self.guard.feedback())),
            (None, None) => Err(thrown("neither open nor refused")),
        }
    }

    /// Ends the call: its outcome, as JSON, is judged and counted.
    #[napi(catch_unwind)]
    pub fn close(&mut self, outcome: Text) -> Result<NativeSettled> {
        if self.guard.gate().ledger().waits() {
            let why = "sessions are on a server, which must not hold up the event loop; use `await ticket.closeAsync(…)`";
            return Err(thrown(why));
        }
        let settled = self.closing(&outcome)?.run().ok_or_else(closed)?;
        Ok(NativeSettled::new(&self.guard, settled))
    }

    /// The same on another thread.
    #[napi(catch_unwind, ts_return_type = "Promise<NativeSettled>")]
    pub fn close_async(&mut self, outcome: Text) -> Result<AsyncTask<CloseTask>> {
        self.closing(&outcome).map(AsyncTask::new)
    }

    /// Ends the call without an outcome, which is unknown here. For a refused call, returns what the model gets.
    #[napi(catch_unwind)]
    pub fn close_unknown(&mut self) -> Result<NativeSettled> {
        let settled = self.take()?.close_unknown(&self.guard);
        Ok(NativeSettled::new(&self.guard, settled))
    }

    fn held(&self) -> Result<&OpenCall> {
        self.call.as_ref().ok_or_else(closed)
    }

    fn take(&mut self) -> Result<OpenCall> {
        self.call.take().ok_or_else(closed)
    }

    /// Takes the call only if the outcome can be read: a mistake in it must not use up the ticket.
    fn closing(&mut self, outcome: &Text) -> Result<CloseTask> {
        self.held()?;
        let (ran, attempts, latency) = read_outcome(&outcome.0)?;
        Ok(CloseTask {
            guard: Arc::clone(&self.guard),
            call: Some((self.take()?, ran)),
            attempts,
            latency,
        })
    }
}

impl Drop for NativeCall {
    fn drop(&mut self) {
        if let Some(call) = self.call.take().filter(|call| call.ticket().is_some()) {
            call.close_unknown(&self.guard);
        }
    }
}

fn closed() -> napi::Error {
    thrown("this call is already closed; a ticket is good for one outcome")
}

fn read_outcome(json: &str) -> Result<(Ran<'static>, u32, Duration)> {
    let outcome: Outcome<'_> = read(json).map_err(thrown)?;
    let ran = match (outcome.output, outcome.unwritable, outcome.failed) {
        (Some(output), None, None) => {
            let output = read_value(output.get()).map_err(|error| {
                thrown(format_args!("the output is not JSON: {:?}", error.problem))
            })?;
            wire::recorded_outcome(Cow::Owned(output.into_owned()), outcome.is_error)
        }
        (None, Some(Unwritable { path, why }), None) => Ran::ok(Output::Unwritable {
            path: Path::from_pointer(path),
            why,
        }),
        (None, None, Some(failed)) => Ran::failed(failed.into_core().map_err(thrown)?),
        _ => return Err(thrown("an outcome needs either `output` or `failed`")),
    };
    let finding = outcome.finding.map(FindingOutcome::into_core).transpose();
    let ran = ran.with_finding(finding.map_err(thrown)?);
    Ok((
        ran,
        outcome.attempts,
        Duration::from_micros(outcome.latency_us),
    ))
}

/// Closes a call: here, or on another thread.
pub struct CloseTask {
    guard: Arc<Guard>,
    /// `None` once it has run.
    call: Option<(OpenCall, Ran<'static>)>,
    attempts: u32,
    latency: Duration,
}

impl CloseTask {
    fn run(mut self) -> Option<SettledCall> {
        self.close()
    }

    fn close(&mut self) -> Option<SettledCall> {
        let (call, ran) = self.call.take()?;
        Some(call.close(&self.guard, ran, self.attempts, self.latency))
    }
}

#[napi]
impl Task for CloseTask {
    type Output = SettledCall;
    type JsValue = NativeSettled;

    fn compute(&mut self) -> Result<SettledCall> {
        self.close().ok_or_else(closed)
    }

    fn resolve(&mut self, _: Env, settled: SettledCall) -> Result<NativeSettled> {
        let guard = Arc::clone(&self.guard);
        Ok(NativeSettled { guard, settled })
    }
}

#[napi]
impl NativeSettled {
    /// The verdict line, including the result's verdict.
    #[napi(catch_unwind)]
    pub fn line(&self) -> String {
        self.settled.line(self.guard.feedback())
    }

    /// What the model gets, as one text.
    #[napi(catch_unwind)]
    pub fn text(&self) -> String {
        self.settled.text(self.guard.feedback())
    }

    /// Whether the model gets it as an error.
    #[napi(getter, catch_unwind)]
    pub fn is_error(&self) -> bool {
        self.settled.settled().is_error()
    }

    /// What the model gets, in its parts, as JSON.
    #[napi(catch_unwind)]
    pub fn presented(&self) -> String {
        let presented = self.guard.feedback().present(self.settled.settled());
        let content = match presented.content {
            Content::Kept(_) => "kept",
            Content::Cut(..) => "cut",
            Content::Withheld => "withheld",
        };
        let shown = presented.content_text();
        json!({"is_error": presented.is_error, "content": content, "shown": shown, "note": presented.note}).to_string()
    }

    /// The tool result in a provider's format, as JSON.
    #[napi(catch_unwind)]
    pub fn render(&self, provider_name: String) -> Result<String> {
        let shape = provider(&provider_name).map_err(thrown)?;
        Ok(self
            .settled
            .message(shape, self.guard.feedback())
            .to_string())
    }

    /// For a call that was refused because of its history: its identity, for the user's answer.
    #[napi(getter, catch_unwind)]
    pub fn question(&self) -> Option<String> {
        let fingerprint = self.settled.objected_fingerprint();
        fingerprint.map(|identity| identity.to_string())
    }
}

impl NativeSettled {
    fn new(guard: &Arc<Guard>, settled: SettledCall) -> Self {
        let guard = Arc::clone(guard);
        NativeSettled { guard, settled }
    }
}
