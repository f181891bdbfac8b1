//! The event records of the calls of one answer.
//!
//! Takes one record per call, and passes them on to the sinks. The last one waits until another call is judged or the
//! answer ends: what is mended around a call is only known when the client gets it.

use callwright::event::{Event, Sinks};
use callwright::wire::EnvelopeDefect;

/// Collects the records of one answer and passes them on.
#[derive(Debug)]
pub(crate) struct AnswerRecord {
    sinks: Sinks,
    last: Option<Box<Event>>,
    /// Defects mended that are not in any record yet.
    mended: Vec<&'static str>,
}

impl AnswerRecord {
    pub(crate) fn new(sinks: Sinks) -> Self {
        AnswerRecord {
            sinks,
            last: None,
            mended: Vec::new(),
        }
    }

    /// Adds the record of a call.
    pub(crate) fn add(&mut self, event: Event) {
        self.finish();
        self.last = Some(Box::new(event));
    }

    /// Notes a defect mended around the calls.
    pub(crate) fn mended(&mut self, defect: EnvelopeDefect) {
        let name = defect.name();
        if !self.mended.contains(&name) {
            self.mended.push(name);
        }
    }

    /// Passes on what is waiting: nothing more will be mended.
    pub(crate) fn finish(&mut self) {
        if let Some(mut event) = self.last.take() {
            event.mended = std::mem::take(&mut self.mended);
            self.sinks.send(*event);
        }
    }
}

impl Drop for AnswerRecord {
    fn drop(&mut self) {
        self.finish();
    }
}
