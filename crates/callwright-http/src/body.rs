//! Request and response bodies: read within limits, built from bytes or from a stream.

use std::error::Error;
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use futures_util::{FutureExt, Stream, StreamExt, TryStreamExt, stream};
use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt, BodyStream, Full, StreamBody};
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

/// A body, read as far as it may be kept.
#[derive(Debug)]
pub enum Portion {
    /// All of it.
    Whole(Bytes),
    /// It is larger: the bytes read so far, and the rest.
    Beginning(Bytes, Incoming),
}

impl Portion {
    /// Turns it back into a body.
    pub fn into_body(self) -> Body {
        match self {
            Portion::Whole(bytes) => full(bytes),
            Portion::Beginning(bytes, rest) => {
                let first = stream::once(std::future::ready(Ok(Frame::data(bytes))));
                let rest = TryStreamExt::map_err(BodyStream::new(rest), BoxError::from);
                streamed(first.chain(rest))
            }
        }
    }
}

/// Reads a whole body of at most `max_bytes`. Gives up after `silence` without a byte.
///
/// # Errors
///
/// If the body is larger, silent for longer, or breaks off.
pub async fn read(
    body: Incoming,
    max_bytes: usize,
    silence: Duration,
) -> Result<Bytes, TransferError> {
    match read_portion(body, max_bytes, silence).await? {
        Portion::Whole(bytes) => Ok(bytes),
        Portion::Beginning(..) => Err(TransferError::TooLarge(max_bytes)),
    }
}

/// Reads a body until it ends or has more than `max_bytes`. Gives up after `silence` without a byte.
///
/// # Errors
///
/// If the body is silent for longer, or breaks off.
pub async fn read_portion(
    mut body: Incoming,
    max_bytes: usize,
    silence: Duration,
) -> Result<Portion, TransferError> {
    // Most bodies arrive in one piece, which is kept as it is.
    let mut first: Option<Bytes> = None;
    let mut all = BytesMut::new();
    loop {
        let frame = match body.frame().now_or_never() {
            // Most frames are already there: no timer is needed.
            Some(frame) => frame,
            None => timeout(silence, body.frame())
                .await
                .map_err(|_| TransferError::Silent(silence))?,
        };
        let Some(frame) = frame else {
            return Ok(Portion::Whole(first.unwrap_or_else(|| all.freeze())));
        };
        let Ok(data) = frame?.into_data() else {
            continue;
        };
        if first.is_none() && all.is_empty() {
            first = Some(data);
        } else {
            if let Some(first) = first.take() {
                all.extend_from_slice(&first);
            }
            all.extend_from_slice(&data);
        }
        if first.as_ref().map_or(all.len(), Bytes::len) > max_bytes {
            let read = first.unwrap_or_else(|| all.freeze());
            return Ok(Portion::Beginning(read, body));
        }
    }
}

/// The text of a body without the byte order mark that it may begin with: most clients skip it, though JSON does not allow it.
#[must_use]
pub fn without_byte_order_mark(body: &[u8]) -> &[u8] {
    body.strip_prefix("\u{feff}".as_bytes()).unwrap_or(body)
}

/// A body of complete bytes.
pub fn full(bytes: impl Into<Bytes>) -> Body {
    Full::new(bytes.into())
        .map_err(|never| match never {})
        .boxed_unsync()
}

/// A body that is produced while it is sent.
pub fn streamed(
    frames: impl Stream<Item = Result<Frame<Bytes>, BoxError>> + Send + 'static,
) -> Body {
    BodyExt::boxed_unsync(StreamBody::new(frames))
}

/// A JSON response.
pub fn json(status: StatusCode, bytes: impl Into<Bytes>) -> Response<Body> {
    let mut response = Response::new(full(bytes));
    *response.status_mut() = status;
    let json = HeaderValue::from_static("application/json");
    response.headers_mut().insert(CONTENT_TYPE, json);
    response
}

/// The upstream's response, passed on unchanged.
pub fn passed_through(response: Response<Incoming>) -> Response<Body> {
    let (mut parts, body) = response.into_parts();
    headers::strip_hop_by_hop(&mut parts.headers);
    Response::from_parts(parts, body.map_err(Into::into).boxed_unsync())
}
