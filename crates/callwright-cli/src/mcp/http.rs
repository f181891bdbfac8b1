//! `callwright mcp --upstream` and `--listen`: HTTP on one side or on both.

use std::sync::Arc;

use anyhow::{Context, Result};
use callwright_mcp::guard::Settings;
use callwright_mcp::http::{
    HttpError, Options, bridge, raise_open_file_limit, serve as serve_http, serve_command,
};

use super::tell;
use crate::Outcome;
use crate::args::McpArguments;

/// Exit code when the listen address cannot be bound or the upstream URL is invalid.
const NOT_SERVED: u8 = 3;

/// Serves clients until the program is told to end.
pub(super) fn serve(arguments: &McpArguments, settings: &Arc<Settings>) -> Result<Outcome> {
    raise_open_file_limit();
    let mut options = Options::new(arguments.upstream.clone().unwrap_or_default());
    options.allow_remote = arguments.allow_remote;
    options.hosts.clone_from(&arguments.allow_host);
    options.origins.clone_from(&arguments.allow_origin);
    options.session_header.clone_from(&arguments.session_header);
    options.most_bytes = arguments.max_message_bytes;
    options.warn = Arc::new(|warning| tell("warning", warning));
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .context("cannot start threads")?;
    let settings = Arc::clone(settings);
    let Some(listen) = arguments.listen.as_deref() else {
        let bridged = bridge(options, settings, tokio::io::stdin(), tokio::io::stdout());
        let bridged = runtime.block_on(bridged);
        // A thread still waits for our stdin.
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
        match arguments.command.split_first() {
            Some((program, rest)) => {
                let command = (program.clone(), rest.to_vec());
                serve_command(listener, options, settings, command, ended()).await
            }
            None => serve_http(listener, options, settings, ended()).await,
        }
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

/// Ready when the program is told to end.
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
