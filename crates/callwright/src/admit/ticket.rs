//! Permission to run one call, once.

use std::borrow::Cow;

use crate::call::Call;
use crate::json::Value;
use crate::tool::Tool;
use crate::verdict::{Refused, Repaired, Settled, Valid, Verdict};
use crate::vocabulary::{Edit, Failure, Fingerprint, Moment, Notice, Place};

/// A call that may run. Only the gate creates one, and [`crate::Gate::close`] takes it back: a program that only runs the
/// content of tickets cannot run a call that was not judged, nor one call twice.
///
/// ```
/// use callwright::admit::Ticket;
/// use callwright::{Call, Gate, Opened, ToolSpec};
///
/// fn run(ticket: &Ticket<'_>) -> String {
///     format!("{} ran with {}", ticket.tool().name(), ticket.arguments())
/// }
///
/// let gate = Gate::builder().tool(ToolSpec::without_schema("ping")).build()?;
/// let call = Call::from_text("ping", "{}");
/// if let Opened::Admitted(ticket) = gate.open(&call, None) {
///     let output = run(&ticket);
///     let settled = gate.close(ticket, callwright::check::Ran::ok(output));
///     assert!(!settled.is_error());
/// }
/// # Ok::<(), callwright::Error>(())
/// ```
///
/// A ticket cannot be forged (here and below: this does not compile),
///
/// ```compile_fail,E0451
/// # use callwright::admit::Ticket;
/// # fn forge<'c>(real: Ticket<'c>) -> Ticket<'c> {
/// Ticket { notice: None, ..real }
/// # }
/// ```
///
/// nor can its parts,
///
/// ```compile_fail,E0624
/// # use callwright::tool::Tool;
/// # use callwright::json::Value;
/// # fn forge<'c>(tool: &'c Tool, arguments: Value<'static>) {
/// let repaired = callwright::Repaired::new(tool, arguments, Vec::new());
/// # }
/// ```
///
/// ```compile_fail,E0451
/// # use callwright::Valid;
/// # use callwright::json::Value;
/// # fn forge<'c>(real: Valid<'c>, arguments: Value<'c>) -> Valid<'c> {
/// Valid { arguments, ..real }
/// # }
/// ```
///
/// and it is good for one call.
///
/// ```compile_fail,E0382
/// # use callwright::{Gate, admit::Ticket, check::Ran};
/// # fn twice<'c>(gate: &'c Gate, ticket: Ticket<'c>) {
/// drop(gate.close(ticket, Ran::ok("first")));
/// drop(gate.close(ticket, Ran::ok("second")));
/// # }
/// ```
#[derive(Debug)]
#[must_use = "run the call and close the ticket with its outcome"]
pub struct Ticket<'c> {
    pub(super) ready: Ready<'c>,
    session: Option<Cow<'c, str>>,
    at: Moment,
    pub(super) fingerprint: Fingerprint,
    /// The turn in which the ledger counted it.
    pub(super) counted_in: Option<u64>,
    pub(super) uncounted: bool,
    pub(super) notice: Option<Notice>,
}

