//! One client and one server over pipes: two threads, each with a direction of its own.
//!
//! In come lines of both sides; each is shown to the guard and sent on by the thread that read it, so that a message costs
//! one read and one write. A thread may wait for the side that it writes to, never for the one that it reads from: then
//! neither could go on. What the server's thread has for the server itself is therefore left for a third thread.

use std::borrow::Cow;
use std::io::{self, PipeWriter, Read, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;
use std::thread;

use tokio::sync::mpsc::UnboundedSender;

use crate::guard::{Guard, Now, Outbox};
use crate::lane::{Lane, LineEnd};
use crate::last_words::LastWords;
use crate::lines::{Lines, is_several};

/// Something to write to a client by.
pub(crate) type ToClient = Box<dyn Write + Send>;

/// Told to whoever watches over the session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Happened {
    /// The client sends no more, or reads no more.
    ClientEnded,
    /// The server sends no more.
    ServerEnded,
    /// The client got an answer of our own.
    Answered,
    /// The guard may have another deadline.
    Look,
    /// The client has got all that there is to say.
    Told,
}

/// What the third thread does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Errand {
    /// Sends what was left for the server.
    Flush,
    /// Closes the way to the server.
    Close,
}

/// What the threads share.
pub(crate) struct Session {
    pub(crate) guard: Guard,
    pub(crate) to_server: Lane<PipeWriter>,
    pub(crate) to_client: Lane<ToClient>,
    pub(crate) happened: UnboundedSender<Happened>,
    pub(crate) errands: mpsc::Sender<Errand>,
    pub(crate) warn: Box<dyn Fn(&str) + Send + Sync>,
    /// Whether the server's thread waits for the server.
    pub(crate) waits_for_server: AtomicBool,
    /// Whether the server ever said anything.
    pub(crate) has_served: AtomicBool,
    pub(crate) last_words: LastWords,
}

impl Session {
    /// Runs until the client sends no more.
    pub(crate) fn client_to_server(&self, client: impl Read) {
        let mut lines = Lines::new(client);
        while lines.advance().unwrap_or(false) {
            let line = lines.line();
            let mut out = Outbox::default();
            if is_several(line) {
                self.guard.broken_line(line, &mut out);
            } else {
                self.guard.from_client(line, Now::by_clock(), &mut out);
            }
            // A server that does not read any more is about to end, and then every request is answered.
            let more = lines.is_next_here();
            let _ = send_all(&self.to_server, &out.to_server, line, more);
            self.answer(&out);
            if !matches!(out.to_server.first(), Some(Cow::Borrowed(_))) {
                self.tell(Happened::Look);
            }
            self.warn_all(&out);
        }
        let mut out = Outbox::default();
        self.guard.client_ended(Now::by_clock(), &mut out);
        self.answer(&out);
        let _ = self.to_server.flush();
        self.tell(Happened::ClientEnded);
    }

    /// Sends the client what it gets from us, and what its user is asked.
    fn answer(&self, out: &Outbox<'_>) {
        let asks = out.asks.iter().map(|ask| ask.message.as_slice());
        let answers = out.to_client.iter().map(AsRef::as_ref);
        for message in answers.chain(asks) {
            if self.to_client.send(message, LineEnd::Add, false).is_err() {
                self.tell(Happened::ClientEnded);
            }
            self.tell(Happened::Answered);
        }
    }

    /// Runs until the server sends no more, or the client reads no more.
    pub(crate) fn server_to_client(&self, server: impl Read) {
        let mut lines = Lines::new(server);
        loop {
            self.waits_for_server.store(true, Ordering::Relaxed);
            let is_there = lines.advance().unwrap_or(false);
            self.waits_for_server.store(false, Ordering::Relaxed);
            if !is_there {
                break;
            }
            self.has_served.store(true, Ordering::Relaxed);
            let line = lines.line();
            let mut out = Outbox::default();
            self.guard.from_server(line, Now::by_clock(), &mut out);
            let more = lines.is_next_here();
            let asks = out.asks.drain(..).map(|ask| Cow::Owned(ask.message));
            out.to_client.extend(asks);
            if send_all(&self.to_client, &out.to_client, line, more).is_err() {
                self.tell(Happened::ClientEnded);
                break;
            }
            self.leave_for_server(&mut out);
            self.warn_all(&out);
        }
        let _ = self.to_client.flush();
        self.tell(Happened::ServerEnded);
    }

