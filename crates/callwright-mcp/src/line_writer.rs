//! Writes messages as lines, to the client or to a server.
//!
//! Takes messages from any thread; writes each as one line, in the order of the calls. Messages are collected and
//! written together; a long one is written by itself, without a copy.
//!
//! Senders wait for the client, but never for a server: what does not fit into a server's pipe goes to a queue that a
//! separate thread writes ([`LineWriter::write_queued`]). So a server that does not read only holds up itself.

use std::collections::VecDeque;
use std::io::{self, PipeWriter, Write};

use parking_lot::{Condvar, Mutex};

/// How much is collected before it is written: the capacity of a pipe on Linux.
const MOST_COLLECTED: usize = 64 * 1024;

/// How many bytes may be queued for a server: two of the largest messages that we send to HTTP servers.
const MOST_QUEUED: usize = 128 * 1024 * 1024;

pub(crate) enum LineSink {
    /// The sender waits until everything is written.
    Blocking(Box<dyn Write + Send>),
    /// A pipe in non-blocking mode: the sender writes as much as fits.
    #[cfg(unix)]
    Pipe(PipeWriter),
    /// Only the queue's thread writes.
    #[cfg_attr(
        not(feature = "http"),
        allow(dead_code, reason = "only HTTP and Windows need it")
    )]
    Queued(Box<dyn Write + Send>),
}

impl LineSink {
    /// A pipe to a server.
    #[cfg(unix)]
    pub(crate) fn pipe(pipe: PipeWriter) -> io::Result<Self> {
        rustix::io::ioctl_fionbio(&pipe, true)?;
        Ok(LineSink::Pipe(pipe))
    }

    /// A pipe to a server. Without a non-blocking mode, it either accepts everything or blocks the writer.
    #[cfg(not(unix))]
    #[allow(clippy::unnecessary_wraps, reason = "it can fail on Unix")]
    pub(crate) fn pipe(pipe: PipeWriter) -> io::Result<Self> {
        Ok(LineSink::Queued(Box::new(pipe)))
    }

