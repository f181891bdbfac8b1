//! Mends conversations that a provider rejects for a visible defect.
//!
//! Takes the body of a request; returns the mended body and its defects. A pure function of the body, so every later
//! request of a conversation is mended the same way. Looks for calls without a result, results without a call,
//! results in the wrong place, duplicate ids, and arguments that are not a JSON object. Never changes any other byte,
//! a body without a defect or one that cannot be read, or a conversation that is partly stored by the provider.

mod arguments;
mod conversation;
mod flat;
mod list;
mod nested;
mod places;
mod read;
mod words;

use std::borrow::Cow;
use std::collections::HashSet;

use callwright::internal::{RawObject, Replacements, span_in};
use callwright::named;
use serde_json::value::RawValue;

use self::conversation::MendedHistory;
use self::list::rebuilt;
use crate::api::Api;
use crate::text_calls::derived;

named! {
    /// A defect in a conversation that providers reject.
    #[non_exhaustive]
    pub enum HistoryDefect {
        /// A call has no result.
        UnansweredCall = "unanswered_call",
        /// A result has no call.
        OrphanResult = "orphan_result",
        /// A result is not directly after its call.
        MisplacedResult = "misplaced_result",
        /// Two calls have the same id.
        DuplicateId = "duplicate_id",
        /// The arguments of a call are not a JSON object.
        UnreadableArguments = "unreadable_arguments",
    }
}

/// Request members that say that part of the conversation is stored by the provider: what is missing here may be
/// there.
const HISTORY_ELSEWHERE: [&str; 3] = ["previous_response_id", "conversation", "thread"];

/// Mends the conversation in the body of a request, and returns the defects found, each kind once. `None` if there is
/// nothing to mend.
///
/// ```
/// use callwright_gateway::{Api, HistoryDefect, mend};
///
/// let body = r#"{"model": "m", "messages": [
///     {"role": "user", "content": "How warm is it?"},
///     {"role": "assistant", "tool_calls": [
///         {"id": "a", "type": "function", "function": {"name": "get_weather", "arguments": "{}"}}]},
///     {"role": "user", "content": "Well?"}
/// ]}"#;
/// let (mended, defects) = mend(body, Api::Chat).unwrap();
/// assert_eq!(defects, [HistoryDefect::UnansweredCall]);
/// assert!(mended.contains(r#""tool_call_id":"a","content":"The call was interrupted"#));
/// assert!(mend(&mended, Api::Chat).is_none());
/// ```
pub fn mend(body: &str, api: Api) -> Option<(String, Vec<HistoryDefect>)> {
    let request = RawObject::read(body).ok()?;
    if HISTORY_ELSEWHERE
        .iter()
        .any(|key| request.get(key).is_some())
    {
        return None;
    }
    let list = request.get(api.history_key())?;
    let conversation = MendedHistory::read(body, list, api)?;
    let mut defects = conversation.defects();
    let mut edits: Replacements = conversation.new_ids().into_iter().collect();
    for call in &conversation.calls {
        if let Some(readable) = arguments::readable(body, call, api) {
            defects.push(HistoryDefect::UnreadableArguments);
            edits.add(readable);
        }
    }
    if defects.is_empty() {
        return None;
    }
    defects.sort_unstable();
    defects.dedup();
    let slots = match api {
        Api::Messages | Api::Gemini => nested::place(&conversation, &edits),
        Api::Chat | Api::Responses => flat::place(&conversation, &edits),
    };
    let items: Vec<_> = conversation
        .messages
        .iter()
        .map(|message| span_in(body, message.text))
        .collect();
    let whole = span_in(body, list);
    let messages = rebuilt(body, whole.clone(), &items, slots, &edits);
    let before = body.get(..whole.start)?;
    let after = body.get(whole.end..)?;
    let mended = [before, &messages, after].concat();
    // Our output is parsed before a provider has to: our own bug must not hide theirs.
    let is_json = serde_json::from_str::<&RawValue>(&mended).is_ok();
    (is_json && mended != body).then_some((mended, defects))
}

/// An unused id, derived from the duplicate one. `number` counts up from one attempt to the next.
fn unused_id(id: &str, used: &HashSet<Cow<'_, str>>, number: &mut usize) -> String {
    loop {
        *number += 1;
        let new = derived(id, *number);
        if !used.contains(new.as_str()) {
            return new;
        }
    }
}
