//! Places results that are parts of the next user message: Anthropic and Gemini.

use callwright::internal::{RawObject, Replacements, raw_text, span_in};

use super::conversation::{HistoryMessage, MendedHistory, SpokenBy};
use super::list::{ListSlot, rebuilt};
use super::words;

/// The messages in order; user messages after an answer begin with its results.
pub(super) fn place(conversation: &MendedHistory<'_>, edits: &Replacements) -> Vec<ListSlot> {
    let MendedHistory { api, messages, .. } = conversation;
    let mut slots = Vec::with_capacity(messages.len());
    let mut at = 0;
    while let Some(message) = messages.get(at) {
        let is_answer = message.side == SpokenBy::Model;
        let is_last = messages
            .get(at + 1)
            .is_none_or(|next| next.side != SpokenBy::Model);
        if !is_answer || !is_last {
            slots.extend(written(conversation, edits, at, Vec::new(), None));
            at += 1;
            continue;
        }
        slots.extend(written(conversation, edits, at, Vec::new(), None));
        let mut added = added(conversation, edits, at);
        at += 1;
        // How many user messages begin with results, and where the last of these results is.
        let first = at;
        let mut last: Option<(usize, usize)> = None;
        while let Some(message) = messages
            .get(at)
            .filter(|message| message.side == SpokenBy::User)
        {
            let leading = message
                .parts
                .iter()
                .take_while(|part| part.result.is_some())
                .count();
            if leading > 0 {
                last = Some((at, leading));
            }
            at += 1;
            if leading < message.parts.len() || message.list.is_none() {
                break;
            }
        }
        let place = last.unwrap_or((first, 0));
        let mut orphans = Vec::new();
        for message in first..=place.0 {
            let end = if message == place.0 {
                place.1
            } else {
                usize::MAX
            };
            orphans.extend(orphan_parts(conversation, message, end));
        }
        at = first;
        if messages
            .get(first)
            .is_none_or(|message| message.side != SpokenBy::User)
        {
            if !added.is_empty() {
                slots.push(ListSlot::New(words::user_message(*api, &added)));
            }
            continue;
        }
        while at <= place.0 {
            let is_place = at == place.0;
            let end = if is_place { place.1 } else { usize::MAX };
            let new = if is_place {
                added.drain(..).chain(orphans.drain(..)).collect()
            } else {
                Vec::new()
            };
            slots.extend(written(conversation, edits, at, new, Some(end)));
            at += 1;
        }
    }
    slots
}

/// The results of an answer that are misplaced or missing.
fn added(conversation: &MendedHistory<'_>, edits: &Replacements, round: usize) -> Vec<String> {
    let misplaced = conversation.misplaced(round);
    let misplaced = misplaced
        .map(|result| edits.in_part(conversation.body, span_in(conversation.body, result.text)));
    let unanswered = conversation.unanswered(round);
    let unanswered = unanswered.map(|(call, id)| words::interrupted(conversation.api, call, id));
    misplaced.chain(unanswered).collect()
}

/// The results without a call among the first parts of a message, as text parts.
fn orphan_parts(conversation: &MendedHistory<'_>, message: usize, end: usize) -> Vec<String> {
    let parts = conversation
        .messages
        .get(message)
        .map_or(&[][..], |message| &message.parts);
    let results = parts
        .iter()
        .take(end)
        .filter_map(|part| conversation.results.get(part.result?));
    let orphans = results.filter(|result| result.call.is_none());
    orphans
        .flat_map(|result| words::orphan(conversation.api, result, conversation.tool_of(result)))
        .collect()
}

/// A message with `new` parts after the first `zone` ones, without orphaned results there, and without results that
/// belong elsewhere. `None` if nothing is left of it.
fn written(
    conversation: &MendedHistory<'_>,
    edits: &Replacements,
    at: usize,
    mut new: Vec<String>,
    zone: Option<usize>,
) -> Option<ListSlot> {
    let MendedHistory {
        body, api, results, ..
    } = conversation;
    let message = conversation.messages.get(at)?;
    let is_changed = |number: usize| {
        results
            .get(number)
            .is_some_and(|result| !result.is_in_place)
    };
    let mut changing = message.parts.iter().filter_map(|part| part.result);
    if new.is_empty() && !changing.any(is_changed) {
        return Some(ListSlot::Kept(at));
    }
    let Some(list) = message.list else {
        return Some(ListSlot::Changed(
            at,
            with_list(conversation, edits, message, new),
        ));
    };
    let zone = zone.unwrap_or_default();
    let mut slots = Vec::new();
    for (number, part) in message.parts.iter().enumerate() {
        if number == zone {
            slots.extend(new.drain(..).map(ListSlot::New));
        }
        let result = part.result.and_then(|number| results.get(number));
        match result {
            Some(result) if result.call.is_none() && number >= zone => {
                let texts = words::orphan(*api, result, conversation.tool_of(result));
                slots.extend(texts.into_iter().map(ListSlot::New));
            }
            Some(result) if !result.is_in_place => {}
            _ => slots.push(ListSlot::Kept(number)),
        }
    }
    slots.extend(new.drain(..).map(ListSlot::New));
    if slots.is_empty() {
        return None;
    }
    let items: Vec<_> = message
        .parts
        .iter()
        .map(|part| span_in(body, part.text))
        .collect();
    let span = span_in(body, list);
    let parts = rebuilt(body, span.clone(), &items, slots, edits);
    let whole = span_in(body, message.text);
    let before = edits.in_part(body, whole.start..span.start);
    let after = edits.in_part(body, span.end..whole.end);
    Some(ListSlot::Changed(at, [before, parts, after].concat()))
}

/// A message whose content is a string, with parts before it.
fn with_list(
    conversation: &MendedHistory<'_>,
    edits: &Replacements,
    message: &HistoryMessage<'_>,
    mut parts: Vec<String>,
) -> String {
    let body = conversation.body;
    let whole = span_in(body, message.text);
    let object = RawObject::read(message.text).ok();
    let content = object.and_then(|object| object.written(words::parts_key(conversation.api)));
    let Some(content) = content else {
        return words::user_message(conversation.api, &parts);
    };
    if let Some(text) = raw_text(content).filter(|text| !text.is_empty()) {
        parts.push(words::text_part(conversation.api, &text));
    }
    let span = span_in(body, content);
    let before = edits.in_part(body, whole.start..span.start);
    let after = edits.in_part(body, span.end..whole.end);
    format!("{before}[{}]{after}", parts.join(","))
}
