//! A piece of a log → counts.
//!
//! Three passes over its records: they are read and judged, then gone through in order when it is this piece's turn, then
//! counted. Only the middle pass waits for other pieces, so it does nothing that can be done before or after it.

use std::borrow::Cow;
use std::sync::{Mutex, MutexGuard, PoisonError};

use callwright::Verdict;
use callwright::json::Path;
use callwright::secrecy::Secrecy;
use callwright::tool::Tool;
use xxhash_rust::xxh3::xxh3_64;

use super::against::Against;
use super::counts::{CallFacts, Counts};
use super::sighting::{Sighted, Sighting, sightings};
use super::tools::Tools;
use super::turn::{LateResult, Prepared, TurnOutcome, prepare, take_turn};
use super::turnstile::Turnstile;
use crate::conversation::Conversations;
use crate::judge::{JudgedResult, shown_name, tool_of};
use crate::read::Reader;
use crate::seen::{At, SeenCall, ToolAnswer};
use crate::source::Piece;
use crate::summary::Tally;

/// How much of the arguments of a call is shown, in characters.
const SHOWN: usize = 160;

/// What all workers share.
#[derive(Debug)]
pub(super) struct Shared {
    pub(super) tools: Tools,
    pub(super) against: Option<Against>,
    pub(super) turnstile: Turnstile,
    pub(super) conversations: Mutex<Conversations>,
}

impl Shared {
    pub(super) fn conversations(&self) -> MutexGuard<'_, Conversations> {
        let conversations = self.conversations.lock();
        conversations.unwrap_or_else(PoisonError::into_inner)
    }

    /// Counts everything in a piece.
    pub(super) fn piece(
        &self,
        turn: usize,
        piece: &Piece,
        reader: &mut Reader,
        counts: &mut Counts,
    ) {
        // Lets the next piece pass in any case.
        let ticket = self.turnstile.ticket(turn);
        let mut sightings = sightings(&self.tools, piece, reader, counts);
        let answers: Vec<Option<ToolAnswer<'_>>> = sightings
            .iter_mut()
            .map(|sighting| match self.against {
                None => sighting.take_answer(),
                // The other judge needs it too.
                Some(_) => None,
            })
            .collect();
        let prepared: Vec<Option<Prepared<'_, '_>>> = sightings
            .iter()
            .zip(answers)
            .map(|(sighting, answer)| {
                let lent = || sighting.answer().map(Cow::Borrowed);
                prepare(sighting, answer.map(Cow::Owned).or_else(lent))
            })
            .collect();
        if sightings.iter().any(Sighting::depends_on_others) {
            ticket.wait();
        }
        let mut effects = Vec::new();
        let mut outcomes = Vec::with_capacity(sightings.len());
        let mut conversations = self.conversations();
        for (sighting, prepared) in sightings.iter().zip(&prepared) {
            let known = effects.len();
            let prepared = prepared.as_ref();
            outcomes.push(take_turn(
                sighting,
                prepared,
                &mut conversations,
                &mut effects,
            ));
            for effect in &mut effects[known..] {
                effect.at = sighting.time();
            }
        }
        drop(conversations);
        drop(ticket);
        counts.effects(&mut effects);
        for ((sighting, prepared), outcome) in sightings.iter().zip(&prepared).zip(outcomes) {
            self.count(sighting, prepared.as_ref(), outcome, counts);
        }
    }

    fn count(
        &self,
        sighting: &Sighting<'_>,
        prepared: Option<&Prepared<'_, '_>>,
        outcome: TurnOutcome<'_>,
        counts: &mut Counts,
    ) {
        match (&sighting.what, prepared, outcome) {
            (Sighted::Call { seen, .. }, Some(prepared), TurnOutcome::Call(stopped)) => {
                self.count_call(sighting, seen, prepared, counts);
                if let Some(code) = stopped {
                    count_stopped(code, sighting, seen, prepared, counts);
                }
            }
            (_, _, TurnOutcome::Result(late)) => self.count_late(sighting, &late, counts),
            (_, _, TurnOutcome::ShownAgain) => counts.summary.input.shown_again += 1,
            _ => counts.summary.input.results_without_call += 1,
        }
    }

    fn count_call(
        &self,
        sighting: &Sighting<'_>,
        call: &SeenCall<'_>,
        prepared: &Prepared<'_, '_>,
        counts: &mut Counts,
    ) {
        let judged = &prepared.judged;
        let result = judged.result.as_ref();
        let mut tally = result.map(tally_of).unwrap_or_default();
        tally.calls = 1;
        match judged.verdict {
            Verdict::Repaired(_) => tally.repaired = 1,
            Verdict::Refused(_) => tally.refused = 1,
            _ => tally.valid = 1,
        }
        let facts = CallFacts {
            spot: sighting.spot,
            at: &call.at,
            session: prepared.session,
            tally,
            latency_us: call.latency_us.unwrap_or_default(),
        };
        let tool = tool_of(&judged.verdict);
        counts.call(&sighting.set, tool, &facts);
        if let (Verdict::Valid(valid), Some(tool)) = (&judged.verdict, tool) {
            counts.sample(tool, valid.arguments(), sighting.spot.hash);
        }
        if !judged.faults.is_empty() {
            counts.faults(judged, &facts);
        }
        if let Some(result) = result.filter(|result| !result.faults.is_empty()) {
            counts.result_faults(result, &facts);
        }
        if let Some(against) = &self.against {
            against.compare(call, judged, &facts, &mut counts.summary);
        }
    }

    /// A result that came after its call was counted.
    fn count_late(&self, sighting: &Sighting<'_>, late: &LateResult<'_>, counts: &mut Counts) {
        let (call, result) = (&late.call, &late.result);
        let Some(tool) = call.set.judge().gate().tool(&call.tool) else {
            return;
        };
        let tally = tally_of(result);
        counts.late_result(&call.set, tool, tally);
        let at = At {
            session: call.session.as_deref().map(Cow::Borrowed),
            time: call.time,
            model: call.model.as_deref().map(Cow::Borrowed),
            ..At::default()
        };
        let facts = CallFacts {
            spot: sighting.spot,
            at: &at,
            session: hash_of(call.session.as_deref()),
            tally,
            latency_us: 0,
        };
        if !result.faults.is_empty() {
            counts.result_faults(result, &facts);
        }
        if let Some((against, answer)) = self.against.as_ref().zip(sighting.answer()) {
            against.compare_late(late, answer, &facts, &mut counts.summary);
        }
    }
}

