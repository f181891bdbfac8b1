//! The gate's verdict on a call: valid, repaired or refused; and the settled call, once its result is known.
//!
//! Data only. It refers to the compiled [`Tool`], so it sits one layer above `vocabulary`.

use std::borrow::Cow;
use std::sync::Arc;

use crate::call::Call;
use crate::json::{Kind, Lent, Value};
use crate::tool::Tool;
use crate::vocabulary::{Cause, Checked, Edit, Failure, Notice, named};

/// A call whose arguments its tool's schema accepts exactly as they were sent. (For a tool in quarantine there is no schema to
/// ask, and with validation off it is not asked; such calls pass if they can be parsed.)
///
/// Only the gate creates one, so a `Valid` is a call that may run.
#[derive(Debug)]
pub struct Valid<'c> {
    tool: Cow<'c, Arc<Tool>>,
    arguments: Lent<'c>,
    pub(crate) warning: Option<Box<Failure>>,
}

impl<'c> Valid<'c> {
    pub(crate) fn new(tool: &'c Arc<Tool>, arguments: Lent<'c>) -> Self {
        Valid {
            tool: Cow::Borrowed(tool),
            arguments,
            warning: None,
        }
    }

    /// Lets a call through despite the schema's objections, provided it is an object: a tool can take nothing else.
    pub(crate) fn with_warning(
        tool: &'c Arc<Tool>,
        refused: Box<Refused<'c>>,
    ) -> Result<Self, Box<Refused<'c>>> {
        match refused.arguments {
            Some(arguments) if arguments.kind() == Kind::Object => Ok(Valid {
                tool: Cow::Borrowed(tool),
                arguments,
                warning: Some(Box::new(refused.failure)),
            }),
            _ => Err(refused),
        }
    }

    /// The schema's objections, if the policy only warns about them and lets the call through.
    pub fn warning(&self) -> Option<&Failure> {
        self.warning.as_deref()
    }

    /// Whether the call went unjudged because its tool's schema cannot be read or compiled.
    pub fn is_unjudged(&self) -> bool {
        self.tool.quarantined().is_some()
    }

    /// The tool that was called.
    pub fn tool(&self) -> &Tool {
        &self.tool
    }

    /// The arguments, as they were sent.
    pub fn arguments(&self) -> &Value<'c> {
        &self.arguments
    }

    /// The arguments, as they were sent.
    pub fn into_arguments(self) -> Value<'c> {
        self.arguments.into_owned()
    }

    pub(crate) fn into_owned(self) -> Valid<'static> {
        Valid {
            tool: Cow::Owned(self.tool.into_owned()),
            arguments: Lent::Owned(self.arguments.into_owned().into_owned()),
            warning: self.warning,
        }
    }

    /// The same call, refused for a reason other than its arguments.
    pub(crate) fn refuse(self, failure: Failure) -> Refused<'c> {
        Refused {
            failure,
            tool: Some(self.tool),
            arguments: Some(self.arguments),
            notice: None,
        }
    }
}

/// A call whose arguments the schema accepts after edits.
#[derive(Debug)]
pub struct Repaired<'c> {
    tool: Cow<'c, Arc<Tool>>,
    arguments: Value<'static>,
    pub(crate) edits: Vec<Edit>,
}

impl<'c> Repaired<'c> {
    pub(crate) fn new(tool: &'c Arc<Tool>, arguments: Value<'static>, edits: Vec<Edit>) -> Self {
        Repaired {
            tool: Cow::Borrowed(tool),
            arguments,
            edits,
        }
    }

    /// The tool that was called.
    pub fn tool(&self) -> &Tool {
        &self.tool
    }

    /// The arguments that go to the tool.
    pub fn arguments(&self) -> &Value<'static> {
        &self.arguments
    }

    /// The arguments that go to the tool.
    pub fn into_arguments(self) -> Value<'static> {
        self.arguments
    }

    /// What was changed, in order.
    pub fn edits(&self) -> &[Edit] {
        &self.edits
    }

    /// Whether the edits changed no information.
    pub fn is_lossless(&self) -> bool {
        Edit::are_lossless(&self.edits)
    }

    pub(crate) fn into_owned(self) -> Repaired<'static> {
        Repaired {
            tool: Cow::Owned(self.tool.into_owned()),
            arguments: self.arguments,
            edits: self.edits,
        }
    }

    /// The same call, refused for a reason other than its arguments. As the edited arguments go nowhere, the refusal holds
    /// `sent`.
    pub(crate) fn refuse(self, failure: Failure, sent: Option<Value<'static>>) -> Refused<'c> {
        Refused {
            failure,
            tool: Some(self.tool),
            arguments: sent.map(Lent::Owned),
            notice: None,
        }
    }
}

