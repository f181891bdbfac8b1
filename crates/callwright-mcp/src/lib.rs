//! Guards any MCP server without code changes.
//!
//! A proxy between an MCP client and its servers. Messages pass byte for byte and in order; tool calls and their
//! results are judged on the way, by the same gate as everywhere else.
//!
//! 1. [`message`]: a line of JSON-RPC → what kind of message it is, without building a tree
//! 2. [`guard`]: the state of one session; decides what goes where. Does no I/O and has no clock
//! 3. [`hub`]: starts one or more servers, and serves their client on our own stdin and stdout
//! 4. [`status`]: counts of what happened
//! 5. `http` (feature `http`): the guard in front of a server that speaks streamable HTTP
//! 6. [`config`]: the servers in client configurations
#![cfg_attr(docsrs, feature(doc_cfg))]

pub mod config;
pub mod guard;
#[cfg(feature = "http")]
pub mod http;
pub mod hub;
pub mod message;
pub mod status;

mod call;
mod fix_tool_list;
mod line_reader;
mod line_writer;
mod members;
mod own_messages;
mod present_result;
mod process;
mod tools;
