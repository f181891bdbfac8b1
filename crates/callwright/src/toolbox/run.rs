//! Runs one call: in its time, and again if that does no harm.
//!
//! In comes a call that may run, out goes what came of it. A panic, a hang and an error stay inside; only the call's
//! own answer shows them. What changes something is never run twice by itself.

use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::sync::Semaphore;

use super::clock;
use super::context::Origin;
use super::function::{Handler, Running};
use super::progress::Progress;
use super::retry::Retries;
use crate::check::{OutputPolicy, Ran, ToolFailure};
use crate::panics::caught;
use crate::policy::RunSettings;
use crate::tool::{Effect, Tool};

/// How long a call may take where nobody said anything. Interactive agents wait about a minute before people give up;
/// tools that work longer say so.
const USUAL_TIMEOUT: Duration = Duration::from_secs(60);

/// How often a failed read is run again where nobody said anything: two tries more outlast a short hiccup, and a model
/// is told in seconds.
const USUAL_RETRIES: u32 = 2;

/// A tool's function and how it is run.
#[derive(Debug)]
pub(super) struct Runner {
    handler: Arc<dyn Handler>,
    timeout: Duration,
    retries: Retries,
    /// How many calls may run at once.
    permits: Option<Semaphore>,
}

impl Runner {
    pub(super) fn new(handler: Arc<dyn Handler>, tool: &Tool, settings: RunSettings) -> Self {
        let harmless = tool.spec().effect == Effect::Read || tool.spec().idempotent;
        let most = match settings.retries.unwrap_or(USUAL_RETRIES) {
            retries if harmless => retries,
            _ => 0,
        };
        Runner {
            handler,
            timeout: settings.timeout.unwrap_or(USUAL_TIMEOUT),
            retries: Retries::new(most),
            permits: settings.concurrency.map(permits),
        }
    }

    /// Runs a call until it has an answer.
    pub(super) async fn run(
        &self,
        mut origin: Origin<'_>,
        policy: &OutputPolicy,
        progress: &Progress,
    ) -> Ran<'static> {
        loop {
            let ran = self.once(origin, progress).await;
            origin.attempt += 1;
            match self.retries.wait_before(origin.attempt, &ran, policy) {
                Some(wait) => clock::sleep(wait).await,
                None => return ran,
            }
        }
    }

    /// Runs the function once. Waiting for a turn is not counted as its time.
    async fn once<'r>(&'r self, origin: Origin<'r>, progress: &Progress) -> Ran<'static> {
        let _permit = match &self.permits {
            // Nobody closes it, so it is always given.
            Some(permits) => permits.acquire().await.ok(),
            None => None,
        };
        progress.attempt();
        let mut running = match caught(|| self.handler.run(origin)) {
            Ok(running) => Caught(Some(running)),
            Err(words) => return Ran::failed(ToolFailure::panicked(words)),
        };
        // Many tools answer at once, and then no clock is needed.
        if let Poll::Ready(ran) =
            poll_fn(|task| Poll::Ready(Pin::new(&mut running).poll(task))).await
        {
            return ran;
        }
        let in_time = clock::within(self.timeout, running).await;
        in_time.unwrap_or_else(|| Ran::failed(ToolFailure::timed_out(self.timeout)))
    }
}

/// Turns for so many calls at once: one at least, and no more than can be counted.
pub(super) fn permits(most: usize) -> Semaphore {
    Semaphore::new(most.clamp(1, Semaphore::MAX_PERMITS))
}

/// A call under way whose panics are answers, the one when it is dropped included.
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
        // What a tool does when it is cancelled is its own affair, and must not take others down.
        let _ = caught(|| drop(running));
    }
}
