//! The calls of one answer: event by event in, what the client gets out.
//!
//! Takes the events of a stream, or a whole body as one event. An event passes as its own bytes at once, unless it
//! belongs to a call of which something is still to come, or to text that may be one: it is held, and what follows it in
//! the same choice waits after it, until the call has been judged. Of a call only its name and arguments change, in place;
//! text that is calls gives way to them. Nothing is sent or received here, and no clock is looked at.

mod decision;
mod edits;
mod fates;
mod output;
mod waiting;

use std::collections::VecDeque;
use std::sync::Arc;

use bytes::Bytes;
use callwright::Gate;
use callwright::wire::{AnswerReader, StreamedAnswer, UnreadableAnswer};
use callwright_http::sse::EventFields;

pub use self::decision::{CallJudge, Decision, NewCall, SplitCall};
use self::fates::CallFate;
use self::waiting::WaitingEvent;
use crate::api::Api;
use crate::call_ids::{CallIds, TakenIds};
use crate::call_scope::CallScope;
use crate::own_events;
use crate::rewrite::replace;
use crate::text_fate::TextFate;

/// The data of the last event of a chat completion.
const DONE: &[u8] = b"[DONE]";

/// Guards one answer.
#[derive(Debug)]
pub struct AnswerGuard {
    gate: Arc<Gate>,
    reader: AnswerReader,
    ids: CallIds,
    /// What becomes of each call, by its number.
    fates: Vec<CallFate>,
    /// What becomes of the text of each choice.
    texts: Vec<TextFate>,
    /// Which calls the request has room for besides those that came as such.
    scope: Option<CallScope>,
    /// Whether calls are made of text.
    rescues: bool,
    waiting: VecDeque<WaitingEvent>,
    /// Whether everything goes on as it came.
    only_observes: bool,
    unjudged: Option<UnreadableAnswer>,
    /// The data of an early event, for others like it.
    sample: Option<String>,
    api: Api,
    /// Whether the end of the stream has come.
    has_ended: bool,
}

impl AnswerGuard {
    /// For an answer of this API.
    pub fn new(gate: Arc<Gate>, api: Api) -> Self {
        AnswerGuard {
            gate,
            reader: AnswerReader::new(api.provider()),
            ids: CallIds::default(),
            fates: Vec::new(),
            texts: Vec::new(),
            scope: None,
            rescues: false,
            waiting: VecDeque::new(),
            only_observes: false,
            unjudged: None,
            sample: None,
            api,
            has_ended: false,
        }
    }

    /// Judges only, and holds and changes nothing.
    #[must_use]
    pub fn only_observing(mut self) -> Self {
        self.only_observes = true;
        self
    }

    /// What has come of the answer.
    pub fn answer(&self) -> &StreamedAnswer {
        self.reader.answer()
    }

    /// Makes several calls of one that holds several, as far as the request has room for them.
    #[must_use]
    pub fn splitting(mut self, scope: CallScope) -> Self {
        self.scope = Some(scope);
        self
    }

    /// Makes calls of text too.
    #[must_use]
    pub fn rescuing(mut self) -> Self {
        self.rescues = true;
        self
    }

    /// Gives calls another id if the conversation before the answer has theirs.
    #[must_use]
    pub fn avoiding(mut self, taken: TakenIds) -> Self {
        self.ids = CallIds::new(taken);
        self
    }

    /// Whether events wait for the end of a call.
    pub fn is_holding(&self) -> bool {
        !self.waiting.is_empty()
    }

    /// How many bytes wait.
    pub fn held_bytes(&self) -> usize {
        self.waiting.iter().map(|event| event.bytes.len()).sum()
    }

    /// Why the rest of the answer is not judged.
    pub fn unjudged(&self) -> Option<UnreadableAnswer> {
        self.unjudged
    }

    /// Takes the next event, and adds what goes to the client now.
    pub fn event(&mut self, event: Bytes, judge: &mut impl CallJudge, out: &mut Vec<Bytes>) {
        let (data, None) = (EventFields::read(&event).data, self.unjudged) else {
            return out.push(event);
        };
        let Some(data) = data else {
            // A comment keeps its place, like everything else: while it waits, the client gets keep-alives of ours.
            return if self.waiting.is_empty() {
                out.push(event);
            } else {
                self.waiting.push_back(WaitingEvent::without_data(event));
            };
        };
        let is_done = data.as_ref() == DONE;
        let sites = if is_done {
            self.reader.end();
            self.judge_ended(true, judge);
            Ok(Vec::new())
        } else {
            let text = std::str::from_utf8(&data).map_err(|_| UnreadableAnswer::Shape);
            text.and_then(|text| self.reader.read(text))
        };
        let sites = match sites {
            Ok(sites) => sites,
            Err(reason) => {
                self.unjudged = Some(reason);
                self.release(judge, out);
                return out.push(event);
            }
        };
        self.judge_ended(false, judge);
        if is_done {
            self.go_on(judge, out);
            self.add_missing_end(judge, out);
        }
        if self.sample.is_none() && own_events::is_sample(self.api, &data) {
            self.sample = Some(String::from_utf8_lossy(&data).into_owned());
        }
        if self.only_observes || self.waiting.is_empty() && !self.concerns(&sites) {
            return out.push(event);
        }
        let data = String::from_utf8_lossy(&data).into_owned();
        let event = WaitingEvent {
            bytes: event,
            data,
            sites,
        };
        if self.may_overtake(&event) {
            self.write(event, judge, out);
        } else {
            self.waiting.push_back(event);
            self.go_on(judge, out);
        }
    }

    /// Takes a whole body; returns what it becomes, or `None` if it stays as it is.
    pub fn body(&mut self, body: &str, judge: &mut impl CallJudge) -> Option<String> {
        match self.reader.read(body) {
            Ok(sites) => {
                self.reader.end();
                self.judge_ended(true, judge);
                let pieces = self.pieces(&sites, true, judge);
                (!self.only_observes && !pieces.is_empty()).then(|| replace(body, pieces))
            }
            Err(reason) => {
                self.unjudged = Some(reason);
                None
            }
        }
    }

    /// The stream has ended by itself: adds what is left.
    pub fn end(&mut self, judge: &mut impl CallJudge, out: &mut Vec<Bytes>) {
        self.reader.end();
        self.judge_ended(true, judge);
        self.release(judge, out);
        self.add_missing_end(judge, out);
    }

    /// The stream broke off: adds what is left, as it came.
    pub fn break_off(&mut self, judge: &mut impl CallJudge, out: &mut Vec<Bytes>) {
        self.reader.break_off();
        self.judge_ended(true, judge);
        self.release(judge, out);
    }

    /// Lets everything go that waits. A call that is still open goes on as it came, and is judged for the record only; text
    /// that might be one stays text.
    pub fn release(&mut self, judge: &mut impl CallJudge, out: &mut Vec<Bytes>) {
        for text in &mut self.texts {
            if text.is_open() {
                *text = TextFate::AsItCame;
            }
        }
        for fate in &mut self.fates {
            if matches!(fate, CallFate::Open) {
                *fate = CallFate::Released;
            }
        }
        self.go_on(judge, out);
    }

    /// An event that keeps the client's connection alive while something is held.
    pub fn keep_alive(&self) -> Option<Bytes> {
        own_events::keep_alive(self.api, self.sample.as_deref())
    }
}
