//! The reason why a call was refused or failed, as data. [`crate::feedback`] makes sentences from it.

use std::sync::Arc;

use super::code::{Class, Code, Next};
use super::edit::{Edit, Grade};
use super::issue::{Correction, Issue};
use super::json::{Path, Problem, Value};
use super::objection::Objection;
use super::output_fault::OutputFault;
use super::text::is_invisible;
use super::tool_failure::ToolFailure;

/// Why a call was refused or failed, and what to do next.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Failure {
    /// A code of the table.
    pub code: Code,
    /// The exact cause.
    pub cause: Cause,
    /// What to do next, if that differs from the table.
    pub(crate) escalated: Option<Next>,
    /// The advice, if that differs from the table.
    pub(crate) advice: Option<Arc<[String]>>,
    /// The arguments as a bolder repair would send them: JSON.
    pub(crate) example: Option<String>,
}

/// The exact cause of a failure.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Cause {
    /// The schema objects.
    Arguments(Vec<Issue>),
    /// The text is not JSON.
    Syntax {
        /// Counted from one.
        line: usize,
        /// Counted from one, in characters.
        column: usize,
        /// The closest place in the value.
        path: Path,
        /// What is wrong there.
        problem: Problem,
        /// The text at that place: its beginning, escaped. Absent if the tool takes secrets.
        found: Option<String>,
        /// Whether it follows a complete JSON object, and is the only problem.
        after_object: bool,
    },
    /// The call ends before its arguments do.
    CutOff {
        /// Where it stopped.
        path: Path,
        /// How it is known.
        cut: Cut,
    },
    /// Nothing was sent, which may be the rest of a cut call, and the tool is not read-only.
    Blank,
    /// Several complete values instead of one.
    SeveralValues {
        /// How many.
        count: usize,
        /// Whether they are all equal.
        identical: bool,
    },
    /// Two repairs are equally good and lead to different values.
    TwoReadings {
        /// Where they differ.
        path: Path,
        /// The one, as JSON.
        first: String,
        /// The other, as JSON.
        second: String,
    },
    /// Too many bytes.
    TooLong {
        /// How many were sent.
        bytes: usize,
        /// How many are allowed.
        limit: usize,
    },
    /// Nested too deeply.
    TooDeep {
        /// Where the limit was exceeded.
        path: Path,
        /// How deep is allowed.
        limit: usize,
    },
    /// No such tool.
    UnknownTool {
        /// The name that the model used.
        name: String,
        /// The closest names, at most three.
        nearest: Vec<String>,
    },
    /// The call may not run now.
    Objection(Box<Objection>),
    /// This call must not run uncounted, and the ledger cannot be reached.
    LedgerAway {
        /// What is wrong with the ledger, for the operator.
        why: String,
    },
    /// The tool failed.
    Tool {
        /// The tool's failure.
        failure: Box<ToolFailure>,
        /// The tool that was called.
        tool: String,
        /// Whether it must not be run twice, so that the model has to find out whether it took effect.
        once: bool,
        /// Whether the failure is transient.
        passes: bool,
        /// The beginning of its own result, if it has one.
        said: Option<String>,
    },
    /// The result is unusable or incomplete.
    Output(Box<OutputFault>),
}

impl Failure {
    pub(crate) fn new(code: Code, cause: Cause) -> Self {
        Failure {
            code,
            cause,
            escalated: None,
            advice: None,
            example: None,
        }
    }

    /// The call ends before its arguments do.
    pub(crate) fn cut_off(path: Path, cut: Cut) -> Self {
        let mut failure = Failure::new(Code::TruncatedCall, Cause::CutOff { path, cut });
        if cut == Cut::Unclosed {
            failure.escalated = Some(Next::FixArguments);
        }
        failure
    }

    /// The stable name of the failure: the tool's or the check's own, if there is one.
    pub fn code_name(&self) -> &str {
        let own = match &self.cause {
            Cause::Tool { failure, .. } => failure.code(),
            Cause::Output(fault) => match &**fault {
                OutputFault::Finding(finding) => Some(finding.code.as_ref()),
                _ => None,
            },
            _ => None,
        };
        own.unwrap_or_else(|| self.code.name())
    }

    /// Whether the operator or the tool provided a hint for this particular failure.
    pub(crate) fn has_own_hint(&self) -> bool {
        let of_tool = match &self.cause {
            Cause::Tool { failure, .. } => {
                failure.hint().is_some() || failure.retry_after().is_some()
            }
            _ => false,
        };
        of_tool || self.advice.is_some()
    }

