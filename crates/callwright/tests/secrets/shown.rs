//! Everything that the library says about a call, with a label.

use std::time::SystemTime;

use callwright::admit::Place;
use callwright::check::{Checked, Detector, Ran, ToolFailure};
use callwright::event::Event;
use callwright::failure::{Failure, Notice};
use callwright::feedback::{Feedback, Style};
use callwright::policy::Policy;
use callwright::repair::{Grade, RepairPolicy};
use callwright::wire::read_tools;
use callwright::wire::{Recorded, read_recorded};
use callwright::{Call, Gate, Opened, Verdict};
use serde_json::Value;

use super::cases::Case;

const REPAIRS: [RepairPolicy; 3] = [
    RepairPolicy::ByEffect,
    RepairPolicy::UpTo(Grade::Guess),
    RepairPolicy::Never,
];

type Shown = Vec<(&'static str, String)>;

/// All texts about a case, under every grade of repair.
pub(crate) fn everything(case: &Case) -> Shown {
    let mut shown = Vec::new();
    let line = case.line.to_string();
    let recorded = read_recorded(&line).expect("a line");
    for repair in REPAIRS {
        let mut policy = Policy::default().with_repair(repair);
        policy.output.detect = Some(vec![
            Detector::ErrorInDisguise,
            Detector::EmptyResult,
            Detector::MorePages,
            Detector::TruncatedText,
        ]);
        let tools = read_tools(&format!("[{}]", case.tool)).expect("a tool");
        let gate = Gate::builder().tools(tools).policy(policy);
        let gate = gate.build().expect("a gate");
        by_itself(&gate, &recorded, &mut shown);
        in_conversation(&gate, &recorded, &mut shown);
    }
    shown
}

fn by_itself(gate: &Gate, recorded: &Recorded<'_>, shown: &mut Shown) {
    let call = &recorded.call;
    let verdict = gate.judge(call);
    of_verdict(gate, call, &verdict, shown);
    for trial in gate.explain(call) {
        shown.push(("a trial", Feedback::default().edit_line(&trial.edit)));
    }
    let tool = match &verdict {
        Verdict::Valid(valid) => valid.tool(),
        Verdict::Repaired(repaired) => repaired.tool(),
        Verdict::Refused(_) => return,
    };
    let Some(ran) = recorded.ran() else { return };
    let arguments = verdict.arguments().expect("they were read");
    let checked = gate.check(tool, arguments, ran);
    of_result(&checked, shown);
    let event = Event::of(gate, call, &verdict, SystemTime::UNIX_EPOCH).with_result(&checked);
    let output = recorded.output.clone().expect("it ran");
    of_event(&event.with_output(output), shown);
    let token_in = recorded.output.as_ref().map(ToString::to_string);
    let said = token_in.unwrap_or_default();
    let failures = [
        ToolFailure::new("bad", said.clone()).with_hint(said.clone()),
        ToolFailure::internal(said.clone()),
        ToolFailure::panicked(said.clone()).with_recommendation(said.clone()),
        ToolFailure::transient(said),
    ];
    for failure in failures {
        of_result(&gate.check(tool, arguments, Ran::failed(failure)), shown);
    }
}

/// Repeats the same call until it is refused.
fn in_conversation(gate: &Gate, recorded: &Recorded<'_>, shown: &mut Shown) {
    let call = &recorded.call;
    for round in 0..8 {
        match gate.open(call, Place::new("chat", 0, round)) {
            Opened::Admitted(ticket) => {
                let ran = recorded.ran().unwrap_or_else(|| Ran::ok("the same"));
                let settled = gate.close(ticket, ran);
                of_notice(settled.notice(), shown);
                if let Some(result) = &settled.result {
                    of_result(result, shown);
                }
            }
            Opened::Refused(refused) => {
                of_notice(refused.notice.as_ref(), shown);
                shown.push(("a name", refused.shown_name(call).to_owned()));
                of_verdict(gate, call, &Verdict::Refused(refused), shown);
            }
        }
    }
}

fn of_verdict(gate: &Gate, call: &Call<'_>, verdict: &Verdict<'_>, shown: &mut Shown) {
    let feedback = Feedback::default();
    for failure in verdict.failure().into_iter().chain(verdict.warning()) {
        of_failure(failure, shown);
    }
    for edit in verdict.edits() {
        shown.push(("an edit", feedback.edit_line(edit)));
    }
    let receipt = feedback.receipt(verdict.edits());
    shown.push(("a receipt", receipt.unwrap_or_default()));
    let line = verdict.line(call, &feedback).to_string();
    let mut line: Value = serde_json::from_str(&line).expect("JSON");
    for key in ["arguments", "edits", "tool"] {
        line[key] = Value::Null;
    }
    shown.push(("the words of a line", line.to_string()));
    let masked = verdict.line(call, &feedback);
    let masked = masked.masked(gate.secrecy(call, verdict)).to_string();
    shown.push(("a masked line", masked));
    let event = Event::of(gate, call, verdict, SystemTime::UNIX_EPOCH);
    of_event(&event, shown);
}

fn of_event(event: &Event, shown: &mut Shown) {
    let line = event.line().with_output(true).to_string();
    let mut line: Value = serde_json::from_str(&line).expect("JSON");
    // Hashes may contain any digits.
    line["fingerprint"] = Value::Null;
    line["output_digest"] = Value::Null;
    shown.push(("an event", line.to_string()));
}

fn of_result(checked: &Checked<'_>, shown: &mut Shown) {
    if let Some(failure) = checked.failure.as_deref() {
        of_failure(failure, shown);
    }
    shown.push(("notes", checked.notes.join(" ")));
}

fn of_failure(failure: &Failure, shown: &mut Shown) {
    for (name, style) in Style::ALL {
        let mut feedback = Feedback::new(style);
        feedback.max_chars = 1_000;
        shown.push((name, feedback.render(failure)));
        shown.push(("issue lines", feedback.issue_lines(failure).join("\n")));
    }
    shown.push((
        "for the operator",
        failure.for_operator().unwrap_or_default().to_owned(),
    ));
    shown.push(("the code", failure.code_name().to_owned()));
    // Fingerprints may contain any digits, too.
    let debug = format!("{failure:?}");
    let without: Vec<&str> = debug.split("Fingerprint(").collect();
    shown.push((
        "debug",
        without.first().copied().unwrap_or_default().to_owned(),
    ));
}

fn of_notice(notice: Option<&Notice>, shown: &mut Shown) {
    if let Some(notice) = notice {
        shown.push(("a notice", Feedback::default().notice(notice)));
    }
}
