//! What is remembered of one conversation, and how it changes.
//!
//! A round is judged by the rounds before it: outcomes are held until the round is over and then folded in together, so the
//! order of parallel calls makes no difference, and a call that is made twice in a round counts once. Budgets are the
//! exception: they count immediately, so that no call runs beyond them.
//!
//! Everything is based on *progress*. A round is **fresh** if a tool returned something that this call did not return last
//! time, and **idle** if it only repeated. A successful new outcome of a tool that may change something starts a new **epoch**:
//! earlier calls may be made again.
//!
//! Pure data: no clock, no lock. `session.lua` in `callwright-redis` does the same on a server, and a test there compares the
//! two.

use std::collections::{BTreeMap, HashMap};
use std::hash::Hash;

use serde::{Deserialize, Serialize, Serializer};
use smallvec::SmallVec;

use super::hashed::HashedKeys;
use super::ledger::{Ask, Ended, Limits, Noted, RefusedCall, Report, Ruling};
use super::round::{CallMemory, OutcomeKind, Pending, ToolMemory};
use crate::vocabulary::place::number_as_text;
use crate::vocabulary::{Digest, Fingerprint, Moment, Reason, Reply, Success};

type Map<K, V> = HashMap<K, V, HashedKeys>;

/// A session's memory. It serialises to JSON, and continues where it left off when it is read back.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Session {
    /// The latest turn. Turns only move forward.
    #[serde(with = "number_as_text", skip_serializing_if = "Option::is_none")]
    turn: Option<u64>,
    #[serde(with = "number_as_text", skip_serializing_if = "Option::is_none")]
    round: Option<u64>,
    /// How many rounds there have been; 0 until the first call.
    pub(super) ordinal: u32,
    pub(super) epoch: u32,
    /// In how many rounds a tool that may change something worked; each restores the budgets.
    pub(super) changes: u32,
    /// How often something new worked; each time ends the error streaks.
    pub(super) news: u32,
    pub(super) idle_rounds: u32,
    pub(super) unknown_rounds: u32,
    pub(super) refused_rounds: u32,
    refusals: u32,
    calls: u32,
    /// Whether a call was refused in this round.
    pub(super) refused_now: bool,
    stopped: bool,
    #[serde(serialize_with = "sorted", skip_serializing_if = "HashMap::is_empty")]
    pub(super) entries: Map<Fingerprint, CallMemory>,
    #[serde(serialize_with = "sorted", skip_serializing_if = "HashMap::is_empty")]
    pub(super) tools: Map<Digest, ToolMemory>,
    /// Most rounds have one call, whose outcome is stored inline.
    #[serde(skip_serializing_if = "SmallVec::is_empty")]
    pub(super) pending: SmallVec<[Pending; 1]>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    allowed_once: Vec<Fingerprint>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    allowed_tools: Vec<Digest>,
}

impl Session {
    /// Decides whether this call may run. If so, it is counted.
    pub(crate) fn open(&mut self, ask: &Ask<'_>) -> Ruling {
        let tool = ask.tool.digest();
        self.enter(ask.at);
        let entry = self.entries.get(&ask.fingerprint);
        let mut ruling = self.facts(ask, tool, entry);
        let objection = match ask.refused {
            None => self.objection(ask, tool, entry, &ruling),
            Some(refused) => self.count_refused(ask, tool, refused, &mut ruling),
        };
        match objection {
            Some((reason, count)) => {
                self.refusals = self.refusals.saturating_add(1);
                self.refused_now = true;
                ruling.last = self.last(ask, tool, reason).unwrap_or_default().to_owned();
                ruling.reason = Some(reason);
                ruling.count = count;
                ruling.refused_rounds += 1;
            }
            None if ask.refused.is_none() => self.admit(ask, tool),
            None => {}
        }
        ruling
    }

    /// Both steps at once, for a recorded call.
    pub(crate) fn relive(&mut self, ask: &Ask<'_>, report: Option<&Report<'_>>) -> Ruling {
        let ruling = self.open(ask);
        if let (None, Some(report)) = (ruling.reason, report) {
            let turn = ruling.turn;
            self.close(&Report { turn, ..*report });
        }
        ruling
    }

