//! The way to one of several servers: nobody waits at it.
//!
//! In come messages, out go lines. A message is written at once by whoever brings it, as far as the pipe takes it; what is
//! left is for a thread that may wait. So a server that does not read holds up nobody but itself.

use std::borrow::Cow;
use std::collections::VecDeque;
use std::io::{self, PipeWriter, Write};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// How many bytes may wait for a server. Two of the largest messages that HTTP servers get from us.
const MOST_WAITING: usize = 128 * 1024 * 1024;

/// What leads to a server.
pub(crate) enum Way {
    /// A pipe, which takes what it has room for.
    Pipe(PipeWriter),
    /// Something that makes us wait.
    #[cfg_attr(not(feature = "http"), allow(dead_code, reason = "only HTTP has it"))]
    Slow(Box<dyn Write + Send>),
}

/// The way to a server, and what waits there.
pub(crate) struct Door {
    queue: Mutex<Queue>,
    wake: Condvar,
}

struct Queue {
    /// `None` while the thread writes, and once all is over.
    way: Option<Way>,
    waiting: VecDeque<Vec<u8>>,
    bytes: usize,
    is_closed: bool,
    /// Whether it leads nowhere for a while.
    is_detached: bool,
}

impl Door {
    pub(crate) fn new(way: Way) -> io::Result<Self> {
        Ok(Door {
            queue: Mutex::new(Queue {
                way: Some(way.ready()?),
                waiting: VecDeque::new(),
                bytes: 0,
                is_closed: false,
                is_detached: false,
            }),
            wake: Condvar::new(),
        })
    }

    /// Leads nowhere for a while: what comes waits until it leads elsewhere. Only then the server that it leads to sees
    /// the end.
    pub(crate) fn detach(&self) {
        let mut queue = self.lock();
        queue.waiting.clear();
        queue.bytes = 0;
        queue.is_detached = true;
    }

    /// Leads elsewhere from now on, or nowhere for good.
    pub(crate) fn attach(&self, way: Option<Way>) -> io::Result<()> {
        let way = way.map(Way::ready).transpose()?;
        let mut queue = self.lock();
        queue.is_detached = false;
        queue.is_closed |= way.is_none();
        let is_needed = !queue.is_closed || !queue.waiting.is_empty();
        queue.way = way.filter(|_| is_needed);
        drop(queue);
        self.wake.notify_one();
        Ok(())
    }

    /// A door that leads nowhere.
    pub(crate) fn nowhere() -> Self {
        Door {
            queue: Mutex::new(Queue {
                way: None,
                waiting: VecDeque::new(),
                bytes: 0,
                is_closed: true,
                is_detached: false,
            }),
            wake: Condvar::new(),
        }
    }

