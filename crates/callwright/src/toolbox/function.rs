//! The function of a tool: takes arguments, returns the outcome.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::thread;

use tokio::runtime::Handle;
use tokio::sync::{Semaphore, oneshot};

use super::context::Origin;
use super::run::permits;
use crate::json::{Mismatch, MismatchCause, Value};
use crate::panics::caught;
use crate::vocabulary::{Finding, Output, Ran, ToolFailure};

/// How many threads a blocking tool may have, including those of calls that timed out: as many calls as one server takes at
/// once from one client, at a few hundred kilobytes. Further calls wait until their own time is up.
const MOST_THREADS: usize = 64;

/// The future outcome of a call.
pub(super) type Running<'r> = Pin<Box<dyn Future<Output = Ran<'static>> + Send + 'r>>;

/// Runs calls of one tool, with its types erased.
pub(super) trait Handler: Send + Sync + fmt::Debug {
    /// Starts a call that has permission to run.
    fn run<'r>(&'r self, origin: Origin<'r>) -> Running<'r>;
}

/// A typed function, and how its types are read and written.
pub(super) struct TypedFunction<A, O> {
    pub(super) start: Arc<dyn Start<A, O>>,
    pub(super) read: fn(&Value<'_>) -> Result<A, ToolFailure>,
    pub(super) finish: Finish<O>,
}

/// What is done with a typed result.
pub(super) struct Finish<O> {
    pub(super) write: fn(O) -> Output<'static>,
    pub(super) checks: Vec<Arc<TypedCheck<O>>>,
}

/// Checks a typed result against the arguments.
type TypedCheck<O> = dyn Fn(&Value<'_>, &O) -> Option<Finding> + Send + Sync;

/// The ways to run a function. Each boxes its future together with what follows it, so there is a single allocation.
pub(super) trait Start<A, O>: Send + Sync {
    fn start<'r>(&'r self, arguments: A, origin: Origin<'r>, finish: &'r Finish<O>) -> Running<'r>;
}

/// An async function over the arguments and their call.
pub(super) struct Async<F>(pub(super) F);

/// A function that blocks. Its calls run on the tool's own threads, so that one that hangs holds up neither Tokio's pool nor
/// another tool.
pub(super) struct Blocking<F> {
    function: Arc<F>,
    threads: Arc<Semaphore>,
}

impl<F> Blocking<F> {
    pub(super) fn new(function: F) -> Self {
        Blocking {
            function: Arc::new(function),
            threads: permits(MOST_THREADS),
        }
    }
}

impl<A, O, F, R, E> Start<A, O> for Async<F>
where
    F: Fn(A, Origin<'_>) -> R + Send + Sync,
    R: Future<Output = Result<O, E>> + Send + 'static,
    O: Send,
    E: Into<ToolFailure>,
{
    fn start<'r>(&'r self, arguments: A, origin: Origin<'r>, finish: &'r Finish<O>) -> Running<'r> {
        let future = (self.0)(arguments, origin);
        Box::pin(async move { finish.finish(origin, future.await.map_err(Into::into)) })
    }
}

impl<A, O, F, E> Start<A, O> for Blocking<F>
where
    A: Send + 'static,
    O: Send + 'static,
    F: Fn(A) -> Result<O, E> + Send + Sync + 'static,
    E: Into<ToolFailure>,
{
    fn start<'r>(&'r self, arguments: A, origin: Origin<'r>, finish: &'r Finish<O>) -> Running<'r> {
        let function = Arc::clone(&self.function);
        let threads = Arc::clone(&self.threads);
        Box::pin(async move {
            // The semaphore is never closed, so this always succeeds.
            let permit = threads.acquire_owned().await.ok();
            let runtime = Handle::try_current().ok();
            let (done, outcome) = oneshot::channel();
            let work = move || {
                let _inside = runtime.as_ref().map(Handle::enter);
                let result = caught(|| function(arguments).map_err(Into::into));
                // Released here even if the caller has gone away.
                drop(permit);
                let _ = done.send(result);
            };
            let name = format!("tool {}", origin.tool);
            if let Err(error) = thread::Builder::new().name(name).spawn(work) {
                let why = format!("no thread could be started: {error}");
                return Ran::failed(ToolFailure::internal(why));
            }
            match outcome.await {
                Ok(Ok(result)) => finish.finish(origin, result),
                Ok(Err(words)) => Ran::failed(ToolFailure::panicked(words)),
                Err(_) => Ran::failed(ToolFailure::cancelled()),
            }
        })
    }
}

impl<O> Finish<O> {
    pub(super) fn new(write: fn(O) -> Output<'static>) -> Self {
        Finish {
            write,
            checks: Vec::new(),
        }
    }

    fn finish(&self, origin: Origin<'_>, result: Result<O, ToolFailure>) -> Ran<'static> {
        let output = match result {
            Ok(output) => output,
            Err(failure) => return Ran::failed(failure),
        };
        let sent = origin.arguments;
        let mut finding = None;
        let mut notes = Vec::new();
        for check in &self.checks {
            // A check that panics says nothing about the result.
            match caught(|| check(sent, &output)) {
                Ok(found) => finding = finding.or(found),
                Err(words) => notes.push(format!("a check panicked: {words}")),
            }
        }
        Ran::ok((self.write)(output))
            .with_finding(finding)
            .with_notes(notes)
    }
}

impl<A, O> Handler for TypedFunction<A, O> {
    fn run<'r>(&'r self, origin: Origin<'r>) -> Running<'r> {
        match (self.read)(origin.arguments) {
            Ok(arguments) => self.start.start(arguments, origin, &self.finish),
            Err(failure) => Box::pin(std::future::ready(Ran::failed(failure))),
        }
    }
}

/// The schema accepted the arguments and the type did not, so the model is not to blame. If the objection is the type's own,
/// the model gets it anyway, because it can act on it.
#[cold]
pub(super) fn disagreement(mismatch: &Mismatch) -> ToolFailure {
    let failure = ToolFailure::defect(mismatch.to_string());
    match mismatch.cause() {
        MismatchCause::Own => failure.with_objection(mismatch.path(), mismatch.message()),
        _ => failure,
    }
}

impl<A, O> fmt::Debug for TypedFunction<A, O> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Function").finish_non_exhaustive()
    }
}
