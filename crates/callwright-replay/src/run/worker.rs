//! A piece of a log → counts.
//!
//! Three passes over its records: they are read and judged, then gone through in order when it is this piece's turn, then
//! counted. Only the middle one waits for other pieces, so it does nothing that can be done before or behind it. Calls of
//! which it is clear from the start that they count are counted in the first.

use std::borrow::Cow;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use callwright::Verdict;
use callwright::json::Path;
use callwright::secrecy::Secrecy;
use callwright::tool::Tool;
use smallvec::SmallVec;
use xxhash_rust::xxh3::xxh3_64;

use super::against::Against;
use super::item::{Item, Set, Settled, Tools, What, items};
use super::local::{Counted, Local, Spot};
use super::tools::ToolSet;
use super::turn::{Brief, Late, Outcome, Ready, ready, take_turn};
use super::turnstile::Turnstile;
use crate::conversation::{Conversations, Effect};
use crate::judge::{Given, Judged, JudgedResult, shown_name};
use crate::read::{self, Reader, Reading};
use crate::seen::{Answer, At, Seen, SeenCall};
use crate::source::Piece;
use crate::summary::Tally;

/// How many calls are taken through one step before the next step begins. A step's code is read once for all of them, and
/// they still fit into the cache beside it.
const BATCH: usize = 8;

/// About how many bytes a record has: room is made for as many as a piece then holds. A guess will do.
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
        self.conversations
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    /// Counts everything in a piece.
    pub(super) fn piece(&self, turn: usize, piece: &Piece, reader: &mut Reader, local: &mut Local) {
        // Lets the next piece pass in any case.
        let ticket = self.turnstile.ticket(turn);
        let mut effects = Vec::new();
        let mut waiting = Vec::with_capacity(piece.bytes().len() / USUAL_RECORD);
        let mut batch = SmallVec::new();
        items(&self.tools, piece, reader, local, |item, record, local| {
            let later = match item.into_settled(record) {
                Ok(call) => {
                    batch.push(call);
                    None
                }
                Err(item) => Some(Waits::Uncounted(item)),
            };
            if batch.len() == BATCH || later.is_some() {
                self.settle(&mut batch, &mut waiting, &mut effects, local);
            }
            waiting.extend(later);
        });
        self.settle(&mut batch, &mut waiting, &mut effects, local);
        if waiting.is_empty() {
            local.effects(&mut effects);
            return;
        }
        let ready: Vec<Option<Ready<'_, '_>>> = later(&waiting)
            .map(|item| match &item.what {
                What::Call {
                    seen,
                    answered_elsewhere,
                    shown_again,
                } => {
                    let answer = seen.answer.as_ref().map(Given::Lent);
                    let set = &item.set;
                    let mut ready = ready(set, seen, answer, *answered_elsewhere, *shown_again);
                    ready.recall(set, seen);
                    Some(ready)
                }
                What::Result(_) => None,
            })
            .collect();
        ticket.wait();
        let (mut stopped, mut outcomes) = (Vec::new(), Vec::new());
        {
            let mut conversations = self.conversations();
            let conversations = &mut *conversations;
            let mut ready = ready.iter();
            for waits in &waiting {
                let known = effects.len();
                let time = match waits {
                    Waits::Counted(call) => {
                        let gate = call.set.judge().gate();
                        let code = call.brief.take_turn(gate, conversations, &mut effects);
                        stopped.extend(code.map(|code| (call, code)));
                        call.brief.time()
                    }
                    Waits::Uncounted(item) => {
                        let ready = ready.next().and_then(Option::as_ref);
                        outcomes.push(take_turn(item, ready, conversations, &mut effects));
                        item.time()
                    }
                };
                happened_at(time, &mut effects[known..]);
            }
        }
        drop(ticket);
        local.effects(&mut effects);
        for (call, code) in stopped {
            count_stopped_again(call, code, reader, local);
        }
        for ((item, ready), outcome) in later(&waiting).zip(&ready).zip(outcomes) {
            self.count(item, ready.as_ref(), outcome, local);
        }
    }

    /// Judges and counts calls; those of conversations then wait for their turn.
    fn settle<'p>(
        &self,
        batch: &mut SmallVec<[Settled<'p>; BATCH]>,
        waiting: &mut Vec<Waits<'p>>,
        effects: &mut Vec<Effect>,
        local: &mut Local,
    ) {
        // Another judge needs the answers too.
        let answers: SmallVec<[Option<Answer<'p>>; BATCH]> = batch
            .iter_mut()
            .map(|it| it.call.answer.take_if(|_| self.against.is_none()))
            .collect();
        let mut ready: SmallVec<[Ready<'_, 'p>; BATCH]> = batch
            .iter()
            .zip(answers)
            .map(|(it, answer)| {
                let lent = || it.call.answer.as_ref().map(Given::Lent);
                let answer = answer.map(Given::Owned).or_else(lent);
                ready(&it.set, &it.call, answer, false, false)
            })
            .collect();
        for (it, ready) in batch.iter().zip(&mut ready) {
            ready.recall(&it.set, &it.call);
        }
        for (it, ready) in batch.iter().zip(&ready) {
            self.count_call(it.spot, &it.set, &it.call, ready, local);
            if ready.session.is_none() {
                let known = effects.len();
                ready.alone(effects);
                happened_at(it.call.at.time, &mut effects[known..]);
            }
        }
        for (it, ready) in batch.iter().zip(ready) {
            waiting.extend(ready.into_brief(&it.call.at).map(|brief| {
                Waits::Counted(CountedCall {
                    brief,
                    record: it.record,
                    spot: it.spot,
                    set: it.set.clone(),
                })
            }));
        }
        batch.clear();
    }

    fn count(
        &self,
        item: &Item<'_>,
        ready: Option<&Ready<'_, '_>>,
        outcome: Outcome<'_>,
        local: &mut Local,
    ) {
        match (&item.what, ready, outcome) {
            (What::Call { seen, .. }, Some(ready), Outcome::Call(stopped)) => {
                self.count_call(item.spot, &item.set, seen, ready, local);
                if let Some(code) = stopped {
                    count_stopped(code, item.spot, seen, &ready.judged, local);
                }
            }
            (what, _, Outcome::Result(late)) => self.count_late(item, &late, what.answer(), local),
            (_, _, Outcome::ShownAgain) => local.summary.input.shown_again += 1,
            _ => local.summary.input.results_without_call += 1,
        }
    }

    fn count_call(
        &self,
        spot: Spot<'_>,
        set: &Arc<ToolSet>,
        call: &SeenCall<'_>,
        ready: &Ready<'_, '_>,
        local: &mut Local,
    ) {
        let judged = &ready.judged;
        let result = judged.result.as_ref();
        let mut tally = result.map(tally_of).unwrap_or_default();
        tally.calls = 1;
        match judged.verdict {
            Verdict::Repaired(_) => tally.repaired = 1,
            Verdict::Refused(_) => tally.refused = 1,
            _ => tally.valid = 1,
        }
        let counted = Counted {
            at: &call.at,
            session: ready.session,
            tally,
            latency_us: call.latency_us.unwrap_or_default(),
        };
        let tool = judged.verdict.tool();
        local.call(set, tool, &counted);
        if let (Verdict::Valid(valid), Some(tool)) = (&judged.verdict, tool) {
            local.sample(tool, valid.arguments(), spot.hash);
        }
        if !judged.faults.is_empty() {
            local.faults(judged, &counted, spot);
        }
        if let Some(result) = result.filter(|result| !result.faults.is_empty()) {
            local.result_faults(result, &counted, spot);
        }
        if let Some(against) = &self.against {
            against.compare(call, judged, &counted, spot, &mut local.summary);
        }
    }

    /// A result that came after its call was counted.
    fn count_late(
        &self,
        item: &Item<'_>,
        late: &Late<'_>,
        answer: Option<&Answer<'_>>,
        local: &mut Local,
    ) {
        let (call, result) = (&late.call, &late.result);
        let Some(tool) = call.set.judge().gate().tool(&call.tool) else {
            return;
        };
        let tally = tally_of(result);
        local.late_result(&call.set, tool, tally);
        let against = self.against.as_ref().zip(answer);
        if result.faults.is_empty() && against.is_none() {
            return;
        }
        let at = At {
            session: call.session.as_deref().map(Cow::Borrowed),
            time: call.time,
            model: call.model.as_deref().map(Cow::Borrowed),
            ..At::default()
        };
        let session = call.session.as_ref();
        let counted = Counted {
            at: &at,
            session: session.map(|session| xxh3_64(session.as_bytes())),
            tally,
            latency_us: 0,
        };
        if !result.faults.is_empty() {
            local.result_faults(result, &counted, item.spot);
        }
        if let Some((against, answer)) = against {
            against.compare_late(late, answer, &counted, item.spot, &mut local.summary);
        }
    }
}

