//! A guard between language models and their tools.
//!
//! A model calls a tool with wrong arguments; without a guard it gets a stack trace and makes the same call again. [`Gate`]
//! judges every call against the tool's own JSON Schema: a valid call passes unchanged, a call that can be read in only one
//! way is repaired, and any other is answered with an instruction that the model can act on.
//!
//! # A first guarded call
//!
//! The gate needs no feature. It runs nothing and does no IO:
//!
//! ```
//! use callwright::{Call, Gate, ToolSpec, Verdict, feedback::Feedback};
//! use serde_json::json;
//!
//! let search = json!({"type": "object", "properties": {"limit": {"type": "integer"}}});
//! let gate = Gate::builder().tool(ToolSpec::new("search", search)).build()?;
//!
//! let answer = |arguments| match gate.judge(&Call::from_text("search", arguments)) {
//!     Verdict::Valid(valid) => format!("run with {}", valid.arguments()),
//!     Verdict::Repaired(repaired) => format!("run with {}", repaired.arguments()),
//!     Verdict::Refused(refused) => Feedback::default().render(&refused.failure),
//! };
//! assert_eq!(answer(r#"{"limit": "5"}"#), r#"run with {"limit":5}"#);
//! assert_eq!(
//!     answer(r#"{"limit": "many"}"#),
//!     "Please rewrite the input with valid arguments. Errors: limit: expected integer, received string \"many\"",
//! );
//! # Ok::<(), callwright::Error>(())
//! ```
//!
//! From there:
//!
//! - An agent that talks to a provider: [`wire`] reads its tools and calls, and renders what goes back.
//! - A conversation: [`Gate::open`] also counts calls and stops loops, [`Gate::close`] judges the result.
//! - Tools written in Rust: a [`Toolbox`](toolbox::Toolbox) does all of that in one call.
//!
//! # Typed tools
//!
//! With the feature `toolbox`, one Rust type is the schema that the model reads, the validator and the value:
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
//!     "Please rewrite the input with valid arguments. Errors: b: Required (integer)",
//! );
//! # Ok(())
//! # }
//! # #[cfg(not(feature = "toolbox"))]
//! # fn main() {}
//! ```
//!
//! # Features
//!
//! All features are off by default.
//!
//! | feature | |
//! |---|---|
//! | `toolbox` | typed tools and [`Toolbox`](toolbox::Toolbox); needs Tokio if a tool waits |
//! | `policy` | reads settings from a TOML file: [`Policy::from_toml`] |
//! | `cel` | result checks written as CEL expressions in that file; includes `policy` |
//! | `tracing` | a span for each call, named after the OpenTelemetry conventions: [`event::ToolSpan`] |
//!
//! The crate itself does no IO. Only event sinks start threads, and only `toolbox` runs anything. `callwright-redis` shares
//! sessions between replicas; `callwright-rig` and `callwright-rmcp` guard the tools of `rig` agents and `rmcp` servers.
//!
//! # The stages
//!
//! The modules are the stages, in the order in which a call passes through them:
//!
//! 1. [`wire`]: provider shapes → [`Call`], and its outcome → provider shapes
//! 2. [`parse`]: text → JSON that keeps every digit, and the place where a text was cut off
//! 3. [`repair`]: a refused call → one that validation accepts, with every edit on record
//! 4. [`validate`]: the only judge of arguments; every issue as data
//! 5. [`admit`]: may it run now? Retry budgets, loop detection, and escalation that ends with the user
//! 6. [`toolbox`]: runs the tool within its time limit
//! 7. [`check`]: is the result usable? Its schema, pages, errors in disguise, the operator's own checks
//! 8. [`feedback`]: failures → sentences for the model, and what the model gets for a settled call
//! 9. [`event`]: one record per call, to any number of sinks
//!
//! One optional stage comes before them: [`rescue`] extracts calls that a model wrote as plain text. [`policy`] holds the
//! settings, [`tool`] reads tool declarations, [`secrecy`] decides what may be shown of a call, [`json`] is the value tree
//! that all stages share.
//!
//! # Glossary
//!
//! One word for one idea, in all crates of the project.
//!
//! | word | |
//! |---|---|
//! | tool | a name, schemas and an effect: [`ToolSpec`] as declared, [`tool::Tool`] compiled |
//! | call | what a model asks for, as it arrived: [`Call`] |
//! | message | what a model said, as opposed to what it called: [`rescue::Message`] |
//! | issue | a fact about a value: path, code, expected, received: [`validate::Issue`] |
//! | edit | one repair, with its rule and its grade: [`repair::Edit`] |
//! | verdict | the gate's decision on a call: [`Verdict`], valid, repaired or refused; unjudged if there is no usable schema |
//! | failure | why something is refused or went wrong: a code, what to do next, the cause: [`failure::Failure`] |
//! | notice | a warning to the model that comes before a refusal: [`failure::Notice`] |
//! | place | where in a conversation a call is made: session, turn and round: [`admit::Place`] |
//! | ticket | permission to run one call, once: [`admit::Ticket`] |
//! | output | what a tool returned: [`check::Output`]; once judged, it is a result: [`check::Checked`] |
//! | settled | a call with its outcome: [`Settled`]; what the model gets for it is [`feedback::Presented`] |
//! | fingerprint | the identity of a call, equal for calls that count as the same: [`admit::Fingerprint`] |
//! | ledger | what admission remembers: [`admit::Ledger`] |
//! | policy | the operator's settings: [`Policy`] |
//! | event | the record of one call: [`event::Event`] |
#![cfg_attr(docsrs, feature(doc_cfg))]

pub mod admit;
pub mod check;
pub mod event;
pub mod feedback;
#[doc(hidden)]
pub mod internal;
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

mod gate;
mod verdict;
mod vocabulary;

pub use admit::Opened;
pub use gate::{Gate, GateBuilder};
pub use policy::Policy;
pub use verdict::{Refused, Repaired, Settled, Valid, Verdict};
pub use vocabulary::call::Call;
pub use vocabulary::error::Error;
pub use vocabulary::{ToolSpec, call, json};
pub(crate) use vocabulary::{error, nearest, panics, text};
pub use wire::VerdictLine;

/// Why a call was refused or failed, as data: the table of codes, and the parts of a failure.
pub mod failure {
    pub use crate::vocabulary::{
        Cause, Class, Code, CodeRow, Failure, Next, Notice, Objection, TABLE,
    };
}

/// Compiles and runs the example in the crate's README with the tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
