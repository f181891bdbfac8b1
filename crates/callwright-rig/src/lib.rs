//! Guards the tools of a `rig` agent.
//!
//! A [`Guard`] has two parts. [`Guard::tool`] wraps a tool, so that no call reaches it without being judged. The
//! guard is also a hook of the agent: it passes the wrapped tools their place in the conversation, and answers calls
//! that never reach a tool, because the tool does not exist or the arguments are not JSON. Without the hook, each
//! call is judged by itself and nothing is counted.
//!
//! One run of the agent is one turn: its prompt is the user's message. One answer of the model is one round, however
//! many calls it has. Runs share nothing, so one agent can serve many users; a [`Conversation`] in the tool context
//! of a run gives it a name in the events. Use one guard per agent.
//!
#![doc = include_str!("../README.md")]

mod agent_run;
mod guard;
mod guarded_tool;
mod hook;
mod result;

pub use self::agent_run::Conversation;
pub use self::guard::Guard;
pub use self::guarded_tool::GuardedTool;

/// The programs in the manual are compiled with the tests.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/adapters.md")]
struct Manual;
