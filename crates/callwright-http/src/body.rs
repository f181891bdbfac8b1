//! Bodies: read within limits, made from bytes or from a stream.

use std::error::Error;
use std::time::Duration;

use bytes::Bytes;
use futures_util::Stream;
use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt, Full, StreamBody};
use hyper::body::{Frame, Incoming};
use hyper::header::{CONTENT_TYPE, HeaderValue};
use hyper::{Response, StatusCode};
use tokio::time::timeout;

use crate::headers;
use crate::upstream::TransferError;

/// The body of a response to a client.
pub type Body = UnsyncBoxBody<Bytes, BoxError>;

/// Why a body breaks off.
pub type BoxError = Box<dyn Error + Send + Sync>;

/// Reads a whole body of at most `max_bytes`. Gives up after `silence` without a byte.
///
/// # Errors
///
/// If the body is larger, silent for longer, or breaks off.
pub async fn read(
    mut body: Incoming,
    max_bytes: usize,
    silence: Duration,
) -> Result<Bytes, TransferError> {
    let mut all = Vec::new();
    loop {
        let frame = timeout(silence, body.frame())
            .await
            .map_err(|_| TransferError::Silent(silence))?;
        let Some(frame) = frame else {
            return Ok(all.into());
        };
        if let Ok(data) = frame?.into_data() {
            if all.len() + data.len() > max_bytes {
                return Err(TransferError::TooLarge(max_bytes));
            }
            all.extend_from_slice(&data);
        }
    }
}

/// A body of bytes that are all there.
pub fn full(bytes: impl Into<Bytes>) -> Body {
    Full::new(bytes.into())
        .map_err(|never| match never {})
        .boxed_unsync()
}

/// A body that is made while it is sent.
pub fn streamed(
    frames: impl Stream<Item = Result<Frame<Bytes>, BoxError>> + Send + 'static,
) -> Body {
    BodyExt::boxed_unsync(StreamBody::new(frames))
}

/// A response of JSON.
pub fn json(status: StatusCode, bytes: impl Into<Bytes>) -> Response<Body> {
    let mut response = Response::new(full(bytes));
    *response.status_mut() = status;
    let json = HeaderValue::from_static("application/json");
    response.headers_mut().insert(CONTENT_TYPE, json);
    response
}

/// The upstream's response, passed on as it is.
pub fn passed_through(response: Response<Incoming>) -> Response<Body> {
    let (mut parts, body) = response.into_parts();
    headers::strip_hop_by_hop(&mut parts.headers);
    Response::from_parts(parts, body.map_err(Into::into).boxed_unsync())
}
