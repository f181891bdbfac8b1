//! Calls of a recording, which ran long ago: would they have been let through?

use super::ledger::{Ask, RefusedCall};
use super::{Admission, Fingerprint, Place, digest, report};
use crate::call::Call;
use crate::check::Checked;
use crate::classify::{Cause, Failure};
use crate::gate::Gate;
use crate::tool::Tool;
use crate::verdict::Verdict;

impl Gate {
    /// For recordings of calls that ran long ago: why a call that was judged would have been stopped, if it would. Else
    /// takes note of what came of it. `fingerprint` is what [`Gate::fingerprint`] says of the call.
    ///
    /// ```
    /// use callwright::admit::Place;
    /// use callwright::check::{Ran, ToolFailure};
    /// use callwright::{Call, Gate, ToolSpec};
    ///
    /// let gate = Gate::builder().tool(ToolSpec::without_schema("read_file")).build()?;
    /// let call = Call::from_text("read_file", r#"{"path": "a.txt"}"#);
    /// let verdict = gate.judge(&call);
    /// let same = gate.fingerprint(&call, &verdict);
    /// let tool = gate.tool("read_file").expect("it was just added");
    /// let stopped = (0..20).filter(|round| {
    ///     let failed = Ran::failed(ToolFailure::said("no such file"));
    ///     let result = gate.check(tool, verdict.arguments().expect("they were read"), failed);
    ///     let place = Place::new("chat-1", 0, *round);
    ///     gate.relive(&call, &verdict, same, place, Some(&result)).is_some()
    /// });
    /// assert_eq!(stopped.count(), 17);
    /// # Ok::<(), callwright::Error>(())
    /// ```
    pub fn relive(
        &self,
        call: &Call<'_>,
        verdict: &Verdict<'_>,
        fingerprint: Fingerprint,
        place: Place<'_>,
        result: Option<&Checked<'_>>,
    ) -> Option<Failure> {
        self.admission
            .relive_call(call, verdict, fingerprint, place, result)
    }

    /// The same for the result of a call that was let through, if it comes later.
    pub fn relive_result(
        &self,
        tool: &Tool,
        fingerprint: Fingerprint,
        place: Place<'_>,
        result: &Checked<'_>,
    ) {
        self.admission.note(tool, Some(place), fingerprint, result);
    }
}

impl Admission {
    /// Why a call would have been stopped, if it would. Else takes note of what came of it.
    fn relive_call(
        &self,
        call: &Call<'_>,
        verdict: &Verdict<'_>,
        fingerprint: Fingerprint,
        place: Place<'_>,
        result: Option<&Checked<'_>>,
    ) -> Option<Failure> {
        let tool = match verdict {
            Verdict::Valid(valid) => Some(valid.tool()),
            Verdict::Repaired(repaired) => Some(repaired.tool()),
            Verdict::Refused(refused) => refused.tool,
        };
        let ask = self.ask(call, verdict, tool, fingerprint, place);
        let ran = tool.zip(result).filter(|_| verdict.failure().is_none());
        // What it said is not remembered: nobody will be told.
        let report =
            ran.and_then(|(tool, result)| report(tool, ask.limits, fingerprint, place.at, result));
        let ledger = self.ledger();
        let ruling = ledger.relive(place.session, &ask, report.as_ref()).ok()?;
        let stopped = ruling.reason.is_some();
        stopped.then(|| self.failure(&ask, ruling, tool, None))
    }

    /// What the ledger is asked about a call.
    pub(super) fn ask<'q>(
        &self,
        call: &'q Call<'_>,
        verdict: &Verdict<'_>,
        tool: Option<&'q Tool>,
        fingerprint: Fingerprint,
        place: Place<'_>,
    ) -> Ask<'q> {
        let refused = verdict.failure().map(|failure| RefusedCall {
            digest: digest(failure),
            unknown_tool: matches!(failure.cause, Cause::UnknownTool { .. }),
        });
        Ask {
            at: place.at,
            fingerprint,
            tool: tool.map_or(&call.tool, Tool::name),
            limits: self.limits(tool),
            refused,
        }
    }
}
