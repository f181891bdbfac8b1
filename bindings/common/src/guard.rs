//! A gate with its wording and its sinks: the contents of one object in a binding.

use std::borrow::Cow;
use std::sync::{Arc, PoisonError, RwLock};
use std::time::{Duration, Instant, SystemTime};

use callwright::admit::{Ledger, Place};
use callwright::check::{Ran, ToolFailure};
use callwright::event::Sinks;
use callwright::feedback::Feedback;
use callwright::json::{Path, Value};
use callwright::policy::{RunPlan, RunSettings};
use callwright::rescue::Message;
use callwright::tool::Tool;
use callwright::wire::{self, Provider};
use callwright::{Call, Gate, Opened, Policy, Settled, Verdict};

use serde_json::json;

use crate::Fault;
use crate::call::{OpenCall, SettledCall};

/// A gate, how it words failures, and where its events go. Shared freely between threads.
#[derive(Debug)]
pub struct Guard {
    gate: Gate,
    /// The gate's own ledger, passed on to the next gate.
    ledger: Arc<dyn Ledger>,
    feedback: Feedback,
    sinks: RwLock<Sinks>,
    keeps_output: bool,
    warnings: Vec<String>,
    policy: Policy,
    /// The names of the tools, in the order given.
    names: Vec<String>,
}

impl Guard {
    pub(crate) fn new(
        gate: Gate,
        ledger: Arc<dyn Ledger>,
        names: Vec<String>,
        policy: Policy,
        feedback: Feedback,
        keeps_output: bool,
    ) -> Self {
        let mut warnings = policy.warnings(gate.tools().map(Tool::name));
        warnings.extend(gate.schema_warnings());
        warnings.sort();
        Guard {
            policy,
            names,
            gate,
            ledger,
            feedback,
            sinks: RwLock::default(),
            keeps_output,
            warnings,
        }
    }

    /// The gate.
    pub fn gate(&self) -> &Gate {
        &self.gate
    }

    /// Where sessions are stored.
    pub(crate) fn ledger(&self) -> &Arc<dyn Ledger> {
        &self.ledger
    }

    /// How failures are worded.
    pub fn feedback(&self) -> &Feedback {
        &self.feedback
    }

    /// Warnings, one sentence each: schemas that could not be compiled, settings for tools that do not exist.
    pub fn warnings(&self) -> &[String] {
        &self.warnings
    }

    /// How the policy wants a tool to be run: its timeout and retries.
    pub fn run_settings(&self, tool: &str) -> RunSettings {
        let tool = self.gate.tool(tool);
        tool.map_or_else(RunSettings::default, |tool| {
            self.policy.settings(tool.spec()).run
        })
    }

    /// How a tool is run: with defaults filled in, and without retries if a second run could do harm.
    pub fn run_plan(&self, tool: &Tool) -> RunPlan {
        RunPlan::new(tool.spec(), self.run_settings(tool.name()))
    }

    /// How long to wait before a call that failed runs again, `runs` tries after it came; `None` if it does not.
    pub fn wait_before_retry(
        &self,
        tool: &Tool,
        failure: &ToolFailure,
        runs: u32,
        random: f64,
    ) -> Option<Duration> {
        let plan = self.run_plan(tool);
        plan.wait_before_retry(runs, failure, tool.output_policy(), random)
    }

    /// What the policy says about a tool, as JSON.
    ///
    /// # Errors
    /// Fails if the tool does not exist.
    pub fn settings(&self, tool: &str) -> Result<String, Fault> {
        let known = self.gate.tool(tool);
        let known = known.ok_or_else(|| format!("unknown tool `{tool}`"))?;
        Ok(json!(self.policy.settings(known.spec())).to_string())
    }

    /// The thresholds for repeated calls, as JSON.
    pub fn admission(&self) -> String {
        json!(self.policy.admission).to_string()
    }

    /// The tools in the order given, as the gate read them: a JSON array.
    pub fn tools(&self) -> String {
        let tools = self.in_order().map(|tool| {
            let spec = tool.spec();
            json!({
                "name": tool.name(),
                "description": spec.description,
                "effect": spec.effect,
                "idempotent": spec.idempotent,
                "quarantined": tool.quarantined(),
                "misplaced_enums": tool.misplaced_enums(),
                "input_schema": spec.input_schema.as_deref(),
                "output_schema": spec.output_schema.as_deref(),
            })
        });
        tools.collect::<serde_json::Value>().to_string()
    }

