//! A verdict for other programs: one line of JSON.

use std::fmt;

use serde::Serialize;

use crate::call::{Arguments, Call};
use crate::feedback::{Feedback, ToldIssue};
use crate::json::{Path, Value, write_json_string};
use crate::secrecy::Secrecy;
use crate::verdict::{Settled, Verdict};
use crate::vocabulary::{Checked, Edit, Failure, Notation, Notice, OutputVerdict};

impl Settled<'_> {
    /// The call and its outcome as a line of JSON Lines.
    pub fn line<'v>(&'v self, call: &'v Call<'_>, feedback: &'v Feedback) -> VerdictLine<'v> {
        VerdictLine {
            notice: self.notice(),
            result: self.result.as_ref(),
            ..self.verdict.line(call, feedback)
        }
    }
}

impl Verdict<'_> {
    /// The verdict as a line of JSON Lines.
    pub fn line<'v>(&'v self, call: &'v Call<'_>, feedback: &'v Feedback) -> VerdictLine<'v> {
        VerdictLine {
            id: call.id.as_ref(),
            rescued: call.rescued,
            tool: match self {
                Verdict::Repaired(repaired) => repaired.tool().name(),
                _ => &call.tool,
            },
            verdict: self.name(),
            arguments: self.arguments(),
            sent: match (self, &call.arguments) {
                (Verdict::Valid(_), Arguments::Text(text)) => as_part_of_a_line(text),
                _ => None,
            },
            edits: self.edits(),
            failure: self.failure(),
            warning: self.warning(),
            notice: match self {
                Verdict::Refused(refused) => refused.notice.as_ref(),
                _ => None,
            },
            result: None,
            feedback,
            secrecy: None,
        }
    }
}

/// A verdict for other programs: one line of JSON. Its sentences contain no secrets; the arguments and the edits may, because a
/// program needs them, unless they are [masked](VerdictLine::masked).
#[derive(Debug)]
#[must_use]
pub struct VerdictLine<'v> {
    id: Option<&'v Value<'v>>,
    rescued: Option<Notation>,
    tool: &'v str,
    verdict: &'static str,
    arguments: Option<&'v Value<'v>>,
    /// The text of valid arguments, if it can be copied as sent.
    sent: Option<&'v str>,
    edits: &'v [Edit],
    failure: Option<&'v Failure>,
    warning: Option<&'v Failure>,
    notice: Option<&'v Notice>,
    result: Option<&'v Checked<'v>>,
    feedback: &'v Feedback,
    secrecy: Option<Secrecy>,
}

