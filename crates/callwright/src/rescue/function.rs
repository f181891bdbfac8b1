//! `<function=name><parameter=key>value</parameter></function>`, and `<function=name>{…}</function>`, one
//! after the other, also inside `<tool_call>`.

use super::arguments::{self, Border};
use super::cursor::{Closing, Cursor, Read};
use super::parameters::{self, Tags};
use super::{NoCall, tool_call};
use crate::call::{Call, Completeness};

pub(super) const OPEN: &str = "<function=";
const END: &str = "</function>";

const TAGS: Tags<'static> = Tags {
    open: "<parameter=",
    opened: ">",
    close: "</parameter>",
    end: END,
    wrapper_end: tool_call::CLOSE,
};

const BORDER: Border = Border {
    end: Some(END),
    next: OPEN,
};

pub(super) fn read<'t>(cursor: &mut Cursor<'t>) -> Read<Vec<Call<'t>>> {
    let mut calls = Vec::new();
    while !cursor.is_at_end() {
        let is_inside = cursor.eat_spaced(tool_call::OPEN);
        let first = calls.len();
        while cursor.eat(OPEN) {
            calls.push(call(cursor)?);
            cursor.skip_blank();
        }
        if calls.len() == first {
            return Err(NoCall::TextAfter);
        }
        match cursor.close(tool_call::CLOSE) {
            // It may be there alone: models forget the opening tag.
            Closing::Closed => {}
            Closing::Cut if !is_inside => {}
            Closing::Cut => calls[first..]
                .iter_mut()
                .for_each(|call| call.completeness = Completeness::CutOff),
            Closing::Other => return Err(NoCall::TextAfter),
        }
    }
    Ok(calls)
}

/// One call, after its opening.
fn call<'t>(cursor: &mut Cursor<'t>) -> Read<Call<'t>> {
    let tool = cursor.until(">").ok_or(NoCall::CutOff)?;
    cursor.skip_blank();
    if cursor.peek() != Some('{') {
        return parameters::read(cursor, tool, &TAGS);
    }
    let (text, completeness) = arguments::read(cursor, &BORDER)?;
    let completeness = match cursor.close(END) {
        Closing::Closed => completeness,
        Closing::Cut => Completeness::CutOff,
        Closing::Other => return Err(NoCall::Unreadable),
    };
    Ok(Call::from_text(tool, text).with_completeness(completeness))
}
