//! Typed tools, and one way to call them.
//!
//! In comes a call of a model, out goes what the model gets. A [`ToolDef`] is a tool: a Rust type that is the validator,
//! the JSON Schema for the model, the parsed value and the documentation, and an async function over it. A [`Toolbox`]
//! holds tools and does the whole way in one [`Toolbox::invoke`]: open, run, close. This is the only part of the crate
//! that runs anything. It is at home in a Tokio runtime; elsewhere a call that takes longer than an instant costs a
//! thread that watches its time, and functions that block do not run.

mod agreement;
mod builder;
mod clock;
mod context;
mod convert;
mod definition;
mod function;
#[cfg(any(feature = "rig", feature = "rmcp"))]
mod guest;
mod progress;
mod retry;
mod run;
mod schema;
mod underway;
mod watch;

use std::borrow::Cow;
use std::future::{Future, pending};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::pin::pin;

use ahash::AHashMap;
use futures_util::FutureExt as _;
use futures_util::future::{Either, join_all, select};
use tokio::runtime::{Handle, RuntimeFlavor};
use tokio::sync::Semaphore;
use tokio::task::block_in_place;

pub use self::builder::ToolboxBuilder;
pub use self::context::CallContext;
pub use self::convert::{FromArguments, IntoOutput};
pub use self::definition::{ToolDef, ToolResult};
pub use self::schema::{input_schema, output_schema};

use self::context::Origin;
use self::run::Runner;
use self::underway::{Limit, Underway};
use crate::admit::{Place, Ticket};
use crate::call::Call;
use crate::check::{Ran, ToolFailure};
use crate::event::Sinks;
use crate::feedback::Feedback;
use crate::gate::Gate;
use crate::json::Value;
use crate::tool::ToolSpec;
use crate::verdict::Settled;
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
///     "Please rewrite the input with valid arguments. Errors: b: Required",
/// );
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct Toolbox {
    gate: Gate,
    runners: AHashMap<String, Runner>,
    /// Tools that somebody else runs, and how long they may take.
    #[cfg_attr(
        not(any(feature = "rig", feature = "rmcp")),
        expect(dead_code, reason = "only adapters have guests")
    )]
    guests: AHashMap<String, Limit>,
    feedback: Feedback,
    sinks: Sinks,
    /// What the policy says about tools that do not exist.
    warnings: Vec<String>,
    /// Whether events hold what tools answered.
    keeps_output: bool,
    /// How many calls may run at once, of all tools together.
    permits: Option<Semaphore>,
}

impl Toolbox {
    /// Starts a toolbox with no tools.
    pub fn builder() -> ToolboxBuilder {
        ToolboxBuilder::default()
    }

    /// Judges a call, runs it if it may run, and judges what came of it. A call without a place belongs to no
    /// conversation and is not counted. If this is dropped before it ends, the call counts as cancelled.
    pub async fn invoke<'c>(
        &'c self,
        call: &'c Call<'_>,
        place: impl Into<Option<Place<'c>>>,
    ) -> Settled<'c> {
        self.invoke_until(call, place, pending()).await
    }

    /// The same, until `cancelled` is ready: a call that is under way by then is dropped and answered as cancelled, and
    /// none begins.
    pub async fn invoke_until<'c>(
        &'c self,
        call: &'c Call<'_>,
        place: impl Into<Option<Place<'c>>>,
        cancelled: impl Future<Output = ()>,
    ) -> Settled<'c> {
        let underway = match self.begin(call, place.into()) {
            Ok(underway) => underway,
            Err(refused) => return refused,
        };
        let ran = {
            let run = self.run(call, &underway);
            let running = pin!(underway.span().instrument(run));
            // Asked first, so that nothing is started that nobody waits for.
            match select(pin!(cancelled), running).await {
                Either::Left(_) => Ran::failed(underway.progress().cancelled()),
                Either::Right((ran, _)) => ran,
            }
        };
        underway.end(ran)
    }

    /// Invokes the calls of one answer of the model at once. There is one answer for each, in the same order, whatever
    /// becomes of the others.
    pub async fn invoke_all<'c>(
        &'c self,
        calls: &'c [Call<'_>],
        place: impl Into<Option<Place<'c>>>,
    ) -> Vec<Settled<'c>> {
        self.invoke_all_until(calls, place, pending()).await
    }

    /// The same, until `cancelled` is ready: calls that are under way by then are dropped and answered as cancelled, and
    /// none begins.
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

    /// Runs a call that may run.
    async fn run(&self, call: &Call<'_>, underway: &Underway<'_>) -> Ran<'static> {
        let ticket = underway.ticket();
        let Some(runner) = self.runners.get(ticket.tool().name()) else {
            let why = "the tool has no function; register it with `ToolboxBuilder::tool`";
            return Ran::failed(ToolFailure::defect(why));
        };
        let _permit = match &self.permits {
            // Nobody closes it, so it is always given.
            Some(permits) => permits.acquire().await.ok(),
            None => None,
        };
        let origin = Origin::new(ticket, call.id.as_ref());
        let policy = ticket.tool().output_policy();
        runner.run(origin, policy, underway.progress()).await
    }

    /// Judges what came of a call.
    fn close<'c>(&'c self, ticket: Ticket<'c>, ran: Ran<'c>) -> Settled<'c> {
        self.unblocked(|| self.gate.close(ticket, ran))
    }

    /// The gate in front of the tools.
    pub fn gate(&self) -> &Gate {
        &self.gate
    }

    /// How the model is told what went wrong.
    pub fn feedback(&self) -> &Feedback {
        &self.feedback
    }

    /// Where events go, and how many were dropped.
    pub fn sinks(&self) -> &Sinks {
        &self.sinks
    }

    /// What the model gets of a call that was invoked: see [`Settled::text`].
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

    /// What is worth a look, one sentence each: schemas that could not be compiled, so that calls or results pass
    /// unvalidated, and settings for tools that do not exist.
    pub fn warnings(&self) -> Vec<String> {
        let mut warnings = self.warnings.clone();
        for tool in self.gate.tools() {
            let name = tool.name();
            let of_input = tool
                .quarantined()
                .map(|why| format!("tool `{name}`: its calls pass unvalidated: {why}"));
            let of_output = tool
                .output_quarantined()
                .map(|why| format!("tool `{name}`: its results pass unvalidated: {why}"));
            warnings.extend(of_input.into_iter().chain(of_output));
        }
        warnings.sort();
        warnings
    }

    /// What the model is told about the tools, by name.
    pub fn specs(&self) -> Vec<&ToolSpec> {
        let mut specs: Vec<&ToolSpec> = self.gate.tools().map(crate::tool::Tool::spec).collect();
        specs.sort_by(|left, right| left.name.cmp(&right.name));
        specs
    }

    /// Asks the gate where that may wait for a server: other tasks of this thread go elsewhere meanwhile, if they can.
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
            // In a `LocalSet` Tokio panics instead, before anything was asked. Then its tasks wait.
            (None, Some(ask), _) => ask(),
            (None, None, panic) => resume_unwind(panic.unwrap_or_else(|| Box::new(()))),
        }
    }
}
