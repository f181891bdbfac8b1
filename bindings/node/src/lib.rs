//! The addon: the gate of `callwright` as functions and classes of Node.
//!
//! Texts come in and go out: tools, options, calls and outcomes as JSON, verdicts as the lines of the contract. The JavaScript in
//! `lib/` makes objects of them; it is the only caller. Nothing is decided here.
//!
//! Every function catches panics and throws them as errors. What waits for a server or a disk runs on Node's pool of
//! threads and returns a promise, so the event loop is never held up by more than the judging of one call.

mod answer;
mod call;
mod events;
mod gate;
mod program;
mod replay;
mod text;

use napi::{Error, Status};

/// An error that JavaScript throws.
fn thrown(why: impl std::fmt::Display) -> Error {
    Error::new(Status::GenericFailure, why.to_string())
}
