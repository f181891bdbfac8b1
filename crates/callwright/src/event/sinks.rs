//! The set of all sinks, which distributes events to them.

use std::io;
use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use super::queue::{Capacity, SinkQueue};
use super::{Event, On, Sink, SinkStats, callback};

/// How many events may wait for one sink. Ten thousand concurrent calls fit, with room for more while the sink catches up.
const WAITING_EVENTS: usize = 16 * 1024;

/// How many bytes of events may wait for one sink. An event usually takes one or two kilobytes, so the count limit is reached
/// first; calls that carry whole files must not fill the memory while a disk hangs.
const WAITING_BYTES: usize = 64 * 1024 * 1024;

/// How long to wait for the last events when the sinks are dropped. A busy disk takes a second at worst; service managers
/// commonly wait ten before they kill a process, and other parts of it need time too.
const LAST_WAIT: Duration = Duration::from_secs(2);

/// A set of sinks. Cheap to clone: clones share their sinks.
///
/// Sending an event takes a lock briefly and never waits for a sink. When the last clone is dropped, the waiting events are
/// handed over first, for two seconds at most; then a stuck sink is abandoned with the rest. [`close`](Sinks::close) waits as
/// long as you tell it to, and reports what was lost.
///
/// ```
/// use std::time::{Duration, SystemTime};
/// use callwright::event::{Event, JsonLines, On, Sinks};
/// use callwright::{Call, Gate, ToolSpec};
///
/// let gate = Gate::builder().tool(ToolSpec::without_schema("read_file")).build()?;
/// let sinks = Sinks::builder()
///     .sink("record", JsonLines::new(std::io::stdout()))
///     .on(On::Error, |event| eprintln!("{}: {:?}", event.tool, event.error()))
///     .start()?;
/// let call = Call::from_text("read_file", r#"{"path": "a.txt"}"#);
/// sinks.report(|| Event::of(&gate, &call, &gate.judge(&call), SystemTime::now()));
/// assert!(sinks.flush(Duration::from_secs(60)));
/// assert_eq!(sinks.stats()[0].1.delivered, 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct Sinks(Option<Arc<RunningSinks>>);

#[derive(Debug)]
struct RunningSinks(Vec<Worker>);

#[derive(Debug)]
struct Worker {
    name: String,
    wants: On,
    queue: Arc<SinkQueue>,
    thread: Option<JoinHandle<()>>,
}

/// Collects sinks. Nothing runs before [`start`](SinksBuilder::start).
#[derive(Debug, Default)]
#[must_use]
pub struct SinksBuilder(Vec<SinkRegistration>);

/// A sink, its name, which events it wants and how many may wait for it.
#[derive(Debug)]
#[must_use]
pub struct SinkRegistration {
    name: String,
    sink: Box<dyn Sink>,
    wants: On,
    capacity: Capacity,
}

impl SinkRegistration {
    /// A sink for all events.
    pub fn new(name: impl Into<String>, sink: impl Sink + 'static) -> Self {
        SinkRegistration {
            name: name.into(),
            sink: Box::new(sink),
            wants: On::Any,
            capacity: Capacity {
                events: WAITING_EVENTS,
                bytes: WAITING_BYTES,
            },
        }
    }

    /// Queues only matching events.
    pub fn only(mut self, wants: On) -> Self {
        self.wants = wants;
        self
    }

    /// Sets how many events may wait; at least one.
    pub fn with_capacity(mut self, events: usize) -> Self {
        self.capacity.events = events.max(1);
        self
    }

    /// Sets approximately how many bytes of events may wait. A larger event is dropped.
    pub fn with_capacity_bytes(mut self, bytes: usize) -> Self {
        self.capacity.bytes = bytes;
        self
    }
}

impl SinksBuilder {
    /// Whether no sink was added.
    #[cfg(feature = "toolbox")]
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Adds a sink for all events.
    pub fn sink(self, name: impl Into<String>, sink: impl Sink + 'static) -> Self {
        self.register(SinkRegistration::new(name, sink))
    }

    /// Calls a function for matching events, on its own thread. It gets them unmasked.
    pub fn on(self, wants: On, function: impl FnMut(&Event) + Send + 'static) -> Self {
        let name = format!("on {wants:?}");
        self.register(SinkRegistration::new(name, callback(function)).only(wants))
    }

