//! Judges the calls of one answer: asks the gate, records the verdict, and counts it.

pub(crate) mod answer_record;

use std::sync::Arc;
use std::time::{Instant, SystemTime};

use callwright::call::Call;
use callwright::event::{Event, Reask};
use callwright::repair::Grade;
use callwright::wire::EnvelopeDefect;
use callwright::{Gate, Settled, Verdict};
use callwright_live::{Counter, Live};

use self::answer_record::AnswerRecord;
use crate::api::Api;
use crate::gates::RequestTools;
use crate::guard::{CallJudge, Decision, NewCall, SplitCall};
use crate::loops::{LoopCheck, stop_text};
use crate::reask::AskedAgain;
use crate::reask::refused_call::RefusedCall;
use crate::text_calls::CallScope;
use crate::text_calls::TakenIds;

/// Judges the calls of one answer.
#[derive(Debug)]
pub(crate) struct AnswerJudge {
    pub(crate) api: Api,
    /// Whether a streamed answer is a JSON array instead of an event stream.
    pub(crate) is_array: bool,
    pub(crate) model: String,
    pub(crate) tools: Arc<RequestTools>,
    pub(crate) has_tools_elsewhere: bool,
    /// Which calls the request permits.
    pub(crate) scope: Option<CallScope>,
    /// Whether calls written as text are turned into proper calls.
    pub(crate) rescues: bool,
    /// The call ids used in the conversation.
    pub(crate) taken_ids: TakenIds,
    pub(crate) record: AnswerRecord,
    pub(crate) live: Arc<Live>,
    pub(crate) counts: AnswerCounts,
    /// Detects calls that repeat the conversation.
    pub(crate) loops: Option<LoopCheck>,
    /// The text for the user that replaces looping calls.
    pub(crate) stop_text: Option<String>,
    /// Set if the model may be asked again.
    pub(crate) refusals: Option<Refusals>,
}

/// Counts of the calls of an answer.
#[derive(Debug, Default, Clone, Copy)]
pub(crate) struct AnswerCounts {
    calls: u32,
    repaired: u32,
    /// How many of these repairs were lossy or guessed: the answer itself cannot tell the client.
    lossy: u32,
    guess: u32,
    refused: u32,
    rescued: u32,
    mended: u32,
    pub(crate) reasked: u32,
}

impl AnswerCounts {
    /// The value of the header `x-callwright`; `None` if there was no call.
    pub(crate) fn header(self) -> Option<String> {
        let AnswerCounts {
            calls,
            repaired,
            lossy,
            guess,
            refused,
            rescued,
            mended,
            reasked,
        } = self;
        let parts = [
            ("repaired", repaired),
            ("lossy", lossy),
            ("guess", guess),
            ("refused", refused),
            ("rescued", rescued),
            ("mended", mended),
            ("reasked", reasked),
        ];
        let counted = parts.iter().filter(|(_, number)| *number > 0);
        let counted: String = counted
            .map(|(name, number)| format!(" {name}={number}"))
            .collect();
        (calls > 0).then(|| format!("calls={calls}{counted}"))
    }
}

/// What is kept of an answer in order to ask the model again for refused calls.
#[derive(Debug, Default)]
pub(crate) struct Refusals {
    /// Whether calls that change something may be asked for.
    pub(crate) writes: bool,
    decisions: Vec<Decision>,
    refused: Vec<RefusedCall>,
    /// The records of these calls, which are completed when the outcome of asking again is known.
    events: Vec<Event>,
}

impl Refusals {
    pub(crate) fn new(writes: bool) -> Self {
        Refusals {
            writes,
            ..Refusals::default()
        }
    }
}

impl AnswerJudge {
    /// The refused calls, if the model may be asked again.
    pub(crate) fn refused(&self) -> &[RefusedCall] {
        self.refusals
            .as_ref()
            .map_or(&[], |refusals| &refusals.refused)
    }

    /// The number of decisions made, if the model may be asked again.
    pub(crate) fn decided(&self) -> usize {
        self.refusals
            .as_ref()
            .map_or(0, |refusals| refusals.decisions.len())
    }

    /// Records the outcome of asking again; returns all decisions with the new calls, if there are any.
    pub(crate) fn asked_again(&mut self, asked: &AskedAgain) -> Option<Vec<Decision>> {
        for outcome in &asked.outcomes {
            self.live.count(Counter::Reasks, &[outcome]);
        }
        self.live.add(Counter::ReaskTokens, &[], asked.tokens);
        let Refusals {
            decisions,
            refused,
            events,
            ..
        } = self.refusals.take()?;
        let reask = Reask {
            tries: u32::try_from(asked.outcomes.len()).unwrap_or(u32::MAX),
            outcome: asked.outcomes.last().copied().unwrap_or_default(),
            tokens: asked.tokens,
        };
        for mut event in events {
            event.reask = Some(reask);
            self.record.add(event);
        }
        for (_, event) in asked.new_calls.iter().flatten() {
            let mut event = event.clone();
            event.model = named(&self.model);
            self.record.add(event);
        }
        let decisions = asked.decisions(decisions, &refused)?;
        self.counts.reasked += u32::try_from(refused.len()).unwrap_or(u32::MAX);
        Some(decisions)
    }

