//! Typed tools, and one way to call them.
//!
//! Takes a model's call; returns what the model gets. A [`ToolDef`] is a tool: an async function over a Rust type that serves
//! as the validator, the JSON Schema for the model, the parsed value and the documentation. A [`Toolbox`] holds tools; its
//! [`Toolbox::invoke`] opens the gate, runs the tool and closes the gate. Tools that another framework runs go through
//! [`Toolbox::begin`] instead.
//!
//! This is the only part of the crate that runs anything. It is made for a Tokio runtime; elsewhere, a call that does not
//! finish at once needs a thread for its time limit.

mod agreement;
mod builder;
mod clock;
mod context;
mod convert;
mod definition;
mod function;
mod invocation;
mod run;
mod schema;

use std::borrow::Cow;
use std::future::{Future, pending};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::pin::pin;
use std::time::Duration;

use ahash::AHashMap;
use futures_util::FutureExt as _;
use futures_util::future::{Either, join_all, select};
use tokio::runtime::{Handle, RuntimeFlavor};
use tokio::task::block_in_place;

pub use self::builder::{GuardSettings, ToolboxBuilder};
pub use self::context::CallContext;
pub use self::convert::{FromArguments, IntoOutput};
pub use self::definition::{ToolDef, ToolResult};
pub use self::invocation::Invocation;
pub use self::schema::{input_schema, output_schema};

use self::context::Origin;
use self::run::Runner;
use crate::call::Call;
use crate::event::Sinks;
use crate::feedback::Feedback;
use crate::gate::Gate;
use crate::json::Value;
use crate::verdict::Settled;
use crate::vocabulary::{Place, Ran, ToolFailure, ToolSpec};
use crate::wire::{self, Provider};

/// Tools that are ready to be called, behind a gate.
///
/// ```
/// use callwright::admit::Place;
/// use callwright::toolbox::{ToolDef, Toolbox, ToolResult};
/// use callwright::Call;
/// use schemars::JsonSchema;
/// use serde::Deserialize;
///
/// /// Adds two whole numbers.
/// #[derive(Deserialize, JsonSchema)]
/// struct Add { a: i64, b: i64 }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), callwright::Error> {
/// let toolbox = Toolbox::builder()
///     .tool(ToolDef::new("add", |args: Add| async move { ToolResult::Ok(args.a + args.b) }))
///     .build()?;
///
/// let good = Call::from_text("add", r#"{"a": 2, "b": "3"}"#);
/// let settled = toolbox.invoke(&good, Place::new("chat-1", 0, 0)).await;
/// assert_eq!(settled.text(toolbox.feedback()), "5"); // "3" was repaired to 3
///
/// let bad = Call::from_text("add", r#"{"a": 2}"#);
/// let settled = toolbox.invoke(&bad, Place::new("chat-1", 0, 1)).await;
/// assert_eq!(
///     settled.text(toolbox.feedback()),
///     "Please rewrite the input with valid arguments. Errors: b: Required (integer)",
/// );
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct Toolbox {
    gate: Gate,
    runners: AHashMap<String, Runner>,
    /// Tools that run elsewhere, with their time limits.
    external: AHashMap<String, Option<Duration>>,
    feedback: Feedback,
    sinks: Sinks,
    /// Warnings about settings for tools that do not exist.
    warnings: Vec<String>,
    /// Whether events include the tools' results.
    keeps_output: bool,
}

impl Toolbox {
    /// Starts a toolbox with no tools.
    pub fn builder() -> ToolboxBuilder {
        ToolboxBuilder::default()
    }

