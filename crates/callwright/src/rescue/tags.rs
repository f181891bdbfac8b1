//! Calls between tags, one after the other:
//!
//! - `<tool_call>{"name": …, "arguments": …}</tool_call>`
//! - `<function=name><parameter=key>value</parameter></function>` or `<function=name>{…}</function>`
//! - `<invoke name="…"><parameter name="key">value</parameter></invoke>`
//! - `<tool_call>name<arg_key>key</arg_key><arg_value>value</arg_value></tool_call>`
//!
//! The second and the third may be inside another tag, such as `<function_calls>`, and names may have a namespace: `antml:`,
//! `｜DSML｜`. The value of a parameter is the exact text up to the first closing tag, as a string: the schema decides which
//! type it should have. A value that contains a tag of the same notation could be read in two ways.

use super::NoCall;
use super::arguments::{self, Border, object};
use super::chance::Chance;
use super::cursor::{Closing, Cursor, RescueResult};
use super::envelope;
use super::offer::Offer;
use crate::call::{Arguments, Call};
use crate::json::{Member, Value};
use crate::vocabulary::Notation;
use crate::vocabulary::template::{is_bar, is_maker};

pub(super) const TOOL_CALL: &str = "<tool_call>";
const TOOL_CALL_END: &str = "</tool_call>";
pub(super) const FUNCTION: &str = "<function=";
const FUNCTION_END: &str = "</function>";

/// The tags that calls may be inside of.
const WRAPPERS: [&str; 3] = ["tool_call", "tool_calls", "function_calls"];

/// How long a namespace may be; the known ones have two to eleven letters.
const LONGEST_NAMESPACE: usize = 16;

/// The tags of a notation with parameters.
struct Tags<'n> {
    /// What comes before a key.
    open: &'n str,
    after_key: AfterKey,
    /// What comes after a value.
    close: &'n str,
    /// What comes after the last parameter.
    end: &'n str,
}

/// What comes between a key and its value.
#[derive(Clone, Copy, PartialEq, Eq)]
enum AfterKey {
    /// `<parameter=key>`
    Bracket,
    /// `<parameter name="key">`, `<parameter name="key" string="true">`
    Quote,
    /// `<arg_key>key</arg_key><arg_value>`
    Tag,
}

const FUNCTION_TAGS: Tags<'static> = Tags {
    open: "<parameter=",
    after_key: AfterKey::Bracket,
    close: "</parameter>",
    end: FUNCTION_END,
};

/// What comes before a key in pairs of tags.
pub(super) const KEY: &str = "<arg_key>";

const PAIRS: Tags<'static> = Tags {
    open: KEY,
    after_key: AfterKey::Tag,
    close: "</arg_value>",
    end: TOOL_CALL_END,
};

/// A tag that starts a call, or one around calls.
enum Opening<'t> {
    Function,
    /// With its namespace.
    Invoke(&'t str),
    /// As written, between `<` and `>`.
    Wrapper(&'t str),
}

fn opening(text: &str) -> Option<Opening<'_>> {
    if text.starts_with(FUNCTION) {
        return Some(Opening::Function);
    }
    let tag = text.strip_prefix('<')?;
    let space = namespace(tag);
    let name = &tag[space.len()..];
    if name.starts_with("invoke ") {
        return Some(Opening::Invoke(space));
    }
    let is_whole = |wrapper: &&&str| {
        name.strip_prefix(**wrapper)
            .is_some_and(|after| after.starts_with('>'))
    };
    let wrapper = WRAPPERS.iter().find(is_whole)?;
    Some(Opening::Wrapper(&tag[..space.len() + wrapper.len()]))
}

/// What comes before the name in a tag: `antml:`, `｜DSML｜`, or nothing. Any other word may say something: `example:`.
fn namespace(tag: &str) -> &str {
    let opened = tag.trim_start_matches(is_bar);
    let letters = opened.bytes().take_while(u8::is_ascii_alphabetic).count();
    let (name, after) = opened.split_at(letters);
    let rest = match after.strip_prefix(':') {
        _ if !is_maker(name) => tag,
        Some(name) if opened.len() == tag.len() => name,
        None if opened.len() < tag.len() && after.starts_with(is_bar) => {
            after.trim_start_matches(is_bar)
        }
        _ => tag,
    };
    &tag[..tag.len() - rest.len()]
}

/// The notation that starts with a tag.
pub(super) fn notation(text: &str) -> Option<Notation> {
    let inside = match opening(text)? {
        Opening::Wrapper(tag) => text[tag.len() + "<>".len()..].trim_ascii_start(),
        _ => text,
    };
    match opening(inside) {
        Some(Opening::Function) => Some(Notation::Function),
        Some(Opening::Invoke(_)) => Some(Notation::Invoke),
        _ if text.starts_with("<function_calls>") => Some(Notation::Invoke),
        _ if !text.starts_with(TOOL_CALL) => None,
        _ if name_before_pairs(inside).is_some() => Some(Notation::Pairs),
        _ => Some(Notation::ToolCall),
    }
}

