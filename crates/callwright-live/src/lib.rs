//! Live figures of a running guard: metrics for Prometheus, figures as JSON, and a status page.
//!
//! A guard reports every call it judges to [`Live`], or sends its events to a [sink](Live::sink). [`OperatorPages`]
//! serves these paths to operators:
//!
//! | path | what |
//! |---|---|
//! | (empty) | a page for people: calls by verdict over time, by tool and model, top edits, top refusals with an example |
//! | `stats` | the same figures as JSON |
//! | `metrics` | counters in the text format of Prometheus |
//! | `health`, `ready` | whether the process is alive, and whether it accepts requests |
//!
//! Everything is bounded in number and size, whatever names clients choose. Values that a schema marks as secret are
//! masked. Nothing is sent anywhere, and the page loads nothing from other hosts.

mod figures;
mod metrics;
mod operator_pages;

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use callwright::check::OutputVerdict;
use callwright::event::{Event, Sink, callback};
use callwright::failure::Failure;
use callwright::feedback::Feedback;
use parking_lot::Mutex;
use serde::Serialize;

use self::figures::Figures;
use self::metrics::Metrics;
pub use self::metrics::{Counter, Timer};
pub use self::operator_pages::OperatorPages;

/// How many bytes of a name chosen by clients are kept: providers allow 64 for a tool.
const LONGEST_NAME: usize = 128;

const PAGE: &str = include_str!("page.html");

/// What a guard protects.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Guards {
    /// The API of a model: the guard sees answers, and never the results of tools.
    Api,
    /// Tools: the guard sees calls and results, and never an answer.
    Tools,
}

/// What has happened so far.
#[derive(Debug)]
pub struct Live {
    metrics: Metrics,
    figures: Mutex<Figures>,
    feedback: Feedback,
}

/// A page: its content type and its text.
#[derive(Debug)]
pub struct Page {
    /// Its `Content-Type`.
    pub content_type: &'static str,
    /// Its text.
    pub text: String,
}

impl Live {
    /// Creates empty figures. `guarded` is shown on the page as what is guarded: a URL or a command.
    pub fn new(guards: Guards, guarded: impl Into<String>) -> Self {
        Live {
            metrics: Metrics::default(),
            figures: Mutex::new(Figures::new(guards, guarded.into(), SystemTime::now())),
            feedback: Feedback::default(),
        }
    }

    /// Shows this feedback's texts for the model.
    #[must_use]
    pub fn with_feedback(mut self, feedback: Feedback) -> Self {
        self.feedback = feedback;
        self
    }

    /// Adds one.
    pub fn count(&self, counter: Counter, labels: &[&str]) {
        self.add(counter, labels, 1);
    }

    /// Adds several.
    pub fn add(&self, counter: Counter, labels: &[&str], number: u64) {
        self.metrics.add(counter, labels, number);
        self.figures.lock().count(counter, labels, number);
    }

    /// Records how long something took.
    pub fn time(&self, timer: Timer, took: Duration) {
        self.metrics.time(timer, took);
        if timer == Timer::Hold {
            self.figures.lock().held(took);
        }
    }

    /// Counts a judged call: `api` is the API it came through, `model` the model that wrote it, if known.
    pub fn judged(&self, event: &Event, api: &str, model: &str) {
        let verdict = event.verdict.name();
        let labels = [api, verdict, &event.tool, model];
        self.metrics.add(Counter::Calls, &labels, 1);
        for edit in &event.edits {
            self.metrics
                .add(Counter::Edits, &[edit.rule, edit.grade.name()], 1);
        }
        let failures = self.failures(event);
        for (failure, _) in &failures {
            self.metrics
                .add(Counter::Failures, &[failure.code.name()], 1);
        }
        if let Some(notation) = event.rescued {
            self.metrics.add(Counter::Rescued, &[notation.name()], 1);
        }
        self.metrics.time(Timer::Gate, event.gate_time);
        self.figures.lock().judged(event, model, failures);
    }

    /// What was wrong with a call or its result, each with the feedback for the model.
    fn failures<'e>(&self, event: &'e Event) -> Vec<(&'e Failure, Option<String>)> {
        let result_is_told = event.output_verdict != Some(OutputVerdict::Warned);
        let failures = [
            (&event.failure, true),
            (&event.warning, false),
            (&event.output_failure, result_is_told),
        ];
        let failures = failures.into_iter().filter_map(|(failure, is_told)| {
            let failure = failure.as_ref()?;
            Some((failure, is_told.then(|| self.feedback.render(failure))))
        });
        failures.collect()
    }

    /// A sink that counts calls, for guards that send events.
    pub fn sink(self: &Arc<Self>, api: &'static str) -> impl Sink + use<> {
        let live = Arc::clone(self);
        callback(move |event: &Event| live.judged(event, api, ""))
    }

    /// The page at a path; `None` if there is none. `dropped` is how many events could not be recorded.
    pub fn page(&self, path: &str, dropped: u64) -> Option<Page> {
        let (content_type, text) = match path {
            "" => ("text/html; charset=utf-8", PAGE.to_owned()),
            "stats" => (
                "application/json",
                self.figures.lock().json(SystemTime::now()),
            ),
            "metrics" => (
                "text/plain; version=0.0.4; charset=utf-8",
                self.metrics.text(dropped),
            ),
            _ => return None,
        };
        Some(Page { content_type, text })
    }
}
