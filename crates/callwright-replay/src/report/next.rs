//! The next steps after a report: complete commands that fit this report.

use serde::Serialize;

use crate::decide::ViolationKind;

use super::view::View;
use crate::number::thousands;

/// How many numbers are written out in a command; more are better decided one by one.
const WRITTEN_OUT: usize = 10;

/// The files written along with a report, by name.
#[derive(Debug, Clone, Copy, Default)]
pub struct WrittenFiles<'a> {
    /// The page.
    pub page: Option<&'a str>,
    /// The suggestions.
    pub suggestions: Option<&'a str>,
}

/// One thing to do.
#[derive(Serialize)]
pub(crate) struct NextStep {
    /// Its purpose.
    pub(crate) what: String,
    /// What to type.
    pub(crate) commands: Vec<String>,
}

/// The next steps. `TOOLS` is a placeholder for the tool file, which a report does not know.
pub(crate) fn steps(view: &View<'_>, written: WrittenFiles<'_>) -> Vec<NextStep> {
    let step = |what: &str| NextStep {
        what: what.to_owned(),
        commands: Vec::new(),
    };
    let mut steps = Vec::new();
    if view.calls.undeclared > 0 {
        steps.push(step(
            "run it again with --tools FILE, a JSON list of all tools, so that every call is judged",
        ));
    }
    steps.push(match written.page {
        Some(page) => step(&format!("open {page} for every cluster, with examples")),
        None => step("run it again with --report report.html for every cluster, with examples"),
    });
    steps.extend(accepting(view, written));
    steps
}

/// How to accept changes; empty if there are none.
pub(crate) fn accepting(view: &View<'_>, written: WrittenFiles<'_>) -> Option<NextStep> {
    if view.proposals.is_empty() {
        return None;
    }
    // Edge cases, proved, and allowing no bugs: these can be accepted without a second look.
    let safe: Vec<String> = (view.proposals.iter())
        .filter(|it| it.proved && it.proposal.accepts_bugs == 0)
        .filter(|it| it.proposal.kind == ViolationKind::EdgeCase)
        .map(|it| it.proposal.number.to_string())
        .collect();
    let file = written.suggestions.unwrap_or("changes.json");
    let apply = format!("callwright replay apply --tools TOOLS --suggestions {file}");
    let (what, accept) = match safe.len() {
        0 => ("decide on each: none is a clear case".to_owned(), None),
        many if many > WRITTEN_OUT => {
            let many = thousands(many as u64);
            (
                format!("decide on each with one key; {many} are proved and allow no bugs"),
                None,
            )
        }
        _ => (
            "take the changes that are proved and allow no bugs".to_owned(),
            Some(safe.join(",")),
        ),
    };
    Some(NextStep {
        what: match written.suggestions {
            Some(_) => format!("{what}:"),
            None => format!("run it again with --suggest changes.json, then {what}:"),
        },
        commands: match accept {
            Some(numbers) => vec![format!(
                "{apply} --accept {numbers} --output new-tools.json"
            )],
            None => vec![
                format!("callwright replay review {file}"),
                format!("{apply} --output new-tools.json"),
            ],
        },
    })
}