    /// Sends a message; gives it back if too many wait already. One for a server that has closed its end is lost, as it
    /// would be in the pipe.
    pub(crate) fn send<'m>(&self, message: Cow<'m, [u8]>) -> Result<(), Cow<'m, [u8]>> {
        let message = if message.ends_with(b"\n") {
            message
        } else {
            let mut line = message.into_owned();
            line.push(b'\n');
            line.into()
        };
        let mut queue = self.lock();
        if queue.is_closed {
            return Ok(());
        }
        if queue.bytes.saturating_add(message.len()) > MOST_WAITING && queue.bytes > 0 {
            return Err(message);
        }
        let mut written = 0;
        if queue.waiting.is_empty()
            && !queue.is_detached
            && let Some(way) = &mut queue.way
        {
            if let Ok(count) = way.write_now(&message) {
                written = count;
            } else {
                queue.way = None;
                queue.is_closed = true;
                return Ok(());
            }
        }
        if written < message.len() {
            let rest = message[written..].to_vec();
            queue.bytes += rest.len();
            queue.waiting.push_back(rest);
            drop(queue);
            self.wake.notify_one();
        }
        Ok(())
    }

    /// No more is sent; what waits still is.
    pub(crate) fn close(&self) {
        let mut queue = self.lock();
        queue.is_closed = true;
        if queue.waiting.is_empty() {
            queue.way = None;
        }
        drop(queue);
        self.wake.notify_one();
    }

    /// Writes what had to wait, until all is over.
    pub(crate) fn run(&self) {
        let mut queue = self.lock();
        loop {
            if queue.is_detached || (queue.waiting.is_empty() && !queue.is_closed) {
                queue = self
                    .wake
                    .wait(queue)
                    .unwrap_or_else(PoisonError::into_inner);
                continue;
            }
            let Some(message) = queue.waiting.pop_front() else {
                queue.way = None;
                return;
            };
            let Some(mut way) = queue.way.take() else {
                return;
            };
            drop(queue);
            let written = way.write_all(&message);
            queue = self.lock();
            queue.bytes = queue.bytes.saturating_sub(message.len());
            if queue.is_detached || queue.way.is_some() {
                // It leads elsewhere by now.
                continue;
            }
            if written.is_err() {
                queue.is_closed = true;
                queue.waiting.clear();
                return;
            }
            queue.way = Some(way);
        }
    }

    /// Nothing here panics while it holds the lock.
    fn lock(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Way {
    /// Makes sure that a pipe does not make us wait.
    #[cfg_attr(
        not(unix),
        allow(clippy::unnecessary_wraps, reason = "it can fail elsewhere")
    )]
    fn ready(self) -> io::Result<Self> {
        #[cfg(unix)]
        if let Way::Pipe(pipe) = &self {
            rustix::io::ioctl_fionbio(pipe, true)?;
        }
        Ok(self)
    }

    /// Writes as much as there is room for.
    fn write_now(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            #[cfg(unix)]
            Way::Pipe(pipe) => {
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
            // Here a pipe takes all or makes us wait.
            #[cfg(not(unix))]
            Way::Pipe(_) => Ok(0),
            Way::Slow(_) => Ok(0),
        }
    }

    /// Writes all, however long that takes.
    fn write_all(&mut self, bytes: &[u8]) -> io::Result<()> {
        match self {
            #[cfg(unix)]
            Way::Pipe(_) => {
                let mut left = bytes;
                loop {
                    let written = self.write_now(left)?;
                    left = &left[written..];
                    if left.is_empty() {
                        return Ok(());
                    }
                    self.wait()?;
                }
            }
            #[cfg(not(unix))]
            Way::Pipe(pipe) => pipe.write_all(bytes),
            Way::Slow(slow) => slow.write_all(bytes).and_then(|()| slow.flush()),
        }
    }

    /// Waits until there is room.
    #[cfg(unix)]
    fn wait(&self) -> io::Result<()> {
        use rustix::event::{PollFd, PollFlags, poll};
        if let Way::Pipe(pipe) = self {
            let mut fds = [PollFd::new(pipe, PollFlags::OUT)];
            match poll(&mut fds, None) {
                Ok(_) | Err(rustix::io::Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Read;
    use std::sync::Arc;

    #[test]
    fn who_does_not_read_holds_up_nobody() {
        let (mut reader, writer) = io::pipe().expect("a pipe");
        let door = Arc::new(Door::new(Way::Pipe(writer)).expect("a door"));
        let mut sent = Vec::new();
        // Nobody reads, and a pipe holds far less than this.
        for number in 0..5_000 {
            let line = format!("{number} {}\n", "x".repeat(number % 700));
            assert!(door.send(line.as_bytes().into()).is_ok());
            sent.extend_from_slice(line.as_bytes());
        }
        let thread = Arc::clone(&door);
        let thread = std::thread::spawn(move || thread.run());
        assert!(door.send(b"last"[..].into()).is_ok());
        sent.extend_from_slice(b"last\n");
        door.close();
        let mut came = Vec::new();
        reader.read_to_end(&mut came).expect("bytes");
        assert!(came == sent);
        thread.join().expect("it ends");
    }

    #[test]
    fn what_comes_in_between_is_for_the_next_one() {
        let (mut old, writer) = io::pipe().expect("a pipe");
        let door = Arc::new(Door::new(Way::Pipe(writer)).expect("a door"));
        let thread = Arc::clone(&door);
        let thread = std::thread::spawn(move || thread.run());
        assert!(door.send(b"old"[..].into()).is_ok());
        door.detach();
        assert!(door.send(b"new"[..].into()).is_ok());
        let (mut new, writer) = io::pipe().expect("a pipe");
        door.attach(Some(Way::Pipe(writer))).expect("a way");
        let mut came = String::new();
        old.read_to_string(&mut came).expect("UTF-8");
        assert_eq!(came, "old\n");
        door.close();
        let mut came = String::new();
        new.read_to_string(&mut came).expect("UTF-8");
        assert_eq!(came, "new\n");
        thread.join().expect("it ends");
    }

    #[test]
    fn too_much_is_not_taken() {
        let (reader, writer) = io::pipe().expect("a pipe");
        let door = Door::new(Way::Pipe(writer)).expect("a door");
        let long = vec![b'x'; MOST_WAITING / 2];
        assert!(door.send((&long[..]).into()).is_ok());
        assert!(door.send((&long[..]).into()).is_ok());
        assert!(door.send((&long[..]).into()).is_err());
        drop(reader);
        // It sees that nobody reads any more, and ends.
        door.run();
        assert!(door.send(b"lost"[..].into()).is_ok());
    }
}
