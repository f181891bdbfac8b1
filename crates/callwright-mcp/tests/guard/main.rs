//! The guard of a session, tested by its input and output.
#![expect(clippy::unwrap_used, reason = "tests")]

mod bounds;
mod calls;
mod consent;
mod lists;
mod modes;
mod passing;
mod present;
#[path = "../../../callwright/tests/present_cases/mod.rs"]
mod present_cases;
mod properties;
mod results;
mod sides;
mod transcript;
mod unseen;
