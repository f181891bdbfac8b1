//! Runs the guard offline over recorded traffic.
//!
//! Most violations are bugs that the guard exists for; some are legitimate edge cases that the schema forbids. A
//! replay finds both, tells them apart with evidence that a person can follow, and proposes the smallest loosening
//! for the edge cases. Data flows one way:
//!
//! 1. [`source`]: files, folders, compressed or not → records, each with its place
//! 2. [`read`]: a record in any known format → its tools, calls and results ([`seen`])
//! 3. [`judge`]: a call or a result → the gate's verdict, as facts
//! 4. `conversation`: calls and results in order → what a call led to, and what the guard would have stopped
//! 5. [`summary`]: everything in numbers that merge, however the log was divided
//! 6. [`decide`]: a cluster of violations → bug, edge case or unclear, with the reasons
//! 7. [`propose`]: edge cases → the smallest schema change, with its effect and a proof
//! 8. [`report`]: everything, for people and programs
//!
//! [`run`] combines the first five on all cores: [`run::Run`] for files, [`run::replay_records`] for records that the
//! caller provides.

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
