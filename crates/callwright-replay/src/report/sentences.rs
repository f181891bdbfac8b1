//! The sentences of a report: the headline, and the notes that a reader needs to interpret the numbers.

use minijinja::value::Serde;
use minijinja::{AutoEscape, Error, Value, context};

use super::headline::Breakdown;
use super::template::environment;
use super::{Report, window};

/// How many tools are named in one note; the rest are counted.
const NAMED: usize = 5;

/// The longest text from the log in a note: a line or two.
pub(super) const LONGEST: usize = 160;

/// The findings and conclusions, the most important first. There is always at least one sentence.
pub(super) fn headline(report: &Report, breakdown: &Breakdown) -> Result<Vec<String>, Error> {
    let summary = &report.summary;
    // How many kinds of changes there are in one direction, and how many calls they concern.
    let side = |stricter: bool| {
        let changes = summary.changes.iter();
        let of_side = changes.filter(|(key, _)| key.stricter == stricter);
        let (kinds, calls) = of_side.fold((0u64, 0u64), |(kinds, calls), (_, change)| {
            (kinds + 1, calls.saturating_add(change.calls))
        });
        context! { kinds, calls }
    };
    let content = context! {
        compared => summary.compared,
        stricter => side(true),
        looser => side(false),
        interrupted => summary.input.interrupted,
        records => summary.input.records,
        unknown => breakdown.unknown(),
        results => summary.calls.results,
        results_refused => summary.calls.results_refused,
        ..Value::from(Serde(breakdown))
    };
    lines(include_str!("templates/headline.txt"), content)
}

/// The notes, one sentence each.
pub(super) fn notes(report: &Report) -> Result<Vec<String>, Error> {
    let summary = &report.summary;
    let tools = || summary.tools.iter();
    let undeclared = tools().filter(|(_, tool)| tool.undeclared_calls() > 0);
    let quarantined =
        tools().filter_map(|(name, tool)| Some((name, tool.newest()?.quarantined.as_ref()?)));
    let content = context! {
        named => NAMED,
        longest => LONGEST,
        interrupted => summary.input.interrupted,
        undeclared => summary.undeclared_calls(),
        undeclared_tools => Serde(undeclared.map(|(name, _)| name).collect::<Vec<_>>()),
        quarantined => Serde(quarantined.collect::<Vec<_>>()),
        idle => tools().filter(|(_, tool)| tool.tally.calls == 0).count(),
        unplaced => report.proposals.unplaced.len(),
        no_times => summary.calls.calls > 0 && summary.time.is_empty(),
        far => window::window(&summary.time).map_or(0, |window| window.far(&summary.time)),
        input => Serde(&summary.input),
        no_room => context! {
            troubles => summary.input.troubles.dropped(),
            clusters => summary.clusters.dropped(),
            tools => summary.tools.dropped(),
            models => summary.models.dropped(),
            changes => summary.changes.dropped(),
            combinations => summary.combinations.dropped(),
        },
    };
    lines(include_str!("templates/notes.txt"), content)
}

fn lines(template: &'static str, content: Value) -> Result<Vec<String>, Error> {
    let environment = environment(template, AutoEscape::Custom("terminal".into()))?;
    let text = environment.get_template("report")?.render(content)?;
    let lines = text.lines().filter(|line| !line.is_empty());
    Ok(lines.map(str::to_owned).collect())
}
