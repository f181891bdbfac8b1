//! Stage 5: may this call run now?
//!
//! Takes a judged call; returns a [`Ticket`] or a refusal: its retry budget is spent, or the model is going in circles. After
//! the call has run, [`crate::Gate::close`] takes its outcome and may return a [`Notice`] for the model. A repetition counts
//! only while there is no news: a changed result, a successful change to the world or a message from the user starts over.
//! Refusals escalate: first a notice, then a refusal, then a question to the user or the end.
//!
//! All memory is in a [`ledger`]; nothing else here reads a clock or does IO.

mod acknowledge;
mod asked;
mod fingerprint;
mod hashed;
pub mod ledger;
mod names;
mod objection;
mod outcome;
mod overlap;
mod relive;
mod repeatable;
mod round;
mod session;
mod thresholds;
mod ticket;
mod volatile;

use std::sync::Arc;

use ahash::AHashMap;

pub use self::fingerprint::Shape;
pub use self::ledger::{Ledger, MemoryLedger};
pub use self::overlap::Rounds;
pub use self::relive::Recalled;
pub use self::session::Session;
pub use self::thresholds::{AdmissionPolicy, Escalation, Steps, ToolAdmission, WhenAway};
pub use self::ticket::{Opened, Ticket};
pub use crate::vocabulary::{Digest, Fingerprint, Moment, Outcome, Place, Reason, Reply, Success};

use self::ledger::{Ask, Ended, LedgerAway, Noted, Report, Ruling};
pub(crate) use self::names::{Names, matches_name};
use self::thresholds::ToolLimits;
use self::ticket::Ready;
use crate::call::{Arguments, Call};
use crate::json::{Value, read_value};
use crate::tool::Tool;
use crate::verdict::{Refused, Settled, Verdict};
use crate::vocabulary::{Cause, Checked, Code, Failure, Issue, Notice, Objection, TextHash, hash};

/// The admission stage with its settings and its memory.
#[derive(Debug)]
pub(crate) struct Admission {
    policy: AdmissionPolicy,
    ledger: Arc<dyn Ledger>,
    tools: AHashMap<String, (ToolLimits, Shape)>,
    /// For every other tool.
    unknown: (ToolLimits, Shape),
}

