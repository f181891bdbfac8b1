//! What the model gets of a settled call, as text.

use std::borrow::Cow;

use super::Feedback;
use crate::verdict::{Settled, Verdict};
use crate::words::{Code, Failure, Reason};

impl Settled<'_> {
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
}