/// What waits for its turn.
enum Waits<'p> {
    /// A call that was counted already.
    Counted(CountedCall<'p>),
    /// A call that may have been shown before, or a result.
    Uncounted(Item<'p>),
}

/// A call that was counted, and where to find it again.
struct CountedCall<'p> {
    brief: Brief<'p>,
    spot: Spot<'p>,
    record: &'p str,
    set: Set<'p>,
}

/// What is not counted yet.
fn later<'w, 'p>(waiting: &'w [Waits<'p>]) -> impl Iterator<Item = &'w Item<'p>> {
    waiting.iter().filter_map(|waits| match waits {
        Waits::Counted(_) => None,
        Waits::Uncounted(item) => Some(item),
    })
}

/// A call that turned out to be one that admission would have stopped. They are rare enough to be read again.
#[cold]
fn count_stopped_again(
    call: &CountedCall<'_>,
    code: &'static str,
    reader: &mut Reader,
    local: &mut Local,
) {
    let Spot { file, line, .. } = call.spot;
    let mut reading = Reading::default();
    reader.read(call.record, read::Place { file, line }, &mut reading);
    for seen in &reading.seen {
        if let Seen::Call(seen) = seen {
            let judged = call
                .set
                .judge()
                .judge(&seen.call, seen.answer.as_ref().map(Given::Lent));
            count_stopped(code, call.spot, seen, &judged, local);
        }
    }
}

/// A call that was counted, and that admission would have stopped.
#[cold]
fn count_stopped(
    code: &'static str,
    spot: Spot<'_>,
    call: &SeenCall<'_>,
    judged: &Judged<'_>,
    local: &mut Local,
) {
    let counted = Counted {
        at: &call.at,
        session: call
            .at
            .session
            .as_deref()
            .map(|session| xxh3_64(session.as_bytes())),
        tally: Tally {
            stopped: 1,
            ..Tally::default()
        },
        latency_us: call.latency_us.unwrap_or_default(),
    };
    let bytes = judged.result.as_ref().map_or(0, JudgedResult::bytes);
    let tool = judged.verdict.tool();
    let name = shown_name(&call.call, &judged.verdict);
    let shown = format!("{name} {}", shown_arguments(tool, &judged.verdict));
    local.stopped(code, (name, tool), &counted, bytes, shown, spot);
}

/// Says when something became known.
fn happened_at(time: Option<i64>, effects: &mut [Effect]) {
    for effect in effects {
        effect.at = time;
    }
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
