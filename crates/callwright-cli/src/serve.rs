//! `callwright serve`: a gateway in front of an LLM API.
//!
//! Nothing is written to stdout. Warnings go to stderr. SIGHUP reads the policy, the keys and the headers again; SIGTERM and
//! Ctrl-C let answers in progress finish.

use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result, bail};
use callwright::event::{Sinks, Values};
use callwright_gateway::{Gateway, GatewayOptions, History, Loops, Mode, ProxyError, Rescue};
use callwright_http::server::raise_open_file_limit;
#[cfg(feature = "tls")]
use callwright_http::tls::ServerTls;
use clap::Args;
use tokio::net::TcpListener;

use crate::args::{VALUES, named};
use crate::clients::ClientArguments;
use crate::mcp::{ended, tell, warn_of_lost_records};
use crate::{Outcome, input, record};

/// The exit code if the address cannot be listened on.
const NOT_SERVED: u8 = 3;

/// Guard an agent by sitting between it and its LLM API
///
/// Point the agent's base URL at this address instead of the provider's. Every tool call in every answer is judged
/// against the tools of its request, and repaired in place where that is provably safe; everything else passes as the
/// bytes that came. Knows OpenAI chat completions and responses, Anthropic messages and Gemini, streamed or not. Exit
/// codes: 0 after SIGTERM or Ctrl-C, 2 if the options are wrong, 3 if the address cannot be used.
#[derive(Debug, Args)]
pub(crate) struct ServeArguments {
    /// The API to guard, such as `https://api.openai.com`; paths of requests are appended
    #[arg(long, value_name = "URL")]
    upstream: String,

    /// The address to listen on; port 0 picks a free one
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:8787")]
    listen: String,

    /// What happens to calls: `guard` repairs them, `observe` only judges and records them, `off` ignores them
    #[arg(long, value_name = "MODE", default_value = "guard", value_parser = named(&MODES))]
    mode: Mode,

    /// Whether calls that a model wrote as text become proper calls: `auto` means yes, except in front of the official hosts
    /// of OpenAI, Anthropic and Google
    #[arg(long, value_name = "WHEN", default_value = "auto", value_parser = named(&RESCUES))]
    rescue: Rescue,

    /// How often the model is asked again for a call that was refused, as a request of the gateway's own; only for tools
    /// that are declared to read
    #[arg(long, value_name = "TIMES", default_value = "0", value_parser = clap::value_parser!(u32).range(0..=3))]
    reask: u32,

    /// Also ask again for tools that write, but never for those that destroy or spend
    #[arg(long, requires = "reask")]
    reask_writes: bool,

    /// What happens to calls that repeat what the conversation already holds: `observe` records them, `stop` ends the agent's
    /// loop with a text that says what was repeated, `off` does not look at the conversation
    #[arg(long, value_name = "WHAT", default_value = "observe", value_parser = named(&LOOPS))]
    loops: Loops,

    /// What happens to a conversation that the provider rejects with 400: `mend` mends visible defects (calls without results,
    /// results without calls, duplicate ids) and sends it once more
    #[arg(long, value_name = "WHAT", default_value = "off", value_parser = named(&HISTORIES))]
    history: History,

    /// How long a streamed call may be held until it is whole; after that it passes as it came
    #[arg(long, value_name = "SECONDS", default_value = "20")]
    hold: u32,

    /// The policy, a TOML file (see docs/policy.md); no default location is searched
    #[arg(long, value_name = "FILE")]
    policy: Option<PathBuf>,

    /// Append a record of every call to this file, as JSON Lines
    #[arg(long, value_name = "FILE")]
    record: Option<PathBuf>,

    /// Which values the records contain: `masked` leaves out those that a schema marks as secret, and what looks like a
    /// password, a key or a token
    #[arg(
        long,
        value_name = "VALUES",
        default_value = "masked",
        value_parser = named(&VALUES),
        requires = "record"
    )]
    record_values: Values,

    /// A header for every request to the API, such as `authorization: Bearer ${OPENAI_API_KEY}`; variables come from the
    /// environment
    #[arg(long, value_name = "HEADER")]
    upstream_header: Vec<String>,

    /// A file with keys, one per line; clients must send one of them as their API key
    #[arg(long, value_name = "FILE", requires = "upstream_header")]
    client_key_file: Option<PathBuf>,

    /// A certificate chain as PEM: clients have to use TLS
    #[cfg(feature = "tls")]
    #[arg(long, value_name = "FILE", requires = "tls_key")]
    tls_cert: Option<PathBuf>,

    /// The private key of the certificate, as PEM
    #[cfg(feature = "tls")]
    #[arg(long, value_name = "FILE", requires = "tls_cert")]
    tls_key: Option<PathBuf>,

    #[command(flatten)]
    clients: ClientArguments,
}

