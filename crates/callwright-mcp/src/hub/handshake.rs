//! The client's handshake, repeated for a restarted server.
//!
//! Takes every line of the client; keeps its `initialize` and `notifications/initialized`. The server's answer to the
//! repetition is for us, and never reaches the client.

use std::io::Read;

use callwright::internal::{Replacements, span_in};
use memchr::memmem::Finder;
use parking_lot::Mutex;

use crate::line_reader::LineReader;
use crate::line_writer::{LineEnd, LineWriter};
use crate::message::Message;

/// The id of our own `initialize`.
const RESTART_ID: &str = "\"callwright-restart\"";

/// See the module documentation.
pub(super) struct Handshake {
    heard: Mutex<Heard>,
    /// Finds lines that may belong to it, before anything is parsed.
    names: [Finder<'static>; 2],
}

impl Default for Handshake {
    fn default() -> Self {
        Handshake {
            heard: Mutex::default(),
            names: ["initialize", "server/discover"].map(Finder::new),
        }
    }
}

#[derive(Default)]
struct Heard {
    /// The client's `initialize`, which protocols since 2026-07-28 do not have.
    initialize: Option<Vec<u8>>,
    initialized: Option<Vec<u8>>,
    is_done: bool,
}

impl Handshake {
    /// Looks at a line from the client.
    pub(super) fn note(&self, line: &[u8]) {
        if !self.names.iter().any(|name| name.find(line).is_some()) {
            return;
        }
        let mut heard = self.heard.lock();
        match Message::read(line) {
            Message::Request { method, .. } if method == "initialize" => {
                heard.initialize = Some(line.to_vec());
                heard.is_done = false;
            }
            Message::Request { method, .. } if method == "server/discover" => {
                heard.is_done = true;
            }
            Message::Notification { method, .. } if method == "notifications/initialized" => {
                heard.initialized = Some(line.to_vec());
                heard.is_done = true;
            }
            _ => {}
        }
    }

    /// Whether the session has begun.
    pub(super) fn is_done(&self) -> bool {
        self.heard.lock().is_done
    }

    /// Repeats it for a restarted server; `None` if the server does not answer it.
    pub(super) fn repeat<R: Read>(
        &self,
        stdin: &LineWriter,
        mut stdout: LineReader<R>,
    ) -> Option<LineReader<R>> {
        let (initialize, initialized) = {
            let heard = self.heard.lock();
            (heard.initialize.clone(), heard.initialized.clone())
        };
        let (Some(initialize), Some(initialized)) = (initialize, initialized) else {
            return Some(stdout);
        };
        let Message::Request { id, .. } = Message::read(&initialize) else {
            return None;
        };
        let id = (span_in(&initialize, id.0), RESTART_ID.to_owned());
        let ours = Replacements::from_iter([id]).in_bytes(&initialize);
        stdin.send(&ours, LineEnd::Add).ok()?;
        while stdout.advance().ok()? {
            if matches!(Message::read(stdout.line()), Message::Response { id, result: Some(_), .. } if id.0 == RESTART_ID)
            {
                stdin.send(&initialized, LineEnd::Add).ok()?;
                return Some(stdout);
            }
        }
        None
    }
}
