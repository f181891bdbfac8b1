//! Follows one record in order: user turns, model answers, calls, results.
//!
//! A result whose call is in the same record is joined with it; others are passed on separately. A record without a
//! session that shows its conversation from the beginning is named after that beginning, which is the same in all
//! records of the conversation: what the user said, and the first call. Any other is named after its first call, if
//! that has a unique id, and otherwise after its file and line.

use std::borrow::Cow;
use std::collections::HashMap;

use callwright::call::Arguments;
use callwright::json::Value;
use callwright::wire::{self, CallResult, HistoryEntry, WholeAnswer};
use callwright::{Call, Error};
use xxhash_rust::xxh3::xxh3_64_with_seed;

use super::context::Context;
use super::pick::text;
use super::tools::ToolLists;
use super::{Format, Reading, RecordPlace};
use crate::seen::{At, CallIdentity, Seen, SeenCall, SeenResult, ToolAnswer};

/// How many calls back the call of a result is searched for. A model makes at most a few dozen at once.
const LOOK_BACK: usize = 256;

/// Shorter ids are counters, which other conversations have too.
const SHORTEST_UNIQUE_ID: usize = 16;

/// Follows one record.
pub(super) struct Dialogue<'a, 'r> {
    reading: &'r mut Reading<'a>,
    tools: &'r mut ToolLists,
    place: RecordPlace<'a>,
    pub(super) context: Context<'a>,
    /// Where the entries of this record begin.
    first: usize,
    turn: u64,
    round: u64,
    /// Whether turns and answers can be counted: the record shows the conversation from its beginning.
    counts: bool,
    /// Whether other records also show what comes now.
    pub(super) in_history: bool,
    /// A hash of the id of the model's answer, if the answer has one.
    answer_id: Option<u64>,
    /// A hash of what the user said so far, and of the first call.
    beginning: u64,
    conversation: Option<u64>,
    /// How often each call was shown.
    shown: HashMap<u64, u32>,
}

impl<'a, 'r> Dialogue<'a, 'r> {
    pub(super) fn new(
        reading: &'r mut Reading<'a>,
        tools: &'r mut ToolLists,
        place: RecordPlace<'a>,
        context: Context<'a>,
    ) -> Self {
        let first = reading.seen.len();
        Dialogue {
            reading,
            tools,
            place,
            context,
            first,
            turn: 0,
            round: 0,
            counts: false,
            in_history: false,
            answer_id: None,
            beginning: 0,
            conversation: None,
            shown: HashMap::new(),
        }
    }

    /// The record shows the conversation from its beginning.
    pub(super) fn begins_here(&mut self) {
        self.counts = true;
    }

    /// A model answer, which may have an id.
    pub(super) fn answered_as(&mut self, answer: &Value<'_>) {
        let id = text(answer, "id").map(|id| xxh3_64_with_seed(id.as_bytes(), 0));
        self.answer_id = id.or(self.answer_id);
    }

    pub(super) fn format(&mut self, format: Format) {
        self.reading.set_format(format);
    }

    /// A user message.
    pub(super) fn user(&mut self, said: &Value<'_>) {
        self.turn += 1;
        self.beginning = said_hash(said, self.beginning);
    }

    /// A request, a response or a list of messages, in any provider's format.
    pub(super) fn history(&mut self, value: Value<'a>) {
        // Only what comes before the first call matters, which includes no results.
        let by_user = |item: &&Value<'_>| text(item, "role") == Some("user");
        let items = value.as_array().unwrap_or_default().iter().filter(by_user);
        let said = items.map(|item| said_hash(item, 0)).collect::<Vec<u64>>();
        let mut said = said.into_iter();
        for entry in wire::read_history(value) {
            match entry {
                HistoryEntry::User => {
                    self.turn += 1;
                    self.beginning = mixed(said.next().unwrap_or_default(), self.beginning);
                }
                HistoryEntry::Answer(answer) => self.answer(answer),
                HistoryEntry::Result(result) => self.result_of(result),
                HistoryEntry::Tools(tools) => self.tools(&Value::Array(tools)),
                _ => {}
            }
        }
    }

    fn answer(&mut self, answer: WholeAnswer<'a>) {
        for hosted in answer.hosted {
            self.read(hosted.call);
            if let Some(result) = hosted.result.filter(|result| result.id.is_some()) {
                self.result_of(result);
            }
        }
        self.answered(answer.calls);
    }

    /// The calls of one model answer.
    pub(super) fn answered(&mut self, calls: impl IntoIterator<Item = Result<Call<'a>, Error>>) {
        for call in calls {
            self.read(call);
        }
        self.round += 1;
    }

    fn read(&mut self, call: Result<Call<'a>, Error>) {
        match call {
            Ok(call) => self.call_with(call, None, None),
            Err(error) => self.trouble(error.to_string()),
        }
    }

    fn result_of(&mut self, result: CallResult<'a>) {
        let tool = result.tool.as_deref();
        self.result(result.id, tool, result.output, result.is_error);
    }

    /// A call in a provider's format.
    pub(super) fn read_call(&mut self, value: Value<'a>) {
        self.read(wire::read_call(value));
    }

    /// A call and its outcome.
    pub(super) fn call_with(
        &mut self,
        call: Call<'a>,
        answer: Option<ToolAnswer<'a>>,
        latency_us: Option<u64>,
    ) {
        let at = self.at();
        let in_history = self.in_history && call.id.is_some();
        let hash = call_hash(&call);
        self.conversation.get_or_insert(mixed(hash, self.beginning));
        let shown = self.shown.entry(hash).or_default();
        let identity = CallIdentity {
            call: hash,
            nth: *shown,
            from_start: self.counts,
            answer: self.answer_id,
            anywhere: xxh3_64_with_seed(at.session.as_deref().unwrap_or_default().as_bytes(), hash),
        };
        *shown += 1;
        self.reading.seen.push(Seen::Call(Box::new(SeenCall {
            call,
            at,
            answer,
            latency_us,
            in_history,
            identity: Some(identity),
            recorded_tool: None,
        })));
    }

