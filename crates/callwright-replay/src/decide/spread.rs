//! Signs from the spread: does it come steadily and from all models, or in one burst, or from one of them?

use std::collections::BTreeMap;

use super::ScoredReason;
use super::facts::Facts;
use super::outcome::ratio;
use super::signs::{
    ACCIDENT_OF, ACCIDENT_UP_TO, ALONE_BELOW, ANSWERED_OFTEN, ANSWERED_SOMETIMES, BURST_UP_TO,
    MANY_SESSIONS, MODEL_SHARE, RARE_BELOW, SEASON_FROM, SEVERAL_SESSIONS, SPREAD_CALLS,
    SPREAD_EXPECTED, STEADY_FROM, Sign,
};
use crate::summary::{Side, Timeline};

const MINUTE_US: i64 = 60_000_000;
const HOUR_US: i64 = 60 * MINUTE_US;
const DAY_US: i64 = 24 * HOUR_US;

/// A record over at least this many days is divided into days, over as many hours into hours, otherwise into minutes.
const ENOUGH_STRETCHES: i64 = 4;

/// Whether the cluster is spread over the time of the tool's calls.
pub(super) fn over_time(facts: &Facts<'_>) -> Option<ScoredReason> {
    let calls = facts.cluster.calls;
    let tool = facts.tool.filter(|_| calls >= SPREAD_CALLS)?;
    let mut times = tool.time.iter().map(|(time, _)| time);
    let first = times.next()?;
    let last = times.last().unwrap_or(first);
    let (unit, name, on) = match last.saturating_sub(first) {
        long if long >= ENOUGH_STRETCHES * DAY_US => (DAY_US, "day", "on"),
        long if long >= ENOUGH_STRETCHES * HOUR_US => (HOUR_US, "hour", "in"),
        _ => (MINUTE_US, "minute", "in"),
    };
    let all = stretches(&tool.time, unit);
    let seen = stretches(&facts.cluster.time.as_wide_as(&tool.time), unit).len();
    let expected = expected(all.values().copied(), calls);
    if seen == 0 || expected < SPREAD_EXPECTED {
        return None;
    }
    let of = all.len();
    match ratio(seen as u64, 1) / expected {
        share if share >= STEADY_FROM => {
            Some(Sign::Steady.because(format!("seen {on} {seen} of {of} {name}s")))
        }
        share if share <= BURST_UP_TO => {
            let times = match seen {
                1 => format!("one {name}"),
                _ => format!("{seen} {name}s"),
            };
            let sessions = facts.cluster.sessions.count();
            let sign = if seen >= SEASON_FROM && sessions >= SEVERAL_SESSIONS {
                Sign::Season
            } else {
                Sign::Burst
            };
            Some(sign.because(format!(
                "all {calls} came {on} {times}, though the tool was called {on} {of}"
            )))
        }
        _ => None,
    }
}

/// Calls by stretches of time.
pub(super) fn stretches(time: &Timeline<u64>, unit: i64) -> BTreeMap<i64, u64> {
    let mut found = BTreeMap::new();
    for (begin, calls) in time.iter() {
        *found.entry(begin.div_euclid(unit)).or_insert(0) += *calls;
    }
    found
}

/// In how many groups `drawn` calls would be expected if they were drawn at random from all calls.
fn expected(groups: impl Iterator<Item = u64> + Clone, drawn: u64) -> f64 {
    let all: u64 = groups.clone().sum();
    let drawn = i32::try_from(drawn).unwrap_or(i32::MAX);
    groups
        .map(|calls| 1.0 - (1.0 - ratio(calls, all)).powi(drawn))
        .sum()
}

/// Whether many conversations have it.
pub(super) fn over_sessions(facts: &Facts<'_>) -> Option<ScoredReason> {
    let (calls, seen) = (facts.cluster.calls, facts.cluster.sessions.count());
    let all = facts.tool.map_or(0, |tool| tool.sessions.count());
    let why = || format!("seen in {seen} sessions");
    let all_in = |times: &str| format!("all {calls} came in {times} of {all} that call the tool");
    let could_be_many = calls >= SPREAD_CALLS && all >= SEVERAL_SESSIONS;
    match seen {
        MANY_SESSIONS.. => Some(Sign::InManySessions.because(why())),
        SEVERAL_SESSIONS.. => Some(Sign::InSeveralSessions.because(why())),
        1 if could_be_many => Some(Sign::InOneSession.because(all_in("one session"))),
        2 if could_be_many => Some(Sign::InOneSession.because(all_in("two sessions"))),
        _ => None,
    }
}

