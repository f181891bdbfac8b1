//! A report → what a person reads on the terminal in half a minute.
//!
//! The worst first and only the worst; the page has the rest. Text from the log is escaped and cut.

mod comparison;
mod line;
mod next;
mod style;

use super::number::{bytes, conversations, count, percent, share, thousands};
use super::outlook::{self, Outlook};
use super::printable::{cut, width};
use super::ranking;
use super::{Report, date, note, phrase};
use line::{bar, described, effect};
use style::{Styles, left, right, wrap};

/// How many tools are shown: the worst.
const TOOLS: usize = 5;

/// How many clusters are shown.
const CLUSTERS: usize = 8;

/// How many proposals are shown; more are rarely decided on at once.
const PROPOSALS: usize = 12;

/// How many kinds of trouble are shown.
const TROUBLES: usize = 5;

/// The narrowest and the widest text: below it there is no room for the columns, above it lines are hard to read.
const WIDTHS: std::ops::RangeInclusive<usize> = 60..=120;

/// The widest column of tool names.
const WIDEST_TOOL: usize = 30;

/// From this width on a cluster has room in one line.
const ONE_LINE: usize = 84;

/// The report in lines of about `width` columns (from 60 to 120), with or without colours.
pub fn text(report: &Report, width: usize, colours: bool) -> String {
    let mut page = Page {
        report,
        width: width.clamp(*WIDTHS.start(), *WIDTHS.end()),
        styles: Styles(colours),
        lines: Vec::new(),
    };
    page.headline();
    page.comparison();
    page.read();
    page.tools();
    page.clusters();
    page.proposals();
    page.loops();
    page.troubles();
    page.next();
    let mut text = page.lines.join("\n");
    text.push('\n');
    text
}

struct Page<'r> {
    report: &'r Report,
    width: usize,
    styles: Styles,
    lines: Vec<String>,
}

