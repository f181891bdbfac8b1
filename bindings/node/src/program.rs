//! The command line: the same function that the program is made of.

use std::ffi::OsString;

use napi_derive::napi;

/// Runs the program with these arguments, the first of which is its own name, and returns its exit code. It takes the
/// thread until it ends: only `bin/callwright.js` calls it, which does nothing else.
#[napi(catch_unwind)]
pub fn run_program(arguments: Vec<String>) -> u8 {
    callwright_cli::run(arguments.into_iter().map(OsString::from))
}
