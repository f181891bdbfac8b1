//! Stage 8: any refusal → a [`Failure`] with a code out of the one table.
//!
//! In comes what a stage objected to, out goes the verdict on the call as data. No sentence is made
//! here; [`crate::feedback`] does that, and only if somebody reads it.

mod advice;
mod objection;
mod output;
mod table;

use std::borrow::Cow;
use std::sync::Arc;

pub use advice::Advice;
pub use objection::{Notice, Objection};
pub(crate) use output::{bad_output, output_class, tool_failed};
pub use table::{Class, Code, CodeRow, Next, TABLE};

use crate::call::Call;
use crate::check::{OutputFault, ToolFailure};
use crate::json::{Path, Value};
use crate::parse::{Cut, Problem, Unreadable};
use crate::repair::{Edit, Grade};
use crate::tool::Tool;
use crate::unknown_tool::UnknownTool;
use crate::validate::{Invalid, Issue, IssueCode};

/// Our verdict on a call that was refused: what is wrong and what to do next.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Failure {
    /// Out of the one table.
    pub code: Code,
    /// What exactly.
    pub cause: Cause,
    /// What to do next, where that differs from what the table says.
    pub(crate) escalated: Option<Next>,
    /// What to advise, where that differs from what the table says.
    pub(crate) advice: Option<Arc<[String]>>,
}

/// What exactly is wrong with a refused call.
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
        /// The nearest place in the value.
        path: Path,
        /// What is wrong there.
        problem: Problem,
        /// What stands there: the beginning of it, escaped. Absent where the tool takes secrets.
        found: Option<String>,
    },
    /// The call ends before its arguments do.
    CutOff {
        /// Where it stopped.
        path: Path,
        /// What shows it.
        cut: Cut,
    },
    /// Nothing was sent, which may be what is left of a call, and the tool does more than read.
    Blank,
    /// Several whole values instead of one.
    SeveralValues {
        /// How many.
        count: usize,
        /// Whether they are all the same.
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
        /// How many came.
        bytes: usize,
        /// How many are read.
        limit: usize,
    },
    /// Nested too deeply.
    TooDeep {
        /// Where the limit was passed.
        path: Path,
        /// How deep is allowed.
        limit: usize,
    },
    /// No such tool.
    UnknownTool {
        /// What the model called it.
        name: String,
        /// The nearest names, three at most.
        nearest: Vec<String>,
    },
    /// The call may not run now.
    Objection(Box<Objection>),
    /// Nothing is let through uncounted, and nobody can count.
    LedgerAway {
        /// What is wrong with the ledger, for the operator.
        why: String,
    },
    /// The tool failed.
    Tool {
        /// How.
        failure: Box<ToolFailure>,
        /// The tool that was called.
        tool: String,
        /// Whether it must not be run twice, so that a failure which may have been none needs looking into.
        once: bool,
        /// Whether the trouble passes.
        passes: bool,
        /// The beginning of its own result, if it has one.
        said: Option<String>,
    },
    /// The result is not good.
    Output(Box<OutputFault>),
}

impl Failure {
    fn new(code: Code, cause: Cause) -> Self {
        Failure {
            code,
            cause,
            escalated: None,
            advice: None,
        }
    }

    /// The stable name of what went wrong: the tool's or the check's own, where there is one.
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

    /// Whether somebody said what to do about this very failure: the operator, or the tool.
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

    /// What the tool itself says to the model about it.
    pub(crate) fn told(&self) -> Option<&str> {
        match &self.cause {
            Cause::Tool { failure, .. } => failure.detail(),
            _ => None,
        }
    }

    /// What the operator should know and the model should not: the words of an unknown error, the place of a defect.
    pub fn for_operator(&self) -> Option<&str> {
        match &self.cause {
            Cause::Tool { failure, .. } => failure.for_operator(),
            Cause::LedgerAway { why } => Some(why),
            _ => None,
        }
    }

    /// Whether the call is of no tool, so that its tool is only a name.
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

    /// Notes what edits above the allowed grade would do, for the model to decide.
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
                    Value::String(text) => text.clone().into_owned(),
                    other => other.to_string(),
                });
            }
        }
    }

    /// Whether repair may try: a call that was cut off, is too large or means nobody's tool is final, and
    /// of a key that stands twice nobody knows which value is meant.
    pub(crate) fn may_be_repaired(&self) -> bool {
        match &self.cause {
            Cause::Syntax { .. } | Cause::SeveralValues { .. } => true,
            Cause::Arguments(issues) => !issues
                .iter()
                .any(|issue| issue.code == IssueCode::DuplicateKey),
            _ => false,
        }
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

/// A call that was refused.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Refused<'c> {
    /// Why.
    pub failure: Failure,
    /// The tool that was called, if there is one.
    pub tool: Option<&'c Tool>,
    /// What the model sent, if it could be read.
    pub arguments: Option<Cow<'c, Value<'c>>>,
    /// What else the model should be told: it has been refused this way before.
    pub notice: Option<Notice>,
}

