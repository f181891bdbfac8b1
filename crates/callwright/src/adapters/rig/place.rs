//! Where in a conversation a call stands.
//!
//! The hook of an agent knows, the tool that is called does not: the hook puts it down under the number of the dispatch,
//! and the tool picks it up.

use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, Weak};

use ahash::AHashMap;
use rig_agent::agent::{DispatchEvent, HookContext};
use rig_agent::bus::Dispatcher;
use rig_agent::core::effect::EffectId;
use rig_agent::core::tool::{ContextValue, ToolContext};
use serde::{Deserialize, Serialize};

use crate::admit::{Moment, Place};
use crate::call::Completeness;

/// The name of the conversation that a run belongs to, for events and for a shared ledger. Put it into the run's tool
/// context.
///
/// ```
/// # use callwright::adapters::rig::Conversation;
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

/// What is known of one run of an agent. It is dropped with the run.
#[derive(Debug)]
pub(super) struct Run {
    /// Tells runs of this process apart from those of others.
    turn: u64,
    session: OnceLock<String>,
    completeness: Mutex<Completeness>,
}

/// Calls on their way from the hook to their tools.
#[derive(Debug, Default)]
pub(super) struct Dispatches(Mutex<AHashMap<EffectId, Dispatched>>);

#[derive(Debug)]
struct Dispatched {
    run: Weak<Run>,
    tool: String,
    standing: Standing,
}

/// What a tool knows about a call of it.
#[derive(Debug, Default)]
pub(super) struct Standing {
    session: Option<String>,
    at: Moment,
    pub(super) completeness: Completeness,
    pub(super) id: Option<String>,
}

impl Run {
    /// The run that a hook is called in.
    pub(super) fn of(context: &HookContext, seed: u64) -> Arc<Run> {
        let known = context.scratchpad().get::<Arc<Run>>();
        known.unwrap_or_else(|| {
            let run = Arc::new(Run {
                turn: seed.wrapping_add(context.run_id().to_raw()),
                session: OnceLock::new(),
                completeness: Mutex::new(Completeness::Unknown),
            });
            context.scratchpad().insert(Arc::clone(&run));
            run
        })
    }

    /// Notes how the answer of the model ended.
    pub(super) fn ended(&self, completeness: Completeness) {
        *self
            .completeness
            .lock()
            .unwrap_or_else(PoisonError::into_inner) = completeness;
    }

    pub(super) fn completeness(&self) -> Completeness {
        *self
            .completeness
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    /// Where in the conversation the present round stands.
    pub(super) fn place(&self, round: usize) -> Place<'_> {
        let session = self
            .session
            .get_or_init(|| format!("rig-{:016x}", self.turn));
        Place::new(session, self.turn, round as u64)
    }
}

impl Dispatches {
    /// The hook sees a call of a tool go out.
    pub(super) fn put(&self, run: &Arc<Run>, round: usize, event: &DispatchEvent<'_>) {
        let Some(tool) = event.tool_name() else {
            return;
        };
        if let Some(context) = event.context
            && let Ok(Some(Conversation(name))) = context.get()
        {
            // The first name of a run stays.
            let _ = run.session.set(name);
        }
        let place = run.place(round);
        let dispatched = Dispatched {
            run: Arc::downgrade(run),
            tool: tool.to_owned(),
            standing: Standing {
                session: Some(place.session.to_owned()),
                at: place.at,
                completeness: run.completeness(),
                id: event.call_id.map(ToString::to_string),
            },
        };
        let mut all = lock(&self.0);
        if all.len() == all.capacity() {
            // What was cancelled on its way is never picked up.
            all.retain(|_, other| other.run.strong_count() > 0);
        }
        all.insert(event.id, dispatched);
    }

    /// The hook sees that a call of a tool has come back.
    pub(super) fn drop(&self, id: EffectId) {
        lock(&self.0).remove(&id);
    }

    /// A tool asks about a call of it.
    pub(super) fn take(&self, tool: &str, context: &ToolContext) -> Standing {
        let id = context
            .scope::<Dispatcher>()
            .and_then(|dispatcher| dispatcher.parent());
        let found = id.and_then(|id| lock(&self.0).remove(&id));
        if let Some(found) = found.filter(|found| found.tool == tool) {
            return found.standing;
        }
        // No hook, or a tool that was called by another way: a round of its own, if there is a conversation at all.
        let named: Option<Conversation> = context.get().ok().flatten();
        Standing {
            session: named.map(|Conversation(name)| name),
            ..Standing::default()
        }
    }
}

impl Standing {
    /// Where in a conversation the call stands, if it belongs to one.
    pub(super) fn place(&self) -> Option<Place<'_>> {
        let session = self.session.as_deref()?;
        Some(Place {
            session,
            at: self.at,
        })
    }
}

/// Nothing here panics while it holds a lock.
pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
