//! A gateway between an agent and its LLM API.
//!
//! Reads the tools of every request, judges every call in every answer, repairs in place what is provably safe, and
//! changes nothing else. [`Gateway`] runs it.
//!
//! - `relay`, `judged_request`, `judged_answer`, `judged_stream`: one request on its way to the API, and its answer
//!   on the way back
//! - `credentials`: which clients may connect, and which headers the upstream gets
//! - `api`, `request`, `request_members`, `request_scan`: which API a path belongs to, and what a request says, read
//!   as it passes
//! - `array_stream`: Gemini streams that are a JSON array
//! - `gates`: compiled gates, cached by the tools of a request
//! - `guard`, `rewrite`, `own_events`: the calls of one answer, event by event, without I/O
//! - `call_scope`, `text_fate`, `added_calls`, `call_writer`: calls written as text, or several in one: which are
//!   permitted, which are present, and how the client gets them
//! - `call_ids`: a unique id for each call
//! - `judge`, `answer_record`: the verdict on a call, recorded and counted
//! - `loops`, `stop`: calls that repeat the conversation
//! - `reask`, `refused_call`, `first_answer`, `side_request`, `given_up`: asking the model again for calls that were
//!   refused or given up
//! - `answer_end`: decisions made at the end of an answer
//! - `unjudged`: why something passes without being judged
//! - `mend`: conversations that a provider rejects
#![cfg_attr(docsrs, feature(doc_cfg))]

mod added_calls;
mod answer_end;
mod answer_record;
mod api;
mod array_stream;
mod call_ids;
mod call_scope;
mod call_writer;
mod credentials;
mod first_answer;
mod gates;
mod gateway;
mod given_up;
mod guard;
mod judge;
mod judged_answer;
mod judged_request;
mod judged_stream;
mod loops;
mod mend;
mod own_events;
mod reask;
mod refused_call;
mod relay;
mod request;
mod request_members;
mod request_scan;
mod rewrite;
mod side_request;
mod stop;
mod text_fate;
mod unjudged;

pub use api::Api;
pub use call_ids::TakenIds;
pub use call_scope::CallScope;
pub use callwright_http::proxy::{ProxyError, ProxyOptions};
pub use gateway::{Gateway, GatewayOptions, History, Loops, Mode, Rescue, ToolsListed};
pub use guard::{AnswerGuard, CallJudge, Decision, NewCall, SplitCall};
pub use mend::{HistoryDefect, mend};
pub use unjudged::Unjudged;