/// A hash of a session, if there is one.
pub(super) fn hash_of(session: Option<&str>) -> Option<u64> {
    session.map(|session| xxh3_64(session.as_bytes()))
}

/// A call that was counted, and that admission would have stopped.
#[cold]
fn count_stopped(
    code: &'static str,
    sighting: &Sighting<'_>,
    call: &SeenCall<'_>,
    prepared: &Prepared<'_, '_>,
    counts: &mut Counts,
) {
    let judged = &prepared.judged;
    let facts = CallFacts {
        spot: sighting.spot,
        at: &call.at,
        session: prepared.session,
        tally: Tally {
            stopped: 1,
            ..Tally::default()
        },
        latency_us: call.latency_us.unwrap_or_default(),
    };
    let bytes = judged.result.as_ref().map_or(0, JudgedResult::bytes);
    let tool = tool_of(&judged.verdict);
    let name = shown_name(&call.call, &judged.verdict);
    let shown = format!("{name} {}", shown_arguments(tool, &judged.verdict));
    counts.stopped(code, (name, tool), &facts, bytes, shown);
}

fn tally_of(result: &JudgedResult<'_>) -> Tally {
    Tally {
        results: 1,
        results_refused: u64::from(!result.faults.is_empty()),
        tool_errors: u64::from(result.failed),
        ..Tally::default()
    }
}

/// The arguments of a call as they may be shown.
fn shown_arguments(tool: Option<&Tool>, verdict: &Verdict<'_>) -> String {
    let (Some(tool), Some(arguments)) = (tool, verdict.arguments()) else {
        return String::new();
    };
    let secrecy = Secrecy::of_arguments(tool, arguments);
    let shown = secrecy.value(arguments, &Path::root()).to_string();
    match shown.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{}…", &shown[..end]),
        None => shown,
    }
}
