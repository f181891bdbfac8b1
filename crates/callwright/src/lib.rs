//! A guard between language models and their tools.
//!
//! A model calls a tool with wrong arguments; without a guard it gets a stack trace and calls again,
//! the same way. [`Gate`] judges every call against the tool's own JSON Schema and answers a bad one
//! with an instruction that the model can act on: which argument, what was expected, what came.
//!
//! The stages are the modules, in the order in which a call passes them:
//!
//! 1. [`wire`]: provider shapes → [`Call`], and verdicts → provider shapes
//! 2. [`parse`]: text → JSON that keeps its digits, and knows where a text was cut off
//! 3. [`validate`]: the only judge; every issue as data
//! 4. [`repair`]: a refused call → one that the judge accepts, with every edit on record
//! 5. [`admit`]: may it run now? Retry budgets, loops, a ladder that ends with the user
//! 6. [`check`]: is the result good? Its schema, pages, errors in disguise, the operator's own checks
//! 7. [`classify`]: any refusal → a failure with a code out of one table
//! 8. [`feedback`]: failures → words for the model
//! 9. [`event`]: one record per call, to any number of sinks
//!
//! Before them, only where somebody asks: [`rescue`] takes calls out of a message in which a model wrote them
//! as text.
//!
//! [`policy`] holds the settings, [`tool`] reads tool declarations, [`json`] is the tree that all stages share. The crate
//! does no IO
//! and runs no tool.

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
mod verdict;

pub use call::Call;
pub use error::Error;
pub use gate::{Gate, GateBuilder};
pub use policy::Policy;
pub use tool::ToolSpec;
pub use verdict::{Opened, Repaired, Settled, Verdict, VerdictLine};

/// The README's program is compiled and run with the tests.
#[cfg(all(doctest, feature = "toolbox"))]
#[doc = include_str!("../../../README.md")]
struct Readme;
