//! The HTTP building blocks that callwright's proxies share.
//!
//! A proxy is a [`server`] whose handler applies the [`host_check`], reads the [`body`] of a request, forwards it
//! with an [`upstream`] client, and passes the response back, event by event if it is a stream ([`sse`]). This crate
//! moves bytes: it knows nothing about MCP, models or tools, never changes a body by itself, and writes nothing to
//! disk.
//!
//! | module | takes | returns |
//! |---|---|---|
//! | [`proxy`] | the options of all proxies | why one cannot run |
//! | [`server`] | connections | requests for a handler; drains on shutdown |
//! | `tls` | a certificate and its key | encrypted connections |
//! | [`host_check`] | the headers of a request | why it is refused, if it is |
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