/// A call that was refused.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Refused<'c> {
    /// Why it was refused.
    pub failure: Failure,
    /// The tool that was called, if it exists.
    pub(crate) tool: Option<Cow<'c, Arc<Tool>>>,
    /// What the model sent, if it could be parsed.
    pub arguments: Option<Lent<'c>>,
    /// A notice for the model: the same call has been refused before.
    pub notice: Option<Notice>,
}

impl<'c> Refused<'c> {
    pub(crate) fn new(
        failure: Failure,
        tool: Option<&'c Arc<Tool>>,
        arguments: Option<Lent<'c>>,
    ) -> Self {
        Refused {
            failure,
            tool: tool.map(Cow::Borrowed),
            arguments,
            notice: None,
        }
    }

    /// The tool that was called, if it exists.
    pub fn tool(&self) -> Option<&Tool> {
        self.tool.as_deref().map(AsRef::as_ref)
    }

    /// The same refusal without borrowed data.
    pub fn into_owned(self) -> Refused<'static> {
        let owned = |arguments: Lent<'_>| Lent::Owned(arguments.into_owned().into_owned());
        Refused {
            failure: self.failure,
            tool: self.tool.map(|tool| Cow::Owned(tool.into_owned())),
            arguments: self.arguments.map(owned),
            notice: self.notice,
        }
    }

    /// The tool's name in a form that may be shown: the name of an unknown tool is the model's own text.
    pub fn shown_name<'r>(&'r self, call: &'r Call<'_>) -> &'r str {
        match (self.tool(), &self.failure.cause) {
            (Some(tool), _) => tool.name(),
            (None, Cause::UnknownTool { name, .. }) => name,
            (None, Cause::Objection(objection)) => &objection.tool,
            (None, _) => &call.tool,
        }
    }
}

/// The gate's decision on a call.
///
/// ```
/// use callwright::{Call, Gate, ToolSpec, Verdict};
/// use serde_json::json;
///
/// let schema = json!({"properties": {"limit": {"type": "integer"}}});
/// let gate = Gate::builder().tool(ToolSpec::new("search", schema)).build()?;
/// let call = Call::from_text("search", r#"{"limit": "5"}"#);
/// let Verdict::Repaired(repaired) = gate.judge(&call) else { panic!("5 is an integer") };
/// assert_eq!(repaired.arguments().to_string(), r#"{"limit":5}"#);
/// assert_eq!(repaired.edits()[0].rule, "number_from_string");
/// # Ok::<(), callwright::Error>(())
/// ```
#[derive(Debug)]
#[must_use]
pub enum Verdict<'c> {
    /// The arguments go to the tool exactly as they were sent.
    Valid(Valid<'c>),
    /// The arguments were made valid; every edit is on record.
    Repaired(Box<Repaired<'c>>),
    /// The call must not run; the failure says why and what to do next.
    Refused(Box<Refused<'c>>),
}

named! {
    /// A verdict without the call: as events, lines and counts name it.
    pub enum Judgement {
        /// The arguments go to the tool as they were sent.
        Valid = "valid",
        /// The arguments were made valid.
        Repaired = "repaired",
        /// The call does not run.
        Refused = "refused",
        /// The call goes to the tool as it was sent, without being judged: no schema was declared, or it does not compile.
        Unjudged = "unjudged",
    }
}

/// The final state of a call.
#[derive(Debug)]
#[must_use]
#[non_exhaustive]
pub struct Settled<'c> {
    /// The gate's verdict on the call.
    pub verdict: Verdict<'c>,
    /// The gate's verdict on the result; `None` if the call did not run or its outcome is unknown.
    pub result: Option<Checked<'c>>,
    /// A notice to send to the model with the result.
    pub notice: Option<Notice>,
    /// Whether the call ran although the ledger could not be reached: see [`crate::admit::Ticket::is_uncounted`].
    pub uncounted: bool,
}

impl Settled<'_> {
    /// The notice that goes to the model with the result or the refusal.
    pub fn notice(&self) -> Option<&Notice> {
        match &self.verdict {
            Verdict::Refused(refused) => refused.notice.as_ref(),
            _ => self.notice.as_ref(),
        }
    }

    /// Whether the model gets an error: the call was refused, the tool failed, or its result cannot be used.
    pub fn is_error(&self) -> bool {
        match &self.verdict {
            Verdict::Refused(_) => true,
            _ => self.result.as_ref().is_some_and(Checked::is_error),
        }
    }

    /// What is wrong with the call or with its result.
    pub fn failure(&self) -> Option<&Failure> {
        let of_call = self.verdict.failure();
        of_call.or_else(|| self.result.as_ref()?.failure.as_deref())
    }
}

