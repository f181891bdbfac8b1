//! The parts of a request that matter here: its tools, its model, the calls it wants, its conversation.
//!
//! Examines the body as it passes ([`ScannedBody`]), and never changes it. A compressed body is decompressed for
//! this, within bounds, and forwarded as the bytes received.

mod members;
mod scan;

use std::borrow::Cow;
use std::io::Read;
use std::ops::Range;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use bytes::Bytes;
use callwright::internal::first_bytes;
use callwright_http::body::BoxError;
use hyper::HeaderMap;
use hyper::body::{Body, Frame, Incoming, SizeHint};
use hyper::header::CONTENT_ENCODING;
use parking_lot::Mutex;

use self::members::{RequestMember, RequestMembers};
use self::scan::RequestScan;
use crate::api::model_in_path;
use crate::text_calls::TakenIds;
use crate::text_calls::{CallScope, WantedCalls};
use crate::unjudged::{Unjudged, contained};

/// How many bytes of a model name are kept. The longest ones are file paths.
const LONGEST_MODEL: usize = 128;

/// A request, once all of it has passed.
#[derive(Debug)]
pub(crate) struct RequestView {
    pub(crate) found: RequestMembers,
    /// Its body, if it is needed later.
    pub(crate) body: KeptBody,
}

/// A body in pieces as received; empty if it is not needed.
#[derive(Debug, Default)]
pub(crate) struct KeptBody(Vec<Bytes>);

impl KeptBody {
    /// All of it.
    pub(crate) fn whole(&self) -> Bytes {
        match self.0.as_slice() {
            [only] => only.clone(),
            pieces => pieces.concat().into(),
        }
    }

    /// A part of it.
    pub(crate) fn part(&self, span: &Range<usize>) -> Cow<'_, [u8]> {
        let mut start = 0;
        let mut part: Option<Cow<'_, [u8]>> = None;
        for piece in &self.0 {
            let end = start + piece.len();
            let (from, to) = (span.start.max(start), span.end.min(end));
            if from < to {
                let bytes = &piece[from - start..to - start];
                match &mut part {
                    None => part = Some(Cow::Borrowed(bytes)),
                    Some(part) => part.to_mut().extend_from_slice(bytes),
                }
            }
            start = end;
        }
        part.unwrap_or_default()
    }
}

impl RequestView {
    /// Reads a complete body.
    pub(crate) fn read(body: Bytes) -> Option<Self> {
        let mut scan = RequestScan::default();
        scan.read(&body);
        Some(RequestView {
            found: scan.end()?,
            body: KeptBody(vec![body]),
        })
    }

    /// The list of tools, as written.
    pub(crate) fn tools(&self) -> Option<&str> {
        let older = || self.found.member(RequestMember::Functions);
        let tools = self.found.member(RequestMember::Tools).or_else(older);
        tools.filter(|tools| *tools != "null")
    }

    /// The requested model, from the body or the path; empty if the request does not name one.
    pub(crate) fn model(&self, path: &str) -> String {
        let model = self.found.member(RequestMember::Model);
        let model: Option<String> = model.and_then(|model| serde_json::from_str(model).ok());
        let model = model.as_deref().or_else(|| model_in_path(path));
        first_bytes(model.unwrap_or_default(), LONGEST_MODEL).to_owned()
    }

    /// Which calls the request permits; `None` if it forbids calls.
    pub(crate) fn call_scope(&self) -> Option<CallScope> {
        CallScope::of(WantedCalls {
            tool_choice: self.found.member(RequestMember::ToolChoice),
            tool_config: self.found.member(RequestMember::ToolConfig),
            parallel_tool_calls: self.found.member(RequestMember::ParallelToolCalls),
        })
    }

    /// Whether text in the answer may be calls: not if the request asks for JSON, which may look like a call, or
    /// comes from a client that only knows the older `functions` form.
    pub(crate) fn may_be_rescued(&self) -> bool {
        let says = |member: RequestMember, words: &[&str]| {
            let text = self.found.member(member);
            text.is_some_and(|text| words.iter().any(|word| text.contains(word)))
        };
        let formats = [
            RequestMember::ResponseFormat,
            RequestMember::Text,
            RequestMember::OutputConfig,
            RequestMember::OutputFormat,
            RequestMember::GenerationConfig,
        ];
        let json = ["\"json_schema\"", "\"json_object\"", "\"application/json\""];
        let has = |member| self.found.member(member).is_some();
        let is_older = !has(RequestMember::Tools) && has(RequestMember::Functions);
        !is_older && !formats.iter().any(|format| says(*format, &json))
    }

    /// The call ids used in the conversation. If the provider stores the conversation, only the provider knows them.
    pub(crate) fn taken_ids(&self) -> TakenIds {
        let kept = [
            RequestMember::PreviousResponse,
            RequestMember::Conversation,
            RequestMember::Thread,
        ];
        let is_kept =
            |member: &RequestMember| self.found.member(*member).is_some_and(|it| it != "null");
        if kept.iter().any(is_kept) {
            return TakenIds::default();
        }
        self.found.ids.clone()
    }
}

/// A body on its way upstream, examined as it passes.
#[derive(Debug)]
pub(crate) struct ScannedBody {
    body: Incoming,
    scan: Arc<Mutex<BodyScan>>,
}

/// What has been seen of a body.
#[derive(Debug)]
pub(crate) struct BodyScan {
    /// The scan, or why the body is no longer examined.
    scan: Result<RequestScan, &'static str>,
    kept: Option<Vec<Bytes>>,
    /// How many bytes may still come.
    room: usize,
    has_ended: bool,
    /// Why the client did not send all of it.
    failure: Option<String>,
}

