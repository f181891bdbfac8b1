//! `callwright mcp --upstream` and `--listen`: HTTP on one side or both.

use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result};
use callwright_mcp::guard::Settings;
use callwright_mcp::http::{
    Options, bridge, raise_open_file_limit, serve as serve_http, serve_command,
};

use callwright_live::{Live, OperatorPages};
use tokio::net::TcpListener;

use super::tell;
use crate::CommandOutcome;
use crate::args::McpArguments;
use crate::http_options::NotServed;

/// How long interrupted calls have to be recorded.
const LAST_RECORDS: Duration = Duration::from_millis(100);

/// Serves clients until the program is asked to stop.
pub(super) fn serve(
    arguments: &McpArguments,
    settings: &Arc<Settings>,
    live: Option<Arc<Live>>,
) -> Result<CommandOutcome> {
    raise_open_file_limit();
    let mut options = Options::new(arguments.upstream.clone().unwrap_or_default());
    arguments.clients.apply(&mut options.proxy);
    options.session_header.clone_from(&arguments.session_header);
    options.proxy.limits.max_bytes = arguments.max_message_bytes;
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .context("cannot start threads")?;
    let settings = Arc::clone(settings);
    options.pages = live.map(|live| {
        let (sinks, hosts) = (settings.sinks.clone(), options.proxy.host_check.clone());
        Arc::new(OperatorPages::new(live, sinks, hosts))
    });
    let Some(listen) = arguments.listen.as_deref() else {
        let bridged = runtime.block_on(async {
            let (input, output) = (tokio::io::stdin(), tokio::io::stdout());
            tokio::select! {
                ended = bridge(options, settings, input, output) => ended,
                // Calls in progress are recorded; the client has not closed its input, so it does not wait for them.
                () = ended() => Ok(()),
            }
        });
        // A thread may still be blocked reading stdin.
        runtime.shutdown_timeout(LAST_RECORDS);
        return Ok(match bridged {
            Ok(()) => CommandOutcome::Clean,
            Err(error) => NotServed::from(error).report(),
        });
    };
    let served = runtime.block_on(async {
        if arguments.command.is_empty() {
            options.check()?;
        }
        let (listener, admin) = arguments.clients.bind(listen, &options.proxy).await?;
        let at = listener.local_addr()?;
        tell("guarding", &format!("listening at http://{at}/"));
        let admin = serve_admin(admin, options.pages.clone());
        let guard = async {
            match arguments.command.split_first() {
                Some((program, rest)) => {
                    let command = (program.clone(), rest.to_vec());
                    serve_command(listener, options, settings, command, ended()).await
                }
                None => serve_http(listener, options, settings, ended()).await,
            }
        };
        tokio::select! {
            served = guard => Ok(served?),
            failed = admin => failed,
        }
    });
    Ok(match served {
        Ok(()) => CommandOutcome::Clean,
        Err(error) => error.report(),
    })
}

/// Serves the operator pages at their own address, if one is set. Returns only on failure.
async fn serve_admin(
    listener: Option<TcpListener>,
    pages: Option<Arc<OperatorPages>>,
) -> Result<(), NotServed> {
    if let (Some(listener), Some(pages)) = (listener, pages) {
        let at = listener.local_addr()?;
        tell("guarding", &format!("status page at http://{at}/"));
        pages.serve(listener).await;
    }
    std::future::pending().await
}

/// Resolves when the program is asked to stop.
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