impl<'c> From<Verdict<'c>> for Settled<'c> {
    /// A call outside of any conversation.
    fn from(verdict: Verdict<'c>) -> Self {
        Settled {
            verdict,
            result: None,
            notice: None,
            uncounted: false,
        }
    }
}

impl<'c> Verdict<'c> {
    /// Which verdict it is.
    pub fn judgement(&self) -> Judgement {
        match self {
            Verdict::Valid(valid) if valid.is_unjudged() => Judgement::Unjudged,
            Verdict::Valid(_) => Judgement::Valid,
            Verdict::Repaired(_) => Judgement::Repaired,
            Verdict::Refused(_) => Judgement::Refused,
        }
    }

    /// Its name: that of its [`Judgement`].
    pub fn name(&self) -> &'static str {
        self.judgement().name()
    }

    /// Whether the call may run, and nothing in it was guessed or dropped.
    pub fn is_lossless(&self) -> bool {
        match self {
            Verdict::Valid(_) => true,
            Verdict::Repaired(repaired) => repaired.is_lossless(),
            Verdict::Refused(_) => false,
        }
    }

    /// The tool that was called, if it exists.
    pub fn tool(&self) -> Option<&Tool> {
        match self {
            Verdict::Valid(valid) => Some(valid.tool()),
            Verdict::Repaired(repaired) => Some(repaired.tool()),
            Verdict::Refused(refused) => refused.tool(),
        }
    }

    /// The same verdict without borrowed data, for programs that inspect it later.
    pub fn into_owned(self) -> Verdict<'static> {
        match self {
            Verdict::Valid(valid) => Verdict::Valid(valid.into_owned()),
            Verdict::Repaired(repaired) => Verdict::Repaired(Box::new(repaired.into_owned())),
            Verdict::Refused(refused) => Verdict::Refused(Box::new(refused.into_owned())),
        }
    }

    /// The tool, for use beyond the life of the verdict.
    pub(crate) fn shared_tool(&self) -> Option<Cow<'c, Arc<Tool>>> {
        match self {
            Verdict::Valid(valid) => Some(valid.tool.clone()),
            Verdict::Repaired(repaired) => Some(repaired.tool.clone()),
            Verdict::Refused(refused) => refused.tool.clone(),
        }
    }

    /// Whether the call is valid as sent, without a warning.
    pub(crate) fn is_plain(&self) -> bool {
        matches!(self, Verdict::Valid(valid) if valid.warning().is_none())
    }

    /// Why the call was refused, if it was.
    pub fn failure(&self) -> Option<&Failure> {
        match self {
            Verdict::Valid(_) | Verdict::Repaired(_) => None,
            Verdict::Refused(refused) => Some(&refused.failure),
        }
    }

    /// The schema's objections to a call that is let through anyway.
    pub fn warning(&self) -> Option<&Failure> {
        match self {
            Verdict::Valid(valid) => valid.warning(),
            _ => None,
        }
    }

    /// The arguments that go to the tool; for a refused call, what the model sent, if it could be parsed.
    pub fn arguments(&self) -> Option<&Value<'c>> {
        match self {
            Verdict::Valid(valid) => Some(valid.arguments()),
            Verdict::Repaired(repaired) => Some(repaired.arguments()),
            Verdict::Refused(refused) => refused.arguments.as_deref(),
        }
    }

    /// The edits of a repaired call; empty otherwise.
    pub fn edits(&self) -> &[Edit] {
        match self {
            Verdict::Repaired(repaired) => repaired.edits(),
            _ => &[],
        }
    }
}
