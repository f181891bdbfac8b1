//! What the tests of reports share.
#![allow(dead_code, reason = "each test uses a part")]

pub(crate) mod browser;
pub(crate) mod sample;
pub(crate) mod tags;
