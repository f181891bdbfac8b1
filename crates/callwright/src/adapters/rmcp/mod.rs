//! Guards an MCP server that is written with `rmcp`, and serves a toolbox as one.
//!
//! [`Guarded`] wraps any `ServerHandler`. Calls of tools are judged; everything else goes to the handler as it is. A
//! call that is refused is answered with a result that says so (`isError`), never with a protocol error, which models
//! do not see. [`ToolboxServer`] serves the tools of a [`Toolbox`](crate::toolbox::Toolbox).
//!
//! A session is one client: one connection that was initialised. MCP tells nobody where an answer of the model ends or
//! the user says something, so calls that overlap are one round, and a call after a long silence begins a new turn (see
//! [`Guarded::quiet`]).
//!
//! ```
//! use callwright::adapters::rmcp::Guarded;
//! use rmcp::ServiceExt as _;
//! # use rmcp::ServerHandler;
//!
//! # async fn example(my_server: impl ServerHandler) -> Result<(), Box<dyn std::error::Error>> {
//! # let transport = tokio::io::duplex(4096).0;
//! let running = Guarded::new(my_server).serve(transport).await?;
//! running.waiting().await?;
//! # Ok(())
//! # }
//! ```

mod guarded;
mod handler;
mod result;
mod server;
mod session;

pub use self::guarded::Guarded;
pub use self::server::ToolboxServer;
