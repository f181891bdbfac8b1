//! The simplest possible ledger for one session: it keeps everything that happened in the turn, and searches all of it
//! for every question. Written from the documentation of admission, not from its code.

use callwright::admit::ledger::{Ask, Noted, Report, Ruling};
use callwright::admit::{Digest, Fingerprint, Moment, Reason, Reply, Success};

/// Something that happened in a round.
#[derive(Debug, Clone)]
enum Fact {
    /// A call was admitted.
    Ran {
        fingerprint: Fingerprint,
        tool: String,
    },
    /// Its outcome.
    Outcome(Outcome),
    /// It failed for a transient reason.
    Transient {
        fingerprint: Fingerprint,
        beginning: String,
    },
    /// Admission objected.
    Objection,
    /// The gate refused a call, possibly too late to be remembered.
    Refused,
}

#[derive(Debug, Clone)]
struct Outcome {
    fingerprint: Fingerprint,
    tool: String,
    digest: Digest,
    kind: Kind,
    changes: bool,
    waits: bool,
    beginning: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Ok,
    Error,
    Refused,
    Unknown,
}

#[derive(Debug, Default)]
pub(crate) struct Naive {
    at: Option<Moment>,
    /// The latest turn.
    turn: Option<u64>,
    /// The facts of each round of this turn; the last round is not over.
    rounds: Vec<Vec<Fact>>,
    stopped: bool,
    once: Vec<Fingerprint>,
    /// Calls whose last run used up a permission.
    permitted: Vec<Fingerprint>,
    tools: Vec<String>,
}

impl Naive {
    pub(crate) fn answer(&mut self, reply: &Reply) {
        match reply {
            Reply::AllowOnce(call) if self.once.contains(call) => {}
            Reply::AllowOnce(call) => self.once.push(*call),
            Reply::AllowTool(tool) => self.tools.push(tool.clone()),
            Reply::Stop => self.stopped = true,
        }
    }

    pub(crate) fn open(&mut self, ask: &Ask<'_>) -> Ruling {
        if ask.at.turn > self.turn {
            // A user's answer before the first call applies to that call's turn.
            let stopped = self.stopped && self.at.is_none();
            *self = Naive {
                turn: ask.at.turn,
                stopped,
                once: std::mem::take(&mut self.once),
                tools: std::mem::take(&mut self.tools),
                ..Naive::default()
            };
        }
        // A call of an earlier turn counts in this turn.
        let at = Moment {
            turn: self.turn,
            ..ask.at
        };
        if self.rounds.is_empty() || self.at != Some(at) {
            self.rounds.push(Vec::new());
        }
        self.at = Some(at);

        let (call, limits) = (ask.fingerprint, &ask.limits);
        let last = self.outcomes(call).last().cloned();
        let mut ruling = Ruling {
            turn: self.turn,
            refused_rounds: self.refused_rounds(),
            turn_calls: self.turn_calls() + 1,
            tool_calls: self.tool_calls(ask.tool.as_str()) + 1,
            unknown_rounds: self.unknown_rounds() + 1,
            error_rounds: match (self.errors(ask.tool.as_str()), ask.refused) {
                (Some((digest, _)), Some(refused)) if digest != refused.digest => 0,
                (Some((_, rounds)), _) => rounds,
                (None, _) => 0,
            },
            ..Ruling::default()
        };
        if let Some((round, outcome)) = &last {
            ruling.rounds_ago = number(self.now() - round);
            ruling.failed = outcome.kind != Kind::Ok;
            ruling.streak = self.streak(call);
        }
        let objection = match ask.refused {
            None => self.objection(ask, &ruling),
            Some(refused) => {
                let same = last.is_some_and(|(_, last)| last.digest == refused.digest);
                ruling.streak = if same { self.streak(call) + 1 } else { 1 };
                let last_bound = self.last_bound(ask);
                let streak = ruling.streak;
                if self.turn_calls() < limits.turn_calls {
                    self.add(Fact::Outcome(Outcome {
                        fingerprint: call,
                        tool: ask.tool.as_str().to_owned(),
                        digest: refused.digest,
                        kind: if refused.unknown_tool {
                            Kind::Unknown
                        } else {
                            Kind::Refused
                        },
                        changes: false,
                        waits: false,
                        beginning: String::new(),
                    }));
                }
                self.add(Fact::Refused);
                if last_bound.is_some() {
                    last_bound
                } else if ruling.turn_calls > limits.turn_calls {
                    Some((Reason::TurnCalls, ruling.turn_calls - 1))
                } else if refused.unknown_tool && ruling.unknown_rounds >= limits.unknown_tools {
                    Some((Reason::UnknownTools, ruling.unknown_rounds))
                } else if streak >= limits.repeated_refusal {
                    Some((Reason::RepeatedCall, streak))
                } else if ruling.error_rounds + 1 >= limits.error_streak {
                    Some((Reason::ErrorStreak, ruling.error_rounds + 1))
                } else {
                    None
                }
            }
        };
        if let Some((reason, count)) = objection {
            ruling.last = match reason {
                Reason::ErrorStreak => self.last_of_tool(ask.tool.as_str()).unwrap_or_default(),
                _ => self.last_of_call(call).unwrap_or_default(),
            };
            ruling.reason = Some(reason);
            ruling.count = count;
            ruling.refused_rounds += 1;
            self.add(Fact::Objection);
        } else if ask.refused.is_none() {
            self.permitted.retain(|permitted| *permitted != call);
            if let Some(at) = self.once.iter().position(|once| *once == call) {
                self.once.remove(at);
                self.permitted.push(call);
            }
            self.add(Fact::Ran {
                fingerprint: call,
                tool: ask.tool.as_str().to_owned(),
            });
        }
        ruling
    }

