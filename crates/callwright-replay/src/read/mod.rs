//! Reads a record in any known format.
//!
//! Takes the text of one record and its place; returns tools, calls and results in the order in which they happened,
//! with the name of the format, which the keys reveal. Never changes a value or an id, and judges nothing.

mod context;
mod dialogue;
mod exchange;
mod line;
mod mcp;
mod messages;
mod otel;
mod pick;
mod plain;
mod record;
mod stream;
mod time;
mod tools;
mod words;

use std::borrow::Cow;

use callwright::named;
use callwright::parse::read_value;
use context::Context;
use record::RecordReader;
use tools::ToolLists;

use crate::seen::Seen;

named! {
    /// The known formats.
    #[non_exhaustive]
    pub enum Format {
        /// callwright's own events, as `--record` writes them.
        Event = "callwright_event",
        /// One call per record: `{"tool", "arguments"}` or a provider's format, with what is known next to it.
        Call = "call",
        /// OpenAI chat completions: requests, responses, messages.
        OpenAiChat = "openai_chat",
        /// OpenAI responses: requests, responses, items.
        OpenAiResponses = "openai_responses",
        /// Anthropic messages: requests, responses, messages.
        Anthropic = "anthropic",
        /// Gemini: requests and responses.
        Gemini = "gemini",
        /// MCP: JSON-RPC messages.
        Mcp = "mcp",
        /// OpenTelemetry spans.
        OpenTelemetry = "opentelemetry",
    }
}

/// The position of a record.
#[derive(Debug, Clone, Copy)]
pub struct RecordPlace<'a> {
    /// The name of its file.
    pub file: &'a str,
    /// The line in which it begins.
    pub line: u64,
}

/// The contents of records. One `Reading` is reused for many records, one after another.
#[derive(Debug, Default)]
pub struct Reading<'a> {
    /// The contents, in order.
    pub seen: Vec<Seen<'a>>,
    /// Its format; that of the first part, if the record contains several.
    pub format: Option<Format>,
    /// What could not be read, in sentences that are the same for the same reason.
    pub troubles: Vec<Cow<'static, str>>,
}

impl Reading<'_> {
    /// Clears the previous record.
    fn clear(&mut self) {
        self.seen.clear();
        self.format = None;
        self.troubles.clear();
    }

    /// The first part of a record determines its format.
    fn set_format(&mut self, format: Format) {
        self.format.get_or_insert(format);
    }
}

/// Reads records. Each thread has its own: it remembers tools that it has read before.
#[derive(Debug, Default)]
pub struct Reader {
    tools: ToolLists,
}

impl Reader {
    /// Creates a reader that remembers nothing yet.
    pub fn new() -> Self {
        Reader::default()
    }

    /// Reads one record. The previous contents of `reading` are discarded.
    pub fn read<'a>(&mut self, text: &'a str, place: RecordPlace<'a>, reading: &mut Reading<'a>) {
        reading.clear();
        match read_value(text) {
            Ok(value) => {
                if let Err(value) = plain::read(value, reading) {
                    self.record(place, reading).value(value, Context::default());
                }
            }
            Err(error) => {
                if !self.record(place, reading).log_line(text) {
                    reading.troubles.push(words::not_json(&error, text));
                }
            }
        }
    }

    fn record<'a, 'r>(
        &'r mut self,
        place: RecordPlace<'a>,
        reading: &'r mut Reading<'a>,
    ) -> RecordReader<'a, 'r> {
        RecordReader {
            reading,
            tools: &mut self.tools,
            place,
        }
    }
}

/// Whether an array that begins with this element is one record: the messages of a conversation, or the pieces of a
/// streamed answer.
pub(crate) fn is_one_record(element: &[u8]) -> bool {
    let text = std::str::from_utf8(element).ok();
    let value = text.and_then(|text| read_value(text).ok());
    value.is_some_and(|value| record::is_part(&value))
}