/// Whether all models do it.
pub(super) fn over_models(facts: &Facts<'_>) -> Option<ScoredReason> {
    let calls = facts.cluster.calls;
    let tool = facts.tool.filter(|_| calls >= SPREAD_CALLS)?;
    let all: u64 = tool.models.iter().map(|(_, calls)| *calls).sum();
    let counted: Vec<(&String, u64)> = (tool.models.iter())
        .map(|(model, calls)| (model, *calls))
        .filter(|(_, calls)| ratio(*calls, all) >= MODEL_SHARE)
        .collect();
    let of = counted.len();
    // One stray call of another model does not turn the habit of one model into everyone's.
    let own: u64 = facts.cluster.models.iter().map(|(_, calls)| *calls).sum();
    let sends = |model: &String| {
        let sent = facts.cluster.models.get(model.as_str());
        sent.is_some_and(|sent| ratio(*sent, own) >= MODEL_SHARE)
    };
    let seen = counted.iter().filter(|(model, _)| sends(model)).count();
    let expected = expected(counted.iter().map(|(_, calls)| *calls), calls);
    let models = "models that call the tool";
    match (seen, of) {
        (1, 2) if expected >= 1.8 => {
            Some(Sign::OneOfTwoModels.because(format!("only 1 of 2 {models} sends it")))
        }
        (1, 3..) if expected >= SPREAD_EXPECTED => {
            Some(Sign::OneOfManyModels.because(format!("only 1 of {of} {models} sends it")))
        }
        (2.., 3..) if seen == of => {
            Some(Sign::AllModels.because(format!("all {of} {models} send it")))
        }
        (2.., _) => Some(Sign::SeveralModels.because(format!("{seen} of {of} {models} send it"))),
        _ => None,
    }
}

/// Whether it is seldom the only violation of a call.
pub(super) fn seldom_alone(facts: &Facts<'_>) -> Option<ScoredReason> {
    let (calls, alone) = (facts.cluster.calls, facts.cluster.alone);
    let why = || format!("only {alone} of {calls} calls have no other violation");
    let is_seldom = calls >= SPREAD_CALLS && ratio(alone, calls) < ALONE_BELOW;
    is_seldom.then(|| Sign::SeldomAlone.because(why()))
}

/// Whether no result is known, and there are few calls.
pub(super) fn rare_and_unknown(facts: &Facts<'_>) -> Option<ScoredReason> {
    let led_to = facts.cluster.led_to;
    let (calls, of) = (facts.cluster.calls, facts.tool_calls());
    let is_unknown = led_to.ran_fine + led_to.tool_refused == 0;
    let why = || format!("no result is known, and only {calls} of {of} calls have it");
    (is_unknown && calls >= SPREAD_CALLS && ratio(calls, of) < RARE_BELOW)
        .then(|| Sign::RareAndUnknown.because(why()))
}

/// Whether there are too few to mean something; for results, how many there are.
pub(super) fn share(facts: &Facts<'_>) -> Option<ScoredReason> {
    let of = facts.tool_calls();
    let own = facts.cluster.calls;
    // A place has a cluster for each value: that the tool returns one of them counts for all.
    let totals = match facts.key.side {
        Side::Input => facts.neighbours.alike(facts.key),
        Side::Output => facts.neighbours.of_the_place(facts.key),
    };
    let calls = totals.map_or(own, |totals| totals.calls.max(own));
    let results = || format!("{calls} of {of} results");
    match (facts.key.side, ratio(calls, of)) {
        _ if calls <= ACCIDENT_UP_TO && of >= ACCIDENT_OF => {
            Some(Sign::Accident.because(format!("{calls} of {of} calls")))
        }
        (Side::Output, share) if share >= ANSWERED_OFTEN => {
            Some(Sign::OftenAnswered.because(results()))
        }
        (Side::Output, share) if share >= ANSWERED_SOMETIMES => {
            Some(Sign::SometimesAnswered.because(results()))
        }
        _ => None,
    }
}
