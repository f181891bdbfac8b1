//! Answers of our own.

use std::error::Error;

use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt, Full};
use hyper::body::Bytes;
use hyper::header::{CONTENT_TYPE, HeaderValue};
use hyper::{Response, StatusCode};

use crate::answer;

/// The body of an answer.
pub(crate) type Body = UnsyncBoxBody<Bytes, BoxError>;

/// Why a body breaks off.
pub(crate) type BoxError = Box<dyn Error + Send + Sync>;

/// What JSON-RPC leaves to servers: something between client and server does not work.
pub(crate) const BETWEEN: i32 = -32_000;

/// A body that is there already.
pub(crate) fn whole(bytes: impl Into<Bytes>) -> Body {
    Full::new(bytes.into())
        .map_err(|never| match never {})
        .boxed_unsync()
}

/// Messages for a client: one, or an array where it sent one.
pub(crate) fn messages(messages: &[Vec<u8>], is_batch: bool) -> Response<Body> {
    let bytes = match messages {
        [message] if !is_batch => message.clone(),
        _ => batch(messages),
    };
    json(StatusCode::OK, bytes)
}

/// Several messages as one.
pub(crate) fn batch<M: AsRef<[u8]>>(messages: &[M]) -> Vec<u8> {
    let mut bytes = vec![b'['];
    for (at, message) in messages.iter().enumerate() {
        if at > 0 {
            bytes.push(b',');
        }
        bytes.extend_from_slice(message.as_ref());
    }
    bytes.push(b']');
    bytes
}

/// A request that does not reach the server. The id is `null` where the request has none, or is none.
pub(crate) fn error(status: StatusCode, id: Option<&str>, why: &str) -> Response<Body> {
    json(status, answer::error(id.unwrap_or("null"), BETWEEN, why))
}

/// Taken, and there is nothing to say.
pub(crate) fn accepted() -> Response<Body> {
    let mut response = Response::new(whole(Bytes::new()));
    *response.status_mut() = StatusCode::ACCEPTED;
    response
}

pub(crate) fn json(status: StatusCode, bytes: Vec<u8>) -> Response<Body> {
    let mut response = Response::new(whole(bytes));
    *response.status_mut() = status;
    let kind = HeaderValue::from_static("application/json");
    response.headers_mut().insert(CONTENT_TYPE, kind);
    response
}
