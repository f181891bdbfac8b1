//! The requests of one HTTP request, from their coming to their last answer, or to nobody waiting any more.

use std::sync::Arc;

use super::session::{Session, answers};

/// Requests under way.
#[derive(Debug)]
pub(crate) struct Exchange {
    pub(crate) session: Arc<Session>,
    ids: Vec<String>,
    /// Whether an answer may still come on another stream.
    goes_on: bool,
}

impl Exchange {
    pub(crate) fn new(session: Arc<Session>, ids: Vec<String>) -> Self {
        Exchange {
            session,
            ids,
            goes_on: false,
        }
    }

    /// Requests that have no answer yet.
    pub(crate) fn open(&self) -> &[String] {
        &self.ids
    }

    /// A message has gone to the client.
    pub(crate) fn sent(&mut self, message: &[u8]) {
        if self.ids.is_empty() {
            return;
        }
        for id in answers(message) {
            if let Some(at) = self.ids.iter().position(|open| *open == id) {
                self.session.answered(&self.ids.swap_remove(at));
            }
        }
    }

    /// The client can ask for the rest on another stream.
    pub(crate) fn can_go_on(&mut self) {
        self.goes_on = true;
    }

    pub(crate) fn goes_on(&self) -> bool {
        self.goes_on
    }
}

impl Drop for Exchange {
    fn drop(&mut self) {
        for id in &self.ids {
            if self.goes_on {
                self.session.answered(id);
            } else {
                self.session.abandoned(id);
            }
        }
    }
}
