//! Verdicts for people: one row per call, followed by what is wrong if it was refused.
//!
//! On a terminal the table has a header and colours; in a pipe the same text is plain. Rows are written as they
//! arrive, so the tool column is as wide as the longest declared tool name, not the longest one called. Every line is
//! escaped, wherever its text comes from.

use std::fmt::Write as _;

use anstream::stream::RawStream;
use anstream::{AutoStream, ColorChoice};
use anstyle::{AnsiColor, Style};
use callwright::check::OutputVerdict;
use callwright::failure::{Cause, Class, Code, Next};
use callwright::feedback::Feedback;
use callwright::repair::Trial;
use callwright::{Gate, Settled, Verdict};
use unicode_width::UnicodeWidthStr;

use crate::input::printable;

/// The widest tool column; a longer name pushes its own row to the right.
const WIDEST_TOOL: usize = 32;

/// The indentation of lines under a row: aligned with the verdict.
const INDENT: &str = "        ";

pub(super) struct Table {
    tool_width: usize,
    on_terminal: bool,
    coloured: bool,
    /// Show the feedback exactly as the model gets it.
    verbatim: bool,
}

impl Table {
    pub(super) fn new(gate: &Gate, stdout: &impl RawStream, verbatim: bool) -> Self {
        let widths = gate.tools().map(|tool| printable(tool.name()).width());
        Table {
            tool_width: widths.max().unwrap_or(0).clamp(4, WIDEST_TOOL),
            on_terminal: stdout.is_terminal(),
            coloured: AutoStream::choice(stdout) != ColorChoice::Never,
            verbatim,
        }
    }

    pub(super) fn header(&self) -> String {
        if !self.on_terminal {
            return String::new();
        }
        let bold = if self.coloured {
            Style::new().bold()
        } else {
            Style::new()
        };
        let tool = pad("TOOL", self.tool_width);
        format!("{bold}  LINE  VERDICT   {tool}  WHY{bold:#}\n")
    }

    pub(super) fn row(
        &self,
        number: u64,
        name: &str,
        settled: &Settled<'_>,
        feedback: &Feedback,
        out: &mut String,
    ) {
        let verdict = &settled.verdict;
        let name = printable(name);
        let tool = pad(&name, self.tool_width);
        let colour = self.style(match verdict {
            Verdict::Refused(_) => AnsiColor::Red,
            Verdict::Repaired(_) => AnsiColor::Yellow,
            Verdict::Valid(valid) if valid.is_unjudged() => AnsiColor::Yellow,
            Verdict::Valid(_) => AnsiColor::Green,
        });
        let word = pad(verdict.name(), 8);
        let why = verdict.failure().map_or_else(String::new, |failure| {
            let code = failure.code.name();
            match failure.next() {
                // People want to see where the escalation ended.
                next @ (Next::AskUser | Next::Stop) => format!("{code} → {}", next.name()),
                _ => code.to_owned(),
            }
        });
        let row = format!("{number:>6}  {colour}{word}{colour:#}  {tool}  {why}");
        // Writing to a string cannot fail.
        let _ = writeln!(out, "{}", row.trim_end());
        for line in self.explanation(verdict, feedback) {
            below(out, &line);
        }
        for note in settled.result.iter().flat_map(|result| &result.notes) {
            below(out, &format!("note: {note}"));
        }
        if let Some(result) = &settled.result
            && let Some(failure) = &result.failure
        {
            let word = match result.verdict {
                OutputVerdict::Warned => "result (warning)",
                _ => "result",
            };
            let code = failure.code_name();
            let (detail, hint) = (feedback.detail(failure), feedback.hint(failure));
            below(out, &format!("{word}: {code}: {detail} {hint}"));
        }
        if let Some(notice) = settled.notice() {
            below(out, &format!("notice: {}", feedback.notice(notice)));
        }
    }

    /// A message that contains no call.
    pub(super) fn no_call_row(&self, number: u64, reason: &str, words: &str, out: &mut String) {
        let tool = pad("", self.tool_width);
        // Writing to a string cannot fail.
        let _ = writeln!(out, "{number:>6}  no call   {tool}  {reason}");
        below(out, words);
    }

    /// Every repair that was tried or, for a refused call without any, why none was.
    pub(super) fn trials(
        trials: &[Trial],
        verdict: &Verdict<'_>,
        feedback: &Feedback,
        out: &mut String,
    ) {
        if let (Some(failure), []) = (verdict.failure(), trials) {
            let why = match (failure.class(), failure.code) {
                (_, Code::TruncatedCall) => "a truncated call is never completed",
                (_, Code::UnknownTool) => "no tool has a similar name",
                (Class::Validation, _) => "no rule applies",
                _ => "the arguments are not the cause",
            };
            below(out, &format!("  no repair was tried: {why}"));
        }
        for trial in trials {
            let Trial {
                edit, cost, helps, ..
            } = trial;
            let mark = if *helps { "helps" } else { "does not help" };
            let grade = edit.grade.name();
            let what = feedback.edit_line(edit);
            let rule = &edit.rule;
            below(
                out,
                &format!("  tried {rule} ({grade}, cost {cost}): {what}: {mark}"),
            );
        }
    }

    fn explanation(&self, verdict: &Verdict<'_>, feedback: &Feedback) -> Vec<String> {
        let Some(failure) = verdict.failure() else {
            return verdict
                .edits()
                .iter()
                .map(|edit| feedback.edit_line(edit))
                .collect();
        };
        if self.verbatim {
            let text = feedback.render(failure);
            return text.lines().map(str::to_owned).collect();
        }
        match &failure.cause {
            Cause::Arguments(_) => feedback.issue_lines(failure),
            _ => vec![feedback.detail(failure)],
        }
    }

    fn style(&self, colour: AnsiColor) -> Style {
        if self.coloured {
            colour.on_default()
        } else {
            Style::new()
        }
    }
}

/// Writes a line under a row.
fn below(out: &mut String, line: &str) {
    out.push_str(INDENT);
    out.push_str(&printable(line));
    out.push('\n');
}

fn pad(text: &str, width: usize) -> String {
    let missing = width.saturating_sub(text.width());
    format!("{text}{}", " ".repeat(missing))
}
