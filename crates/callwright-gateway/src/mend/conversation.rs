//! A conversation as written in a request: its calls and results, which belong together, and what is wrong with them.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

use callwright::internal::{RawObject, Replacement, raw_items, span_in};

use super::{HistoryDefect, unused_id};
use crate::api::Api;

/// How many calls, and how many results, a conversation may have to be examined. The longest agent sessions have a
/// few thousand, and finding the call of a result takes one step per call with the same id.
const MOST_CALLS: usize = 10_000;

/// A conversation.
#[derive(Debug)]
pub(super) struct MendedHistory<'a> {
    pub(super) body: &'a str,
    pub(super) api: Api,
    pub(super) messages: Vec<HistoryMessage<'a>>,
    pub(super) calls: Vec<CallInHistory<'a>>,
    pub(super) results: Vec<ResultInHistory<'a>>,
    /// New ids of calls, by call number.
    renamed: HashMap<usize, String>,
}

/// A message, or an item.
#[derive(Debug)]
pub(super) struct HistoryMessage<'a> {
    pub(super) text: &'a str,
    pub(super) side: SpokenBy,
    /// The list of its parts, if results are parts.
    pub(super) list: Option<&'a str>,
    pub(super) parts: Vec<HistoryPart<'a>>,
}

/// A part of a message; the whole message if results are messages.
#[derive(Debug)]
pub(super) struct HistoryPart<'a> {
    pub(super) text: &'a str,
    /// The result that it contains.
    pub(super) result: Option<usize>,
}

/// The sender of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SpokenBy {
    Model,
    /// The user, the system, or the developer.
    User,
    /// A result, or something else that does not begin a turn.
    Neutral,
}

/// The id of a call, decoded and as written.
pub(super) type CallId<'a> = (Cow<'a, str>, &'a str);

/// A call made by the model.
#[derive(Debug)]
pub(super) struct CallInHistory<'a> {
    /// The number of its message, and of the answer that the message belongs to.
    pub(super) message: usize,
    pub(super) round: usize,
    pub(super) id: Option<CallId<'a>>,
    pub(super) tool: Cow<'a, str>,
    /// The provider's name for its type.
    pub(super) kind: Cow<'a, str>,
    pub(super) arguments: ArgumentsInHistory<'a>,
    /// Its result.
    pub(super) result: Option<usize>,
}

/// The arguments of a call in a conversation.
#[derive(Debug)]
pub(super) enum ArgumentsInHistory<'a> {
    /// As JSON, which may be a string containing JSON.
    Written(&'a str),
    /// Missing: the key they would have, where it would go, and what would follow it.
    Missing {
        key: &'static str,
        room: (usize, &'static str),
    },
    /// The tool does not take JSON.
    NotJson,
}

/// The result of a call.
#[derive(Debug)]
pub(super) struct ResultInHistory<'a> {
    pub(super) message: usize,
    pub(super) text: &'a str,
    pub(super) id: Option<CallId<'a>>,
    pub(super) tool: Option<Cow<'a, str>>,
    /// The call that it answers.
    pub(super) call: Option<usize>,
    /// Whether it is where the provider expects it.
    pub(super) is_in_place: bool,
}

impl<'a> MendedHistory<'a> {
    /// Reads a list of messages; `None` if it is not a list, or too long.
    pub(super) fn read(body: &'a str, list: &'a str, api: Api) -> Option<Self> {
        let mut conversation = MendedHistory {
            body,
            api,
            messages: Vec::new(),
            calls: Vec::new(),
            results: Vec::new(),
            renamed: HashMap::new(),
        };
        for text in raw_items(list).ok()? {
            let object = RawObject::read(text).ok()?;
            let message = match api {
                Api::Chat => conversation.read_chat(text, &object)?,
                Api::Responses => conversation.read_item(text, &object),
                Api::Messages => conversation.read_blocks(text, &object)?,
                Api::Gemini => conversation.read_parts(text, &object)?,
            };
            conversation.messages.push(message);
            if conversation.calls.len().max(conversation.results.len()) > MOST_CALLS {
                return None;
            }
        }
        conversation.number_rounds();
        conversation.pair();
        conversation.find_places();
        conversation.rename();
        Some(conversation)
    }

    /// The defects in the order and the ids of the conversation, in no particular order.
    pub(super) fn defects(&self) -> Vec<HistoryDefect> {
        let unanswered = self
            .calls
            .iter()
            .filter(|call| call.result.is_none() && self.can_answer(call));
        let unanswered = unanswered.map(|_| HistoryDefect::UnansweredCall);
        let of_results = self.results.iter().filter_map(|result| match result.call {
            None => Some(HistoryDefect::OrphanResult),
            Some(_) if !result.is_in_place => Some(HistoryDefect::MisplacedResult),
            Some(_) => None,
        });
        let twice = self.renamed.iter().map(|_| HistoryDefect::DuplicateId);
        unanswered.chain(of_results).chain(twice).collect()
    }

    /// Whether a result could refer to this call.
    fn can_answer(&self, call: &CallInHistory<'_>) -> bool {
        match self.api {
            Api::Chat | Api::Responses | Api::Messages => call.id.is_some(),
            // Results name their tool.
            Api::Gemini => true,
        }
    }

