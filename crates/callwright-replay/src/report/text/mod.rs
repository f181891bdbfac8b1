//! A report → what a person reads on the terminal in half a minute.
//!
//! The worst first and only the worst; the page has the rest. Text from the log is escaped and cut.

mod style;

use crate::decide::Kind;
use crate::summary::Side;

use super::next::{self, NextStep};
use super::notes;
use super::printable::{cut, width};
use super::view::{ChangeView, ClusterView, LoopView, ProposalView, TroublePlace, View};
use super::{Report, date, phrase};
use crate::number::{bytes, conversations, count, duration, noun, percent, share, thousands};
use style::{Styles, left, right, wrap};

/// How many kinds of changed verdicts are shown: stricter ones come first, and more than these are not read at once.
const CHANGES: usize = 10;

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

/// The longest value in a line.
const LONGEST_VALUE: usize = 40;

/// From this width on a cluster has room in one line.
const ONE_LINE: usize = 84;

/// How long the bar of the worst tool is.
const BAR: f64 = 16.0;

/// What to do where no call was found.
const NO_CALLS: &str = "give it files with calls: records of callwright, requests and answers of OpenAI or Anthropic, \
                        MCP messages, OpenTelemetry spans, or one call a line";

/// The report in lines of about `width` columns (from 60 to 120), with or without colours.
pub fn text(report: &Report, width: usize, colours: bool) -> String {
    let mut text = TextReport {
        view: View::of(report),
        width: width.clamp(*WIDTHS.start(), *WIDTHS.end()),
        styles: Styles(colours),
        lines: Vec::new(),
    };
    text.headline();
    text.changes();
    text.read();
    text.tools();
    text.clusters();
    text.proposals();
    text.loops();
    text.worth_knowing();
    text.next();
    text.lines.push(String::new());
    text.lines.join("\n")
}

struct TextReport<'r> {
    view: View<'r>,
    width: usize,
    styles: Styles,
    lines: Vec<String>,
}

