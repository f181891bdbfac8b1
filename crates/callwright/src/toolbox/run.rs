//! Runs one call: within its time limit, and again if that is safe.
//!
//! Takes a call that may run; returns its outcome. A panic, a hang or an error ends only the call it belongs to. A tool
//! that may change something never runs twice for one call.

use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::sync::Semaphore;

use super::clock;
use super::context::Origin;
use super::function::{Handler, Running};
use super::invocation::Invocation;
use crate::panics::caught;
use crate::policy::RunSettings;
use crate::tool::Tool;
use crate::words::{Effect, OutputPolicy, Ran, ToolFailure};

/// The default time limit. Users of interactive agents give up after about a minute; slower tools set their own.
const DEFAULT_TIMEOUT: Duration = Duration::from_secs(60);

/// How often a failed read is run again by default: two more tries outlast a short hiccup, and the model still gets an
/// answer within seconds.
const DEFAULT_RETRIES: u32 = 2;

/// The wait before the first retry. A shorter one meets the same hiccup again.
const FIRST_WAIT: Duration = Duration::from_millis(200);

/// The longest wait. If a server asks for more, telling the model is better than waiting.
const LONGEST_WAIT: Duration = Duration::from_secs(5);

/// A tool's function and how it is run.
#[derive(Debug)]
pub(super) struct Runner {
    handler: Arc<dyn Handler>,
    timeout: Duration,
    retries: u32,
    /// How many calls may run at once.
    permits: Option<Semaphore>,
}

impl Runner {
    pub(super) fn new(handler: Arc<dyn Handler>, tool: &Tool, settings: RunSettings) -> Self {
        let harmless = tool.spec().effect == Effect::Read || tool.spec().idempotent;
        let retries = settings.retries.unwrap_or(DEFAULT_RETRIES);
        Runner {
            handler,
            timeout: settings.timeout.unwrap_or(DEFAULT_TIMEOUT),
            retries: if harmless { retries } else { 0 },
            permits: settings.concurrency.map(permits),
        }
    }

    /// Runs a call until it has an outcome.
    pub(super) async fn run(
        &self,
        mut origin: Origin<'_>,
        policy: &OutputPolicy,
        invocation: &Invocation<'_>,
    ) -> Ran<'static> {
        loop {
            let ran = self.once(origin, invocation).await;
            origin.attempt += 1;
            match wait_before_retry(origin.attempt, self.retries, &ran, policy) {
                Some(wait) => clock::sleep(wait).await,
                None => return ran,
            }
        }
    }

    /// Runs the function once. Its time limit starts after it has its permit.
    async fn once<'r>(&'r self, origin: Origin<'r>, invocation: &Invocation<'_>) -> Ran<'static> {
        let _permit = match &self.permits {
            // The semaphore is never closed, so this always succeeds.
            Some(permits) => permits.acquire().await.ok(),
            None => None,
        };
        invocation.count_attempt();
        let mut running = match caught(|| self.handler.run(origin)) {
            Ok(running) => Caught(Some(running)),
            Err(words) => return Ran::failed(ToolFailure::panicked(words)),
        };
        // Many tools are done at the first poll, and need no timer.
        if let Poll::Ready(ran) =
            poll_fn(|task| Poll::Ready(Pin::new(&mut running).poll(task))).await
        {
            return ran;
        }
        let in_time = clock::within(self.timeout, running).await;
        in_time.unwrap_or_else(|| Ran::failed(ToolFailure::timed_out(self.timeout)))
    }
}

/// A semaphore for this many calls at once: at least one, at most what Tokio can count.
pub(super) fn permits(most: usize) -> Semaphore {
    Semaphore::new(most.clamp(1, Semaphore::MAX_PERMITS))
}

/// How long to wait before a call that has run `runs` times runs again; `None` if it does not.
fn wait_before_retry(
    runs: u32,
    most_retries: u32,
    ran: &Ran<'_>,
    policy: &OutputPolicy,
) -> Option<Duration> {
    let failure = ran.result.as_ref().err()?;
    if runs > most_retries || !failure.passes(policy) {
        return None;
    }
    let wait = failure.retry_after();
    wait.or_else(|| Some(jittered(backoff(runs))))
        .filter(|wait| *wait <= LONGEST_WAIT)
}

/// 200 ms, 400 ms, 800 ms …
fn backoff(runs: u32) -> Duration {
    let doubled = 1_u32
        .checked_shl(runs.saturating_sub(1))
        .unwrap_or(u32::MAX);
    FIRST_WAIT.saturating_mul(doubled).min(LONGEST_WAIT)
}

/// Between half of the wait and all of it, so that calls that failed together do not come back together.
fn jittered(wait: Duration) -> Duration {
    wait.mul_f64(fastrand::f64().mul_add(0.5, 0.5))
}

/// A running call whose panics become its outcome; a panic in its destructor is swallowed.
struct Caught<'r>(Option<Running<'r>>);

impl Future for Caught<'_> {
    type Output = Ran<'static>;

    fn poll(mut self: Pin<&mut Self>, task: &mut Context<'_>) -> Poll<Ran<'static>> {
        let Some(running) = &mut self.0 else {
            return Poll::Pending;
        };
        caught(|| running.as_mut().poll(task))
            .unwrap_or_else(|words| Poll::Ready(Ran::failed(ToolFailure::panicked(words))))
    }
}

impl Drop for Caught<'_> {
    fn drop(&mut self) {
        let running = self.0.take();
        // A cancelled tool that panics must not take other calls down.
        let _ = caught(|| drop(running));
    }
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
        for _ in 0..1_000 {
            let wait = jittered(FIRST_WAIT);
            assert!(wait >= FIRST_WAIT / 2 && wait <= FIRST_WAIT, "{wait:?}");
        }
    }

    #[test]
    fn only_transient_failures_are_retried_and_only_so_often() {
        let policy = OutputPolicy {
            transient: vec!["Being Rebuilt".to_owned(), String::new()],
            ..OutputPolicy::default()
        };
        let wait = |runs, failure| wait_before_retry(runs, 2, &Ran::failed(failure), &policy);
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
        assert_eq!(wait_before_retry(1, 2, &Ran::ok("fine"), &policy), None);
    }
}
