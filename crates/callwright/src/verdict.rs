//! What the gate says about a call, and the line that other programs read.

use serde::Serialize;
use serde::ser::{SerializeMap, Serializer};

use crate::call::Call;
use crate::classify::{Failure, Refused};
use crate::feedback::{Feedback, ToldIssue};
use crate::json::Value;
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

    /// The verdict as a line of JSON Lines: serialise it with `serde_json`.
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

/// A verdict as other programs read it.
#[derive(Debug)]
pub struct VerdictLine<'v> {
    id: Option<&'v Value<'v>>,
    tool: &'v str,
    verdict: &'static str,
    arguments: Option<&'v Value<'v>>,
    failure: Option<&'v Failure>,
    feedback: &'v Feedback,
}

impl Serialize for VerdictLine<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut line = serializer.serialize_map(None)?;
        if let Some(id) = self.id {
            line.serialize_entry("id", id)?;
        }
        line.serialize_entry("tool", self.tool)?;
        line.serialize_entry("verdict", self.verdict)?;
        if let Some(arguments) = self.arguments {
            line.serialize_entry("arguments", arguments)?;
        }
        line.serialize_entry("edits", &[(); 0])?;
        if let Some(failure) = self.failure {
            line.serialize_entry("failure", &ToldFailure::new(failure, self.feedback))?;
            line.serialize_entry("feedback", &self.feedback.render(failure))?;
        }
        line.end()
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