impl<'c> Refused<'c> {
    fn new(
        failure: Failure,
        tool: Option<&'c Tool>,
        arguments: Option<Cow<'c, Value<'c>>>,
    ) -> Self {
        Refused {
            failure,
            tool,
            arguments,
            notice: None,
        }
    }

    /// The name of the tool as it may be shown: one that no tool has is the model's own word.
    pub fn shown_name<'r>(&'r self, call: &'r Call<'_>) -> &'r str {
        match (self.tool, &self.failure.cause) {
            (Some(tool), _) => tool.name(),
            (None, Cause::UnknownTool { name, .. }) => name,
            (None, Cause::Objection(objection)) => &objection.tool,
            (None, _) => &call.tool,
        }
    }

    /// A call that is good in itself and may not run now.
    pub(crate) fn of_good_call(
        failure: Failure,
        tool: &'c Tool,
        arguments: Option<Value<'c>>,
    ) -> Self {
        Refused::new(failure, Some(tool), arguments.map(Cow::Owned))
    }
}

/// There is no tool of this name.
#[cold]
pub(crate) fn unknown_tool<'c>(unknown: UnknownTool) -> Refused<'c> {
    let UnknownTool { name, nearest } = unknown;
    let failure = Failure::new(Code::UnknownTool, Cause::UnknownTool { name, nearest });
    Refused::new(failure, None, None)
}

/// The arguments could not be read.
#[cold]
pub(crate) fn unreadable<'c>(unreadable: Unreadable<'c>, tool: &'c Tool) -> Refused<'c> {
    let mut arguments = None;
    let failure = match unreadable {
        Unreadable::Syntax { error, text } => {
            let (line, column) = error.line_and_column(text);
            let cause = Cause::Syntax {
                line,
                column,
                path: error.path(),
                problem: error.problem,
                found: (!tool.takes_secrets()).then(|| error.snippet(text)),
            };
            Failure::new(Code::InvalidJson, cause)
        }
        Unreadable::CutOff { path, cut, read } => {
            arguments = read;
            Failure::new(Code::TruncatedCall, Cause::CutOff { path, cut })
        }
        Unreadable::SeveralValues { count, identical } => Failure::new(
            Code::AmbiguousCall,
            Cause::SeveralValues { count, identical },
        ),
        Unreadable::TooLong { bytes, limit } => {
            Failure::new(Code::ArgumentsTooLarge, Cause::TooLong { bytes, limit })
        }
        Unreadable::TooDeep { path, limit } => {
            Failure::new(Code::ArgumentsTooLarge, Cause::TooDeep { path, limit })
        }
    };
    Refused::new(failure, Some(tool), arguments)
}

/// Nothing was sent where the schema would accept nothing.
#[cold]
pub(crate) fn blank(tool: &Tool) -> Refused<'_> {
    let failure = Failure::new(Code::InvalidJson, Cause::Blank);
    Refused::new(failure, Some(tool), None)
}

/// The text holds several values that differ.
#[cold]
pub(crate) fn several_values(refused: Refused<'_>, count: usize) -> Refused<'_> {
    let cause = Cause::SeveralValues {
        count,
        identical: false,
    };
    Refused {
        failure: Failure::new(Code::AmbiguousCall, cause),
        ..refused
    }
}

/// The text ends before its value does, and is no JSON for another reason as well.
#[cold]
pub(crate) fn cut_off(refused: Refused<'_>, path: Path) -> Refused<'_> {
    let cause = Cause::CutOff {
        path,
        cut: Cut::Seen,
    };
    Refused {
        failure: Failure::new(Code::TruncatedCall, cause),
        ..refused
    }
}

/// Two repairs are equally good.
#[cold]
pub(crate) fn ambiguous(
    refused: Refused<'_>,
    path: Path,
    first: String,
    second: String,
) -> Refused<'_> {
    let cause = Cause::TwoReadings {
        path,
        first,
        second,
    };
    Refused {
        failure: Failure::new(Code::AmbiguousCall, cause),
        ..refused
    }
}

/// The schema objects.
#[cold]
pub(crate) fn invalid<'c>(invalid: Invalid<'c>, tool: &'c Tool) -> Refused<'c> {
    let failure = Failure::new(Code::InvalidArguments, Cause::Arguments(invalid.issues));
    Refused::new(failure, Some(tool), Some(invalid.arguments))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_code_has_its_own_row() {
        for row in TABLE {
            assert_eq!(row.code.row().name, row.name);
            assert_eq!(Code::from_name(row.name), Some(row.code));
            let json = serde_json::to_value(row.code).expect("a string");
            assert_eq!(
                json, row.name,
                "the serialised name is the name in the table"
            );
            assert_eq!(
                serde_json::to_value(row.next).expect("a string"),
                row.next.name()
            );
            assert_eq!(
                serde_json::to_value(row.class).expect("a string"),
                row.class.name()
            );
        }
    }
}
