//! Guards an MCP server written with `rmcp`, and serves a toolbox as one.
//!
//! [`GuardedServer`] wraps any `ServerHandler`. Tool calls are judged; everything else goes to the handler unchanged.
//! A refused call is answered with an error result (`isError`), never with a protocol error, which models do not see.
//! [`ToolboxServer`] serves the tools of a [`Toolbox`](callwright::toolbox::Toolbox).
//!
//! A session is one initialised connection. MCP does not say where a model's answer ends or when the user speaks, so
//! calls that overlap form one round, and a call after a long silence begins a new turn (see
//! [`GuardedServer::quiet`]).
//!
#![doc = include_str!("../README.md")]

mod client_session;
mod guarded_server;
mod handler;
mod result;
mod toolbox_server;

pub use self::guarded_server::GuardedServer;
pub use self::toolbox_server::ToolboxServer;
