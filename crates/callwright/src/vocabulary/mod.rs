//! The data types that more than one stage needs, below all stages.
//!
//! This module never judges, decides or makes a sentence, and does not know the stages. The only logic is what every stage
//! needs in the same form: the JSON tree with its parser and writer ([`json`]), the escaping of foreign text ([`text`]), the
//! comparison of names ([`nearest`]), the debris that chat templates leave around calls ([`template`]), the signs of
//! transient failures ([`transient`]) and the replacement of values in a text ([`replacements`]).

pub mod call;
mod code;
mod edit;
mod effect;
pub(crate) mod envelope;
pub(crate) mod error;
mod failure;
mod identity;
mod issue;
pub mod json;
mod macros;
mod message;
pub(crate) mod nearest;
mod objection;
mod output;
mod output_fault;
mod output_policy;
pub(crate) mod panics;
pub(crate) mod place;
mod quoting;
pub(crate) mod replacements;
pub(crate) mod template;
pub(crate) mod text;
mod tool;
mod tool_failure;
pub(crate) mod transient;
mod work;

pub use call::ParseLimits;
pub use code::{Class, Code, CodeRow, Next, TABLE};
pub(crate) use edit::EditKind;
pub use edit::{Edit, Grade, Trial};
pub use effect::{DeclaredBy, Effect};
pub(crate) use effect::{JOINING, LOOKING, says_destroy, says_edit, says_run, says_spend};
pub use failure::{Cause, Cut, Failure};
pub use identity::{Digest, Fingerprint, Outcome, Success};
pub(crate) use identity::{TextHash, hash, recorded_hash};
pub(crate) use issue::ItemPlace;
pub use issue::{
    BranchChoice, BranchReason, Comparison, Correction, Expected, Issue, IssueCode, Received,
    ReceivedKeys, SchemaType, Unit,
};
pub(crate) use macros::{named, word_list};
pub(crate) use message::Shown;
pub use message::{Message, Notation};
pub use objection::{Notice, Objection, Reason, Reply};
pub use output::{Checked, Output, OutputVerdict, Ran};
pub use output_fault::{ErrorSign, Finding, FindingKind, MorePages, OutputFault};
pub use output_policy::{Detector, OutputCheck, OutputPolicy};
pub use place::{Moment, Place};
pub(crate) use quoting::swallows_member;
pub use tool::{ToolSpec, Validation};
pub use tool_failure::{FailureKind, ToolFailure};
pub(crate) use work::Work;
