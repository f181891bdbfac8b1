//! The gate as a JavaScript class.

use std::sync::Arc;
use std::time::Duration;

use callwright::admit::{Moment, Place};
use callwright::call::Arguments;
use callwright::json::read_value;
use callwright::policy::{RunPlan, RunSettings};
use callwright::rescue::Message;
use callwright::tool::Tool;
use callwright::wire::{self, RecordedLine};
use callwright::{Call, Verdict};
use callwright_bindings::{FailedOutcome, Guard, OpenCall, Options, Reply, provider, read};
use napi::bindgen_prelude::AsyncTask;
use napi::{Env, Result, Task};
use napi_derive::napi;
use serde_json::json;

use crate::call::NativeCall;
use crate::events::{Listener, RecordFile, start};
use crate::text::Text;
use crate::{in_camel_case, thrown};

/// The longest timeout of a tool: a day, in seconds, as in a policy.
const LONGEST_TIMEOUT: f64 = 86_400.0;

/// A gate, shared with the tasks that it starts.
#[napi]
pub struct NativeGate {
    guard: Arc<Guard>,
}

#[napi]
impl NativeGate {
    /// Compiles tools under options, both as JSON. The sessions of `previous` are shared.
    #[napi(constructor, catch_unwind)]
    pub fn new(
        tools: Text,
        options: Text,
        record: Option<RecordFile>,
        listeners: Vec<Listener<'_>>,
        previous: Option<&NativeGate>,
    ) -> Result<Self> {
        let options: Options = read(&options.0).map_err(in_camel_case)?;
        let previous = previous.map(|gate| &*gate.guard);
        let guard = options.guard(&tools.0, previous).map_err(thrown)?;
        guard.set_sinks(start(record, listeners)?);
        Ok(NativeGate {
            guard: Arc::new(guard),
        })
    }

    /// Judges a call whose arguments came as text. Returns nothing for a valid call, since the caller has its
    /// arguments; the verdict line for any other.
    #[napi(catch_unwind)]
    pub fn judge(&self, tool: Text, arguments: Text) -> Option<String> {
        self.objection(&Call::from_text(tool.0, arguments.0))
    }

    fn objection(&self, call: &Call<'_>) -> Option<String> {
        match self.guard.gate().judge(call) {
            Verdict::Valid(valid) if !valid.is_unjudged() && valid.warning().is_none() => None,
            verdict => Some(verdict.line(call, self.guard.feedback()).to_string()),
        }
    }

    /// The same for arguments that came as a value, written as JSON.
    #[napi(catch_unwind)]
    pub fn judge_value(&self, tool: Text, arguments: Text) -> Result<Option<String>> {
        let arguments = read_value(&arguments.0);
        let arguments =
            arguments.map_err(|error| thrown(format_args!("not JSON: {:?}", error.problem)))?;
        let call = Call::new(tool.0, Arguments::Value(arguments));
        Ok(self.objection(&call))
    }

    /// Judges a call line in any format. Returns its verdict line.
    #[napi(catch_unwind)]
    pub fn judge_line(&self, line: Text) -> Result<String> {
        let call = wire::read_line(&line.0).map_err(thrown)?;
        Ok(self.guard.verdict_line(&call))
    }

    /// The verdict on a call line in a provider's format, as JSON.
    #[napi(catch_unwind)]
    pub fn render(&self, line: Text, provider_name: String) -> Result<String> {
        let shape = provider(&provider_name).map_err(thrown)?;
        let call = wire::read_line(&line.0).map_err(thrown)?;
        Ok(self
            .guard
            .render(shape, &call, &self.guard.gate().judge(&call)))
    }

    /// Extracts calls from the text of a message and judges them.
    #[napi(catch_unwind)]
    pub fn rescue(&self, text: Text) -> String {
        self.rescued(&Message::from_text(text.0))
    }

    /// The same for a line that contains a message, in any format.
    #[napi(catch_unwind)]
    pub fn rescue_line(&self, line: Text) -> Result<String> {
        match wire::read_recorded_line(&line.0).map_err(thrown)? {
            RecordedLine::Message(message) => Ok(self.rescued(&message)),
            _ => Err(thrown("this is a call, not a message; use `judge`")),
        }
    }

    fn rescued(&self, message: &Message<'_>) -> String {
        match self.guard.rescue(message) {
            Ok((calls, rest)) => {
                let lines = calls.iter().map(|call| self.guard.verdict_line(call));
                let lines: Vec<String> = lines.collect();
                format!(
                    "{{\"calls\":[{}],\"rest\":{}}}",
                    lines.join(","),
                    json!(rest)
                )
            }
            Err((name, why)) => json!({"no_call": name, "why": why}).to_string(),
        }
    }

