//! One client and its servers, with one guard in between.
//!
//! Takes a [`ServerGroup`]; starts or connects its servers and serves the client on our own stdin and stdout until
//! either side ends. With a single server, names, ids and capabilities pass unchanged and messages pass byte for
//! byte. Several servers look like one: their tool and prompt names are prefixed with the name of the server, and one
//! guard judges the calls of all of them.
//!
//! - `group`: the servers, and the prefixes of their names
//! - `hub`: the threads that read, ask the guard and the router, and write
//! - `lifecycle`: starts servers, supervises them and stops them
//! - `server`, `remote`: one server as a process, one over HTTP
//! - `handshake`, `stderr`: the handshake after a restart, and a server's stderr
//! - `router`: which message goes to which server; without I/O
//! - `names`, `request_ids`, `routes`: how the router tells servers apart

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
