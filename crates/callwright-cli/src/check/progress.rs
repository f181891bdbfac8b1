//! A progress bar on stderr, for long inputs and people only.

use std::io::{self, IsTerminal};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};

/// Inputs below this are judged before a bar could be read.
const LONG_INPUT: u64 = 16 * 1024 * 1024;

pub(super) struct Progress(Option<ProgressBar>);

impl Progress {
    /// A bar if stderr is a terminal, the input is long or of unknown length, and the verdicts do not
    /// go to the same terminal.
    pub(super) fn new(size: Option<u64>, verdicts_on_terminal: bool) -> Self {
        let worth_it = size.is_none_or(|size| size >= LONG_INPUT);
        if !worth_it || verdicts_on_terminal || !io::stderr().is_terminal() {
            return Progress(None);
        }
        let (bar, template) = match size {
            Some(size) => (
                ProgressBar::new(size),
                "{bar:30} {bytes} of {total_bytes}, {bytes_per_sec}, {eta} left",
            ),
            None => (
                ProgressBar::no_length(),
                "{spinner} {bytes} read, {bytes_per_sec}",
            ),
        };
        if let Ok(style) = ProgressStyle::with_template(template) {
            bar.set_style(style);
        }
        bar.enable_steady_tick(Duration::from_millis(200));
        Progress(Some(bar))
    }

    pub(super) fn advance(&self, bytes: usize) {
        if let Some(bar) = &self.0 {
            bar.inc(bytes as u64);
        }
    }

    pub(super) fn finish(&self) {
        if let Some(bar) = &self.0 {
            bar.finish_and_clear();
        }
    }
}
