//! `<invoke name="…"><parameter name="key">value</parameter></invoke>`, one after the other, also inside
//! `<function_calls>`, also with one namespace before every tag.

use super::NoCall;
use super::cursor::{Closing, Cursor, Read};
use super::parameters::{self, Tags};
use crate::call::{Call, Completeness};

/// The longest namespace that is looked for; the known ones have three to five letters.
const LONGEST_NAMESPACE: usize = 16;

/// Whether this notation starts here.
pub(super) fn starts(text: &str) -> bool {
    namespace(text).is_some()
}

/// What is between `<` and the name of the tag: `antml:`, or nothing.
fn namespace(text: &str) -> Option<&str> {
    let tag = text.strip_prefix('<')?;
    let letters = tag.bytes().take_while(u8::is_ascii_alphabetic).count();
    let length = match tag.as_bytes().get(letters) {
        Some(b':') if letters <= LONGEST_NAMESPACE => letters + 1,
        _ => 0,
    };
    let name = &tag[length..];
    (name.starts_with("invoke ") || name.starts_with("function_calls>")).then(|| &tag[..length])
}

pub(super) fn read<'t>(cursor: &mut Cursor<'t>) -> Read<Vec<Call<'t>>> {
    let space = namespace(cursor.rest()).unwrap_or_default();
    let tag = |inner: &str| inner.replace('$', space);
    let (open, end) = (tag("<$invoke name=\""), tag("</$invoke>"));
    let (parameter, close) = (tag("<$parameter name=\""), tag("</$parameter>"));
    let (wrapper, wrapper_end) = (tag("<$function_calls>"), tag("</$function_calls>"));
    let tags = Tags {
        open: &parameter,
        opened: "\">",
        close: &close,
        end: &end,
        wrapper_end: &wrapper_end,
    };
    let mut calls = Vec::new();
    while !cursor.is_at_end() {
        let is_inside = cursor.eat_spaced(&wrapper);
        let first = calls.len();
        while cursor.eat(&open) {
            let tool = cursor.until("\">").ok_or(NoCall::CutOff)?;
            calls.push(parameters::read(cursor, tool, &tags)?);
            cursor.skip_blank();
        }
        if calls.len() == first {
            return Err(if is_inside {
                NoCall::Unreadable
            } else {
                NoCall::TextAfter
            });
        }
        if !is_inside {
            continue;
        }
        match cursor.close(&wrapper_end) {
            Closing::Closed => {}
            Closing::Cut => calls[first..]
                .iter_mut()
                .for_each(|call| call.completeness = Completeness::CutOff),
            Closing::Other => return Err(NoCall::Unreadable),
        }
    }
    Ok(calls)
}
