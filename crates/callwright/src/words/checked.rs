//! A result that was judged: what the tool answered, and what is wrong with it.

use std::sync::OnceLock;

use super::failure::{Cause, Failure};
use super::identity::Outcome;
use super::output::Output;
use super::output_fault::OutputFault;

/// A result that was judged.
#[derive(Debug)]
#[must_use]
#[non_exhaustive]
pub struct Checked<'o> {
    /// What became of it.
    pub verdict: OutputVerdict,
    /// What the tool answered, whatever became of it; `None` if it failed without an answer.
    pub output: Option<Output<'o>>,
    /// What is wrong with it, or why the tool failed.
    pub failure: Option<Box<Failure>>,
    /// How many bytes of it the model gets, if not all.
    pub shown: Option<usize>,
    /// What the operator should know and the model should not: checks that came to no answer.
    pub notes: Vec<String>,
    /// What admission remembers of it, computed on demand.
    pub(crate) outcome: OnceLock<Outcome>,
}

/// What became of a result.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum OutputVerdict {
    /// The model gets it as it is.
    Passed,
    /// The model gets it as it is; there is an objection, and the policy only wants to hear of it.
    Warned,
    /// The model gets it, and how to go on.
    Partial,
    /// The model does not get it, and is told why.
    Refused,
    /// The tool failed.
    Failed,
}

impl OutputVerdict {
    /// The word in verdict lines and events: `ok` if the model gets the result as it is.
    pub fn name(self) -> &'static str {
        match self {
            OutputVerdict::Passed | OutputVerdict::Warned => "ok",
            _ => "refused",
        }
    }

    /// Whether this goes to the model as an error.
    pub fn is_error(self) -> bool {
        matches!(self, OutputVerdict::Refused | OutputVerdict::Failed)
    }
}

impl Checked<'_> {
    /// Whether this goes to the model as an error.
    pub fn is_error(&self) -> bool {
        self.verdict.is_error()
    }

    /// How many bytes the output has, if the model gets only a part of it and the failure is about something else.
    pub(crate) fn cut_unsaid(&self) -> Option<usize> {
        self.shown?;
        let cause = self.failure.as_deref().map(|failure| &failure.cause);
        let is_said = matches!(cause, Some(Cause::Output(fault)) if matches!(**fault, OutputFault::TooLong { .. }));
        let output = self.output.as_ref().filter(|_| !is_said)?;
        Some(output.text().len())
    }
}
