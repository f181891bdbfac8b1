//! The sink trait, the selection of events, sink statistics, and the sinks for a function and a channel.

use std::error::Error;
use std::fmt;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};

use super::{Event, Judgement};
use crate::vocabulary::OutputVerdict;

/// Takes events: a file, a database, a dashboard.
///
/// It runs on its own thread, one event at a time, and may be slow. Errors and panics are counted, and the next event is still
/// delivered.
pub trait Sink: Send {
    /// Takes an event. What is written of it should be masked, as [`Event::line`] does.
    ///
    /// # Errors
    /// The event is lost.
    fn record(&mut self, event: &Arc<Event>) -> Result<(), SinkError>;

    /// Writes out what it has buffered. Called whenever no event is waiting.
    ///
    /// # Errors
    /// The buffered events are lost, as many as the error says.
    fn flush(&mut self) -> Result<(), SinkError> {
        Ok(())
    }
}

impl fmt::Debug for dyn Sink {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Sink")
    }
}

/// Why events were lost.
#[derive(Debug)]
pub struct SinkError {
    source: Box<dyn Error + Send + Sync>,
    lost: u64,
}

impl SinkError {
    /// One event was lost, for this reason.
    pub fn new(source: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        SinkError {
            source: source.into(),
            lost: 1,
        }
    }

    /// Sets how many events were lost, including those taken earlier.
    #[must_use]
    pub fn with_lost(mut self, lost: u64) -> Self {
        self.lost = lost;
        self
    }

    /// How many events were lost.
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

/// How a sink has done so far. Every event sent to it is counted in exactly one of the four numbers.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct SinkStats {
    /// Events that it took.
    pub delivered: u64,
    /// Events that never reached it, because its queue was full or closed.
    pub dropped: u64,
    /// Events that it lost because it failed or panicked.
    pub failed: u64,
    /// Events that are waiting or being handled.
    pub waiting: u64,
    /// The last error, or the message of a panic.
    pub last_error: Option<String>,
}

/// Calls a function for each event.
pub struct Callback<F>(F);

/// A sink that calls a function. It gets events unmasked.
pub fn callback<F: FnMut(&Event) + Send>(function: F) -> Callback<F> {
    Callback(function)
}

impl<F: FnMut(&Event) + Send> Sink for Callback<F> {
    fn record(&mut self, event: &Arc<Event>) -> Result<(), SinkError> {
        (self.0)(event);
        Ok(())
    }
}

impl<F> fmt::Debug for Callback<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Callback")
    }
}

/// Sends each event into a channel.
#[derive(Debug)]
pub struct ChannelSink(SyncSender<Arc<Event>>);

/// A sink and the receiver of its events, which arrive unmasked.
///
/// If events are not received, first the channel fills up, then the queue of the sink; after that events are dropped and
/// counted. Once the receiver is gone, they count as failed.
pub fn channel(capacity: usize) -> (ChannelSink, Receiver<Arc<Event>>) {
    let (sender, receiver) = sync_channel(capacity);
    (ChannelSink(sender), receiver)
}

impl Sink for ChannelSink {
    fn record(&mut self, event: &Arc<Event>) -> Result<(), SinkError> {
        let sent = self.0.send(Arc::clone(event));
        sent.map_err(|_| SinkError::new("the receiver of the channel is gone"))
    }
}

/// Selects events by what happened. Several may apply to one event.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum On {
    /// Anything.
    #[default]
    Any,
    /// Something went wrong: the call was refused, the tool failed, or its result was refused.
    Error,
    /// The call was refused; the tool did not run.
    Refused,
    /// The call was repaired; it may have been refused afterwards for another reason.
    Repaired,
    /// The tool was run, with or without success.
    ToolExecuted,
    /// The tool was run and failed, or reported that it did.
    ToolFailed,
    /// The tool returned a result, and the result was refused.
    OutputRefused,
    /// The tool returned a result that is only a part.
    OutputPartial,
    /// There was an objection that the policy only warns about.
    Warning,
    /// The model got a notice with the result: it is repeating itself.
    Notice,
}

impl On {
    /// Whether this applies to an event.
    pub fn is(self, event: &Event) -> bool {
        match self {
            On::Any => true,
            On::Error => event.error().is_some() || event.is_error,
            On::Refused => event.verdict == Judgement::Refused,
            On::Repaired => event.verdict == Judgement::Repaired,
            On::ToolExecuted => event.was_executed(),
            On::ToolFailed => event.was_executed() && event.is_error,
            On::OutputRefused => event.output_verdict == Some(OutputVerdict::Refused),
            On::OutputPartial => event.output_verdict == Some(OutputVerdict::Partial),
            On::Warning => {
                event.warning.is_some() || event.output_verdict == Some(OutputVerdict::Warned)
            }
            On::Notice => event.notice.is_some(),
        }
    }
}
