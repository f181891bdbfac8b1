//! Calls written as text, or several in one: which of them a request permits, which are present, and how the client gets
//! them.

mod added_calls;
mod call_ids;
mod call_scope;
pub(crate) mod call_writer;
mod text_fate;

pub(crate) use self::added_calls::{AddedCall, AddedCalls, AddedPlace};
pub use self::call_ids::TakenIds;
pub(crate) use self::call_ids::{CallIds, derived};
pub use self::call_scope::CallScope;
pub(crate) use self::call_scope::WantedCalls;
pub(crate) use self::text_fate::{TextFate, rescued};