/// The gate's decision on a call in a conversation.
#[derive(Debug)]
#[must_use]
pub enum Opened<'c> {
    /// The call may run now.
    Admitted(Ticket<'c>),
    /// The call must not run; the failure says why and what to do next.
    Refused(Box<Refused<'c>>),
}

/// A call that is valid in itself.
#[derive(Debug)]
pub(super) enum Ready<'c> {
    Valid(Valid<'c>),
    Repaired(Box<Repaired<'c>>),
}

impl<'c> Ticket<'c> {
    pub(super) fn new(
        ready: Ready<'c>,
        place: Option<Place<'c>>,
        fingerprint: Fingerprint,
    ) -> Self {
        Ticket {
            ready,
            session: place.map(|place| Cow::Borrowed(place.session)),
            at: place.map(|place| place.at).unwrap_or_default(),
            fingerprint,
            counted_in: None,
            uncounted: false,
            notice: None,
        }
    }

    /// The tool to run.
    pub fn tool(&self) -> &Tool {
        match &self.ready {
            Ready::Valid(valid) => valid.tool(),
            Ready::Repaired(repaired) => repaired.tool(),
        }
    }

    /// The arguments to run it with.
    pub fn arguments(&self) -> &Value<'c> {
        match &self.ready {
            Ready::Valid(valid) => valid.arguments(),
            Ready::Repaired(repaired) => repaired.arguments(),
        }
    }

    /// The edits made to the arguments.
    pub fn edits(&self) -> &[Edit] {
        match &self.ready {
            Ready::Valid(_) => &[],
            Ready::Repaired(repaired) => repaired.edits(),
        }
    }

    /// The identity of the call.
    pub fn fingerprint(&self) -> Fingerprint {
        self.fingerprint
    }

    /// Where in a conversation the call is made, if it belongs to one.
    pub fn place(&self) -> Option<Place<'_>> {
        let session = self.session.as_deref()?;
        Some(Place {
            session,
            at: self.at,
        })
    }

    /// Whether it runs although the ledger could not be reached, so that no budget and no loop counts it.
    pub fn is_uncounted(&self) -> bool {
        self.uncounted
    }

    /// The same ticket without borrowed data, for calls that end elsewhere and later.
    ///
    /// ```
    /// use callwright::admit::Ticket;
    /// use callwright::check::Ran;
    /// use callwright::{Call, Gate, Opened, ToolSpec};
    ///
    /// let gate = Gate::builder().tool(ToolSpec::without_schema("ping")).build()?;
    /// let kept: Ticket<'static> = {
    ///     let call = Call::from_text("ping", "{}");
    ///     let Opened::Admitted(ticket) = gate.open(&call, None) else { panic!() };
    ///     ticket.into_owned()
    /// };
    /// assert!(!gate.close(kept, Ran::ok("pong")).is_error());
    /// # Ok::<(), callwright::Error>(())
    /// ```
    pub fn into_owned(self) -> Ticket<'static> {
        Ticket {
            ready: match self.ready {
                Ready::Valid(valid) => Ready::Valid(valid.into_owned()),
                Ready::Repaired(repaired) => Ready::Repaired(Box::new(repaired.into_owned())),
            },
            session: self.session.map(|session| Cow::Owned(session.into_owned())),
            at: self.at,
            fingerprint: self.fingerprint,
            counted_in: self.counted_in,
            uncounted: self.uncounted,
            notice: self.notice,
        }
    }

    /// The notice that goes to the model with the result, known before the call has run.
    pub fn notice(&self) -> Option<&Notice> {
        self.notice.as_ref()
    }
}

impl<'c> From<Ticket<'c>> for Settled<'c> {
    /// A call whose outcome is unknown.
    fn from(ticket: Ticket<'c>) -> Self {
        Settled {
            notice: ticket.notice,
            uncounted: ticket.uncounted,
            result: None,
            verdict: match ticket.ready {
                Ready::Valid(valid) => Verdict::Valid(valid),
                Ready::Repaired(repaired) => Verdict::Repaired(repaired),
            },
        }
    }
}

impl<'c> Ready<'c> {
    /// A call that was judged good.
    pub(super) fn of(verdict: Verdict<'c>) -> Result<Self, Box<Refused<'c>>> {
        match verdict {
            Verdict::Valid(valid) => Ok(Ready::Valid(valid)),
            Verdict::Repaired(repaired) => Ok(Ready::Repaired(repaired)),
            Verdict::Refused(refused) => Err(refused),
        }
    }

    /// The same call, refused for a reason other than its arguments.
    pub(super) fn refuse(self, call: &Call<'_>, failure: Failure) -> Box<Refused<'c>> {
        Box::new(match self {
            Ready::Valid(valid) => valid.refuse(failure),
            Ready::Repaired(repaired) => repaired.refuse(failure, call.arguments.value()),
        })
    }
}
