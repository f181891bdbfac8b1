//! Guards any MCP server, without code.
//!
//! A proxy between an MCP client and its servers. Messages pass byte for byte and in order; calls of tools and their
//! results are judged on the way by the same gate as everywhere else.
//!
//! 1. [`message`]: a line of JSON-RPC → what kind of message it is, without building it
//! 2. [`guard`]: the state of one session; decides what goes where. It does no IO and has no clock
//! 3. [`hub`]: one server or many, started here, and their client on our own stdin and stdout
//! 4. [`status`]: what happened, in numbers
//! 5. `http` (feature `http`): the guard in front of a server that speaks streamable HTTP
//! 6. [`config`]: the servers in the configuration of clients
#![cfg_attr(docsrs, feature(doc_cfg))]

pub mod config;
pub mod guard;
#[cfg(feature = "http")]
pub mod http;
pub mod hub;
pub mod message;
pub mod status;

mod answer;
mod call;
mod fix;
mod line_reader;
mod line_writer;
mod members;
mod process;
mod tools;
