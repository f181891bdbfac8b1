//! Does it come steadily, from everybody, or in one burst, from one?

use std::collections::BTreeMap;

use super::company::Company;
use super::facts::Facts;
use super::outcome::ratio;
use super::points::{
    ACCIDENT, ACCIDENT_OF, ACCIDENT_UP_TO, ALL_MODELS, ALONE_BELOW, BURST, BURST_UP_TO,
    IN_MANY_SESSIONS, IN_ONE_SESSION, IN_SEVERAL_SESSIONS, MANY_SESSIONS, MODEL_SHARE, OFTEN,
    ONE_OF_MANY_MODELS, ONE_OF_TWO_MODELS, RESULTS_OFTEN, RESULTS_SOMETIMES, SEASON, SEASON_FROM,
    SELDOM_ALONE, SEVERAL_MODELS, SEVERAL_SESSIONS, SOMETIMES, SPREAD_CALLS, SPREAD_EXPECTED,
    STEADY, STEADY_FROM, UNKNOWN_AND_RARE, UNKNOWN_AND_RARE_BELOW,
};
use super::{Reason, say};
use crate::summary::{Side, Timeline};

const MINUTE_US: i64 = 60_000_000;
const HOUR_US: i64 = 60 * MINUTE_US;
const DAY_US: i64 = 24 * HOUR_US;

/// A record over at least this many days is looked at by days, over as many hours by hours, else by minutes.
const ENOUGH_STRETCHES: i64 = 4;

/// Whether the cluster is spread over the time of the tool's calls.
pub(super) fn over_time(facts: &Facts<'_>, reasons: &mut Vec<Reason>) {
    let calls = facts.cluster.calls;
    let Some(tool) = facts.tool.filter(|_| calls >= SPREAD_CALLS) else {
        return;
    };
    let mut times = tool.time.iter().map(|(time, _)| time);
    let Some(first) = times.next() else { return };
    let last = times.last().unwrap_or(first);
    let (unit, name) = match last.saturating_sub(first) {
        long if long >= ENOUGH_STRETCHES * DAY_US => (DAY_US, "day"),
        long if long >= ENOUGH_STRETCHES * HOUR_US => (HOUR_US, "hour"),
        _ => (MINUTE_US, "minute"),
    };
    let all = stretches(&tool.time, unit);
    let own = stretches(&facts.cluster.time.as_wide_as(&tool.time), unit);
    if own.is_empty() {
        return;
    }
    let expected = expected(all.values().copied(), calls);
    if expected < SPREAD_EXPECTED {
        return;
    }
    let seen = own.len();
    let share = ratio(seen as u64, 1) / expected;
    let on = if name == "day" { "on" } else { "in" };
    if share >= STEADY_FROM {
        let of = all.len();
        say(reasons, STEADY, format!("seen {on} {seen} of {of} {name}s"));
    } else if share <= BURST_UP_TO {
        let of = all.len();
        let times = if seen == 1 {
            format!("one {name}")
        } else {
            format!("{seen} {name}s")
        };
        let is_season = seen >= SEASON_FROM && facts.cluster.sessions.count() >= SEVERAL_SESSIONS;
        say(
            reasons,
            if is_season { SEASON } else { BURST },
            format!("all {calls} came {on} {times}, though the tool was called {on} {of}"),
        );
    }
}

fn stretches(time: &Timeline<u64>, unit: i64) -> BTreeMap<i64, u64> {
    let mut found = BTreeMap::new();
    for (begin, calls) in time.iter() {
        *found.entry(begin.div_euclid(unit)).or_insert(0) += *calls;
    }
    found
}

/// In how many of several groups `drawn` calls would be found if they were drawn from all calls at random.
fn expected(groups: impl Iterator<Item = u64> + Clone, drawn: u64) -> f64 {
    let all: u64 = groups.clone().sum();
    let drawn = i32::try_from(drawn).unwrap_or(i32::MAX);
    groups
        .map(|calls| 1.0 - (1.0 - ratio(calls, all)).powi(drawn))
        .sum()
}

/// Whether many conversations have it.
pub(super) fn over_sessions(facts: &Facts<'_>, reasons: &mut Vec<Reason>) {
    let (calls, seen) = (facts.cluster.calls, facts.cluster.sessions.count());
    match seen {
        MANY_SESSIONS.. => {
            say(
                reasons,
                IN_MANY_SESSIONS,
                format!("seen in {seen} sessions"),
            );
        }
        SEVERAL_SESSIONS.. => {
            say(
                reasons,
                IN_SEVERAL_SESSIONS,
                format!("seen in {seen} sessions"),
            );
        }
        1 | 2 if calls >= SPREAD_CALLS => {
            let all = facts.tool.map_or(0, |tool| tool.sessions.count());
            if all >= SEVERAL_SESSIONS {
                let times = if seen == 1 {
                    "one session"
                } else {
                    "two sessions"
                };
                say(
                    reasons,
                    IN_ONE_SESSION,
                    format!("all {calls} came in {times} of {all} that call the tool"),
                );
            }
        }
        _ => {}
    }
}

