//! `callwright mcp --upstream`: stands in front of a server that speaks streamable HTTP, for clients that do too or for one
//! on stdin and stdout.

use std::sync::Arc;

use anyhow::{Context, Result};
use callwright_mcp::guard::Settings;
use callwright_mcp::http::{
    HttpError, Options, bridge, raise_open_file_limit, serve as serve_http,
};

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
    raise_open_file_limit();
    let mut options = Options::new(upstream);
    options.allow_remote = arguments.allow_remote;
    options.hosts.clone_from(&arguments.allow_host);
    options.origins.clone_from(&arguments.allow_origin);
    options.session_header.clone_from(&arguments.session_header);
    options.warn = Arc::new(|warning| tell("warning", warning));
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .context("cannot start threads")?;
    let settings = Arc::clone(settings);
    let Some(listen) = arguments.listen.as_deref() else {
        let bridged = bridge(options, settings, tokio::io::stdin(), tokio::io::stdout());
        let bridged = runtime.block_on(bridged);
        // A thread waits for our stdin, and nobody waits for it.
        runtime.shutdown_background();
        return Ok(match bridged {
            Ok(()) => Outcome::Clean,
            Err(error) => {
                tell("error", &error.to_string());
                Outcome::Passed(NOT_SERVED)
            }
        });
    };
    let served = runtime.block_on(async {
        let listener = tokio::net::TcpListener::bind(listen).await?;
        let at = listener.local_addr()?;
        tell("guarding", &format!("http://{at}/ leads to the server"));
        serve_http(listener, options, settings, ended()).await
    });
    Ok(match served {
        Ok(()) => Outcome::Clean,
        Err(error) => {
            let told = match error {
                HttpError::Io(_) => format!("{listen}: {error}; choose another address"),
                other => other.to_string(),
            };
            tell("error", &told);
            Outcome::Passed(NOT_SERVED)
        }
    })
}

/// Ready when somebody ends the program.
pub(crate) async fn ended() {
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
