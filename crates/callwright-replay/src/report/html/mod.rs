//! A report → one page that needs nothing else: no network, no other file, and no script to show everything.
//!
//! The template gets the fields of the [`View`] and drawings made of them, and puts them into words with the filters below.
//! Every text is made printable and escaped where it is written, so the template cannot forget it; the only exceptions are
//! the style and the script, which are ours. A policy in the page forbids everything else that a text from a log could
//! ask for.

mod chart;
mod diff;
mod ticks;

use minijinja::syntax::SyntaxConfig;
use minijinja::value::Serde;
use minijinja::{AutoEscape, Environment, Output, State, UndefinedBehavior, Value, context};
use serde::Serialize;

use super::printable::{cut, printable};
use super::view::{ClusterView, Counts, LoopView, ProposalView, TroublePlace, View};
use super::{Report, ReportError, date, next, phrase, window};
use crate::decide::Kind;
use crate::number::{
    about, bytes, conversations, count, duration, hundredths, percent, share, thousands,
};
use diff::{DiffLine, diff};

/// The parts of the page in their order.
const TEMPLATE: &str = concat!(
    include_str!("page/macros.html"),
    include_str!("page/top.html"),
    include_str!("page/compared.html"),
    include_str!("page/time.html"),
    include_str!("page/proposals.html"),
    include_str!("page/clusters.html"),
    include_str!("page/tables.html"),
    include_str!("page/end.html"),
);

const STYLE: &str = include_str!("page/page.css");

const SCRIPT: &str = include_str!("page/page.js");

/// The only script that the page may run, by its SHA-256. A test says what it must be when the script changes.
const SCRIPT_HASH: &str = "sha256-pN+ZgvR8E/pqkPdElgqKghSQMEqjFMLB7RvvN3vTlOs=";

/// How many clusters, tools, models, changes of verdicts and pieces of advice are on the page; the rest is counted. A
/// cluster takes about six kilobytes.
const ROWS: usize = 500;

/// How much of a patch is shown; the command writes all of it.
const PATCH: usize = 4_000;

/// How many clusters a proposal names; the rest is counted.
const LINKS: usize = 12;

/// What a page says about itself.
#[derive(Debug, Clone, Default)]
pub struct Page {
    /// What the report is about, in a few words: the name of the log, of a product, of a week.
    pub about: Option<String>,
    /// When it was made, in microseconds since 1970.
    pub made: Option<i64>,
}

/// The report as one HTML page.
///
/// # Errors
///
/// If the template does not fit what it is given: a bug of this crate.
pub fn html(report: &Report, page: &Page) -> Result<String, ReportError> {
    let view = View::of(report);
    let environment = environment().map_err(ReportError::new)?;
    let template = environment.get_template("page").map_err(ReportError::new)?;
    let rendered = template.render(context! {
        style => Value::from_safe_string(STYLE.to_owned()),
        script => Value::from_safe_string(SCRIPT.to_owned()),
        script_hash => SCRIPT_HASH,
        about => page.about.as_deref(),
        made => page.made,
        ..content(report, &view)
    });
    rendered.map_err(ReportError::new)
}