const MODES: [(&str, Mode); 3] = [
    ("guard", Mode::Guard),
    ("observe", Mode::Observe),
    ("off", Mode::Off),
];

const RESCUES: [(&str, Rescue); 3] = [
    ("auto", Rescue::Auto),
    ("on", Rescue::On),
    ("off", Rescue::Off),
];

const LOOPS: [(&str, Loops); 3] = [
    ("observe", Loops::Observe),
    ("stop", Loops::Stop),
    ("off", Loops::Off),
];

const HISTORIES: [(&str, History); 2] = [("off", History::Off), ("mend", History::Mend)];

pub(crate) fn run(arguments: &ServeArguments) -> Result<Outcome> {
    raise_open_file_limit();
    let mut options = options(arguments)?;
    if let Some(path) = &arguments.record {
        let (lines, tools_listed) = record::open(path, arguments.record_values)?;
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
    // Its text already says why; the chain of causes would say it twice.
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
        Ok(()) => Outcome::Clean,
        Err(ProxyError::Io(error)) => {
            let listen = &arguments.listen;
            tell(
                "error",
                &format!("cannot listen on {listen}: {error}; choose another address"),
            );
            Outcome::Passed(NOT_SERVED)
        }
        Err(error) => {
            tell("error", &error.to_string());
            Outcome::Passed(NOT_SERVED)
        }
    })
}

async fn serve(
    arguments: &ServeArguments,
    gateway: &Gateway,
    reload: impl Fn() -> Result<()>,
) -> Result<(), ProxyError> {
    let listener = TcpListener::bind(&arguments.listen).await?;
    let at = listener.local_addr()?;
    tell(
        "serving",
        &format!("http://{at} guards {}", gateway.upstream()),
    );
    let admin = async {
        if let Some(address) = &arguments.clients.admin {
            let listener = TcpListener::bind(address).await?;
            let at = listener.local_addr()?;
            tell("serving", &format!("http://{at}/ shows what happens"));
            gateway.serve_admin(listener).await?;
        }
        std::future::pending().await
    };
    tokio::select! {
        served = gateway.serve(listener, ended()) => served,
        failed = admin => failed,
        () = reload_on_hangup(reload) => Ok(()),
    }
}

/// Reads the files again whenever the operator says so. A mistake in one of them changes nothing.
async fn reload_on_hangup(reload: impl Fn() -> Result<()>) {
    #[cfg(unix)]
    {
        use tokio::signal::unix::{SignalKind, signal};
        if let Ok(mut hangup) = signal(SignalKind::hangup()) {
            while hangup.recv().await.is_some() {
                match reload() {
                    Ok(()) => tell(
                        "serving",
                        "policy, keys, headers and certificates were read again",
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
    // Without that signal nothing is read again.
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

/// A header with the variables in its value replaced. The value is not shown: it may be a secret.
fn read_header(header: &str) -> Result<(String, String)> {
    let Some((name, value)) = header.split_once(':') else {
        bail!("--upstream-header needs the form 'name: value'");
    };
    let mut rest = value.trim();
    let mut written = String::new();
    while let Some((before, after)) = rest.split_once("${") {
        let Some((variable, after)) = after.split_once('}') else {
            bail!("--upstream-header {name}: `${{` has no `}}`");
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
    let text = std::fs::read_to_string(path)
        .with_context(|| format!("cannot read client keys from {}", path.display()))?;
    let keys: Vec<String> = text
        .lines()
        .map(str::trim)
        .filter(|key| !key.is_empty())
        .map(str::to_owned)
        .collect();
    if keys.is_empty() {
        bail!("{} has no client keys; write one per line", path.display());
    }
    Ok(keys)
}
