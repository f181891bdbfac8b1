//! Calls of a recording, which ran long ago: would they have been let through?
//!
//! In two steps: what has to be known of a call is taken from it in any order, and little enough to keep many of them;
//! whether it would have been let through depends on the calls before it, so that is asked in their order.

use std::borrow::Cow;

use super::ledger::{Ask, Limits, RefusedCall, Report};
use super::{Admission, Digest, Fingerprint, Outcome, Place, Success, digest};
use crate::call::Call;
use crate::check::Checked;
use crate::classify::{Cause, Failure};
use crate::gate::Gate;
use crate::tool::Tool;
use crate::verdict::Verdict;

/// What admission has to know of a recorded call, without the call itself.
#[derive(Debug, Clone)]
pub struct Recalled<'c> {
    tool: Cow<'c, str>,
    fingerprint: Fingerprint,
    limits: Limits,
    refused: Option<RefusedCall>,
    came_of_it: Option<CameOfIt>,
}

#[derive(Debug, Clone, Copy)]
struct CameOfIt {
    success: Success,
    digest: Digest,
    /// Whether it may have changed something.
    changes: bool,
    /// Whether the same result again says nothing.
    waits: bool,
}

impl Recalled<'_> {
    /// The identity of the call.
    pub fn fingerprint(&self) -> Fingerprint {
        self.fingerprint
    }

    /// The name of its tool, which may be one that does not exist.
    pub fn tool(&self) -> &str {
        &self.tool
    }
}

impl Gate {
    /// For recordings of calls that ran long ago: what admission has to know of a call that was judged, and of its result
    /// if that is at hand.
    pub fn recall<'c>(
        &self,
        call: &Call<'c>,
        verdict: &Verdict<'_>,
        result: Option<&Checked<'_>>,
    ) -> Recalled<'c> {
        self.admission.recall(call, verdict, result)
    }

    /// Why a call of a recording would have been stopped, if it would. Else takes note of what came of it.
    ///
    /// ```
    /// use callwright::admit::Place;
    /// use callwright::check::{Ran, ToolFailure};
    /// use callwright::{Call, Gate, ToolSpec};
    ///
    /// let gate = Gate::builder().tool(ToolSpec::without_schema("read_file")).build()?;
    /// let call = Call::from_text("read_file", r#"{"path": "a.txt"}"#);
    /// let verdict = gate.judge(&call);
    /// let tool = gate.tool("read_file").expect("it was just added");
    /// let stopped = (0..20).filter(|round| {
    ///     let failed = Ran::failed(ToolFailure::said("no such file"));
    ///     let result = gate.check(tool, verdict.arguments().expect("they were read"), failed);
    ///     let recalled = gate.recall(&call, &verdict, Some(&result));
    ///     gate.relive(&recalled, Place::new("chat-1", 0, *round)).is_some()
    /// });
    /// assert_eq!(stopped.count(), 17);
    /// # Ok::<(), callwright::Error>(())
    /// ```
    pub fn relive(&self, call: &Recalled<'_>, place: Place<'_>) -> Option<Failure> {
        let admission = &self.admission;
        let ask = Ask {
            at: place.at,
            fingerprint: call.fingerprint,
            tool: &call.tool,
            limits: call.limits,
            refused: call.refused,
        };
        let report = call.came_of_it.map(|it| Report {
            turn: place.at.turn,
            fingerprint: call.fingerprint,
            tool: &call.tool,
            changes: it.changes,
            waits: it.waits,
            success: it.success,
            digest: it.digest,
            // Nobody will be told.
            beginning: "",
        });
        let ledger = admission.ledger();
        let ruling = ledger.relive(place.session, &ask, report.as_ref()).ok()?;
        let stopped = ruling.reason.is_some();
        stopped.then(|| admission.failure(&ask, ruling, self.tool(&call.tool), None))
    }

    /// The same for the result of a call that was let through, if it comes later.
    pub fn relive_result(
        &self,
        tool: &Tool,
        fingerprint: Fingerprint,
        place: Place<'_>,
        result: &Checked<'_>,
    ) {
        self.admission
            .note(tool, Some(place), fingerprint, None, result);
    }
}

impl Admission {
    fn recall<'c>(
        &self,
        call: &Call<'c>,
        verdict: &Verdict<'_>,
        result: Option<&Checked<'_>>,
    ) -> Recalled<'c> {
        let (fingerprint, tool) = self.identify(call, verdict);
        let name = match tool {
            Some(tool) if tool.name() != call.tool => Cow::Owned(tool.name().to_owned()),
            _ => call.tool.clone(),
        };
        let limits = self.limits(tool);
        let ran = tool.zip(result).filter(|_| verdict.failure().is_none());
        let report = ran.and_then(|(tool, result)| {
            // Nobody will ask the result for it again.
            let outcome = || Outcome::of(result, verdict.arguments());
            self.report(tool, limits, fingerprint, result, outcome)
        });
        Recalled {
            tool: name,
            fingerprint,
            limits,
            refused: refused(verdict),
            came_of_it: report.map(|report| CameOfIt {
                success: report.success,
                digest: report.digest,
                changes: report.changes,
                waits: report.waits,
            }),
        }
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
        Ask {
            at: place.at,
            fingerprint,
            tool: tool.map_or(&call.tool, Tool::name),
            limits: self.limits(tool),
            refused: refused(verdict),
        }
    }
}

fn refused(verdict: &Verdict<'_>) -> Option<RefusedCall> {
    verdict.failure().map(|failure| RefusedCall {
        digest: digest(failure),
        unknown_tool: matches!(failure.cause, Cause::UnknownTool { .. }),
    })
}
