//! Runs one call: within its time limit, and again if that is safe.
//!
//! Takes a call that may run; returns its outcome. A panic, a hang or an error ends only the call it belongs to. A tool that
//! may change something never runs twice for one call.

use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use tokio::sync::{Semaphore, SemaphorePermit};

use super::clock;
use super::context::Origin;
use super::function::{Handler, Running};
use super::invocation::Invocation;
use crate::panics::caught;
use crate::policy::{RunPlan, RunSettings};
use crate::tool::Tool;
use crate::vocabulary::{OutputPolicy, Ran, ToolFailure};

/// A tool's function and how it is run.
#[derive(Debug)]
pub(super) struct Runner {
    handler: Arc<dyn Handler>,
    plan: RunPlan,
    /// How many of its calls may run at once, and how many of all tools together.
    permits: [Option<Arc<Semaphore>>; 2],
}

impl Runner {
    pub(super) fn new(
        handler: Arc<dyn Handler>,
        tool: &Tool,
        settings: RunSettings,
        of_all: Option<Arc<Semaphore>>,
    ) -> Self {
        let plan = RunPlan::new(tool.spec(), settings);
        Runner {
            handler,
            permits: [plan.concurrency.map(permits), of_all],
            plan,
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
            let failure = ran.result.as_ref().err();
            let wait = failure.and_then(|failure| {
                let random = fastrand::f64();
                self.plan
                    .wait_before_retry(origin.attempt, failure, policy, random)
            });
            match wait {
                Some(wait) => clock::sleep(wait).await,
                None => return ran,
            }
        }
    }

    /// Runs the function once. Its time limit starts when it has its permits; while it waits before a retry it holds none.
    async fn once<'r>(&'r self, origin: Origin<'r>, invocation: &Invocation<'_>) -> Ran<'static> {
        // The tool's own comes first: a call that waits for it must not keep other tools from running.
        let [own, of_all] = &self.permits;
        let _permits = (acquire(own.as_ref()).await, acquire(of_all.as_ref()).await);
        invocation.count_attempt();
        let mut running = match caught(|| self.handler.run(origin)) {
            Ok(running) => Caught(Some(running)),
            Err(words) => return Ran::failed(ToolFailure::panicked(words)),
        };
        // Many tools finish at the first poll and need no timer.
        if let Poll::Ready(ran) =
            poll_fn(|task| Poll::Ready(Pin::new(&mut running).poll(task))).await
        {
            return ran;
        }
        let in_time = clock::within(self.plan.timeout, running).await;
        in_time.unwrap_or_else(|| Ran::failed(ToolFailure::timed_out(self.plan.timeout)))
    }
}

/// A semaphore for this many calls at once: at least one, at most what Tokio can count.
pub(super) fn permits(most: usize) -> Arc<Semaphore> {
    Arc::new(Semaphore::new(most.clamp(1, Semaphore::MAX_PERMITS)))
}

async fn acquire(permits: Option<&Arc<Semaphore>>) -> Option<SemaphorePermit<'_>> {
    // The semaphore is never closed, so this always succeeds.
    permits?.acquire().await.ok()
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
