//! Calls and results in their order.
//!
//! What can be worked out before is in [`Ready`], or in [`Brief`] where nothing else is needed any more; what is found out in
//! a call's turn is an [`Outcome`].

use std::borrow::Cow;

use callwright::admit::{Moment, Place, Recalled};
use callwright::call::Arguments;
use callwright::json::Value;
use callwright::{Gate, Verdict};
use xxhash_rust::xxh3::{Xxh3, xxh3_64};

use super::item::{Item, What};
use super::tools::ToolSet;
use crate::conversation::{self, Conversations, Effect, Faults, WaitsForResult, Went};
use crate::judge::{Given, Judged, JudgedResult};
use crate::seen::{Answer, At, SeenCall};

/// A call that was judged, and what can be worked out before its turn.
#[derive(Debug)]
pub(super) struct Ready<'c, 'p> {
    pub(super) judged: Judged<'c>,
    pub(super) session: Option<u64>,
    /// What admission has to know of it.
    recalled: Option<Recalled<'p>>,
    /// `None` if there is nothing wrong with it.
    faults: Option<Faults>,
    /// By which it is known again when a history shows it once more.
    shown_as: Option<u64>,
    /// By which its result finds it.
    awaited_as: Option<u64>,
}

/// All that is left of a call that was judged and counted before its turn. Most calls are of this kind, and what is dropped
/// at once never leaves the cache.
#[derive(Debug)]
pub(super) struct Brief<'p> {
    recalled: Recalled<'p>,
    place: (Cow<'p, str>, Moment),
    session: u64,
    time: Option<i64>,
    faults: Option<Faults>,
    went: Went,
}

impl Brief<'_> {
    /// When it happened.
    pub(super) fn time(&self) -> Option<i64> {
        self.time
    }

    /// Goes through the call in its turn: the code for which admission would have stopped it, if it would.
    pub(super) fn take_turn(
        &self,
        gate: &Gate,
        conversations: &mut Conversations,
        effects: &mut Vec<Effect>,
    ) -> Option<&'static str> {
        let (session, at) = (self.place.0.as_ref(), self.place.1);
        let stopped = gate.relive(&self.recalled, Place { session, at });
        conversations.call(
            Some(self.session),
            xxh3_64(self.recalled.tool().as_bytes()),
            self.faults.as_ref(),
            self.went,
            effects,
        );
        stopped.map(|failure| failure.code.name())
    }
}

/// What was found out about a call or a result in its turn.
#[derive(Debug)]
pub(super) enum Outcome<'c> {
    /// It was counted before.
    ShownAgain,
    /// It is to be counted. With the code for which admission would have stopped it, if it would.
    Call(Option<&'static str>),
    /// It belongs to a call that came before.
    Result(Box<Late<'c>>),
    /// It belongs to no call that was seen.
    Stray,
}

/// A result that came after its call.
#[derive(Debug)]
pub(super) struct Late<'c> {
    pub(super) call: WaitsForResult,
    pub(super) result: JudgedResult<'c>,
}

/// Judges a call, and works out what can be before its turn, but for what admission has to know.
pub(super) fn ready<'c, 'p>(
    set: &'c ToolSet,
    call: &'c SeenCall<'p>,
    answer: Option<Given<'c>>,
    answered_elsewhere: bool,
    shown_again: bool,
) -> Ready<'c, 'p> {
    let judged = set.judge().judge(&call.call, answer);
    let session = call.at.session.as_deref();
    Ready {
        session: session.map(|session| xxh3_64(session.as_bytes())),
        recalled: None,
        faults: (!judged.faults.is_empty()).then(|| {
            judged
                .faults
                .iter()
                .map(|fault| fault.key.clone())
                .collect()
        }),
        shown_as: shown_again.then(|| shown_as(call)),
        awaited_as: match &call.call.id {
            Some(id) if answered_elsewhere || shown_again => Some(awaited_as(&call.at, id)),
            _ => None,
        },
        judged,
    }
}

impl<'p> Ready<'_, 'p> {
    /// Works out what admission has to know, if it belongs to a conversation.
    pub(super) fn recall(&mut self, set: &ToolSet, call: &SeenCall<'p>) {
        if self.session.is_some() {
            let judged = &self.judged;
            let result = judged.result.as_ref().map(|result| &result.checked);
            let gate = set.judge().gate();
            self.recalled = Some(gate.recall(&call.call, &judged.verdict, result));
        }
    }

    /// What is needed in its turn, if it belongs to a conversation.
    pub(super) fn into_brief(self, at: &At<'p>) -> Option<Brief<'p>> {
        Some(Brief {
            went: self.went(),
            recalled: self.recalled?,
            place: (at.session.clone()?, moment(at)),
            session: self.session?,
            time: at.time,
            faults: self.faults,
        })
    }

    /// How the call went.
    fn went(&self) -> Went {
        match &self.judged.result {
            None => Went::Unknown,
            Some(result) if result.failed => Went::Wrong,
            Some(_) => Went::Fine,
        }
    }

    /// What becomes known of a call that belongs to no conversation.
    pub(super) fn alone(&self, effects: &mut Vec<Effect>) {
        if let Some(faults) = &self.faults {
            conversation::alone(faults, self.went(), effects);
        }
    }
}

