//! `callwright serve`: a gateway in front of an LLM API.
//!
//! Nothing is written to stdout. Warnings go to stderr. SIGHUP reloads the policy, keys, headers and certificates;
//! SIGTERM and Ctrl-C let responses in progress finish.

use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result, bail};
use callwright::event::Sinks;
use callwright_gateway::{Gateway, GatewayOptions, History, Loops, Mode, Rescue};
use callwright_http::server::raise_open_file_limit;
#[cfg(feature = "tls")]
use callwright_http::tls::ServerTls;
use clap::Args;

use crate::args::named;
use crate::http_options::{HttpOptions, NotServed};
use crate::mcp::{ended, tell, warn_of_lost_records};
use crate::record::RecordOptions;
use crate::{CommandOutcome, input};

/// The largest file of client keys: a hundred thousand of them fit.
const LARGEST_KEY_FILE: u64 = 16 * 1024 * 1024;

/// Guard an agent by sitting between it and its LLM API
///
/// Point the agent's base URL at this address instead of the provider's. Every tool call in every response is judged
/// against the tools in its request, and repaired in place where that is provably safe; everything else passes
/// through byte for byte. Supports OpenAI chat completions and responses, Anthropic messages and Gemini, streaming or
/// not.
///
/// SIGHUP reloads the policy, the keys, the headers and the certificate.
///
/// Exit codes: 0 after SIGTERM or Ctrl-C, 2 if the options are wrong, 3 if the address cannot be used.
#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES)]
pub(crate) struct ServeArguments {
    /// The API to guard, such as `https://api.openai.com`; request paths are appended
    #[arg(long, value_name = "URL")]
    upstream: String,

    /// The address to listen on; port 0 picks a free port
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:8787")]
    listen: String,

    /// What to do with calls: `guard` repairs them, `observe` only records verdicts, `off` ignores them
    #[arg(long, value_name = "MODE", default_value = "guard", value_parser = named(&Mode::ALL))]
    mode: Mode,

    /// Whether to turn calls that a model wrote as text into proper calls
    ///
    /// `auto` means yes, except in front of the official hosts of OpenAI, Anthropic and Google.
    #[arg(long, value_name = "WHEN", default_value = "auto", value_parser = named(&Rescue::ALL))]
    rescue: Rescue,

    /// How many times to ask the model again for a refused call, from 0 to 3
    ///
    /// The gateway sends its own request, which the provider bills. Only for tools that the policy declares read-only.
    #[arg(long, value_name = "TIMES", default_value = "0", value_parser = clap::value_parser!(u32).range(0..=3))]
    reask: u32,

    /// Also ask again for tools that write, but never for those that destroy or spend
    #[arg(long, requires = "reask")]
    reask_writes: bool,

    /// What to do with calls that repeat earlier ones in the conversation
    ///
    /// `observe` records them, `stop` replaces them with a text that says what was repeated, `off` ignores the
    /// conversation.
    #[arg(long, value_name = "WHAT", default_value = "observe", value_parser = named(&Loops::ALL))]
    loops: Loops,

    /// What to do when the provider rejects a conversation with status 400
    ///
    /// `mend` fixes visible defects (calls without results, results without calls, duplicate ids) and sends it once
    /// more.
    #[arg(long, value_name = "WHAT", default_value = "off", value_parser = named(&History::ALL))]
    history: History,

    /// How many seconds to hold back a streamed call at most; after that it passes through unchanged
    #[arg(long, value_name = "SECONDS", default_value = "20")]
    hold: u32,

    /// The policy file, in TOML
    ///
    /// docs/policy.md describes it. No default location is searched.
    #[arg(long, value_name = "FILE")]
    policy: Option<PathBuf>,

    #[command(flatten)]
    record: RecordOptions,

    /// A header to set on every request to the API; may be repeated
    ///
    /// Such as `authorization: Bearer ${OPENAI_API_KEY}`; variables are read from the environment.
    #[arg(long, value_name = "HEADER")]
    upstream_header: Vec<String>,

    /// The file of client keys, one per line (`#` begins a comment); clients must send one of them
    #[arg(long, value_name = "FILE", requires = "upstream_header")]
    client_key_file: Option<PathBuf>,

    /// The certificate chain, in PEM format; clients must then use TLS
    #[cfg(feature = "tls")]
    #[arg(long, value_name = "FILE", requires = "tls_key")]
    tls_cert: Option<PathBuf>,

    /// The private key of the certificate, in PEM format
    #[cfg(feature = "tls")]
    #[arg(long, value_name = "FILE", requires = "tls_cert")]
    tls_key: Option<PathBuf>,

    #[command(flatten)]
    clients: HttpOptions,
}

const EXAMPLES: &str = "\
Examples:
  Guard an agent that calls OpenAI
    callwright serve --upstream https://api.openai.com
    OPENAI_BASE_URL=http://127.0.0.1:8787/v1 my-agent

  Only judge and record, to see what would be done
    callwright serve --upstream https://api.openai.com --mode observe --record calls.jsonl

  A local model that writes its calls as text, and is asked again if they are wrong
    callwright serve --upstream http://127.0.0.1:8080 --reask 1 --policy callwright.toml";

