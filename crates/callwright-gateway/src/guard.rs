//! The calls of one answer: event by event in, what the client gets out.
//!
//! Takes the events of a stream, or a whole body as one event. An event passes as its own bytes at once, unless it
//! belongs to a call of which something is still to come, or to text that may be one: it is held, and what follows it in
//! the same choice waits after it, until the call has been judged. Of a call only its name and arguments change, in place;
//! text that is calls gives way to them. Nothing is sent or received here, and no clock is looked at.

mod edits;

use std::collections::VecDeque;
use std::sync::Arc;

use bytes::Bytes;
use callwright::Gate;
use callwright::call::Call;
use callwright::wire::{
    AnswerReader, EnvelopeDefect, Provider, Site, SiteRole, StreamedAnswer, UnreadableAnswer,
};
use callwright_http::sse::{EventFields, with_data};

use crate::rescue_scope::RescueScope;
use crate::rewrite::replace;
use crate::text_fate::{TextFate, rescued};
use crate::{call_writer, own_events};

/// The data of the last event of a chat completion.
const DONE: &[u8] = b"[DONE]";

/// Decides what becomes of the calls of an answer.
pub trait CallJudge {
    /// Judges a call.
    fn judge(&mut self, gate: &Gate, call: &Call<'_>) -> Decision;

    /// Hears of a defect around a call that was mended.
    fn mended(&mut self, defect: EnvelopeDefect);
}

/// What is to become of a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Decision {
    /// It is valid, and goes on as it came.
    Valid,
    /// It becomes another one.
    Change(NewCall),
    /// It is not valid, or nobody knows, and goes on as it came.
    Leave,
}

/// What a call becomes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewCall {
    /// The name of its tool.
    pub tool: String,
    /// Its arguments, as JSON.
    pub arguments: String,
}

/// Guards one answer.
#[derive(Debug)]
pub struct AnswerGuard {
    gate: Arc<Gate>,
    reader: AnswerReader,
    /// What becomes of each call, by its number.
    fates: Vec<CallFate>,
    /// What becomes of the text of each choice.
    texts: Vec<TextFate>,
    /// Which calls are made of text.
    rescue: Option<RescueScope>,
    waiting: VecDeque<WaitingEvent>,
    /// Whether everything goes on as it came.
    only_observes: bool,
    unjudged: Option<UnreadableAnswer>,
    /// The data of an early event, for others like it.
    sample: Option<String>,
    provider: Provider,
    /// Whether the end of the stream has come.
    has_ended: bool,
}

/// What becomes of a call.
#[derive(Debug)]
enum CallFate {
    /// It is not known how it ends.
    Open,
    /// It goes on as it came, and is judged later.
    Released,
    /// It goes on as it came.
    AsItCame { is_valid: bool },
    /// It goes on as another one. Once its name and its arguments are written, other pieces of them are emptied.
    Changed {
        new: NewCall,
        has_name: bool,
        has_arguments: bool,
    },
}

/// An event that may have to wait.
#[derive(Debug)]
struct WaitingEvent {
    bytes: Bytes,
    /// Its data, in which the sites are.
    data: String,
    sites: Vec<Site>,
}

impl WaitingEvent {
    fn without_data(bytes: Bytes) -> Self {
        WaitingEvent {
            bytes,
            data: String::new(),
            sites: Vec::new(),
        }
    }
}

