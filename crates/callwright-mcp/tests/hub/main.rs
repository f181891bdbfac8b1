//! Many servers as one: routing, names, and what happens if a server is slow or gone. No server runs here.
#![allow(clippy::expect_used, clippy::unwrap_used, reason = "a test may panic")]

mod changes;
mod handshake;
mod names;
mod properties;
mod resources;
mod scene;
mod servers_ask;
