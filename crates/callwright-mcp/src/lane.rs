//! Messages to one side, in order, in as few writes as can be.
//!
//! In come messages of two threads: the one whose direction this is, which may wait for the reader, and the other one,
//! which must not. Out go lines. What is to be sent at once is written without a copy; what is followed by more is
//! collected first.

use std::collections::VecDeque;
use std::io::{self, ErrorKind, Write};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// How much is collected before it is written: what a pipe holds on Linux.
const COLLECTED: usize = 64 * 1024;

/// The way to one side.
pub(crate) struct Lane<W> {
    /// What must not overtake what comes after it, and whose sender does not wait.
    left: Mutex<VecDeque<Vec<u8>>>,
    out: Mutex<Out<W>>,
}

struct Out<W> {
    /// `None` once it is closed.
    writer: Option<W>,
    collected: Vec<u8>,
    /// Whether half a line was sent; whatever comes after it starts a line of its own.
    is_half: bool,
}

impl<W: Write> Lane<W> {
    pub(crate) fn new(writer: W) -> Self {
        Lane {
            left: Mutex::default(),
            out: Mutex::new(Out {
                writer: Some(writer),
                collected: Vec::new(),
                is_half: false,
            }),
        }
    }

    /// Sends a message, after those that were left. `more` says that another one is about to come, so this one may be
    /// collected.
    pub(crate) fn send(&self, message: &[u8], ends: LineEnd, more: bool) -> io::Result<()> {
        let mut out = lock(&self.out);
        self.collect_left(&mut out)?;
        out.send(message, ends, more)
    }

    /// Writes what was collected, and what was left.
    pub(crate) fn flush(&self) -> io::Result<()> {
        let mut out = lock(&self.out);
        self.collect_left(&mut out)?;
        out.write_collected()
    }

    /// Leaves a message for the next who sends or flushes. Never waits for the reader.
    pub(crate) fn leave(&self, message: Vec<u8>) {
        lock(&self.left).push_back(message);
    }

    /// Sends what is left, then closes.
    pub(crate) fn close(&self) {
        let mut out = lock(&self.out);
        // A reader that is gone already misses nothing.
        let _ = self.collect_left(&mut out);
        let _ = out.write_collected();
        out.writer = None;
    }

    fn collect_left(&self, out: &mut Out<W>) -> io::Result<()> {
        loop {
            let Some(message) = lock(&self.left).pop_front() else {
                return Ok(());
            };
            out.send(&message, LineEnd::Add, true)?;
        }
    }
}

/// Whether a message gets a line break if it has none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LineEnd {
    /// It does.
    Add,
    /// It is half a line, and stays one.
    AsItIs,
}

impl<W: Write> Out<W> {
    fn send(&mut self, message: &[u8], ends: LineEnd, more: bool) -> io::Result<()> {
        if std::mem::take(&mut self.is_half) {
            self.collected.push(b'\n');
        }
        self.is_half = ends == LineEnd::AsItIs && !message.ends_with(b"\n");
        let is_whole = message.ends_with(b"\n") || ends == LineEnd::AsItIs;
        let is_alone = self.collected.is_empty() && !more;
        if is_whole && (is_alone || message.len() >= COLLECTED) {
            self.write_collected()?;
            return self.write(message);
        }
        self.collected.extend_from_slice(message);
        if !is_whole {
            self.collected.push(b'\n');
        }
        if !more || self.collected.len() >= COLLECTED {
            self.write_collected()?;
        }
        Ok(())
    }

    fn write_collected(&mut self) -> io::Result<()> {
        if self.collected.is_empty() {
            return Ok(());
        }
        let collected = std::mem::take(&mut self.collected);
        let written = self.write(&collected);
        // The room is kept for the next ones, unless a long message made it large.
        if collected.capacity() <= 4 * COLLECTED {
            self.collected = collected;
            self.collected.clear();
        }
        written
    }

    fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        let closed = || io::Error::from(ErrorKind::BrokenPipe);
        let writer = self.writer.as_mut().ok_or_else(closed)?;
        writer.write_all(bytes)?;
        writer.flush()
    }
}

/// Nothing here panics while it holds a lock.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Notes each write.
    #[derive(Default)]
    struct Writes(Vec<String>);

    impl Write for Writes {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.push(String::from_utf8_lossy(bytes).into_owned());
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    fn writes(lane: &Lane<Writes>) -> Vec<String> {
        let mut out = lock(&lane.out);
        std::mem::take(&mut out.writer.as_mut().unwrap().0)
    }

    #[test]
    fn what_is_followed_by_more_is_written_with_it() {
        let lane = Lane::new(Writes::default());
        lane.send(b"a\n", LineEnd::Add, true).unwrap();
        assert!(writes(&lane).is_empty());
        lane.send(b"b", LineEnd::Add, false).unwrap();
        assert_eq!(writes(&lane), ["a\nb\n"]);
        lane.send(b"c\n", LineEnd::Add, false).unwrap();
        lane.send(b"half", LineEnd::AsItIs, false).unwrap();
        assert_eq!(writes(&lane), ["c\n", "half"]);
        lane.send(b"d\n", LineEnd::Add, false).unwrap();
        assert_eq!(writes(&lane), ["\nd\n"]);
    }

    #[test]
    fn what_was_left_goes_first() {
        let lane = Lane::new(Writes::default());
        lane.leave(b"left".to_vec());
        lane.send(b"sent\n", LineEnd::Add, false).unwrap();
        assert_eq!(writes(&lane), ["left\nsent\n"]);
        lane.leave(b"again".to_vec());
        lane.flush().unwrap();
        assert_eq!(writes(&lane), ["again\n"]);
    }

    #[test]
    fn long_messages_are_not_collected() {
        let lane = Lane::new(Writes::default());
        let long = format!("{}\n", "x".repeat(COLLECTED));
        lane.send(b"a\n", LineEnd::Add, true).unwrap();
        lane.send(long.as_bytes(), LineEnd::Add, true).unwrap();
        assert_eq!(writes(&lane), ["a\n", long.as_str()]);
    }

    #[test]
    fn nothing_is_sent_after_the_end() {
        let lane = Lane::new(Writes::default());
        lane.close();
        let error = lane.send(b"a\n", LineEnd::Add, false).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::BrokenPipe);
    }
}
