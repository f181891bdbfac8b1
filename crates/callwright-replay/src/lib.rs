//! Runs the guard offline over recorded traffic.
//!
//! Most violations are bugs that the guard exists for; some are legitimate edge cases that the schema forbids. A replay
//! finds both, tells them apart with evidence that a person can follow, and proposes the smallest loosening for the
//! second kind. Data flows one way:
//!
//! 1. [`source`]: files, folders, compressed or not → records, each with its place
//! 2. [`read`]: a record in any known format → what it shows: tools, calls, results ([`seen`])
//! 3. [`judge`]: a call or a result → what the gate says of it, as facts
//! 4. `conversation`: calls and results in their order → what a call led to, and what the guard would have stopped
//! 5. [`summary`]: all of it in numbers that merge, in whatever parts they were counted
//! 6. [`decide`]: a cluster of violations → bug, edge case or unclear, with the reasons
//! 7. [`propose`]: edge cases → the smallest change of the schema, with its effect and a proof
//! 8. [`report`]: all of it for people and programs
//!
//! [`run`] puts the first five together on all cores: [`run::Run`] for files, [`run::replay_records`] for records that the
//! caller has.

mod conversation;
pub mod decide;
pub mod judge;
mod number;
pub mod propose;
pub mod read;
pub mod report;
pub mod run;
mod schema;
pub mod seen;
pub mod source;
pub mod summary;

/// The code in the guide.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/replay-parts.md")]
struct GuideToParts;
