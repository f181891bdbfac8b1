//! Stage 8: a failure → text that a model can act on.
//!
//! Takes a [`Failure`]; returns one short text: what is wrong and where, what was expected, what was received, what to do next.
//! At most five issues of a hundred characters, the most useful first. Text that came from the model or a tool is escaped and
//! cannot break out of its line. All sentences are in `sentences.rs`; this file only decides how many there are and in which
//! form.

mod lines;
mod present;
mod sentences;

pub use present::{Content, Presented};
pub(crate) use sentences::CHOICES;

use serde::Serialize;
use serde_json::json;

use self::lines::lines;
use crate::json::SyntaxError;
use crate::text::{cut_line, one_line};
use crate::vocabulary::{
    BranchChoice, Cause, Correction, Edit, Expected, Failure, Grade, Issue, Notice, Objection,
    OutputFault, Received, named,
};

named! {
    /// The form of the text.
    #[derive(Default)]
    #[non_exhaustive]
    pub enum Style {
        /// One instruction with all errors on one line.
        #[default]
        Instruction = "instruction",
        /// A numbered list.
        Numbered = "numbered",
        /// A JSON object with `ok`, `error`, `recommendations` and `next`.
        Json = "json",
        /// A JSON object with `error_class`, `code`, `detail` and `hint`.
        ToolError = "tool_error",
    }
}

/// How failures are worded.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Feedback {
    /// The form of the text.
    pub style: Style,
    /// How many issues are shown; the rest are counted.
    pub max_issues: usize,
    /// How many characters each of them may have. A line of less than 40 says nothing.
    pub max_chars: usize,
    /// Which corrections of the arguments are reported with the result, so that the model learns from them.
    pub receipts: Receipts,
}

/// Which corrections of a call's arguments are reported to the model with the result.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Receipts {
    /// None: for models that read their own corrected call in the history.
    Never,
    /// Those that dropped something or guessed. A mere change of notation is not reported.
    #[default]
    BeyondLossless,
    /// All of them.
    Always,
}

impl Receipts {
    /// Whether this edit is reported.
    fn tell(self, edit: &Edit) -> bool {
        match self {
            Receipts::Never => false,
            Receipts::BeyondLossless => edit.grade > Grade::Lossless,
            Receipts::Always => true,
        }
    }
}

impl Default for Feedback {
    fn default() -> Self {
        Feedback {
            style: Style::default(),
            // A model does not make more than five corrections at once, and each costs tokens.
            max_issues: 5,
            // Room for a path, an expectation and a preview of the value.
            max_chars: 100,
            receipts: Receipts::default(),
        }
    }
}

impl Feedback {
    /// The default limits in another style.
    pub fn new(style: Style) -> Self {
        Feedback {
            style,
            ..Feedback::default()
        }
    }

    /// The text for the model.
    pub fn render(&self, failure: &Failure) -> String {
        self.render_with(failure, None)
    }

    /// The text for the model, including a notice.
    pub fn render_with(&self, failure: &Failure, notice: Option<&Notice>) -> String {
        self.render_noted(failure, notice, &[])
    }

    /// The text for the model, with a notice, which is part of the advice, and with other notes.
    fn render_noted(&self, failure: &Failure, notice: Option<&Notice>, notes: &[String]) -> String {
        let notice = notice.map(|notice| self.notice(notice));
        let note = (!notes.is_empty()).then(|| notes.join(" "));
        let and = |text: String, more: &Option<String>| match more {
            Some(more) => sentences::and(text, more),
            None => text,
        };
        let mut object = match self.style {
            Style::Instruction => return and(and(self.instruction(failure), &notice), &note),
            Style::Numbered => return and(and(self.numbered(failure), &notice), &note),
            Style::Json => json!({
                "ok": false,
                "error": self.detail(failure),
                "error_type": failure.class().name(),
                "retryable": failure.next().is_retry(),
                "recommendations": self.recommendations(failure, notice),
                "next": failure.next().name(),
            }),
            Style::ToolError => json!({
                "error_class": failure.class().name(),
                "code": one_line(failure.code_name(), self.max_chars),
                "detail": self.detail(failure),
                "hint": and(self.hint(failure), &notice),
            }),
        };
        if let Some(note) = note {
            object["note"] = json!(note);
        }
        object.to_string()
    }

