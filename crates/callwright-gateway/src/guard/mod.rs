//! Guards the calls of one answer, event by event.
//!
//! Takes the events of a stream, or a whole body as one event; returns what to send to the client. An event passes
//! immediately as its own bytes, unless it belongs to an incomplete call, or to text that may be one: then it is
//! held, and what follows it in the same choice waits behind it, until the call has been judged. In a call only the
//! name and the arguments change, in place; text that turns out to be calls is replaced with them. Does no I/O and
//! never looks at the clock.

mod decision;
mod edits;
mod fates;
mod output;
pub(crate) mod own_events;
mod waiting;

use std::collections::VecDeque;
use std::sync::Arc;

use bytes::Bytes;
use callwright::Gate;
use callwright::wire::{AnswerReader, Site, StreamedAnswer, UnreadableAnswer};
use callwright_http::sse::EventFields;

pub use self::decision::{CallJudge, Decision, NewCall, SplitCall};
use self::fates::CallFate;
use self::waiting::WaitingEvent;
use crate::api::Api;
use crate::text_calls::CallScope;
use crate::text_calls::TextFate;
use crate::text_calls::{CallIds, TakenIds};
use crate::unjudged::{Unjudged, contained};

/// The data of the last event of a chat completion.
const DONE: &[u8] = b"[DONE]";

/// Guards one answer.
#[derive(Debug)]
pub struct AnswerGuard {
    gate: Arc<Gate>,
    reader: AnswerReader,
    ids: CallIds,
    /// What happens to each call, by its number.
    fates: Vec<CallFate>,
    /// What happens to the text of each choice.
    texts: Vec<TextFate>,
    /// Which calls the request permits besides those that came as proper calls.
    scope: Option<CallScope>,
    /// Whether calls are rescued from text.
    rescues: bool,
    waiting: VecDeque<WaitingEvent>,
    /// In this step: the incoming event unless it waits, and events that no longer wait, as received.
    incoming: Option<Bytes>,
    taken: Vec<Bytes>,
    /// Whether everything passes unchanged.
    only_observes: bool,
    unjudged: Option<Unjudged>,
    /// The data of an early event, used as a template for others.
    sample: Option<String>,
    api: Api,
    /// Whether the end of the stream has arrived.
    has_ended: bool,
}

