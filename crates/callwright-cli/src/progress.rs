//! A progress bar on stderr, for people only.

use std::io::{self, IsTerminal as _};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use callwright_replay::source;
use indicatif::{ProgressBar, ProgressStyle};

/// How often the bar is drawn: often enough to be seen moving.
const DRAWN_EVERY: Duration = Duration::from_millis(200);

pub(crate) struct Progress(Option<(Arc<AtomicBool>, JoinHandle<()>)>);

impl Progress {
    /// No bar.
    pub(crate) fn none() -> Self {
        Progress(None)
    }

    /// A bar over so many bytes, if stderr is a terminal. `speed` says in words how much was done in so many seconds.
    pub(crate) fn new(
        total: Option<u64>,
        read: Arc<source::Progress>,
        speed: impl Fn(f64) -> String + Send + 'static,
    ) -> Self {
        if !io::stderr().is_terminal() {
            return Progress::none();
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
        Progress(Some((ended, drawing)))
    }

    /// Takes the bar away.
    pub(crate) fn finish(self) {
        if let Some((ended, drawing)) = self.0 {
            ended.store(true, Ordering::Relaxed);
            drawing.thread().unpark();
            let _ = drawing.join();
        }
    }
}