    /// Records the outcome of an admitted call.
    pub(crate) fn close(&mut self, report: &Report<'_>) -> Noted {
        let tool = report.tool.digest();
        if report.turn != self.turn {
            // The user has sent a message in the meantime; this outcome belongs to an earlier turn.
            return Noted::default();
        }
        let Ended {
            success,
            digest,
            changes,
            waits,
        } = report.ended;
        let entry = self.entries.entry(report.fingerprint).or_default();
        let streak = entry.streak_with(digest, self.epoch);
        if success == Success::Transient {
            // Parallel failures count once.
            if entry.transient == 0 || entry.waited != self.ordinal {
                entry.transient = entry.transient.saturating_add(1);
                entry.waited = self.ordinal;
            }
            // It counts nowhere else, and the user's permission has not been used.
            entry.calls = entry.calls.saturating_sub(1);
            report.beginning.clone_into(&mut entry.last);
            let transient = entry.transient;
            if std::mem::take(&mut entry.permitted) {
                remember(&mut self.allowed_once, report.fingerprint);
            }
            return Noted {
                transient,
                ..Noted::default()
            };
        }
        let living = entry.living || waits;
        let same = entry.outcome == Some(digest);
        let failed = success == Success::Error;
        let error_rounds = if failed {
            let known = self.tools.get(&tool);
            self.tool_errors(known, Some(digest)).saturating_add(1)
        } else {
            0
        };
        self.pending.push(Pending {
            fingerprint: report.fingerprint,
            digest,
            kind: if failed {
                OutcomeKind::Error
            } else {
                OutcomeKind::Ok
            },
            changes,
            waits,
            tool,
            last: report.beginning.to_owned(),
        });
        Noted {
            streak,
            idle_rounds: if same && !living {
                self.idle_rounds.saturating_add(1)
            } else {
                0
            },
            error_rounds,
            transient: 0,
            living,
        }
    }

    /// How many calls it remembers, which determines its memory.
    pub(super) fn remembered(&self) -> usize {
        self.entries.len() + self.pending.len()
    }

    /// Records the user's answer to a question.
    pub(crate) fn answer(&mut self, reply: &Reply) {
        match reply {
            Reply::AllowOnce(fingerprint) => remember(&mut self.allowed_once, *fingerprint),
            Reply::AllowTool(tool) => remember(&mut self.allowed_tools, Digest::of(tool)),
            Reply::Stop => self.stopped = true,
        }
    }

    /// Starts the turn and the round of a call, if they are new. A call of an earlier turn is judged in the current one: it
    /// must not restore what this turn has spent.
    fn enter(&mut self, at: Moment) {
        if begins_turn(at.turn, self.turn) {
            // The user may answer before the first known call. The answer applies to that call's turn.
            if self.ordinal > 0 {
                *self = Session {
                    ordinal: self.ordinal,
                    entries: emptied(&mut self.entries),
                    tools: emptied(&mut self.tools),
                    // A permission that the model has not used yet remains valid.
                    allowed_once: std::mem::take(&mut self.allowed_once),
                    allowed_tools: std::mem::take(&mut self.allowed_tools),
                    ..Session::default()
                };
            }
            self.turn = at.turn;
        }
        if at.round.is_none() || at.round != self.round {
            self.end_round();
            self.round = at.round;
            self.ordinal = self.ordinal.saturating_add(1);
        }
    }

    /// Everything known about a call before the decision.
    fn facts(&self, ask: &Ask<'_>, tool: Digest, entry: Option<&CallMemory>) -> Ruling {
        let tool = self.tools.get(&tool);
        let mut ruling = Ruling {
            turn: self.turn,
            refused_rounds: self.refused_rounds,
            turn_calls: self.calls.saturating_add(1),
            tool_calls: tool.map_or(1, |tool| tool.calls.saturating_add(1)),
            unknown_rounds: self.unknown_rounds.saturating_add(1),
            error_rounds: self.tool_errors(tool, ask.refused.map(|refused| refused.digest)),
            ..Ruling::default()
        };
        if let Some(entry) = entry.filter(|entry| entry.outcome.is_some()) {
            ruling.rounds_ago = self.ordinal.saturating_sub(entry.ordinal);
            ruling.failed = entry.failed;
            ruling.streak = if entry.epoch == self.epoch {
                entry.streak
            } else {
                0
            };
        }
        ruling
    }

