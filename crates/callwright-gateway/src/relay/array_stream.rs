//! Gemini's streams without `alt=sse`: a single JSON array, written piece by piece.
//!
//! Takes the bytes of the array; returns its elements as numbered events of an event stream, so that they are judged
//! like any other, and turns the events that come back into bytes of the array again. An element that comes back
//! unchanged is sent as the bytes received. Anything but an array of objects is never cut, and passes unchanged at
//! the end.

use std::collections::VecDeque;

use bytes::{Bytes, BytesMut};
use callwright_http::sse::{EventFields, with_data};
use callwright_http::upstream::TransferError;
use http_body_util::BodyExt;
use hyper::body::Incoming;

/// Written before an element of ours.
const BETWEEN: &[u8] = b",\n";

/// Reads the elements of an array that is still being written.
#[derive(Debug)]
pub(crate) struct ArrayStream {
    body: Incoming,
    cutter: ArrayCutter,
    max_bytes: usize,
}

impl ArrayStream {
    /// Accepts elements of at most `max_bytes`.
    pub(crate) fn new(body: Incoming, max_bytes: usize) -> Self {
        ArrayStream {
            body,
            cutter: ArrayCutter::default(),
            max_bytes,
        }
    }

    /// The next element, as an event; `None` at the end.
    pub(crate) async fn next(&mut self) -> Result<Option<Bytes>, TransferError> {
        loop {
            if let Some(event) = self.cutter.cut() {
                return Ok(Some(event));
            }
            if self.cutter.buffer.len() > self.max_bytes {
                return Err(TransferError::TooLarge(self.max_bytes));
            }
            match self.body.frame().await.transpose()? {
                None => return Ok(None),
                Some(frame) => {
                    if let Ok(data) = frame.into_data() {
                        self.cutter.buffer.extend_from_slice(&data);
                    }
                }
            }
        }
    }

    /// The bytes after the last element.
    pub(crate) fn rest(&mut self) -> Bytes {
        self.cutter.buffer.split().freeze()
    }

    /// An event as a piece of the array.
    pub(crate) fn written(&mut self, event: Bytes) -> Bytes {
        self.cutter.written(event)
    }
}

#[derive(Debug, Default)]
struct ArrayCutter {
    buffer: BytesMut,
    /// How much of the buffer has been scanned.
    scanned: usize,
    depth: usize,
    in_string: bool,
    is_escaped: bool,
    /// Where the current element begins.
    began: Option<usize>,
    /// It is not an array of objects.
    is_other: bool,
    cut: u64,
    /// Elements that have not come back yet.
    out: VecDeque<CutElement>,
}

#[derive(Debug)]
struct CutElement {
    number: u64,
    before: Bytes,
    text: Bytes,
    event: Bytes,
}

impl ArrayCutter {
    /// The next complete element, as an event.
    fn cut(&mut self) -> Option<Bytes> {
        while !self.is_other && self.scanned < self.buffer.len() {
            let byte = self.buffer[self.scanned];
            self.scanned += 1;
            if self.in_string {
                let was_escaped = std::mem::take(&mut self.is_escaped);
                self.is_escaped = byte == b'\\' && !was_escaped;
                self.in_string = byte != b'"' || was_escaped;
                continue;
            }
            match (self.depth, byte) {
                (_, b' ' | b'\n' | b'\r' | b'\t') | (1, b',') => {}
                (0, b'[') if self.cut == 0 => self.depth = 1,
                (1, b']') => self.depth = 0,
                (1, b'{') => {
                    self.began = Some(self.scanned - 1);
                    self.depth = 2;
                }
                (0 | 1, _) => self.is_other = true,
                (_, b'"') => self.in_string = true,
                (_, b'{' | b'[') => self.depth += 1,
                (_, b'}' | b']') => {
                    self.depth -= 1;
                    if self.depth == 1 {
                        return Some(self.cut_element());
                    }
                }
                _ => {}
            }
        }
        None
    }

    fn cut_element(&mut self) -> Bytes {
        let mut text = self.buffer.split_to(self.scanned).freeze();
        let before = text.split_to(self.began.take().unwrap_or_default());
        self.scanned = 0;
        self.cut += 1;
        let number = self.cut;
        let mark = format!("id: {number}\ndata: x\n\n");
        let event = Bytes::from(with_data(mark.as_bytes(), Some(&text)));
        self.out.push_back(CutElement {
            number,
            before,
            text,
            event: event.clone(),
        });
        event
    }

    fn written(&mut self, event: Bytes) -> Bytes {
        let number = event
            .strip_prefix(b"id: ")
            .and_then(|rest| rest.split(|byte| *byte == b'\n').next())
            .and_then(|number| std::str::from_utf8(number).ok()?.parse().ok());
        let found = self.out.iter().position(|cut| Some(cut.number) == number);
        if let Some(cut) = found.and_then(|at| self.out.remove(at)) {
            let text = if event == cut.event {
                cut.text
            } else {
                EventFields::read(&event)
                    .data
                    .map_or(cut.text, |data| Bytes::from(data.into_owned()))
            };
            return [cut.before, text].concat().into();
        }
        match EventFields::read(&event).data {
            Some(data) if event.starts_with(b"data:") => [BETWEEN, &data].concat().into(),
            _ => event,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIST: &str = "[{\"a\": \"]}\\\"\",\r\n \"b\": [1]}\n,\r\n{}\n, {\"c\":{}}\n]\n";

    fn cut(list: &str, size: usize) -> (ArrayCutter, Vec<Bytes>) {
        let mut cutter = ArrayCutter::default();
        let mut events = Vec::new();
        for piece in list.as_bytes().chunks(size) {
            cutter.buffer.extend_from_slice(piece);
            events.extend(std::iter::from_fn(|| cutter.cut()));
        }
        (cutter, events)
    }

    #[test]
    fn an_array_is_restored_byte_for_byte_however_it_is_cut() {
        for size in 1..LIST.len() {
            let (mut cutter, events) = cut(LIST, size);
            assert_eq!(events.len(), 3);
            let written: Vec<Bytes> = events
                .into_iter()
                .map(|event| cutter.written(event))
                .collect();
            let rest = cutter.buffer.split();
            assert_eq!([written.concat(), rest.to_vec()].concat(), LIST.as_bytes());
        }
    }

    #[test]
    fn added_and_changed_elements_fit_in() {
        let (mut cutter, events) = cut(r#"[{"a":1},{"b":2}]"#, 100);
        let own = Bytes::from_static(b"data: {\"own\":true}\n\n");
        let changed = Bytes::from(with_data(&events[1], Some(br#"{"b":3}"#)));
        let written = [events[0].clone(), own, changed].map(|event| cutter.written(event));
        assert_eq!(
            written.concat(),
            br#"[{"a":1},
{"own":true},{"b":3}"#
        );
    }

    #[test]
    fn anything_else_is_not_cut() {
        for other in [r#"{"error": {"code": 400}}"#, "[1, {}]", "x", "[[{}]]"] {
            let (mut cutter, events) = cut(other, 3);
            assert!(events.is_empty(), "{other}");
            assert_eq!(cutter.buffer.split(), other.as_bytes());
        }
    }
}
