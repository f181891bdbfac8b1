//! A verdict for other programs: one line of JSON.

use std::borrow::Borrow;
use std::fmt;

use serde::Serialize;

use crate::call::{Arguments, Call};
use crate::feedback::{Feedback, ToldIssue};
use crate::json::{ObjectWriter, Path, Value, write_json_string, write_list};
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

impl<'v> VerdictLine<'v> {
    /// The same without values that the tool's schema marks as secrets.
    pub fn masked(mut self, secrecy: Secrecy) -> Self {
        self.secrecy = (!secrecy.hides_nothing()).then_some(secrecy);
        self
    }

    /// Appends the line, without a line break.
    pub fn write(&self, out: &mut String) {
        let mut line = ObjectWriter::new(out);
        line.optional("id", self.id, Value::write_json);
        let tool = match &self.secrecy {
            Some(secrecy) if self.failure.is_some_and(Failure::is_of_no_tool) => {
                &secrecy.name(self.tool)
            }
            _ => self.tool,
        };
        line.text("tool", tool);
        line.text("verdict", self.verdict);
        let rescued = self.rescued.map(Notation::name);
        line.optional("rescued", rescued, write_json_string);
        line.optional("arguments", self.arguments, |arguments, out| {
            match (&self.secrecy, self.sent) {
                (Some(secrecy), _) => secrecy.value(arguments, &Path::root()).write_json(out),
                (None, Some(sent)) => out.push_str(sent),
                (None, None) => arguments.write_json(out),
            }
        });
        let is_masked = self.secrecy.is_some();
        let shown = |edit: &'v Edit| if is_masked { edit.shown() } else { edit };
        line.member("edits", self.edits.iter().map(shown), write_edits);
        if let Some(failure) = self.failure {
            self.write_failure("failure", failure, &mut line);
            let feedback = self.feedback.render_with(failure, self.notice);
            line.text("feedback", &feedback);
        }
        if let Some(warning) = self.warning {
            self.write_failure("warning", warning, &mut line);
        }
        line.optional("notice", self.notice, |notice, out| {
            write_notice(notice, self.feedback, out);
        });
        if let Some(result) = self.result {
            self.write_result(result, &mut line);
        }
        line.end();
    }

    /// The verdict on the result, and its reason.
    fn write_result(&self, result: &Checked<'_>, line: &mut ObjectWriter<'_>) {
        let (verdict, key) = match result.verdict {
            OutputVerdict::Passed => ("ok", ""),
            OutputVerdict::Warned => ("ok", "output_warning"),
            _ => ("refused", "output_failure"),
        };
        line.text("output_verdict", verdict);
        if !result.notes.is_empty() {
            line.member("output_notes", &result.notes, write_serialized);
        }
        let Some(failure) = &result.failure else {
            return;
        };
        self.write_failure(key, failure, line);
        if result.verdict != OutputVerdict::Warned {
            let feedback = self.feedback.render(failure);
            line.text("output_feedback", &feedback);
        }
    }

    fn write_failure(&self, key: &str, failure: &Failure, line: &mut ObjectWriter<'_>) {
        line.member(
            key,
            &ToldFailure::new(failure, self.feedback),
            write_serialized,
        );
    }
}

/// The text of a valid object, if it is on one line: then it need not be serialised again. (`null` means `{}`.)
fn as_part_of_a_line(text: &str) -> Option<&str> {
    let text = text.trim_ascii();
    let is_one_line = !text.bytes().any(|byte| byte < b' ');
    (text.starts_with('{') && is_one_line).then_some(text)
}

fn write_serialized(value: &impl Serialize, out: &mut String) {
    // Texts and lists of texts always serialise.
    out.push_str(&serde_json::to_string(value).unwrap_or_else(|_| "null".to_owned()));
}

pub(crate) fn write_edits<E: Borrow<Edit>>(edits: impl IntoIterator<Item = E>, out: &mut String) {
    write_list(edits, out, |edit, out| {
        let edit = edit.borrow();
        let mut object = ObjectWriter::new(out);
        object.text("path", edit.path.as_pointer());
        object.text("rule", edit.rule);
        object.text("grade", edit.grade.name());
        object.member("before", &edit.before, Value::write_json);
        object.member("after", &edit.after, Value::write_json);
        object.end();
    });
}

pub(crate) fn write_notice(notice: &Notice, feedback: &Feedback, out: &mut String) {
    let mut object = ObjectWriter::new(out);
    object.text("code", notice.code.name());
    object.text("detail", &feedback.notice(notice));
    object.end();
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
