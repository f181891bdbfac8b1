//! Signs from outcomes: does the tool accept such calls, and what did the model do next?

use std::collections::BTreeMap;

use callwright::validate::IssueCode;

use super::ScoredReason;
use super::facts::Facts;
use super::signs::{
    CALLS_PER_SESSION, CORRECTED_CALLS, CORRECTED_SHARE, FAILS, FEW_RESULTS, MANY_RESULTS, REFUSES,
    REFUSES_UP_TO, SOME_RESULTS, SURE_RESULTS, Sign, TAKES_ALL, TAKES_FROM, TAKES_MOST,
    TAKES_UNKNOWN_KEY, UNSURE, WAVERS,
};
use crate::summary::Timeline;

/// Below this share of successful results a tool is broken, and its refusals mean nothing.
const LOWEST_SUCCESS: f64 = 0.3;

const DAY_US: i64 = 24 * 60 * 60 * 1_000_000;

/// How the tool answered such calls.
pub(super) fn of_tool(facts: &Facts<'_>) -> Option<ScoredReason> {
    let led_to = facts.cluster.led_to;
    let own = led_to.ran_fine + led_to.tool_refused;
    if own == 0 {
        return None;
    }
    // If there are few, those that look alike except for the number of digits are counted too.
    let alike = facts.neighbours.alike(facts.key);
    let (ran_fine, refused) = match alike.filter(|_| own < MANY_RESULTS) {
        Some(alike) => (alike.ran_fine, alike.refused),
        None => (led_to.ran_fine, led_to.tool_refused),
    };
    let known = ran_fine + refused;
    let usual = usual_success(facts);
    let share = ratio(ran_fine, known) / usual;
    if share < TAKES_FROM
        && let Some(since) = taken_since(facts, usual)
    {
        return Some(since);
    }
    let points = by_number(share, known);
    let is_unknown_key = facts.code == Some(IssueCode::UnknownKey);
    let points = if is_unknown_key {
        points.min(TAKES_UNKNOWN_KEY)
    } else {
        points
    };
    let alike = if known > own {
        " of such calls that look alike"
    } else {
        ""
    };
    let why = match known {
        1 if ran_fine == 1 => "the one call with a known result ran fine".to_owned(),
        1 => "the one call with a known result failed".to_owned(),
        _ if share <= REFUSES_UP_TO => {
            format!("{refused} of {known} calls with a known result failed{alike}")
        }
        _ => format!("{ran_fine} of {known} calls with a known result ran fine{alike}"),
    };
    Some(ScoredReason { points, why })
}

/// The points for a share of calls that ran fine, by how many results are known.
fn by_number(share: f64, known: u64) -> i32 {
    let [many, some, few, one] = match share {
        _ if share >= TAKES_ALL.0 => TAKES_ALL.1,
        _ if share >= TAKES_FROM => TAKES_MOST,
        _ if share <= REFUSES_UP_TO => REFUSES,
        _ if share < FAILS.0 => FAILS.1,
        _ if share < WAVERS.0 => WAVERS.1,
        _ if known < SURE_RESULTS => UNSURE,
        _ => [0; 4],
    };
    match known {
        MANY_RESULTS.. => many,
        SOME_RESULTS.. => some,
        FEW_RESULTS.. => few,
        _ => one,
    }
}

/// The share of the tool's calls with a successful result: some tools fail often, whatever they are sent.
fn usual_success(facts: &Facts<'_>) -> f64 {
    let Some(tool) = facts.tool else {
        return 1.0;
    };
    // Without the cluster itself: a cluster that is most of the traffic would be its own measure.
    let led_to = facts.cluster.led_to;
    let others = (tool.tally.results).saturating_sub(led_to.ran_fine + led_to.tool_refused);
    let errors = (tool.tally.tool_errors).saturating_sub(led_to.tool_refused);
    if others < MANY_RESULTS {
        return 1.0;
    }
    (1.0 - ratio(errors, others)).clamp(LOWEST_SUCCESS, 1.0)
}

/// Whether the tool learned to accept such calls during the recording: a new version is rolled out on some day;
/// before it, no such call succeeded, and from then on nearly all do. What counts is what the tool does now. A tool
/// that always accepts some and refuses some has no such day.
fn taken_since(facts: &Facts<'_>, usual: f64) -> Option<ScoredReason> {
    let (all, fine) = (by_day(&facts.cluster.time), by_day(&facts.cluster.fine));
    let (first, _) = fine.first_key_value()?;
    let before: u64 = all.range(..first).map(|(_, calls)| calls).sum();
    let calls: u64 = all.range(first..).map(|(_, calls)| calls).sum();
    let ran_fine: u64 = fine.values().sum();
    let is_clear = before >= SOME_RESULTS
        && calls >= MANY_RESULTS
        && ratio(ran_fine, calls) / usual >= TAKES_FROM;
    let days = match all.range(..first).count() {
        1 => "the first day".to_owned(),
        days => format!("the first {days} days"),
    };
    is_clear.then(|| {
        Sign::TakenSince.because(format!(
            "on {days} none of {before} calls ran fine, since then {ran_fine} of {calls} did"
        ))
    })
}

fn by_day(time: &Timeline<u64>) -> BTreeMap<i64, u64> {
    super::spread::stretches(time, DAY_US)
}

/// Whether the model corrected itself.
pub(super) fn of_model(facts: &Facts<'_>) -> Option<ScoredReason> {
    let led_to = facts.cluster.led_to;
    let corrected = led_to.corrected;
    let followed = corrected + led_to.repeated + led_to.gave_up;
    let known = led_to.ran_fine + led_to.tool_refused;
    let per_session = facts.tool.map_or(1.0, |tool| {
        ratio(tool.tally.calls, tool.sessions.count().max(1))
    });
    // If no failure is known, the next call is just the next one, and mostly without the violation. The same goes if
    // nearly all such calls succeed.
    let has_failed = led_to.tool_refused > 0 && ratio(led_to.ran_fine, known) < TAKES_FROM;
    let is_corrected = followed >= CORRECTED_CALLS && ratio(corrected, followed) >= CORRECTED_SHARE;
    (has_failed && is_corrected && per_session <= CALLS_PER_SESSION).then(|| {
        Sign::Corrected.because(format!(
            "{corrected} of {followed} were followed by a call without the violation"
        ))
    })
}

/// One count over another.
#[expect(
    clippy::cast_precision_loss,
    reason = "a share needs no sixteen digits"
)]
pub(crate) fn ratio(part: u64, whole: u64) -> f64 {
    part as f64 / whole.max(1) as f64
}