    /// Runs until the way to the server is closed.
    pub(crate) fn run_errands(&self, errands: &mpsc::Receiver<Errand>) {
        while let Ok(errand) = errands.recv() {
            match errand {
                Errand::Flush => {
                    let _ = self.to_server.flush();
                }
                Errand::Close => {
                    self.to_server.close();
                    return;
                }
            }
        }
    }

    /// Copies what the server says to people, and remembers the end of it.
    pub(crate) fn listen(&self, mut stderr: impl Read) {
        // What people read comes in lines; more at once is a stack trace.
        let mut buffer = vec![0; 8 * 1024];
        loop {
            match stderr.read(&mut buffer) {
                Ok(0) => return,
                Ok(read) => {
                    self.last_words.heard(&buffer[..read]);
                    let _ = io::stderr().lock().write_all(&buffer[..read]);
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(_) => return,
            }
        }
    }

    /// Time has passed for the guard.
    pub(crate) fn tick(self: &Arc<Self>) {
        let mut out = Outbox::default();
        self.guard.tick(Now::by_clock(), &mut out);
        self.leave_for_server(&mut out);
        self.warn_all(&out);
        if out.to_client.is_empty() && out.asks.is_empty() {
            return;
        }
        let asks = out.asks.into_iter().map(|ask| ask.message);
        for message in out.to_client.into_iter().map(Cow::into_owned).chain(asks) {
            self.to_client.leave(message);
        }
        // A client that does not read must not hold up who watches. Without a thread they go out with the next message.
        let session = Arc::clone(self);
        let _later = thread::Builder::new().spawn(move || session.to_client.flush());
    }

    /// There is no server any more: the answers for those who wait, which somebody has to send.
    pub(crate) fn server_gone(&self, why: &str) -> Vec<Vec<u8>> {
        let mut out = Outbox::default();
        self.guard.server_gone(why, &mut out);
        out.to_client.into_iter().map(Cow::into_owned).collect()
    }

    /// Sends the last answers, on a thread of its own.
    pub(crate) fn answer_all(self: Arc<Self>, answers: &[Vec<u8>]) {
        for answer in answers {
            let _ = self.to_client.send(answer, LineEnd::Add, true);
        }
        let _ = self.to_client.flush();
        self.tell(Happened::Told);
    }

    fn leave_for_server(&self, out: &mut Outbox<'_>) {
        if out.to_server.is_empty() {
            return;
        }
        for message in out.to_server.drain(..) {
            self.to_server.leave(message.into_owned());
        }
        let _ = self.errands.send(Errand::Flush);
        self.tell(Happened::Look);
    }

    fn warn_all(&self, out: &Outbox<'_>) {
        for warning in &out.warnings {
            (self.warn)(warning);
        }
    }

    /// Nobody watches any more once all is over.
    fn tell(&self, happened: Happened) {
        let _ = self.happened.send(happened);
    }
}

/// Sends messages that came of a line; `more` says that another line is here already.
fn send_all<W: Write>(
    to: &Lane<W>,
    messages: &[Cow<'_, [u8]>],
    line: &[u8],
    more: bool,
) -> io::Result<()> {
    for (at, message) in messages.iter().enumerate() {
        let is_line = matches!(message, Cow::Borrowed(bytes) if bytes.len() == line.len());
        let ends = if is_line {
            LineEnd::AsItIs
        } else {
            LineEnd::Add
        };
        to.send(message, ends, more || at + 1 < messages.len())?;
    }
    if messages.is_empty() && !more {
        to.flush()?;
    }
    Ok(())
}