impl TextReport<'_> {
    fn line(&mut self, line: impl AsRef<str>) {
        self.lines.push(line.as_ref().trim_end().to_owned());
    }

    fn heading(&mut self, text: &str) {
        self.line("");
        self.line(self.styles.heading(text));
    }

    /// A text over several lines, each of which begins below the first one.
    fn hanging(&mut self, first: &str, text: &str) {
        let indent = width(first);
        let mut start = first.to_owned();
        for part in wrap(text, self.width.saturating_sub(indent)) {
            self.line(format!("{start}{part}"));
            start = " ".repeat(indent);
        }
    }

    fn more(&mut self, all: usize, shown: usize, one: &str, many: &str) {
        if let more @ 1.. = all.saturating_sub(shown) as u64 {
            let line = format!("      {} more {}", thousands(more), noun(more, one, many));
            self.line(self.styles.faint(&line));
        }
    }

    fn headline(&mut self) {
        for (index, sentence) in self.view.sentences.clone().iter().enumerate() {
            for line in wrap(sentence, self.width) {
                if index == 0 {
                    self.line(self.styles.heading(&line));
                } else {
                    self.line(line);
                }
            }
        }
    }

    /// What another judge says differently: the first thing to read where verdicts were compared.
    fn changes(&mut self) {
        let changes = std::mem::take(&mut self.view.changes);
        if changes.is_empty() {
            return;
        }
        self.heading("What changes");
        for change in changes.iter().take(CHANGES) {
            // Two blanks, the longest word for a direction and two blanks.
            let start = format!("  {}  ", left(phrase::direction(change.key.stricter), 8));
            let room = self.width.saturating_sub(start.len());
            let [verdicts, objection] = changed(change);
            self.line(format!("{start}{}", cut(&verdicts, room)));
            let objection = self.styles.faint(&cut(&objection, room));
            self.line(format!("{}{objection}", " ".repeat(start.len())));
        }
        self.more(changes.len(), CHANGES, "kind", "kinds");
    }

    fn read(&mut self) {
        self.line("");
        let (read, calls) = (&self.view.read, &self.view.calls);
        let formats: Vec<String> = (read.formats.most.iter())
            .map(|(format, records)| format!("{} {}", cut(format, 40), thousands(*records)))
            .collect();
        let formats = match formats.len() {
            0 => String::new(),
            _ => format!(" ({})", formats.join(", ")),
        };
        let files = format!(
            "{}, {}, {}{formats}",
            count(read.files, "file", "files"),
            bytes(read.bytes),
            count(read.records, "record", "records"),
        );
        let span = read.first.zip(read.last).map(|(first, last)| {
            format!(
                "{} to {} UTC, {}, {}",
                date::to_the_minute(first.0),
                date::to_the_minute(last.0),
                conversations(calls.sessions),
                count(self.view.models.len() as u64, "model", "models"),
            )
        });
        let counts = &calls.counts;
        let verdicts = [
            (counts.valid, "valid", true),
            (counts.repaired, "repaired", true),
            (counts.refused, "refused", true),
            (counts.tool_errors, "answered with an error", false),
            (calls.undeclared, "not judged", false),
        ];
        let verdicts: Vec<String> = (verdicts.iter())
            .filter(|(number, _, always)| *always || *number > 0)
            .map(|(number, what, _)| format!("{} {what}", thousands(*number)))
            .collect();
        let has_calls = counts.calls > 0;
        self.hanging("read   ", &files);
        if let Some(span) = span {
            self.hanging("       ", &span);
        }
        if has_calls {
            self.hanging("calls  ", &verdicts.join(", "));
        }
    }

    fn tools(&mut self) {
        let mut tools = std::mem::take(&mut self.view.tools);
        tools.retain(|tool| tool.counts.violations > 0);
        // The first has the most.
        let Some(most) = tools.first().map(|tool| tool.counts.violations) else {
            return;
        };
        let shown = || tools.iter().take(TOOLS);
        let names: Vec<String> = shown().map(|tool| cut(tool.name, WIDEST_TOOL)).collect();
        let column = names.iter().map(|name| width(name)).max().unwrap_or(0);
        self.heading("Tools whose calls break their schema most often");
        for (name, tool) in names.iter().zip(shown()) {
            let (broken, calls) = (tool.counts.violations, tool.counts.calls);
            self.line(format!(
                "  {}  {}  {}  {} of {}",
                left(name, column),
                right(&percent(broken, calls), 6),
                bar(share(broken, most)),
                thousands(broken),
                thousands(calls)
            ));
        }
        self.more(tools.len(), TOOLS, "tool", "tools");
    }

    fn clusters(&mut self) {
        let clusters = std::mem::take(&mut self.view.clusters);
        if clusters.is_empty() {
            return;
        }
        self.heading("What is wrong, the most frequent first");
        for cluster in clusters.iter().take(CLUSTERS) {
            let kind = cluster.kind();
            let word = self.styles.kind(kind, &left(phrase::kind(kind), 9));
            let start = format!(
                "{}  {word}  {}  ",
                right(&cluster.number.to_string(), 4),
                right(&thousands(cluster.calls), 9)
            );
            let described = described(cluster);
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
        let lines: Vec<[String; 3]> = (self.view.proposals.iter())
            .map(|proposal| {
                let number = right(&proposal.number.to_string(), 4);
                let title = format!("{}: {}", proposal.tool, proposal.title);
                [number, title, effect(proposal)]
            })
            .collect();
        if lines.is_empty() {
            return;
        }
        self.heading("Proposed changes");
        let room = self.width.saturating_sub(6);
        for [number, title, effect] in lines.iter().take(PROPOSALS) {
            self.line(format!("{number}  {}", cut(title, room)));
            for line in wrap(effect, room) {
                self.line(format!("      {}", self.styles.faint(&line)));
            }
        }
        self.more(lines.len(), PROPOSALS, "change", "changes");
        let advice = self.view.advice.len() as u64;
        if advice > 0 {
            let advice = count(
                advice,
                "piece of advice in the report",
                "pieces of advice in the report",
            );
            self.line(self.styles.faint(&format!("      {advice}")));
        }
    }

    fn loops(&mut self) {
        let calls = self.view.calls.counts.stopped;
        if self.view.loops.is_empty() || calls == 0 {
            return;
        }
        let sum = |part: fn(&LoopView<'_>) -> u64| {
            let parts = self.view.loops.iter().map(part);
            parts.fold(0, u64::saturating_add)
        };
        let sentence = format!(
            "the guard would have stopped {}, which cost {} of tool time and {} of results",
            count(calls, "call", "calls"),
            duration(sum(|it| it.latency_us)),
            bytes(sum(|it| it.result_bytes))
        );
        self.heading("Loops and limits");
        self.hanging("  ", &sentence);
    }

    fn worth_knowing(&mut self) {
        let troubles = std::mem::take(&mut self.view.read.troubles);
        let notes = std::mem::take(&mut self.view.read.notes);
        if troubles.is_empty() && notes.is_empty() {
            return;
        }
        self.heading("Worth knowing");
        for trouble in troubles.iter().take(TROUBLES) {
            let records = count(trouble.records, "record", "records");
            let what = cut(trouble.what, notes::LONGEST);
            let place = match trouble.places.first().map(TroublePlace::shown) {
                Some(first) if trouble.records == 1 => format!(", at {first}"),
                Some(first) => format!(", first at {first}"),
                None => String::new(),
            };
            self.hanging("  ", &format!("{records} not read: {what}{place}"));
        }
        let (one, many) = ("kind of trouble", "kinds of trouble");
        self.more(troubles.len(), TROUBLES, one, many);
        for note in notes {
            self.hanging("  ", note.trim_end_matches('.'));
        }
    }

    fn next(&mut self) {
        self.heading("Next");
        if self.view.calls.counts.calls == 0 {
            return self.hanging("  ", NO_CALLS);
        }
        for NextStep { what, commands } in next::steps(&self.view) {
            self.hanging("  ", &what);
            for command in commands {
                self.command(&command);
            }
        }
    }

    /// A command in as many lines as it needs; a shell reads them as one. An option stays with its value.
    fn command(&mut self, command: &str) {
        // Six blanks before it, and two columns for the sign that it goes on.
        let room = self.width.saturating_sub(6 + 2);
        let mut lines: Vec<String> = Vec::new();
        for part in command.split(" --") {
            match lines.last_mut() {
                None => lines.push(part.to_owned()),
                Some(line) if width(line) + 3 + width(part) <= room => {
                    line.push_str(" --");
                    line.push_str(part);
                }
                Some(_) => lines.push(format!("--{part}")),
            }
        }
        self.line(format!("    {}", lines.join(" \\\n      ")));
    }
}