/// Whether all models do it.
pub(super) fn over_models(facts: &Facts<'_>, reasons: &mut Vec<Reason>) {
    let calls = facts.cluster.calls;
    let Some(tool) = facts.tool.filter(|_| calls >= SPREAD_CALLS) else {
        return;
    };
    let all: u64 = tool.models.iter().map(|(_, calls)| *calls).sum();
    let counted: Vec<(&String, u64)> = tool
        .models
        .iter()
        .map(|(model, calls)| (model, *calls))
        .filter(|(_, calls)| ratio(*calls, all) >= MODEL_SHARE)
        .collect();
    let of = counted.len();
    // One stray call of another model does not make a habit of one model everybody's.
    let own: u64 = facts.cluster.models.iter().map(|(_, calls)| *calls).sum();
    let sends = |model: &String| {
        let sent = facts.cluster.models.get(model.as_str());
        sent.is_some_and(|sent| ratio(*sent, own) >= MODEL_SHARE)
    };
    let seen = counted.iter().filter(|(model, _)| sends(model)).count();
    if of < 2 || seen == 0 {
        return;
    }
    let expected = expected(counted.iter().map(|(_, calls)| *calls), calls);
    match (seen, of) {
        (1, 2) if expected >= 1.8 => say(
            reasons,
            ONE_OF_TWO_MODELS,
            "only 1 of 2 models that call the tool sends it",
        ),
        (1, 3..) if expected >= SPREAD_EXPECTED => say(
            reasons,
            ONE_OF_MANY_MODELS,
            format!("only 1 of {of} models that call the tool sends it"),
        ),
        (2.., _) if seen == of && of >= 3 => say(
            reasons,
            ALL_MODELS,
            format!("all {of} models that call the tool send it"),
        ),
        (2.., _) => say(
            reasons,
            SEVERAL_MODELS,
            format!("{seen} of {of} models that call the tool send it"),
        ),
        _ => {}
    }
}

/// Whether it is seldom the only fault of a call.
pub(super) fn alone(facts: &Facts<'_>, reasons: &mut Vec<Reason>) {
    let (calls, alone) = (facts.cluster.calls, facts.cluster.alone);
    if calls >= SPREAD_CALLS && ratio(alone, calls) < ALONE_BELOW {
        say(
            reasons,
            SELDOM_ALONE,
            format!("only {alone} of {calls} calls have no other fault"),
        );
    }
}

/// Whether nothing is known of the results, and there are few of them.
pub(super) fn rare_and_unknown(facts: &Facts<'_>, reasons: &mut Vec<Reason>) {
    let led_to = facts.cluster.led_to;
    let (calls, of) = (facts.cluster.calls, facts.tool_calls());
    let is_unknown = led_to.ran_fine + led_to.tool_refused == 0;
    if is_unknown && calls >= SPREAD_CALLS && ratio(calls, of) < UNKNOWN_AND_RARE_BELOW {
        let why = format!("no result is known, and only {calls} of {of} calls have it");
        say(reasons, UNKNOWN_AND_RARE, why);
    }
}

/// Whether there are too few to mean something; for results, how many there are.
pub(super) fn share(facts: &Facts<'_>, company: &Company<'_>, reasons: &mut Vec<Reason>) {
    let of = facts.tool_calls();
    let own = facts.cluster.calls;
    // A place has a cluster for each value: that the tool answers with one of them counts for all.
    let together = match facts.key.side {
        Side::Input => company.alike(facts.key),
        Side::Output => company.of_the_place(facts.key),
    };
    let calls = together.map_or(own, |together| together.calls.max(own));
    let share = ratio(calls, of);
    match facts.key.side {
        _ if calls <= ACCIDENT_UP_TO && of >= ACCIDENT_OF => {
            say(reasons, ACCIDENT, format!("{calls} of {of} calls"));
        }
        Side::Output if share >= RESULTS_OFTEN => {
            say(reasons, OFTEN, format!("{calls} of {of} results"));
        }
        Side::Output if share >= RESULTS_SOMETIMES => {
            say(reasons, SOMETIMES, format!("{calls} of {of} results"));
        }
        _ => {}
    }
}
