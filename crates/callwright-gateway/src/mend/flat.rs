//! Places results that are separate messages or items: chat completions and responses.

use callwright::internal::{Replacements, span_in};

use super::conversation::MendedHistory;
use super::list::ListSlot;
use super::words;

/// The messages in order, with the results of an answer directly after it.
pub(super) fn place(conversation: &MendedHistory<'_>, edits: &Replacements) -> Vec<ListSlot> {
    let MendedHistory {
        body,
        api,
        messages,
        calls,
        results,
        ..
    } = conversation;
    let mut is_round = vec![false; messages.len()];
    for call in calls {
        if let Some(is_round) = is_round.get_mut(call.round) {
            *is_round = true;
        }
    }
    let result_of = |at: usize| results.get(messages.get(at)?.parts.first()?.result?);
    let orphan = |at: usize| {
        let result = result_of(at).filter(|result| result.call.is_none())?;
        Some(words::orphan_message(
            *api,
            result,
            conversation.tool_of(result),
        ))
    };
    let mut slots = Vec::with_capacity(messages.len());
    let mut at = 0;
    while at < messages.len() {
        match result_of(at) {
            Some(result) if result.is_in_place => slots.push(ListSlot::Kept(at)),
            Some(_) => slots.extend(orphan(at).map(|text| ListSlot::Changed(at, text))),
            None => slots.push(ListSlot::Kept(at)),
        }
        let round = at;
        at += 1;
        if is_round.get(round) != Some(&true) {
            continue;
        }
        let first = at;
        while result_of(at).is_some() {
            slots.extend(
                result_of(at)
                    .filter(|result| result.is_in_place)
                    .map(|_| ListSlot::Kept(at)),
            );
            at += 1;
        }
        for result in conversation.misplaced(round) {
            slots.push(ListSlot::New(
                edits.in_part(body, span_in(body, result.text)),
            ));
        }
        for (call, id) in conversation.unanswered(round) {
            slots.push(ListSlot::New(words::interrupted(*api, call, id)));
        }
        slots.extend((first..at).filter_map(|at| Some(ListSlot::Changed(at, orphan(at)?))));
    }
    slots
}