    pub(crate) fn close(&mut self, report: &Report<'_>) -> Noted {
        let call = report.fingerprint;
        if report.turn != self.turn {
            return Noted::default();
        }
        if report.ended.success == Success::Transient {
            if let Some(at) = self.permitted.iter().position(|it| *it == call) {
                self.permitted.remove(at);
                self.answer(&Reply::AllowOnce(call));
            }
            self.add(Fact::Transient {
                fingerprint: call,
                beginning: report.beginning.to_owned(),
            });
            return Noted {
                transient: self.transient(call),
                ..Noted::default()
            };
        }
        let failed = report.ended.success == Success::Error;
        let last = self.outcomes(call).last().cloned();
        let same = last.is_some_and(|(_, last)| last.digest == report.ended.digest);
        let living = self.living(call, self.now()) || report.ended.waits;
        let noted = Noted {
            streak: if same { self.streak(call) + 1 } else { 1 },
            idle_rounds: if same && !living {
                self.idle_rounds() + 1
            } else {
                0
            },
            error_rounds: match self.errors(report.tool.as_str()) {
                _ if !failed => 0,
                Some((digest, rounds)) if digest == report.ended.digest => rounds + 1,
                _ => 1,
            },
            transient: 0,
            living,
        };
        self.add(Fact::Outcome(Outcome {
            fingerprint: call,
            tool: report.tool.as_str().to_owned(),
            digest: report.ended.digest,
            kind: if failed { Kind::Error } else { Kind::Ok },
            changes: report.ended.changes,
            waits: report.ended.waits,
            beginning: report.beginning.to_owned(),
        }));
        noted
    }

    // --------------------------------------------------------------------------------------------
    // Objections.

    fn objection(&self, ask: &Ask<'_>, facts: &Ruling) -> Option<(Reason, u32)> {
        let (call, limits) = (ask.fingerprint, &ask.limits);
        if let Some(bound) = self.last_bound(ask) {
            return Some(bound);
        }
        if self.turn_calls() >= limits.turn_calls {
            return Some((Reason::TurnCalls, self.turn_calls()));
        }
        if self.tools.iter().any(|tool| tool == ask.tool.as_str()) || self.once.contains(&call) {
            return None;
        }
        let says_nothing = self
            .outcomes(call)
            .last()
            .is_some_and(|(_, last)| last.kind == Kind::Ok && last.waits);
        let waits =
            limits.poller || (!limits.once && (self.living(call, self.now()) || says_nothing));
        let streak = self.streak(call);
        let (reason, most) = if facts.failed {
            (Reason::RepeatedCall, limits.repeated_call)
        } else if waits {
            (Reason::RepeatedResult, limits.polling)
        } else {
            (Reason::RepeatedResult, limits.repeated_result)
        };
        // The n-th is refused.
        if streak > 0 && streak + 1 >= most {
            return Some((reason, streak));
        }
        // A call that is repeated on its own has its own limit.
        let alone = streak > self.idle_rounds();
        if streak > 0 && !waits && !alone && self.idle_rounds() + 1 >= limits.cycle {
            return Some((Reason::Cycle, self.idle_rounds()));
        }
        let budget = if waits {
            limits.budget.max(limits.polling)
        } else {
            limits.budget
        };
        let worked = (0..self.now())
            .flat_map(|round| self.of_round(round))
            .filter(|outcome| outcome.fingerprint == call && outcome.kind == Kind::Ok);
        let worked = number(worked.count());
        if limits.spends && worked > 0 && worked >= budget {
            return Some((Reason::Budget, worked));
        }
        if self.is_of_this_epoch(call) && self.transient(call) >= limits.transient {
            return Some((Reason::Transient, self.transient(call)));
        }
        let calls = self.calls(call, limits.spends);
        if calls >= budget {
            return Some((Reason::Budget, calls));
        }
        let errors = self
            .errors(ask.tool.as_str())
            .map_or(0, |(_, rounds)| rounds);
        if errors > 0 && errors + 1 >= limits.error_streak {
            return Some((Reason::ErrorStreak, errors));
        }
        (self.tool_calls(ask.tool.as_str()) >= limits.tool_calls)
            .then(|| (Reason::ToolCalls, self.tool_calls(ask.tool.as_str())))
    }

