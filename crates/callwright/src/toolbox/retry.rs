//! When a failed call is run again, and how long to wait before.

use std::time::Duration;

use crate::admit::is_transient;
use crate::check::{FailureKind, Ran, ToolFailure};

/// The first wait. Shorter ones meet the same hiccup again.
const FIRST: Duration = Duration::from_millis(200);

/// The longest wait. Whoever needs more time is better off telling the model, and a server that asks for more is not
/// asked again before.
const LONGEST: Duration = Duration::from_secs(5);

/// How often a call is run again.
#[derive(Debug, Clone, Copy)]
pub(super) struct Retries {
    most: u32,
}

impl Retries {
    pub(super) fn new(most: u32) -> Self {
        Retries { most }
    }

    /// How long to wait before the next run after `runs` of them; `None` if this was the last.
    pub(super) fn wait_before(self, runs: u32, ran: &Ran<'_>) -> Option<Duration> {
        let failure = ran.result.as_ref().err()?;
        if runs > self.most || !passes(failure) {
            return None;
        }
        let wait = failure.retry_after();
        let wait = wait.unwrap_or_else(|| jittered(backoff(runs)));
        (wait <= LONGEST).then_some(wait)
    }
}

/// Whether a failure passes by itself: the tool says so, or its words do.
fn passes(failure: &ToolFailure) -> bool {
    match failure.kind() {
        FailureKind::Transient => true,
        FailureKind::Reported | FailureKind::Internal => [failure.detail(), failure.for_operator()]
            .into_iter()
            .flatten()
            .any(is_transient),
        _ => false,
    }
}

/// 200 ms, 400 ms, 800 ms …
fn backoff(runs: u32) -> Duration {
    let doubled = 1_u32
        .checked_shl(runs.saturating_sub(1))
        .unwrap_or(u32::MAX);
    FIRST.saturating_mul(doubled).min(LONGEST)
}

/// Somewhere between half of it and all of it, so that many that failed together do not come back together.
fn jittered(wait: Duration) -> Duration {
    wait.mul_f64(fastrand::f64().mul_add(0.5, 0.5))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_grow_up_to_a_bound() {
        let waits: Vec<u128> = (1..=7).map(|runs| backoff(runs).as_millis()).collect();
        assert_eq!(waits, [200, 400, 800, 1600, 3200, 5000, 5000]);
        assert_eq!(backoff(u32::MAX), LONGEST);
    }

    #[test]
    fn jitter_stays_within_half() {
        for _ in 0..1_000 {
            let wait = jittered(FIRST);
            assert!(wait >= FIRST / 2 && wait <= FIRST, "{wait:?}");
        }
    }

    #[test]
    fn only_what_passes_is_run_again_and_only_so_often() {
        let retries = Retries::new(2);
        let passing = Ran::failed(ToolFailure::transient("busy"));
        assert!(retries.wait_before(2, &passing).is_some());
        assert!(retries.wait_before(3, &passing).is_none());
        let busy = |wait| Ran::failed(ToolFailure::transient("busy").with_retry_after(wait));
        assert_eq!(retries.wait_before(1, &busy(FIRST)), Some(FIRST));
        assert_eq!(retries.wait_before(1, &busy(LONGEST + FIRST)), None);
        for lasting in [
            ToolFailure::new("no_such_customer", "There is no customer C-17."),
            ToolFailure::internal("index out of bounds"),
            ToolFailure::timed_out(FIRST),
            ToolFailure::panicked("boom"),
        ] {
            assert!(retries.wait_before(1, &Ran::failed(lasting)).is_none());
        }
        assert!(retries.wait_before(1, &Ran::ok("fine")).is_none());
    }
}