    /// The last outcome of this call or of its tool.
    fn last(&self, ask: &Ask<'_>, tool: Digest, reason: Reason) -> Option<&str> {
        match reason {
            Reason::ErrorStreak => self.tools.get(&tool).map(|tool| tool.last.as_str()),
            _ => self
                .entries
                .get(&ask.fingerprint)
                .map(|entry| entry.last.as_str()),
        }
    }

    /// Why a call that is valid in itself may not run.
    fn objection(
        &self,
        ask: &Ask<'_>,
        tool: Digest,
        entry: Option<&CallMemory>,
        facts: &Ruling,
    ) -> Option<(Reason, u32)> {
        if let Some(bound) = self.last_bound(&ask.limits) {
            return Some(bound);
        }
        if facts.turn_calls > ask.limits.turn_calls {
            return Some((Reason::TurnCalls, self.calls));
        }
        if self.allowed_tools.contains(&tool) || self.allowed_once.contains(&ask.fingerprint) {
            return None;
        }
        let limits = &ask.limits;
        let seems_to_wait = entry.is_some_and(|entry| entry.living || entry.waits);
        // Two receipts for one payment do not make it a poll.
        let waits = limits.poller || (seems_to_wait && !limits.once);
        let (reason, repeats) = match (facts.failed, waits) {
            (true, _) => (Reason::RepeatedCall, limits.repeated_call),
            (false, true) => (Reason::RepeatedResult, limits.polling),
            (false, false) => (Reason::RepeatedResult, limits.repeated_result),
        };
        if facts.streak > 0 {
            if facts.streak >= repeats.saturating_sub(1) {
                return Some((reason, facts.streak));
            }
            // A call that is repeated alone has its own limit.
            let alone = facts.streak > self.idle_rounds;
            if !waits && !alone && self.idle_rounds >= limits.cycle.saturating_sub(1) {
                return Some((Reason::Cycle, self.idle_rounds));
            }
        }
        if let Some(spent) = self.spent(entry, limits, waits) {
            return Some(spent);
        }
        if facts.error_rounds > 0 && facts.error_rounds >= limits.error_streak.saturating_sub(1) {
            return Some((Reason::ErrorStreak, facts.error_rounds));
        }
        (facts.tool_calls > limits.tool_calls).then_some((Reason::ToolCalls, facts.tool_calls - 1))
    }

    /// Whether the call has used up its budget.
    fn spent(
        &self,
        entry: Option<&CallMemory>,
        limits: &Limits,
        waits: bool,
    ) -> Option<(Reason, u32)> {
        let budget = if waits {
            limits.budget.max(limits.polling)
        } else {
            limits.budget
        };
        let unknown = CallMemory::default();
        let entry = entry.unwrap_or(&unknown);
        if limits.spends && entry.done > 0 && entry.done >= budget {
            // It was paid: no change elsewhere is a reason to pay again.
            return Some((Reason::Budget, entry.done));
        }
        let calls = if entry.is_current(self.changes, self.news, limits.spends) {
            entry.calls
        } else {
            0
        };
        if entry.epoch == self.epoch && entry.transient >= limits.transient {
            return Some((Reason::Transient, entry.transient));
        }
        (calls >= budget).then_some((Reason::Budget, calls))
    }

    /// The hard limits, which neither a setting nor the user can remove.
    fn last_bound(&self, limits: &Limits) -> Option<(Reason, u32)> {
        if self.stopped {
            Some((Reason::Stopped, 0))
        } else if self.refusals >= limits.most_refusals {
            Some((Reason::Refusals, self.refusals))
        } else {
            None
        }
    }