impl VerdictLine<'_> {
    /// The same without values that the tool's schema marks as secrets.
    pub fn masked(mut self, secrecy: Secrecy) -> Self {
        self.secrecy = (!secrecy.hides_nothing()).then_some(secrecy);
        self
    }

    /// Appends the line, without a line break.
    pub fn write(&self, out: &mut String) {
        out.push('{');
        if let Some(id) = self.id {
            out.push_str("\"id\":");
            id.write_json(out);
            out.push(',');
        }
        out.push_str("\"tool\":");
        match &self.secrecy {
            Some(secrecy) if self.failure.is_some_and(Failure::is_of_no_tool) => {
                write_json_string(&secrecy.name(self.tool), out);
            }
            _ => write_json_string(self.tool, out),
        }
        write_text("verdict", self.verdict, out);
        if let Some(notation) = self.rescued {
            write_text("rescued", notation.name(), out);
        }
        if let Some(arguments) = self.arguments {
            write_key("arguments", out);
            match (&self.secrecy, self.sent) {
                (Some(secrecy), _) => secrecy.value(arguments, &Path::root()).write_json(out),
                (None, Some(sent)) => out.push_str(sent),
                (None, None) => arguments.write_json(out),
            }
        }
        write_key("edits", out);
        out.push('[');
        for (at, edit) in self.edits.iter().enumerate() {
            if at > 0 {
                out.push(',');
            }
            write_edit(
                if self.secrecy.is_some() {
                    edit.shown()
                } else {
                    edit
                },
                out,
            );
        }
        out.push(']');
        if let Some(failure) = self.failure {
            self.write_failure("failure", failure, out);
            write_text(
                "feedback",
                &self.feedback.render_with(failure, self.notice),
                out,
            );
        }
        if let Some(warning) = self.warning {
            self.write_failure("warning", warning, out);
        }
        if let Some(notice) = self.notice {
            out.push_str(",\"notice\":{\"code\":");
            write_json_string(notice.code.name(), out);
            write_text("detail", &self.feedback.notice(notice), out);
            out.push('}');
        }
        if let Some(result) = self.result {
            self.write_result(result, out);
        }
        out.push('}');
    }

    /// The verdict on the result, and its reason.
    fn write_result(&self, result: &Checked<'_>, out: &mut String) {
        let (verdict, key) = match result.verdict {
            OutputVerdict::Passed => ("ok", ""),
            OutputVerdict::Warned => ("ok", "output_warning"),
            _ => ("refused", "output_failure"),
        };
        write_text("output_verdict", verdict, out);
        if !result.notes.is_empty() {
            write_serialized("output_notes", &result.notes, out);
        }
        let Some(failure) = &result.failure else {
            return;
        };
        self.write_failure(key, failure, out);
        if result.verdict != OutputVerdict::Warned {
            write_text("output_feedback", &self.feedback.render(failure), out);
        }
    }

    fn write_failure(&self, key: &str, failure: &Failure, out: &mut String) {
        write_serialized(key, &ToldFailure::new(failure, self.feedback), out);
    }
}

/// The text of a valid object, if it is on one line: then it need not be serialised again. (`null` means `{}`.)
fn as_part_of_a_line(text: &str) -> Option<&str> {
    let text = text.trim_ascii();
    let is_one_line = !text.bytes().any(|byte| byte < b' ');
    (text.starts_with('{') && is_one_line).then_some(text)
}

/// Writes the key of a member that is not the first.
fn write_key(key: &str, out: &mut String) {
    out.push_str(",\"");
    out.push_str(key);
    out.push_str("\":");
}

fn write_text(key: &str, text: &str, out: &mut String) {
    write_key(key, out);
    write_json_string(text, out);
}

fn write_serialized(key: &str, value: &impl Serialize, out: &mut String) {
    write_key(key, out);
    // Texts and lists of texts always serialise.
    out.push_str(&serde_json::to_string(value).unwrap_or_else(|_| "null".to_owned()));
}

pub(crate) fn write_edit(edit: &Edit, out: &mut String) {
    out.push_str("{\"path\":");
    write_json_string(edit.path.as_pointer(), out);
    write_text("rule", edit.rule, out);
    write_text("grade", edit.grade.name(), out);
    write_key("before", out);
    edit.before.write_json(out);
    write_key("after", out);
    edit.after.write_json(out);
    out.push('}');
}

impl fmt::Display for VerdictLine<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut line = String::new();
        self.write(&mut line);
        f.write_str(&line)
    }
}

/// A failure in a line of JSON.
#[derive(Serialize)]
pub(crate) struct ToldFailure<'v> {
    class: &'static str,
    code: &'v str,
    next: &'static str,
    detail: String,
    hint: String,
    issues: Vec<ToldIssue<'v>>,
}

impl<'v> ToldFailure<'v> {
    pub(crate) fn new(failure: &'v Failure, feedback: &Feedback) -> Self {
        ToldFailure {
            class: failure.class().name(),
            code: failure.code_name(),
            next: failure.next().name(),
            detail: feedback.detail(failure),
            hint: feedback.hint(failure),
            issues: failure
                .issues()
                .iter()
                .map(|issue| feedback.issue(issue))
                .collect(),
        }
    }
}