    /// Judges a call line and asks whether it may run now.
    #[napi(catch_unwind)]
    pub fn open(
        &self,
        line: Text,
        place: Option<Text>,
        objections: Option<Text>,
    ) -> Result<NativeCall> {
        if self.waits() {
            let why = "sessions are on a server, which must not hold up the event loop; use `await gate.openAsync(…)`";
            return Err(thrown(why));
        }
        let call = OpenTask::new(&self.guard, &line, place, objections)?.open();
        Ok(NativeCall::new(Arc::clone(&self.guard), call))
    }

    /// The same on another thread.
    #[napi(catch_unwind, ts_return_type = "Promise<NativeCall>")]
    pub fn open_async(
        &self,
        line: Text,
        place: Option<Text>,
        objections: Option<Text>,
    ) -> Result<AsyncTask<OpenTask>> {
        OpenTask::new(&self.guard, &line, place, objections).map(AsyncTask::new)
    }

    /// Whether opening and closing calls waits for a server.
    #[napi(getter, catch_unwind)]
    pub fn waits(&self) -> bool {
        self.guard.gate().ledger().waits()
    }

    /// A user's answer to a question that a refusal asked, as JSON.
    #[napi(catch_unwind, ts_return_type = "Promise<void>")]
    pub fn answer(&self, session: String, reply: String) -> Result<AsyncTask<AnswerTask>> {
        let reply: Reply = read(&reply).map_err(thrown)?;
        let reply = reply.into_core().map_err(thrown)?;
        let guard = Arc::clone(&self.guard);
        Ok(AsyncTask::new(AnswerTask {
            guard,
            session,
            reply,
        }))
    }

    /// The tools as a provider's API accepts them, as a JSON list.
    #[napi(catch_unwind)]
    pub fn declare(&self, provider_name: String) -> Result<String> {
        let shape = provider(&provider_name).map_err(thrown)?;
        Ok(self.guard.declarations(shape))
    }

    /// The tools as the gate read them, as a JSON list.
    #[napi(catch_unwind)]
    pub fn tools(&self) -> String {
        self.guard.tools()
    }

    /// What the policy says about a tool, as JSON.
    #[napi(catch_unwind)]
    pub fn settings(&self, tool: String) -> Result<String> {
        self.guard.settings(&tool).map_err(thrown)
    }

    /// How calls of a tool are run, as JSON. The tool's own settings count where the policy is silent.
    #[napi(catch_unwind)]
    pub fn run_plan(
        &self,
        tool: String,
        timeout_ms: Option<f64>,
        retries: Option<u32>,
    ) -> Result<String> {
        let known = self.known(&tool)?;
        let mut own = RunSettings::default();
        own.timeout = timeout_ms.and_then(|wait| {
            Duration::try_from_secs_f64((wait / 1000.0).clamp(0.0, LONGEST_TIMEOUT)).ok()
        });
        own.retries = retries;
        let plan = RunPlan::new(known.spec(), own.merged(self.guard.run_settings(&tool)));
        let told = json!({
            "timeout_ms": u64::try_from(plan.timeout.as_millis()).unwrap_or(u64::MAX),
            "retries": plan.retries,
            "concurrency": plan.concurrency,
        });
        Ok(told.to_string())
    }

    /// How many milliseconds to wait before a call that failed runs again; `null` if it does not.
    #[napi(catch_unwind)]
    pub fn retry_wait(
        &self,
        tool: String,
        failed: String,
        runs: u32,
        retries: u32,
        random: f64,
    ) -> Result<Option<f64>> {
        let known = self.known(&tool)?;
        let failed: FailedOutcome = read(&failed).map_err(thrown)?;
        let failure = failed.into_core().map_err(thrown)?;
        let mut plan = RunPlan::new(known.spec(), RunSettings::default());
        plan.retries = retries;
        let wait = plan.wait_before_retry(runs, &failure, known.output_policy(), random);
        Ok(wait.map(|wait| wait.as_secs_f64() * 1000.0))
    }

    fn known(&self, tool: &str) -> Result<&Tool> {
        let known = self.guard.gate().tool(tool);
        known.ok_or_else(|| thrown(format_args!("unknown tool `{tool}`")))
    }

    /// The thresholds for repeated calls, as JSON.
    #[napi(catch_unwind)]
    pub fn admission(&self) -> String {
        self.guard.admission()
    }

