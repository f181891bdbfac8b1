//! A guard between language models and their tools.
//!
//! A model calls a tool with wrong arguments; without a guard it gets a stack trace and calls again,
//! the same way. [`Gate`] judges every call against the tool's own JSON Schema and answers a bad one
//! with an instruction that the model can act on: which argument, what was expected, what came.
//!
//! ```
//! # #[cfg(feature = "toolbox")]
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), callwright::Error> {
//! use callwright::toolbox::{ToolDef, ToolResult, Toolbox};
//! use callwright::{Call, admit::Place};
//! use schemars::JsonSchema;
//! use serde::Deserialize;
//!
//! /// Adds two whole numbers.
//! #[derive(Deserialize, JsonSchema)]
//! struct Add { a: i64, b: i64 }
//!
//! let add = ToolDef::new("add", |args: Add| async move { ToolResult::Ok(args.a + args.b) });
//! let toolbox = Toolbox::builder().tool(add).build()?;
//! let call = Call::from_text("add", r#"{"a": 2}"#);
//! let settled = toolbox.invoke(&call, Place::new("chat-1", 0, 0)).await;
//! assert_eq!(
//!     settled.text(toolbox.feedback()),
//!     "Please rewrite the input with valid arguments. Errors: b: Required",
//! );
//! # Ok(())
//! # }
//! # #[cfg(not(feature = "toolbox"))]
//! # fn main() {}
//! ```
//!
//! [`toolbox`] runs typed tools; the [`Gate`] alone runs nothing, for programs that run their tools elsewhere. The
//! stages are the modules, in the order in which a call passes them:
//!
//! 1. [`wire`]: provider shapes → [`Call`], and what became of it → provider shapes
//! 2. [`parse`]: text → JSON that keeps its digits, and knows where a text was cut off
//! 3. [`repair`]: a refused call → one that the judge accepts, with every edit on record
//! 4. [`validate`]: the only judge; every issue as data
//! 5. [`admit`]: may it run now? Retry budgets, loops, a ladder that ends with the user
//! 6. [`toolbox`]: the tool runs, in its time
//! 7. [`check`]: is the result good? Its schema, pages, errors in disguise, the operator's own checks
//! 8. [`classify`]: any refusal → a failure with a code out of one table
//! 9. [`feedback`]: failures → words for the model
//! 10. [`event`]: one record per call, to any number of sinks
//!
//! Before them, only where somebody asks: [`rescue`] takes calls out of a message in which a model wrote them
//! as text. [`policy`] holds the settings, [`tool`] reads tool declarations, [`json`] is the tree that all stages
//! share.
//!
//! # Features
//!
//! | feature | |
//! |---|---|
//! | `toolbox` (default) | typed tools and [`Toolbox`](toolbox::Toolbox); needs Tokio where a tool waits |
//! | `policy` | reads settings from a TOML file |
//! | `cel` | checks of results as CEL expressions in that file |
//! | `redis` | sessions shared between replicas |
//! | `tracing` | a span for each call, with the names of OpenTelemetry |
//! | `rig`, `rmcp` | guards for the tools of these crates |
//!
//! Without `toolbox` and `redis` the crate does no IO, and only sinks of events have threads.

#[cfg(any(feature = "rig", feature = "rmcp"))]
pub mod adapters;
pub mod admit;
pub mod call;
pub mod check;
pub mod classify;
pub mod event;
pub mod feedback;
pub mod json;
pub mod parse;
pub mod policy;
pub mod repair;
pub mod rescue;
pub mod secrecy;
pub mod tool;
#[cfg(feature = "toolbox")]
pub mod toolbox;
pub mod validate;
pub mod wire;

mod error;
mod gate;
mod nearest;
mod panics;
mod pipeline;
mod text;
mod unknown_tool;
mod verdict;

pub use call::Call;
pub use error::Error;
pub use gate::{Gate, GateBuilder};
pub use policy::Policy;
// For the sibling crates, so that there is one table of what is escaped.
#[doc(hidden)]
pub use text::{is_invisible, visible};
pub use tool::ToolSpec;
pub use verdict::{Opened, Repaired, Settled, Verdict, VerdictLine};

/// The README's program is compiled and run with the tests.
#[cfg(all(doctest, feature = "toolbox"))]
#[doc = include_str!("../../../README.md")]
struct Readme;
