//! Parameters as tags: `<parameter=key>value</parameter>` and its cousin with an attribute.
//!
//! A value is the text up to the first closing tag, exactly, as a string: what type it should have is for
//! the schema to say. A value that contains a tag of the same notation can be read in two ways.

use super::NoCall;
use super::cursor::{Closing, Cursor, Read};
use crate::call::{Arguments, Call, Completeness};
use crate::json::{Member, Value, has_duplicate};

/// The tags of a notation.
pub(super) struct Tags<'n> {
    /// What comes before a key.
    pub(super) open: &'n str,
    /// What comes after a key.
    pub(super) opened: &'n str,
    /// What comes after a value.
    pub(super) close: &'n str,
    /// What comes after the last parameter.
    pub(super) end: &'n str,
    /// What comes after all calls, if anything does.
    pub(super) wrapper_end: &'n str,
}

/// Reads parameters up to the end of the call of `tool`.
pub(super) fn read<'t>(cursor: &mut Cursor<'t>, tool: &'t str, tags: &Tags<'_>) -> Read<Call<'t>> {
    let mut members: Vec<Member<'t>> = Vec::new();
    let completeness = loop {
        match cursor.close(tags.end) {
            Closing::Closed => break Completeness::Unknown,
            Closing::Cut => break Completeness::CutOff,
            Closing::Other => {}
        }
        match cursor.close(tags.open) {
            Closing::Closed => {}
            Closing::Cut => break Completeness::CutOff,
            Closing::Other => return Err(NoCall::Unreadable),
        }
        let Some(key) = cursor.until(tags.opened) else {
            cursor.all();
            break Completeness::CutOff;
        };
        if key.is_empty() || key.contains(['<', '>', '"', '\n']) {
            return Err(NoCall::Unreadable);
        }
        let (value, completeness) = match cursor.until(tags.close) {
            Some(value) => (value, Completeness::Unknown),
            None => (cursor.all(), Completeness::CutOff),
        };
        let tag = tags.open.trim_end_matches(['=', '"']);
        if [tag, tags.end, tags.wrapper_end]
            .iter()
            .any(|tag| value.contains(tag))
        {
            return Err(NoCall::Ambiguous);
        }
        members.push((key.into(), Value::String(own_lines(value).into())));
        if completeness == Completeness::CutOff {
            break completeness;
        }
    };
    if has_duplicate(&members) {
        return Err(NoCall::Ambiguous);
    }
    let arguments = Arguments::Value(Value::Object(members));
    Ok(Call::new(tool, arguments).with_completeness(completeness))
}

/// A value on separate lines is written without the line breaks next to its tags.
fn own_lines(value: &str) -> &str {
    value
        .strip_prefix('\n')
        .map_or(value, |inner| inner.strip_suffix('\n').unwrap_or(inner))
}
