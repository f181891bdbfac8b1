//! Where in a conversation a call is made.
//!
//! The hook of an agent knows this, but the tool does not: the hook stores it under the number of the dispatch, and
//! the tool takes it from there.

use std::collections::HashMap;
use std::sync::{Arc, OnceLock, Weak};

use callwright::Call;
use callwright::admit::{Moment, Place};
use callwright::call::{Arguments, Completeness};
use parking_lot::Mutex;
use rig_agent::agent::{DispatchEvent, HookContext};
use rig_agent::bus::Dispatcher;
use rig_agent::core::effect::EffectId;
use rig_agent::core::tool::{ContextValue, ToolContext};
use serde::{Deserialize, Serialize};

/// The name of the conversation that a run belongs to, for events and for a shared ledger. Put it into the run's tool
/// context.
///
/// ```
/// # use callwright_rig::Conversation;
/// # use rig_agent::core::tool::{ToolContext, ToolContextError};
/// let mut context = ToolContext::new();
/// context.insert(Conversation("chat-7".to_owned()))?;
/// // agent.prompt("…").tool_context(context).await
/// # Ok::<(), ToolContextError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Conversation(pub String);

impl ContextValue for Conversation {
    const KEY: &'static str = "callwright.conversation";
}

/// One run of an agent. It is dropped with the run.
#[derive(Debug)]
pub(crate) struct AgentRun {
    /// Differs from the runs of other processes.
    turn: u64,
    session: OnceLock<String>,
    completeness: Mutex<Completeness>,
}

impl AgentRun {
    /// The run in which a hook is called.
    pub(crate) fn of(context: &HookContext, seed: u64) -> Arc<AgentRun> {
        let known = context.scratchpad().get::<Arc<AgentRun>>();
        known.unwrap_or_else(|| {
            let run = Arc::new(AgentRun {
                turn: seed.wrapping_add(context.run_id().to_raw()),
                session: OnceLock::new(),
                completeness: Mutex::new(Completeness::Unknown),
            });
            context.scratchpad().insert(Arc::clone(&run));
            run
        })
    }

    /// Records how the model's answer ended.
    pub(crate) fn set_completeness(&self, completeness: Completeness) {
        *self.completeness.lock() = completeness;
    }

    pub(crate) fn completeness(&self) -> Completeness {
        *self.completeness.lock()
    }

    /// The place of the current round in the conversation.
    pub(crate) fn place(&self, round: usize) -> Place<'_> {
        let session = self
            .session
            .get_or_init(|| format!("rig-{:016x}", self.turn));
        Place::new(session, self.turn, round as u64)
    }
}

/// What is known about a call besides its tool and arguments.
#[derive(Debug, Default)]
pub(crate) struct CallOrigin {
    session: Option<String>,
    at: Moment,
    completeness: Completeness,
    id: Option<String>,
}

impl CallOrigin {
    /// The place of the call in a conversation, if it belongs to one.
    pub(crate) fn place(&self) -> Option<Place<'_>> {
        let session = self.session.as_deref()?;
        let at = self.at;
        Some(Place { session, at })
    }

    pub(crate) fn call<'a>(&'a self, tool: &'a str, arguments: &'a str) -> Call<'a> {
        call(tool, arguments, self.completeness, self.id.as_deref())
    }
}

/// A call as `rig` passes it. `rig` does not distinguish `null` from missing arguments.
pub(crate) fn call<'a>(
    tool: &'a str,
    arguments: &'a str,
    completeness: Completeness,
    id: Option<&'a str>,
) -> Call<'a> {
    let call = match arguments.trim_ascii() {
        "null" | "" => Call::new(tool, Arguments::Absent),
        _ => Call::from_text(tool, arguments),
    };
    let call = call.with_completeness(completeness);
    match id {
        Some(id) => call.with_id(id),
        None => call,
    }
}

/// Calls on their way from the hook to their tools.
#[derive(Debug, Default)]
pub(crate) struct PendingCalls(Mutex<HashMap<EffectId, PendingCall>>);

#[derive(Debug)]
struct PendingCall {
    run: Weak<AgentRun>,
    tool: String,
    origin: CallOrigin,
}

impl PendingCalls {
    /// Stores a call when the hook sees it dispatched to a tool.
    pub(crate) fn put(&self, run: &Arc<AgentRun>, round: usize, event: &DispatchEvent<'_>) {
        let Some(tool) = event.tool_name() else {
            return;
        };
        if let Some(context) = event.context
            && let Ok(Some(Conversation(name))) = context.get()
        {
            // The first name of a run is kept.
            let _ = run.session.set(name);
        }
        let place = run.place(round);
        let pending = PendingCall {
            run: Arc::downgrade(run),
            tool: tool.to_owned(),
            origin: CallOrigin {
                session: Some(place.session.to_owned()),
                at: place.at,
                completeness: run.completeness(),
                id: event.call_id.map(ToString::to_string),
            },
        };
        let mut all = self.0.lock();
        if all.len() == all.capacity() {
            // Calls of cancelled runs are never taken.
            all.retain(|_, other| other.run.strong_count() > 0);
        }
        all.insert(event.id, pending);
    }

    /// Removes a call when the hook sees its outcome.
    pub(crate) fn remove(&self, id: EffectId) {
        self.0.lock().remove(&id);
    }

    /// Takes the entry for a tool's own call.
    pub(crate) fn take(&self, tool: &str, context: &ToolContext) -> CallOrigin {
        let id = context
            .scope::<Dispatcher>()
            .and_then(|dispatcher| dispatcher.parent());
        let found = id.and_then(|id| self.0.lock().remove(&id));
        if let Some(found) = found.filter(|found| found.tool == tool) {
            return found.origin;
        }
        // There is no hook, or the tool was called some other way: the call is its own round.
        let named: Option<Conversation> = context.get().ok().flatten();
        CallOrigin {
            session: named.map(|Conversation(name)| name),
            ..CallOrigin::default()
        }
    }
}