    /// Writes as much as a sender may; returns how much that was.
    fn write_now(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            LineSink::Blocking(writer) => {
                writer.write_all(bytes)?;
                writer.flush()?;
                Ok(bytes.len())
            }
            #[cfg(unix)]
            LineSink::Pipe(pipe) => {
                let mut written = 0;
                while written < bytes.len() {
                    match pipe.write(&bytes[written..]) {
                        Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
                        Ok(count) => written += count,
                        Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
                        Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                        Err(error) => return Err(error),
                    }
                }
                Ok(written)
            }
            LineSink::Queued(_) => Ok(0),
        }
    }

    fn write_all(&mut self, bytes: &[u8]) -> io::Result<()> {
        if let LineSink::Queued(writer) = self {
            return writer.write_all(bytes).and_then(|()| writer.flush());
        }
        let mut left = bytes;
        loop {
            left = &left[self.write_now(left)?..];
            if left.is_empty() {
                return Ok(());
            }
            self.wait_for_room()?;
        }
    }

    #[cfg_attr(
        not(unix),
        allow(
            clippy::unnecessary_wraps,
            clippy::unused_self,
            reason = "only Unix waits"
        )
    )]
    fn wait_for_room(&self) -> io::Result<()> {
        #[cfg(unix)]
        if let LineSink::Pipe(pipe) = self {
            use rustix::event::{PollFd, PollFlags, poll};
            match poll(&mut [PollFd::new(pipe, PollFlags::OUT)], None) {
                Ok(_) | Err(rustix::io::Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(())
    }
}

/// Whether a message without a line break gets one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LineEnd {
    /// It does.
    Add,
    /// It is an unfinished line and stays one.
    AsItIs,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Unsent {
    /// The reader has closed its end, or we have closed ours.
    Closed,
    Full,
}

/// The lines on their way to one side.
pub(crate) struct LineWriter {
    pending: Mutex<PendingLines>,
    /// Signals work for the queue's thread.
    work: Condvar,
    drained: Condvar,
}

struct PendingLines {
    /// `None` while the queue's thread writes to it, and once it is closed.
    sink: Option<LineSink>,
    collected: Vec<u8>,
    queue: VecDeque<Vec<u8>>,
    queued_bytes: usize,
    /// Whether an unfinished line was sent: the next message starts a new one.
    is_unfinished: bool,
    is_closed: bool,
    /// Whether there is currently no sink, and everything is queued for the next one.
    is_detached: bool,
}

impl LineWriter {
    /// Writes to a sink; without one everything is queued until [`LineWriter::attach`] provides one.
    pub(crate) fn new(sink: Option<LineSink>) -> Self {
        LineWriter {
            pending: Mutex::new(PendingLines {
                is_detached: sink.is_none(),
                sink,
                collected: Vec::new(),
                queue: VecDeque::new(),
                queued_bytes: 0,
                is_unfinished: false,
                is_closed: false,
            }),
            work: Condvar::new(),
            drained: Condvar::new(),
        }
    }

    /// Sends a message, and what was collected before it.
    pub(crate) fn send(&self, message: &[u8], end: LineEnd) -> Result<(), Unsent> {
        self.while_open(|pending| {
            pending.collect(message, end)?;
            pending.write_collected()
        })
    }

    /// Collects a message, to be sent by [`LineWriter::flush`].
    pub(crate) fn collect(&self, message: &[u8], end: LineEnd) -> Result<(), Unsent> {
        self.while_open(|pending| pending.collect(message, end))
    }

    /// Sends what was collected.
    pub(crate) fn flush(&self) -> Result<(), Unsent> {
        self.while_open(PendingLines::write_collected)
    }

    fn while_open(
        &self,
        work: impl FnOnce(&mut PendingLines) -> Result<(), Unsent>,
    ) -> Result<(), Unsent> {
        let mut pending = self.pending.lock();
        if pending.is_closed {
            return Err(Unsent::Closed);
        }
        let done = work(&mut pending);
        if !pending.queue.is_empty() {
            self.work.notify_one();
        }
        done
    }

    pub(crate) fn wait_until_drained(&self) {
        let mut pending = self.pending.lock();
        while !pending.queue.is_empty() && !pending.is_closed {
            self.drained.wait(&mut pending);
        }
    }

    /// Accepts no more messages; what is queued is still written.
    pub(crate) fn close(&self) {
        let mut pending = self.pending.lock();
        // A reader that is already gone misses nothing.
        let _ = pending.write_collected();
        pending.is_closed = true;
        if pending.queue.is_empty() {
            pending.sink = None;
        }
        self.work.notify_one();
        self.drained.notify_all();
    }

    /// Writes to this sink from now on, or permanently to none.
    pub(crate) fn attach(&self, sink: Option<LineSink>) {
        let mut pending = self.pending.lock();
        pending.is_detached = false;
        pending.is_closed |= sink.is_none();
        pending.sink = sink;
        self.work.notify_one();
    }

    /// Writes what is queued, until the writer is closed: the work of the queue's thread.
    pub(crate) fn write_queued(&self) {
        let mut pending = self.pending.lock();
        loop {
            if pending.is_detached || (pending.queue.is_empty() && !pending.is_closed) {
                self.work.wait(&mut pending);
                continue;
            }
            let Some(lines) = pending.queue.pop_front() else {
                pending.sink = None;
                return;
            };
            let Some(mut sink) = pending.sink.take() else {
                return;
            };
            drop(pending);
            let written = sink.write_all(&lines);
            pending = self.pending.lock();
            pending.queued_bytes = pending.queued_bytes.saturating_sub(lines.len());
            if written.is_err() {
                pending.is_closed = true;
                pending.queue.clear();
            } else {
                pending.sink = Some(sink);
            }
            if pending.queue.is_empty() {
                self.drained.notify_all();
            }
        }
    }
}

impl PendingLines {
    fn collect(&mut self, message: &[u8], end: LineEnd) -> Result<(), Unsent> {
        if self.queued_bytes > 0 && self.queued_bytes.saturating_add(message.len()) > MOST_QUEUED {
            return Err(Unsent::Full);
        }
        if std::mem::take(&mut self.is_unfinished) {
            self.collected.push(b'\n');
        }
        self.is_unfinished = end == LineEnd::AsItIs && !message.ends_with(b"\n");
        let is_whole = message.ends_with(b"\n") || end == LineEnd::AsItIs;
        if is_whole && message.len() >= MOST_COLLECTED {
            self.write_collected()?;
            return self.write(message);
        }
        self.collected.extend_from_slice(message);
        if !is_whole {
            self.collected.push(b'\n');
        }
        if self.collected.len() >= MOST_COLLECTED {
            self.write_collected()?;
        }
        Ok(())
    }

    fn write_collected(&mut self) -> Result<(), Unsent> {
        if self.collected.is_empty() {
            return Ok(());
        }
        let collected = std::mem::take(&mut self.collected);
        let written = self.write(&collected);
        // The buffer is kept for further messages, unless a long one made it large.
        if collected.capacity() <= 4 * MOST_COLLECTED {
            self.collected = collected;
            self.collected.clear();
        }
        written
    }

    /// Writes what the sink accepts now, and queues the rest.
    fn write(&mut self, bytes: &[u8]) -> Result<(), Unsent> {
        let mut written = 0;
        if self.queue.is_empty()
            && !self.is_detached
            && let Some(sink) = &mut self.sink
        {
            let Ok(count) = sink.write_now(bytes) else {
                self.sink = None;
                self.is_closed = true;
                return Err(Unsent::Closed);
            };
            written = count;
        }
        if written < bytes.len() {
            let rest = bytes[written..].to_vec();
            self.queued_bytes += rest.len();
            self.queue.push_back(rest);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Read;
    use std::sync::Arc;
    use std::sync::mpsc;
    use std::thread::{self, JoinHandle};

    /// Passes on each write.
    struct Writes(mpsc::Sender<String>);

    impl Write for Writes {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            let text = String::from_utf8_lossy(bytes).into_owned();
            self.0.send(text).map_err(io::Error::other)?;
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    fn blocking() -> (LineWriter, impl Fn() -> Vec<String>) {
        let (sender, written) = mpsc::channel();
        let sink = LineSink::Blocking(Box::new(Writes(sender)));
        let taken = move || written.try_iter().collect::<Vec<_>>();
        (LineWriter::new(Some(sink)), taken)
    }

    fn to_pipe() -> (LineWriter, io::PipeReader) {
        let (reader, writer) = io::pipe().expect("a pipe");
        let sink = LineSink::pipe(writer).expect("a sink");
        (LineWriter::new(Some(sink)), reader)
    }

    fn thread_of(writer: &Arc<LineWriter>) -> JoinHandle<()> {
        let writer = Arc::clone(writer);
        thread::spawn(move || writer.write_queued())
    }

    #[test]
    fn a_message_followed_by_another_is_written_with_it() {
        let (writer, written) = blocking();
        writer.collect(b"a\n", LineEnd::Add).unwrap();
        assert!(written().is_empty());
        writer.send(b"b", LineEnd::Add).unwrap();
        assert_eq!(written(), ["a\nb\n"]);
        writer.send(b"c\n", LineEnd::Add).unwrap();
        writer.send(b"half", LineEnd::AsItIs).unwrap();
        assert_eq!(written(), ["c\n", "half"]);
        writer.send(b"d\n", LineEnd::Add).unwrap();
        assert_eq!(written(), ["\nd\n"]);
    }

    #[test]
    fn long_messages_are_not_collected() {
        let (writer, written) = blocking();
        let long = format!("{}\n", "x".repeat(MOST_COLLECTED));
        writer.collect(b"a\n", LineEnd::Add).unwrap();
        writer.collect(long.as_bytes(), LineEnd::Add).unwrap();
        assert_eq!(written(), ["a\n", long.as_str()]);
    }

    #[test]
    fn nothing_is_sent_after_the_end() {
        let (writer, _) = blocking();
        writer.close();
        let unsent = writer.send(b"a\n", LineEnd::Add);
        assert_eq!(unsent, Err(Unsent::Closed));
    }

    #[test]
    fn a_reader_that_does_not_read_never_blocks_a_sender() {
        let (writer, mut reader) = to_pipe();
        let writer = Arc::new(writer);
        let mut sent = Vec::new();
        // A pipe holds far less than this.
        for number in 0..5_000 {
            let line = format!("{number} {}\n", "x".repeat(number % 700));
            let done = if number % 3 == 0 {
                writer.collect(line.as_bytes(), LineEnd::Add)
            } else {
                writer.send(line.as_bytes(), LineEnd::Add)
            };
            assert_eq!(done, Ok(()));
            sent.extend_from_slice(line.as_bytes());
        }
        let thread = thread_of(&writer);
        assert_eq!(writer.send(b"last", LineEnd::Add), Ok(()));
        sent.extend_from_slice(b"last\n");
        writer.close();
        let mut came = Vec::new();
        reader.read_to_end(&mut came).expect("bytes");
        assert!(came == sent);
        thread.join().expect("it ends");
        writer.wait_until_drained();
    }

    #[test]
    fn messages_sent_before_there_is_a_sink_are_queued() {
        let writer = Arc::new(LineWriter::new(None));
        let thread = thread_of(&writer);
        assert_eq!(writer.send(b"early", LineEnd::Add), Ok(()));
        let (mut reader, pipe) = io::pipe().expect("a pipe");
        writer.attach(Some(LineSink::pipe(pipe).expect("a sink")));
        writer.close();
        let mut came = String::new();
        reader.read_to_string(&mut came).expect("UTF-8");
        assert_eq!(came, "early\n");
        thread.join().expect("it ends");
    }

    #[test]
    fn the_queue_is_bounded() {
        let (writer, reader) = to_pipe();
        let long = vec![b'x'; MOST_QUEUED / 2];
        let send = |message: &[u8]| writer.send(message, LineEnd::AsItIs);
        assert_eq!(send(&long), Ok(()));
        assert_eq!(send(&long[1..]), Ok(()));
        assert_eq!(send(&long), Err(Unsent::Full));
        drop(reader);
        // The thread notices that the reader is gone, and ends.
        writer.write_queued();
        assert_eq!(send(b"lost"), Err(Unsent::Closed));
    }
}