    fn last_bound(&self, ask: &Ask<'_>) -> Option<(Reason, u32)> {
        let refusals = self.count(|fact| matches!(fact, Fact::Objection));
        if self.stopped {
            Some((Reason::Stopped, 0))
        } else if refusals >= ask.limits.most_refusals {
            Some((Reason::Refusals, refusals))
        } else {
            None
        }
    }

    // --------------------------------------------------------------------------------------------
    // Counts.

    fn add(&mut self, fact: Fact) {
        self.rounds.last_mut().expect("a round").push(fact);
    }

    /// The current round.
    fn now(&self) -> usize {
        self.rounds.len() - 1
    }

    fn count(&self, which: impl Fn(&Fact) -> bool) -> u32 {
        number(
            self.rounds
                .iter()
                .flatten()
                .filter(|fact| which(fact))
                .count(),
        )
    }

    fn turn_calls(&self) -> u32 {
        self.count(|fact| matches!(fact, Fact::Ran { .. } | Fact::Refused))
    }

    fn tool_calls(&self, name: &str) -> u32 {
        self.count(|fact| matches!(fact, Fact::Ran { tool, .. } if tool == name))
    }

    /// The outcomes of a round.
    fn of_round(&self, round: usize) -> impl Iterator<Item = &Outcome> {
        self.rounds[round].iter().filter_map(|fact| match fact {
            Fact::Outcome(outcome) => Some(outcome),
            _ => None,
        })
    }

    /// The outcomes of a call, one for each finished round in which it had one.
    fn outcomes(&self, call: Fingerprint) -> Vec<(usize, Outcome)> {
        (0..self.now())
            .filter_map(|round| {
                let mut of_call = self
                    .of_round(round)
                    .filter(|outcome| outcome.fingerprint == call);
                of_call.next().map(|outcome| (round, outcome.clone()))
            })
            .collect()
    }

    /// Whether a call had the same outcome in a round as the last time.
    fn repeats(&self, round: usize, outcome: &Outcome) -> bool {
        let outcomes = self.outcomes(outcome.fingerprint);
        let before = outcomes.iter().rev().find(|(earlier, _)| *earlier < round);
        before.is_some_and(|(_, before)| before.digest == outcome.digest)
    }

    fn ran(outcome: &Outcome) -> bool {
        matches!(outcome.kind, Kind::Ok | Kind::Error)
    }

    /// A tool returned something new in this round.
    fn is_fresh(&self, round: usize) -> bool {
        self.of_round(round)
            .any(|outcome| Self::ran(outcome) && !self.repeats(round, outcome))
    }

    /// Something new worked in this round.
    fn is_news(&self, round: usize) -> bool {
        self.of_round(round)
            .any(|outcome| outcome.kind == Kind::Ok && !self.repeats(round, outcome))
    }

    /// Something new worked in this round that may have changed something.
    fn is_change(&self, round: usize) -> bool {
        self.of_round(round).any(|outcome| {
            outcome.kind == Kind::Ok && outcome.changes && !self.repeats(round, outcome)
        })
    }

    /// Something worked in this round that may have changed something, new or not.
    fn is_act(&self, round: usize) -> bool {
        self.of_round(round)
            .any(|outcome| outcome.kind == Kind::Ok && outcome.changes)
    }