impl ScannedBody {
    /// Examines at most `max_bytes`, and keeps them if they are needed later.
    pub(crate) fn new(
        body: Incoming,
        is_kept: bool,
        max_bytes: usize,
    ) -> (Self, Arc<Mutex<BodyScan>>) {
        let scan = Arc::new(Mutex::new(BodyScan {
            scan: Ok(RequestScan::default()),
            kept: is_kept.then(Vec::new),
            room: max_bytes,
            has_ended: body.is_end_stream(),
            failure: None,
        }));
        let scanned = ScannedBody {
            body,
            scan: Arc::clone(&scan),
        };
        (scanned, scan)
    }
}

impl BodyScan {
    fn take(&mut self, piece: &Bytes) {
        let Some(room) = self.room.checked_sub(piece.len()) else {
            (self.scan, self.kept) = (Err("request_too_large"), None);
            return;
        };
        self.room = room;
        if let Ok(scan) = &mut self.scan
            && contained(|| scan.read(piece)).is_none()
        {
            (self.scan, self.kept) = (Err(Unjudged::Defect.name()), None);
        }
        if let Some(kept) = self.kept.as_mut().filter(|_| self.scan.is_ok()) {
            kept.push(piece.clone());
        }
    }

    /// What the request says, or why that is unknown.
    pub(crate) fn view(&mut self) -> Result<RequestView, &'static str> {
        let scan = std::mem::replace(&mut self.scan, Err("request_shape"))?;
        let found = contained(|| scan.end()).ok_or(Unjudged::Defect.name())?;
        let found = found.ok_or("request_shape")?;
        let body = KeptBody(self.kept.take().unwrap_or_default());
        Ok(RequestView { found, body })
    }

    /// Why the client broke off, if it did.
    pub(crate) fn failure(&self) -> Option<&str> {
        self.failure.as_deref()
    }

    /// Whether all of it has passed.
    pub(crate) fn has_ended(&self) -> bool {
        self.has_ended
    }
}

impl Body for ScannedBody {
    type Data = Bytes;
    type Error = BoxError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BoxError>>> {
        let Poll::Ready(frame) = Pin::new(&mut self.body).poll_frame(context) else {
            return Poll::Pending;
        };
        let mut scan = self.scan.lock();
        match &frame {
            Some(Ok(frame)) => {
                if let Some(piece) = frame.data_ref() {
                    scan.take(piece);
                }
                scan.has_ended = self.body.is_end_stream();
            }
            Some(Err(error)) => scan.failure = Some(format!("broke off: {error}.")),
            None => scan.has_ended = true,
        }
        drop(scan);
        Poll::Ready(frame.map(|frame| frame.map_err(BoxError::from)))
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

/// The body, decompressed; `None` if its encoding is not supported, or it is too large.
pub(crate) fn decoded<'b>(
    headers: &HeaderMap,
    body: &'b [u8],
    max_bytes: usize,
) -> Option<Cow<'b, [u8]>> {
    let encoding = match headers.get(CONTENT_ENCODING) {
        None => return Some(Cow::Borrowed(body)),
        Some(encoding) => encoding.to_str().ok()?.trim().to_ascii_lowercase(),
    };
    let mut plain = Vec::new();
    // Reading one byte more than allowed shows whether there is more.
    let limit = u64::try_from(max_bytes).ok()?.saturating_add(1);
    match encoding.as_str() {
        "identity" => return Some(Cow::Borrowed(body)),
        "gzip" => flate2::read::GzDecoder::new(body)
            .take(limit)
            .read_to_end(&mut plain)
            .ok()?,
        "zstd" => {
            let decoder = ruzstd::decoding::StreamingDecoder::new(body).ok()?;
            decoder.take(limit).read_to_end(&mut plain).ok()?
        }
        _ => return None,
    };
    (plain.len() <= max_bytes).then_some(Cow::Owned(plain))
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;

    use super::{KeptBody, RequestView};

    #[test]
    fn a_request_may_forbid_calls() {
        let leaves_room = |body: &str| {
            let view =
                RequestView::read(Bytes::copy_from_slice(body.as_bytes())).expect("a request");
            view.call_scope().is_some() && view.may_be_rescued()
        };
        for body in [
            "{}",
            r#"{"tool_choice": "auto"}"#,
            r#"{"tool_choice": {"type": "any"}}"#,
            r#"{"response_format": {"type": "text"}, "text": {"format": {"type": "text"}}}"#,
            r#"{"toolConfig": {"functionCallingConfig": {"mode": "AUTO"}}, "generationConfig": {"temperature": 1}}"#,
        ] {
            assert!(leaves_room(body), "{body}");
        }
        for body in [
            r#"{"tool_choice": "none"}"#,
            r#"{"functions": []}"#,
            r#"{"tool_choice": {"type": "none"}}"#,
            r#"{"toolConfig": {"functionCallingConfig": {"mode": "NONE"}}}"#,
            r#"{"response_format": {"type": "json_object"}}"#,
            r#"{"text": {"format": {"type": "json_schema", "name": "x"}}}"#,
            r#"{"output_config": {"format": {"type": "json_schema"}}}"#,
            r#"{"generationConfig": {"responseMimeType": "application/json"}}"#,
        ] {
            assert!(!leaves_room(body), "{body}");
        }
    }

    #[test]
    fn a_part_may_span_several_pieces() {
        let body = KeptBody(["ab", "", "cde", "f"].map(Bytes::from).to_vec());
        assert_eq!(&*body.whole(), b"abcdef");
        for from in 0..6 {
            for to in from..=6 {
                assert_eq!(*body.part(&(from..to)), b"abcdef"[from..to]);
            }
        }
    }
}
