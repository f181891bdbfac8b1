//! Parameters as elements that have their names, alone or inside an element with the name of the tool, as Cline and Roo have
//! them: `<read_file><path>a.txt</path></read_file>`.
//!
//! Takes the arguments of one tool; returns its parameters as text. Only keys that the tool declares, with nothing between
//! them, and no value that holds the tag of another. Without the element of the tool around them a value holds no tag at all:
//! the text may be a document.

use super::NoCall;
use super::arguments::object;
use super::cursor::{Cursor, RescueResult};
use super::tags::own_lines;
use crate::json::{Member, Value};
use crate::nearest::same_spelling;
use crate::tool::Tool;

/// Reads parameters, and whether the element around them is closed.
pub(super) fn read<'t>(cursor: &mut Cursor<'t>, tool: &Tool) -> RescueResult<(Value<'t>, bool)> {
    cursor.skip_blank();
    let is_around = |name: &&str| same_spelling(name, tool.name()) && !tool.has_parameter(name);
    let around = opening_tag(cursor.rest()).filter(is_around);
    if let Some(name) = around {
        cursor.eat(&format!("<{name}>"));
    }
    let is_parted = |value: &str| {
        let mut tags = value.match_indices('<');
        tags.any(|(at, _)| {
            let name = tag_name(value[at + 1..].trim_start_matches('/'));
            around.is_none() || around == Some(name) || tool.has_parameter(name)
        })
    };
    let mut members: Vec<Member<'t>> = Vec::new();
    loop {
        cursor.skip_blank();
        let key = opening_tag(cursor.rest()).filter(|key| tool.has_parameter(key));
        let Some(key) = key else { break };
        cursor.eat(&format!("<{key}>"));
        let value = cursor.until(&format!("</{key}>"));
        let value = value.unwrap_or_else(|| cursor.cut());
        if is_parted(value) {
            return Err(NoCall::Ambiguous);
        }
        members.push((key.into(), Value::String(own_lines(value).into())));
    }
    if members.is_empty() {
        return Err(NoCall::Unreadable);
    }
    match around {
        Some(name) => cursor.expect_close(&format!("</{name}>"))?,
        // The tag of another parameter.
        None if cursor.rest().starts_with('<') && !cursor.rest().contains('>') => {
            cursor.cut();
        }
        None => {}
    }
    Ok((object(members)?, around.is_some()))
}

/// The name of the tag that a text starts with, if it is a plain one.
fn opening_tag(text: &str) -> Option<&str> {
    let name = tag_name(text.strip_prefix('<')?);
    text[1 + name.len()..].starts_with('>').then_some(name)
}

fn tag_name(text: &str) -> &str {
    let is_part = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.');
    &text[..text.find(|c| !is_part(c)).unwrap_or(text.len())]
}