    /// The round of the last change: earlier calls may be made again.
    fn last_change(&self) -> Option<usize> {
        (0..self.now()).rev().find(|round| self.is_change(*round))
    }

    /// Consecutive rounds in which a call had the same outcome, since the last change. Its outcome in the round of the
    /// change counts.
    fn streak(&self, call: Fingerprint) -> u32 {
        let since = self.last_change().unwrap_or(0);
        let outcomes = self.outcomes(call);
        let Some((_, last)) = outcomes.last() else {
            return 0;
        };
        let same = outcomes
            .iter()
            .rev()
            .take_while(|(round, outcome)| *round >= since && outcome.digest == last.digest);
        number(same.count())
    }

    /// A call had an outcome different from the one before, and nothing was changed in between.
    fn living(&self, call: Fingerprint, before: usize) -> bool {
        let outcomes = self.outcomes(call);
        outcomes.windows(2).any(|pair| {
            let ((first, one), (second, other)) = (&pair[0], &pair[1]);
            *second < before
                && one.kind == Kind::Ok
                && other.kind == Kind::Ok
                && one.digest != other.digest
                && !(first + 1..*second).any(|round| self.is_change(round))
        })
    }

    /// Rounds that repeated earlier calls, since a tool returned something new. Waiting is not a repetition.
    fn idle_rounds(&self) -> u32 {
        let since = (0..self.now())
            .rev()
            .take_while(|round| !self.is_fresh(*round));
        let idle = since.filter(|round| {
            self.of_round(*round).any(|outcome| {
                Self::ran(outcome)
                    && self.repeats(*round, outcome)
                    && !outcome.waits
                    && !self.living(outcome.fingerprint, *round)
            })
        });
        number(idle.count())
    }

    /// Rounds with objections, since something new worked.
    fn refused_rounds(&self) -> u32 {
        let since = (0..self.now())
            .rev()
            .take_while(|round| !self.is_news(*round));
        let refused = since.filter(|round| {
            self.rounds[*round]
                .iter()
                .any(|fact| matches!(fact, Fact::Objection))
        });
        number(refused.count())
    }

    /// Rounds with unknown tools, since a round in which only known ones ran.
    fn unknown_rounds(&self) -> u32 {
        let unknown = |round: usize| {
            self.of_round(round)
                .any(|outcome| outcome.kind == Kind::Unknown)
        };
        let ran = |round: usize| self.of_round(round).any(Self::ran);
        let since = (0..self.now())
            .rev()
            .take_while(|round| unknown(*round) || !ran(*round));
        number(since.filter(|round| unknown(*round)).count())
    }

