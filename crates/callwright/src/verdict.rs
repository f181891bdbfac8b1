//! What the gate says about a call, and the line that other programs read.

use std::fmt;

use serde::Serialize;

use crate::call::Call;
use crate::classify::{Failure, Refused};
use crate::feedback::{Feedback, ToldIssue};
use crate::json::{Value, write_json_string};
use crate::validate::Valid;

/// The gate's answer to a call.
#[derive(Debug)]
#[must_use]
#[non_exhaustive]
pub enum Verdict<'c> {
    /// The arguments go to the tool exactly as they were sent.
    Valid(Valid<'c>),
    /// The call must not run; the failure says why and what to do next.
    Refused(Box<Refused<'c>>),
}

impl<'c> Verdict<'c> {
    /// `valid` or `refused`.
    pub fn name(&self) -> &'static str {
        match self {
            Verdict::Valid(_) => "valid",
            Verdict::Refused(_) => "refused",
        }
    }

    /// Why the call was refused, if it was.
    pub fn failure(&self) -> Option<&Failure> {
        match self {
            Verdict::Valid(_) => None,
            Verdict::Refused(refused) => Some(&refused.failure),
        }
    }

    /// The arguments that go to the tool; of a refused call what the model sent, if it could be read.
    pub fn arguments(&self) -> Option<&Value<'c>> {
        match self {
            Verdict::Valid(valid) => Some(valid.arguments()),
            Verdict::Refused(refused) => refused.arguments.as_deref(),
        }
    }

    /// The verdict as a line of JSON Lines.
    pub fn line<'v>(&'v self, call: &'v Call<'_>, feedback: &'v Feedback) -> VerdictLine<'v> {
        VerdictLine {
            id: call.id.as_ref(),
            tool: &call.tool,
            verdict: self.name(),
            arguments: self.arguments(),
            failure: self.failure(),
            feedback,
        }
    }
}

/// A verdict as other programs read it: one line of JSON.
#[derive(Debug)]
pub struct VerdictLine<'v> {
    id: Option<&'v Value<'v>>,
    tool: &'v str,
    verdict: &'static str,
    arguments: Option<&'v Value<'v>>,
    failure: Option<&'v Failure>,
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
        if let Some(arguments) = self.arguments {
            out.push_str(",\"arguments\":");
            arguments.write_json(out);
        }
        out.push_str(",\"edits\":[]");
        if let Some(failure) = self.failure {
            out.push_str(",\"failure\":");
            let told = serde_json::to_string(&ToldFailure::new(failure, self.feedback));
            // Texts and lists of texts always serialise.
            out.push_str(&told.unwrap_or_else(|_| "null".to_owned()));
            out.push_str(",\"feedback\":");
            write_json_string(&self.feedback.render(failure), out);
        }
        out.push('}');
    }
}

impl fmt::Display for VerdictLine<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut line = String::new();
        self.write(&mut line);
        f.write_str(&line)
    }
}

#[derive(Serialize)]
struct ToldFailure<'v> {
    class: &'static str,
    code: &'static str,
    next: &'static str,
    detail: String,
    hint: String,
    issues: Vec<ToldIssue<'v>>,
}

impl<'v> ToldFailure<'v> {
    fn new(failure: &'v Failure, feedback: &Feedback) -> Self {
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
