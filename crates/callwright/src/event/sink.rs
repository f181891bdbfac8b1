//! What takes events, and what is known about how it did.

use std::error::Error;
use std::fmt;
use std::sync::Arc;

use super::Event;

/// Takes events: a file, a database, a dashboard.
///
/// It runs on a thread of its own, may take its time, and is asked by nobody else meanwhile. An error or a panic is
/// counted, and the next event comes all the same.
pub trait Sink: Send {
    /// Takes an event. Whatever it writes of it, it masks first: [`Event::line`] does.
    ///
    /// # Errors
    /// The event is lost.
    fn record(&mut self, event: &Arc<Event>) -> Result<(), SinkError>;

    /// Lets go of what it holds back. Asked whenever no event is waiting.
    ///
    /// # Errors
    /// The events that it held back are lost, as many as the error says.
    fn flush(&mut self) -> Result<(), SinkError> {
        Ok(())
    }
}

/// Why events did not get where they should.
#[derive(Debug)]
pub struct SinkError {
    source: Box<dyn Error + Send + Sync>,
    lost: u64,
}

impl SinkError {
    /// One event is lost, for this reason.
    pub fn new(source: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        SinkError {
            source: source.into(),
            lost: 1,
        }
    }

    /// The same error with another number of lost events: those that were taken before, too.
    #[must_use]
    pub fn with_lost(mut self, lost: u64) -> Self {
        self.lost = lost;
        self
    }

    /// How many events are lost.
    pub fn lost(&self) -> u64 {
        self.lost
    }
}

impl fmt::Display for SinkError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.source, f)
    }
}

impl Error for SinkError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.source.source()
    }
}

impl From<std::io::Error> for SinkError {
    fn from(error: std::io::Error) -> Self {
        SinkError::new(error)
    }
}

/// How a sink did so far. Every event that it should have had is in exactly one of the four numbers.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct SinkStats {
    /// Events that it took.
    pub delivered: u64,
    /// Events that it never saw, because its queue was full.
    pub dropped: u64,
    /// Events that it lost: it failed or panicked over them.
    pub failed: u64,
    /// Events that wait, or that it is busy with.
    pub waiting: u64,
    /// The last error, or what it said when it panicked.
    pub last_error: Option<String>,
}
