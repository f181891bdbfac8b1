//! Calls and results in order: what each led to, and whether admission would have stopped it.
//!
//! [`Prepared`] contains what can be worked out before a call's turn, [`TurnOutcome`] what its turn shows. Only this
//! file uses the recorded side of admission.

use std::borrow::Cow;
use std::sync::{Arc, Weak};

use callwright::admit::{Fingerprint, Moment, Place, Recalled};
use callwright::json::Value;
use callwright::tool::Tool;
use callwright::{Gate, Verdict};
use xxhash_rust::xxh3::{Xxh3, xxh3_64};

use super::sighting::{Sighted, Sighting};
use super::tools::{ToolSet, Tools};
use super::worker::hash_of;
use crate::conversation::{CallEnd, Conversations, Effect, Faults, add_effects};
use crate::judge::{JudgedCall, JudgedResult};
use crate::seen::{At, CallIdentity, SeenCall, ToolAnswer};

/// A judged call, with what can be worked out before its turn.
#[derive(Debug)]
pub(super) struct Prepared<'c, 'p> {
    pub(super) judged: JudgedCall<'c>,
    pub(super) turn: CallTurn<'p>,
    /// The key by which it is recognised when another record shows it.
    shown_as: Option<(u64, CallIdentity)>,
    /// The key by which its result finds it.
    awaited_as: Option<u64>,
}

/// What is needed of a call in its turn.
#[derive(Debug)]
pub(super) struct CallTurn<'p> {
    /// What admission has to know, and where the call is; `None` outside conversations.
    admission: Option<(Recalled<'p>, Cow<'p, str>, Moment)>,
    /// Hashes of the session and of the name of the tool.
    pub(super) session: Option<u64>,
    tool: u64,
    /// `None` if nothing is wrong with it.
    faults: Option<Faults>,
    end: CallEnd,
}

impl CallTurn<'_> {
    /// Takes the call through its turn: returns the code for which admission would have stopped it, if any.
    pub(super) fn take(
        &self,
        gate: &Gate,
        conversations: &mut Conversations,
        effects: &mut Vec<Effect>,
    ) -> Option<&'static str> {
        let stopped = self.admission.as_ref().and_then(|(recalled, session, at)| {
            let (session, at) = (session.as_ref(), *at);
            gate.relive(recalled, Place { session, at })
        });
        let faults = self.faults.as_ref();
        conversations.call(self.session, self.tool, faults, self.end, effects);
        stopped.map(|failure| failure.code.name())
    }

    /// What becomes known about a call outside conversations, which has no turn.
    pub(super) fn alone(&self, effects: &mut Vec<Effect>) {
        if let Some(faults) = &self.faults {
            add_effects(faults, self.end.led_to(), effects);
        }
    }
}

/// What its turn showed about a call or a result.
#[derive(Debug)]
pub(super) enum TurnOutcome<'c> {
    /// It was already counted.
    ShownAgain,
    /// A call to count, and the code for which admission would have stopped it, if any.
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
    /// The tools that judge it.
    pub(super) set: Arc<ToolSet>,
    pub(super) result: JudgedResult<'c>,
}

/// What is remembered about a call until the record with its result comes.
#[derive(Debug)]
pub(crate) struct AwaitedCall {
    /// Tools that are compiled on demand may be gone by then.
    set: Weak<ToolSet>,
    identity: Option<CallIdentity>,
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

/// Judges a call, and works out what can be worked out before its turn. `None` for a result.
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
    let result = judged.result.as_ref();
    let admission = call.at.session.as_ref().map(|session| {
        let checked = result.map(|result| &result.checked);
        let recalled = judge.gate().recall(&call.call, &judged.verdict, checked);
        (recalled, session.clone(), moment(&call.at))
    });
    let tool = judged
        .verdict
        .tool()
        .map_or(call.call.tool.as_ref(), Tool::name);
    let faults = || judged.faults.iter().map(|fault| fault.key.clone());
    let id = call.call.id.as_ref();
    let id = id.filter(|_| *answered_elsewhere || *shown_again);
    Some(Prepared {
        turn: CallTurn {
            admission,
            session: hash_of(call.at.session.as_deref()),
            tool: xxh3_64(tool.as_bytes()),
            faults: (!judged.faults.is_empty()).then(|| faults().collect()),
            end: result.map_or(CallEnd::Unknown, JudgedResult::end),
        },
        shown_as: call
            .identity
            .filter(|_| *shown_again)
            .map(|it| (shown_as(&call.at, &it), it)),
        awaited_as: id.map(|id| awaited_as(&call.at, id)),
        judged,
    })
}

