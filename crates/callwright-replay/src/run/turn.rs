//! Calls and results in their order: what each led to, and whether admission would have stopped it.
//!
//! What can be worked out before a call's turn is in [`Prepared`]; what its turn shows is a [`TurnOutcome`]. Only this
//! file uses the recorded side of admission.

use std::borrow::Cow;
use std::sync::Arc;

use callwright::Verdict;
use callwright::admit::{Fingerprint, Moment, Place, Recalled};
use callwright::call::Arguments;
use callwright::json::Value;
use callwright::tool::Tool;
use xxhash_rust::xxh3::{Xxh3, xxh3_64};

use super::sighting::{Sighted, Sighting};
use super::tools::ToolSet;
use super::worker::hash_of;
use crate::conversation::{CallEnd, Conversations, Effect, Faults};
use crate::judge::{JudgedCall, JudgedResult, tool_of};
use crate::seen::{At, SeenCall, ToolAnswer};

/// Ids with fewer characters are counters, and some models restart them with every answer.
const SHORTEST_UNIQUE: usize = 12;

/// A call that was judged, and what can be worked out before its turn.
#[derive(Debug)]
pub(super) struct Prepared<'c, 'p> {
    pub(super) judged: JudgedCall<'c>,
    pub(super) session: Option<u64>,
    /// What admission has to know of it; `None` outside of conversations.
    recalled: Option<Recalled<'p>>,
    /// `None` if nothing is wrong with it.
    faults: Option<Faults>,
    /// The key by which it is recognised when a history shows it again.
    shown_as: Option<u64>,
    /// The key by which its result finds it.
    awaited_as: Option<u64>,
}

/// What was found out about a call or a result in its turn.
#[derive(Debug)]
pub(super) enum TurnOutcome<'c> {
    /// It was counted before.
    ShownAgain,
    /// A call to be counted, and the code for which admission would have stopped it, if it would.
    Call(Option<&'static str>),
    /// The result of a call that came before.
    Result(Box<LateResult<'c>>),
    /// The result of a call that was not seen.
    Stray,
}

/// A result that came after its call.
#[derive(Debug)]
pub(super) struct LateResult<'c> {
    pub(super) call: AwaitedCall,
    pub(super) result: JudgedResult<'c>,
}

/// What is remembered of a call until the record with its result comes.
#[derive(Debug)]
pub(crate) struct AwaitedCall {
    pub(super) set: Arc<ToolSet>,
    /// What admission knows it by; `None` if it was refused, or admission would have stopped it.
    fingerprint: Option<Fingerprint>,
    pub(super) tool: String,
    pub(super) arguments: Value<'static>,
    /// About how long the arguments are.
    pub(crate) bytes: usize,
    pub(super) session: Option<String>,
    moment: Moment,
    faults: Option<Faults>,
    pub(super) model: Option<String>,
    pub(super) time: Option<i64>,
}

/// Judges a call, and works out what can be before its turn. `None` for a result.
pub(super) fn prepare<'c, 'p>(
    sighting: &'c Sighting<'p>,
    answer: Option<Cow<'c, ToolAnswer<'c>>>,
) -> Option<Prepared<'c, 'p>> {
    let Sighted::Call {
        seen: call,
        answered_elsewhere,
        shown_again,
    } = &sighting.what
    else {
        return None;
    };
    let judge = sighting.set.judge();
    let judged = judge.judge(&call.call, answer);
    let recall = || {
        let result = judged.result.as_ref().map(|result| &result.checked);
        judge.gate().recall(&call.call, &judged.verdict, result)
    };
    let id = call.call.id.as_ref();
    let id = id.filter(|_| *answered_elsewhere || *shown_again);
    let keys = || judged.faults.iter().map(|fault| fault.key.clone());
    Some(Prepared {
        session: hash_of(call.at.session.as_deref()),
        recalled: call.at.session.is_some().then(recall),
        faults: (!judged.faults.is_empty()).then(|| keys().collect()),
        shown_as: shown_again.then(|| shown_as(call)),
        awaited_as: id.map(|id| awaited_as(&call.at, id)),
        judged,
    })
}

