//! What a request says that matters here: its tools, its model, whether it wants a stream.
//!
//! Reads the body as far as it has to, one level of it; never changes it. A compressed body is decoded to be looked at,
//! within bounds, and goes on as the bytes that came.

use std::borrow::Cow;
use std::io::Read;

use hyper::HeaderMap;
use hyper::header::CONTENT_ENCODING;
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::rescue_scope::{RescueScope, WantedCalls};

/// The members of a request that matter, each as its own text.
#[derive(Debug, Deserialize)]
pub(crate) struct RequestView<'a> {
    #[serde(borrow)]
    tools: Option<&'a RawValue>,
    /// What came before `tools` in chat completions.
    #[serde(borrow)]
    functions: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(crate) model: Option<Cow<'a, str>>,
    #[serde(borrow)]
    tool_choice: Option<&'a RawValue>,
    #[serde(borrow, rename = "toolConfig", alias = "tool_config")]
    tool_config: Option<&'a RawValue>,
    #[serde(borrow)]
    parallel_tool_calls: Option<&'a RawValue>,
    #[serde(borrow)]
    response_format: Option<&'a RawValue>,
    #[serde(borrow)]
    text: Option<&'a RawValue>,
    #[serde(borrow)]
    output_config: Option<&'a RawValue>,
    #[serde(borrow)]
    output_format: Option<&'a RawValue>,
    #[serde(borrow, rename = "generationConfig", alias = "generation_config")]
    generation_config: Option<&'a RawValue>,
}

/// Names of parts of a conversation that bring tools besides those of the list.
const TOOLS_ELSEWHERE: [&str; 3] = [
    "\"tool_addition\"",
    "\"additional_tools\"",
    "\"tool_search_output\"",
];

impl<'a> RequestView<'a> {
    /// Reads a body; `None` if it is not a request with anything to see.
    pub(crate) fn read(body: &'a [u8]) -> Option<Self> {
        serde_json::from_slice(body).ok()
    }

    /// The list of tools, as it is written.
    pub(crate) fn tools(&self) -> Option<&'a str> {
        self.tools.or(self.functions).map(RawValue::get)
    }

    /// Which calls may be made of text in the answer: none if the request wants none, or asks for JSON, which may look like a
    /// call, or is from a client that knows calls only in the form before `tools`.
    pub(crate) fn rescue_scope(&self) -> Option<RescueScope> {
        let says = |part: Option<&RawValue>, words: &[&str]| {
            part.is_some_and(|part| words.iter().any(|word| part.get().contains(word)))
        };
        let formats = [
            self.response_format,
            self.text,
            self.output_config,
            self.output_format,
            self.generation_config,
        ];
        let json = ["\"json_schema\"", "\"json_object\"", "\"application/json\""];
        let is_older = self.tools.is_none() && self.functions.is_some();
        if is_older || formats.iter().any(|format| says(*format, &json)) {
            return None;
        }
        RescueScope::of(WantedCalls {
            tool_choice: self.tool_choice.map(RawValue::get),
            tool_config: self.tool_config.map(RawValue::get),
            parallel_tool_calls: self.parallel_tool_calls.map(RawValue::get),
        })
    }
}

/// Whether the conversation itself may bring tools, so that the list is not all of them.
pub(crate) fn has_tools_elsewhere(body: &[u8]) -> bool {
    let has = |mark: &&str| memchr::memmem::find(body, mark.as_bytes()).is_some();
    TOOLS_ELSEWHERE.iter().any(has)
}

/// The body as it is to be read; `None` if it is compressed in another way, or larger than that.
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
    // One more than is allowed tells that there is more.
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
    use super::RequestView;

    #[test]
    fn a_request_may_leave_no_room_for_calls() {
        let leaves_room = |body: &str| {
            let view = RequestView::read(body.as_bytes()).expect("a request");
            view.rescue_scope().is_some()
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
}
