//! Renders a report as one self-contained page: no network, no other file, and no script needed to show everything.
//!
//! The template shows the fields of the [`View`], with charts made from them. Every text is made printable and
//! escaped where it is written; the only exceptions are our own style and script. A content security policy in the
//! page forbids everything else that a text from a log could request.

mod chart;
mod diff;
mod ticks;

use minijinja::value::Serde;
use minijinja::{AutoEscape, Value, context};

use super::printable::cut;
use super::template::{ROWS, content, environment};
use super::view::{ProposalView, View};
use super::{Report, ReportError, WrittenFiles, next, window};
use crate::decide::ViolationKind;
use crate::number::{hundredths, share};
use crate::summary::Tally;

/// The parts of the page, in order.
const TEMPLATE: &str = concat!(
    include_str!("../templates/macros.html"),
    include_str!("../templates/top.html"),
    include_str!("../templates/compared.html"),
    include_str!("../templates/time.html"),
    include_str!("../templates/proposals.html"),
    include_str!("../templates/clusters.html"),
    include_str!("../templates/tables.html"),
    include_str!("../templates/end.html"),
);

const STYLE: &str = include_str!("../templates/page.css");

const SCRIPT: &str = include_str!("../templates/page.js");

/// The only script that the page may run, by its SHA-256. A test says what it must be when the script changes.
const SCRIPT_HASH: &str = "sha256-pN+ZgvR8E/pqkPdElgqKghSQMEqjFMLB7RvvN3vTlOs=";

/// How much of a patch is shown; the command writes all of it.
const PATCH: usize = 4_000;

/// How many clusters a proposal names; the rest are counted.
const LINKS: usize = 12;

/// What a page says about itself.
#[derive(Debug, Clone, Default)]
pub struct PageHeader {
    /// What the report is about, in a few words: the name of the log, of a product, of a week.
    pub about: Option<String>,
    /// When it was made, in microseconds since 1970.
    pub made: Option<i64>,
    /// The suggestions file, if one is written too.
    pub suggestions: Option<String>,
}

/// The report as one HTML page.
///
/// # Errors
///
/// If the template does not match its input: a bug in this crate.
pub fn html(report: &Report, page: &PageHeader) -> Result<String, ReportError> {
    rendered(report, page).map_err(ReportError::new)
}

fn rendered(report: &Report, page: &PageHeader) -> Result<String, minijinja::Error> {
    let view = &View::of(report)?;
    let mut environment = environment(TEMPLATE, AutoEscape::Html)?;
    environment.add_filter("decimal", |number: f64| number.to_string());
    environment.add_filter("sentence_case", sentence_case);
    environment.add_filter("signed", signed);
    environment.add_filter("spans", spans);
    environment.add_filter("millionths", millionths);
    environment.add_filter("length_of", |part: u64, all: u64| {
        hundredths(share(part, all))
    });
    environment.add_filter("bar", bar);
    environment.add_filter("parts", parts);
    let written = WrittenFiles {
        page: None,
        suggestions: page.suggestions.as_deref(),
    };
    let window = window::window(&report.summary.time);
    let clusters = || view.clusters.iter().take(ROWS);
    let kinds = [
        ViolationKind::EdgeCase,
        ViolationKind::Unclear,
        ViolationKind::Bug,
    ];
    environment.get_template("report")?.render(context! {
        style => Value::from_safe_string(STYLE.to_owned()),
        script => Value::from_safe_string(SCRIPT.to_owned()),
        script_hash => SCRIPT_HASH,
        about => page.about.as_deref(),
        made => page.made,
        largest_tool_rate => largest_rate(view.tools.iter().map(|it| it.counts.0)),
        largest_model_rate => largest_rate(view.models.iter().map(|it| it.counts.0)),
        chart => Serde(window.map(|window| chart::chart(&report.summary, window))),
        sparklines => clusters()
            .map(|cluster| chart::sparkline(cluster.time, window?))
            .map(|drawn| drawn.map(|(path, slots)| context! { path, slots }))
            .collect::<Vec<_>>(),
        kinds => kinds
            .map(|kind| view.clusters.iter().filter(|it| it.kind == kind).count())
            .to_vec(),
        proposal_details => view.proposals.iter().take(ROWS).map(details).collect::<Vec<_>>(),
        next => Serde(next::accepting(view, written)),
        // Sorts before every time.
        never => i64::MIN,
        // The template cannot write one where it trims blocks.
        line_end => Value::from_safe_string("\n".to_owned()),
        ..content(view, written)
    })
}