/// Whether a tag of a call, or one around calls, starts here.
pub(super) fn begins(text: &str) -> Chance {
    if opening(text).is_some() {
        return Chance::Yes;
    }
    let Some(tag) = text.strip_prefix('<') else {
        return if text.is_empty() {
            Chance::Maybe
        } else {
            Chance::No
        };
    };
    let opened = tag.trim_start_matches(is_bar);
    // The namespace itself may be incomplete.
    if opened.bytes().all(|c| c.is_ascii_alphabetic()) && opened.len() <= LONGEST_NAMESPACE {
        return Chance::Maybe;
    }
    let name = &tag[namespace(tag).len()..];
    let mut tags = WRAPPERS.iter().chain(&["invoke", "function="]);
    if tags.any(|whole| whole.starts_with(name) || name == *whole) {
        Chance::Maybe
    } else {
        Chance::No
    }
}

/// Calls as JSON in `<tool_call>`.
pub(super) fn read_tool_calls<'t>(
    cursor: &mut Cursor<'t>,
    offer: &Offer<'_>,
) -> RescueResult<Vec<Call<'t>>> {
    const BORDER: Border = Border {
        end: Some(TOOL_CALL_END),
        next: TOOL_CALL,
    };
    let mut calls = Vec::new();
    while !cursor.is_at_end() {
        if !cursor.eat_spaced(TOOL_CALL) {
            return Err(NoCall::TextAfter);
        }
        calls.append(&mut envelope::read_tagged(cursor, &BORDER, offer)?);
        cursor.close_whole(TOOL_CALL_END)?;
    }
    Ok(calls)
}

/// Calls in `<tool_call>`, each a name and its parameters in pairs of tags, up to the first place where none starts.
pub(super) fn read_pairs<'t>(cursor: &mut Cursor<'t>) -> RescueResult<Vec<Call<'t>>> {
    let mut calls = Vec::new();
    while cursor.eat_spaced(TOOL_CALL) {
        let name = name_before_pairs(cursor.rest()).ok_or(NoCall::Unreadable)?;
        cursor.eat(name);
        calls.push(parameters(cursor, name.trim_ascii(), &PAIRS, None)?);
        cursor.skip_blank();
    }
    Ok(calls)
}

/// The name of a tool before parameters in pairs of tags, and the blanks after it.
fn name_before_pairs(text: &str) -> Option<&str> {
    let (name, tags) = text.split_at(text.find('<')?);
    let is_name = !name.is_empty() && !name.trim_ascii().contains(['\n', '{', '[']);
    (is_name && (tags.starts_with(PAIRS.open) || tags.starts_with(PAIRS.end))).then_some(name)
}

/// Calls in `<function=name>` or `<invoke name="…">`, also inside another tag, up to the first place where none starts.
pub(super) fn read_tagged<'t>(cursor: &mut Cursor<'t>) -> RescueResult<Vec<Call<'t>>> {
    let mut calls = Vec::new();
    while let Some(opening) = opening(cursor.rest()) {
        let wrapper_end = match opening {
            Opening::Wrapper(tag) => {
                cursor.eat_spaced(&format!("<{tag}>"));
                Some(format!("</{tag}>"))
            }
            _ => None,
        };
        let first = calls.len();
        while let Some(call) = tagged_call(cursor, wrapper_end.as_deref())? {
            calls.push(call);
            cursor.skip_blank();
        }
        if calls.len() == first {
            return Err(if first == 0 {
                NoCall::Unreadable
            } else {
                NoCall::TextAfter
            });
        }
        // The closing tag may be there alone: models forget the opening one.
        match cursor.close(wrapper_end.as_deref().unwrap_or(TOOL_CALL_END)) {
            Closing::Cut => cursor.is_cut |= wrapper_end.is_some(),
            Closing::Other if wrapper_end.is_some() => return Err(NoCall::TextAfter),
            Closing::Closed | Closing::Other => {}
        }
        cursor.skip_blank();
    }
    Ok(calls)
}

/// One call, if its tag is here.
fn tagged_call<'t>(
    cursor: &mut Cursor<'t>,
    wrapper_end: Option<&str>,
) -> RescueResult<Option<Call<'t>>> {
    match opening(cursor.rest()) {
        Some(Opening::Function) => function(cursor, wrapper_end).map(Some),
        Some(Opening::Invoke(space)) => invoke(cursor, space, wrapper_end).map(Some),
        Some(Opening::Wrapper(_)) | None => Ok(None),
    }
}

fn function<'t>(cursor: &mut Cursor<'t>, wrapper_end: Option<&str>) -> RescueResult<Call<'t>> {
    const BORDER: Border = Border {
        end: Some(FUNCTION_END),
        next: FUNCTION,
    };
    cursor.eat(FUNCTION);
    let tool = cursor.until(">").ok_or(NoCall::CutOff)?;
    cursor.skip_blank();
    if cursor.peek() != Some('{') {
        let end = wrapper_end.or(Some(TOOL_CALL_END));
        return parameters(cursor, tool, &FUNCTION_TAGS, end);
    }
    let text = arguments::read(cursor, &BORDER)?;
    cursor.close_whole(FUNCTION_END)?;
    Ok(Call::from_text(tool, text))
}

