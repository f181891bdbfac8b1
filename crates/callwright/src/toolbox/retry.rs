//! When a failed call is run again, and how long to wait before.

use std::time::Duration;

use crate::check::{OutputPolicy, Ran};

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
    pub(super) fn wait_before(
        self,
        runs: u32,
        ran: &Ran<'_>,
        policy: &OutputPolicy,
    ) -> Option<Duration> {
        let failure = ran.result.as_ref().err()?;
        if runs > self.most || !failure.passes(policy) {
            return None;
        }
        let wait = failure.retry_after();
        // If a server wants more time than anybody waits here, the model is told how much.
        Some(wait.unwrap_or_else(|| jittered(backoff(runs)))).filter(|wait| *wait <= LONGEST)
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
    use crate::check::ToolFailure;

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
        let policy = OutputPolicy {
            transient: vec!["Being Rebuilt".to_owned(), String::new()],
            ..OutputPolicy::default()
        };
        let passing = Ran::failed(ToolFailure::transient("busy"));
        assert!(retries.wait_before(2, &passing, &policy).is_some());
        assert!(retries.wait_before(3, &passing, &policy).is_none());
        for passing in [
            ToolFailure::internal("connection reset by peer"),
            ToolFailure::internal("the index is being rebuilt"),
            ToolFailure::said("index: BEING REBUILT"),
        ] {
            assert!(
                retries
                    .wait_before(1, &Ran::failed(passing), &policy)
                    .is_some()
            );
        }
        let later = ToolFailure::transient("busy").with_retry_after(LONGEST * 2);
        assert!(
            retries
                .wait_before(1, &Ran::failed(later), &policy)
                .is_none()
        );
        let soon = ToolFailure::transient("busy").with_retry_after(FIRST * 2);
        let soon = retries.wait_before(1, &Ran::failed(soon), &policy);
        assert_eq!(soon, Some(FIRST * 2));
        for lasting in [
            ToolFailure::new("no_such_customer", "There is no customer C-17."),
            ToolFailure::internal("index out of bounds"),
            ToolFailure::timed_out(FIRST),
            ToolFailure::panicked("boom"),
        ] {
            assert!(
                retries
                    .wait_before(1, &Ran::failed(lasting), &policy)
                    .is_none()
            );
        }
        assert!(retries.wait_before(1, &Ran::ok("fine"), &policy).is_none());
    }
}