/// Goes through one call or result in its turn.
pub(super) fn take_turn<'c>(
    item: &'c Item<'_>,
    ready: Option<&Ready<'_, '_>>,
    conversations: &mut Conversations,
    effects: &mut Vec<Effect>,
) -> Outcome<'c> {
    match (&item.what, ready) {
        (What::Call { seen, .. }, Some(ready)) => {
            take_call(item, seen, ready, conversations, effects)
        }
        (What::Result(result), _) => {
            let key = awaited_as(&result.at, &result.id);
            late(key, &result.answer, conversations, effects).unwrap_or(Outcome::Stray)
        }
        (What::Call { .. }, None) => Outcome::ShownAgain,
    }
}

fn take_call<'c>(
    item: &'c Item<'_>,
    call: &'c SeenCall<'_>,
    ready: &Ready<'_, '_>,
    conversations: &mut Conversations,
    effects: &mut Vec<Effect>,
) -> Outcome<'c> {
    if let Some(shown_as) = ready.shown_as
        && !conversations.shown.is_new(shown_as)
    {
        // This time its result may be there as well.
        let answer = ready.awaited_as.zip(call.answer.as_ref());
        let late = answer.and_then(|(key, answer)| late(key, answer, conversations, effects));
        return late.unwrap_or(Outcome::ShownAgain);
    }
    let verdict = &ready.judged.verdict;
    let recalled = ready.recalled.as_ref();
    let stopped = recalled.zip(place(&call.at)).and_then(|(recalled, place)| {
        let gate = item.set.judge().gate();
        gate.relive(recalled, place)
    });
    let stopped = stopped.map(|failure| failure.code.name());
    let went = ready.went();
    let tool = verdict
        .tool()
        .map_or(call.call.tool.as_ref(), callwright::tool::Tool::name);
    let tool_hash = xxh3_64(tool.as_bytes());
    conversations.call(
        ready.session,
        tool_hash,
        ready.faults.as_ref(),
        went,
        effects,
    );
    if let (Some(key), None) = (ready.awaited_as, &call.answer) {
        let arguments = verdict.arguments().cloned().unwrap_or(Value::Null);
        let waits = WaitsForResult {
            set: std::sync::Arc::clone(&item.set),
            fingerprint: recalled
                .filter(|_| stopped.is_none())
                .map(Recalled::fingerprint),
            is_refused: matches!(verdict, Verdict::Refused(_)),
            bytes: callwright::parse::size(&arguments),
            arguments: arguments.into_owned(),
            tool: tool.to_owned(),
            session: call.at.session.as_deref().map(str::to_owned),
            moment: moment(&call.at),
            faults: ready.faults.clone(),
            model: call.at.model.as_deref().map(str::to_owned),
            time: call.at.time,
        };
        conversations.unanswered.add(key, waits);
    }
    Outcome::Call(stopped)
}

/// A result that comes after its call.
fn late<'c>(
    key: u64,
    answer: &'c Answer<'_>,
    conversations: &mut Conversations,
    effects: &mut Vec<Effect>,
) -> Option<Outcome<'c>> {
    let call = conversations.unanswered.take(key)?;
    let judge = call.set.judge();
    let tool = judge.gate().tool(&call.tool)?;
    let closely = call.faults.is_some();
    let result = judge.result(tool, &call.arguments, Given::Lent(answer), closely);
    let went = if result.failed {
        Went::Wrong
    } else {
        Went::Fine
    };
    let session = call.session.as_deref();
    let (session_hash, tool_hash) = (
        session.map(|session| xxh3_64(session.as_bytes())),
        xxh3_64(call.tool.as_bytes()),
    );
    conversations.result(session_hash, tool_hash, call.faults.as_ref(), went, effects);
    if let (Some(session), Some(same), false) = (session, call.fingerprint, call.is_refused) {
        let at = call.moment;
        judge
            .gate()
            .relive_result(tool, same, Place { session, at }, &result.checked);
    }
    Some(Outcome::Result(Box::new(Late { call, result })))
}

fn place<'c>(at: &'c At<'_>) -> Option<Place<'c>> {
    Some(Place {
        session: at.session.as_deref()?,
        at: moment(at),
    })
}

fn moment(at: &At<'_>) -> Moment {
    Moment {
        turn: at.turn,
        round: at.round,
    }
}

/// Ids with fewer characters are counted, and begin anew with every answer of some models.
const SHORTEST_UNIQUE: usize = 12;

/// A hash of a call as requests show it again and again.
fn shown_as(call: &SeenCall<'_>) -> u64 {
    let mut hasher = Xxh3::new();
    hasher.update(call.at.session.as_deref().unwrap_or_default().as_bytes());
    let id = call.call.id.as_ref().map(ToString::to_string);
    let id = id.unwrap_or_default();
    if id.len() < SHORTEST_UNIQUE {
        hasher.update(&call.at.round.unwrap_or_default().to_le_bytes());
    }
    hasher.update(id.as_bytes());
    hasher.update(&[0]);
    hasher.update(call.call.tool.as_bytes());
    hasher.update(&[0]);
    match &call.call.arguments {
        Arguments::Text(text) => hasher.update(text.as_bytes()),
        Arguments::Value(value) => hasher.update(value.to_string().as_bytes()),
        Arguments::Absent => {}
    }
    hasher.digest()
}

/// A hash of a conversation and an id in it.
fn awaited_as(at: &At<'_>, id: &Value<'_>) -> u64 {
    let mut hasher = Xxh3::new();
    hasher.update(at.session.as_deref().unwrap_or_default().as_bytes());
    hasher.update(&[0]);
    hasher.update(id.to_string().as_bytes());
    hasher.digest()
}
