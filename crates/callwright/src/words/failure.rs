//! Our verdict on a call that was refused, as data. Sentences are made of it in [`crate::feedback`].

use std::sync::Arc;

use super::code::{Class, Code, Next};
use super::edit::{Edit, Grade};
use super::issue::{Correction, Issue};
use super::json::{Path, Problem, Value};
use super::objection::Objection;
use super::output_fault::OutputFault;
use super::text::is_invisible;
use super::tool_failure::ToolFailure;

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
    /// The arguments as a bolder repair would send them on: JSON.
    pub(crate) example: Option<String>,
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
        /// The text at that place: its beginning, escaped. Absent where the tool takes secrets.
        found: Option<String>,
        /// Whether it follows a whole JSON object, and is all that is wrong.
        after_object: bool,
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
    /// Nothing is let through uncounted, and the ledger is away.
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

    /// Whether the operator or the tool said what to do about this very failure.
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

    /// Notes what the arguments would be after edits above the allowed grade, if that is a short line.
    pub(crate) fn show_example(&mut self, arguments: &Value<'_>) {
        const LONGEST: usize = 300;
        let example = arguments.to_string();
        let is_plain = !example.contains(is_invisible);
        self.example = (example.len() <= LONGEST && is_plain).then_some(example);
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
                    Value::String(text) => Correction::Use(text.clone().into_owned()),
                    other => Correction::Value(other.into()),
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

/// What shows that a call was cut off.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cut {
    /// The text ends before its value does.
    Seen,
    /// The text is short, and only lacks its last bracket: that is more likely a slip than a cut.
    Unclosed,
    /// The provider said so.
    Declared,
    /// The provider gave a reason for the end of the answer that is not known to be good.
    Doubtful,
}

impl Cut {
    /// The longest text that only a slip leaves unclosed: the smallest limits of answers are some 250 tokens.
    const SHORT: usize = 1_000;

    /// What kind of cut it is if a text ends before its value does. `reads` says whether a text is whole. A number at the
    /// end may lack digits, and a lone brace everything.
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
