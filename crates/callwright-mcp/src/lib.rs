//! Guards any MCP server, with no code.
//!
//! A proxy stands between an MCP client and a server. Messages pass byte for byte and in order; calls of tools and
//! their results are judged on the way by the same gate as everywhere else.
//!
//! 1. [`message`]: a line of JSON-RPC → what kind of message it is, without building it
//! 2. [`guard`]: the whole state of one session; says what goes where. It does no IO and has no clock
//! 3. [`stdio`]: a server that is started here, and its client on our own stdin and stdout
//! 4. [`status`]: what happened, in numbers
//! 5. `http` (feature `http`): the guard in front of a server that speaks streamable HTTP
//! 6. [`config`]: the entries of servers in the configuration of clients
//! 7. [`several`]: several servers, as if they were one

pub mod config;
pub mod guard;
#[cfg(feature = "http")]
pub mod http;
pub mod message;
pub mod several;
pub mod status;
pub mod stdio;

mod answer;
mod call;
mod fix;
mod lane;
mod last_words;
mod lines;
mod members;
mod process;
mod session;
mod signals;
mod tools;
