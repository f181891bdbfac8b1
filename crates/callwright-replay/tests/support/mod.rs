//! Shared by the tests of reports.
#![allow(
    dead_code,
    clippy::print_stderr,
    reason = "each test uses a part, and says when it is skipped"
)]

pub(crate) mod browser;
pub(crate) mod sample;
pub(crate) mod tags;
