//! Methods that only the sibling crates call. Not covered by semantic versioning.
//!
//! A replay judges recorded calls the way live calls are judged, with the clock of the recording: [`Gate::recall`] extracts
//! what admission needs from each call, in any order; [`Gate::relive`] then decides in recorded order whether each would have
//! been admitted.

use std::sync::Arc;

use super::{Gate, judge};
use crate::admit::{Admission, Opened, Recalled, Ticket};
use crate::call::Call;
use crate::json::Path;
use crate::repair::Trial;
use crate::secrecy::Secrecy;
use crate::tool::Tool;
use crate::verdict::{Settled, Verdict};
use crate::vocabulary::{
    Checked, Expected, Failure, Fingerprint, Issue, IssueCode, Place, Received,
};

#[doc(hidden)]
impl Gate {
    /// The second half of [`Gate::open`], when the call has already been judged.
    pub fn admit<'c>(
        &'c self,
        call: &Call<'_>,
        verdict: Verdict<'c>,
        place: impl Into<Option<Place<'c>>>,
    ) -> Opened<'c> {
        match self.admission.open(call, verdict, place.into()) {
            Ok(ticket) => Opened::Admitted(ticket),
            Err(mut refused) => {
                let tool = refused.tool.as_deref().map(Arc::as_ref);
                self.advise(&mut refused.failure, tool);
                Secrecy::of_refused(&self.tools, call, &refused).refused(&mut refused);
                Opened::Refused(refused)
            }
        }
    }

    /// Refuses a judged call that the schema accepts but the tool's type rejects. Each objection has a place in the arguments
    /// and a sentence. Without objections the verdict is unchanged.
    pub fn object<'c>(
        &self,
        call: &Call<'_>,
        verdict: Verdict<'c>,
        objections: Vec<(Path, String)>,
    ) -> Verdict<'c> {
        if objections.is_empty() {
            return verdict;
        }
        let arguments = verdict.arguments();
        let issue = |(path, words): (Path, String)| {
            let value = arguments.and_then(|arguments| arguments.at(&path));
            let received = value.map_or(Received::Nothing, Received::value);
            Issue::new(path, IssueCode::Other, Expected::Stated(words), received)
        };
        let issues = objections.into_iter().map(issue).collect();
        Admission::object(call, verdict, issues)
    }

    /// The second half of [`Gate::close`], when the result has already been judged.
    pub fn settle<'c>(&self, ticket: Ticket<'c>, checked: Checked<'c>) -> Settled<'c> {
        self.admission.close(ticket, checked)
    }

    /// The identity of a call that has a verdict.
    pub fn fingerprint(&self, call: &Call<'_>, verdict: &Verdict<'_>) -> Fingerprint {
        self.admission.identify(call, verdict)
    }

    /// Every edit that repair tries on a call that is refused as sent, in order, for people who ask why. Trials go up to the
    /// boldest grade, regardless of the policy.
    pub fn explain(&self, call: &Call<'_>) -> Vec<Trial> {
        let mut trials = judge::explain(self, call);
        if !trials.is_empty() {
            Secrecy::of(&self.tools, call, &judge::judge(self, call)).trials(&mut trials);
        }
        trials
    }

    /// Which values may be shown of a call and of this gate's verdict on it.
    pub fn secrecy(&self, call: &Call<'_>, verdict: &Verdict<'_>) -> Secrecy {
        Secrecy::of(&self.tools, call, verdict)
    }

    /// Whether any tool takes arguments that its schema marks with `writeOnly` or `format: password`.
    pub fn takes_secrets(&self) -> bool {
        self.tools.all_secrets().is_some()
    }

    /// What admission needs to know about a judged call of a recording, and about its result if there is one.
    pub fn recall<'c>(
        &self,
        call: &Call<'c>,
        verdict: &Verdict<'_>,
        result: Option<&Checked<'_>>,
    ) -> Recalled<'c> {
        self.admission.recall(call, verdict, result)
    }

    /// Why a recorded call would have been refused, if it would. Otherwise its outcome is recorded.
    pub fn relive(&self, call: &Recalled<'_>, place: Place<'_>) -> Option<Failure> {
        let tool = || self.tool(call.tool());
        self.admission.relive(call, tool, place)
    }

    /// The same for the result of an admitted call, if it arrives later.
    pub fn relive_result(
        &self,
        tool: &Tool,
        fingerprint: Fingerprint,
        place: Place<'_>,
        result: &Checked<'_>,
    ) {
        self.admission
            .relive_result(tool, fingerprint, place, result);
    }
}
