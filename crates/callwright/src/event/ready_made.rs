//! Sinks out of a function and out of a channel.

use std::fmt;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};

use super::{Event, Sink, SinkError};

/// Calls a function for each event.
pub struct Callback<F>(F);

/// A sink that calls a function. It gets the event as it is, with nothing masked.
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

/// A sink and the end of a channel at which its events come out, as they are, with nothing masked.
///
/// Where nobody takes them out, the channel fills up first, then the queue of the sink; then events are dropped and
/// counted. Once the receiver is gone, they count as failed.
pub fn channel(capacity: usize) -> (ChannelSink, Receiver<Arc<Event>>) {
    let (sender, receiver) = sync_channel(capacity);
    (ChannelSink(sender), receiver)
}

impl Sink for ChannelSink {
    fn record(&mut self, event: &Arc<Event>) -> Result<(), SinkError> {
        let sent = self.0.send(Arc::clone(event));
        sent.map_err(|_| SinkError::new("nobody listens to the channel any more"))
    }
}
