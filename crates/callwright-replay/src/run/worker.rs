//! A piece of a log → counts.
//!
//! Three passes over its records: they are read and judged, then gone through in order when it is this piece's turn, then
//! counted. Only the middle one waits for other pieces, so it does nothing that can be done before or behind it.

use std::borrow::Cow;
use std::sync::{Mutex, MutexGuard, PoisonError};

use callwright::Verdict;
use callwright::json::Path;
use callwright::tool::Tool;

use super::against::Against;
use super::item::{Item, Tools, What, items};
use super::local::{Counted, Local};
use super::turn::{Late, Outcome, Ready, ready, take_turn};
use super::turnstile::Turnstile;
use crate::conversation::{Conversations, Effect};
use crate::judge::{JudgedResult, tool_of};
use crate::read::Reader;
use crate::seen::{Answer, At, SeenCall};
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
        self.conversations
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    /// Counts everything in a piece.
    pub(super) fn piece(&self, turn: usize, piece: &Piece, reader: &mut Reader, local: &mut Local) {
        // Lets the next piece pass in any case.
        let ticket = self.turnstile.ticket(turn);
        let mut effects = Vec::new();
        let alone = |item: &Item<'_>, call: &SeenCall<'_>, local: &mut Local| {
            let ready = ready(item, call, false, false);
            let known = effects.len();
            ready.alone(&mut effects);
            happened_at(item.time(), &mut effects[known..]);
            self.count_call(item, call, &ready, None, local);
        };
        let items = items(&self.tools, piece, reader, local, alone);
        let ready: Vec<Option<Ready<'_>>> = items
            .iter()
            .map(|item| match &item.what {
                What::Call {
                    seen,
                    answered_elsewhere,
                    shown_again,
                } => Some(ready(item, seen, *answered_elsewhere, *shown_again)),
                What::Result(_) => None,
            })
            .collect();
        if items.is_empty() {
            local.effects(&mut effects);
            return;
        }
        ticket.wait();
        let outcomes: Vec<Outcome<'_>> = {
            let mut conversations = self.conversations();
            let turns = items.iter().zip(&ready);
            turns
                .map(|(item, ready)| {
                    let known = effects.len();
                    let turn = take_turn(item, ready.as_ref(), &mut conversations, &mut effects);
                    happened_at(item.time(), &mut effects[known..]);
                    turn
                })
                .collect()
        };
        drop(ticket);
        local.effects(&mut effects);
        for ((item, ready), outcome) in items.iter().zip(&ready).zip(outcomes) {
            self.count(item, ready.as_ref(), outcome, local);
        }
    }

    fn count(
        &self,
        item: &Item<'_>,
        ready: Option<&Ready<'_>>,
        outcome: Outcome<'_>,
        local: &mut Local,
    ) {
        match (&item.what, ready, outcome) {
            (What::Call { seen, .. }, Some(ready), Outcome::Call(stopped)) => {
                self.count_call(item, seen, ready, stopped, local);
            }
            (what, _, Outcome::Result(late)) => self.count_late(item, &late, what.answer(), local),
            (_, _, Outcome::ShownAgain) => local.summary.input.shown_again += 1,
            _ => local.summary.input.results_without_call += 1,
        }
    }

    fn count_call(
        &self,
        item: &Item<'_>,
        call: &SeenCall<'_>,
        ready: &Ready<'_>,
        stopped: Option<&str>,
        local: &mut Local,
    ) {
        let judged = &ready.judged;
        let result = judged.result.as_ref();
        let mut tally = result.map(tally_of).unwrap_or_default();
        tally.calls = 1;
        tally.stopped = u64::from(stopped.is_some());
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
        let tool = tool_of(&judged.verdict);
        local.call(&item.set, tool, &counted);
        if let (Verdict::Valid(valid), Some(tool)) = (&judged.verdict, tool) {
            local.sample(tool, valid.arguments(), item.spot.hash);
        }
        if !judged.faults.is_empty() {
            local.faults(judged, &counted, item.spot);
        }
        if let Some(result) = result.filter(|result| !result.faults.is_empty()) {
            local.result_faults(result, &counted, item.spot);
        }
        if let Some(code) = stopped {
            let bytes = result.map_or(0, |result| result.bytes);
            let shown = shown_arguments(tool, &judged.verdict);
            let tool = tool.map_or(call.call.tool.as_ref(), Tool::name);
            local.stopped(code, tool, &counted, bytes, &shown, item.spot);
        }
        if let Some(against) = &self.against {
            against.compare(call, judged, &counted, item.spot, &mut local.summary);
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
            session: session.map(|session| xxhash_rust::xxh3::xxh3_64(session.as_bytes())),
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
    let shown = callwright::event::shown_argument(tool, arguments, &Path::root()).to_string();
    match shown.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{}…", &shown[..end]),
        None => shown,
    }
}