/// Goes through one call or result in its turn.
pub(super) fn take_turn<'c>(
    sighting: &'c Sighting<'_>,
    prepared: Option<&Prepared<'_, '_>>,
    conversations: &mut Conversations,
    effects: &mut Vec<Effect>,
) -> TurnOutcome<'c> {
    match (&sighting.what, prepared) {
        (Sighted::Call { seen, .. }, Some(prepared)) => {
            take_call(sighting, seen, prepared, conversations, effects)
        }
        (Sighted::Result(result), _) => {
            let key = awaited_as(&result.at, &result.id);
            late(key, &result.answer, conversations, effects).unwrap_or(TurnOutcome::Stray)
        }
        (Sighted::Call { .. }, None) => TurnOutcome::ShownAgain,
    }
}

fn take_call<'c>(
    sighting: &'c Sighting<'_>,
    call: &'c SeenCall<'_>,
    prepared: &Prepared<'_, '_>,
    conversations: &mut Conversations,
    effects: &mut Vec<Effect>,
) -> TurnOutcome<'c> {
    if let Some(shown_as) = prepared.shown_as
        && !conversations.shown.is_new(shown_as)
    {
        // This time its result may be there as well.
        let answer = prepared.awaited_as.zip(call.answer.as_ref());
        let late = answer.and_then(|(key, answer)| late(key, answer, conversations, effects));
        return late.unwrap_or(TurnOutcome::ShownAgain);
    }
    let verdict = &prepared.judged.verdict;
    let recalled = prepared.recalled.as_ref();
    let place = call.at.session.as_deref().map(|session| Place {
        session,
        at: moment(&call.at),
    });
    let stopped = recalled
        .zip(place)
        .and_then(|(recalled, place)| sighting.set.judge().gate().relive(recalled, place));
    let stopped = stopped.map(|failure| failure.code.name());
    let result = prepared.judged.result.as_ref();
    let end = result.map_or(CallEnd::Unknown, JudgedResult::end);
    let tool = tool_of(verdict).map_or(call.call.tool.as_ref(), Tool::name);
    let faults = prepared.faults.as_ref();
    let tool_hash = xxh3_64(tool.as_bytes());
    conversations.call(prepared.session, tool_hash, faults, end, effects);
    if let (Some(key), None) = (prepared.awaited_as, &call.answer) {
        let arguments = verdict.arguments().cloned().unwrap_or(Value::Null);
        let ran = stopped.is_none() && !matches!(verdict, Verdict::Refused(_));
        let awaited = AwaitedCall {
            set: Arc::clone(&sighting.set),
            fingerprint: recalled.filter(|_| ran).map(Recalled::fingerprint),
            bytes: callwright::parse::size(&arguments),
            arguments: arguments.into_owned(),
            tool: tool.to_owned(),
            session: call.at.session.as_deref().map(str::to_owned),
            moment: moment(&call.at),
            faults: faults.cloned(),
            model: call.at.model.as_deref().map(str::to_owned),
            time: call.at.time,
        };
        conversations.unanswered.add(key, awaited);
    }
    TurnOutcome::Call(stopped)
}

/// A result that comes after its call.
fn late<'c>(
    key: u64,
    answer: &'c ToolAnswer<'_>,
    conversations: &mut Conversations,
    effects: &mut Vec<Effect>,
) -> Option<TurnOutcome<'c>> {
    let call = conversations.unanswered.take(key)?;
    let judge = call.set.judge();
    let tool = judge.gate().tool(&call.tool)?;
    let faults = call.faults.as_ref();
    let result = judge.result(
        tool,
        &call.arguments,
        Cow::Borrowed(answer),
        faults.is_some(),
    );
    let session = call.session.as_deref();
    let tool_hash = xxh3_64(call.tool.as_bytes());
    conversations.result(hash_of(session), tool_hash, faults, result.end(), effects);
    if let (Some(session), Some(same)) = (session, call.fingerprint) {
        let at = call.moment;
        let gate = judge.gate();
        gate.relive_result(tool, same, Place { session, at }, &result.checked);
    }
    Some(TurnOutcome::Result(Box::new(LateResult { call, result })))
}

fn moment(at: &At<'_>) -> Moment {
    Moment {
        turn: at.turn,
        round: at.round,
    }
}

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