    /// Counts a call that the gate refuses for its arguments; returns any further objection.
    fn count_refused(
        &mut self,
        ask: &Ask<'_>,
        tool: Digest,
        refused: RefusedCall,
        facts: &mut Ruling,
    ) -> Option<(Reason, u32)> {
        let limits = &ask.limits;
        self.calls = self.calls.saturating_add(1);
        let entry = self.entries.get(&ask.fingerprint);
        facts.streak = entry.map_or(1, |entry| entry.streak_with(refused.digest, self.epoch));
        // Beyond the hard limit nothing more is remembered.
        if self.calls <= limits.turn_calls {
            self.pending.push(Pending {
                fingerprint: ask.fingerprint,
                digest: refused.digest,
                kind: if refused.unknown_tool {
                    OutcomeKind::Unknown
                } else {
                    OutcomeKind::Refused
                },
                changes: false,
                waits: false,
                tool,
                last: String::new(),
            });
        }
        self.last_bound(limits).or({
            if facts.turn_calls > limits.turn_calls {
                Some((Reason::TurnCalls, facts.turn_calls - 1))
            } else if refused.unknown_tool && facts.unknown_rounds >= limits.unknown_tools {
                Some((Reason::UnknownTools, facts.unknown_rounds))
            } else if facts.streak >= limits.repeated_refusal {
                Some((Reason::RepeatedCall, facts.streak))
            } else if facts.error_rounds >= limits.error_streak.saturating_sub(1) {
                Some((Reason::ErrorStreak, facts.error_rounds.saturating_add(1)))
            } else {
                None
            }
        })
    }

    fn admit(&mut self, ask: &Ask<'_>, tool: Digest) {
        self.calls = self.calls.saturating_add(1);
        let mut allowed = self.allowed_once.iter();
        let permission = allowed.position(|once| *once == ask.fingerprint);
        if let Some(at) = permission {
            self.allowed_once.remove(at);
        }
        let tool = self.tools.entry(tool).or_default();
        tool.calls = tool.calls.saturating_add(1);
        let (epoch, changes, news) = (self.epoch, self.changes, self.news);
        let entry = self.entries.entry(ask.fingerprint).or_default();
        if !entry.is_current(changes, news, ask.limits.spends) {
            entry.calls = 0;
        }
        if entry.epoch != epoch {
            entry.epoch = epoch;
            entry.streak = 0;
            entry.transient = 0;
        }
        entry.permitted = permission.is_some();
        entry.changes = changes;
        entry.news = news;
        entry.calls = entry.calls.saturating_add(1);
    }

    /// Consecutive rounds in which a tool failed the same way: with this digest, if one is given.
    fn tool_errors(&self, tool: Option<&ToolMemory>, digest: Option<Digest>) -> u32 {
        tool.filter(|tool| tool.news == self.news && (digest.is_none() || tool.error == digest))
            .map_or(0, |tool| tool.streak)
    }
}

/// An empty map with the room of this one, unless that is much: most turns have a few calls.
fn emptied<K: Eq + Hash, V>(map: &mut Map<K, V>) -> Map<K, V> {
    const USUAL_CALLS: usize = 8;
    let mut map = std::mem::take(map);
    map.clear();
    map.shrink_to(USUAL_CALLS);
    map
}

/// How many answers of one kind are remembered: more than a user gives in one conversation.
const MOST_ANSWERS: usize = 100;

/// Adds a permission if it is new; the oldest is dropped first.
fn remember<T: PartialEq>(allowed: &mut Vec<T>, new: T) {
    if !allowed.contains(&new) {
        if allowed.len() >= MOST_ANSWERS {
            allowed.remove(0);
        }
        allowed.push(new);
    }
}

/// Whether a call's turn is later than the current one and so ends it. A call without a turn never does.
fn begins_turn(new: Option<u64>, current: Option<u64>) -> bool {
    let is_other_name = new >= Some(Moment::FIRST_NAME) && new != current;
    new > current || is_other_name
}

/// Sorted, so that equal sessions serialise to equal texts.
fn sorted<K: Ord + Serialize, V: Serialize, S: Serializer>(
    map: &Map<K, V>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    serializer.collect_map(map.iter().collect::<BTreeMap<_, _>>())
}
