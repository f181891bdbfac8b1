//! What the gate says about a call, and the line that other programs read.

use std::fmt;

use serde::Serialize;

use crate::admit::Ticket;
use crate::call::Call;
use crate::classify::{Failure, Notice, Refused};
use crate::feedback::{Feedback, ToldIssue};
use crate::json::{Value, write_json_string};
use crate::repair::Edit;
use crate::rescue::Notation;
use crate::tool::Tool;
use crate::validate::Valid;

/// A call whose arguments the schema accepts after edits.
#[derive(Debug)]
pub struct Repaired<'c> {
    tool: &'c Tool,
    arguments: Value<'static>,
    edits: Vec<Edit>,
}

impl<'c> Repaired<'c> {
    pub(crate) fn new(tool: &'c Tool, arguments: Value<'static>, edits: Vec<Edit>) -> Self {
        Repaired {
            tool,
            arguments,
            edits,
        }
    }

    /// The tool that was called.
    pub fn tool(&self) -> &'c Tool {
        self.tool
    }

    /// The arguments that go to the tool.
    pub fn arguments(&self) -> &Value<'static> {
        &self.arguments
    }

    /// The arguments that go to the tool.
    pub fn into_arguments(self) -> Value<'static> {
        self.arguments
    }

    /// Puts an edit before all others.
    pub(crate) fn record_first(&mut self, edit: Edit) {
        self.edits.insert(0, edit);
    }

    /// What was changed, in order.
    pub fn edits(&self) -> &[Edit] {
        &self.edits
    }
}

/// The gate's answer to a call.
#[derive(Debug)]
#[must_use]
#[non_exhaustive]
pub enum Verdict<'c> {
    /// The arguments go to the tool exactly as they were sent.
    Valid(Valid<'c>),
    /// The arguments were made valid; every edit is on record.
    Repaired(Box<Repaired<'c>>),
    /// The call must not run; the failure says why and what to do next.
    Refused(Box<Refused<'c>>),
}

/// The gate's answer to a call in a conversation.
#[derive(Debug)]
#[must_use]
pub enum Opened<'c> {
    /// The call may run now.
    Admitted(Ticket<'c>),
    /// The call must not run; the failure says why and what to do next.
    Refused(Box<Refused<'c>>),
}

/// What became of a call in the end.
#[derive(Debug)]
#[must_use]
#[non_exhaustive]
pub struct Settled<'c> {
    /// What the gate said about it.
    pub verdict: Verdict<'c>,
    /// What the model should be told with the result.
    pub notice: Option<Notice>,
}

impl Settled<'_> {
    /// What the model should be told beside the result or the refusal.
    pub fn notice(&self) -> Option<&Notice> {
        match &self.verdict {
            Verdict::Refused(refused) => refused.notice.as_ref(),
            _ => self.notice.as_ref(),
        }
    }

    /// The call and what became of it, as a line of JSON Lines.
    pub fn line<'v>(&'v self, call: &'v Call<'_>, feedback: &'v Feedback) -> VerdictLine<'v> {
        VerdictLine {
            notice: self.notice(),
            ..self.verdict.line(call, feedback)
        }
    }
}

impl<'c> From<Verdict<'c>> for Settled<'c> {
    /// A call outside of any conversation.
    fn from(verdict: Verdict<'c>) -> Self {
        Settled {
            verdict,
            notice: None,
        }
    }
}

impl<'c> Verdict<'c> {
    /// `valid`, `repaired` or `refused`.
    pub fn name(&self) -> &'static str {
        match self {
            Verdict::Valid(_) => "valid",
            Verdict::Repaired(_) => "repaired",
            Verdict::Refused(_) => "refused",
        }
    }

    /// Why the call was refused, if it was.
    pub fn failure(&self) -> Option<&Failure> {
        match self {
            Verdict::Valid(_) | Verdict::Repaired(_) => None,
            Verdict::Refused(refused) => Some(&refused.failure),
        }
    }

    /// The arguments that go to the tool; of a refused call what the model sent, if it could be read.
    pub fn arguments(&self) -> Option<&Value<'c>> {
        match self {
            Verdict::Valid(valid) => Some(valid.arguments()),
            Verdict::Repaired(repaired) => Some(repaired.arguments()),
            Verdict::Refused(refused) => refused.arguments.as_deref(),
        }
    }

    /// The edits of a repaired call; empty for any other.
    pub fn edits(&self) -> &[Edit] {
        match self {
            Verdict::Repaired(repaired) => repaired.edits(),
            _ => &[],
        }
    }

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
            notice: match self {
                Verdict::Refused(refused) => refused.notice.as_ref(),
                _ => None,
            },
            feedback,
        }
    }
}

