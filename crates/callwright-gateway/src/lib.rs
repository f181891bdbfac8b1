//! A gateway between an agent and its LLM API.
mod guard;
mod rewrite;
pub use guard::{AnswerGuard, CallJudge, NewCall};
