//! Turns a piece of a log into counts.
//!
//! Makes three passes over its records: they are read and judged, then processed in order when it is this piece's
//! turn, then counted. Only the middle pass waits for other pieces, so it does nothing that can be done before or
//! after it. A call that no other record shows is counted and dropped as soon as it is judged, and only its
//! [`CallTurn`] waits: keeping whole pieces of judged calls until their turn took 20 percent more CPU time, most of
//! it in the allocator.

use std::borrow::Cow;
use std::sync::{Mutex, MutexGuard, PoisonError};

use callwright::Verdict;
use callwright::json::{Path, Value};
use callwright::secrecy::Secrecy;
use xxhash_rust::xxh3::xxh3_64;

use super::against::Against;
use super::counts::{CallFacts, Counts};
use super::sighting::{JudgingSet, Sighted, Sighting, Spot, sightings};
use super::tools::{ToolSet, Tools};
use super::turn::{CallTurn, LateResult, Prepared, TurnOutcome, prepare, take_turn};
use super::turnstile::Turnstile;
use crate::conversation::{Conversations, Effect};
use crate::judge::{JudgedCall, JudgedResult, shown_name};
use crate::read::{Reader, Reading, RecordPlace};
use crate::seen::{At, Seen, SeenCall};
use crate::source::Piece;
use crate::summary::Tally;

/// The approximate size of a record, to reserve room for the records of a piece. A guess is enough.
const USUAL_RECORD: usize = 300;

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
        // Releases the next piece even if this one fails.
        let ticket = self.turnstile.ticket(turn);
        let mut effects = Vec::new();
        let waiting = self.before_turn(piece, reader, counts, &mut effects);
        // Of the counted ones there is nothing left to prepare.
        let prepared: Vec<Option<Prepared<'_, '_>>> = waiting
            .iter()
            .filter_map(Waiting::whole)
            .map(|sighting| prepare(sighting, sighting.answer().map(Cow::Borrowed)))
            .collect();
        let mut outcomes = Vec::with_capacity(waiting.len());
        if !waiting.is_empty() {
            ticket.wait();
            let mut conversations = self.conversations();
            let mut prepared = prepared.iter();
            for waiting in &waiting {
                let known = effects.len();
                outcomes.push(match waiting {
                    Waiting::Counted(call) => {
                        let gate = call.set.judge().gate();
                        TurnOutcome::Call(call.turn.take(gate, &mut conversations, &mut effects))
                    }
                    Waiting::Whole(sighting) => take_turn(
                        (sighting, &self.tools),
                        prepared.next().and_then(Option::as_ref),
                        &mut conversations,
                        &mut effects,
                    ),
                });
                happened_at(waiting.time(), &mut effects[known..]);
            }
        }
        drop(ticket);
        counts.effects(&mut effects);
        let mut prepared = prepared.iter();
        for (waiting, outcome) in waiting.iter().zip(outcomes) {
            match (waiting, outcome) {
                (Waiting::Whole(sighting), outcome) => {
                    let prepared = prepared.next().and_then(Option::as_ref);
                    self.count(sighting, prepared, outcome, counts);
                }
                (Waiting::Counted(call), TurnOutcome::Call(Some(code))) => {
                    count_stopped_again(code, call, reader, counts);
                }
                _ => {}
            }
        }
    }

    /// Reads the records of a piece, and judges and counts what does not depend on others.
    fn before_turn<'p>(
        &'p self,
        piece: &'p Piece,
        reader: &mut Reader,
        counts: &mut Counts,
        effects: &mut Vec<Effect>,
    ) -> Vec<Waiting<'p>> {
        let mut waiting = Vec::with_capacity(piece.bytes.len() / USUAL_RECORD);
        let (mut reading, mut found) = (Reading::default(), Vec::new());
        counts.summary.input.bytes += piece.bytes.len() as u64;
        for record in piece.records() {
            let input = &mut counts.summary.input;
            let with = (&mut *reader, &mut reading);
            sightings(&self.tools, piece, record, with, input, &mut found);
            for (place, mut sighting) in found.drain(..).enumerate() {
                let Some(call) = sighting.standalone_call() else {
                    waiting.push(Waiting::Whole(sighting));
                    continue;
                };
                // The other judge needs the answer too.
                let owned = call.answer.take_if(|_| self.against.is_none());
                let answer = owned.map(Cow::Owned);
                let answer = answer.or_else(|| sighting.answer().map(Cow::Borrowed));
                let Sighted::Call { seen, .. } = &sighting.what else {
                    continue;
                };
                let Some(prepared) = prepare(&sighting, answer) else {
                    continue;
                };
                self.count_call(&sighting, seen, &prepared, counts);
                let (turn, time) = (prepared.turn, seen.at.time);
                if turn.session.is_some() {
                    waiting.push(Waiting::Counted(CountedCall {
                        turn,
                        time,
                        record: record.text.unwrap_or_default(),
                        place,
                        spot: sighting.spot,
                        set: sighting.set,
                    }));
                } else {
                    let known = effects.len();
                    turn.alone(effects);
                    happened_at(time, &mut effects[known..]);
                }
            }
        }
        waiting
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
                    let at = (sighting.set.as_ref(), sighting.spot);
                    count_stopped(code, at, seen, &prepared.judged, counts);
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
        let tool = judged.verdict.tool();
        let known = tool.and_then(|tool| sighting.set.known(tool));
        let is_declared = known.is_some_and(|tool| tool.declared.is_some());
        match &judged.verdict {
            Verdict::Repaired(_) => tally.repaired = 1,
            Verdict::Refused(_) => tally.refused = 1,
            Verdict::Valid(valid) if valid.is_unjudged() || !is_declared => {
                tally.unjudged = 1;
            }
            Verdict::Valid(_) => {
                tally.valid = 1;
                tally.warned = u64::from(!judged.faults.is_empty());
            }
        }
        let gate = sighting.set.judge().gate();
        let arguments = || {
            let secrecy = gate.secrecy(&call.call, &judged.verdict);
            let arguments = judged.verdict.arguments();
            arguments.map_or_else(String::new, |arguments| {
                shown_arguments(&secrecy, arguments)
            })
        };
        let facts = CallFacts {
            spot: sighting.spot,
            at: &call.at,
            session: prepared.turn.session,
            tally,
            latency_us: call.latency_us.unwrap_or_default(),
            arguments: &arguments,
        };
        counts.call(known, &facts);
        if let (Verdict::Valid(valid), Some(both)) = (&judged.verdict, tool.zip(known)) {
            counts.sample(both, valid.arguments(), sighting.spot.hash);
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
        let Some(tool) = late.set.judge().gate().tool(&call.tool) else {
            return;
        };
        let tally = tally_of(result);
        if let Some(known) = late.set.known(tool) {
            counts.late_result(known, tally);
        }
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
            arguments: &|| {
                let secrecy = Secrecy::of_arguments(tool, &call.arguments);
                shown_arguments(&secrecy, &call.arguments)
            },
        };
        if !result.faults.is_empty() {
            counts.result_faults(result, &facts);
        }
        if let Some((against, answer)) = self.against.as_ref().zip(sighting.answer()) {
            against.compare_late(late, answer, &facts, &mut counts.summary);
        }
    }
}