/// The verdicts of both judges, and what the stricter one objects to.
fn changed(change: &ChangeView<'_>) -> [String; 2] {
    let key = change.key;
    let verdicts = format!(
        "{}{}: {} → {}, {}",
        key.tool,
        of_result(key.side),
        key.from,
        key.to,
        count(change.calls, "call", "calls")
    );
    let example = change.examples.first().map_or_else(String::new, |example| {
        let value = match example.value {
            "" => String::new(),
            value => format!(": {}", cut(value, LONGEST_VALUE)),
        };
        format!("{value} ({})", example.place)
    });
    let path = match key.path.as_str() {
        "" => String::new(),
        path => format!("{path} "),
    };
    [
        verdicts,
        format!("{path}{}{example}", phrase::objection(&key.issue)),
    ]
}

/// The tool, the place and what is wrong there.
fn described(cluster: &ClusterView<'_>) -> String {
    let key = cluster.key;
    let unless_empty = |text: &str, shown: String| {
        if text.is_empty() {
            String::new()
        } else {
            shown
        }
    };
    format!(
        "{}{}{}: {}{}",
        key.tool,
        of_result(key.side),
        unless_empty(&key.path, format!(" {}", key.path)),
        phrase::issue(&key.issue),
        unless_empty(&key.shape, format!(" ({})", key.shape)),
    )
}

fn of_result(side: Side) -> &'static str {
    match side {
        Side::Input => "",
        Side::Output => " result",
    }
}

/// What a change does, in one line or two.
fn effect(proposal: &ProposalView<'_>) -> String {
    let bugs = match proposal.accepts_bugs {
        0 => "none that looks like a bug".to_owned(),
        1 => "1 that looks like a bug".to_owned(),
        bugs => format!("{} that look like bugs", thousands(bugs)),
    };
    let proof = match proposal.proved {
        true => "proved to loosen only".to_owned(),
        false => format!("not proved: {}", cut(proposal.proof, 60)),
    };
    let kind = match proposal.kind {
        Kind::EdgeCase => "",
        Kind::Unclear => "; unclear whether it should",
        Kind::Bug => "; looks like a bug",
    };
    let allows = count(proposal.accepts, "call", "calls");
    format!("allows {allows}, {bugs}; {proof}{kind}")
}

/// A part of a bar, in eighths of a column.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "between zero and 128"
)]
fn bar(part: f64) -> String {
    const EIGHTHS: [&str; 8] = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"];
    // Something is never nothing.
    let least = usize::from(part > 0.0);
    let eighths = ((part * BAR * 8.0).round() as usize).max(least);
    let bar = format!("{}{}", "█".repeat(eighths / 8), EIGHTHS[eighths % 8]);
    left(&bar, BAR as usize)
}
