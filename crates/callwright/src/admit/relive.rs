//! Decides whether recorded calls would have been admitted.
//!
//! Works in two steps: what admission needs from a call is extracted in any order, and is small enough to keep for many calls;
//! whether the call would have been admitted depends on the calls before it, so that is decided in recorded order.

use std::borrow::Cow;

use super::ledger::{Ask, Ended, Limits, RefusedCall, Report, ToolName};
use super::{Admission, Digest, Fingerprint, Outcome, Place, digest, ended, identify};
use crate::call::Call;
use crate::tool::Tool;
use crate::verdict::Verdict;
use crate::vocabulary::{Cause, Checked, Failure, recorded_hash};

/// What admission needs to know about a recorded call, without the call itself.
#[derive(Debug, Clone)]
pub struct Recalled<'c> {
    tool: Cow<'c, str>,
    tool_digest: Digest,
    fingerprint: Fingerprint,
    limits: Limits,
    refused: Option<RefusedCall>,
    ended: Option<Ended>,
}

impl Recalled<'_> {
    /// The identity of the call among those of the same recording.
    pub fn fingerprint(&self) -> Fingerprint {
        self.fingerprint
    }

    /// The name of its tool, which may not exist.
    pub fn tool(&self) -> &str {
        &self.tool
    }
}

impl Admission {
    /// Why a recorded call would have been refused, if it would. Otherwise its outcome is recorded.
    pub(crate) fn relive<'t>(
        &self,
        call: &Recalled<'_>,
        tool: impl FnOnce() -> Option<&'t Tool>,
        place: Place<'_>,
    ) -> Option<Failure> {
        let name = ToolName::with_digest(&call.tool, Some(call.tool_digest));
        let ask = Ask {
            at: place.at,
            fingerprint: call.fingerprint,
            tool: name,
            limits: call.limits,
            runs_uncounted: true,
            refused: call.refused,
        };
        let report = call.ended.map(|ended| Report {
            turn: place.at.turn,
            fingerprint: call.fingerprint,
            tool: name,
            ended,
            // The model of a recording gets no messages.
            beginning: "",
        });
        let ledger = self.ledger();
        let ruling = ledger.relive(place.session, &ask, report.as_ref()).ok()?;
        let stopped = ruling.reason.is_some();
        stopped.then(|| self.failure(&ask, ruling, tool(), None))
    }

    pub(crate) fn recall<'c>(
        &self,
        call: &Call<'c>,
        verdict: &Verdict<'_>,
        result: Option<&Checked<'_>>,
    ) -> Recalled<'c> {
        let tool = verdict.tool();
        let name = match tool {
            Some(tool) if tool.name() != call.tool => Cow::Owned(tool.name().to_owned()),
            _ => call.tool.clone(),
        };
        let (limits, shape) = self.of(Some(&name));
        let ran = tool.zip(result).filter(|_| verdict.failure().is_none());
        Recalled {
            fingerprint: identify(call, verdict, (&name, shape), recorded_hash),
            tool_digest: limits.name(&name).digest(),
            tool: name,
            limits: limits.limits,
            refused: refused(verdict),
            // The outcome of the result is not needed again, so it is not cached.
            ended: ran.and_then(|(tool, result)| {
                let arguments = verdict.arguments();
                let outcome = || Outcome::of(result, arguments, limits.steps, recorded_hash);
                ended(tool, limits, result, arguments, outcome)
            }),
        }
    }

    /// Records the outcome of a call that would have been admitted.
    pub(crate) fn relive_result(
        &self,
        tool: &Tool,
        fingerprint: Fingerprint,
        place: Place<'_>,
        result: &Checked<'_>,
    ) {
        let limits = self.limits(Some(tool));
        let outcome = || Outcome::of(result, None, limits.steps, recorded_hash);
        if let Some(ended) = ended(tool, limits, result, None, outcome) {
            let report = Report {
                turn: place.at.turn,
                fingerprint,
                tool: limits.name(tool.name()),
                ended,
                beginning: "",
            };
            // A lost outcome only makes the count lower.
            let _noted = self.ledger().close(place.session, &report);
        }
    }

    /// The question to the ledger about a call.
    pub(super) fn ask<'q>(
        &self,
        call: &'q Call<'_>,
        verdict: &Verdict<'_>,
        tool: Option<&'q Tool>,
        fingerprint: Fingerprint,
        place: Place<'_>,
    ) -> Ask<'q> {
        let limits = self.limits(tool);
        Ask {
            at: place.at,
            fingerprint,
            tool: limits.name(tool.map_or(&call.tool, Tool::name)),
            limits: limits.limits,
            runs_uncounted: limits.runs_uncounted,
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
