//! Guards any MCP server, with no code.
//!
//! A proxy stands between an MCP client and a server. Messages pass byte for byte and in order; calls of tools and
//! their results are judged on the way by the same gate as everywhere else.
//!
//! 1. [`message`]: a line of JSON-RPC → what kind of message it is, without building it
//! 2. [`guard`]: the whole state of one session; says what goes where. It does no IO and has no clock
//! 3. [`status`]: what happened, in numbers
//! 4. `http` (feature `http`): the guard in front of a server that speaks streamable HTTP

pub mod guard;
#[cfg(feature = "http")]
pub mod http;
pub mod message;
pub mod status;

mod answer;
mod call;
mod rounds;
mod tools;
