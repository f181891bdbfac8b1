//! What the gate says about a call, and the line that other programs read.

use std::borrow::Cow;
use std::fmt;

use serde::Serialize;

use crate::admit::{Reason, Ticket};
use crate::call::Call;
use crate::check::{Checked, OutputVerdict};
use crate::classify::{Code, Failure, Notice, Refused};
use crate::feedback::{Feedback, ToldIssue};
use crate::json::{Path, Value, write_json_string};
use crate::repair::Edit;
use crate::rescue::Notation;
use crate::secrecy::Secrecy;
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

    pub(crate) fn edits_mut(&mut self) -> &mut [Edit] {
        &mut self.edits
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
    /// What it made of the result; `None` if the call did not run, or nothing is known of what came of it.
    pub result: Option<Checked<'c>>,
    /// What the model should be told with the result.
    pub notice: Option<Notice>,
    /// Whether the call ran although the ledger could not be reached: see [`Ticket::is_uncounted`].
    pub uncounted: bool,
}

impl Settled<'_> {
    /// What the model should be told beside the result or the refusal.
    pub fn notice(&self) -> Option<&Notice> {
        match &self.verdict {
            Verdict::Refused(refused) => refused.notice.as_ref(),
            _ => self.notice.as_ref(),
        }
    }

    /// Whether the model gets an error: the call was refused, the tool failed, or its result cannot be used.
    pub fn is_error(&self) -> bool {
        match &self.verdict {
            Verdict::Refused(_) => true,
            _ => self.result.as_ref().is_some_and(Checked::is_error),
        }
    }

    /// What is wrong: with the call, or with its result.
    pub fn failure(&self) -> Option<&Failure> {
        let of_call = self.verdict.failure();
        of_call.or_else(|| self.result.as_ref()?.failure.as_deref())
    }

    /// What the model gets: the result, with what it should be told beside it, or what is wrong and what to do.
    pub fn text(&self, feedback: &Feedback) -> Cow<'_, str> {
        if let Verdict::Refused(refused) = &self.verdict {
            return Cow::Owned(feedback.render_with(&refused.failure, refused.notice.as_ref()));
        }
        let Some(checked) = &self.result else {
            return Cow::Borrowed("");
        };
        let receipt = feedback
            .receipts
            .then(|| feedback.receipt(self.verdict.edits()));
        let notice = self.notice.as_ref().map(|notice| feedback.notice(notice));
        if let (Some(told), Some(failure), None) = (&notice, &checked.failure, &checked.output)
            && self
                .notice
                .as_ref()
                .is_some_and(|it| it.reason == Reason::Transient)
        {
            // It says what the usual hint says, and how long to wait. Of a time-out the hint says more.
            let failure = Failure::clone(failure);
            let is_usual = failure.code == Code::Transient && !failure.has_own_hint();
            let failure = if is_usual {
                failure.advised(told)
            } else {
                failure
            };
            return Cow::Owned(feedback.render(&failure));
        }
        let beside: Vec<String> = receipt.flatten().into_iter().chain(notice).collect();
        feedback.result(checked, &beside)
    }

    /// The call and what became of it, as a line of JSON Lines.
    pub fn line<'v>(&'v self, call: &'v Call<'_>, feedback: &'v Feedback) -> VerdictLine<'v> {
        VerdictLine {
            notice: self.notice(),
            result: self.result.as_ref(),
            ..self.verdict.line(call, feedback)
        }
    }
}

impl<'c> From<Verdict<'c>> for Settled<'c> {
    /// A call outside of any conversation.
    fn from(verdict: Verdict<'c>) -> Self {
        Settled {
            verdict,
            result: None,
            notice: None,
            uncounted: false,
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

    /// Whether the call is good as it is, and there is nothing to say about it.
    pub(crate) fn is_plain(&self) -> bool {
        matches!(self, Verdict::Valid(valid) if valid.warning().is_none())
    }

    /// Why the call was refused, if it was.
    pub fn failure(&self) -> Option<&Failure> {
        match self {
            Verdict::Valid(_) | Verdict::Repaired(_) => None,
            Verdict::Refused(refused) => Some(&refused.failure),
        }
    }

    /// What the schema objects to in a call that is let through all the same.
    pub fn warning(&self) -> Option<&Failure> {
        match self {
            Verdict::Valid(valid) => valid.warning(),
            _ => None,
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
pub(crate) fn write_failure(failure: &Failure, feedback: &Feedback, out: &mut String) {
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

/// A failure as it stands in lines of JSON.
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
