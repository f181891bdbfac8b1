//! One client and its servers, one or many, with one guard in between.
//!
//! Takes a [`ServerGroup`]; starts or connects its servers and serves the client on our own stdin and stdout until either
//! side ends. With a single server, names, ids and capabilities pass untouched and messages pass byte for byte. Many
//! servers look like one: the names of their tools and prompts start with the name of their server, and one guard judges
//! the calls of all of them.
//!
//! - `group`: the servers, and the prefixes of their names
//! - `hub`: the threads that read, ask the guard and the router, and write
//! - `lifecycle`: starts servers, supervises them and ends them
//! - `server`, `remote`: one server as a process, one over HTTP
//! - `handshake`, `stderr`: what a server is told again after a restart, and what it says to the operator
//! - `router`: which message goes to which server; without IO
//! - `names`, `request_ids`, `routes`: what the router tells servers apart by

mod group;
mod handshake;
#[allow(
    clippy::module_inception,
    reason = "the thing that the module is named after"
)]
mod hub;
mod lifecycle;
mod names;
#[cfg(feature = "http")]
mod remote;
mod request_ids;
mod router;
mod routes;
mod server;
mod stderr;

pub use self::group::ServerGroup;
pub use self::lifecycle::{SessionEnd, run};
pub use self::router::{Dispatch, Router};