/// Takes one call or result through its turn.
pub(super) fn take_turn<'c>(
    (sighting, tools): (&'c Sighting<'_>, &Tools),
    prepared: Option<&Prepared<'_, '_>>,
    conversations: &mut Conversations,
    effects: &mut Vec<Effect>,
) -> TurnOutcome<'c> {
    match (&sighting.what, prepared) {
        (Sighted::Call { seen, .. }, Some(prepared)) => {
            take_call((sighting, tools), seen, prepared, conversations, effects)
        }
        (Sighted::Result(result), _) => {
            let key = awaited_as(&result.at, &result.id);
            late(key, tools, None, &result.answer, conversations, effects)
                .unwrap_or(TurnOutcome::Stray)
        }
        (Sighted::Call { .. }, None) => TurnOutcome::ShownAgain,
    }
}

fn take_call<'c>(
    (sighting, tools): (&'c Sighting<'_>, &Tools),
    call: &'c SeenCall<'_>,
    prepared: &Prepared<'_, '_>,
    conversations: &mut Conversations,
    effects: &mut Vec<Effect>,
) -> TurnOutcome<'c> {
    if let Some((key, identity)) = &prepared.shown_as
        && !conversations.shown.counts(*key, identity)
    {
        // This time its result may be there as well.
        let answer = prepared.awaited_as.zip(call.answer.as_ref());
        let late = answer.and_then(|(key, answer)| {
            late(key, tools, Some(identity), answer, conversations, effects)
        });
        return late.unwrap_or(TurnOutcome::ShownAgain);
    }
    let gate = sighting.set.judge().gate();
    let stopped = prepared.turn.take(gate, conversations, effects);
    if let (Some(key), None) = (prepared.awaited_as, &call.answer) {
        let verdict = &prepared.judged.verdict;
        let arguments = verdict.arguments().cloned().unwrap_or(Value::Null);
        let tool = verdict.tool().map_or(call.call.tool.as_ref(), Tool::name);
        let admission = prepared.turn.admission.as_ref();
        let ran = stopped.is_none() && !matches!(verdict, Verdict::Refused(_));
        let awaited = AwaitedCall {
            set: Arc::downgrade(&sighting.set),
            identity: call.identity,
            fingerprint: admission
                .filter(|_| ran)
                .map(|(recalled, ..)| recalled.fingerprint()),
            bytes: callwright::parse::size(&arguments),
            arguments: arguments.into_owned(),
            tool: tool.to_owned(),
            session: call.at.session.as_deref().map(str::to_owned),
            moment: moment(&call.at),
            faults: prepared.turn.faults.clone(),
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
    tools: &Tools,
    identity: Option<&CallIdentity>,
    answer: &'c ToolAnswer<'_>,
    conversations: &mut Conversations,
    effects: &mut Vec<Effect>,
) -> Option<TurnOutcome<'c>> {
    // Some models give the calls of every answer the same ids.
    let is_meant = |call: &AwaitedCall| match (identity, call.identity) {
        (Some(shown), Some(own)) => (shown.call, shown.nth) == (own.call, own.nth),
        _ => true,
    };
    let call = conversations.unanswered.take(key, is_meant)?;
    let set = call.set.upgrade();
    let set = set.or_else(|| tools.judging(&call.tool))?;
    let judge = set.judge();
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
    let late = LateResult {
        call,
        result,
        set: Arc::clone(&set),
    };
    Some(TurnOutcome::Result(Box::new(late)))
}

fn moment(at: &At<'_>) -> Moment {
    Moment {
        turn: at.turn,
        round: at.round,
    }
}

/// A hash of a call's place in its conversation.
fn shown_as(at: &At<'_>, identity: &CallIdentity) -> u64 {
    let mut hasher = Xxh3::new();
    hasher.update(at.session.as_deref().unwrap_or_default().as_bytes());
    hasher.update(&identity.call.to_le_bytes());
    hasher.update(&identity.nth.to_le_bytes());
    if !identity.from_start {
        hasher.update(&identity.answer.unwrap_or_default().to_le_bytes());
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