/// A verdict as other programs read it: one line of JSON.
#[derive(Debug)]
pub struct VerdictLine<'v> {
    id: Option<&'v Value<'v>>,
    rescued: Option<Notation>,
    tool: &'v str,
    verdict: &'static str,
    arguments: Option<&'v Value<'v>>,
    edits: &'v [Edit],
    failure: Option<&'v Failure>,
    notice: Option<&'v Notice>,
    feedback: &'v Feedback,
}

impl VerdictLine<'_> {
    /// Appends the line, without a line break.
    pub fn write(&self, out: &mut String) {
        out.push('{');
        if let Some(id) = self.id {
            out.push_str("\"id\":");
            id.write_json(out);
            out.push(',');
        }
        out.push_str("\"tool\":");
        write_json_string(self.tool, out);
        out.push_str(",\"verdict\":\"");
        out.push_str(self.verdict);
        out.push('"');
        if let Some(notation) = self.rescued {
            out.push_str(",\"rescued\":");
            write_json_string(notation.name(), out);
        }
        if let Some(arguments) = self.arguments {
            out.push_str(",\"arguments\":");
            arguments.write_json(out);
        }
        out.push_str(",\"edits\":[");
        for (at, edit) in self.edits.iter().enumerate() {
            if at > 0 {
                out.push(',');
            }
            write_edit(edit, out);
        }
        out.push(']');
        if let Some(failure) = self.failure {
            out.push_str(",\"failure\":");
            let told = serde_json::to_string(&ToldFailure::new(failure, self.feedback));
            // Texts and lists of texts always serialise.
            out.push_str(&told.unwrap_or_else(|_| "null".to_owned()));
            out.push_str(",\"feedback\":");
            write_json_string(&self.feedback.render_with(failure, self.notice), out);
        }
        if let Some(notice) = self.notice {
            out.push_str(",\"notice\":{\"code\":");
            write_json_string(notice.code.name(), out);
            out.push_str(",\"detail\":");
            write_json_string(&self.feedback.notice(notice), out);
            out.push('}');
        }
        out.push('}');
    }
}

pub(crate) fn write_edit(edit: &Edit, out: &mut String) {
    write_edit_as(edit, &edit.before, &edit.after, out);
}

/// An edit with other values in the stead of its own.
pub(crate) fn write_edit_as(edit: &Edit, before: &Value<'_>, after: &Value<'_>, out: &mut String) {
    out.push_str("{\"path\":");
    write_json_string(edit.path.as_pointer(), out);
    out.push_str(",\"rule\":");
    write_json_string(edit.rule, out);
    out.push_str(",\"grade\":");
    write_json_string(edit.grade.name(), out);
    out.push_str(",\"before\":");
    before.write_json(out);
    out.push_str(",\"after\":");
    after.write_json(out);
    out.push('}');
}

impl fmt::Display for VerdictLine<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut line = String::new();
        self.write(&mut line);
        f.write_str(&line)
    }
}

/// A failure as it stands in lines of JSON.
#[derive(Serialize)]
pub(crate) struct ToldFailure<'v> {
    class: &'static str,
    code: &'static str,
    next: &'static str,
    detail: String,
    hint: String,
    issues: Vec<ToldIssue<'v>>,
}

impl<'v> ToldFailure<'v> {
    pub(crate) fn new(failure: &'v Failure, feedback: &Feedback) -> Self {
        ToldFailure {
            class: failure.class().name(),
            code: failure.code.name(),
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
