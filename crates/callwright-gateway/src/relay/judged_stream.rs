//! Judges an answer while it streams.
//!
//! Takes the upstream's events; returns bytes for the client. This is where the clock is: events held too long are
//! released, a waiting client gets keep-alives, and an upstream that is silent for too long has failed. What happens
//! to an event is decided by the guard.

use std::collections::VecDeque;
use std::pin::Pin;
use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::Bytes;
use callwright_http::body::{self, Body, BoxError};
use callwright_http::sse::EventReader;
use callwright_http::upstream::TransferError;
use callwright_live::{Counter, Timer};
use futures_util::stream;
use hyper::body::Frame;
use tokio::time::timeout;

use super::answer_end::AnswerEnd;
use super::array_stream::ArrayStream;
use crate::gateway::GatewayOptions;
use crate::guard::AnswerGuard;
use crate::judge::AnswerJudge;
use crate::reask::AskedAgain;
use crate::relay::Relay;
use crate::unjudged::Unjudged;

/// How long the last bytes before a failure get to reach the client's socket.
const LAST_BYTES: Duration = Duration::from_millis(100);

/// The source of an answer's events.
pub(crate) enum AnswerEvents {
    EventStream(EventReader),
    /// A JSON array whose elements are the events.
    Array(ArrayStream),
}

impl AnswerEvents {
    async fn next(&mut self) -> Result<Option<Bytes>, TransferError> {
        match self {
            AnswerEvents::EventStream(events) => events.next().await,
            AnswerEvents::Array(elements) => elements.next().await,
        }
    }

    /// The bytes after the last complete event.
    fn rest(&mut self) -> Bytes {
        match self {
            AnswerEvents::EventStream(events) => events.rest(),
            AnswerEvents::Array(elements) => elements.rest(),
        }
    }

    /// An event in the format the client expects.
    fn written(&mut self, event: Bytes) -> Bytes {
        match self {
            AnswerEvents::EventStream(_) => event,
            AnswerEvents::Array(elements) => elements.written(event),
        }
    }
}

/// An answer that is judged while it streams.
pub(crate) struct JudgedAnswerStream {
    events: AnswerEvents,
    guard: AnswerGuard,
    judge: Box<AnswerJudge>,
    /// What to send to the client next.
    ready: VecDeque<Bytes>,
    /// The end of an array, sent after everything else.
    tail: Option<Bytes>,
    /// Why the stream broke off; reported after what came before.
    failure: Option<BoxError>,
    held_since: Option<Instant>,
    sent_at: Instant,
    is_over: bool,
    end: AnswerEnd,
    /// A request in progress that asks the model again.
    asking: Option<Pin<Box<dyn Future<Output = AskedAgain> + Send>>>,
    relay: Arc<Relay>,
}

/// Runs however an answer ends, even if the client disconnects.
impl Drop for JudgedAnswerStream {
    fn drop(&mut self) {
        self.relay.note_answer(&self.guard);
    }
}

impl JudgedAnswerStream {
    pub(crate) fn new(
        relay: Arc<Relay>,
        events: AnswerEvents,
        guard: AnswerGuard,
        judge: Box<AnswerJudge>,
        end: AnswerEnd,
    ) -> Self {
        JudgedAnswerStream {
            events,
            guard,
            judge,
            ready: VecDeque::new(),
            tail: None,
            failure: None,
            held_since: None,
            sent_at: Instant::now(),
            is_over: false,
            end,
            asking: None,
            relay,
        }
    }

    /// The body for the client.
    pub(crate) fn into_body(self) -> Body {
        let frames = stream::unfold(self, |mut stream| async move {
            let frame = stream.next().await?;
            Some((frame.map(Frame::data), stream))
        });
        body::streamed(frames)
    }

    fn options(&self) -> &GatewayOptions {
        &self.relay.options
    }

