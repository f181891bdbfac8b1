//! Does the tool take such calls, and what did the model do next?

use super::company::Company;
use super::facts::Facts;
use super::points::{
    CALLS_PER_SESSION, CORRECTED, CORRECTED_CALLS, CORRECTED_SHARE, FAILS_BELOW, FAILS_FEW,
    FAILS_MANY, FAILS_ONE, FAILS_SOME, FEW_RESULTS, MANY_RESULTS, REFUSES_FEW, REFUSES_MANY,
    REFUSES_ONE, REFUSES_SOME, REFUSES_UP_TO, SOME_RESULTS, SURE_RESULTS, TAKES_ALL_FROM,
    TAKES_FEW, TAKES_FROM, TAKES_MANY, TAKES_ONE, TAKES_SOME, TAKES_SOME_NOT_ALL,
    TAKES_UNKNOWN_KEY, WAVERS, WAVERS_BELOW, WAVERS_FEW,
};
use super::rollout;
use super::{Reason, say};

/// Below this share of results without an error a tool is broken, and its refusals say nothing.
const LOWEST_SUCCESS: f64 = 0.3;

/// What the tool made of such calls.
pub(super) fn what_the_tool_made_of_it(
    facts: &Facts<'_>,
    company: &Company<'_>,
    reasons: &mut Vec<Reason>,
) {
    let led_to = facts.cluster.led_to;
    let own = led_to.ran_fine + led_to.tool_refused;
    if own == 0 {
        return;
    }
    // Few by themselves: those that look alike but for the number of digits are counted too.
    let alike = company.alike(facts.key).filter(|_| own < MANY_RESULTS);
    let (ran_fine, refused) = alike.map_or((led_to.ran_fine, led_to.tool_refused), |alike| {
        (alike.ran_fine, alike.refused)
    });
    let known = ran_fine + refused;
    let of_a_look = if known > own {
        " of such calls that look alike"
    } else {
        ""
    };
    let usual = usual_success(facts);
    let share = ratio(ran_fine, known) / usual;
    if share < TAKES_FROM
        && let Some(since) = rollout::since(facts)
        && ratio(since.ran_fine, since.calls) / usual >= TAKES_FROM
    {
        return say(reasons, TAKES_MANY, since.why());
    }
    let [many, some, few, one] = if share >= TAKES_ALL_FROM {
        [TAKES_MANY, TAKES_SOME, TAKES_FEW, TAKES_ONE]
    } else if share >= TAKES_FROM {
        [TAKES_MANY, TAKES_SOME_NOT_ALL, TAKES_FEW, TAKES_ONE]
    } else if share <= REFUSES_UP_TO {
        [REFUSES_MANY, REFUSES_SOME, REFUSES_FEW, REFUSES_ONE]
    } else if share < FAILS_BELOW {
        [FAILS_MANY, FAILS_SOME, FAILS_FEW, FAILS_ONE]
    } else if share < WAVERS_BELOW {
        [WAVERS, WAVERS, WAVERS_FEW, 0]
    } else if known < SURE_RESULTS {
        [WAVERS_FEW; 4]
    } else {
        [0; 4]
    };
    let points = match known {
        MANY_RESULTS.. => many,
        SOME_RESULTS.. => some,
        FEW_RESULTS.. => few,
        _ => one,
    };
    let is_ignored = facts.key.issue == "unknown_key" && points > TAKES_UNKNOWN_KEY;
    let points = if is_ignored {
        TAKES_UNKNOWN_KEY
    } else {
        points
    };
    let why = if known == 1 {
        format!(
            "the one call with a known result {}",
            if ran_fine == 1 { "ran fine" } else { "failed" }
        )
    } else if share <= REFUSES_UP_TO {
        format!("{refused} of {known} calls with a known result failed{of_a_look}")
    } else {
        format!("{ran_fine} of {known} calls with a known result ran fine{of_a_look}")
    };
    say(reasons, points, why);
}

/// What share of the tool's calls has a result that is no error: some tools fail often, whatever they are sent.
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

/// Whether the model corrected itself.
pub(super) fn what_the_model_did_next(facts: &Facts<'_>, reasons: &mut Vec<Reason>) {
    let led_to = facts.cluster.led_to;
    let followed = led_to.corrected + led_to.repeated + led_to.gave_up;
    // Where no failure is known, the next call is just the next one, and mostly without the fault.
    // So it is where nearly all such calls run fine.
    let known = led_to.ran_fine + led_to.tool_refused;
    if led_to.tool_refused == 0 || ratio(led_to.ran_fine, known) >= TAKES_FROM {
        return;
    }
    if followed < CORRECTED_CALLS || ratio(led_to.corrected, followed) < CORRECTED_SHARE {
        return;
    }
    let per_session = facts.tool.map_or(1.0, |tool| {
        ratio(tool.tally.calls, tool.sessions.count().max(1))
    });
    if per_session > CALLS_PER_SESSION {
        return;
    }
    let corrected = led_to.corrected;
    say(
        reasons,
        CORRECTED,
        format!("{corrected} of {followed} were followed by a call without the fault"),
    );
}

/// One count over another.
#[expect(
    clippy::cast_precision_loss,
    reason = "a share needs no sixteen digits"
)]
pub(crate) fn ratio(part: u64, whole: u64) -> f64 {
    part as f64 / whole.max(1) as f64
}
