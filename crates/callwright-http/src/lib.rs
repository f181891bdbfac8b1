//! What callwright's HTTP proxies share.
//!
//! A proxy is a [`server`] whose handler checks the request's [`host_check`], reads its [`body`], sends it on with an
//! [`upstream`] client, and passes the response back, event by event where it is a stream ([`sse`]). This crate moves
//! bytes: it knows nothing of MCP, of models or of tools, never changes a body by itself, and writes nothing down.
//!
//! | module | takes | returns |
//! |---|---|---|
//! | [`proxy`] | the options that all proxies have | why one cannot run |
//! | [`server`] | connections | requests for a handler; drains on shutdown |
//! | `tls` | a certificate and its key | connections that nobody else can read |
//! | [`host_check`] | the headers of a request | why a web page may not send it, if it may not |
//! | [`headers`] | the headers of one hop | those of the next hop |
//! | [`body`] | a body | its bytes, within limits |
//! | [`upstream`] | a request | the response of the one host it may go to |
//! | [`sse`] | the bytes of an event stream | whole events, unchanged |
//! | [`unblocked`] | work that takes long | its result, while other tasks go on |
#![cfg_attr(docsrs, feature(doc_cfg))]

pub mod body;
pub mod headers;
pub mod host_check;
pub mod proxy;
pub mod server;
pub mod sse;
#[cfg(feature = "tls")]
pub mod tls;
mod unblocked;
pub mod upstream;

pub use unblocked::unblocked;
