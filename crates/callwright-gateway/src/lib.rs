//! A gateway between an agent and its LLM API.
//!
//! Reads the tools of every request, judges every call in every answer, repairs in place what is provably safe, and
//! changes nothing else. [`Gateway`] runs it.
//!
//! - `relay/`: one request on its way to the API, and its answer on the way back
//! - `credentials`: which clients may connect, and which headers the upstream gets
//! - `api`, `request/`: which API a path belongs to, and what a request says, read as it passes
//! - `gates`: compiled gates, cached by the tools of a request
//! - `guard/`: the calls of one answer, event by event, without I/O
//! - `text_calls/`: calls written as text, or several in one: which are permitted, which are present, and how the client
//!   gets them
//! - `judge/`: the verdict on a call, recorded and counted
//! - `loops/`: calls that repeat the conversation
//! - `reask/`: asking the model again for calls that were refused or given up
//! - `mend/`: conversations that a provider rejects
//! - `unjudged`: why something passes without being judged
#![cfg_attr(docsrs, feature(doc_cfg))]

mod api;
mod credentials;
mod gates;
mod gateway;
mod guard;
mod judge;
mod loops;
mod mend;
mod reask;
mod relay;
mod request;
mod text_calls;
mod unjudged;

pub use api::Api;
pub use callwright_http::proxy::{ProxyError, ProxyOptions};
pub use gateway::{Gateway, GatewayOptions, History, Loops, Mode, Rescue, ToolsListed};
pub use guard::{AnswerGuard, CallJudge, Decision, NewCall, SplitCall};
pub use mend::{HistoryDefect, mend};
pub use text_calls::{CallScope, TakenIds};
pub use unjudged::Unjudged;
