//! The gate: holds the compiled tools and judges calls of them.

mod judge;
mod siblings;
mod split;

use std::sync::Arc;

use ahash::AHashMap;

use crate::admit::{Admission, AdmissionPolicy, Ledger, MemoryLedger, Opened, Ticket};
use crate::call::Call;
use crate::check;
use crate::error::{Error, ErrorKind};
use crate::json::Value;
use crate::policy::{Advice, Policy};
use crate::repair::RepairPolicy;
use crate::rescue::{self, Beginning, CallWatch, NoCall, Notated, Offer, Rescued};
use crate::secrecy::{self, Secrecy};
use crate::tool::{Tool, ToolSet};
use crate::validate::{CompileBudget, SchemaCache};
use crate::verdict::{Settled, Verdict};
use crate::vocabulary::{Checked, Failure, Grade, Message, ParseLimits, Place, Ran, ToolSpec};

/// Knows a set of tools and judges calls of them. Does no IO, runs no tool, and can be shared freely between threads.
///
/// ```
/// use callwright::{Call, Gate, ToolSpec, Verdict, feedback::Feedback};
/// use serde_json::json;
///
/// let gate = Gate::builder()
///     .tool(ToolSpec::new("search", json!({
///         "type": "object",
///         "properties": {"query": {"type": "string"}, "limit": {"type": "integer"}},
///         "required": ["query"],
///     })))
///     .build()?;
///
/// let call = Call::from_text("search", r#"{"limit": "many"}"#);
/// let Verdict::Refused(refused) = gate.judge(&call) else { panic!("it lacks a query") };
/// assert_eq!(
///     Feedback::default().render(&refused.failure),
///     "Please rewrite the input with valid arguments. Errors: \
///      query: Required; \
///      limit: expected integer, received string \"many\"",
/// );
/// # Ok::<(), callwright::Error>(())
/// ```
#[derive(Debug)]
pub struct Gate {
    tools: ToolSet,
    limits: ParseLimits,
    /// The default, then the tools with their own setting.
    repair: RepairPolicy,
    own_repair: AHashMap<String, RepairPolicy>,
    /// Whether refusals carry the edits of a bolder repair as suggestions.
    suggests: bool,
    pub(crate) admission: Admission,
    /// The default, then the tools with their own advice.
    advice: Advice,
    own_advice: AHashMap<String, Advice>,
}

/// Collects tools and settings for a [`Gate`].
#[derive(Debug, Default)]
#[must_use]
pub struct GateBuilder {
    specs: Vec<ToolSpec>,
    limits: ParseLimits,
    policy: Policy,
    cache: Option<SchemaCache>,
    ledger: Option<Arc<dyn Ledger>>,
    is_terse: bool,
}

impl Gate {
    /// Starts a gate with no tools.
    pub fn builder() -> GateBuilder {
        GateBuilder::default()
    }

