//! A conversation as it is written in a request: its calls and its results, which belongs to which, and what is wrong
//! with them.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::ops::Range;

use callwright::internal::{RawObject, raw_items, raw_span};
use callwright::wire::Provider;

use super::{HistoryDefect, unused_id};

/// How many calls, and how many results, a conversation may have to be looked into. The longest sessions of agents have some thousand, and
/// finding the call of a result takes a step for each call of the same id.
const MOST_CALLS: usize = 10_000;

/// A conversation.
#[derive(Debug)]
pub(super) struct Conversation<'a> {
    pub(super) body: &'a str,
    pub(super) provider: Provider,
    pub(super) messages: Vec<Message<'a>>,
    pub(super) calls: Vec<CallInHistory<'a>>,
    pub(super) results: Vec<ResultInHistory<'a>>,
    /// New ids of calls, by their numbers.
    renamed: HashMap<usize, String>,
}

/// A message, or an item.
#[derive(Debug)]
pub(super) struct Message<'a> {
    pub(super) text: &'a str,
    pub(super) side: Side,
    /// The list that its parts are in, where results are parts.
    pub(super) list: Option<&'a str>,
    pub(super) parts: Vec<Part<'a>>,
}

/// A part of a message; all of it, where results are messages.
#[derive(Debug)]
pub(super) struct Part<'a> {
    pub(super) text: &'a str,
    /// The result that it is.
    pub(super) result: Option<usize>,
}

/// Who a message is from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Side {
    Model,
    /// The user, or whoever speaks to the model besides its tools.
    User,
    /// A result, or something else that does not begin anything.
    Neutral,
}

/// A call that the model made.
#[derive(Debug)]
pub(super) struct CallInHistory<'a> {
    /// The number of its message, and of the answer that the message belongs to.
    pub(super) message: usize,
    pub(super) round: usize,
    id: Option<(Cow<'a, str>, &'a str)>,
    pub(super) tool: Cow<'a, str>,
    /// What its provider calls it.
    pub(super) kind: Cow<'a, str>,
    pub(super) arguments: ArgumentsInHistory<'a>,
    /// Its result.
    pub(super) result: Option<usize>,
}

/// The arguments of a call in a conversation.
#[derive(Debug)]
pub(super) enum ArgumentsInHistory<'a> {
    /// As JSON, which may be a text with JSON in it.
    Written(&'a str),
    /// They are missing: the key that they would have, where it would be, and what would follow it.
    Missing {
        key: &'static str,
        room: (usize, &'static str),
    },
    /// The tool takes something else.
    NotJson,
}

/// The result of a call.
#[derive(Debug)]
pub(super) struct ResultInHistory<'a> {
    pub(super) message: usize,
    pub(super) text: &'a str,
    id: Option<(Cow<'a, str>, &'a str)>,
    tool: Option<Cow<'a, str>>,
    /// The call that it answers.
    pub(super) call: Option<usize>,
    /// Whether it is where the provider wants it.
    pub(super) is_in_place: bool,
}

