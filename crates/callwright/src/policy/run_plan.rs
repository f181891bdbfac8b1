//! How calls of one tool are run: the time limit, and when to retry.
//!
//! Takes the policy's settings for running a tool, and how a call failed; returns the limits with their defaults, and the wait
//! before the next attempt. Runs nothing and reads no clock: the toolbox does, and so do programs in other languages.

use std::time::Duration;

use super::RunSettings;
use crate::vocabulary::{Effect, OutputPolicy, ToolFailure, ToolSpec};

/// The default time limit. Users of interactive agents give up after about a minute; slower tools set their own.
const DEFAULT_TIMEOUT: Duration = Duration::from_secs(60);

/// How often a failed read is retried by default: two more attempts outlast a short hiccup, and the model still gets an answer
/// within seconds.
const DEFAULT_RETRIES: u32 = 2;

/// The wait before the first retry. A shorter one would hit the same hiccup again.
const FIRST_WAIT: Duration = Duration::from_millis(200);

/// The longest wait. If a server asks for more, the model is told instead.
const LONGEST_WAIT: Duration = Duration::from_secs(5);

/// How calls of one tool are run. A tool that may change something never runs twice for one call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct RunPlan {
    /// How long one attempt may take.
    pub timeout: Duration,
    /// How often a call is run again after a transient failure.
    pub retries: u32,
    /// How many calls may run at once.
    pub concurrency: Option<usize>,
}

impl RunPlan {
    /// The plan for a tool, as the operator declares it.
    pub fn new(tool: &ToolSpec, settings: RunSettings) -> Self {
        let harmless = tool.effect == Effect::Read || tool.idempotent;
        let retries = settings.retries.unwrap_or(DEFAULT_RETRIES);
        RunPlan {
            timeout: settings.timeout.unwrap_or(DEFAULT_TIMEOUT),
            retries: if harmless { retries } else { 0 },
            concurrency: settings.concurrency,
        }
    }

    /// How long to wait before a call that has run `runs` times runs again; `None` if it does not. `random` is between 0 and 1:
    /// it spreads out calls that failed together.
    pub fn wait_before_retry(
        &self,
        runs: u32,
        failure: &ToolFailure,
        policy: &OutputPolicy,
        random: f64,
    ) -> Option<Duration> {
        if runs > self.retries || !failure.passes(policy) {
            return None;
        }
        let wait = failure.retry_after();
        wait.or_else(|| Some(jittered(backoff(runs), random)))
            .filter(|wait| *wait <= LONGEST_WAIT)
    }
}

/// 200 ms, 400 ms, 800 ms …
fn backoff(runs: u32) -> Duration {
    let doubled = 1_u32
        .checked_shl(runs.saturating_sub(1))
        .unwrap_or(u32::MAX);
    FIRST_WAIT.saturating_mul(doubled).min(LONGEST_WAIT)
}

/// Between half of the wait and the full wait.
fn jittered(wait: Duration, random: f64) -> Duration {
    wait.mul_f64(random.clamp(0.0, 1.0).mul_add(0.5, 0.5))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_grow_up_to_a_bound() {
        let waits: Vec<u128> = (1..=7).map(|runs| backoff(runs).as_millis()).collect();
        assert_eq!(waits, [200, 400, 800, 1600, 3200, 5000, 5000]);
        assert_eq!(backoff(u32::MAX), LONGEST_WAIT);
    }

    #[test]
    fn jitter_stays_within_half() {
        for random in [-1.0, 0.0, 0.3, 1.0, 7.0] {
            let wait = jittered(FIRST_WAIT, random);
            assert!(wait >= FIRST_WAIT / 2 && wait <= FIRST_WAIT, "{wait:?}");
        }
        assert_eq!(jittered(FIRST_WAIT, 1.0), FIRST_WAIT);
    }

    #[test]
    fn only_transient_failures_are_retried_and_only_so_often() {
        let policy = OutputPolicy {
            transient: vec!["Being Rebuilt".to_owned(), String::new()],
            ..OutputPolicy::default()
        };
        let read = ToolSpec::without_schema("read").with_effect(Effect::Read);
        let plan = RunPlan::new(&read, RunSettings::default());
        let wait =
            |runs, failure: ToolFailure| plan.wait_before_retry(runs, &failure, &policy, 0.5);
        assert!(wait(2, ToolFailure::transient("busy")).is_some());
        assert_eq!(wait(3, ToolFailure::transient("busy")), None);
        for transient in [
            ToolFailure::internal("connection reset by peer"),
            ToolFailure::internal("the index is being rebuilt"),
            ToolFailure::said("index: BEING REBUILT"),
        ] {
            assert!(wait(1, transient).is_some());
        }
        let later = ToolFailure::transient("busy").with_retry_after(LONGEST_WAIT * 2);
        assert_eq!(wait(1, later), None);
        let soon = ToolFailure::transient("busy").with_retry_after(FIRST_WAIT * 2);
        assert_eq!(wait(1, soon), Some(FIRST_WAIT * 2));
        for lasting in [
            ToolFailure::new("no_such_customer", "There is no customer C-17."),
            ToolFailure::internal("index out of bounds"),
            ToolFailure::timed_out(FIRST_WAIT),
            ToolFailure::panicked("boom"),
        ] {
            assert_eq!(wait(1, lasting), None);
        }
    }

    #[test]
    fn a_tool_that_may_change_something_runs_once() {
        let write = ToolSpec::without_schema("pay").with_effect(Effect::Write);
        let plan = RunPlan::new(&write, RunSettings::default());
        let busy = ToolFailure::transient("busy");
        let wait = |plan: RunPlan| plan.wait_before_retry(1, &busy, &OutputPolicy::default(), 0.5);
        assert_eq!(wait(plan), None);
        assert!(wait(RunPlan::new(&write.idempotent(), RunSettings::default())).is_some());
    }
}