    /// The question to the user about a call that was refused.
    pub fn question(&self, objection: &Objection, failure: &Failure) -> String {
        sentences::question(objection, &self.detail(failure))
    }

    /// What the user reads instead of a call that is not repeated, when the agent's loop is stopped.
    pub fn stopped(&self, objection: &Objection, failure: &Failure) -> String {
        sentences::stopped(objection, &self.detail(failure))
    }

    /// The text of a notice, to be appended to a result.
    pub fn notice(&self, notice: &Notice) -> String {
        sentences::notice(notice)
    }

    /// What is wrong, in one line.
    pub fn detail(&self, failure: &Failure) -> String {
        match (&failure.cause, listed(failure)) {
            (Cause::Output(_), Some(issues)) => {
                let mut out = sentences::VIOLATION.to_owned();
                self.push_issues(&mut out, issues);
                sentences::end_sentence(&mut out);
                out
            }
            (_, Some(issues)) => self.in_one_line(failure).unwrap_or_else(|| {
                let mut out = String::new();
                self.push_issues(&mut out, issues);
                out
            }),
            (Cause::Objection(objection), _) => {
                let original = objection.original.as_deref();
                let original = original.map(|original| self.detail(original));
                sentences::objection(objection, original.as_deref())
            }
            (other, None) => sentences::detail(other),
        }
    }

    /// The issues as text, one line each and none longer than the limit, and how many more there are.
    pub fn issue_lines(&self, failure: &Failure) -> Vec<String> {
        if let Some(line) = self.no_arguments(failure) {
            return vec![line];
        }
        let (lines, left) = lines(failure.issues(), self.max_issues);
        let told = lines.iter().map(|line| {
            let mut out = String::new();
            sentences::push_issue_line(&mut out, line, self.max_chars);
            out
        });
        told.chain(more(left)).collect()
    }

    /// An edit as text: `limit was "10"; sent on as 10`.
    pub fn edit_line(&self, edit: &Edit) -> String {
        cut_line(sentences::edit(edit), self.max_chars)
    }