/// What the template shows.
fn content(report: &Report, view: &View<'_>) -> Value {
    let window = window::window(&report.summary.time);
    let sum = |part: fn(&LoopView<'_>) -> u64| {
        let parts = view.loops.iter().map(part);
        parts.fold(0, u64::saturating_add)
    };
    let tallies = |counts: &mut dyn Iterator<Item = &Counts>| {
        largest_rate(
            &counts
                .map(|it| (it.calls, it.violations))
                .collect::<Vec<_>>(),
        )
    };
    context! {
        sentences => &view.sentences,
        compared => view.compared,
        changes => rows(&view.changes),
        all_changes => view.changes.len(),
        read => Serde(&view.read),
        troubles => Serde(view.read.troubles.iter().map(|trouble| TroubleRow {
            what: trouble.what,
            records: trouble.records,
            places: trouble.places.iter().map(TroublePlace::shown).collect(),
        }).collect::<Vec<_>>()),
        calls => Serde(&view.calls),
        tools => rows(&view.tools),
        all_tools => view.tools.len(),
        largest_tool_rate => tallies(&mut view.tools.iter().map(|it| &it.counts)),
        models => rows(&view.models),
        all_models => view.models.len(),
        largest_model_rate => tallies(&mut view.models.iter().map(|it| &it.counts)),
        chart => Serde(window.map(|window| chart::chart(&report.summary, window))),
        clusters => Serde(view.clusters.iter().take(ROWS).map(|cluster| ClusterCard {
            cluster,
            kind: cluster.kind(),
            sparkline: window.and_then(|window| chart::sparkline(cluster.time, window)),
        }).collect::<Vec<_>>()),
        all_clusters => view.clusters.len(),
        kinds => Serde([Kind::EdgeCase, Kind::Unclear, Kind::Bug].map(|kind| {
            let clusters = view.clusters.iter();
            clusters.filter(|cluster| cluster.kind() == kind).count()
        })),
        proposals => Serde(view.proposals.iter().map(ProposalCard::of).collect::<Vec<_>>()),
        next => Serde(next::accepting(view)),
        loops => Serde(&view.loops),
        loops_latency => sum(|it| it.latency_us),
        loops_bytes => sum(|it| it.result_bytes),
        repairs => Serde(&view.repairs),
        all_repairs => view.repairs.sum(),
        advice => rows(view.advice),
        all_advice => view.advice.len(),
        shown => ROWS,
        unread => view.read.unread(),
        // Sorts before every time.
        never => i64::MIN,
        // The template cannot write one where it trims blocks.
        line_end => Value::from_safe_string("\n".to_owned()),
    }
}

fn rows<T: Serialize>(all: &[T]) -> Value {
    Value::from(Serde(&all[..all.len().min(ROWS)]))
}

#[derive(Serialize)]
struct ClusterCard<'v> {
    #[serde(flatten)]
    cluster: &'v ClusterView<'v>,
    kind: Kind,
    /// The path of a small chart, and its width.
    sparkline: Option<(String, i64)>,
}

#[derive(Serialize)]
struct ProposalCard<'v> {
    #[serde(flatten)]
    proposal: &'v ProposalView<'v>,
    what: &'static str,
    diff: Vec<DiffLine>,
    patch_lines: Vec<String>,
    /// Clusters on the page that it allows, and how many more there are.
    links: Vec<usize>,
    more_links: usize,
}

impl<'v> ProposalCard<'v> {
    fn of(proposal: &'v ProposalView<'v>) -> Self {
        let mut links = proposal.clusters.clone();
        links.retain(|number| *number <= ROWS);
        links.sort_unstable();
        links.truncate(LINKS);
        ProposalCard {
            what: phrase::change(proposal.change),
            diff: diff(proposal.before, proposal.after),
            patch_lines: patch_lines(proposal),
            more_links: proposal.clusters.len() - links.len(),
            links,
            proposal,
        }
    }
}

#[derive(Serialize)]
struct TroubleRow<'v> {
    what: &'v str,
    records: u64,
    places: Vec<String>,
}