impl Admission {
    pub(crate) fn new<'t>(
        policy: AdmissionPolicy,
        ledger: Arc<dyn Ledger>,
        tools: impl Iterator<Item = &'t Tool>,
    ) -> Self {
        let policy = policy.bounded();
        let names = policy.names();
        let tools = tools
            .map(|tool| {
                let limits = policy.for_tool(tool.spec(), &names);
                let shape = Shape::new(tool.spec().input_schema.as_deref(), &limits.volatile);
                (tool.name().to_owned(), (limits, shape))
            })
            .collect();
        Admission {
            unknown: (policy.for_any(), Shape::default()),
            policy,
            ledger,
            tools,
        }
    }

    fn of(&self, tool: Option<&str>) -> &(ToolLimits, Shape) {
        let own = tool.and_then(|tool| self.tools.get(tool));
        own.unwrap_or(&self.unknown)
    }

    fn limits(&self, tool: Option<&Tool>) -> &ToolLimits {
        &self.of(tool.map(Tool::name)).0
    }

    pub(crate) fn ledger(&self) -> &dyn Ledger {
        &*self.ledger
    }

    /// A judged call → permission to run it, or the reason why not.
    pub(crate) fn open<'c>(
        &self,
        call: &Call<'_>,
        verdict: Verdict<'c>,
        place: Option<Place<'c>>,
    ) -> Result<Ticket<'c>, Box<Refused<'c>>> {
        let fingerprint = self.identify(call, &verdict);
        let Some(at) = place else {
            return Ok(Ticket::new(Ready::of(verdict)?, None, fingerprint));
        };
        let tool = verdict.shared_tool();
        let tool = tool.as_deref().map(Arc::as_ref);
        let ask = self.ask(call, &verdict, tool, fingerprint, at);
        let ruling = self.ledger.open(at.session, &ask);
        let ready = match Ready::of(verdict) {
            Ok(ready) => ready,
            Err(mut refused) => {
                match ruling {
                    Ok(ruling) if ruling.reason.is_some() => {
                        let original = refused.failure.clone();
                        refused.failure = self.failure(&ask, ruling, tool, Some(original));
                    }
                    Ok(ruling) => refused.notice = self.notice_of_refused(&ask, &ruling),
                    Err(LedgerAway(_)) => {}
                }
                return Err(refused);
            }
        };
        let mut ticket = Ticket::new(ready, place, fingerprint);
        match ruling {
            Ok(ruling) if ruling.reason.is_none() => {
                ticket.counted_in = ruling.turn;
                ticket.notice = self.notice_before(&ask, &ruling, tool);
            }
            Ok(ruling) => {
                let failure = self.failure(&ask, ruling, tool, None);
                return Err(ticket.ready.refuse(call, failure));
            }
            Err(_) if self.limits(tool).runs_uncounted => ticket.uncounted = true,
            Err(LedgerAway(why)) => {
                // This call must not run uncounted.
                let away = Failure::new(Code::LedgerUnavailable, Cause::LedgerAway { why });
                return Err(ticket.ready.refuse(call, away));
            }
        }
        Ok(ticket)
    }

    /// A judged call that the schema accepts but its tool objects to.
    pub(crate) fn object<'c>(
        call: &Call<'_>,
        verdict: Verdict<'c>,
        issues: Vec<Issue>,
    ) -> Verdict<'c> {
        let failure = Failure::new(Code::InvalidArguments, Cause::Arguments(issues));
        match Ready::of(verdict) {
            Ok(ready) => Verdict::Refused(ready.refuse(call, failure)),
            Err(refused) => Verdict::Refused(refused),
        }
    }

    /// Records the outcome of a call.
    pub(crate) fn close<'c>(&self, ticket: Ticket<'c>, checked: Checked<'c>) -> Settled<'c> {
        let counted = ticket.place().filter(|_| !ticket.uncounted);
        let place = counted.map(|place| place.in_turn(ticket.counted_in));
        let (tool, arguments) = (ticket.tool(), ticket.arguments());
        let notice = self.note(tool, place, ticket.fingerprint, arguments, &checked);
        let settled = Settled::from(ticket);
        Settled {
            notice: notice.or(settled.notice),
            result: Some(checked),
            ..settled
        }
    }

    /// Records the outcome of a call, if it belongs to a conversation.
    fn note(
        &self,
        tool: &Tool,
        place: Option<Place<'_>>,
        fingerprint: Fingerprint,
        arguments: &Value<'_>,
        checked: &Checked<'_>,
    ) -> Option<Notice> {
        let place = place?;
        // The results of a tool with secrets may quote them.
        let remembers =
            self.policy.remember_results && !tool.takes_secrets() && !tool.returns_secrets();
        let outcome = || checked.outcome_of(Some(arguments)).clone();
        let limits = self.limits(Some(tool));
        let ended = ended(tool, limits, checked, Some(arguments), outcome);
        let Some(ended) = ended else {
            // Its outcome is unknown, so the model has to find out first.
            let passes = checked.outcome_of(Some(arguments)).success == Success::Transient;
            return (passes && tool.spec().spends()).then(|| Notice {
                once: true,
                ..Notice::new(Reason::Transient, tool.name(), 1)
            });
        };
        let beginning = remembers.then(|| outcome::beginning_of(checked));
        let report = Report {
            turn: place.at.turn,
            fingerprint,
            tool: limits.name(tool.name()),
            ended,
            beginning: beginning.as_deref().unwrap_or_default(),
        };
        let noted = self.ledger.close(place.session, &report).ok()?;
        let notice = self.notice_after(&report, &noted)?;
        Some(Notice {
            once: tool.is_once(),
            ..notice
        })
    }

    /// The fingerprint of a call.
    pub(crate) fn identify(&self, call: &Call<'_>, verdict: &Verdict<'_>) -> Fingerprint {
        let name = verdict.tool().map_or(call.tool.as_ref(), Tool::name);
        identify(call, verdict, (name, &self.of(Some(name)).1), hash)
    }

    /// The refusal, at its level of escalation.
    fn failure(
        &self,
        ask: &Ask<'_>,
        ruling: Ruling,
        tool: Option<&Tool>,
        original: Option<Failure>,
    ) -> Failure {
        let escalated = ruling.refused_rounds >= self.policy.ask_after;
        let objection = Objection {
            // Only called with a reason.
            reason: ruling.reason.unwrap_or(Reason::Budget),
            tool: ask.tool.as_str().to_owned(),
            once: tool.is_some_and(Tool::is_once),
            fingerprint: ask.fingerprint,
            count: ruling.count,
            rounds_ago: ruling.rounds_ago,
            failed: ruling.failed,
            last: ruling.last,
            original: original.map(Box::new),
        };
        Failure::objection(objection, escalated, self.policy.escalation)
    }

    /// The notice for an admitted call that is close to a limit.
    fn notice_before(&self, ask: &Ask<'_>, ruling: &Ruling, tool: Option<&Tool>) -> Option<Notice> {
        let (reason, count) = if ruling.turn_calls == self.policy.turn_calls.notice {
            (Reason::TurnCalls, ruling.turn_calls)
        } else if ruling.tool_calls == self.limits(tool).calls.notice {
            (Reason::ToolCalls, ruling.tool_calls)
        } else {
            return None;
        };
        Some(Notice::new(reason, ask.tool.as_str(), count))
    }

    /// The notice for a call that is refused for its arguments, again.
    fn notice_of_refused(&self, ask: &Ask<'_>, ruling: &Ruling) -> Option<Notice> {
        let policy = &self.policy;
        let unknown = ask.refused.is_some_and(|refused| refused.unknown_tool);
        let (reason, count) = if ruling.streak >= policy.repeated_refusal.notice {
            (Reason::RepeatedCall, ruling.streak)
        } else if unknown && ruling.unknown_rounds >= policy.unknown_tools.notice {
            (Reason::UnknownTools, ruling.unknown_rounds)
        } else if !unknown && ruling.error_rounds + 1 >= policy.error_streak.notice {
            (Reason::ErrorStreak, ruling.error_rounds + 1)
        } else {
            return None;
        };
        Some(Notice::new(reason, ask.tool.as_str(), count))
    }

    /// The notice that goes with the result of a call.
    fn notice_after(&self, report: &Report<'_>, noted: &Noted) -> Option<Notice> {
        let policy = &self.policy;
        let failed = report.ended.success == Success::Error;
        let repeats = match (failed, noted.living) {
            (true, _) => policy.repeated_call,
            (false, true) => policy.polling,
            (false, false) => policy.repeated_result,
        };
        let (reason, count) = if noted.transient > 0 && noted.transient >= policy.transient {
            // The next call would be refused.
            (Reason::Budget, noted.transient)
        } else if noted.transient > 0 {
            (Reason::Transient, noted.transient)
        } else if noted.idle_rounds >= policy.cycle.notice && noted.idle_rounds >= noted.streak {
            (Reason::Cycle, noted.idle_rounds)
        } else if noted.streak >= repeats.notice {
            let reason = if failed {
                Reason::RepeatedCall
            } else {
                Reason::RepeatedResult
            };
            (reason, noted.streak)
        } else if noted.error_rounds >= policy.error_streak.notice {
            (Reason::ErrorStreak, noted.error_rounds)
        } else {
            return None;
        };
        Some(Notice::new(reason, report.tool.as_str(), count))
    }
}

