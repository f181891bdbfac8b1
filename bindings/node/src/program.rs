//! The command line: the same function as in the program.

use std::ffi::OsString;

use napi_derive::napi;

/// Runs the program with these arguments, the first of which is its own name, and returns its exit code. It blocks the
/// thread until it ends: only `bin/callwright.js` calls it, which does nothing else.
#[napi(catch_unwind)]
pub fn run_program(arguments: Vec<String>) -> u8 {
    callwright_cli::run(arguments.into_iter().map(OsString::from))
}