    /// The finished rounds in which a tool had outcomes.
    fn rounds_of_tool<'n>(
        &'n self,
        tool: &'n str,
    ) -> impl Iterator<Item = (usize, Vec<&'n Outcome>)> {
        (0..self.now()).rev().filter_map(move |round| {
            let of_tool: Vec<&Outcome> = self
                .of_round(round)
                .filter(|outcome| outcome.tool == tool && outcome.kind != Kind::Unknown)
                .collect();
            (!of_tool.is_empty()).then_some((round, of_tool))
        })
    }

    /// How a tool currently fails, and in how many consecutive rounds, since something new worked. Failures in the
    /// round in which it worked count.
    fn errors(&self, tool: &str) -> Option<(Digest, u32)> {
        let since = (0..self.now())
            .rev()
            .find(|round| self.is_news(*round))
            .unwrap_or(0);
        let mut all = self.rounds_of_tool(tool).map(|(round, of_tool)| {
            let digest = of_tool[0].digest;
            let same = of_tool
                .iter()
                .all(|outcome| outcome.kind != Kind::Ok && outcome.digest == digest);
            (round, same.then_some(digest))
        });
        let (last_round, error) = all.next()?;
        let error = error.filter(|_| last_round >= since)?;
        let more = all.take_while(|(round, other)| *round >= since && *other == Some(error));
        Some((error, number(more.count()) + 1))
    }

    /// The beginning of a tool's last error.
    fn last_of_tool(&self, tool: &str) -> Option<String> {
        let (_, of_tool) = self.rounds_of_tool(tool).next()?;
        let first = of_tool
            .iter()
            .min_by_key(|outcome| (outcome.fingerprint, outcome.digest))?;
        let same = of_tool
            .iter()
            .all(|outcome| outcome.kind != Kind::Ok && outcome.digest == first.digest);
        same.then(|| first.beginning.clone())
    }

    /// The beginning of a call's last outcome, including transient failures.
    fn last_of_call(&self, call: Fingerprint) -> Option<String> {
        (0..=self.now()).rev().find_map(|round| {
            let outcome = self
                .of_round(round)
                .filter(|outcome| round < self.now() && outcome.fingerprint == call)
                .map(|outcome| outcome.beginning.clone())
                .last();
            let passing = self.rounds[round].iter().rev().find_map(|fact| match fact {
                Fact::Transient {
                    fingerprint,
                    beginning,
                } if *fingerprint == call => Some(beginning.clone()),
                _ => None,
            });
            outcome.or(passing)
        })
    }

    /// Whether a call was made, or had an outcome, since the last change.
    fn is_of_this_epoch(&self, call: Fingerprint) -> bool {
        let Some(change) = self.last_change() else {
            return self.is_known(call);
        };
        let ran = self.rounds[change + 1..]
            .iter()
            .flatten()
            .any(|fact| matches!(fact, Fact::Ran { fingerprint, .. } if *fingerprint == call));
        ran || self
            .outcomes(call)
            .iter()
            .any(|(round, _)| *round >= change)
    }

    fn is_known(&self, call: Fingerprint) -> bool {
        self.rounds.iter().flatten().any(|fact| match fact {
            Fact::Ran { fingerprint, .. } => *fingerprint == call,
            Fact::Outcome(outcome) => outcome.fingerprint == call,
            _ => false,
        })
    }

    /// Rounds with transient failures, since the call last had another outcome, and since it was last made after a
    /// change.
    fn transient(&self, call: Fingerprint) -> u32 {
        let changes_before =
            |round: usize| (0..round).filter(|round| self.is_change(*round)).count();
        let (mut count, mut counted, mut changes) = (0, None, 0);
        for round in 0..=self.now() {
            for fact in &self.rounds[round] {
                match fact {
                    Fact::Ran { fingerprint, .. } if *fingerprint == call => {
                        if changes != changes_before(round) {
                            count = 0;
                        }
                        changes = changes_before(round);
                    }
                    Fact::Transient { fingerprint, .. } if *fingerprint == call => {
                        if count == 0 || counted != Some(round) {
                            count += 1;
                        }
                        counted = Some(round);
                    }
                    _ => {}
                }
            }
            let over = round < self.now();
            if over
                && self
                    .of_round(round)
                    .any(|outcome| outcome.fingerprint == call)
            {
                count = 0;
                changes = changes_before(round + 1);
            }
        }
        count
    }

    /// Calls that count against the budget: since another call may have changed something, since its last different
    /// result and, if it failed, since something new worked; without transient failures.
    fn calls(&self, call: Fingerprint, spends: bool) -> u32 {
        let news_before = |round: usize| (0..round).filter(|round| self.is_news(*round)).count();
        let (mut calls, mut failed, mut news) = (0_u32, false, 0);
        for round in 0..=self.now() {
            for fact in &self.rounds[round] {
                match fact {
                    Fact::Ran { fingerprint, .. } if *fingerprint == call => {
                        if failed && news != news_before(round) {
                            calls = 0;
                        }
                        news = news_before(round);
                        calls += 1;
                    }
                    Fact::Transient { fingerprint, .. } if *fingerprint == call => {
                        calls = calls.saturating_sub(1);
                    }
                    _ => {}
                }
            }
            if round == self.now() {
                break;
            }
            let brought: Vec<&Outcome> = self
                .of_round(round)
                .filter(|outcome| outcome.fingerprint == call)
                .collect();
            if let Some(outcome) = brought.first() {
                let outcomes = self.outcomes(call);
                let before = outcomes.iter().any(|(earlier, _)| *earlier < round);
                failed = outcome.kind != Kind::Ok;
                news = news_before(round + 1);
                if before && !failed && !self.repeats(round, outcome) {
                    calls = number(brought.len());
                }
            } else if self.is_act(round) && (failed || !spends) {
                // The order within the round of a change is unknown, so a call with an outcome in it keeps its count.
                calls = 0;
            }
        }
        if failed && news != news_before(self.now()) {
            return 0;
        }
        calls
    }
}

fn number(count: usize) -> u32 {
    u32::try_from(count).expect("small")
}