impl AnswerGuard {
    /// A guard for one answer of this API.
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
            incoming: None,
            taken: Vec::new(),
            only_observes: false,
            unjudged: None,
            sample: None,
            api,
            has_ended: false,
        }
    }

    /// Only judges; holds and changes nothing.
    #[must_use]
    pub fn only_observing(mut self) -> Self {
        self.only_observes = true;
        self
    }

    /// The answer received so far.
    pub fn answer(&self) -> &StreamedAnswer {
        self.reader.answer()
    }

    /// Splits a call that contains several, as far as the request permits them.
    #[must_use]
    pub fn splitting(mut self, scope: CallScope) -> Self {
        self.scope = Some(scope);
        self
    }

    /// Also rescues calls from text.
    #[must_use]
    pub fn rescuing(mut self) -> Self {
        self.rescues = true;
        self
    }

    /// Gives calls another id if theirs is used in the conversation before the answer.
    #[must_use]
    pub fn avoiding(mut self, taken: TakenIds) -> Self {
        self.ids = CallIds::new(taken);
        self
    }

    /// Whether events are held until a call ends.
    pub fn is_holding(&self) -> bool {
        !self.waiting.is_empty()
    }

    /// How many bytes are held.
    pub fn held_bytes(&self) -> usize {
        self.waiting.iter().map(|event| event.bytes.len()).sum()
    }

    /// Why the rest of the answer is not judged.
    pub fn unjudged(&self) -> Option<Unjudged> {
        self.unjudged
    }

    /// Takes the next event, and adds what to send to the client now.
    pub fn event(&mut self, event: Bytes, judge: &mut impl CallJudge, out: &mut Vec<Bytes>) {
        if self.unjudged.is_some() {
            return out.push(event);
        }
        self.incoming = Some(event.clone());
        self.step(out, |guard, out| guard.take(event, judge, out));
    }

    /// Runs one step. If it fails, it is undone, and everything passes unchanged from then on.
    fn step(&mut self, out: &mut Vec<Bytes>, step: impl FnOnce(&mut Self, &mut Vec<Bytes>)) {
        if self.unjudged == Some(Unjudged::Defect) {
            return;
        }
        let before = out.len();
        if contained(|| step(self, out)).is_none() {
            self.unjudged = Some(Unjudged::Defect);
            out.truncate(before);
            out.append(&mut self.taken);
            out.extend(self.waiting.drain(..).map(|event| event.bytes));
            out.extend(self.incoming.take());
        }
        self.incoming = None;
        self.taken.clear();
    }

    fn take(&mut self, event: Bytes, judge: &mut impl CallJudge, out: &mut Vec<Bytes>) {
        let fields = EventFields::read(&event);
        let is_error = fields.name == Some(b"error");
        let Some(data) = fields.data else {
            // A comment keeps its place like everything else: while it waits, the client gets our keep-alives.
            return if self.waiting.is_empty() {
                out.push(event);
            } else {
                self.wait(event, String::new(), Vec::new());
            };
        };
        let is_done = data.as_ref() == DONE;
        let sites = if is_done {
            self.end_of_answer(judge);
            Ok(Vec::new())
        } else {
            let text = std::str::from_utf8(&data).map_err(|_| UnreadableAnswer::Shape);
            text.and_then(|text| self.reader.read(text))
        };
        let sites = match sites {
            Ok(sites) => sites,
            Err(reason) => {
                self.unjudged = Some(Unjudged::Unreadable(reason));
                self.let_go(judge, out);
                return out.push(event);
            }
        };
        if is_error {
            self.reader.break_off();
        }
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
        if self.may_overtake(&sites) {
            let event = WaitingEvent {
                bytes: event,
                data,
                sites,
            };
            self.write(event, judge, out);
        } else {
            self.wait(event, data, sites);
            self.go_on(judge, out);
        }
    }

    /// Queues an event.
    fn wait(&mut self, bytes: Bytes, data: String, sites: Vec<Site>) {
        self.incoming = None;
        self.waiting.push_back(WaitingEvent { bytes, data, sites });
    }

    /// Takes a whole body; returns its replacement, or `None` if it does not change.
    pub fn body(&mut self, body: &str, judge: &mut impl CallJudge) -> Option<String> {
        let changed = contained(|| {
            let sites = self.reader.read(body)?;
            self.reader.end();
            self.judge_ended(true, judge);
            let changes = self.replacements(&sites, true, judge);
            Ok((!self.only_observes && !changes.is_empty()).then(|| changes.in_text(body)))
        });
        let changed = changed.map(|changed| changed.map_err(Unjudged::Unreadable));
        changed
            .unwrap_or(Err(Unjudged::Defect))
            .unwrap_or_else(|reason| {
                self.unjudged = Some(reason);
                None
            })
    }

    /// The stream ended normally: adds what is left.
    pub fn end(&mut self, judge: &mut impl CallJudge, out: &mut Vec<Bytes>) {
        self.step(out, |guard, out| {
            guard.end_of_answer(judge);
            guard.let_go(judge, out);
            guard.add_missing_end(judge, out);
        });
    }

    fn end_of_answer(&mut self, judge: &mut impl CallJudge) {
        if self.api.always_says_how_it_ended() {
            self.reader.break_off();
        } else {
            self.reader.end();
        }
        self.judge_ended(true, judge);
    }

    /// The stream broke off: adds what is left, unchanged.
    pub fn break_off(&mut self, judge: &mut impl CallJudge, out: &mut Vec<Bytes>) {
        self.step(out, |guard, out| {
            guard.reader.break_off();
            guard.judge_ended(true, judge);
            guard.let_go(judge, out);
        });
    }

    /// Releases everything held. A call that is still open passes unchanged, and is only judged for the record; text
    /// that might be one stays text.
    pub fn release(&mut self, judge: &mut impl CallJudge, out: &mut Vec<Bytes>) {
        self.step(out, |guard, out| {
            guard.reader.end_finished();
            guard.judge_ended(false, judge);
            guard.let_go(judge, out);
        });
    }

    fn let_go(&mut self, judge: &mut impl CallJudge, out: &mut Vec<Bytes>) {
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