    /// The calls of an answer that have no result, with their final ids.
    pub(super) fn unanswered(
        &self,
        round: usize,
    ) -> impl Iterator<Item = (&CallInHistory<'a>, Option<&str>)> {
        let calls = self.calls.iter().enumerate();
        let open = calls.filter(move |(_, call)| {
            call.round == round && call.result.is_none() && self.can_answer(call)
        });
        open.map(|(at, call)| {
            let old = call.id.as_ref().map(|(id, _)| id.as_ref());
            (call, self.renamed.get(&at).map(String::as_str).or(old))
        })
    }

    /// The results of an answer that are in the wrong place.
    pub(super) fn misplaced(&self, round: usize) -> impl Iterator<Item = &ResultInHistory<'a>> {
        self.results.iter().filter(move |result| {
            let call = result.call.and_then(|call| self.calls.get(call));
            !result.is_in_place && call.is_some_and(|call| call.round == round)
        })
    }

    /// The tool name of a result without a call, if known.
    pub(super) fn tool_of<'s>(&'s self, result: &'s ResultInHistory<'a>) -> Option<&'s str> {
        let of_call = || {
            let (id, _) = result.id.as_ref()?;
            let mut calls = self.calls.iter();
            calls.find(|call| call.id.as_ref().is_some_and(|(other, _)| other == id))
        };
        result
            .tool
            .as_deref()
            .or_else(|| of_call().map(|call| call.tool.as_ref()))
    }

    /// Where duplicate ids are written, and their replacements, as JSON.
    pub(super) fn new_ids(&self) -> Vec<Replacement> {
        let mut edits = Vec::new();
        for (call, id) in &self.renamed {
            let json = serde_json::Value::from(id.as_str()).to_string();
            let Some(call) = self.calls.get(*call) else {
                continue;
            };
            let of_result = call.result.and_then(|at| self.results.get(at)?.id.as_ref());
            for (_, written) in call.id.iter().chain(of_result) {
                edits.push((span_in(self.body, written), json.clone()));
            }
        }
        edits
    }

    /// In a chat, each message is an answer; in other APIs, consecutive messages and items form one answer, numbered
    /// by its last message.
    fn number_rounds(&mut self) {
        let is_answer = |at: usize| {
            self.messages
                .get(at)
                .is_some_and(|message| message.side == SpokenBy::Model)
        };
        let mut ends: Vec<usize> = (0..self.messages.len()).collect();
        let are_joined = match self.api {
            Api::Chat => false,
            Api::Responses | Api::Messages | Api::Gemini => true,
        };
        if are_joined {
            for at in (1..ends.len()).rev() {
                if is_answer(at - 1)
                    && is_answer(at)
                    && let Some(end) = ends.get(at).copied()
                    && let Some(before) = ends.get_mut(at - 1)
                {
                    *before = end;
                }
            }
        }
        for call in &mut self.calls {
            call.round = ends.get(call.message).copied().unwrap_or(call.message);
        }
    }

    /// Finds the call of each result: the first one in the latest preceding answer that has its id and no result yet;
    /// a later call only if no other is left.
    fn pair(&mut self) {
        let mut by_key: HashMap<ResultKey, Vec<usize>> = HashMap::new();
        for (at, call) in self.calls.iter().enumerate() {
            if let Some((id, _)) = &call.id {
                by_key
                    .entry(ResultKey::Id(id.to_string()))
                    .or_default()
                    .push(at);
            }
            by_key
                .entry(ResultKey::Tool(call.tool.to_string()))
                .or_default()
                .push(at);
        }
        for may_be_later in [false, true] {
            for (number, result) in self.results.iter_mut().enumerate() {
                if result.call.is_some() {
                    continue;
                }
                let key = match (&result.id, &result.tool) {
                    (Some((id, _)), _) => ResultKey::Id(id.to_string()),
                    (None, Some(tool)) => ResultKey::Tool(tool.to_string()),
                    (None, None) => continue,
                };
                let Some(candidates) = by_key.get(&key) else {
                    continue;
                };
                let open = |at: &&usize| {
                    let call = self.calls.get(**at);
                    call.is_some_and(|call| {
                        call.result.is_none() && (call.message < result.message) != may_be_later
                    })
                };
                let round = |at: &usize| self.calls.get(*at).map(|call| call.round);
                let found = if may_be_later {
                    candidates.iter().find(open)
                } else {
                    let latest = candidates.iter().rfind(open).and_then(round);
                    candidates.iter().find(|at| open(at) && round(at) == latest)
                };
                if let Some(at) = found.copied()
                    && let Some(call) = self.calls.get_mut(at)
                {
                    call.result = Some(number);
                    result.call = Some(at);
                }
            }
        }
    }

    /// Gives a new id to each call whose id an earlier call has.
    fn rename(&mut self) {
        let mut used: HashSet<Cow<'_, str>> = HashSet::new();
        used.extend(
            self.calls
                .iter()
                .filter_map(|call| Some(call.id.as_ref()?.0.clone())),
        );
        let mut seen: HashMap<&str, usize> = HashMap::new();
        for (at, call) in self.calls.iter().enumerate() {
            let Some((id, _)) = &call.id else { continue };
            let Some(number) = seen.get_mut(id.as_ref()) else {
                seen.insert(id, 1);
                continue;
            };
            let new = unused_id(id, &used, number);
            used.insert(Cow::Owned(new.clone()));
            self.renamed.insert(at, new);
        }
    }
}

/// What a result uses to name its call.
#[derive(Debug, PartialEq, Eq, Hash)]
enum ResultKey {
    Id(String),
    Tool(String),
}