/// Something that waits for the piece's turn.
#[expect(
    clippy::large_enum_variant,
    reason = "a piece of call lines has only the larger kind"
)]
enum Waiting<'p> {
    /// A call that was counted.
    Counted(CountedCall<'p>),
    /// A call that may have been shown before, or a result.
    Whole(Sighting<'p>),
}

/// A counted call, and the record in which to find it again.
struct CountedCall<'p> {
    turn: CallTurn<'p>,
    time: Option<i64>,
    record: &'p str,
    /// Its index among the calls and results of the record.
    place: usize,
    spot: Spot<'p>,
    set: JudgingSet<'p>,
}

impl<'p> Waiting<'p> {
    fn time(&self) -> Option<i64> {
        match self {
            Waiting::Counted(call) => call.time,
            Waiting::Whole(sighting) => sighting.time(),
        }
    }

    fn whole(&self) -> Option<&Sighting<'p>> {
        match self {
            Waiting::Counted(_) => None,
            Waiting::Whole(sighting) => Some(sighting),
        }
    }
}

/// Records when something became known.
fn happened_at(time: Option<i64>, effects: &mut [Effect]) {
    for effect in effects {
        effect.at = time;
    }
}

/// A hash of a session, if there is one.
pub(super) fn hash_of(session: Option<&str>) -> Option<u64> {
    session.map(|session| xxh3_64(session.as_bytes()))
}

/// Counts a stopped call that was already counted and dropped. They are rare enough to be read again.
#[cold]
fn count_stopped_again(
    code: &'static str,
    call: &CountedCall<'_>,
    reader: &mut Reader,
    counts: &mut Counts,
) {
    let Spot { file, line, .. } = call.spot;
    let mut reading = Reading::default();
    reader.read(call.record, RecordPlace { file, line }, &mut reading);
    let mut shown = (reading.seen.iter()).filter(|seen| !matches!(seen, Seen::Tools(_)));
    if let Some(Seen::Call(seen)) = shown.nth(call.place) {
        let answer = seen.answer.as_ref().map(Cow::Borrowed);
        let judged = call.set.judge().judge(&seen.call, answer);
        count_stopped(code, (&call.set, call.spot), seen, &judged, counts);
    }
}

/// A counted call that admission would have stopped.
#[cold]
fn count_stopped(
    code: &'static str,
    (set, spot): (&ToolSet, Spot<'_>),
    call: &SeenCall<'_>,
    judged: &JudgedCall<'_>,
    counts: &mut Counts,
) {
    let facts = CallFacts {
        spot,
        at: &call.at,
        session: hash_of(call.at.session.as_deref()),
        tally: Tally {
            stopped: 1,
            ..Tally::default()
        },
        latency_us: call.latency_us.unwrap_or_default(),
        arguments: &String::new,
    };
    let bytes = judged.result.as_ref().map_or(0, JudgedResult::bytes);
    let tool = judged.verdict.tool();
    let name = shown_name(&call.call, &judged.verdict);
    let shown = match (tool, judged.verdict.arguments()) {
        (Some(tool), Some(arguments)) => {
            shown_arguments(&Secrecy::of_arguments(tool, arguments), arguments)
        }
        _ => String::new(),
    };
    let shown = format!("{name} {shown}");
    let known = tool.and_then(|tool| set.known(tool));
    counts.stopped(code, (name, known), &facts, bytes, shown);
}

fn tally_of(result: &JudgedResult<'_>) -> Tally {
    Tally {
        results: 1,
        results_refused: u64::from(!result.faults.is_empty()),
        tool_errors: u64::from(result.failed),
        ..Tally::default()
    }
}

/// The arguments of a call, safe to show.
fn shown_arguments(secrecy: &Secrecy, arguments: &Value<'_>) -> String {
    let shown = secrecy.value(arguments, &Path::root()).to_string();
    match shown.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{}…", &shown[..end]),
        None => shown,
    }
}