    /// The next bytes for the client; `None` at the end.
    async fn next(&mut self) -> Option<Result<Bytes, BoxError>> {
        loop {
            if let Some(bytes) = self.ready.pop_front() {
                self.sent_at = Instant::now();
                return Some(Ok(bytes));
            }
            let mut out = Vec::new();
            if let Some(asking) = &mut self.asking {
                let keep_alive = self.relay.options.keep_alive;
                match timeout(keep_alive, asking).await {
                    Ok(asked) => {
                        self.asking = None;
                        self.end.conclude(&asked, &mut self.judge, &mut out);
                        self.watch_hold(&mut out);
                    }
                    Err(_) => out.extend(self.guard.keep_alive()),
                }
                self.send(out);
                continue;
            }
            if self.is_over {
                if let Some(tail) = self.tail.take() {
                    return Some(Ok(tail));
                }
                self.judge.record.finish();
                let failure = self.failure.take()?;
                // Failing drops the connection immediately, with everything not yet written to it.
                tokio::time::sleep(LAST_BYTES).await;
                return Some(Err(failure));
            }
            match timeout(self.patience(), self.events.next()).await {
                Ok(Ok(Some(event))) => {
                    self.end.note(&event);
                    self.guard.event(event, &mut *self.judge, &mut out);
                }
                // An event without its end is for the client to judge.
                Ok(Ok(None) | Err(TransferError::Unfinished)) => {
                    self.is_over = true;
                    self.guard.end(&mut *self.judge, &mut out);
                    let rest = self.events.rest();
                    if matches!(self.events, AnswerEvents::Array(_)) {
                        self.tail = Some(rest).filter(|rest| !rest.is_empty());
                    } else if !rest.is_empty() {
                        self.end.never_ask();
                        out.push(rest);
                    }
                }
                Ok(Err(error)) => {
                    self.is_over = true;
                    self.guard.break_off(&mut *self.judge, &mut out);
                    self.end.release(&mut out);
                    out.push(self.events.rest());
                    self.failure = Some(error.into());
                }
                Err(_) if self.is_holding() => {
                    let is_due = self.sent_at.elapsed() >= self.options().keep_alive;
                    self.send(self.guard.keep_alive().filter(|_| is_due));
                }
                Err(_) => {
                    self.is_over = true;
                    self.failure =
                        Some(TransferError::Silent(self.options().proxy.limits.silence).into());
                }
            }
            if self
                .end
                .pass(&mut out, &self.guard, &self.judge, self.is_over)
            {
                self.asking = self
                    .end
                    .ask(&self.guard, &self.judge, Arc::clone(&self.relay));
                if self.asking.is_none() {
                    self.end.release(&mut out);
                }
            }
            if self.end.take_defect() {
                self.relay.unjudged(Unjudged::Defect.name());
            }
            self.watch_hold(&mut out);
            self.send(out);
        }
    }

    /// Queues bytes for the client.
    fn send(&mut self, out: impl IntoIterator<Item = Bytes>) {
        for bytes in out.into_iter().filter(|bytes| !bytes.is_empty()) {
            self.ready.push_back(self.events.written(bytes));
        }
    }

    /// Whether anything is held until the end of a call or of the answer.
    fn is_holding(&self) -> bool {
        self.guard.is_holding() || self.end.is_holding()
    }

    /// How long to wait for the upstream before something else has to be done.
    fn patience(&self) -> Duration {
        if !self.is_holding() {
            return self.options().proxy.limits.silence;
        }
        let held = self
            .held_since
            .map(|since| since.elapsed())
            .unwrap_or_default();
        let until_release = self.options().hold.saturating_sub(held);
        let until_alive = self
            .options()
            .keep_alive
            .saturating_sub(self.sent_at.elapsed());
        until_release.min(until_alive).max(Duration::from_millis(1))
    }

    /// Notes when holding began, and releases what has been held for too long.
    fn watch_hold(&mut self, out: &mut Vec<Bytes>) {
        if !self.is_holding() {
            if let Some(since) = self.held_since.take() {
                self.relay.live.time(Timer::Hold, since.elapsed());
            }
            return;
        }
        let since = *self.held_since.get_or_insert_with(Instant::now);
        let held = self.guard.held_bytes() + self.end.held_bytes();
        if self.asking.is_none()
            && (since.elapsed() >= self.options().hold || held > self.options().hold_bytes)
        {
            self.relay.live.count(Counter::Released, &[]);
            self.guard.release(&mut *self.judge, out);
            self.end.release(out);
        }
    }
}