    /// A note to the model about these edits; `None` if there are none. Which edits are reported automatically with the result
    /// is decided by [`receipts`](Feedback::receipts).
    ///
    /// ```
    /// # use callwright::{Call, Gate, ToolSpec, feedback::Feedback};
    /// # let tool = ToolSpec::new("t", serde_json::json!({"properties": {"limit": {"type": "integer"}}}));
    /// # let gate = Gate::builder().tool(tool).build()?;
    /// let call = Call::from_text("t", r#"{"limit": "10"}"#);
    /// let note = Feedback::default().receipt(gate.judge(&call).edits());
    /// let expected = r#"Note: the arguments were corrected: limit was "10"; sent on as 10."#;
    /// assert_eq!(note.as_deref(), Some(expected));
    /// # Ok::<(), callwright::Error>(())
    /// ```
    pub fn receipt<'e>(&self, edits: impl IntoIterator<Item = &'e Edit>) -> Option<String> {
        let mut edits = edits.into_iter();
        let told = edits.by_ref().take(self.max_issues);
        let mut lines: Vec<String> = told.map(|edit| self.edit_line(edit)).collect();
        let left = edits.count();
        lines.extend(more(left));
        (!lines.is_empty()).then(|| sentences::receipt(&lines))
    }

    /// What to do about it, in one sentence.
    pub fn hint(&self, failure: &Failure) -> String {
        sentences::hint(failure).into_owned()
    }

    /// An issue as data, together with its text.
    pub fn issue<'i>(&self, issue: &'i Issue) -> ToldIssue<'i> {
        ToldIssue {
            path: issue.path.as_pointer(),
            code: issue.code.name(),
            expected: &issue.expected,
            received: &issue.received,
            message: sentences::issue_message(issue, self.max_chars),
            suggestion: issue.suggestion.as_ref(),
            branch: issue.branch.as_deref(),
        }
    }

    fn instruction(&self, failure: &Failure) -> String {
        // Most instructions have one or two issues.
        let mut out = String::with_capacity(256);
        let (before, after) = sentences::instruction_frame(failure);
        match (&failure.cause, self.in_one_line(failure)) {
            (_, Some(line)) => out.push_str(&line),
            (Cause::Arguments(issues), None) => {
                out.push_str(before);
                self.push_issues(&mut out, issues);
            }
            _ => {
                out.push_str(before);
                out.push_str(&self.detail(failure));
            }
        }
        if !after.is_empty() {
            out.push(' ');
            out.push_str(&after);
        }
        out
    }

    /// A single sentence that covers all that is wrong with the arguments, if one says more than a list of issues.
    fn in_one_line(&self, failure: &Failure) -> Option<String> {
        self.no_arguments(failure).or_else(|| {
            let example = failure.example.as_deref()?;
            self.example(example, failure.issues())
        })
    }

    /// The one message for all issues of a tool that has no parameters.
    fn no_arguments(&self, failure: &Failure) -> Option<String> {
        match &failure.cause {
            Cause::Arguments(issues) => sentences::no_arguments(issues, self.max_chars),
            _ => None,
        }
    }

    /// The arguments as they may have been meant, if that is shorter than the list of issues.
    fn example(&self, arguments: &str, issues: &[Issue]) -> Option<String> {
        let mut list = String::new();
        self.push_issues(&mut list, issues);
        let example = sentences::example(arguments);
        (example.len() < list.len()).then_some(example)
    }

    fn push_issues(&self, out: &mut String, issues: &[Issue]) {
        let (lines, left) = lines(issues, self.max_issues);
        for (at, line) in lines.iter().enumerate() {
            if at > 0 {
                out.push_str("; ");
            }
            sentences::push_issue_line(out, line, self.max_chars);
        }
        if let Some(more) = more(left) {
            out.push_str("; ");
            out.push_str(&more);
        }
    }

    fn numbered(&self, failure: &Failure) -> String {
        let Some(issues) = listed(failure) else {
            return sentences::numbered_other(failure, &self.detail(failure));
        };
        if let Some(line) = self.in_one_line(failure) {
            return sentences::numbered(failure, &[format!("1. {line}")]);
        }
        let (lines, left) = lines(issues, self.max_issues);
        let numbered = lines
            .iter()
            .enumerate()
            .map(|(at, line)| sentences::numbered_line(at + 1, line, self.max_chars));
        let told: Vec<String> = numbered.chain(more(left)).collect();
        sentences::numbered(failure, &told)
    }

    fn recommendations(&self, failure: &Failure, notice: Option<String>) -> Vec<String> {
        let mut all = match &failure.advice {
            Some(lines) => lines.to_vec(),
            None => vec![self.hint(failure)],
        };
        if let Cause::Tool { failure, .. } = &failure.cause {
            let own = failure.recommendations().iter().take(self.max_issues);
            all.extend(own.map(|line| one_line(line, self.max_chars)));
        }
        all.extend(notice);
        all.extend(
            failure
                .issues()
                .iter()
                .take(self.max_issues)
                .filter_map(sentences::recommendation)
                .map(|line| cut_line(line, self.max_chars)),
        );
        all
    }
}

/// How many issues are not shown.
fn more(left: usize) -> Option<String> {
    (left > 0).then(|| sentences::more(left))
}

/// The issues of a failure that is reported as a list.
fn listed(failure: &Failure) -> Option<&[Issue]> {
    match &failure.cause {
        Cause::Arguments(issues) => Some(issues),
        Cause::Output(fault) => match &**fault {
            OutputFault::Violation(issues) => Some(issues),
            _ => None,
        },
        _ => None,
    }
}

/// What is wrong with a text that is not JSON, and what was found there, if `text` may be quoted.
pub(crate) fn syntax_reason(error: &SyntaxError, text: Option<&str>) -> String {
    let found = text.map(|text| error.snippet(text));
    sentences::syntax(error.problem, found.as_deref())
}

/// An issue as it appears in a verdict line.
#[derive(Debug, Serialize)]
pub struct ToldIssue<'i> {
    path: &'i str,
    code: &'static str,
    expected: &'i Expected,
    received: &'i Received,
    message: String,
    suggestion: Option<&'i Correction>,
    #[serde(skip_serializing_if = "Option::is_none")]
    branch: Option<&'i BranchChoice>,
}
