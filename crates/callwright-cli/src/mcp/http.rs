//! `callwright mcp --upstream`: stands in front of a server that speaks streamable HTTP.

use std::sync::Arc;

use anyhow::{Context, Result};
use callwright_mcp::guard::Settings;
use callwright_mcp::http::{HttpError, Options, serve as serve_http};

use super::tell;
use crate::Outcome;
use crate::args::McpArguments;

/// The exit code if the address cannot be listened at, or is none of a server.
const NOT_SERVED: u8 = 3;

/// Serves clients until somebody ends the program.
pub(super) fn serve(
    upstream: &str,
    arguments: &McpArguments,
    settings: &Arc<Settings>,
) -> Result<Outcome> {
    let mut options = Options::new(upstream);
    options.allow_remote = arguments.allow_remote;
    options.hosts.clone_from(&arguments.allow_host);
    options.origins.clone_from(&arguments.allow_origin);
    options.warn = Arc::new(|warning| tell("warning", warning));
    let listen = arguments.listen.as_deref().unwrap_or("127.0.0.1:0");
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .context("cannot start threads")?;
    let served = runtime.block_on(async {
        let listener = tokio::net::TcpListener::bind(listen).await?;
        let at = listener.local_addr()?;
        tell("guarding", &format!("http://{at}/ leads to the server"));
        serve_http(listener, options, Arc::clone(settings), end()).await
    });
    match served {
        Ok(()) => Ok(Outcome::Clean),
        Err(error @ HttpError::Listen(_)) => {
            tell(
                "error",
                &format!("{listen}: {error}; choose another address"),
            );
            Ok(Outcome::Passed(NOT_SERVED))
        }
        Err(error) => {
            tell("error", &error.to_string());
            Ok(Outcome::Passed(NOT_SERVED))
        }
    }
}

/// Ready when somebody ends the program.
async fn end() {
    #[cfg(unix)]
    {
        use tokio::signal::unix::{SignalKind, signal};
        if let Ok(mut terminate) = signal(SignalKind::terminate()) {
            tokio::select! {
                _ = terminate.recv() => {}
                _ = tokio::signal::ctrl_c() => {}
            }
            return;
        }
    }
    let _ = tokio::signal::ctrl_c().await;
}
