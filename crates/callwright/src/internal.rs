//! For callwright's sibling crates only. Not covered by semantic versioning: do not use it elsewhere.

use crate::error::{Error, ErrorKind};
use crate::json::Value;
pub use crate::text::{first_bytes, is_invisible, visible};
pub use crate::vocabulary::replacements::{Replacement, Replacements, appended, span_in};
use crate::vocabulary::{Digest, envelope, template};
pub use crate::wire::mcp::present_result as present_mcp_result;
pub use crate::wire::members::{object, present, take_list};
pub use crate::wire::raw::{RawObject, items as raw_items, text as raw_text};
pub use crate::wire::tools::{input_schema_keys, list_keys as tool_list_keys, output_schema_keys};

/// Two tools of one guard have the same name.
pub fn duplicate_tool(name: String) -> Error {
    ErrorKind::DuplicateTool { name }.into()
}

/// A toolbox contains a tool whose name its framework does not accept.
pub fn nameless_tool() -> Error {
    let place = "the toolbox".to_owned();
    ErrorKind::NamelessTool { place }.into()
}

/// Stands in for content that is not text, so that the gate can tell whether two results are equal.
pub fn digest(content: &str) -> Value<'static> {
    Value::String(Digest::of(content).to_string().into())
}

/// The words that may be lost around a call because they are not an argument, a name or a sentence: those of chat templates,
/// and the keys of a call written as JSON. The fuzz targets report the loss of any other word.
pub fn words_around_calls() -> impl Iterator<Item = &'static str> {
    template::words().chain(envelope::words())
}

/// The tags that open and close a block of reasoning at the start of a text. Anything may come between them.
pub fn reasoning_tags(text: &str) -> Option<(&str, String)> {
    template::reasoning_tags(text)
}

/// The keys that hold the id in a call written as JSON; these words may be lost as well.
pub const ID_KEYS: &[&str] = envelope::IDS;