/// What a proposal shows besides its fields.
fn details(view: &ProposalView<'_>) -> Value {
    let proposal = view.proposal;
    let mut links = view.clusters.clone();
    links.retain(|number| *number <= ROWS);
    links.sort_unstable();
    links.truncate(LINKS);
    context! {
        diff => Serde(diff::diff(&proposal.before, &proposal.after)),
        patch_lines => patch_lines(&proposal.patch),
        more_links => view.clusters.len() - links.len(),
        // Clusters on the page that it allows.
        links,
    }
}

/// Shares to sort by.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "at most a million"
)]
fn millionths(part: u64, whole: u64) -> u64 {
    (share(part, whole) * 1e6) as u64
}

/// The highest violation rate among rows with enough calls for one: a hundredth of the busiest. A name that was
/// called twice must not squeeze all others together.
fn largest_rate<'v>(rows: impl Iterator<Item = &'v Tally> + Clone) -> f64 {
    let busiest = rows.clone().map(|it| it.calls).max().unwrap_or(0);
    rows.filter(|it| share(it.calls, busiest) >= 0.01)
        .map(|it| share(it.violations(), it.calls))
        .fold(0.0, f64::max)
}

/// The lengths of the two parts of a bar, between 0 and 100, and whether it would be longer. The worst row fills it.
fn bar(calls: u64, repaired: u64, refused: u64, largest: f64) -> Value {
    let length = |part: u64| {
        if largest > 0.0 {
            hundredths(share(part, calls) / largest)
        } else {
            0.0
        }
    };
    let (repaired, refused) = (length(repaired).min(100.0), length(refused));
    context! {
        repaired,
        refused => refused.min(100.0 - repaired),
        is_cut => repaired + refused > 100.1,
    }
}

/// A bar of several counts: the non-zero ones, by their index in the list, with their start and length.
fn parts(counts: Vec<u64>) -> Vec<Value> {
    let of = counts
        .iter()
        .fold(0u64, |sum, calls| sum.saturating_add(*calls));
    let mut from = 0.0;
    let counts = counts.into_iter().enumerate();
    let parts = counts.filter(|(_, calls)| *calls > 0).map(|(at, calls)| {
        let length = hundredths(share(calls, of));
        let part = context! { at, calls, of, from, length };
        from += length;
        part
    });
    parts.collect()
}

fn sentence_case(text: String) -> String {
    let mut text = text;
    if let Some(first) = text.get_mut(..1) {
        first.make_ascii_uppercase();
    }
    text
}

/// With a sign that is as wide as a digit.
fn signed(points: i32) -> String {
    match points {
        1.. => format!("+{points}"),
        0 => "0".to_owned(),
        _ => format!("−{}", points.unsigned_abs()),
    }
}

/// At most this many columns of a sentence, split at its backticks: every second part is a name. If backticks are
/// unbalanced, it is one part.
fn spans(text: &str, columns: usize) -> Vec<String> {
    let text = cut(text, columns);
    if text.matches('`').count() % 2 == 1 {
        return vec![text];
    }
    text.split('`').map(str::to_owned).collect()
}

/// The lines of a patch, as many as are shown.
fn patch_lines(patch: &json_patch::Patch) -> Vec<String> {
    // A patch is a list of plain objects, which can always be serialised.
    let patch = serde_json::to_string_pretty(patch).unwrap_or_default();
    let mut lines: Vec<String> = Vec::new();
    let mut length = 0;
    for line in patch.lines() {
        if length > PATCH {
            lines.push("…".to_owned());
            break;
        }
        let line = cut(line, 200);
        length += line.len() + 1;
        lines.push(line);
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_policy_names_the_script() {
        use base64::Engine as _;
        use sha2::{Digest as _, Sha256};
        // A browser hashes the script with the line ends of HTML.
        let digest = Sha256::digest(SCRIPT.replace("\r\n", "\n"));
        let hash = base64::engine::general_purpose::STANDARD.encode(digest);
        assert_eq!(
            SCRIPT_HASH,
            format!("sha256-{hash}"),
            "the script has changed: set SCRIPT_HASH"
        );
    }

    #[test]
    fn every_second_part_is_a_name() {
        assert_eq!(
            spans("`priority` may be `null`", 100),
            ["", "priority", " may be ", "null", ""]
        );
        assert_eq!(spans("a ` b", 100).len(), 1);
    }
}