    /// The same with another hint.
    pub(crate) fn advised(mut self, hint: &str) -> Self {
        self.advice = Some(Arc::from([hint.to_owned()]));
        self
    }

    /// The tool's own message to the model about it.
    pub(crate) fn tool_message(&self) -> Option<&str> {
        match &self.cause {
            Cause::Tool { failure, .. } => failure.detail(),
            _ => None,
        }
    }

    /// Details for the operator, not for the model: the message of an unknown error, the place of a defect.
    pub fn for_operator(&self) -> Option<&str> {
        match &self.cause {
            Cause::Tool { failure, .. } => failure.for_operator(),
            Cause::LedgerAway { why } => Some(why),
            _ => None,
        }
    }

    /// Whether no tool was found, so that the tool is only a name.
    pub(crate) fn is_of_no_tool(&self) -> bool {
        match &self.cause {
            Cause::UnknownTool { .. } => true,
            Cause::Objection(objection) => {
                let original = objection.original.as_deref();
                original.is_some_and(Failure::is_of_no_tool)
            }
            _ => false,
        }
    }

    /// The family of the code.
    pub fn class(&self) -> Class {
        self.code.row().class
    }

    /// What the model should do next.
    pub fn next(&self) -> Next {
        self.escalated.unwrap_or(self.code.row().next)
    }

    /// Records what the arguments would be after edits above the allowed grade, if that is a short line.
    pub(crate) fn show_example(&mut self, arguments: &Value<'_>) {
        const LONGEST: usize = 300;
        let example = arguments.to_string();
        let is_plain = !example.contains(is_invisible);
        self.example = (example.len() <= LONGEST && is_plain).then_some(example);
    }

    /// Records what edits above the allowed grade would do, for the model to decide.
    pub(crate) fn suggest(&mut self, edits: &[Edit], cap: Grade) {
        let Cause::Arguments(issues) = &mut self.cause else {
            return;
        };
        for edit in edits
            .iter()
            .filter(|edit| edit.grade > cap && edit.after != Value::Null)
        {
            let silent = |issue: &&mut Issue| issue.path == edit.path && issue.suggestion.is_none();
            for issue in issues.iter_mut().filter(silent) {
                issue.suggestion = Some(match &edit.after {
                    Value::String(text) => Correction::Use(text.clone().into_owned()),
                    other => Correction::Value(Box::new(other.into())),
                });
            }
        }
    }

    /// Whether repair may try to read the text: a call that was cut off, is too large or names no tool is final.
    pub(crate) fn may_be_reread(&self) -> bool {
        matches!(
            self.cause,
            Cause::Syntax { .. } | Cause::SeveralValues { .. }
        )
    }

    /// The schema's objections; empty if something else is wrong.
    pub fn issues(&self) -> &[Issue] {
        match &self.cause {
            Cause::Arguments(issues) => issues,
            Cause::Output(fault) => match &**fault {
                OutputFault::Violation(issues) => issues,
                _ => &[],
            },
            Cause::Objection(objection) => match &objection.original {
                Some(original) => original.issues(),
                None => &[],
            },
            _ => &[],
        }
    }
}

/// How it is known that a call was cut off.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cut {
    /// The text ends before its value does.
    Seen,
    /// The text is short, and only its last bracket is missing: that is more likely an oversight than a cut.
    Unclosed,
    /// The provider said so.
    Declared,
    /// The provider gave a reason for the end of the answer that is not known to be normal.
    Doubtful,
}

impl Cut {
    /// The longest text whose missing bracket may be an oversight: the smallest output limits are about 250 tokens.
    const SHORT: usize = 1_000;

    /// The kind of cut if a text ends before its value does. `reads` tells whether a text is complete. A number at the end may
    /// lack digits, and a lone brace everything.
    pub(crate) fn of_text(text: &str, reads: impl Fn(&str) -> bool) -> Cut {
        let text = text.trim_ascii_end();
        let may_be_whole = !text.ends_with(|c: char| c.is_ascii_digit() || c == '{');
        if text.len() <= Cut::SHORT && may_be_whole && reads(&[text, "}"].concat()) {
            Cut::Unclosed
        } else {
            Cut::Seen
        }
    }
}
