//! Replays a file with the library.
#![allow(clippy::expect_used, reason = "tests and the bench may panic")]

use std::num::NonZero;
use std::path::Path;
use std::sync::atomic::AtomicBool;

use callwright::ToolSpec;
use callwright_replay::run::{ReplaySettings, Run};
use callwright_replay::source::find;
use callwright_replay::summary::Summary;

/// Replays a log with this many workers, or one per core if `None`.
pub(crate) fn replay(tools: Vec<ToolSpec>, log: &Path, workers: Option<NonZero<usize>>) -> Summary {
    let settings = ReplaySettings {
        tools: Some(tools.into()),
        workers,
        ..ReplaySettings::default()
    };
    let inputs = find(&[log.to_string_lossy()]).expect("the log is there");
    let mut run = Run::new(inputs, settings).expect("the tools can be used");
    let stop = AtomicBool::new(false);
    while !run.leg(&stop).expect("no worker dies") {}
    run.finish()
}
