//! Judges the same calls with other tools or another policy, and records the verdicts that change.

use callwright::Verdict;
use callwright::json::Value;
use callwright::secrecy::Secrecy;

use std::borrow::Cow;

use super::counts::CallFacts;
use super::turn::LateResult;
use crate::judge::{Fault, Judge, JudgedCall, JudgedResult, shown_name};
use crate::seen::{SeenCall, ToolAnswer};
use crate::summary::{Change, ChangeKey, Examples, Side, Summary};

/// The other judge.
#[derive(Debug)]
pub(super) struct Against {
    pub(super) judge: Judge,
}

impl Against {
    /// Records what the other judge says differently about a call and its result.
    pub(super) fn compare(
        &self,
        call: &SeenCall<'_>,
        judged: &JudgedCall<'_>,
        facts: &CallFacts<'_>,
        summary: &mut Summary,
    ) {
        let other = self
            .judge
            .judge(&call.call, call.answer.as_ref().map(Cow::Borrowed));
        let tool = shown_name(&call.call, &judged.verdict);
        let (from, to) = (&judged.verdict, &other.verdict);
        let hidden = hidden(from, to);
        if from.name() != to.name() {
            let stricter = rank(to) > rank(from);
            let faults = if stricter {
                &other.faults
            } else {
                &judged.faults
            };
            let change = Changed {
                side: Side::Input,
                from: from.name(),
                to: to.name(),
                stricter,
                fault: faults.first(),
            };
            note(tool, &change, &hidden, facts, summary);
        }
        if let (Some(from), Some(to)) = (&judged.result, &other.result) {
            compare_results(tool, (from, to), &hidden, facts, summary);
        }
    }

    /// The same for a result that came after its call.
    pub(super) fn compare_late(
        &self,
        late: &LateResult<'_>,
        answer: &ToolAnswer<'_>,
        facts: &CallFacts<'_>,
        summary: &mut Summary,
    ) {
        let call = &late.call;
        // That the tool is unknown was recorded for the call.
        if let Some(tool) = self.judge.gate().tool(&call.tool) {
            let other = self
                .judge
                .result(tool, &call.arguments, Cow::Borrowed(answer), false);
            let both = (&late.result, &other);
            let hidden = [Secrecy::of_arguments(tool, &call.arguments)];
            compare_results(&call.tool, both, &hidden, facts, summary);
        }
    }
}

/// What either set of tools hides of a call: a value that either of them marks is a secret.
fn hidden(from: &Verdict<'_>, to: &Verdict<'_>) -> Vec<Secrecy> {
    let tools = [from.tool(), to.tool()].into_iter().flatten();
    let arguments = from.arguments().or(to.arguments());
    let hidden = tools.map(|tool| Secrecy::of_arguments(tool, arguments.unwrap_or(&Value::Null)));
    hidden.filter(|secrecy| !secrecy.hides_nothing()).collect()
}

fn compare_results(
    tool: &str,
    (from, to): (&JudgedResult<'_>, &JudgedResult<'_>),
    hidden: &[Secrecy],
    facts: &CallFacts<'_>,
    summary: &mut Summary,
) {
    if from.faults.is_empty() == to.faults.is_empty() {
        return;
    }
    let name = |faults: &[Fault]| if faults.is_empty() { "ok" } else { "refused" };
    let stricter = from.faults.is_empty();
    let faults = if stricter { &to.faults } else { &from.faults };
    let change = Changed {
        side: Side::Output,
        from: name(&from.faults),
        to: name(&to.faults),
        stricter,
        fault: faults.first(),
    };
    note(tool, &change, hidden, facts, summary);
}

/// How much a verdict costs the caller.
fn rank(verdict: &Verdict<'_>) -> u8 {
    match verdict {
        Verdict::Valid(_) => 0,
        Verdict::Repaired(_) => 1,
        Verdict::Refused(_) => 2,
    }
}

/// A verdict that changed.
struct Changed<'f> {
    side: Side,
    from: &'static str,
    to: &'static str,
    stricter: bool,
    /// What the stricter one objects to.
    fault: Option<&'f Fault>,
}

fn note(
    tool: &str,
    changed: &Changed<'_>,
    hidden: &[Secrecy],
    facts: &CallFacts<'_>,
    summary: &mut Summary,
) {
    let fault = changed.fault;
    let key = ChangeKey {
        tool: tool.to_owned(),
        side: changed.side,
        stricter: changed.stricter,
        from: changed.from.to_owned(),
        to: changed.to.to_owned(),
        path: fault.map_or_else(String::new, |fault| fault.key.path.clone()),
        issue: fault.map_or_else(|| "".into(), |fault| fault.key.issue.clone()),
    };
    let (value, whole) = fault.map_or((String::new(), true), |fault| {
        (fault.value.clone(), fault.whole)
    });
    let value = hidden
        .iter()
        .fold(value, |value, secrecy| secrecy.text(&value).into_owned());
    let mut examples = Examples::default();
    examples.add(facts.spot.hash, facts.example(value, whole));
    summary.changes.add(key, Change { calls: 1, examples });
}
