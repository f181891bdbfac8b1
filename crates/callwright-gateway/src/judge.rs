//! What becomes of the calls of one answer: the gate's verdict, on record and counted.

use std::sync::Arc;
use std::time::{Instant, SystemTime};

use callwright::call::Call;
use callwright::event::{Event, Sinks};
use callwright::wire::EnvelopeDefect;
use callwright::{Gate, Verdict};

use crate::api::Api;
use crate::gates::RequestTools;
use crate::guard::{CallJudge, Decision, NewCall};
use crate::metrics::{Counter, Metrics, Timer};
use crate::rescue_scope::RescueScope;

/// Judges the calls of one answer.
#[derive(Debug)]
pub(crate) struct AnswerJudge {
    pub(crate) api: Api,
    pub(crate) model: String,
    pub(crate) tools: Arc<RequestTools>,
    pub(crate) has_tools_elsewhere: bool,
    /// Which calls that come as text are made proper calls.
    pub(crate) rescue: Option<RescueScope>,
    pub(crate) sinks: Sinks,
    pub(crate) metrics: Arc<Metrics>,
    pub(crate) counts: Counts,
}

/// How many calls an answer had.
#[derive(Debug, Default, Clone, Copy)]
pub(crate) struct Counts {
    calls: u32,
    repaired: u32,
    refused: u32,
    rescued: u32,
    mended: u32,
}

impl Counts {
    /// The value of the header `x-callwright`; `None` if there was no call.
    pub(crate) fn header(self) -> Option<String> {
        let Counts { calls, repaired, refused, rescued, mended } = self;
        let parts = [("repaired", repaired), ("refused", refused), ("rescued", rescued), ("mended", mended)];
        let told = parts.iter().filter(|(_, number)| *number > 0);
        let told: String = told.map(|(name, number)| format!(" {name}={number}")).collect();
        (calls > 0).then(|| format!("calls={calls}{told}"))
    }
}

impl CallJudge for AnswerJudge {
    fn judge(&mut self, gate: &Gate, call: &Call<'_>) -> Decision {
        self.counts.calls += 1;
        let is_known = gate.tool(&call.tool).is_some();
        if !self.tools.judges(&call.tool) || !is_known && self.has_tools_elsewhere {
            let reason = if is_known { "no_schema" } else { "undeclared_tool" };
            self.metrics.count(Counter::Unjudged, &[reason]);
            return Decision::Leave;
        }
        let began = Instant::now();
        let verdict = gate.judge(call);
        let took = began.elapsed();
        let (name, decision) = match &verdict {
            Verdict::Valid(_) => ("valid", Decision::Valid),
            Verdict::Repaired(repaired) => {
                self.counts.repaired += 1;
                for edit in repaired.edits() {
                    self.metrics.count(Counter::Edits, &[edit.rule, edit.grade.name()]);
                }
                ("repaired", Decision::Change(NewCall {
                    tool: repaired.tool().name().to_owned(),
                    arguments: repaired.arguments().to_string(),
                }))
            }
            Verdict::Refused(refused) => {
                self.counts.refused += 1;
                self.metrics.count(Counter::Failures, &[refused.failure.code.name()]);
                ("refused", Decision::Leave)
            }
            _ => ("unjudged", Decision::Leave),
        };
        if let Some(notation) = call.rescued.filter(|_| decision != Decision::Leave) {
            self.counts.rescued += 1;
            self.metrics.count(Counter::Rescued, &[notation.name()]);
        }
        let tool = gate.tool(&call.tool).map_or("unknown", |tool| tool.name());
        self.metrics.count(Counter::Calls, &[self.api.name, name, tool, &self.model]);
        self.metrics.time(Timer::Gate, took);
        self.sinks.report(|| {
            Event::of(gate, call, &verdict, SystemTime::now()).with_gate_time(took)
        });
        decision
    }

    fn mended(&mut self, defect: EnvelopeDefect) {
        self.counts.mended += 1;
        self.metrics.count(Counter::Edits, &[defect.name(), "lossless"]);
    }
}