    /// Judges one call by itself, ignoring earlier calls.
    pub fn judge<'c>(&'c self, call: &'c Call<'_>) -> Verdict<'c> {
        let mut verdict = judge::judge(self, call);
        if verdict.is_plain() {
            return verdict;
        }
        if let Verdict::Refused(refused) = &mut verdict {
            let tool = refused.tool.as_deref().map(Arc::as_ref);
            self.advise(&mut refused.failure, tool);
        }
        Secrecy::of(&self.tools, call, &verdict).clean(&mut verdict);
        verdict
    }

    /// Judges one call and decides whether it may run now. A caller that gets a ticket runs the call and returns the ticket to
    /// [`Gate::close`]. A call without a place belongs to no conversation and is not counted.
    ///
    /// ```
    /// use callwright::admit::Place;
    /// use callwright::check::{Ran, ToolFailure};
    /// use callwright::{Call, Gate, Opened, ToolSpec, feedback::Feedback};
    ///
    /// let gate = Gate::builder().tool(ToolSpec::without_schema("read_file")).build()?;
    /// let call = Call::from_text("read_file", r#"{"path": "a.txt"}"#);
    /// for round in 0..3 {
    ///     let Opened::Admitted(ticket) = gate.open(&call, Place::new("chat-1", 0, round)) else { panic!() };
    ///     let settled = gate.close(ticket, Ran::failed(ToolFailure::said("no such file")));
    ///     assert_eq!(settled.notice.is_some(), round > 0);
    /// }
    /// let Opened::Refused(refused) = gate.open(&call, Place::new("chat-1", 0, 3)) else { panic!() };
    /// assert_eq!(
    ///     Feedback::default().render(&refused.failure),
    ///     "This exact call failed the same way 3 times in a row, last 1 round ago: no such file. \
    ///      It will fail again: change the arguments or do something else.",
    /// );
    /// # Ok::<(), callwright::Error>(())
    /// ```
    pub fn open<'c>(
        &'c self,
        call: &'c Call<'_>,
        place: impl Into<Option<Place<'c>>>,
    ) -> Opened<'c> {
        self.admit(call, self.judge(call), place)
    }

    /// Judges and records the outcome of a call; returns what the model gets. A ticket that is dropped instead counts as a call
    /// with an unknown outcome.
    pub fn close<'c>(&self, ticket: Ticket<'c>, ran: impl Into<Ran<'c>>) -> Settled<'c> {
        let checked = self.check(ticket.tool(), ticket.arguments(), ran);
        self.settle(ticket, checked)
    }

    /// Judges the outcome of one call by itself, ignoring earlier calls.
    pub fn check<'o>(
        &self,
        tool: &Tool,
        arguments: &Value<'_>,
        ran: impl Into<Ran<'o>>,
    ) -> Checked<'o> {
        let mut checked = check::check(tool, arguments, ran.into());
        if let Some(failure) = &mut checked.failure {
            self.advise(failure, Some(tool));
        }
        secrecy::clean_result(tool, arguments, &mut checked);
        checked
    }

    /// Adds the operator's advice to a failure.
    fn advise(&self, failure: &mut Failure, tool: Option<&Tool>) {
        let own = tool.and_then(|tool| self.own_advice.get(tool.name()));
        if !own.is_some_and(|own| own.give(failure)) {
            self.advice.give(failure);
        }
    }

    /// The store of sessions, for answering a question and for saving and resuming a session.
    pub fn ledger(&self) -> &dyn Ledger {
        self.admission.ledger()
    }

    /// Extracts the calls that a model wrote as text in a message: all of them or none. They are then judged like any other
    /// call.
    ///
    /// # Errors
    /// Says why the message does not contain calls only.
    pub fn rescue<'m>(&self, message: &'m Message<'_>) -> Result<Rescued<'m>, NoCall> {
        let offer = Offer {
            tools: &self.tools,
            cap: &|tool| self.repair_cap(tool),
            arguments_of: None,
        };
        rescue::rescue(&offer, &self.limits, message).map_err(|reason| match reason {
            NoCall::NotOffered(name) => {
                let secrecy = Secrecy::new(self.tools.all_secrets().cloned());
                NoCall::NotOffered(secrecy.name(&name).into_owned())
            }
            other => other,
        })
    }

    /// The arguments of a call of `tool` that are written in another notation than JSON.
    fn read_notation<'t>(&self, text: &'t str, tool: &Tool) -> Option<Notated<'t>> {
        let offer = Offer {
            tools: &self.tools,
            cap: &|tool| self.repair_cap(tool),
            arguments_of: Some(tool),
        };
        rescue::read_arguments(text, &self.limits, &offer)
    }

    /// The calls inside a refused call, if it holds several complete ones and each is valid by itself: all of them or none. The
    /// first keeps the id, and the others get ids derived from it. For callers that can turn one call into several.
    ///
    /// ```
    /// use callwright::{Call, Gate, ToolSpec};
    /// use serde_json::json;
    ///
    /// let schema = json!({"properties": {"city": {"type": "string"}}, "required": ["city"]});
    /// let gate = Gate::builder().tool(ToolSpec::new("weather", schema)).build()?;
    /// let call = Call::from_text("weather", r#"{"city": "Rome"}{"city": "Oslo"}"#);
    /// assert_eq!(gate.split(&call).map(|calls| calls.len()), Some(2));
    /// # Ok::<(), callwright::Error>(())
    /// ```
    pub fn split(&self, call: &Call<'_>) -> Option<Vec<Call<'static>>> {
        split::split(self, call)
    }

    /// Where a call may begin in a message that is still streaming: anything before that place can be shown at once. Use a new
    /// `watch` for each message; `text` is the part that has arrived.
    ///
    /// ```
    /// use callwright::rescue::{Beginning, CallWatch};
    /// use callwright::{Gate, ToolSpec};
    ///
    /// let gate = Gate::builder().tool(ToolSpec::new("search", serde_json::json!({}))).build().unwrap();
    /// let begins = |text| gate.call_may_begin(&mut CallWatch::default(), text);
    /// assert_eq!(begins("Sure"), Beginning::Never);
    /// assert_eq!(begins("<think>Hm.</think>\n<tool"), Beginning::From(18));
    /// ```
    pub fn call_may_begin(&self, watch: &mut CallWatch, text: &str) -> Beginning {
        let offer = Offer {
            tools: &self.tools,
            cap: &|tool| self.repair_cap(tool),
            arguments_of: None,
        };
        watch.look(&offer, text)
    }

    /// The tool of this name.
    pub fn tool(&self, name: &str) -> Option<&Tool> {
        self.tools.get(name).map(AsRef::as_ref)
    }

    /// All tools, in no particular order.
    pub fn tools(&self) -> impl Iterator<Item = &Tool> {
        self.tools.iter()
    }

    /// What is wrong with the schemas of the tools, one sentence each, sorted: calls or results that pass unvalidated, and
    /// enums that are not read as declared.
    pub fn schema_warnings(&self) -> Vec<String> {
        let mut warnings: Vec<String> = self.tools().flat_map(Tool::schema_warnings).collect();
        warnings.sort();
        warnings
    }

    /// The highest grade of repair for a tool's calls.
    pub(crate) fn repair_cap(&self, tool: &Tool) -> Option<Grade> {
        let own = self.own_repair.get(tool.name());
        own.unwrap_or(&self.repair).cap(tool)
    }

    pub(crate) fn suggests(&self) -> bool {
        self.suggests
    }

    pub(crate) fn tool_set(&self) -> &ToolSet {
        &self.tools
    }

    pub(crate) fn limits(&self) -> &ParseLimits {
        &self.limits
    }
}