impl<'a> Conversation<'a> {
    /// Reads a list of messages; `None` if it is not one, or too long.
    pub(super) fn read(body: &'a str, list: &'a str, provider: Provider) -> Option<Self> {
        let mut conversation = Conversation {
            body,
            provider,
            messages: Vec::new(),
            calls: Vec::new(),
            results: Vec::new(),
            renamed: HashMap::new(),
        };
        for text in raw_items(list).ok()? {
            let object = RawObject::read(text).ok()?;
            let message = match provider {
                Provider::OpenAiChat => conversation.read_chat(text, &object)?,
                Provider::OpenAiResponses => conversation.read_item(text, &object)?,
                _ => conversation.read_blocks(text, &object)?,
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

    /// What is wrong with the order of the conversation and with its ids, in no order.
    pub(super) fn defects(&self) -> Vec<HistoryDefect> {
        let unanswered = self.calls.iter().filter(|call| call.result.is_none() && self.can_answer(call));
        let unanswered = unanswered.map(|_| HistoryDefect::UnansweredCall);
        let of_results = self.results.iter().filter_map(|result| match result.call {
            None => Some(HistoryDefect::OrphanResult),
            Some(_) if !result.is_in_place => Some(HistoryDefect::MisplacedResult),
            Some(_) => None,
        });
        let twice = self.renamed.iter().map(|_| HistoryDefect::DuplicateId);
        unanswered.chain(of_results).chain(twice).collect()
    }

    /// Whether a result could say which call it belongs to.
    fn can_answer(&self, call: &CallInHistory<'_>) -> bool {
        call.id.is_some() || self.provider == Provider::Gemini
    }

    /// The calls of an answer that have no result, with the ids that they will have.
    pub(super) fn unanswered(&self, round: usize) -> impl Iterator<Item = (&CallInHistory<'a>, Option<&str>)> {
        let calls = self.calls.iter().enumerate();
        let open = calls.filter(move |(_, call)| {
            call.round == round && call.result.is_none() && self.can_answer(call)
        });
        open.map(|(at, call)| {
            let old = call.id.as_ref().map(|(id, _)| id.as_ref());
            (call, self.renamed.get(&at).map(String::as_str).or(old))
        })
    }

    /// The results of an answer that are somewhere else.
    pub(super) fn misplaced(&self, round: usize) -> impl Iterator<Item = &ResultInHistory<'a>> {
        self.results.iter().filter(move |result| {
            let call = result.call.and_then(|call| self.calls.get(call));
            !result.is_in_place && call.is_some_and(|call| call.round == round)
        })
    }

    /// The name of the tool of a result without a call, if it is known.
    pub(super) fn tool_of<'s>(&'s self, result: &'s ResultInHistory<'a>) -> Option<&'s str> {
        let of_call = || {
            let (id, _) = result.id.as_ref()?;
            let mut calls = self.calls.iter();
            calls.find(|call| call.id.as_ref().is_some_and(|(other, _)| other == id))
        };
        result.tool.as_deref().or_else(|| of_call().map(|call| call.tool.as_ref()))
    }

    /// Where ids are written that are used twice, and the new ones, as JSON.
    pub(super) fn new_ids(&self) -> Vec<(Range<usize>, String)> {
        let mut edits = Vec::new();
        for (call, id) in &self.renamed {
            let json = serde_json::Value::from(id.as_str()).to_string();
            let Some(call) = self.calls.get(*call) else { continue };
            let of_result = call.result.and_then(|at| self.results.get(at)?.id.as_ref());
            for (_, written) in call.id.iter().chain(of_result) {
                edits.push((raw_span(self.body, written), json.clone()));
            }
        }
        edits
    }