pub(crate) fn run(arguments: &ServeArguments) -> Result<CommandOutcome> {
    raise_open_file_limit();
    let mut options = options(arguments)?;
    if let Some((lines, tools_listed)) = arguments.record.open()? {
        let sinks = Sinks::builder().sink("record", lines).start();
        options.sinks = sinks.context("cannot start threads")?;
        options.tools_listed = Some(tools_listed.into());
    }
    #[cfg(feature = "tls")]
    if let (Some(certificate), Some(key)) = (&arguments.tls_cert, &arguments.tls_key) {
        options.tls = Some(ServerTls::read(certificate, key)?);
    }
    let sinks = options.sinks.clone();
    #[cfg(feature = "tls")]
    let tls = options.tls.clone();
    // The error's text already gives the reason; the chain of causes would repeat it.
    let gateway = Gateway::new(options).map_err(|error| anyhow::anyhow!("{error}"))?;
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .context("cannot start threads")?;
    let reload = || {
        gateway.reload(&self::options(arguments)?)?;
        #[cfg(feature = "tls")]
        if let (Some(tls), Some(certificate), Some(key)) =
            (&tls, &arguments.tls_cert, &arguments.tls_key)
        {
            tls.reload(certificate, key)?;
        }
        Ok(())
    };
    let served = runtime.block_on(serve(arguments, &gateway, reload));
    warn_of_lost_records(&sinks);
    Ok(match served {
        Ok(()) => CommandOutcome::Clean,
        Err(error) => error.report(),
    })
}

async fn serve(
    arguments: &ServeArguments,
    gateway: &Gateway,
    reload: impl Fn() -> Result<()>,
) -> Result<(), NotServed> {
    let clients = &arguments.clients;
    let (listener, admin) = clients.bind(&arguments.listen, gateway.proxy()).await?;
    let at = listener.local_addr()?;
    tell(
        "serving",
        &format!("http://{at} guards {}", gateway.upstream()),
    );
    let admin = async {
        if let Some(listener) = admin {
            let at = listener.local_addr()?;
            tell("serving", &format!("status page at http://{at}/"));
            gateway.serve_admin(listener).await?;
        }
        std::future::pending().await
    };
    tokio::select! {
        served = gateway.serve(listener, ended()) => Ok(served?),
        failed = admin => failed,
        () = reload_on_hangup(reload) => Ok(()),
    }
}

/// Reloads the files on SIGHUP. If one of them has a mistake, nothing changes.
async fn reload_on_hangup(reload: impl Fn() -> Result<()>) {
    #[cfg(unix)]
    {
        use tokio::signal::unix::{SignalKind, signal};
        if let Ok(mut hangup) = signal(SignalKind::hangup()) {
            while hangup.recv().await.is_some() {
                match reload() {
                    Ok(()) => tell(
                        "serving",
                        "reloaded the policy, keys, headers and certificates",
                    ),
                    Err(error) => {
                        tell("error", &format!("{error:#}"));
                        tell(
                            "error",
                            "nothing was changed; the old settings stay in force",
                        );
                    }
                }
            }
        }
    }
    // Without SIGHUP, nothing is ever reloaded.
    #[cfg(not(unix))]
    drop(reload);
    std::future::pending::<()>().await;
}

fn options(arguments: &ServeArguments) -> Result<GatewayOptions> {
    let mut options = GatewayOptions::new(&arguments.upstream);
    options.mode = arguments.mode;
    options.rescue = arguments.rescue;
    options.reask = arguments.reask;
    options.reask_writes = arguments.reask_writes;
    options.loops = arguments.loops;
    options.history = arguments.history;
    options.hold = Duration::from_secs(u64::from(arguments.hold));
    if let Some(path) = &arguments.policy {
        options.policy = input::read_policy(path)?;
    }
    options.upstream_headers = arguments
        .upstream_header
        .iter()
        .map(|header| read_header(header))
        .collect::<Result<_>>()?;
    if let Some(path) = &arguments.client_key_file {
        options.client_keys = read_keys(path)?;
    }
    arguments.clients.apply(&mut options.proxy);
    Ok(options)
}

/// A header with the variables in its value expanded. Errors never show the value: it may be a secret.
fn read_header(header: &str) -> Result<(String, String)> {
    let Some((name, value)) = header.split_once(':') else {
        bail!("--upstream-header must have the form 'name: value'");
    };
    let mut rest = value.trim();
    let mut written = String::new();
    while let Some((before, after)) = rest.split_once("${") {
        let Some((variable, after)) = after.split_once('}') else {
            bail!("--upstream-header {name}: `${{` without a closing `}}`");
        };
        let value = std::env::var(variable).with_context(|| {
            format!("--upstream-header {name}: cannot read the variable {variable}")
        })?;
        written.push_str(before);
        written.push_str(&value);
        rest = after;
    }
    written.push_str(rest);
    Ok((name.trim().to_owned(), written))
}

fn read_keys(path: &Path) -> Result<Vec<String>> {
    let text = input::read_text(path, "file of client keys", LARGEST_KEY_FILE)?;
    let keys: Vec<String> = text
        .lines()
        .map(str::trim)
        .filter(|key| !key.is_empty() && !key.starts_with('#'))
        .map(str::to_owned)
        .collect();
    if keys.is_empty() {
        bail!(
            "{} contains no client keys; put one on each line",
            input::shown(path)
        );
    }
    Ok(keys)
}
