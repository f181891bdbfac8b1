//! A verdict as other programs read it: one line of JSON.

use std::fmt;

use serde::Serialize;

use crate::call::Call;
use crate::feedback::{Feedback, ToldIssue};
use crate::json::{Path, Value, write_json_string};
use crate::secrecy::Secrecy;
use crate::verdict::{Settled, Verdict};
use crate::words::{Checked, Edit, Failure, Notation, Notice, OutputVerdict};

impl Settled<'_> {
    /// The call and what became of it, as a line of JSON Lines.
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

/// A verdict as other programs read it: one line of JSON. What it says in words holds no secrets; the arguments and the
/// edits do, because a program needs them, unless they are [masked](VerdictLine::masked).
#[derive(Debug)]
#[must_use]
pub struct VerdictLine<'v> {
    id: Option<&'v Value<'v>>,
    rescued: Option<Notation>,
    tool: &'v str,
    verdict: &'static str,
    arguments: Option<&'v Value<'v>>,
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
        out.push_str(",\"verdict\":\"");
        out.push_str(self.verdict);
        out.push('"');
        if let Some(notation) = self.rescued {
            out.push_str(",\"rescued\":");
            write_json_string(notation.name(), out);
        }
        if let Some(arguments) = self.arguments {
            out.push_str(",\"arguments\":");
            match &self.secrecy {
                Some(secrecy) => secrecy.value(arguments, &Path::root()).write_json(out),
                None => arguments.write_json(out),
            }
        }
        out.push_str(",\"edits\":[");
        for (at, edit) in self.edits.iter().enumerate() {
            if at > 0 {
                out.push(',');
            }
            match &self.secrecy {
                Some(_) => write_edit(edit.shown(), out),
                None => write_edit(edit, out),
            }
        }
        out.push(']');
        if let Some(failure) = self.failure {
            out.push_str(",\"failure\":");
            write_failure(failure, self.feedback, out);
            out.push_str(",\"feedback\":");
            write_json_string(&self.feedback.render_with(failure, self.notice), out);
        }
        if let Some(warning) = self.warning {
            out.push_str(",\"warning\":");
            write_failure(warning, self.feedback, out);
        }
        if let Some(notice) = self.notice {
            out.push_str(",\"notice\":{\"code\":");
            write_json_string(notice.code.name(), out);
            out.push_str(",\"detail\":");
            write_json_string(&self.feedback.notice(notice), out);
            out.push('}');
        }
        if let Some(result) = self.result {
            self.write_result(result, out);
        }
        out.push('}');
    }

    /// What became of the result, and why.
    fn write_result(&self, result: &Checked<'_>, out: &mut String) {
        let (verdict, key) = match result.verdict {
            OutputVerdict::Passed => ("ok", ""),
            OutputVerdict::Warned => ("ok", "output_warning"),
            _ => ("refused", "output_failure"),
        };
        out.push_str(",\"output_verdict\":\"");
        out.push_str(verdict);
        out.push('"');
        if !result.notes.is_empty() {
            let notes = serde_json::to_string(&result.notes);
            out.push_str(",\"output_notes\":");
            // Texts always serialise.
            out.push_str(&notes.unwrap_or_else(|_| "[]".to_owned()));
        }
        let Some(failure) = &result.failure else {
            return;
        };
        out.push_str(",\"");
        out.push_str(key);
        out.push_str("\":");
        write_failure(failure, self.feedback, out);
        if result.verdict != OutputVerdict::Warned {
            out.push_str(",\"output_feedback\":");
            write_json_string(&self.feedback.render(failure), out);
        }
    }
}

/// A failure as other programs read it.
fn write_failure(failure: &Failure, feedback: &Feedback, out: &mut String) {
    let told = serde_json::to_string(&ToldFailure::new(failure, feedback));
    // Texts and lists of texts always serialise.
    out.push_str(&told.unwrap_or_else(|_| "null".to_owned()));
}

pub(crate) fn write_edit(edit: &Edit, out: &mut String) {
    out.push_str("{\"path\":");
    write_json_string(edit.path.as_pointer(), out);
    out.push_str(",\"rule\":");
    write_json_string(edit.rule, out);
    out.push_str(",\"grade\":");
    write_json_string(edit.grade.name(), out);
    out.push_str(",\"before\":");
    edit.before.write_json(out);
    out.push_str(",\"after\":");
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
