//! One server over HTTP: the bridge of the `http` module, connected through two in-memory pipes.

use std::collections::BTreeMap;
use std::io::{self, Read, Write};
use std::sync::Arc;
use std::time::Duration;

use callwright::policy::Validation;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, DuplexStream, duplex};
use tokio::runtime::Handle;

use super::hub::Warn;
use crate::guard::Settings;
use crate::http::{Options, bridge};
use crate::line_writer::LineSink;

/// The capacity of a pipe on Linux.
const HELD: usize = 64 * 1024;

/// How long calls in progress may take after the client has disconnected, which kills us four seconds later.
const TO_FINISH: Duration = Duration::from_millis(1_500);

/// A server that is reached over HTTP.
pub(super) struct RemoteServer {
    options: Options,
    input: DuplexStream,
    output: DuplexStream,
}

/// An in-memory pipe, for threads that may block.
pub(super) struct MemoryPipe {
    stream: DuplexStream,
    runtime: Handle,
}

/// The server, and both ends for its messages.
pub(super) fn connect(
    url: &str,
    headers: &BTreeMap<String, String>,
    most_bytes: usize,
    warn: Warn,
) -> (RemoteServer, LineSink, MemoryPipe) {
    let (to_bridge, input) = duplex(HELD);
    let (output, from_bridge) = duplex(HELD);
    let mut options = Options::new(url);
    let pairs = headers.iter();
    options.headers = pairs
        .map(|(key, value)| (key.clone(), value.clone()))
        .collect();
    options.proxy.finish = TO_FINISH;
    options.proxy.limits.max_bytes = most_bytes;
    options.proxy.warn = warn;
    let in_memory = |stream| MemoryPipe {
        stream,
        runtime: Handle::current(),
    };
    let sink = LineSink::Queued(Box::new(in_memory(to_bridge)));
    let server = RemoteServer {
        options,
        input,
        output,
    };
    (server, sink, in_memory(from_bridge))
}

impl RemoteServer {
    /// Runs until there is nothing more to send; returns why the server is gone, for the client.
    pub(super) async fn run(self, description: &str) -> String {
        // The hub's guard judges the calls.
        let unjudged = Settings {
            mode: Validation::Off,
            ..Settings::default()
        };
        match bridge(self.options, Arc::new(unjudged), self.input, self.output).await {
            Ok(()) => format!("{description} is no longer connected"),
            Err(error) => format!("{description} cannot be reached: {error}"),
        }
    }
}

impl Read for MemoryPipe {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        self.runtime.block_on(self.stream.read(into))
    }
}

impl Write for MemoryPipe {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.runtime.block_on(self.stream.write(bytes))
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
