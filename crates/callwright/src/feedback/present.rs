//! Decides what the model gets for a settled call. Nothing else does.
//!
//! Takes a [`Settled`] call; returns [`Presented`]: whether it is an error, how much of the tool's own content is kept, and
//! what is said with it or instead of it. Toolbox, MCP proxy, adapters and providers only put that into their own shape, so
//! the same call reads the same everywhere.
//!
//! The content of an invalid result is withheld: a model that sees `{"total": -5}` next to "this does not fit" uses it anyway.
//! The content of a result that is merely incomplete is kept, and so is a tool's own description of its failure.

use std::borrow::Cow;

use super::{Feedback, sentences};
use crate::text::first_bytes;
use crate::verdict::{Settled, Verdict};
use crate::vocabulary::{
    Checked, Code, Edit, Failure, Notice, Output, OutputFault, OutputVerdict, Reason,
};

/// What the model gets for a settled call.
#[derive(Debug, Clone, PartialEq, Eq)]
#[must_use]
#[non_exhaustive]
pub struct Presented<'s> {
    /// Whether it is an error: the call was refused, the tool failed, or its result cannot be used.
    pub is_error: bool,
    /// What the model gets of the tool's own content.
    pub content: Content<'s>,
    /// What the model is told after that content, or instead of it. Never empty if the content is withheld and anything is
    /// known about the call.
    pub note: Option<String>,
}

/// How much of a result's content the model gets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Content<'s> {
    /// All of it, as it is.
    Kept(&'s Output<'s>),
    /// The first bytes of its text; the rest exceeds the policy's `max_bytes`.
    Cut(&'s Output<'s>, usize),
    /// Nothing: there is none, or it must not be used.
    Withheld,
}

impl<'s> Presented<'s> {
    fn only(note: String, is_error: bool) -> Self {
        Presented {
            is_error,
            content: Content::Withheld,
            note: Some(note),
        }
    }

    /// The content that is kept, as text; `None` if it is withheld.
    pub fn content_text(&self) -> Option<Cow<'s, str>> {
        match self.content {
            Content::Kept(output) => Some(output.text()),
            Content::Cut(output, bytes) => Some(match output.text() {
                Cow::Borrowed(text) => Cow::Borrowed(first_bytes(text, bytes)),
                Cow::Owned(text) => Cow::Owned(first_bytes(&text, bytes).to_owned()),
            }),
            Content::Withheld => None,
        }
    }

    /// Content and note in one text, for shapes that hold nothing else.
    pub fn into_text(self) -> Cow<'s, str> {
        match (self.content_text(), self.note) {
            (Some(content), None) => content,
            (Some(content), Some(note)) => {
                let note = sentences::beside_result(&note);
                Cow::Owned(format!("{content}\n\n{note}"))
            }
            (None, note) => Cow::Owned(note.unwrap_or_default()),
        }
    }
}

impl Settled<'_> {
    /// What the model gets, as one text.
    pub fn text(&self, feedback: &Feedback) -> Cow<'_, str> {
        feedback.present(self).into_text()
    }
}

impl Feedback {
    /// Decides what the model gets for a settled call.
    pub fn present<'s>(&self, settled: &'s Settled<'_>) -> Presented<'s> {
        match (&settled.verdict, &settled.result) {
            (Verdict::Refused(refused), _) => Presented::only(
                self.render_with(&refused.failure, refused.notice.as_ref()),
                true,
            ),
            (verdict, Some(checked)) => {
                self.present_result(verdict.edits(), checked, settled.notice.as_ref())
            }
            (_, None) => Presented {
                is_error: false,
                content: Content::Withheld,
                note: None,
            },
        }
    }

    /// Decides what the model gets for a result that was judged by itself.
    pub fn present_result<'s>(
        &self,
        edits: &[Edit],
        checked: &'s Checked<'_>,
        notice: Option<&Notice>,
    ) -> Presented<'s> {
        let is_error = checked.is_error();
        let receipt = self.receipt(edits.iter().filter(|edit| self.receipts.tell(edit)));
        if let Some(failure) = self.retry_in_a_while(checked, notice) {
            let text = self.render_noted(&failure, None, receipt.as_slice());
            return Presented::only(text, is_error);
        }
        let notice = notice.map(|notice| self.notice(notice));
        let mut notes: Vec<String> = receipt.into_iter().chain(notice).collect();
        let content = match (&checked.output, checked.shown) {
            (Some(output), None) => Content::Kept(output),
            (Some(output), Some(bytes)) => Content::Cut(output, bytes),
            (None, _) => Content::Withheld,
        };
        match (&checked.failure, checked.verdict) {
            (Some(failure), OutputVerdict::Refused) => {
                return Presented::only(self.render_noted(failure, None, &notes), is_error);
            }
            // A tool that failed without a message must not look like one that succeeded.
            (Some(failure), OutputVerdict::Failed) if is_blank(checked) => {
                return Presented::only(self.render_noted(failure, None, &notes), is_error);
            }
            (Some(failure), OutputVerdict::Partial) => {
                let (detail, hint) = (self.detail(failure), self.hint(failure));
                notes.insert(0, format!("{detail} {hint}"));
            }
            // The tool's own message is enough; the operator's advice is still added.
            (Some(failure), OutputVerdict::Failed) if failure.advice.is_some() => {
                notes.insert(0, self.hint(failure));
            }
            _ => {}
        }
        if let (Some(bytes), Some(shown)) = (checked.cut_unsaid(), checked.shown) {
            notes.push(sentences::output(&OutputFault::TooLong { shown, bytes }));
        }
        Presented {
            is_error,
            content,
            note: (!notes.is_empty()).then(|| notes.join(" ")),
        }
    }

    /// A notice that the trouble is transient says what the usual hint says, and how long to wait, so it replaces the hint. For
    /// a timeout the hint says more.
    fn retry_in_a_while(&self, checked: &Checked<'_>, notice: Option<&Notice>) -> Option<Failure> {
        let notice = notice.filter(|notice| notice.reason == Reason::Transient)?;
        let failure = checked
            .failure
            .as_deref()
            .filter(|_| checked.output.is_none())?;
        let is_usual = failure.code == Code::Transient && !failure.has_own_hint();
        let failure = Failure::clone(failure);
        Some(if is_usual {
            failure.advised(&self.notice(notice))
        } else {
            failure
        })
    }
}

/// Whether a failed tool returned nothing to read.
fn is_blank(checked: &Checked<'_>) -> bool {
    let said = checked.output.as_ref().map(Output::text);
    said.is_none_or(|said| said.trim_ascii().is_empty())
}
