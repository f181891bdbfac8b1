//! One of several servers over HTTP: the bridge of the `http` module between it and two pipes of ours.

use std::collections::BTreeMap;
use std::io::{self, Read, Write};
use std::sync::Arc;
use std::time::Duration;

use callwright::policy::Validation;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, DuplexStream, duplex};
use tokio::runtime::Handle;
use tokio::sync::mpsc::UnboundedReceiver;

use super::door::Way;
use crate::guard::Settings;
use crate::http::{Options, bridge};
use crate::process::Signal;

/// What a pipe holds on Linux.
const HELD: usize = 64 * 1024;

/// How long calls under way have when the client has ended, which kills us four seconds later.
const TO_FINISH: Duration = Duration::from_millis(1_500);

/// A server that is connected to.
pub(super) struct Web {
    options: Options,
    input: DuplexStream,
    output: DuplexStream,
}

/// A pipe in memory for threads that may wait.
pub(super) struct Blocking {
    stream: DuplexStream,
    runtime: Handle,
}

/// The way to a server, and what it sends.
pub(super) fn connect(
    url: &str,
    headers: &BTreeMap<String, String>,
    warn: Arc<dyn Fn(&str) + Send + Sync>,
) -> (Web, Way, Blocking) {
    let (to_bridge, input) = duplex(HELD);
    let (output, from_bridge) = duplex(HELD);
    let mut options = Options::new(url);
    let pairs = headers.iter();
    options.headers = pairs
        .map(|(key, value)| (key.clone(), value.clone()))
        .collect();
    options.finish = TO_FINISH;
    options.warn = warn;
    let blocking = |stream| Blocking {
        stream,
        runtime: Handle::current(),
    };
    let way = Way::Slow(Box::new(blocking(to_bridge)));
    let web = Web {
        options,
        input,
        output,
    };
    (web, way, blocking(from_bridge))
}

impl Web {
    /// Runs until nobody sends any more; out goes why the server is not there any more, for the client.
    pub(super) async fn until_the_end(
        self,
        name: String,
        mut signals: UnboundedReceiver<Signal>,
    ) -> String {
        // Calls are judged by the one guard in front of all.
        let unjudged = Settings {
            mode: Validation::Off,
            ..Settings::default()
        };
        let bridged = bridge(self.options, Arc::new(unjudged), self.input, self.output);
        let ended = tokio::select! {
            ended = bridged => ended,
            Some(_) = signals.recv() => Ok(()),
        };
        match ended {
            Ok(()) => format!("the MCP server {name:?} is not connected any more"),
            Err(error) => format!("the MCP server {name:?} cannot be reached: {error}"),
        }
    }
}

impl Read for Blocking {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        self.runtime.block_on(self.stream.read(into))
    }
}

impl Write for Blocking {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.runtime.block_on(self.stream.write(bytes))
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
