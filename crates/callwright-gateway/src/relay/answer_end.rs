//! Decisions that can only be made at the end of an answer: replacing its calls with a text, or asking the model
//! again.
//!
//! Takes the guard's output; returns what to send to the client. From the first call on, output is kept until the end
//! is known, and then sent unchanged, without its calls, or with other arguments in them. If there is nothing to
//! decide, everything passes immediately. Never takes back what the client already has: if the result would differ in
//! that part, the answer is sent unchanged.

use std::collections::VecDeque;
use std::panic::AssertUnwindSafe;
use std::pin::Pin;
use std::sync::Arc;

use bytes::Bytes;
use callwright::Gate;
use callwright::call::Call;
use callwright::wire::{EnvelopeDefect, StreamedAnswer};
use callwright_http::sse::{EventFields, event, with_data};
use futures_util::FutureExt;
use xxhash_rust::xxh3::{Xxh3, xxh3_128};

use crate::api::Api;
use crate::guard::{AnswerGuard, CallJudge, Decision, SplitCall};
use crate::judge::AnswerJudge;
use crate::loops::stop::{StoppedAnswer, StoppedEvent};
use crate::reask::first_answer::FirstAnswer;
use crate::reask::given_up::{is_given_up, says_nothing};
use crate::reask::refused_call::may_all_be_asked_for;
use crate::reask::{AskedAgain, Reasker};
use crate::relay::Relay;
use crate::unjudged::{Unjudged, contained};

/// How many bytes of a stream are kept for asking again. Most of them are envelopes: ten thousand tokens take about
/// two megabytes.
const MOST_LOGGED: usize = 4 * 1024 * 1024;

/// The end of one answer.
pub(crate) struct AnswerEnd {
    api: Api,
    /// Whether looping calls are replaced with a text.
    stops: bool,
    /// Asks again for refused calls.
    reasker: Option<Reasker>,
    /// All events as received, if the model may be asked again.
    log: Vec<Bytes>,
    logged_bytes: usize,
    /// Output of the guard that the client does not have yet.
    kept: Vec<Bytes>,
    /// A hash of what the client has.
    sent: Xxh3,
    sent_bytes: usize,
    stopped: Option<StoppedAnswer>,
    /// Whether the model gave up on a call.
    is_given_up: bool,
    /// Whether our own code failed here.
    has_defect: bool,
}

impl AnswerEnd {
    pub(crate) fn new(api: Api, stops: bool, reasker: Option<Reasker>) -> Self {
        AnswerEnd {
            api,
            stops,
            reasker,
            log: Vec::new(),
            logged_bytes: 0,
            kept: Vec::new(),
            sent: Xxh3::new(),
            sent_bytes: 0,
            stopped: None,
            is_given_up: false,
            has_defect: false,
        }
    }

    /// How many bytes are held until the end.
    pub(crate) fn held_bytes(&self) -> usize {
        self.kept.iter().map(Bytes::len).sum()
    }

    /// Whether anything is held until the end.
    pub(crate) fn is_holding(&self) -> bool {
        !self.kept.is_empty()
    }

    /// Whether our own code failed since the last time this was asked.
    pub(crate) fn take_defect(&mut self) -> bool {
        std::mem::take(&mut self.has_defect)
    }

    /// Logs an event as received.
    pub(crate) fn note(&mut self, event: &Bytes) {
        if self.reasker.is_some() && contained(|| self.log(event)).is_none() {
            self.has_defect = true;
            self.never_ask();
        }
    }

    fn log(&mut self, event: &Bytes) {
        if let Some(data) = EventFields::read(event).data
            && let Ok(data) = std::str::from_utf8(&data)
        {
            self.is_given_up |= is_given_up(self.api, data);
        }
        self.logged_bytes += event.len();
        self.log.push(event.clone());
        if self.logged_bytes > MOST_LOGGED {
            self.never_ask();
        }
    }

    /// Rules out asking the model again.
    pub(crate) fn never_ask(&mut self) {
        self.reasker = None;
        self.log = Vec::new();
    }

    /// Takes the guard's output, and leaves what can be sent to the client now. Returns whether to ask the model
    /// again.
    pub(crate) fn pass(
        &mut self,
        out: &mut Vec<Bytes>,
        guard: &AnswerGuard,
        judge: &AnswerJudge,
        is_over: bool,
    ) -> bool {
        contained(|| self.decide(out, guard, judge, is_over)).unwrap_or_else(|| {
            self.has_defect = true;
            self.stopped = None;
            self.release(out);
            false
        })
    }