fn invoke<'t>(
    cursor: &mut Cursor<'t>,
    space: &str,
    wrapper_end: Option<&str>,
) -> RescueResult<Call<'t>> {
    cursor.eat(&format!("<{space}invoke name=\""));
    let tool = cursor.until("\">").ok_or(NoCall::CutOff)?;
    parameters(cursor, tool, &Spaced::new(space).tags(), wrapper_end)
}

/// The tags of `<invoke>` in a namespace.
struct Spaced([String; 3]);

impl Spaced {
    fn new(space: &str) -> Self {
        Spaced([
            format!("<{space}parameter name=\""),
            format!("</{space}parameter>"),
            format!("</{space}invoke>"),
        ])
    }

    fn tags(&self) -> Tags<'_> {
        let Spaced([open, close, end]) = self;
        Tags {
            open,
            after_key: AfterKey::Quote,
            close,
            end,
        }
    }
}

/// Parameters without the start of a call in front of them, and whether the end of one follows.
pub(super) fn read_parameters<'t>(cursor: &mut Cursor<'t>) -> RescueResult<(Value<'t>, bool)> {
    let rest = cursor.rest();
    let spaced = Spaced::new(rest.strip_prefix('<').map_or("", namespace));
    let tags = [FUNCTION_TAGS, PAIRS, spaced.tags()];
    let tags = tags.iter().find(|tags| rest.starts_with(tags.open));
    let tags = tags.ok_or(NoCall::Unreadable)?;
    let mut members: Vec<Member<'t>> = Vec::new();
    while !cursor.is_cut && cursor.rest().starts_with(tags.open) {
        members.extend(parameter(cursor, tags, None)?);
        cursor.skip_blank();
    }
    if !cursor.is_at_end() && tags.open.starts_with(cursor.rest()) {
        cursor.cut();
    }
    let is_closed = cursor.eat(tags.end);
    Ok((object(members)?, is_closed))
}

/// Reads parameters up to the end of the call of `tool`.
fn parameters<'t>(
    cursor: &mut Cursor<'t>,
    tool: &'t str,
    tags: &Tags<'_>,
    wrapper_end: Option<&str>,
) -> RescueResult<Call<'t>> {
    let mut members: Vec<Member<'t>> = Vec::new();
    while !cursor.is_cut {
        match cursor.close(tags.end) {
            Closing::Closed => break,
            Closing::Cut => cursor.is_cut = true,
            Closing::Other => members.extend(parameter(cursor, tags, wrapper_end)?),
        }
    }
    Ok(Call::new(tool, Arguments::Value(object(members)?)))
}

/// The parameter that starts here, unless it is cut off before its value.
fn parameter<'t>(
    cursor: &mut Cursor<'t>,
    tags: &Tags<'_>,
    wrapper_end: Option<&str>,
) -> RescueResult<Option<Member<'t>>> {
    cursor.expect_close(tags.open)?;
    if cursor.is_cut {
        return Ok(None);
    }
    let Some(key) = key(cursor, tags.after_key)? else {
        cursor.cut();
        return Ok(None);
    };
    if key.is_empty() || key.contains(['<', '>', '"', '\n']) {
        return Err(NoCall::Unreadable);
    }
    let value = cursor.until(tags.close);
    let value = value.unwrap_or_else(|| cursor.cut());
    let tag = tags.open.trim_end_matches(['=', '"', '>']);
    let opens_value = (tags.after_key == AfterKey::Tag).then_some("<arg_value>");
    let mut tags = [tag, tags.end]
        .into_iter()
        .chain(wrapper_end)
        .chain(opens_value);
    if tags.any(|tag| value.contains(tag)) {
        return Err(NoCall::Ambiguous);
    }
    Ok(Some((key.into(), Value::String(own_lines(value).into()))))
}

/// The key of a parameter, moving to its value; `None` if the text ends before that.
fn key<'t>(cursor: &mut Cursor<'t>, after: AfterKey) -> RescueResult<Option<&'t str>> {
    let ends = match after {
        AfterKey::Bracket => ">",
        AfterKey::Quote => "\"",
        AfterKey::Tag => "</arg_key>",
    };
    let Some(key) = cursor.until(ends) else {
        return Ok(None);
    };
    match after {
        AfterKey::Bracket => Ok(Some(key)),
        AfterKey::Quote => {
            // The type of the value, which the schema knows: ` string="true"`.
            let Some(attributes) = cursor.until(">") else {
                return Ok(None);
            };
            let types = ["", " string=\"true\"", " string=\"false\""];
            let is_type = types.contains(&attributes);
            is_type.then_some(Some(key)).ok_or(NoCall::Unreadable)
        }
        AfterKey::Tag => match cursor.close("<arg_value>") {
            Closing::Closed => Ok(Some(key)),
            Closing::Cut => Ok(None),
            Closing::Other => Err(NoCall::Unreadable),
        },
    }
}

/// A value on separate lines, without the line breaks next to its tags.
pub(super) fn own_lines(value: &str) -> &str {
    value
        .strip_prefix('\n')
        .map_or(value, |inner| inner.strip_suffix('\n').unwrap_or(inner))
}