impl Page<'_> {
    fn line(&mut self, line: impl AsRef<str>) {
        self.lines.push(line.as_ref().trim_end().to_owned());
    }

    fn heading(&mut self, text: &str) {
        let heading = self.styles.heading(text);
        self.line("");
        self.line(heading);
    }

    /// Lines that begin below the first one.
    fn hanging(&mut self, first: &str, text: &str) {
        let indent = width(first);
        for (index, part) in wrap(text, self.width.saturating_sub(indent))
            .into_iter()
            .enumerate()
        {
            let start = if index == 0 {
                first.to_owned()
            } else {
                " ".repeat(indent)
            };
            self.line(format!("{start}{part}"));
        }
    }

    fn headline(&mut self) {
        let outlook = Outlook::of(self.report);
        let sentences = outlook::sentences(self.report, &outlook);
        for (index, sentence) in sentences.iter().enumerate() {
            for line in wrap(sentence, self.width) {
                let line = if index == 0 {
                    self.styles.heading(&line)
                } else {
                    line
                };
                self.line(line);
            }
        }
    }

    fn read(&mut self) {
        let summary = &self.report.summary;
        let input = &summary.input;
        self.line("");
        let formats: Vec<String> = ranking::most(input.formats.iter())
            .into_iter()
            .map(|(format, records)| format!("{} {}", cut(format, 40), thousands(records)))
            .collect();
        let formats = match formats.len() {
            0 => String::new(),
            _ => format!(" ({})", formats.join(", ")),
        };
        let read = format!(
            "{}, {}, {}{formats}",
            count(input.files, "file", "files"),
            bytes(input.bytes),
            count(input.records, "record", "records"),
        );
        self.hanging("read   ", &read);
        if let (Some(first), Some(last)) = (input.first, input.last) {
            let span = format!(
                "{} to {} UTC, {}, {}",
                date::to_the_minute(first),
                date::to_the_minute(last),
                conversations(summary.sessions.count()),
                count(summary.models.len() as u64, "model", "models"),
            );
            self.hanging("       ", &span);
        }
        let tally = &summary.calls;
        if tally.calls == 0 {
            return;
        }
        let mut parts = vec![
            format!("{} valid", thousands(tally.valid)),
            format!("{} repaired", thousands(tally.repaired)),
            format!("{} refused", thousands(tally.refused)),
        ];
        if tally.tool_errors > 0 {
            let errors = thousands(tally.tool_errors);
            parts.push(format!("{errors} answered with an error"));
        }
        let undeclared = summary.undeclared_calls();
        if undeclared > 0 {
            parts.push(format!("{} not judged", thousands(undeclared)));
        }
        self.hanging("calls  ", &parts.join(", "));
    }

    fn tools(&mut self) {
        let tools: Vec<_> = ranking::tools(self.report)
            .into_iter()
            .filter(|(_, tool)| tool.tally.violations() > 0)
            .collect();
        if tools.is_empty() {
            return;
        }
        let names: Vec<String> = tools
            .iter()
            .take(TOOLS)
            .map(|(name, _)| cut(name, WIDEST_TOOL))
            .collect();
        let column = names.iter().map(|name| width(name)).max().unwrap_or(0);
        // The first has the most.
        let most = tools.first().map_or(0, |(_, tool)| tool.tally.violations());
        self.heading("Tools whose calls break their schema most often");
        for (name, (_, tool)) in names.iter().zip(&tools) {
            let (broken, calls) = (tool.tally.violations(), tool.tally.calls);
            let numbers = format!("{} of {}", thousands(broken), thousands(calls));
            let line = format!(
                "  {}  {}  {}  {}",
                left(name, column),
                right(&percent(broken, calls), 6),
                bar(share(broken, most)),
                numbers
            );
            self.line(line);
        }
        self.more(tools.len(), TOOLS, "tool", "tools");
    }

    fn clusters(&mut self) {
        let clusters = ranking::clusters(self.report);
        if clusters.is_empty() {
            return;
        }
        self.heading("What is wrong, the most frequent first");
        for ranked in clusters.iter().take(CLUSTERS) {
            let kind = ranked.kind();
            let word = self.styles.kind(kind, &left(phrase::kind(kind), 9));
            let start = format!(
                "{}  {word}  {}  ",
                right(&ranked.number.to_string(), 4),
                right(&thousands(ranked.cluster.calls), 9)
            );
            let described = described(ranked);
            if self.width < ONE_LINE {
                self.line(start);
                let room = self.width.saturating_sub(6);
                self.line(format!("      {}", cut(&described, room)));
            } else {
                // Four for the number, nine for the kind, nine for the calls, and the blanks between.
                let room = self.width.saturating_sub(28);
                self.line(format!("{start}{}", cut(&described, room)));
            }
        }
        self.more(clusters.len(), CLUSTERS, "cluster", "clusters");
    }

    fn proposals(&mut self) {
        let changes = &self.report.proposals.changes;
        if changes.is_empty() {
            return;
        }
        self.heading("Proposed changes");
        for change in changes.iter().take(PROPOSALS) {
            let number = right(&change.number.to_string(), 4);
            let title = format!("{}: {}", change.tool, change.title);
            let title = cut(&title, self.width.saturating_sub(6));
            self.line(format!("{number}  {title}"));
            let effect = effect(change);
            for line in wrap(&effect, self.width.saturating_sub(6)) {
                let line = self.styles.faint(&line);
                self.line(format!("      {line}"));
            }
        }
        self.more(changes.len(), PROPOSALS, "change", "changes");
        let advice = self.report.proposals.advice.len() as u64;
        if advice > 0 {
            let noun = "of advice in the report";
            let advice = count(advice, &format!("piece {noun}"), &format!("pieces {noun}"));
            let line = self.styles.faint(&format!("      {advice}"));
            self.line(line);
        }
    }

    fn loops(&mut self) {
        let loops = &self.report.summary.loops;
        let calls = self.report.summary.calls.stopped;
        if loops.is_empty() || calls == 0 {
            return;
        }
        let latency = loops
            .values()
            .fold(0u64, |sum, stopped| sum.saturating_add(stopped.latency_us));
        let size = loops.values().fold(0u64, |sum, stopped| {
            sum.saturating_add(stopped.result_bytes)
        });
        self.heading("Loops and limits");
        let sentence = format!(
            "the guard would have stopped {}, which cost {} of tool time and {} of results",
            count(calls, "call", "calls"),
            super::number::duration(latency),
            bytes(size)
        );
        self.hanging("  ", &sentence);
    }

    fn troubles(&mut self) {
        let unread = note::unread(self.report);
        let notes = note::notes(self.report);
        if unread.is_empty() && notes.is_empty() {
            return;
        }
        self.heading("Worth knowing");
        for trouble in unread.iter().take(TROUBLES) {
            let records = count(trouble.records, "record", "records");
            let place = match trouble.places.first() {
                Some(first) if trouble.records == 1 => format!(", at {first}"),
                Some(first) => format!(", first at {first}"),
                None => String::new(),
            };
            self.hanging(
                "  ",
                &format!("{records} not read: {}{place}", trouble.what),
            );
        }
        self.more(
            unread.len(),
            TROUBLES,
            "kind of trouble",
            "kinds of trouble",
        );
        for note in notes {
            let note = note.trim_end_matches('.').to_owned();
            self.hanging("  ", &note);
        }
    }

    fn more(&mut self, all: usize, shown: usize, one: &str, many: &str) {
        let more = all.saturating_sub(shown) as u64;
        if more > 0 {
            let noun = if more == 1 { one } else { many };
            let line = format!("      {} more {noun}", thousands(more));
            let line = self.styles.faint(&line);
            self.line(line);
        }
    }
}