    fn read_chat(&mut self, text: &'a str, message: &RawObject<'a>) -> Option<Message<'a>> {
        let (mut side, mut result) = (Side::User, None);
        match message.text("role").as_deref() {
            Some("assistant") => {
                side = Side::Model;
                for entry in message.list("tool_calls").ok()? {
                    let entry = RawObject::read(entry).ok()?;
                    let function = entry.object("function").ok()?;
                    let custom = entry.object("custom").ok()?;
                    let arguments = function.as_ref().map(|function| self.arguments(function, "arguments"));
                    let named = function.as_ref().or(custom.as_ref());
                    let tool = named.and_then(|named| named.text("name"));
                    self.call(identity(&entry, "id"), tool, "function".into(), arguments);
                }
            }
            Some("tool") => {
                side = Side::Neutral;
                let (id, tool) = (identity(message, "tool_call_id"), message.text("name"));
                result = Some(self.result(text, id, tool));
            }
            _ => {}
        }
        Some(Message { text, side, list: None, parts: vec![Part { text, result }] })
    }

    fn read_item(&mut self, text: &'a str, item: &RawObject<'a>) -> Option<Message<'a>> {
        let kind = item.text("type").unwrap_or("message".into());
        let (mut side, mut result) = (Side::Neutral, None);
        match kind.as_ref() {
            "message" if item.text("role").as_deref() == Some("assistant") => side = Side::Model,
            "message" => side = Side::User,
            "function_call" | "custom_tool_call" => {
                side = Side::Model;
                let arguments = (kind == "function_call").then(|| self.arguments(item, "arguments"));
                self.call(identity(item, "call_id"), item.text("name"), kind, arguments);
            }
            "function_call_output" | "custom_tool_call_output" => {
                result = Some(self.result(text, identity(item, "call_id"), None));
            }
            "reasoning" => side = Side::Model,
            kind if kind.ends_with("_call") => side = Side::Model,
            _ => {}
        }
        Some(Message { text, side, list: None, parts: vec![Part { text, result }] })
    }

    /// A message of blocks or parts.
    fn read_blocks(&mut self, text: &'a str, message: &RawObject<'a>) -> Option<Message<'a>> {
        let is_gemini = self.provider == Provider::Gemini;
        let side = match message.text("role").as_deref() {
            Some("assistant" | "model") => Side::Model,
            Some("user" | "function" | "tool") => Side::User,
            // Contents without a role are the user's.
            None if is_gemini => Side::User,
            _ => Side::Neutral,
        };
        let list = message.get(if is_gemini { "parts" } else { "content" });
        let list = list.filter(|list| list.starts_with('['));
        let mut parts = Vec::new();
        for block in list.map_or(Ok(Vec::new()), raw_items).ok()? {
            let object = RawObject::read(block).ok()?;
            let mut result = None;
            if is_gemini {
                if let Some(call) = object.object("functionCall").ok()?.filter(|_| side == Side::Model) {
                    let arguments = self.arguments(&call, "args");
                    self.call(identity(&call, "id"), call.text("name"), "functionCall".into(), Some(arguments));
                } else if let Some(of_call) = object.object("functionResponse").ok()? {
                    result = Some(self.result(block, identity(&of_call, "id"), of_call.text("name")));
                }
            } else if object.is_a("tool_use") && side == Side::Model {
                let arguments = self.arguments(&object, "input");
                self.call(identity(&object, "id"), object.text("name"), "tool_use".into(), Some(arguments));
            } else if object.is_a("tool_result") {
                result = Some(self.result(block, identity(&object, "tool_use_id"), None));
            }
            parts.push(Part { text: block, result });
        }
        Some(Message { text, side, list, parts })
    }

    fn arguments(&self, object: &RawObject<'a>, key: &'static str) -> ArgumentsInHistory<'a> {
        match object.written(key) {
            Some(written) => ArgumentsInHistory::Written(written),
            None => {
                let (at, comma) = object.room(self.body);
                ArgumentsInHistory::Missing { key, room: (at.start, comma) }
            }
        }
    }

    fn call(
        &mut self,
        id: Option<(Cow<'a, str>, &'a str)>,
        tool: Option<Cow<'a, str>>,
        kind: Cow<'a, str>,
        arguments: Option<ArgumentsInHistory<'a>>,
    ) {
        self.calls.push(CallInHistory {
            message: self.messages.len(),
            round: 0,
            id,
            tool: tool.unwrap_or_default(),
            kind,
            arguments: arguments.unwrap_or(ArgumentsInHistory::NotJson),
            result: None,
        });
    }

    fn result(&mut self, text: &'a str, id: Option<(Cow<'a, str>, &'a str)>, tool: Option<Cow<'a, str>>) -> usize {
        self.results.push(ResultInHistory {
            message: self.messages.len(),
            text,
            id,
            tool,
            call: None,
            is_in_place: false,
        });
        self.results.len() - 1
    }

    /// An answer is a message of a chat; in other APIs messages and items that follow each other are one answer.
    /// Its number is that of its last message.
    fn number_rounds(&mut self) {
        let is_answer = |at: usize| self.messages.get(at).is_some_and(|message| message.side == Side::Model);
        let mut ends: Vec<usize> = (0..self.messages.len()).collect();
        if self.provider != Provider::OpenAiChat {
            for at in (1..ends.len()).rev() {
                if is_answer(at - 1) && is_answer(at)
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

    /// Finds the call of each result: the first one of the latest answer before it that has its id and no result yet;
    /// a call that comes later only if no other is left.
    fn pair(&mut self) {
        let mut by_key: HashMap<Key, Vec<usize>> = HashMap::new();
        for (at, call) in self.calls.iter().enumerate() {
            if let Some((id, _)) = &call.id {
                by_key.entry(Key::Id(id.to_string())).or_default().push(at);
            }
            by_key.entry(Key::Tool(call.tool.to_string())).or_default().push(at);
        }
        for may_be_later in [false, true] {
            for (number, result) in self.results.iter_mut().enumerate() {
                if result.call.is_some() {
                    continue;
                }
                let key = match (&result.id, &result.tool) {
                    (Some((id, _)), _) => Key::Id(id.to_string()),
                    (None, Some(tool)) => Key::Tool(tool.to_string()),
                    (None, None) => continue,
                };
                let Some(candidates) = by_key.get(&key) else { continue };
                let open = |at: &&usize| {
                    let call = self.calls.get(**at);
                    call.is_some_and(|call| call.result.is_none() && (call.message < result.message) != may_be_later)
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

    /// Gives a new id to each call whose id an earlier one has.
    fn rename(&mut self) {
        let mut used: HashSet<Cow<'_, str>> = HashSet::new();
        used.extend(self.calls.iter().filter_map(|call| Some(call.id.as_ref()?.0.clone())));
        let mut seen: HashMap<&str, u32> = HashMap::new();
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

    /// Which results are where the provider wants them.
    fn find_places(&mut self) {
        let is_in_place: Vec<bool> = match self.provider {
            Provider::OpenAiChat => self.directly_after(),
            Provider::OpenAiResponses => self.before_the_user_speaks(),
            _ => self.first_in_the_next_message(),
        };
        for (result, is_in_place) in self.results.iter_mut().zip(is_in_place) {
            result.is_in_place = is_in_place;
        }
    }

    fn call_of(&self, result: &ResultInHistory<'_>) -> Option<&CallInHistory<'a>> {
        self.calls.get(result.call?)
    }

    /// Chat: between a call and its result there are other results only.
    fn directly_after(&self) -> Vec<bool> {
        // The last message before each that is not a result.
        let mut before = Vec::with_capacity(self.messages.len());
        let mut last = None;
        for (at, message) in self.messages.iter().enumerate() {
            before.push(last);
            if message.side != Side::Neutral {
                last = Some(at);
            }
        }
        let is_in_place = |result: &ResultInHistory<'_>| {
            let call = self.call_of(result);
            call.is_some_and(|call| before.get(result.message).copied().flatten() == Some(call.message))
        };
        self.results.iter().map(is_in_place).collect()
    }

    /// Responses: a result comes after its call, and the user says nothing between them. A result without a call will be
    /// words of the user.
    fn before_the_user_speaks(&self) -> Vec<bool> {
        let is_orphan = |part: &Part<'_>| {
            let result = part.result.and_then(|number| self.results.get(number));
            result.is_some_and(|result| result.call.is_none())
        };
        let mut spoken = 0;
        let spoken: Vec<usize> = self.messages.iter().map(|message| {
            let speaks = message.side == Side::User || message.parts.iter().any(is_orphan);
            spoken += usize::from(speaks);
            spoken
        }).collect();
        let is_in_place = |result: &ResultInHistory<'_>| {
            self.call_of(result).is_some_and(|call| {
                call.message < result.message && spoken.get(call.message) == spoken.get(result.message)
            })
        };
        self.results.iter().map(is_in_place).collect()
    }

    /// Anthropic, Gemini: the messages of the user that follow an answer begin with its results.
    fn first_in_the_next_message(&self) -> Vec<bool> {
        let mut is_in_place = vec![false; self.results.len()];
        // The answer whose results may come now.
        let mut round = None;
        for (at, message) in self.messages.iter().enumerate() {
            if message.side != Side::User {
                round = (message.side == Side::Model).then_some(at);
                continue;
            }
            // A text instead of parts.
            if message.list.is_none() {
                round = None;
            }
            for part in &message.parts {
                let Some(number) = part.result else {
                    round = None;
                    continue;
                };
                let call = self.results.get(number).and_then(|result| self.call_of(result));
                if let Some(place) = is_in_place.get_mut(number) {
                    *place = round.is_some() && call.map(|call| call.round) == round;
                }
            }
        }
        is_in_place
    }
}

/// What a result names its call by.
#[derive(Debug, PartialEq, Eq, Hash)]
enum Key {
    Id(String),
    Tool(String),
}

fn identity<'a>(object: &RawObject<'a>, key: &str) -> Option<(Cow<'a, str>, &'a str)> {
    Some((object.text(key)?, object.get(key)?))
}