    /// Adds a sink with its own settings.
    pub fn register(mut self, registration: SinkRegistration) -> Self {
        self.0.push(registration);
        self
    }

    /// Starts a thread for each sink.
    ///
    /// # Errors
    /// Fails if the system cannot start another thread.
    pub fn start(self) -> io::Result<Sinks> {
        let mut running = RunningSinks(Vec::with_capacity(self.0.len()));
        for registration in self.0 {
            running.0.push(registration.start()?);
        }
        Ok(Sinks((!running.0.is_empty()).then(|| Arc::new(running))))
    }
}

impl SinkRegistration {
    fn start(self) -> io::Result<Worker> {
        let queue = Arc::new(SinkQueue::new(self.capacity));
        let sink = self.sink;
        let taken_from = Arc::clone(&queue);
        let thread = thread::Builder::new()
            .name("callwright-sink".to_owned())
            .spawn(move || taken_from.run(sink))?;
        Ok(Worker {
            name: self.name,
            wants: self.wants,
            queue,
            thread: Some(thread),
        })
    }
}

impl Sinks {
    /// Collects sinks.
    pub fn builder() -> SinksBuilder {
        SinksBuilder::default()
    }

    /// Whether there are no sinks. Ask before building an event.
    pub fn is_empty(&self) -> bool {
        self.0.is_none()
    }

    fn workers(&self) -> &[Worker] {
        self.0.as_ref().map_or(&[], |running| &running.0)
    }

    /// Hands an event to every sink that wants it, without waiting for any.
    pub fn send(&self, event: impl Into<Arc<Event>>) {
        if self.is_empty() {
            return;
        }
        let event = event.into();
        let weight = event.weight();
        for worker in self.workers() {
            if worker.wants.is(&event) {
                worker.queue.push(Arc::clone(&event), weight);
            }
        }
    }

    /// Builds and sends an event if there is a sink.
    pub fn report(&self, event: impl FnOnce() -> Event) {
        if !self.is_empty() {
            self.send(event());
        }
    }

    /// The names of the sinks and their statistics, in the order in which they were added.
    pub fn stats(&self) -> Vec<(&str, SinkStats)> {
        let each = self.workers().iter();
        each.map(|worker| (worker.name.as_str(), worker.queue.stats()))
            .collect()
    }

    /// Closes the sinks of all clones: waiting events are handed over and flushed until the time is up, and later ones are
    /// dropped. Returns how many events were lost in total: the sinks failed on them, they did not fit in a queue, or they are
    /// not known to have been written.
    ///
    /// Dropping the last clone does the same with two seconds, and can only report to `tracing`.
    pub fn close(&self, timeout: Duration) -> u64 {
        let deadline = later(timeout);
        for worker in self.workers() {
            worker.queue.close();
        }
        let workers = self.workers().iter();
        let lost = workers.map(|worker| {
            worker.queue.wait_for_end(deadline);
            worker.queue.lost()
        });
        lost.sum()
    }

    /// Waits until every sink has flushed all events sent so far; `false` if one took longer.
    pub fn flush(&self, timeout: Duration) -> bool {
        let deadline = later(timeout);
        let mut all = true;
        for worker in self.workers() {
            all &= worker.queue.flush(deadline);
        }
        all
    }
}

/// A timeout too long for the clock counts as a year.
fn later(timeout: Duration) -> Instant {
    const YEAR: Duration = Duration::from_secs(365 * 86_400);
    let now = Instant::now();
    now.checked_add(timeout).unwrap_or(now + YEAR)
}

impl Drop for RunningSinks {
    fn drop(&mut self) {
        for worker in &self.0 {
            worker.queue.close();
        }
        let deadline = later(LAST_WAIT);
        for worker in &mut self.0 {
            let Some(thread) = worker.thread.take() else {
                continue;
            };
            // If a sink held the last clone, this is its own thread, which must not wait for itself.
            let is_own = thread.thread().id() == thread::current().id();
            if is_own {
                continue;
            }
            if worker.queue.wait_for_end(deadline) {
                // A panic has already been counted.
                let _ = thread.join();
            }
            #[cfg(feature = "tracing")]
            if worker.queue.lost() > 0 {
                let (sink, lost) = (worker.name.as_str(), worker.queue.lost());
                tracing::warn!(sink, lost, "events were lost");
            }
        }
    }
}
