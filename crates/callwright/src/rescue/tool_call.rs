//! `<tool_call>{"name": …, "arguments": …}</tool_call>`, one after the other.

use super::arguments::Border;
use super::cursor::{Closing, Cursor, Read};
use super::{NoCall, envelope};
use crate::call::{Call, Completeness};

pub(super) const OPEN: &str = "<tool_call>";
pub(super) const CLOSE: &str = "</tool_call>";

const BORDER: Border = Border {
    end: Some(CLOSE),
    next: OPEN,
};

pub(super) fn read<'t>(cursor: &mut Cursor<'t>) -> Read<Vec<Call<'t>>> {
    let mut calls = Vec::new();
    while !cursor.is_at_end() {
        if !cursor.eat_spaced(OPEN) {
            return Err(NoCall::TextAfter);
        }
        let mut inner = envelope::read_tagged(cursor, &BORDER)?;
        match cursor.close(CLOSE) {
            Closing::Closed => {}
            Closing::Cut => inner
                .iter_mut()
                .for_each(|call| call.completeness = Completeness::CutOff),
            Closing::Other => return Err(NoCall::Unreadable),
        }
        calls.append(&mut inner);
    }
    Ok(calls)
}
