//! Everything that the page shows, in the order in which it shows it.

use serde::Serialize;

use super::super::number::{about, bytes, conversations, count, duration, percent, thousands};
use super::super::outlook::{self, Outlook};
use super::super::printable::cut;
use super::super::{Report, comparison, date, next, note, ranking, window};
use super::Page;
use super::chart::{self, Chart};
use super::clusters::{self, Card, Kinds};
use super::compared;
use super::proposals::{self, Change};
use super::spans::{Span, spans};
use super::tables::{self, Loops, Row, Rule};

/// The longest name, path or word of a stranger on the page.
pub(super) const LONGEST: usize = 120;

/// How many clusters are on the page; the rest is counted. Each takes about six kilobytes.
const CLUSTERS: usize = 500;

/// How many tools and models there are, likewise.
const ROWS: usize = 500;

/// How many pieces of advice there are.
const ADVICE: usize = 500;

#[derive(Serialize)]
pub(super) struct View {
    about: String,
    made: String,
    headline: String,
    sentences: Vec<String>,
    figures: Vec<Figure>,
    alarms: Vec<String>,
    compared: bool,
    changes: Vec<compared::Row>,
    more_changes: String,
    chart: Option<Chart>,
    proposals: Vec<Change>,
    next: Option<Next>,
    clusters: Vec<Card>,
    kinds: Kinds,
    more_clusters: String,
    tools: Vec<Row>,
    more_tools: String,
    models: Vec<Row>,
    more_models: String,
    loops: Loops,
    repairs: Vec<Rule>,
    advice: Vec<Advice>,
    more_advice: String,
    read: Read,
}

/// A number that stands large, and what it is.
#[derive(Serialize)]
struct Figure {
    number: String,
    what: String,
    more: String,
}

/// Something to do, and what to type for it.
#[derive(Serialize)]
struct Next {
    what: String,
    commands: String,
}

impl From<next::Step> for Next {
    fn from(step: next::Step) -> Self {
        let mut what = step.what;
        if let Some(first) = what.get_mut(..1) {
            first.make_ascii_uppercase();
        }
        Next {
            what,
            commands: step.commands.join("\n"),
        }
    }
}

#[derive(Serialize)]
struct Advice {
    tool: String,
    path: String,
    text: Vec<Span>,
}