    fn decide(
        &mut self,
        out: &mut Vec<Bytes>,
        guard: &AnswerGuard,
        judge: &AnswerJudge,
        is_over: bool,
    ) -> bool {
        if let Some(stopped) = &mut self.stopped {
            *out = without_calls(stopped, out);
            return false;
        }
        if !self.stops && self.reasker.is_none() {
            return false;
        }
        if guard.unjudged().is_some() {
            self.release(out);
            return false;
        }
        let answer = guard.answer();
        if self.is_given_up && self.reasker.is_some() && says_nothing(answer) {
            self.kept.append(out);
            return is_over;
        }
        if answer.calls.is_empty() && self.kept.is_empty() {
            for bytes in out.iter() {
                self.sent.update(bytes);
                self.sent_bytes += bytes.len();
            }
            return false;
        }
        self.kept.append(out);
        let is_known = !guard.is_holding()
            && answer
                .choices
                .iter()
                .all(|choice| choice.completeness.is_some());
        if !is_over && !is_known {
            return false;
        }
        if let Some(mut stopped) = self.stopped_answer(judge, answer) {
            *out = without_calls(&mut stopped, &self.kept);
            self.kept.clear();
            self.never_ask();
            self.stopped = Some(stopped);
        } else if self.reasker.is_some() && may_ask(judge, answer) {
            return is_over;
        } else {
            self.release(out);
        }
        false
    }

    /// Releases everything unchanged; nothing is decided any more.
    pub(crate) fn release(&mut self, out: &mut Vec<Bytes>) {
        self.kept.append(out);
        std::mem::swap(&mut self.kept, out);
        self.stops = false;
        self.never_ask();
    }

    /// Takes a whole body after the guard. Returns its replacement, if it changes.
    pub(crate) async fn body(
        mut self,
        body: &str,
        guarded: Option<String>,
        guard: &AnswerGuard,
        judge: &mut AnswerJudge,
        relay: &Arc<Relay>,
    ) -> Option<String> {
        let answer = guard.answer();
        if let Some(mut stopped) = self.stopped_answer(judge, answer) {
            return stopped.body(guarded.as_deref().unwrap_or(body)).or(guarded);
        }
        if is_given_up(self.api, body)
            && says_nothing(answer)
            && let Some(reasker) = self.reasker.take()
        {
            let gate = Arc::clone(&judge.tools.gate);
            let asked = reasker.ask_the_same(Arc::clone(relay), gate).await;
            return self.instead(&asked, judge).or(guarded);
        }
        if !may_ask(judge, answer) {
            return guarded;
        }
        let Some(reasker) = self.reasker.take() else {
            return guarded;
        };
        let first = FirstAnswer::of_body(self.api, body);
        let gate = Arc::clone(&judge.tools.gate);
        let refused = judge.refused().to_vec();
        let asked = reasker
            .ask(
                Arc::clone(relay),
                Arc::clone(&gate),
                first,
                calls_of(answer),
                refused,
            )
            .await;
        match judge.asked_again(&asked) {
            Some(decisions) => {
                let mut second = AnswerGuard::new(gate, self.api);
                second
                    .body(body, &mut Decided(decisions.into()))
                    .or(guarded)
            }
            None => guarded,
        }
    }

    /// Asks the model again for what was refused in a finished stream.
    pub(crate) fn ask(
        &mut self,
        guard: &AnswerGuard,
        judge: &AnswerJudge,
        relay: Arc<Relay>,
    ) -> Option<Pin<Box<dyn Future<Output = AskedAgain> + Send>>> {
        let reasker = self.reasker.take()?;
        let gate = Arc::clone(&judge.tools.gate);
        if self.is_given_up {
            return Some(or_not(reasker.ask_the_same(relay, gate)));
        }
        let first = contained(|| FirstAnswer::of_events(self.api, &self.log));
        self.has_defect |= first.is_none();
        let calls = calls_of(guard.answer());
        let refused = judge.refused().to_vec();
        Some(or_not(reasker.ask(relay, gate, first?, calls, refused)))
    }

    /// The judged replacement for an answer in which the model gave up.
    fn instead(&self, asked: &AskedAgain, judge: &mut AnswerJudge) -> Option<String> {
        judge.asked_again(asked);
        let answer = asked.instead.as_ref()?;
        judge.counts.reasked += 1;
        let mut guard = AnswerGuard::new(Arc::clone(&judge.tools.gate), self.api);
        guard.body(answer, judge).or_else(|| Some(answer.clone()))
    }