    /// Warnings, one sentence each.
    #[napi(catch_unwind)]
    pub fn warnings(&self) -> Vec<String> {
        self.guard.warnings().to_vec()
    }

    /// Delivers waiting events, for at most this many milliseconds.
    #[napi(catch_unwind)]
    pub fn flush_now(&self, timeout_ms: u32) -> bool {
        self.guard
            .sinks()
            .flush(Duration::from_millis(timeout_ms.into()))
    }

    /// The same on another thread.
    #[napi(catch_unwind, ts_return_type = "Promise<boolean>")]
    pub fn flush(&self, timeout_ms: u32) -> AsyncTask<FlushTask> {
        AsyncTask::new(FlushTask {
            guard: Arc::clone(&self.guard),
            timeout: Duration::from_millis(timeout_ms.into()),
        })
    }

    /// How many events each sink got and lost, as JSON.
    #[napi(catch_unwind)]
    pub fn sink_stats(&self) -> String {
        let sinks = self.guard.sinks();
        let stats = sinks.stats().into_iter().map(|(name, stats)| {
            json!({
                "name": name,
                "delivered": stats.delivered,
                "dropped": stats.dropped,
                "failed": stats.failed,
                "waiting": stats.waiting,
                "last_error": stats.last_error,
            })
        });
        stats.collect::<serde_json::Value>().to_string()
    }
}

/// Opens a call: here, or on another thread.
pub struct OpenTask {
    guard: Arc<Guard>,
    call: Option<Call<'static>>,
    place: Option<(String, Moment)>,
    /// The objections of the caller's own types: a JSON Pointer and a sentence each.
    objections: Vec<(String, String)>,
}

impl OpenTask {
    fn new(
        guard: &Arc<Guard>,
        line: &Text,
        place: Option<Text>,
        objections: Option<Text>,
    ) -> Result<Self> {
        let call = wire::read_line(&line.0).map_err(thrown)?.into_owned();
        let place = place
            .map(|place| read_place(&place.0))
            .transpose()?
            .flatten();
        Ok(OpenTask {
            guard: Arc::clone(guard),
            call: Some(call),
            place,
            objections: match objections {
                Some(listed) => read(&listed.0).map_err(thrown)?,
                None => Vec::new(),
            },
        })
    }

    fn open(mut self) -> OpenCall {
        self.run()
    }

    fn run(&mut self) -> OpenCall {
        let place = self.place.as_ref();
        let place = place.map(|(session, at)| Place { session, at: *at });
        // A task runs once; an empty call would be refused for its name.
        let call = self.call.take().unwrap_or_else(|| Call::from_text("", ""));
        let objections = std::mem::take(&mut self.objections);
        self.guard.open_unless(call, place, objections)
    }
}

/// Where in a conversation a call is made: `session`, `turn` and `round`, as next to a recorded call.
fn read_place(place: &str) -> Result<Option<(String, Moment)>> {
    let recorded = wire::read_recorded(place).map_err(thrown)?;
    let place = recorded.place();
    Ok(place.map(|place| (place.session.to_owned(), place.at)))
}

#[napi]
impl Task for OpenTask {
    type Output = OpenCall;
    type JsValue = NativeCall;

    fn compute(&mut self) -> Result<OpenCall> {
        Ok(self.run())
    }

    fn resolve(&mut self, _: Env, call: OpenCall) -> Result<NativeCall> {
        Ok(NativeCall::new(Arc::clone(&self.guard), call))
    }
}

/// Passes a user's answer to the ledger, which may be a server.
pub struct AnswerTask {
    guard: Arc<Guard>,
    session: String,
    reply: callwright::admit::Reply,
}

#[napi]
impl Task for AnswerTask {
    type Output = ();
    type JsValue = ();

    fn compute(&mut self) -> Result<()> {
        let ledger = self.guard.gate().ledger();
        ledger.answer(&self.session, &self.reply).map_err(thrown)
    }

    fn resolve(&mut self, _: Env, (): ()) -> Result<()> {
        Ok(())
    }
}

/// Waits for the sinks.
pub struct FlushTask {
    guard: Arc<Guard>,
    timeout: Duration,
}

#[napi]
impl Task for FlushTask {
    type Output = bool;
    type JsValue = bool;

    fn compute(&mut self) -> Result<bool> {
        Ok(self.guard.sinks().flush(self.timeout))
    }

    fn resolve(&mut self, _: Env, all: bool) -> Result<bool> {
        Ok(all)
    }
}
