//! Guards the tools of a `rig` agent.
//!
//! A [`Guard`] is two things: [`Guard::tool`] wraps a tool, so that no call reaches it unjudged whoever sends it; and the
//! guard itself is a hook of the agent, which tells the wrapped tools where in the conversation they are called, and
//! answers calls that never reach one: of tools that do not exist, and with arguments that are no JSON. Without the hook
//! every call is judged by itself and nothing is counted.
//!
//! One run of the agent is one turn: its prompt is the user's message. One answer of the model is one round, however
//! many calls it has. Runs share nothing, so one agent may serve many users; a [`Conversation`] in the tool context of a
//! run gives its events a name. Use one guard for each agent.
//!
//! ```
//! use callwright::adapters::rig::Guard;
//! use rig_agent::AgentBuilder;
//! use rig_agent::core::tool::{PortableTool, ToolExecutionError};
//! # use rig_agent::core::{DynModel, operation::Completion};
//! # use rig_agent::Agent;
//! use serde_json::{Value, json};
//!
//! struct Search;
//!
//! impl PortableTool for Search {
//!     const NAME: &'static str = "search";
//!     type Args = Value;
//!     type Output = String;
//!     type Error = ToolExecutionError;
//!
//!     fn description(&self) -> String {
//!         "Searches the catalogue.".to_owned()
//!     }
//!
//!     fn parameters(&self) -> Value {
//!         json!({
//!             "type": "object",
//!             "properties": {"query": {"type": "string"}, "limit": {"type": "integer"}},
//!             "required": ["query"],
//!         })
//!     }
//!
//!     async fn call(&self, arguments: Value) -> Result<String, ToolExecutionError> {
//!         Ok(format!("nothing for {}", arguments["query"]))
//!     }
//! }
//!
//! fn agent(model: DynModel<Completion>) -> Result<Agent, callwright::Error> {
//!     let guard = Guard::new();
//!     Ok(AgentBuilder::new(model)
//!         .tool(guard.tool(Search)?)
//!         .add_hook(guard)
//!         .build())
//! }
//! ```

mod guard;
mod guarded;
mod hook;
mod place;
mod result;
mod toolbox;

pub use self::guard::Guard;
pub use self::guarded::Guarded;
pub use self::place::Conversation;