    /// Continues the stream, now that the outcome of asking again is known.
    pub(crate) fn conclude(
        &mut self,
        asked: &AskedAgain,
        judge: &mut AnswerJudge,
        out: &mut Vec<Bytes>,
    ) {
        if contained(|| self.put_in(asked, judge, out)).is_none() {
            self.has_defect = true;
            out.clear();
            self.release(out);
        }
    }

    fn put_in(&mut self, asked: &AskedAgain, judge: &mut AnswerJudge, out: &mut Vec<Bytes>) {
        if self.is_given_up {
            let instead = self.instead(asked, judge);
            if let (Some(answer), Some(last)) = (instead, self.kept.last()) {
                out.push(with_data(last, Some(answer.as_bytes())).into());
                self.kept.clear();
            }
            return self.release(out);
        }
        let changed = judge.asked_again(asked).and_then(|decisions| {
            let gate = Arc::clone(&judge.tools.gate);
            self.again(gate, Decided(decisions.into()))
        });
        match changed {
            Some(rest) => {
                self.kept.clear();
                out.push(rest);
                self.release(out);
            }
            None => self.release(out),
        }
    }

    /// Runs the whole stream again with other decisions; returns the part that the client does not have yet.
    fn again(&self, gate: Arc<Gate>, mut decided: Decided) -> Option<Bytes> {
        let mut guard = AnswerGuard::new(gate, self.api);
        let mut out = Vec::new();
        for event in &self.log {
            guard.event(event.clone(), &mut decided, &mut out);
        }
        guard.end(&mut decided, &mut out);
        let all = Bytes::from(out.concat());
        let is_same = xxh3_128(all.get(..self.sent_bytes)?) == self.sent.digest128();
        is_same.then(|| all.slice(self.sent_bytes..))
    }

    fn stopped_answer(
        &self,
        judge: &AnswerJudge,
        answer: &StreamedAnswer,
    ) -> Option<StoppedAnswer> {
        let text = judge.stop_text.as_deref().filter(|_| self.stops)?;
        // With several choices, we cannot know which one the client uses.
        let [choice] = answer.choices.as_slice() else {
            return None;
        };
        Some(StoppedAnswer::new(self.api, text, !choice.text.is_empty()))
    }
}

/// The outcome of asking again; a failure of our own counts as an unusable answer.
fn or_not(
    asking: impl Future<Output = AskedAgain> + Send + 'static,
) -> Pin<Box<dyn Future<Output = AskedAgain> + Send>> {
    let asking = AssertUnwindSafe(asking).catch_unwind();
    Box::pin(asking.map(|asked| asked.unwrap_or_else(|_| AskedAgain::not(Unjudged::Defect.name()))))
}

/// Whether the model may be asked again: everything refused is a judged call, in a single choice.
fn may_ask(judge: &AnswerJudge, answer: &StreamedAnswer) -> bool {
    let is_plain = answer.choices.len() == 1 && answer.calls.iter().all(|call| !call.is_foreign);
    is_plain && answer.calls.len() == judge.decided() && may_all_be_asked_for(judge.refused())
}

fn calls_of(answer: &StreamedAnswer) -> Vec<Call<'static>> {
    let call = |call: &callwright::wire::StreamedCall| {
        let read = Call::from_text(call.tool.clone(), "");
        match &call.id {
            Some(id) => read.with_id(id.clone()),
            None => read,
        }
    };
    answer.calls.iter().map(call).collect()
}

fn without_calls(stopped: &mut StoppedAnswer, events: &[Bytes]) -> Vec<Bytes> {
    let mut out = Vec::new();
    for bytes in events {
        let data = EventFields::read(bytes).data;
        let data = data
            .as_deref()
            .and_then(|data| std::str::from_utf8(data).ok());
        let instead = data.map_or(StoppedEvent::Same, |data| stopped.event(data));
        match instead {
            StoppedEvent::Same => out.push(bytes.clone()),
            StoppedEvent::Instead(events) => {
                let is_named = EventFields::read(bytes).name.is_some();
                out.extend(events.iter().map(|new| {
                    let data = new.to_string();
                    match new
                        .get("type")
                        .and_then(|kind| kind.as_str())
                        .filter(|_| is_named)
                    {
                        Some(name) => event(name, data.as_bytes()).into(),
                        None => with_data(bytes, Some(data.as_bytes())).into(),
                    }
                }));
            }
        }
    }
    out
}

/// Repeats earlier decisions.
struct Decided(VecDeque<Decision>);

impl CallJudge for Decided {
    fn judge(&mut self, _: &Gate, _: &Call<'_>, _: &mut SplitCall<'_>) -> Decision {
        self.0.pop_front().unwrap_or(Decision::Leave)
    }

    fn mended(&mut self, _: EnvelopeDefect) {}
}