/// The template, and the filters that make words of numbers and names.
fn environment() -> Result<Environment<'static>, minijinja::Error> {
    let mut environment = Environment::empty();
    environment.set_auto_escape_callback(|_| AutoEscape::Html);
    environment.set_formatter(print);
    // A name that is spelled wrongly fails every test instead of leaving a hole.
    environment.set_undefined_behavior(UndefinedBehavior::Strict);
    environment.set_syntax(
        SyntaxConfig::builder()
            .trim_blocks(true)
            .lstrip_blocks(true)
            .build()?,
    );
    environment.add_filter("about", about);
    environment.add_filter("bytes", bytes);
    environment.add_filter("conversations", conversations);
    environment.add_filter("count", count);
    environment.add_filter("cut", cut);
    environment.add_filter("duration", duration);
    environment.add_filter("minute", date::to_the_minute);
    environment.add_filter("percent", percent);
    environment.add_filter("thousands", thousands);
    environment.add_filter("issue", phrase::issue);
    environment.add_filter("objection", phrase::objection);
    environment.add_filter("stopped", phrase::stopped);
    environment.add_filter("direction", phrase::direction);
    environment.add_filter("words", |name: &str| name.replace('_', " "));
    environment.add_filter("sentence_case", sentence_case);
    environment.add_filter("decimal", |number: f64| number.to_string());
    environment.add_filter("length", |list: Value| list.len());
    // How many there are beside those that are shown.
    environment.add_filter("beyond", |all: u64, shown: u64, more: Option<u64>| {
        (all.saturating_sub(shown)).saturating_add(more.unwrap_or_default())
    });
    environment.add_filter("parts", parts);
    environment.add_filter("signed", signed);
    environment.add_filter("spans", spans);
    // Lengths between 0 and 100.
    environment.add_filter("length_of", |part: u64, all: u64| {
        hundredths(share(part, all))
    });
    environment.add_filter("bar", bar);
    // Shares to sort by, in millionths.
    environment.add_filter("millionths", millionths);
    environment.add_template("page", TEMPLATE)?;
    Ok(environment)
}

/// Writes a value of the template: texts in a form that shows what cannot be seen, and escaped for HTML.
fn print(
    out: &mut Output<'_>,
    state: &mut State<'_, '_>,
    value: &Value,
) -> Result<(), minijinja::Error> {
    match value.as_str() {
        Some(text) if !value.is_safe() => {
            minijinja::escape_formatter(out, state, &Value::from(printable(text)))
        }
        _ => minijinja::escape_formatter(out, state, value),
    }
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "at most a million"
)]
fn millionths(part: u64, whole: u64) -> u64 {
    (share(part, whole) * 1e6) as u64
}

/// The largest rate of violations (calls, violations) of those that have enough calls for one: a hundredth of the
/// busiest. A name that was called twice must not press all others together.
fn largest_rate(rows: &[(u64, u64)]) -> f64 {
    let busiest = rows.iter().map(|(calls, _)| *calls).max().unwrap_or(0);
    rows.iter()
        .filter(|(calls, _)| share(*calls, busiest) >= 0.01)
        .map(|(calls, violations)| share(*violations, *calls))
        .fold(0.0, f64::max)
}

/// The lengths of the two parts of a bar, between 0 and 100, and whether it would be longer. The worst row has all of it.
fn bar(calls: u64, repaired: u64, refused: u64, largest: f64) -> Value {
    let length = |part: u64| match largest > 0.0 {
        true => hundredths(share(part, calls) / largest),
        false => 0.0,
    };
    let (repaired, refused) = (length(repaired).min(100.0), length(refused));
    context! {
        repaired,
        refused => refused.min(100.0 - repaired),
        is_cut => repaired + refused > 100.1,
    }
}

/// A bar of several counts: those that are not zero, by their place in the list, with where they begin and how long they
/// are.
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

/// At most so many columns of a sentence, cut at its backticks: every second part is a name. Where backticks do not come
/// in pairs it is one part.
fn spans(text: &str, columns: usize) -> Vec<String> {
    let text = cut(text, columns);
    if text.matches('`').count() % 2 == 1 {
        return vec![text];
    }
    text.split('`').map(str::to_owned).collect()
}

/// The lines of a patch, as many as are shown.
fn patch_lines(proposal: &ProposalView<'_>) -> Vec<String> {
    // A patch is a list of plain objects, which can always be written.
    let patch = serde_json::to_string_pretty(proposal.patch).unwrap_or_default();
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
