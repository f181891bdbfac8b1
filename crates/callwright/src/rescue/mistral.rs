//! `[TOOL_CALLS]name{…}`, `[TOOL_CALLS][{"name": …, "arguments": …}]` and `name[ARGS]{…}`, one after the other. Only its own
//! last brace ends such a call.

use super::arguments::{self, Border};
use super::cursor::{Cursor, RescueResult};
use super::offer::Offer;
use super::{NoCall, envelope};
use crate::call::Call;

pub(super) const CALLS: &str = "[TOOL_CALLS]";
pub(super) const ARGS: &str = "[ARGS]";
const ID: &str = "[CALL_ID]";

/// Whether a name and `[ARGS]` start here.
pub(super) fn starts_with_name(text: &str) -> bool {
    let is_part = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | '/' | ':');
    let name = text.find(|c| !is_part(c)).unwrap_or(text.len());
    name > 0 && text[name..].starts_with(ARGS)
}

pub(super) fn read<'t>(cursor: &mut Cursor<'t>, offer: &Offer<'_>) -> RescueResult<Vec<Call<'t>>> {
    let mut calls = Vec::new();
    let all_marked = cursor.rest().starts_with(CALLS);
    while !cursor.is_at_end() {
        let marked = cursor.eat_spaced(CALLS);
        if marked != all_marked {
            return Err(NoCall::TextAfter);
        }
        if marked && cursor.rest().starts_with(['[', '{']) {
            let border = Border {
                end: None,
                next: CALLS,
            };
            calls.append(&mut envelope::read_tagged(cursor, &border, offer)?);
        } else {
            calls.push(named(cursor, marked)?);
        }
        cursor.skip_blank();
    }
    Ok(calls)
}

/// A name and its arguments.
fn named<'t>(cursor: &mut Cursor<'t>, marked: bool) -> RescueResult<Call<'t>> {
    let tool = cursor.before(&['{', '[', '\n', ' ']);
    let Some(tool) = tool else {
        return Err(if marked {
            NoCall::CutOff
        } else {
            NoCall::TextAfter
        });
    };
    if cursor.eat(ID) {
        let id = cursor.before(&['[']).ok_or(NoCall::CutOff)?;
        // Words say more than an id: `[CALL_ID]only a test[ARGS]`.
        if id.contains(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '_' | '-'))) {
            return Err(NoCall::Unreadable);
        }
    }
    let separated = cursor.eat(ARGS);
    if !separated && !marked {
        return Err(NoCall::TextAfter);
    }
    let next = if marked { CALLS } else { ARGS };
    let text = arguments::read(cursor, &Border { end: None, next })?;
    Ok(Call::from_text(tool, text))
}
