//! Many servers as one: what goes where, under which name, and what happens if one is slow or gone. No server runs here.
#![allow(clippy::expect_used, clippy::unwrap_used, reason = "a test may panic")]

mod changes;
mod handshake;
mod names;
mod properties;
mod resources;
mod scene;
mod servers_ask;
