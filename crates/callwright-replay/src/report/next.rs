//! What to do after reading a report: commands that are complete, and true for this report.

use super::number::thousands;
use super::{Report, ranking};

/// How many numbers are written out in a command; more are better decided on one by one.
const WRITTEN_OUT: usize = 10;

/// One thing to do.
pub(crate) struct Step {
    /// What it is good for.
    pub(crate) what: String,
    /// What to type.
    pub(crate) commands: Vec<String>,
}

/// What there is to do. `TOOLS` stands for the tools file, which a report does not know.
pub(crate) fn steps(report: &Report) -> Vec<Step> {
    let mut steps = Vec::new();
    if report.summary.undeclared_calls() > 0 {
        steps.push(Step {
            what: "run it again with --tools FILE, a JSON list of all tools, so that every call is judged"
                .to_owned(),
            commands: Vec::new(),
        });
    }
    steps.push(Step {
        what: "run it again with --report report.html for every cluster, with examples".to_owned(),
        commands: Vec::new(),
    });
    steps.extend(accepting(report));
    steps
}

/// How to accept changes; nothing if there is none.
pub(crate) fn accepting(report: &Report) -> Option<Step> {
    if report.proposals.changes.is_empty() {
        return None;
    }
    let apply = "callwright replay apply --tools TOOLS --suggestions changes.json";
    let safe = ranking::safe_to_accept(report);
    let review = || {
        vec![
            "callwright replay review changes.json".to_owned(),
            format!("{apply} --output new-tools.json"),
        ]
    };
    let (what, commands) = match safe.len() {
        0 => (
            "decide on each: none is both proved and free of calls that look like bugs".to_owned(),
            review(),
        ),
        many if many > WRITTEN_OUT => (
            format!(
                "decide on each with one key; {} are proved and let no bug in",
                thousands(many as u64)
            ),
            review(),
        ),
        _ => {
            let numbers: Vec<String> = safe.iter().map(ToString::to_string).collect();
            let numbers = numbers.join(",");
            let apply = format!("{apply} --accept {numbers} --output new-tools.json");
            (
                "take the changes that are proved and let no bug in".to_owned(),
                vec![apply],
            )
        }
    };
    Some(Step {
        what: format!("run it again with --suggest changes.json, then {what}:"),
        commands,
    })
}
