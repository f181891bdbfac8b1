//! Looks for the tools that a log shows, before anything is judged.

use std::sync::atomic::{AtomicBool, Ordering};

use memchr::memmem::Finder;

use super::tools::FromLog;
use crate::read::{Place, Reader, Reading};
use crate::seen::Seen;
use crate::source::{Input, Item, Pieces};

/// A record without one of these declares no tool.
const SIGNS: [&str; 4] = [
    "tools\"",
    "functions\"",
    "functionDeclarations",
    "tool.definitions",
];

/// Takes note of all tools in these inputs, until `stop` is set. What cannot be read is left for the second pass to tell.
pub(super) fn learn(log: &FromLog, inputs: Vec<Input>, stop: Option<&AtomicBool>) {
    let finders = SIGNS.map(Finder::new);
    let mut reader = Reader::new();
    for item in Pieces::new(inputs) {
        if stop.is_some_and(|stop| stop.load(Ordering::Relaxed)) {
            return;
        }
        let Item::Piece(piece) = item else {
            continue;
        };
        if !finders.iter().any(|it| it.find(piece.bytes()).is_some()) {
            continue;
        }
        let mut reading = Reading::default();
        for record in piece.records() {
            let Ok(text) = record.text else {
                continue;
            };
            if !finders.iter().any(|it| it.find(text.as_bytes()).is_some()) {
                continue;
            }
            let (file, line) = (piece.file(), record.line);
            reader.read(text, Place { file, line }, &mut reading);
            for seen in reading.seen.drain(..) {
                if let Seen::Tools(tools) = seen {
                    log.learn(&tools);
                }
            }
        }
    }
}
