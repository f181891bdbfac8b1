//! The addon: callwright's gate as Node functions and classes.
//!
//! Takes and returns text: tools, options, calls and outcomes as JSON, verdicts as the contract's lines. The JavaScript
//! in `lib/` turns them into objects; it is the only caller. Decides nothing itself.
//!
//! Every function catches panics and throws them as errors. Anything that waits for a server or a disk runs on Node's
//! thread pool and returns a promise, so the event loop is never blocked for longer than it takes to judge one call.

mod answer;
mod call;
mod events;
mod gate;
mod program;
mod replay;
mod text;

use callwright_bindings::Misfit;
use napi::{Error, Status};

/// An error that JavaScript throws.
fn thrown(why: impl std::fmt::Display) -> Error {
    Error::new(Status::GenericFailure, why.to_string())
}

/// The same about an option, under the name that it has in JavaScript.
fn in_camel_case(misfit: Misfit) -> Error {
    let mut name = String::new();
    for part in misfit.member.split('_') {
        let upper = usize::from(!name.is_empty()).min(part.len());
        name.push_str(&part[..upper].to_ascii_uppercase());
        name.push_str(&part[upper..]);
    }
    thrown(Misfit {
        member: name,
        ..misfit
    })
}