impl AnswerGuard {
    /// For an answer of this provider.
    pub fn new(gate: Arc<Gate>, provider: Provider) -> Self {
        AnswerGuard {
            gate,
            reader: AnswerReader::new(provider),
            fates: Vec::new(),
            texts: Vec::new(),
            rescue: None,
            waiting: VecDeque::new(),
            only_observes: false,
            unjudged: None,
            sample: None,
            provider,
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

    /// Makes calls of text that is calls, as far as the request leaves room for them.
    #[must_use]
    pub fn rescuing(mut self, scope: RescueScope) -> Self {
        self.rescue = Some(scope);
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
        if self.sample.is_none() && own_events::is_sample(self.provider, &data) {
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
        own_events::keep_alive(self.provider, self.sample.as_deref())
    }

    /// Sends the rescued calls of choices whose end was not announced, and announces the end of those whose calls are all
    /// sound.
    fn add_missing_end(&mut self, judge: &mut impl CallJudge, out: &mut Vec<Bytes>) {
        let is_first = !std::mem::replace(&mut self.has_ended, true);
        if self.only_observes || self.unjudged.is_some() || !is_first {
            return;
        }
        for choice in 0..self.texts.len() {
            self.send_rescued(choice, None, out);
        }
        let answer = self.reader.answer();
        for (at, choice) in answer.choices.iter().enumerate() {
            let is_rescued = matches!(self.texts.get(at), Some(TextFate::Calls(_)));
            let calls = answer.calls.iter().zip(&self.fates);
            let own: Vec<&CallFate> = calls
                .filter(|(call, _)| call.choice == at)
                .map(|(_, fate)| fate)
                .collect();
            let is_sound = |fate: &&CallFate| {
                matches!(
                    fate,
                    CallFate::AsItCame { is_valid: true } | CallFate::Changed { .. }
                )
            };
            if choice.completeness.is_none()
                && (is_rescued || !own.is_empty())
                && own.iter().all(is_sound)
                && let Some(event) =
                    own_events::missing_finish(self.provider, self.sample.as_deref(), choice.number)
            {
                judge.mended(EnvelopeDefect::FinishReason);
                out.push(event);
            }
        }
    }

    /// Judges the calls that have ended as soon as it is known how: the last one of a choice when the choice ends.
    fn judge_ended(&mut self, is_over: bool, judge: &mut impl CallJudge) {
        let answer = self.reader.answer();
        self.fates
            .resize_with(answer.calls.len(), || CallFate::Open);
        for (at, (call, fate)) in answer.calls.iter().zip(&mut self.fates).enumerate() {
            if !matches!(fate, CallFate::Open | CallFate::Released) {
                continue;
            }
            let mut later = answer.calls.iter().skip(at + 1);
            let is_followed = later.any(|later| later.choice == call.choice);
            let choice = answer.choices.get(call.choice);
            let is_end_known = choice.is_some_and(|choice| choice.completeness.is_some());
            if !call.has_ended || !(is_followed || is_end_known || is_over) {
                continue;
            }
            let read = self.reader.call(at).filter(|_| !call.is_foreign);
            let decision = read.map_or(Decision::Leave, |call| judge.judge(&self.gate, &call));
            *fate = match in_namespace(decision, call.namespace.as_deref()) {
                Decision::Change(new) if !self.only_observes && matches!(fate, CallFate::Open) => {
                    CallFate::Changed {
                        new,
                        has_name: false,
                        has_arguments: false,
                    }
                }
                decision => CallFate::AsItCame {
                    is_valid: decision == Decision::Valid,
                },
            };
        }
        self.judge_texts(is_over, judge);
    }

    /// Looks at the text that has come, and decides about that of choices which have ended.
    fn judge_texts(&mut self, is_over: bool, judge: &mut impl CallJudge) {
        let answer = self.reader.answer();
        self.texts
            .resize_with(answer.choices.len(), || match &self.rescue {
                Some(_) => TextFate::open(),
                None => TextFate::AsItCame,
            });
        let Some(scope) = &self.rescue else {
            return;
        };
        for (at, (choice, text)) in answer.choices.iter().zip(&mut self.texts).enumerate() {
            text.follow(&self.gate, answer, at);
            if text.is_open() && (is_over || choice.completeness.is_some()) {
                let calls = rescued(&self.gate, answer, at, (self.provider, scope), judge);
                *text = match calls {
                    Some(calls) if !self.only_observes => TextFate::Calls(calls),
                    _ => TextFate::AsItCame,
                };
            }
        }
    }

    /// Whether an event goes on before those that wait: it waits for nothing itself, and belongs to other choices.
    fn may_overtake(&self, event: &WaitingEvent) -> bool {
        let own = self.choices(event);
        let is_other = |waiting: &WaitingEvent| {
            let theirs = self.choices(waiting);
            !theirs.is_empty() && theirs.iter().all(|choice| !own.contains(choice))
        };
        !self.waits(event)
            && (self.waiting.is_empty() || !own.is_empty() && self.waiting.iter().all(is_other))
    }

    /// Whether it belongs to a call that is still open, or to text that may be one.
    fn waits(&self, event: &WaitingEvent) -> bool {
        let is_open = |call| matches!(self.fates.get(call), None | Some(CallFate::Open));
        let text = |choice: usize| self.texts.get(choice);
        event.sites.iter().any(|site| match &site.role {
            SiteRole::Text { choice, said } => text(*choice).is_some_and(|text| text.holds(said)),
            SiteRole::TextPart { choice, start } => {
                text(*choice).is_some_and(|text| text.holds_part(*start))
            }
            _ => call_of(site).is_some_and(is_open),
        })
    }

    /// Whether anything has to be done with an event that has these sites.
    fn concerns(&self, sites: &[Site]) -> bool {
        let is_left = |choice: &usize| matches!(self.texts.get(*choice), Some(TextFate::AsItCame));
        sites.iter().any(|site| match &site.role {
            SiteRole::Text { choice, .. }
            | SiteRole::TextPart { choice, .. }
            | SiteRole::PartList { choice, .. }
            | SiteRole::CallList { choice }
            | SiteRole::Finish { choice, .. } => !is_left(choice),
            SiteRole::EventNumber(_) => false,
            _ => true,
        })
    }

    fn choices(&self, event: &WaitingEvent) -> Vec<usize> {
        let calls = &self.reader.answer().calls;
        let of = |site: &Site| match site.role {
            SiteRole::Text { choice, .. }
            | SiteRole::TextPart { choice, .. }
            | SiteRole::PartList { choice, .. }
            | SiteRole::Finish { choice, .. } => Some(choice),
            _ => calls.get(call_of(site)?).map(|call| call.choice),
        };
        event.sites.iter().filter_map(of).collect()
    }

    /// The events at the front that wait no longer.
    fn go_on(&mut self, judge: &mut impl CallJudge, out: &mut Vec<Bytes>) {
        while let Some(event) = self.waiting.pop_front() {
            if self.waits(&event) {
                return self.waiting.push_front(event);
            }
            self.write(event, judge, out);
        }
    }

    /// Adds an event as it goes to the client: after the calls of a choice that it ends, and not at all if it is about text
    /// that is calls.
    fn write(&mut self, event: WaitingEvent, judge: &mut impl CallJudge, out: &mut Vec<Bytes>) {
        for site in &event.sites {
            if let SiteRole::Finish { choice, .. } = site.role {
                self.send_rescued(choice, Some(&event), out);
            }
        }
        let is_taken = |site: &Site| match site.role {
            SiteRole::TextPart { choice, start } => self
                .texts
                .get(choice)
                .is_some_and(|text| text.takes_part(start)),
            _ => false,
        };
        if event.sites.iter().any(is_taken) {
            return;
        }
        let pieces = self.pieces(&event.sites, false, judge);
        if pieces.is_empty() {
            return out.push(event.bytes);
        }
        let data = replace(&event.data, pieces);
        out.push(with_data(&event.bytes, Some(data.as_bytes())).into());
    }

    /// Adds the rescued calls of a choice, once, unless the event that ends it holds them itself.
    fn send_rescued(&mut self, choice: usize, end: Option<&WaitingEvent>, out: &mut Vec<Bytes>) {
        let Some(TextFate::Calls(calls)) = self.texts.get_mut(choice) else {
            return;
        };
        if std::mem::replace(&mut calls.are_sent, true) {
            return;
        }
        let sites = end.map_or(&[][..], |event| &event.sites);
        let is_list = |site: &Site| matches!(site.role, SiteRole::PartList { choice: of, .. } if of == choice);
        if self.provider == Provider::Gemini && sites.iter().any(is_list) {
            return;
        }
        let event_number = sites.iter().find_map(|site| match site.role {
            SiteRole::EventNumber(number) => Some(number),
            _ => None,
        });
        let number = self
            .reader
            .answer()
            .choices
            .get(choice)
            .map_or(0, |choice| choice.number);
        out.extend(call_writer::events(
            self.provider,
            calls,
            number,
            self.sample.as_deref(),
            event_number,
        ));
    }
}

/// What becomes of a call whose name is written without its namespace. It cannot move to another one.
fn in_namespace(decision: Decision, namespace: Option<&str>) -> Decision {
    match (decision, namespace) {
        (Decision::Change(new), Some(namespace)) => {
            let tool = new.tool.strip_prefix(namespace);
            match tool.and_then(|tool| tool.strip_prefix('.')) {
                Some(tool) => Decision::Change(NewCall {
                    tool: tool.to_owned(),
                    ..new
                }),
                None => Decision::Leave,
            }
        }
        (decision, _) => decision,
    }
}

/// The call that a place belongs to.
fn call_of(site: &Site) -> Option<usize> {
    match site.role {
        SiteRole::Name { call, .. } | SiteRole::Arguments { call, .. } => Some(call),
        _ => None,
    }
}
