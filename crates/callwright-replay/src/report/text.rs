//! Renders a report as text that a person can read on the terminal in half a minute.
//!
//! The worst findings come first, and only those; the page has the rest. Text from the log is escaped and cut.

use callwright::internal::visible;
use minijinja::{AutoEscape, Value, context};

use super::columns::{Styles, block_bar, command, left, right, wrap};
use super::printable::{cut, width};
use super::template::{content, environment};
use super::view::View;
use super::{Report, ReportError, WrittenFiles};

const TEMPLATE: &str = include_str!("templates/report.txt");

/// The narrowest and the widest text: below that there is no room for the columns, above it lines are hard to read.
const WIDTHS: std::ops::RangeInclusive<usize> = 60..=120;

/// The widest column of tool names, and how many tools are shown.
const WIDEST_TOOL: usize = 30;
const TOOLS: usize = 5;

/// The report in lines of about `columns` columns (from 60 to 120), with or without colours. It ends with the next
/// steps, which depend on what was already `written`.
///
/// # Errors
///
/// If the template does not match its input: a bug in this crate.
pub fn text(
    report: &Report,
    columns: usize,
    colours: bool,
    written: WrittenFiles<'_>,
) -> Result<String, ReportError> {
    let columns = columns.clamp(*WIDTHS.start(), *WIDTHS.end());
    let rendered = View::of(report)
        .and_then(|view| rendered(&view, columns, Styles(colours), written))
        .map_err(ReportError::new)?;
    let lines = rendered
        .lines()
        .map(|line| format!("{}\n", line.trim_end()));
    Ok(lines.collect())
}

fn rendered(
    view: &View<'_>,
    columns: usize,
    styles: Styles,
    written: WrittenFiles<'_>,
) -> Result<String, minijinja::Error> {
    let broken_tools = view
        .tools
        .iter()
        .filter(|tool| tool.counts.0.violations() > 0);
    let names = broken_tools.clone().take(TOOLS);
    let names = names.map(|tool| width(&cut(tool.name, WIDEST_TOOL)));
    let mut environment = environment(TEMPLATE, AutoEscape::Custom("terminal".into()))?;
    let safe = Value::from_safe_string;
    environment.add_filter("bold", move |text: &str| safe(styles.bold(text)));
    environment.add_filter("faint", move |text: &str| safe(styles.faint(text)));
    environment.add_filter("coloured", move |text: &str, kind: &str| {
        safe(styles.kind(kind, text))
    });
    // On several lines, each of which begins below the first one.
    environment.add_filter("hanging", move |text: &str, first: Option<&str>| {
        let first = first.unwrap_or_default();
        let lines = wrap(&visible(text), columns.saturating_sub(first.len()));
        let between = format!("\n{}", " ".repeat(first.len()));
        safe(format!("{first}{}", lines.join(&between)))
    });
    environment.add_filter("command", move |text: &str| safe(command(text, columns)));
    environment.add_filter("left", |text: &str, columns: usize| left(text, columns));
    environment.add_filter("right", |text: Value, columns: usize| {
        right(&text.to_string(), columns)
    });
    environment.add_filter("block_bar", block_bar);
    environment.add_filter("without_full_stop", |text: &str| {
        text.trim_end_matches('.').to_owned()
    });
    environment.get_template("report")?.render(context! {
        width => columns,
        broken_tools => broken_tools.count(),
        name_column => names.max().unwrap_or(0),
        ..content(view, written)
    })
}
