//! Guards any MCP server, with no code.
//!
//! A proxy stands between an MCP client and a server. Messages pass byte for byte and in order; calls of tools and
//! their results are judged on the way by the same gate as everywhere else.
//!
//! 1. [`message`]: a line of JSON-RPC → what kind of message it is, without building it
//! 2. [`guard`]: the whole state of one session; says what goes where. It does no IO and has no clock
//! 3. [`status`]: what happened, in numbers

pub mod guard;
pub mod message;
pub mod status;

mod answer;
mod call;
mod fix;
mod rounds;
mod tools;
