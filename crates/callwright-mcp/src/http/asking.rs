//! A call that waits for the user: the question goes out on the stream of the very request that brought the call, and the
//! answer to the call behind it.

use futures_util::stream;
use http_body_util::{BodyExt, Collected, StreamBody};
use hyper::Response;
use hyper::body::{Bytes, Frame};
use hyper::header::{CACHE_CONTROL, CONTENT_TYPE, HeaderValue};

use super::headers::{self, Kind};
use super::relay::{Answer, Sent};
use super::reply::{Body, BoxError};
use super::sse;

/// What comes next on the stream.
enum Next {
    /// An event that is there already, and what comes after it.
    Event(Vec<u8>, Box<Next>),
    /// Calls that wait.
    Waits(Box<Sent>),
    /// What the server answers.
    Passes(Body),
    /// Nothing.
    Over,
}

/// A stream that begins with a question to the user.
pub(crate) fn stream(sent: Sent, question: &[u8]) -> Response<Body> {
    let first = Next::Event(
        sse::event_of(question),
        Box::new(Next::Waits(Box::new(sent))),
    );
    let frames = stream::unfold(first, Next::frame);
    let mut response = Response::new(BodyExt::boxed_unsync(StreamBody::new(frames)));
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    response
}

impl Next {
    async fn frame(self) -> Option<(Result<Frame<Bytes>, BoxError>, Next)> {
        let mut next = self;
        loop {
            next = match next {
                Next::Event(event, after) => return Some((Ok(Frame::data(event.into())), *after)),
                Next::Waits(mut sent) => match sent.judged().await {
                    Ok(Some(question)) => {
                        Next::Event(sse::event_of(&question), Box::new(Next::Waits(sent)))
                    }
                    Ok(None) => events(sent.forward().await).await,
                    Err(refused) => events(Err(refused)).await,
                },
                Next::Passes(mut body) => {
                    let frame = body.frame().await?;
                    return Some((frame, Next::Passes(body)));
                }
                Next::Over => return None,
            }
        }
    }
}

/// An answer as events, whatever it is.
async fn events(answer: Answer) -> Next {
    let answer = answer.unwrap_or_else(|refused| *refused);
    if headers::kind(answer.headers()) == Kind::Stream {
        return Next::Passes(answer.into_body());
    }
    match answer.into_body().collect().await.map(Collected::to_bytes) {
        Ok(message) if !message.trim_ascii().is_empty() => {
            Next::Event(sse::event_of(&message), Box::new(Next::Over))
        }
        _ => Next::Over,
    }
}
