//! A progress bar on stderr: bytes, calls per second, time left. For people only.

use std::io::{self, IsTerminal};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use callwright_replay::run::Run;
use indicatif::{ProgressBar, ProgressStyle};

/// How often the bar is drawn: often enough to be seen moving.
const DRAWN_EVERY: Duration = Duration::from_millis(200);

pub(super) struct Progress(Option<(Arc<AtomicBool>, JoinHandle<()>)>);

impl Progress {
    /// A bar, if stderr is a terminal.
    pub(super) fn new(run: &Run) -> Self {
        if !io::stderr().is_terminal() {
            return Progress(None);
        }
        let (read, calls) = (run.progress(), run.calls());
        let (bar, template) = match read.total_bytes() {
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
                #[expect(
                    clippy::cast_precision_loss,
                    reason = "a rate that is shown without fractions"
                )]
                let rate = calls.load(Ordering::Relaxed) as f64 / start.elapsed().as_secs_f64();
                bar.set_message(format!("{rate:.0} calls/s"));
                thread::park_timeout(DRAWN_EVERY);
            }
            bar.finish_and_clear();
        });
        Progress(Some((ended, drawing)))
    }

    /// Takes the bar away.
    pub(super) fn finish(self) {
        if let Some((ended, drawing)) = self.0 {
            ended.store(true, Ordering::Relaxed);
            drawing.thread().unpark();
            let _ = drawing.join();
        }
    }
}
