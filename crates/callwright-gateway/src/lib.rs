//! A gateway between an agent and its LLM API.
//!
//! Knows the tools of every request, judges every call in every answer, repairs in place what is provably safe, and
//! touches nothing else. [`serve`] runs it.
//!
//! - `relay`: one request on its way to the API, and the answer on its way back
//! - `api`, `request`: which API a path belongs to, and what a request says
//! - `gates`: compiled gates by the tools of a request
//! - `guard`, `rewrite`, `own_events`: the calls of one answer, event by event, without IO
//! - `rescue_scope`, `text_fate`, `call_writer`: calls that came as text: which are wanted, which are there, and how the
//!   client gets them
//! - `judge`: the verdict on a call, on record and counted
//! - `metrics`: counters for Prometheus

mod api;
mod call_writer;
mod gates;
mod gateway;
mod guard;
mod judge;
mod metrics;
mod own_events;
mod relay;
mod request;
mod rescue_scope;
mod rewrite;
mod text_fate;

pub use gateway::{GatewayError, Mode, Options, Rescue, Warn, serve};
pub use guard::{AnswerGuard, CallJudge, Decision, NewCall};
pub use rescue_scope::RescueScope;