    /// A result by the id of its call, or by the name of its tool if there are no ids.
    pub(super) fn result(
        &mut self,
        id: Option<Value<'a>>,
        tool: Option<&str>,
        output: Value<'a>,
        is_error: bool,
    ) {
        let answer = ToolAnswer { output, is_error };
        let from = self
            .first
            .max(self.reading.seen.len().saturating_sub(LOOK_BACK));
        let mut calls = self.reading.seen[from..]
            .iter_mut()
            .filter_map(|seen| match seen {
                Seen::Call(call) if call.answer.is_none() => Some(call),
                _ => None,
            });
        let found = match (&id, tool) {
            (Some(_), _) => calls.rfind(|call| call.call.id == id),
            // Results come in the order of their calls.
            (None, Some(tool)) => calls.find(|call| call.call.tool == tool),
            (None, None) => None,
        };
        match (found, id) {
            (Some(call), _) => call.answer = Some(answer),
            (None, Some(id)) => {
                let at = self.at();
                self.reading
                    .seen
                    .push(Seen::Result(SeenResult { id, at, answer }));
            }
            (None, None) => self.trouble("a result that does not name its call"),
        }
    }

    pub(super) fn tools(&mut self, list: &Value<'a>) {
        let (tools, bad) = self.tools.read(list);
        if bad > 0 {
            self.trouble("an unreadable tool: it has no name");
        }
        if !tools.is_empty() {
            self.reading.seen.push(Seen::Tools(tools));
        }
    }

    pub(super) fn trouble(&mut self, what: impl Into<Cow<'static, str>>) {
        self.reading.troubles.push(what.into());
    }

    fn at(&self) -> At<'a> {
        let mut at = self.context.at();
        if self.counts {
            at.turn = Some(self.turn);
            at.round = Some(self.round);
        }
        at
    }

    /// Ends the record. One without a session becomes its own session.
    pub(super) fn end(self) {
        if self.context.has_session() {
            return;
        }
        let shown = &mut self.reading.seen[self.first..];
        if let Some(conversation) = self.conversation.filter(|_| self.counts) {
            return set_session(shown, format!("conversation {conversation:016x}").into());
        }
        let unique = shown.iter().find_map(|seen| match seen {
            Seen::Call(call) => unique_id(call.call.id.as_ref()?),
            Seen::Result(result) => unique_id(&result.id),
            Seen::Tools(_) => None,
        });
        let session = match unique {
            Some(id) => id,
            None => Cow::Owned(format!("{}:{}", self.place.file, self.place.line)),
        };
        set_session(shown, session);
    }

    /// Ends the record. One without a session belongs to that of its file, or a part of it.
    pub(super) fn end_in_file(self, part: Option<&str>) {
        if self.context.has_session() {
            return;
        }
        let file = self.place.file;
        let session = part.map_or(Cow::Borrowed(file), |part| {
            Cow::Owned(format!("{file} [{part}]"))
        });
        set_session(&mut self.reading.seen[self.first..], session);
    }
}

/// Puts everything without a session into this one. Most records show one call, for which nothing is copied.
pub(super) fn set_session<'a>(shown: &mut [Seen<'a>], session: Cow<'a, str>) {
    let places = shown.iter_mut().filter_map(|seen| match seen {
        Seen::Call(call) => Some(&mut call.at),
        Seen::Result(result) => Some(&mut result.at),
        Seen::Tools(_) => None,
    });
    let mut places = places.filter(|at| at.session.is_none()).peekable();
    while let Some(at) = places.next() {
        if places.peek().is_none() {
            at.session = Some(session);
            return;
        }
        at.session = Some(session.clone());
    }
}

fn mixed(hash: u64, with: u64) -> u64 {
    xxh3_64_with_seed(&hash.to_le_bytes(), with)
}

/// A hash of the texts of a message; other content may change from request to request, as cache markers do.
fn said_hash(message: &Value<'_>, seed: u64) -> u64 {
    match message {
        Value::String(said) => xxh3_64_with_seed(said.as_bytes(), seed),
        Value::Array(parts) => parts.iter().fold(seed, |seed, part| said_hash(part, seed)),
        Value::Object(_) => (["text", "content", "parts"].iter())
            .filter_map(|key| message.get(key))
            .fold(seed, |seed, part| said_hash(part, seed)),
        _ => seed,
    }
}

/// A hash of the id, the tool and the arguments of a call.
fn call_hash(call: &Call<'_>) -> u64 {
    let id = call
        .id
        .as_ref()
        .map_or_else(String::new, ToString::to_string);
    let arguments = match &call.arguments {
        Arguments::Text(text) => Cow::Borrowed(text.as_ref()),
        Arguments::Value(value) => Cow::Owned(value.to_string()),
        Arguments::Absent => Cow::Borrowed(""),
    };
    let parts = [id.as_str(), &call.tool, &arguments];
    parts
        .iter()
        .fold(0, |seed, part| xxh3_64_with_seed(part.as_bytes(), seed))
}

/// An id that looks random: long, with digits and letters.
fn unique_id<'a>(id: &Value<'a>) -> Option<Cow<'a, str>> {
    let Value::String(text) = id else { return None };
    let has = |is: fn(&u8) -> bool| text.bytes().any(|byte| is(&byte));
    let is_unique =
        text.len() >= SHORTEST_UNIQUE_ID && has(u8::is_ascii_digit) && has(u8::is_ascii_alphabetic);
    is_unique.then(|| text.clone())
}