    fn in_order(&self) -> impl Iterator<Item = &Tool> {
        self.names.iter().filter_map(|name| self.gate.tool(name))
    }

    /// Sends events here from now on. A forked process needs new sinks: threads are not copied.
    pub fn set_sinks(&self, sinks: Sinks) -> Sinks {
        let mut held = self.sinks.write().unwrap_or_else(PoisonError::into_inner);
        std::mem::replace(&mut held, sinks)
    }

    /// Where events go.
    pub fn sinks(&self) -> Sinks {
        let held = self.sinks.read().unwrap_or_else(PoisonError::into_inner);
        held.clone()
    }

    /// Whether events include the answers of tools.
    pub(crate) fn keeps_output(&self) -> bool {
        self.keeps_output
    }

    /// The verdict on a call, as the contract's line.
    pub fn verdict_line(&self, call: &Call<'_>) -> String {
        self.gate.judge(call).line(call, &self.feedback).to_string()
    }

    /// A judged call in a provider's format: one that may run as a call, a refused one as the result for the model.
    pub fn render(&self, provider: Provider, call: &Call<'_>, verdict: &Verdict<'_>) -> String {
        wire::render(provider, call, verdict, &self.feedback).to_string()
    }

    /// All tools as declared in a request to the provider, as a JSON array.
    pub fn declarations(&self, provider: Provider) -> String {
        let declared = self
            .in_order()
            .map(|tool| wire::declare(provider, tool.spec()));
        declared.collect::<serde_json::Value>().to_string()
    }

    /// The calls that a model wrote into a message as text, or the name of the reason why there are none.
    ///
    /// # Errors
    /// Says why the message is not a call: a name, and a sentence.
    pub fn rescue<'m>(
        &self,
        message: &'m Message<'_>,
    ) -> Result<(Vec<Call<'m>>, &'m str), (&'static str, String)> {
        let rescued = self.gate.rescue(message);
        let rescued = rescued.map_err(|reason| (reason.name(), reason.to_string()))?;
        Ok((rescued.calls, rescued.rest))
    }

    /// Judges a recorded call together with its recorded outcome, as `callwright check` does with a line.
    ///
    /// # Errors
    /// Fails if the value is not a call; the error says why.
    pub fn check(&self, record: Value<'static>) -> Result<SettledCall, callwright::Error> {
        let record = wire::recorded(record)?;
        let session = record.session;
        let place = session.as_deref().map(|session| Place {
            session,
            at: record.at,
        });
        let open = self.open(record.call, place);
        let ran = match (record.output, record.is_error) {
            (Some(output), is_error) => wire::recorded_outcome(Cow::Owned(output), is_error),
            // It failed, but the error was not recorded.
            (None, true) => Ran::failed(ToolFailure::said("")),
            (None, false) => return Ok(open.close_unknown(self)),
        };
        Ok(open.close(self, ran, 1, Duration::ZERO))
    }

    /// Judges a call and asks whether it may run now. A call without a place is not part of a conversation.
    pub fn open(&self, call: Call<'static>, place: Option<Place<'_>>) -> OpenCall {
        self.open_unless(call, place, Vec::new())
    }

    /// Same, unless the tool's own types object to what the schema accepts: each objection is a place in the arguments,
    /// as a JSON Pointer, and a sentence.
    pub fn open_unless(
        &self,
        call: Call<'static>,
        place: Option<Place<'_>>,
        objections: Vec<(String, String)>,
    ) -> OpenCall {
        let came = (SystemTime::now(), Instant::now());
        let objections = objections.into_iter();
        let objections = objections.map(|(at, words)| (Path::from_pointer(at), words));
        let verdict = self.gate.judge(&call);
        let verdict = self.gate.object(&call, verdict, objections.collect());
        let opened = match self.gate.admit(&call, verdict, place) {
            Opened::Admitted(ticket) => Ok(ticket.into_owned()),
            Opened::Refused(refused) => Err(Verdict::Refused(refused).into_owned()),
        };
        match opened {
            Ok(ticket) => OpenCall::admitted(call, ticket, came),
            Err(refused) => {
                let place = place.map(|place| (place.session.to_owned(), place.at));
                let settled = SettledCall::new(call, Settled::from(refused));
                settled.report(self, place.as_ref(), came, None);
                OpenCall::refused(settled)
            }
        }
    }
}