/// The fingerprint of a call of the tool with this name and shape.
fn identify(
    call: &Call<'_>,
    verdict: &Verdict<'_>,
    (name, shape): (&str, &Shape),
    hash: TextHash,
) -> Fingerprint {
    let of = |arguments: &Value<'_>| {
        Fingerprint::by(hash, |out| fingerprint::write(name, arguments, shape, out))
    };
    match (verdict.arguments(), &call.arguments) {
        (Some(arguments), _) | (None, Arguments::Value(arguments)) => of(arguments),
        (None, Arguments::Absent) => of(&Value::Object(Vec::new())),
        (None, Arguments::Text(text)) => match read_value(text) {
            Ok(arguments) => of(&arguments),
            Err(_) => Fingerprint::by(hash, |out| fingerprint::write_unread(name, text, out)),
        },
    }
}

/// How a call ended, if that is known.
fn ended(
    tool: &Tool,
    ToolLimits {
        limits,
        steps,
        makes,
        ..
    }: &ToolLimits,
    checked: &Checked<'_>,
    arguments: Option<&Value<'_>>,
    outcome: impl FnOnce() -> Outcome,
) -> Option<Ended> {
    match checked.failure.as_ref().map(|failure| failure.code) {
        Some(Code::Cancelled) => return None,
        // The payment may have gone through, so it is not repeated without asking.
        Some(Code::Timeout) if limits.once => return None,
        _ => {}
    }
    let outcome = outcome();
    // After a timeout or a server error the money may have moved; only a call that was rejected surely had no effect.
    if limits.spends && outcome.success == Success::Transient && !outcome.turned_away {
        return None;
    }
    let receipt = || {
        makes
            .then(|| outcome::receipt(checked, arguments))
            .flatten()
    };
    Some(Ended {
        success: outcome.success,
        digest: receipt().unwrap_or(outcome.digest),
        changes: !tool.only_reads(),
        waits: limits.poller || (outcome.acknowledges && *steps),
    })
}

/// Equal for refusals with the same reason: the same code, and the same objections at the same places.
fn digest(failure: &Failure) -> Digest {
    let mut text = failure.code.name().to_owned();
    for issue in failure.issues() {
        text.push('\n');
        text.push_str(issue.path.as_pointer());
        text.push(' ');
        text.push_str(issue.code.name());
    }
    Digest::of(&text)
}
