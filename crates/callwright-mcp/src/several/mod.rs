//! Several servers behind one guard, as if they were one.
//!
//! In come the servers of a client's configuration file; they are started, or connected to, and the client talks to all of
//! them on our own stdin and stdout. Names of tools and prompts begin with the name of their server. One guard judges the
//! calls of all of them, so that it knows all names, and counts what a model does with all of them.
//!
//! - `group`: the servers, and what the names of their tools begin with
//! - `router`: which message goes where; it does no IO
//! - `names`, `ids`, `routes`: what the router tells things apart by
//! - `session`, `door`: threads and pipes
//! - `run`, `process`, `web`: servers are started, watched over and ended

mod door;
mod group;
mod ids;
mod names;
mod process;
mod router;
mod routes;
mod run;
mod session;
#[cfg(feature = "http")]
mod web;

pub use self::group::Group;
pub use self::router::{Mail, Router};
pub use self::run::run;
