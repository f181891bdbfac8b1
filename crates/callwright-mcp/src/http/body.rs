//! Answers of the server on their way to the client: events one by one, as they come.

use std::error::Error;
use std::sync::Arc;
use std::time::Duration;

use futures_util::stream;
use http_body_util::{BodyExt, StreamBody};
use hyper::Response;
use hyper::body::{Bytes, Frame, Incoming};
use hyper::header::HeaderValue;
use tokio::sync::watch;

use super::exchange::Exchange;
use super::headers::{self, Kind};
use super::relay::Shared;
use super::reply::{BETWEEN, Body};
use super::session::{Passed, Way};
use super::sse::{self, Splitter};
use super::upstream::{Trouble, Upstream, root};
use crate::answer;
use crate::message::Message;

/// The messages of an answer to a question of ours.
#[derive(Debug)]
pub(crate) struct Messages {
    body: Option<Incoming>,
    /// Events, unless the answer is one message.
    events: Option<Splitter>,
    place: Place,
    has_come: bool,
}

/// Where a stream has ended, and how it goes on.
#[derive(Debug, Clone, Default)]
pub(crate) struct Place {
    /// The id of the last event.
    pub(crate) last: Option<HeaderValue>,
    /// How long the server wants us to wait.
    pub(crate) pause: Option<Duration>,
}

impl Messages {
    /// `None` if there are no messages in this answer.
    pub(crate) fn of(answer: Response<Incoming>) -> Option<Self> {
        let kind = headers::kind(answer.headers());
        if !answer.status().is_success() || kind == Kind::Other {
            return None;
        }
        Some(Messages {
            body: Some(answer.into_body()),
            events: (kind == Kind::Stream).then(Splitter::default),
            place: Place::default(),
            has_come: false,
        })
    }

    /// The messages behind a place; none, if the stream could not be taken up there.
    pub(crate) fn behind(place: Place, stream: Option<Self>) -> Self {
        Messages {
            body: stream.and_then(|stream| stream.body),
            events: Some(Splitter::default()),
            place,
            has_come: false,
        }
    }

    /// Where it goes on, if it can.
    pub(crate) fn place(&self) -> Option<Place> {
        self.place.last.is_some().then(|| self.place.clone())
    }

    /// Whether there was any event.
    pub(crate) fn has_come(&self) -> bool {
        self.has_come
    }

    pub(crate) async fn next(&mut self, upstream: &Upstream) -> Option<Vec<u8>> {
        let Some(events) = &mut self.events else {
            let body = self.body.take()?;
            return upstream.read(body).await.ok().map(Into::into);
        };
        loop {
            while let Some(event) = events.event() {
                self.has_come = true;
                if let Some(id) = sse::id(&event) {
                    self.place.last = HeaderValue::from_bytes(id).ok();
                }
                self.place.pause = sse::pause(&event).or(self.place.pause);
                if let Some(data) = sse::data(&event) {
                    return Some(data.into_owned());
                }
            }
            if events.waiting() > upstream.most_bytes() {
                return None;
            }
            let frame = self.body.as_mut()?.frame().await?.ok()?;
            if let Ok(data) = frame.into_data() {
                events.push(&data);
            }
        }
    }
}

/// A stream of events on its way.
pub(crate) struct Stream {
    pub(crate) shared: Arc<Shared>,
    pub(crate) exchange: Exchange,
    /// How the client's request went to the server.
    pub(crate) way: Way,
    pub(crate) body: Incoming,
    /// What goes before it.
    pub(crate) first: Vec<u8>,
    /// Whether the stream has no end of its own, so that the end of everything ends it.
    pub(crate) is_endless: bool,
    /// Whether streams of this client can be taken up again.
    pub(crate) has_session: bool,
}

struct Flow {
    stream: Stream,
    events: Splitter,
    ending: watch::Receiver<bool>,
    is_over: bool,
}

type BoxError = Box<dyn Error + Send + Sync>;

impl Stream {
    /// The stream as the client gets it.
    pub(crate) fn judged(self) -> Body {
        let flow = Flow {
            ending: self.shared.ending.clone(),
            stream: self,
            events: Splitter::default(),
            is_over: false,
        };
        let portions = stream::unfold(flow, |mut flow| async move {
            let portion = flow.portion().await?;
            Some((portion.map(|bytes| Frame::data(Bytes::from(bytes))), flow))
        });
        BodyExt::boxed_unsync(StreamBody::new(portions))
    }
}

impl Flow {
    /// What goes to the client next.
    async fn portion(&mut self) -> Option<Result<Vec<u8>, BoxError>> {
        if !self.stream.first.is_empty() {
            return Some(Ok(std::mem::take(&mut self.stream.first)));
        }
        while !self.is_over {
            let mut judged = Vec::new();
            while let Some(event) = self.events.event() {
                judged.extend_from_slice(&self.judge(event));
            }
            if !judged.is_empty() {
                return Some(Ok(judged));
            }
            let most = self.stream.shared.upstream.most_bytes();
            if self.events.waiting() > most {
                return Some(self.trouble(&Trouble::TooBig(most)));
            }
            let frame = tokio::select! {
                frame = self.stream.body.frame() => frame,
                _ = self.ending.wait_for(|ending| *ending), if self.stream.is_endless => None,
            };
            match frame {
                Some(Ok(frame)) => {
                    if let Ok(data) = frame.into_data() {
                        self.events.push(&data);
                    }
                }
                Some(Err(error)) => return Some(self.trouble(&Trouble::Broken(root(&error)))),
                None => {
                    self.is_over = true;
                    let rest = self.events.rest();
                    return (!rest.is_empty()).then_some(Ok(rest));
                }
            }
        }
        None
    }

    fn judge(&mut self, event: Vec<u8>) -> Vec<u8> {
        let Stream {
            shared,
            exchange,
            way,
            has_session,
            ..
        } = &mut self.stream;
        if *has_session && sse::id(&event).is_some() {
            exchange.can_go_on();
        }
        let Some(data) = sse::data(&event) else {
            return event;
        };
        if !*has_session && is_change_of_tools(&data) {
            shared.sessions.tools_changed(&exchange.session, &data);
        }
        let passed = exchange.session.pass(shared, way, &data);
        exchange.sent(&data);
        match passed {
            Passed::Same => event,
            Passed::Changed(message) => sse::with_data(&event, Some(&message)),
            Passed::Gone => sse::with_data(&event, None),
        }
    }

    /// The stream breaks. Who can take it up again does so; others are told, for each request that has no answer.
    fn trouble(&mut self, trouble: &Trouble) -> Result<Vec<u8>, BoxError> {
        self.is_over = true;
        let why = self.stream.shared.upstream.tell(trouble);
        let exchange = &self.stream.exchange;
        if exchange.open().is_empty() || exchange.goes_on() {
            return Err(why.into());
        }
        let errors = exchange.open().iter();
        let events = errors.flat_map(|id| sse::event_of(&answer::error(id, BETWEEN, &why)));
        Ok(events.collect())
    }
}

fn is_change_of_tools(message: &[u8]) -> bool {
    matches!(Message::read(message), Message::Notification { method, .. }
        if method == "notifications/tools/list_changed")
}
