//! Splits a call that contains several, as models without parallel calls write them.
//!
//! Takes a refused call and returns the calls in it, all or none: complete values side by side, a list of calls, or, for
//! read-only tools, a list where a single value belongs. Each is valid by itself, with lossless edits at most, and none repeats
//! another, once it is repaired. Only used where one call may become several, since one request gets one answer.

use std::collections::HashSet;

use super::Gate;
use crate::call::{Arguments, Call, Completeness, MOST_CALLS, numbered_id};
use crate::json::{Member, Value};
use crate::repair;
use crate::tool::Tool;
use crate::verdict::{Judgement, Verdict};
use crate::vocabulary::{Notation, envelope};

pub(super) fn split(gate: &Gate, call: &Call<'_>) -> Option<Vec<Call<'static>>> {
    let is_whole = matches!(
        call.completeness,
        Completeness::Complete | Completeness::Unknown
    );
    let tool = gate.tool_set().meant(&call.tool).filter(|_| is_whole)?;
    gate.repair_cap(tool)?;
    let values = match &call.arguments {
        Arguments::Text(text) => repair::side_by_side(text, tool, gate.limits().max_depth)?,
        Arguments::Value(value) => vec![value.clone().into_owned()],
        Arguments::Absent => return None,
    };
    let named = |envelope: envelope::Envelope<'static>| {
        let tool = gate.tool_set().meant(&envelope.tool);
        if envelope.loses_argument(&|name| tool.is_some_and(|tool| tool.may_take(name))) {
            return None;
        }
        let arguments = Arguments::Value(envelope.arguments?);
        Some(Call::new(envelope.tool, arguments))
    };
    let own =
        |value: Value<'static>| Call::new(call.tool.clone().into_owned(), Arguments::Value(value));
    let listed = match <[Value<'static>; 1]>::try_from(values) {
        Ok([Value::Array(items)]) => items,
        Ok([one]) => match envelope::open_all(one.clone()) {
            Ok(calls) if calls.len() > 1 => {
                let calls: Option<Vec<_>> = calls.into_iter().map(named).collect();
                return all_sound(gate, call, calls?);
            }
            _ => {
                let is_valid = |value: &Value<'static>| {
                    matches!(gate.judge(&own(value.clone())), Verdict::Valid(_))
                };
                let values = one_for_each(&one, tool, &is_valid)?;
                return all_sound(gate, call, values.into_iter().map(own).collect());
            }
        },
        Err(values) => values,
    };
    let calls: Option<Vec<_>> = listed
        .into_iter()
        .map(|value| match (envelope::open(value.clone()), value) {
            (Ok(envelope), _) => named(envelope),
            (Err(_), value @ Value::Object(_)) => Some(own(value)),
            _ => None,
        })
        .collect();
    all_sound(gate, call, calls?)
}

/// The calls with their ids, if each would run as it is or after lossless repair.
fn all_sound(
    gate: &Gate,
    whole: &Call<'_>,
    mut calls: Vec<Call<'static>>,
) -> Option<Vec<Call<'static>>> {
    if !(2..=MOST_CALLS).contains(&calls.len()) {
        return None;
    }
    let mut earlier = HashSet::new();
    let mut is_new_and_sound = |call: &Call<'_>| {
        let verdict = gate.judge(call);
        let run = verdict.tool().zip(verdict.arguments());
        let run = run.map(|(tool, arguments)| (tool.name().to_owned(), arguments.canonical()));
        verdict.is_lossless()
            && verdict.judgement() != Judgement::Unjudged
            && run.is_some_and(|run| earlier.insert(run))
    };
    if !calls.iter().all(&mut is_new_and_sound) {
        return None;
    }
    for (at, call) in calls.iter_mut().enumerate() {
        call.completeness = whole.completeness;
        // Recorded as extracted from a text.
        call.rescued = whole.rescued.or(Some(Notation::Json));
        call.id = whole.id.as_ref().map(|id| match at {
            0 => id.clone().into_owned(),
            _ => numbered_id(id, at + 1),
        });
    }
    Some(calls)
}

/// One call for each item of a list where the schema wants a single value, if there is only one such list. For read-only tools,
/// and not if another list has as many items: the two may belong together.
fn one_for_each(
    value: &Value<'static>,
    tool: &Tool,
    is_valid: &dyn Fn(&Value<'static>) -> bool,
) -> Option<Vec<Value<'static>>> {
    let members = value.as_object().filter(|_| tool.only_reads())?;
    let lists: Vec<(usize, &[Value<'static>])> = members
        .iter()
        .enumerate()
        .filter_map(|(at, (_, value))| Some((at, value.as_array()?)))
        .filter(|(_, items)| (2..=MOST_CALLS).contains(&items.len()))
        .collect();
    let takes_one = |(at, items): &(usize, &[Value<'static>])| {
        items
            .iter()
            .all(|item| is_valid(&with_member(members, *at, item)))
    };
    let mut single = lists.iter().copied().filter(takes_one);
    let (at, items) = single.next().filter(|_| single.next().is_none())?;
    let is_pair =
        |(other, others): &(usize, &[Value<'static>])| *other != at && others.len() == items.len();
    if lists.iter().any(is_pair) {
        return None;
    }
    Some(
        items
            .iter()
            .map(|item| with_member(members, at, item))
            .collect(),
    )
}

/// A copy of an object with one member's value replaced.
fn with_member(members: &[Member<'static>], at: usize, value: &Value<'static>) -> Value<'static> {
    let mut members = members.to_vec();
    if let Some((_, old)) = members.get_mut(at) {
        *old = value.clone();
    }
    Value::Object(members)
}
