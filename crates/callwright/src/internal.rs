//! For the sibling crates of callwright. Not covered by semantic versioning: use nothing of it elsewhere.

use crate::error::{Error, ErrorKind};
use crate::json::Value;
pub use crate::text::{first_bytes, is_invisible, visible};
pub use crate::wire::raw::{RawObject, items as raw_items, span as raw_span, text as raw_text};
use crate::words::{Digest, envelope, template};

/// Two tools of one guard have the same name.
pub fn duplicate_tool(name: String) -> Error {
    ErrorKind::DuplicateTool { name }.into()
}

/// A tool of a toolbox has a name that its framework does not accept.
pub fn nameless_tool() -> Error {
    let place = "the toolbox".to_owned();
    ErrorKind::NamelessTool { place }.into()
}

/// Represents content that is not text, so that the gate can tell whether two results are the same.
pub fn digest(content: &str) -> Value<'static> {
    Value::String(Digest::of(content).to_string().into())
}

/// The words that may go around a call without being an argument, a name or a sentence: those of chat templates, and the
/// keys of a call as JSON. The fuzz targets miss every other word.
pub fn words_around_calls() -> impl Iterator<Item = &'static str> {
    template::words().chain(envelope::words())
}

/// The tag that opens a block of reasoning at the beginning of a text, and the one that closes it. Between them anything goes.
pub fn reasoning_tags(text: &str) -> Option<(&str, String)> {
    template::reasoning_tags(text)
}

/// The keys under which a call as JSON has its id, which goes as well.
pub const ID_KEYS: &[&str] = envelope::IDS;