impl GateBuilder {
    /// Adds a tool.
    pub fn tool(mut self, tool: ToolSpec) -> Self {
        self.specs.push(tool);
        self
    }

    /// Adds tools.
    pub fn tools(mut self, tools: impl IntoIterator<Item = ToolSpec>) -> Self {
        self.specs.extend(tools);
        self
    }

    /// Sets the limits on the size of a call.
    pub fn limits(mut self, limits: ParseLimits) -> Self {
        self.limits = limits.with_max_depth(limits.max_depth);
        self
    }

    /// Replaces all settings that a policy file covers.
    pub fn policy(mut self, policy: Policy) -> Self {
        self.policy = policy;
        self
    }

    /// Sets which repairs are applied without asking, for tools that have no setting of their own in the policy.
    pub fn repair(mut self, repair: RepairPolicy) -> Self {
        self.policy.repair = repair;
        self
    }

    /// Sets the thresholds for repeated calls.
    pub fn admission(mut self, policy: AdmissionPolicy) -> Self {
        self.policy.admission = policy;
        self
    }

    /// Keeps sessions in this ledger instead of the gate's own memory.
    pub fn ledger(mut self, ledger: Arc<dyn Ledger>) -> Self {
        self.ledger = Some(ledger);
        self
    }

    /// Uses this cache of compiled schemas instead of the process-wide one.
    pub fn cache(mut self, cache: SchemaCache) -> Self {
        self.cache = Some(cache);
        self
    }

    /// Leaves the edits of a bolder repair out of refusals. For callers that show no refusal to a model: looking for them is
    /// a second search.
    pub fn without_suggestions(mut self) -> Self {
        self.is_terse = true;
        self
    }

    /// Compiles the tools. A schema that does not compile quarantines only its own tool, see [`Tool::quarantined`].
    ///
    /// # Errors
    /// Fails if two tools have the same name.
    pub fn build(self) -> Result<Gate, Error> {
        let cache = self.cache.unwrap_or_else(SchemaCache::shared);
        let mut budget = CompileBudget::default();
        let mut tools = ToolSet::default();
        let mut own_repair = AHashMap::new();
        let mut own_advice = AHashMap::new();
        let names = self.policy.names();
        for mut spec in self.specs {
            let name = spec.name.clone();
            let own = self.policy.own(&name, &names);
            spec = own.declare(spec);
            if let Some(repair) = own.repair {
                own_repair.insert(name.clone(), repair);
            }
            if !own.advice.is_empty() {
                own_advice.insert(name.clone(), own.advice);
            }
            let validation = own.validation.unwrap_or_default();
            let output = own.output.policy();
            let tool = Tool::compile(spec, validation, output, &cache, &mut budget);
            if !tools.insert(tool) {
                return Err(ErrorKind::DuplicateTool { name }.into());
            }
        }
        let ledger = self
            .ledger
            .unwrap_or_else(|| Arc::new(MemoryLedger::default()));
        let admission = Admission::new(self.policy.admission, ledger, tools.iter());
        Ok(Gate {
            tools,
            limits: self.limits,
            repair: self.policy.repair,
            own_repair,
            suggests: !self.is_terse,
            admission,
            advice: self.policy.advice,
            own_advice,
        })
    }
}