    /// Judges a call, runs it if it may run, and judges its result. A call without a place belongs to no conversation and is
    /// not counted. If the future is dropped before it finishes, the call counts as cancelled.
    pub async fn invoke<'c>(
        &'c self,
        call: &'c Call<'_>,
        place: impl Into<Option<Place<'c>>>,
    ) -> Settled<'c> {
        self.invoke_until(call, place, pending()).await
    }

    /// The same, until `cancelled` is ready: a running call is then dropped and answered as cancelled, and no new call starts.
    pub async fn invoke_until<'c>(
        &'c self,
        call: &'c Call<'_>,
        place: impl Into<Option<Place<'c>>>,
        cancelled: impl Future<Output = ()>,
    ) -> Settled<'c> {
        let invocation = match self.begin(call, place) {
            Ok(invocation) => invocation,
            Err(refused) => return refused,
        };
        let ran = {
            let run = self.run(call, &invocation);
            let running = pin!(invocation.span().instrument(run));
            // `cancelled` is polled first, so that a cancelled call never starts.
            match select(pin!(cancelled), running).await {
                Either::Left(_) => Ran::failed(invocation.cancelled()),
                Either::Right((ran, _)) => ran,
            }
        };
        invocation.end(ran)
    }

    /// Invokes the calls of one model answer concurrently. Each has its own result, in the same order, whatever happens to
    /// the others.
    pub async fn invoke_all<'c>(
        &'c self,
        calls: &'c [Call<'_>],
        place: impl Into<Option<Place<'c>>>,
    ) -> Vec<Settled<'c>> {
        self.invoke_all_until(calls, place, pending()).await
    }

    /// The same, until `cancelled` is ready: see [`invoke_until`](Toolbox::invoke_until).
    pub async fn invoke_all_until<'c>(
        &'c self,
        calls: &'c [Call<'_>],
        place: impl Into<Option<Place<'c>>>,
        cancelled: impl Future<Output = ()>,
    ) -> Vec<Settled<'c>> {
        let place = place.into();
        let cancelled = cancelled.shared();
        let each = calls
            .iter()
            .map(|call| self.invoke_until(call, place, cancelled.clone()));
        join_all(each).await
    }

    /// Runs a call that has permission to run.
    async fn run(&self, call: &Call<'_>, invocation: &Invocation<'_>) -> Ran<'static> {
        let ticket = invocation.ticket();
        let Some(runner) = self.runners.get(ticket.tool().name()) else {
            let why = "the tool has no function; register it with `ToolboxBuilder::tool`";
            return Ran::failed(ToolFailure::defect(why));
        };
        let origin = Origin::new(ticket, call.id.as_ref());
        let policy = ticket.tool().output_policy();
        runner.run(origin, policy, invocation).await
    }

    /// The gate in front of the tools.
    pub fn gate(&self) -> &Gate {
        &self.gate
    }

    /// How failures are worded for the model.
    pub fn feedback(&self) -> &Feedback {
        &self.feedback
    }

    /// Where events go, and how many were dropped.
    pub fn sinks(&self) -> &Sinks {
        &self.sinks
    }

    /// What the model gets for a settled call: see [`Settled::text`].
    pub fn text<'s>(&self, settled: &'s Settled<'_>) -> Cow<'s, str> {
        settled.text(&self.feedback)
    }

    /// The messages that answer the calls of a round: see [`wire::render_round`].
    pub fn render<'v, 'a: 'v, 'b: 'v>(
        &self,
        provider: Provider,
        calls: &'v [Call<'a>],
        settled: &'v [Settled<'b>],
    ) -> Vec<Value<'v>> {
        wire::render_round(provider, calls.iter().zip(settled), &self.feedback)
    }

    /// Problems that deserve attention, one sentence each: schemas that could not be compiled, so that calls or results pass
    /// unvalidated, and settings for tools that do not exist.
    pub fn warnings(&self) -> Vec<String> {
        let mut warnings = self.warnings.clone();
        warnings.extend(self.gate.schema_warnings());
        warnings.sort();
        warnings
    }

    /// The declarations of the tools, sorted by name.
    pub fn specs(&self) -> Vec<&ToolSpec> {
        let mut specs: Vec<&ToolSpec> = self.gate.tools().map(crate::tool::Tool::spec).collect();
        specs.sort_by(|left, right| left.name.cmp(&right.name));
        specs
    }

    /// Asks the gate. If its ledger may block on a server, other tasks of this thread move to another one where possible.
    fn unblocked<R>(&self, ask: impl FnOnce() -> R) -> R {
        let elsewhere = self.gate.ledger().waits()
            && Handle::try_current()
                .is_ok_and(|handle| handle.runtime_flavor() == RuntimeFlavor::MultiThread);
        if !elsewhere {
            return ask();
        }
        let (mut ask, mut answer) = (Some(ask), None);
        let asked = || block_in_place(|| answer = ask.take().map(|ask| ask()));
        let refused = catch_unwind(AssertUnwindSafe(asked)).err();
        match (answer, ask, refused) {
            (Some(answer), ..) => answer,
            // In a `LocalSet` Tokio panics before the gate is asked. The other tasks wait then.
            (None, Some(ask), _) => ask(),
            (None, None, panic) => resume_unwind(panic.unwrap_or_else(|| Box::new(()))),
        }
    }
}