#[derive(Serialize)]
struct Read {
    facts: Vec<(&'static str, String)>,
    formats: Vec<(String, String, String)>,
    troubles: Vec<Trouble>,
    notes: Vec<String>,
}

#[derive(Serialize)]
struct Trouble {
    what: String,
    records: String,
    places: Vec<String>,
}

impl View {
    pub(super) fn of(report: &Report, page: &Page) -> Self {
        let outlook = Outlook::of(report);
        let mut sentences = outlook::sentences(report, &outlook);
        let headline = sentences.remove(0);
        let ranked = ranking::clusters(report);
        let window = window::window(&report.summary.time);
        let tools = ranking::tools(report);
        let models = ranking::models(report);
        let advice = &report.proposals.advice;
        let changes = comparison::ranked(report);
        View {
            about: page
                .about
                .as_deref()
                .map_or_else(String::new, |about| cut(about, LONGEST)),
            made: page.made.map_or_else(String::new, date::to_the_minute),
            headline,
            sentences,
            figures: figures(report, &outlook),
            alarms: alarms(report),
            compared: report.summary.compared,
            more_changes: more(changes.len(), ROWS, "kind", "kinds"),
            changes: compared::rows(&changes, ROWS),
            chart: chart::chart(report),
            proposals: proposals::changes(report, &ranked, CLUSTERS),
            next: next::accepting(report).map(Next::from),
            kinds: Kinds::of(&ranked),
            clusters: ranked
                .iter()
                .take(CLUSTERS)
                .map(|ranked| clusters::card(ranked, window))
                .collect(),
            more_clusters: more(ranked.len(), CLUSTERS, "cluster", "clusters"),
            more_tools: more(tools.len(), ROWS, "tool", "tools"),
            tools: tables::tools(&tools, ROWS),
            more_models: more(models.len(), ROWS, "model", "models"),
            models: tables::models(&models, ROWS),
            loops: Loops::of(report),
            repairs: tables::repairs(report),
            advice: advice
                .iter()
                .take(ADVICE)
                .map(|advice| Advice {
                    tool: cut(&advice.tool, LONGEST),
                    path: cut(&advice.path, LONGEST),
                    text: spans(&advice.text, 600),
                })
                .collect(),
            more_advice: more(advice.len(), ADVICE, "piece", "pieces"),
            read: read(report),
        }
    }
}

fn more(all: usize, shown: usize, one: &str, many: &str) -> String {
    let more = all.saturating_sub(shown) as u64;
    if more == 0 {
        return String::new();
    }
    let noun = if more == 1 { one } else { many };
    format!("{} more {noun}, not shown here.", thousands(more))
}

fn figures(report: &Report, outlook: &Outlook) -> Vec<Figure> {
    let summary = &report.summary;
    let tally = &summary.calls;
    let changes = report.proposals.changes.len() as u64;
    let stopped_cost = summary
        .loops
        .values()
        .fold(0u64, |sum, stopped| sum.saturating_add(stopped.latency_us));
    vec![
        Figure {
            number: thousands(tally.calls),
            what: "calls".to_owned(),
            more: conversations(summary.sessions.count()),
        },
        Figure {
            number: percent(tally.violations(), tally.calls),
            what: "break their schema".to_owned(),
            more: format!(
                "{} repaired, {} refused",
                thousands(tally.repaired),
                thousands(tally.refused)
            ),
        },
        Figure {
            number: thousands(changes),
            what: "proposed changes".to_owned(),
            more: format!("allow {}", count(outlook.allowed, "call", "calls")),
        },
        Figure {
            number: thousands(tally.stopped),
            what: "calls in loops".to_owned(),
            more: format!("{} of tool time", duration(stopped_cost)),
        },
        Figure {
            number: percent(tally.results_refused, tally.results),
            what: "of results are faulty".to_owned(),
            more: format!("of {}", count(tally.results, "result", "results")),
        },
    ]
}

/// What must be known before the numbers are believed.
fn alarms(report: &Report) -> Vec<String> {
    let mut alarms = Vec::new();
    let input = &report.summary.input;
    if input.interrupted {
        alarms.push("The run was interrupted: this is what was done until then.".to_owned());
    }
    let unread = note::unread(report)
        .iter()
        .fold(0u64, |sum, trouble| sum.saturating_add(trouble.records));
    if unread > 0 {
        let records = count(unread, "record", "records");
        alarms.push(format!("{records} could not be read."));
    }
    let undeclared = report.summary.undeclared_calls();
    if undeclared > 0 {
        let verb = if undeclared == 1 { "was" } else { "were" };
        let calls = count(undeclared, "call", "calls");
        alarms.push(format!(
            "{calls} {verb} not judged, since nothing declares their tools."
        ));
    }
    alarms
}

fn read(report: &Report) -> Read {
    let input = &report.summary.input;
    let time = |time: Option<i64>| {
        time.map_or_else(
            || "unknown".to_owned(),
            |us| format!("{} UTC", date::to_the_minute(us)),
        )
    };
    Read {
        facts: vec![
            ("Files", thousands(input.files)),
            ("Size", bytes(input.bytes)),
            ("Records", thousands(input.records)),
            ("First", time(input.first)),
            ("Last", time(input.last)),
            ("Conversations", about(report.summary.sessions.count())),
        ],
        formats: ranking::most(input.formats.iter())
            .into_iter()
            .map(|(format, records)| {
                let share = percent(records, input.records);
                (cut(format, LONGEST), thousands(records), share)
            })
            .collect(),
        troubles: note::unread(report)
            .into_iter()
            .map(|trouble| Trouble {
                what: trouble.what,
                records: thousands(trouble.records),
                places: trouble.places,
            })
            .collect(),
        notes: note::notes(report),
    }
}
