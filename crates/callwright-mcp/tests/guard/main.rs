//! The guard of a session, by what goes in and what comes out.
#![expect(clippy::unwrap_used, reason = "tests")]

mod calls;
mod consent;
mod lists;
mod modes;
mod passing;
mod properties;
mod results;
mod sides;
mod transcript;
mod unseen;