    /// Whether calls of a tool count in a conversation: the tool is known, or known not to exist.
    fn counts(tools: &RequestTools, has_tools_elsewhere: bool, name: &str) -> bool {
        tools.gate.tool(name).is_some() || tools.is_complete && !has_tools_elsewhere
    }

    fn judged(&mut self, gate: &Gate, call: &Call<'_>, split: &mut SplitCall<'_>) -> Decision {
        let is_known = gate.tool(&call.tool).is_some();
        let is_judged = self.tools.judges(&call.tool) && (is_known || !self.has_tools_elsewhere);
        if !is_judged {
            let reason = if is_known {
                "no_schema"
            } else {
                "undeclared_tool"
            };
            self.live.count(Counter::Unjudged, &[reason]);
        }
        let is_watched = is_known && self.loops.is_some();
        if !is_judged && !is_watched {
            self.counts.calls += 1;
            return Decision::Leave;
        }
        let began = Instant::now();
        let verdict = gate.judge(call);
        if let Verdict::Refused(_) = verdict
            && let Some(calls) = split(call).filter(|_| is_judged)
        {
            let new = calls.iter().map(|call| {
                let new = NewCall::of(&gate.judge(call))?;
                self.judged(gate, call, &mut |_| None);
                Some(new)
            });
            return new
                .collect::<Option<_>>()
                .map_or(Decision::Leave, Decision::Split);
        }
        self.counts.calls += 1;
        let decision = match &verdict {
            _ if !is_judged => Decision::Leave,
            Verdict::Valid(_) => Decision::Valid,
            Verdict::Repaired(repaired) => {
                self.counts.repaired += 1;
                match repaired.edits().iter().map(|edit| edit.grade).max() {
                    Some(Grade::Lossy) => self.counts.lossy += 1,
                    Some(Grade::Guess) => self.counts.guess += 1,
                    _ => {}
                }
                NewCall::of(&verdict).map_or(Decision::Leave, Decision::Change)
            }
            Verdict::Refused(_) => Decision::Leave,
        };
        self.counts.rescued += u32::from(call.rescued.is_some() && decision != Decision::Leave);
        let settled = match &mut self.loops {
            Some(loops) => {
                let (tools, elsewhere) = (&self.tools, self.has_tools_elsewhere);
                loops.admit(gate, call, verdict, |name| {
                    AnswerJudge::counts(tools, elsewhere, name)
                })
            }
            None => Settled::from(verdict),
        };
        let took = began.elapsed();
        let stop_text = stop_text(settled.verdict.failure());
        // Without a schema, the only possible finding is a repetition.
        if !is_judged && stop_text.is_none() {
            return decision;
        }
        if self.stop_text.is_none() {
            self.stop_text = stop_text;
        }
        let event = Event::of(gate, call, &settled.verdict, SystemTime::now());
        let mut event = event.settled(&settled);
        event.model = named(&self.model);
        event.gate_time = took;
        self.live.judged(&event, self.api.name(), &self.model);
        match (&mut self.refusals, &settled.verdict) {
            (Some(refusals), Verdict::Refused(refused)) => {
                self.counts.refused += 1;
                let number = refusals.decisions.len();
                refusals.refused.push(RefusedCall::new(
                    number,
                    gate,
                    call,
                    refused,
                    refusals.writes,
                ));
                refusals.events.push(event);
            }
            (_, verdict) => {
                self.counts.refused += u32::from(matches!(verdict, Verdict::Refused(_)));
                self.record.add(event);
            }
        }
        decision
    }
}

/// The model of a request, if it names one.
fn named(model: &str) -> Option<String> {
    Some(model.to_owned()).filter(|model| !model.is_empty())
}

/// Refused calls that were never asked for again, because the client left or the answer was sent, are still recorded.
impl Drop for AnswerJudge {
    fn drop(&mut self) {
        for event in self
            .refusals
            .take()
            .into_iter()
            .flat_map(|refusals| refusals.events)
        {
            self.record.add(event);
        }
    }
}

impl CallJudge for AnswerJudge {
    fn judge(&mut self, gate: &Gate, call: &Call<'_>, split: &mut SplitCall<'_>) -> Decision {
        let decision = self.judged(gate, call, split);
        if let Some(refusals) = &mut self.refusals {
            refusals.decisions.push(decision.clone());
        }
        decision
    }

    fn mended(&mut self, defect: EnvelopeDefect) {
        self.counts.mended += 1;
        self.record.mended(defect);
        self.live
            .count(Counter::Edits, &[defect.name(), "lossless"]);
    }
}
