//! A progress bar on stderr, shown only on a terminal.

use std::io::{self, IsTerminal as _};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use callwright_replay::source;
use indicatif::{ProgressBar, ProgressStyle};

/// How often the bar is redrawn: often enough to look like it moves.
const DRAWN_EVERY: Duration = Duration::from_millis(200);

pub(crate) struct ProgressLine(Option<(Arc<AtomicBool>, JoinHandle<()>)>);

impl ProgressLine {
    /// No bar.
    pub(crate) fn none() -> Self {
        ProgressLine(None)
    }

    /// A bar over this many bytes, if stderr is a terminal. `speed` describes how much was done in so many seconds.
    pub(crate) fn new(
        total: Option<u64>,
        read: Arc<source::Progress>,
        speed: impl Fn(f64) -> String + Send + 'static,
    ) -> Self {
        if !io::stderr().is_terminal() {
            return ProgressLine::none();
        }
        let (bar, template) = match total {
            Some(total) => (
                ProgressBar::new(total),
                "{bar:30} {bytes} of {total_bytes}, {msg}, {eta} left",
            ),
            None => (ProgressBar::no_length(), "{spinner} {bytes} read, {msg}"),
        };
        if let Ok(style) = ProgressStyle::with_template(template) {
            bar.set_style(style);
        }
        let ended = Arc::new(AtomicBool::new(false));
        let end = Arc::clone(&ended);
        let drawing = thread::spawn(move || {
            let start = Instant::now();
            while !end.load(Ordering::Relaxed) {
                bar.set_position(read.bytes());
                bar.set_message(speed(start.elapsed().as_secs_f64()));
                thread::park_timeout(DRAWN_EVERY);
            }
            bar.finish_and_clear();
        });
        ProgressLine(Some((ended, drawing)))
    }

    /// Removes the bar.
    pub(crate) fn finish(self) {
        if let Some((ended, drawing)) = self.0 {
            ended.store(true, Ordering::Relaxed);
            drawing.thread().unpark();
            let _ = drawing.join();
        }
    }
}
