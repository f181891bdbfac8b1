//! The function of a tool: takes arguments, returns their outcome.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use tokio::runtime::Handle;

use super::context::Origin;
use crate::json::{Mismatch, MismatchCause, Value};
use crate::panics::{caught, words_of};
use crate::words::{Finding, Output, Ran, ToolFailure};

/// The future outcome of a call.
pub(super) type Running<'r> = Pin<Box<dyn Future<Output = Ran<'static>> + Send + 'r>>;

/// Runs calls of one tool, with its types erased.
pub(super) trait Handler: Send + Sync + fmt::Debug {
    /// Starts a call that may run.
    fn run<'r>(&'r self, origin: Origin<'r>) -> Running<'r>;
}

/// A function over types, and how they are read and written.
pub(super) struct Function<A, O> {
    pub(super) start: Arc<dyn Start<A, O>>,
    pub(super) read: fn(&Value<'_>) -> Result<A, Mismatch>,
    pub(super) finish: Finish<O>,
}

/// What happens to a typed result.
pub(super) struct Finish<O> {
    pub(super) write: fn(O) -> Output<'static>,
    pub(super) checks: Vec<Arc<Check<O>>>,
}

/// Looks at arguments and a typed result.
type Check<O> = dyn Fn(&Value<'_>, &O) -> Option<Finding> + Send + Sync;

/// The ways to run a function. Each boxes its future together with what follows it, so there is one allocation.
pub(super) trait Start<A, O>: Send + Sync {
    fn start<'r>(&'r self, arguments: A, origin: Origin<'r>, finish: &'r Finish<O>) -> Running<'r>;
}

/// An async function over the arguments and the call that they belong to.
pub(super) struct Async<F>(pub(super) F);

/// A function that blocks.
pub(super) struct Blocking<F>(pub(super) Arc<F>);

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
        let function = Arc::clone(&self.0);
        Box::pin(async move {
            let Ok(runtime) = Handle::try_current() else {
                let why = "a blocking function needs a Tokio runtime, and there is none here";
                return Ran::failed(ToolFailure::internal(why));
            };
            let done = runtime.spawn_blocking(move || function(arguments).map_err(Into::into));
            match done.await {
                Ok(result) => finish.finish(origin, result),
                Err(lost) => Ran::failed(match lost.try_into_panic() {
                    Ok(panic) => ToolFailure::panicked(words_of(panic)),
                    Err(_) => ToolFailure::cancelled(),
                }),
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

impl<A, O> Handler for Function<A, O> {
    fn run<'r>(&'r self, origin: Origin<'r>) -> Running<'r> {
        match (self.read)(origin.arguments) {
            Ok(arguments) => self.start.start(arguments, origin, &self.finish),
            Err(mismatch) => Box::pin(std::future::ready(Ran::failed(disagreement(&mismatch)))),
        }
    }
}

/// The schema accepted the arguments and the type did not, so the model is not to blame. If the objection is the type's
/// own, the model gets it all the same, because it can act on it.
#[cold]
fn disagreement(mismatch: &Mismatch) -> ToolFailure {
    let failure = ToolFailure::defect(mismatch.to_string());
    match mismatch.cause() {
        MismatchCause::Own => failure.with_objection(mismatch.path(), mismatch.message()),
        _ => failure,
    }
}

impl<A, O> fmt::Debug for Function<A, O> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Function").finish_non_exhaustive()
    }
}
