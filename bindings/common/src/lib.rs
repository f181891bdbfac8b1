//! Shared by the bindings of all languages.
//!
//! Takes options and outcomes as plain data; returns verdicts as the contract's lines of JSON, and messages in a
//! provider's format. A [`Guard`] is a gate with its wording and its sinks; an [`OpenCall`] is a call that ends later,
//! after the tool has run in another language. Decides nothing: every decision is the gate's.

mod call;
mod guard;
mod names;
mod options;
mod outcome;
mod read;
mod sinks;

pub use call::{OpenCall, SettledCall};
pub use guard::Guard;
pub use names::{effect, next, provider, repair, style, values};
pub use options::{Options, Reply};
pub use outcome::{FailedOutcome, FindingOutcome, Objection};
pub use read::{Misfit, read};
pub use sinks::{JsonLinesFile, event_text};

/// Why a guard cannot be built, in a sentence for the operator.
pub type Fault = String;
