//! What becomes of the calls of one answer: the gate's verdict, on record and counted.

use std::sync::Arc;
use std::time::{Instant, SystemTime};

use callwright::call::Call;
use callwright::event::{Event, Sinks};
use callwright::wire::EnvelopeDefect;
use callwright::{Gate, Verdict};
use callwright_live::{Counter, Live};

use crate::api::Api;
use crate::gates::RequestTools;
use crate::guard::{CallJudge, Decision, NewCall};

/// Judges the calls of one answer.
#[derive(Debug)]
pub(crate) struct AnswerJudge {
    pub(crate) api: Api,
    pub(crate) model: String,
    pub(crate) tools: Arc<RequestTools>,
    pub(crate) has_tools_elsewhere: bool,
    pub(crate) sinks: Sinks,
    pub(crate) live: Arc<Live>,
    pub(crate) counts: Counts,
}

/// How many calls an answer had.
#[derive(Debug, Default, Clone, Copy)]
pub(crate) struct Counts {
    calls: u32,
    repaired: u32,
    refused: u32,
    mended: u32,
}

impl Counts {
    /// The value of the header `x-callwright`; `None` if there was no call.
    pub(crate) fn header(self) -> Option<String> {
        let Counts { calls, repaired, refused, mended } = self;
        let parts = [("repaired", repaired), ("refused", refused), ("mended", mended)];
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
            self.live.count(Counter::Unjudged, &[reason]);
            return Decision::Leave;
        }
        let began = Instant::now();
        let verdict = gate.judge(call);
        let took = began.elapsed();
        let decision = match &verdict {
            Verdict::Valid(_) => Decision::Valid,
            Verdict::Repaired(repaired) => {
                self.counts.repaired += 1;
                Decision::Change(NewCall {
                    tool: repaired.tool().name().to_owned(),
                    arguments: repaired.arguments().to_string(),
                })
            }
            Verdict::Refused(_) => {
                self.counts.refused += 1;
                Decision::Leave
            }
            _ => Decision::Leave,
        };
        let event = Event::of(gate, call, &verdict, SystemTime::now()).with_gate_time(took);
        self.live.judged(&event, self.api.name, &self.model);
        self.sinks.send(event);
        decision
    }

    fn mended(&mut self, defect: EnvelopeDefect) {
        self.counts.mended += 1;
        self.live.count(Counter::Edits, &[defect.name(), "lossless"]);
    }
}
