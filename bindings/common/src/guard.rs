//! A gate with its wording and its sinks: what one object of a binding holds.

use std::sync::{PoisonError, RwLock};
use std::time::{Instant, SystemTime};

use callwright::admit::Place;
use callwright::event::Sinks;
use callwright::feedback::Feedback;
use callwright::policy::RunSettings;
use callwright::rescue::Message;
use callwright::wire::{self, Provider};
use callwright::{Call, Gate, Opened, Policy, Settled, Verdict};

use crate::call::{OpenCall, SettledCall};

/// A gate, how it words failures, and where its events go. Shared freely between threads.
#[derive(Debug)]
pub struct Guard {
    gate: Gate,
    feedback: Feedback,
    sinks: RwLock<Sinks>,
    keeps_output: bool,
    warnings: Vec<String>,
    run: Vec<(String, RunSettings)>,
}

impl Guard {
    pub(crate) fn new(gate: Gate, policy: &Policy, feedback: Feedback, keeps_output: bool) -> Self {
        let mut warnings = policy.warnings(gate.tools().map(callwright::tool::Tool::name));
        for tool in gate.tools() {
            let unvalidated = [
                ("calls", tool.quarantined()),
                ("results", tool.output_quarantined()),
            ];
            for (what, why) in unvalidated {
                let name = tool.name();
                let sentence = |why| format!("tool `{name}`: its {what} pass unvalidated: {why}");
                warnings.extend(why.map(sentence));
            }
        }
        warnings.sort();
        let settings = gate.tools().map(|tool| {
            let run = policy.settings(tool.spec()).run;
            (tool.name().to_owned(), run)
        });
        Guard {
            run: settings
                .filter(|(_, run)| *run != RunSettings::default())
                .collect(),
            gate,
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

    /// How failures are worded.
    pub fn feedback(&self) -> &Feedback {
        &self.feedback
    }

    /// Problems worth a look, one sentence each: schemas that could not be compiled, settings for tools that do not
    /// exist.
    pub fn warnings(&self) -> &[String] {
        &self.warnings
    }

    /// How the policy wants a tool to be run: its time limit, its retries.
    pub fn run_settings(&self, tool: &str) -> RunSettings {
        let own = self.run.iter().find(|(name, _)| name == tool);
        own.map(|(_, run)| *run).unwrap_or_default()
    }

    /// Sends events here from now on. A process that was forked needs new sinks: threads are not copied.
    pub fn set_sinks(&self, sinks: Sinks) -> Sinks {
        let mut held = self.sinks.write().unwrap_or_else(PoisonError::into_inner);
        std::mem::replace(&mut held, sinks)
    }

    /// Where events go.
    pub fn sinks(&self) -> Sinks {
        let held = self.sinks.read().unwrap_or_else(PoisonError::into_inner);
        held.clone()
    }

    /// Whether events hold what tools answered.
    pub(crate) fn keeps_output(&self) -> bool {
        self.keeps_output
    }

    /// The verdict on a call as a line of the contract.
    pub fn verdict_line(&self, call: &Call<'_>) -> String {
        self.gate.judge(call).line(call, &self.feedback).to_string()
    }

    /// A judged call in a provider's shape: one that may run as the call it is, a refused one as the result that goes
    /// back to the model.
    pub fn render(&self, provider: Provider, call: &Call<'_>, verdict: &Verdict<'_>) -> String {
        wire::render(provider, call, verdict, &self.feedback).to_string()
    }

    /// All tools as a request of the provider declares them, as an array of JSON.
    pub fn declarations(&self, provider: Provider) -> String {
        let mut specs: Vec<_> = self
            .gate
            .tools()
            .map(callwright::tool::Tool::spec)
            .collect();
        specs.sort_by(|left, right| left.name.cmp(&right.name));
        let declared = specs.into_iter().map(|spec| wire::declare(provider, spec));
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

    /// Judges a call and asks whether it may run now. A call without a place belongs to no conversation.
    pub fn open(&self, call: Call<'static>, place: Option<Place<'_>>) -> OpenCall {
        let came = (SystemTime::now(), Instant::now());
        let opened = match self.gate.open(&call, place) {
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
