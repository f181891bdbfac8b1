//! The command line: commands, options and their help.

use std::ffi::OsString;
use std::path::PathBuf;

use callwright::feedback::Style;
use callwright::policy::Validation;
use callwright::repair::RepairPolicy;
use callwright::wire::{Provider, ProviderSummary};
use clap::builder::styling::{AnsiColor, Styles};
use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, Parser, Subcommand, ValueEnum};

use crate::http_options::HttpOptions;
use crate::record::RecordOptions;
use crate::version;

const STYLES: Styles = Styles::styled()
    .header(AnsiColor::Green.on_default().bold())
    .usage(AnsiColor::Green.on_default().bold())
    .literal(AnsiColor::Cyan.on_default().bold())
    .placeholder(AnsiColor::Cyan.on_default());

/// A guard between language models and their tools.
#[derive(Debug, Parser)]
#[command(name = "callwright", version = version::SHORT, long_version = version::LONG, styles = STYLES)]
#[command(
    after_help = "`callwright` without arguments shows where to start; `callwright help COMMAND` has examples."
)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    pub(crate) command: Option<Command>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    Check(CheckArguments),
    Completions(crate::shell::CompletionsArguments),
    Doctor(crate::doctor::DoctorArguments),
    Explain(ExplainArguments),
    Init(crate::init::InitArguments),
    Man(crate::shell::ManArguments),
    Mcp(McpArguments),
    Replay(Box<crate::replay::args::ReplayArguments>),
    Serve(crate::serve::ServeArguments),
}

/// Judge calls against the schemas of their tools
///
/// Reads calls and prints one verdict per call, in input order.
///
/// Exit codes: 0 if every call is valid or repaired; 1 if a call or a result is refused, or a call could not be judged;
/// 2 if the options are wrong or any input could not be read.
#[derive(Debug, Args)]
#[command(after_long_help = examples_and_shapes())]
pub(crate) struct CheckArguments {
    /// The tools: a JSON array, or an object with a `tools` member
    ///
    /// The result of an MCP `tools/list` request works as it is.
    #[arg(long, value_name = "FILE")]
    pub(crate) tools: PathBuf,

    /// The form of the feedback for the model; `instruction` by default
    #[arg(long, value_name = "STYLE", value_parser = named(&Style::ALL))]
    pub(crate) style: Option<Style>,

    /// The policy file, in TOML
    ///
    /// docs/policy.md describes it. No default location is searched.
    #[arg(long, value_name = "FILE")]
    pub(crate) policy: Option<PathBuf>,

    /// The highest repair grade for all tools, overriding the policy; `by_effect` by default
    ///
    /// `by_effect` is `guess` for tools that are declared read-only and `lossless` for all others.
    #[arg(long, value_name = "GRADE", value_parser = named(&RepairPolicy::ALL))]
    pub(crate) repair: Option<RepairPolicy>,

    /// Show every repair that was tried, or why none was tried (text output only)
    #[arg(long)]
    pub(crate) explain: bool,

    /// Extract calls that the model wrote into a message as text
    ///
    /// Such as `<tool_call>…</tool_call>`. The message must contain nothing else, except around calls of tools that are
    /// declared read-only.
    #[arg(long)]
    pub(crate) rescue: bool,

    /// The output format: text for people, JSON Lines for programs
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    pub(crate) format: OutputFormat,

    /// Also mask secrets in the `tool`, `arguments` and `edits` of JSON output
    ///
    /// Secrets are values that a schema marks `writeOnly` or `format: password`. Everything else that is printed masks
    /// them anyway; these three show them by default, for programs that need the values.
    #[arg(long)]
    pub(crate) mask_secrets: bool,

    /// The file of calls or complete model responses; `-` for standard input
    ///
    /// JSON Lines, a JSON array, or concatenated JSON documents; plain, gzip or zstd.
    #[arg(value_name = "CALLS", default_value = "-")]
    pub(crate) calls: PathBuf,
}

/// Examples, and the input shapes that `check` accepts, from the provider table.
fn examples_and_shapes() -> String {
    let list = |own: &str, of: fn(ProviderSummary) -> Option<&'static str>| {
        let own = (!own.is_empty()).then_some(("callwright", own));
        let summaries = Provider::ALL.iter().map(|(_, provider)| provider.summary());
        let shapes = summaries.filter_map(|summary| Some((summary.title, of(summary)?)));
        let rows = own.into_iter().chain(shapes);
        rows.map(|(title, shape)| format!("  {title:16}  {shape}\n"))
            .collect::<String>()
    };
    let tools = list("", |summary| Some(summary.tool));
    let calls = list(
        r#"{"tool", "arguments": object or text, "id"?, "finish_reason"?}"#,
        |summary| Some(summary.call),
    );
    let answers = list("", |summary| summary.answer);
    let messages = list(r#"{"text", "id"?, "finish_reason"?}"#, |summary| {
        summary.message
    });
    format!(
        r#"Examples:
  Verdicts for people
    callwright check --tools tools.json calls.jsonl

  Verdicts for programs, on calls from another program
    my-agent --log-calls | callwright check --tools tools.json --format json

  What a policy would do to recorded conversations
    callwright check --tools tools.json --policy callwright.toml calls.jsonl

Tool declarations, in any mix of these shapes:
{tools}
Calls, in any mix of these shapes:
{calls}
Complete model responses; a truncated call is recognised by the finish reason:
{answers}
A call in a conversation may also have:
  "session"         the conversation; a call without one is judged on its own
  "turn", "round"   a user message starts a turn (one turn for all calls if absent);
                    the calls of one response share a round (one per call if absent)
  "output"          the tool's result, any value or text; "is_error": true if it failed
Such a call is also judged by its history: retry budgets, loops, limits.

Messages, with --rescue, mixed with calls; calls in a message are judged on
their own:
{messages}"#
    )
}

/// Explain a code or a repair rule, or list all of them
#[derive(Debug, Args)]
#[command(after_long_help = EXPLAIN_EXAMPLES)]
pub(crate) struct ExplainArguments {
    /// A code or a repair rule; lists all codes if omitted
    pub(crate) name: Option<String>,

    /// List the repair rules instead of the codes
    #[arg(long, conflicts_with = "name")]
    pub(crate) repairs: bool,

    /// The output format
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    pub(crate) format: ExplainFormat,
}

const EXPLAIN_EXAMPLES: &str = "\
Examples:
  All codes in a table
    callwright explain

  One code, or one repair rule
    callwright explain truncated_call
    callwright explain null_left_out";

/// Guard one or more MCP servers
///
/// Starts the server and sits between it and the client: tool calls are judged before they reach the server, and
/// results before they reach the client. Everything else passes through unchanged.
///
/// Exit codes: the server's own, 2 if the options are wrong, 3 if the server cannot be started. With `--servers`: 0
/// when the client disconnects, 3 when no server is left.
#[derive(Debug, Args)]
#[command(after_long_help = MCP_EXAMPLES)]
pub(crate) struct McpArguments {
    /// The policy file, in TOML
    ///
    /// docs/policy.md describes it. No default location is searched.
    #[arg(long, value_name = "FILE")]
    pub(crate) policy: Option<PathBuf>,

    /// What to do with an invalid call or result
    ///
    /// `strict` repairs or refuses it, `warn` only reports it on stderr, `off` judges nothing.
    #[arg(long, value_name = "MODE", default_value = "strict", value_parser = named(&Validation::ALL))]
    pub(crate) mode: Validation,

    /// The form of the feedback for the model; `instruction` by default
    #[arg(long, value_name = "STYLE", value_parser = named(&Style::ALL))]
    pub(crate) style: Option<Style>,

    #[command(flatten)]
    pub(crate) record: RecordOptions,

    /// How many seconds without a call end a turn, for which calls are counted
    #[arg(long, value_name = "SECONDS", default_value = "120")]
    pub(crate) quiet_turn: u32,

    /// Trust the server's tool annotations even where that makes the guard less strict
    ///
    /// These are `readOnlyHint` and `idempotentHint`.
    #[arg(long)]
    pub(crate) trust_annotations: bool,

    /// Fix the parts of tool schemas that some clients are known to reject
    #[arg(long)]
    pub(crate) fix_schemas: bool,

    /// Print the entry for the client's configuration, before and after, and start nothing
    ///
    /// With `--servers`, prints the single entry that replaces all of them.
    #[arg(long, conflicts_with = "upstream")]
    pub(crate) print_config: bool,

    /// Guard all servers in this file, which has the format of a client's configuration
    ///
    /// The servers are under `mcpServers` or `servers`. Names of tools and prompts get the server's name as a prefix, as
    /// in `github__create_issue`.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["command", "upstream", "listen"])]
    pub(crate) servers: Option<PathBuf>,

    /// Guard the streamable HTTP server at this URL instead of starting one
    ///
    /// Without `--listen`, the client uses stdin and stdout.
    #[arg(long, value_name = "URL", conflicts_with = "command")]
    pub(crate) upstream: Option<String>,

    /// The address to listen on for HTTP clients, such as 127.0.0.1:8900
    ///
    /// Port 0 picks a free port. With a command, each client session gets its own server process.
    #[arg(long, value_name = "ADDRESS")]
    pub(crate) listen: Option<String>,

    /// The largest message, in bytes
    ///
    /// A client that sends a longer one gets an error, a server that does is stopped.
    #[arg(long, value_name = "BYTES", default_value_t = 64 * 1024 * 1024)]
    pub(crate) max_message_bytes: usize,

    /// The largest arguments of a call, in bytes; larger ones are refused
    #[arg(long, value_name = "BYTES", default_value_t = 8 * 1024 * 1024)]
    pub(crate) max_argument_bytes: usize,

    /// How many seconds to wait for servers to start
    ///
    /// With `--servers`, slower ones are added once they are up.
    #[arg(long, value_name = "SECONDS", default_value = "7")]
    pub(crate) start_limit: u32,

    #[command(flatten)]
    pub(crate) clients: HttpOptions,

    /// The request header that identifies a conversation, for servers without session ids
    ///
    /// Without it, calls to such servers are judged one by one, without history.
    #[arg(long, value_name = "NAME", requires = "listen")]
    pub(crate) session_header: Option<String>,

    /// The server command and its arguments, after the options or after `--`
    #[arg(
        value_name = "COMMAND",
        required_unless_present_any = ["upstream", "servers"],
        trailing_var_arg = true
    )]
    pub(crate) command: Vec<OsString>,
}

const MCP_EXAMPLES: &str = "\
Examples:
  Guard a server that the client talks to over stdio
    callwright mcp -- npx -y @modelcontextprotocol/server-filesystem ~/notes

  Print what to write into the client's configuration for that
    callwright mcp --print-config -- npx -y @modelcontextprotocol/server-filesystem ~/notes

  Guard all servers of a file, under one name
    callwright mcp --servers servers.json

  Guard a server that is reached over HTTP
    callwright mcp --upstream http://127.0.0.1:8000/mcp --listen 127.0.0.1:8900

  Warn only, and record every call
    callwright mcp --mode warn --record calls.jsonl -- my-server";

/// Parses a value by its name in a table.
pub(crate) fn named<T: Copy + Send + Sync + 'static>(
    table: &'static [(&'static str, T)],
) -> impl TypedValueParser<Value = T> {
    let names = table.iter().map(|(name, _)| *name);
    PossibleValuesParser::new(names).try_map(move |given| {
        let found = table.iter().find(|(name, _)| *name == given);
        found.map(|(_, value)| *value).ok_or("unknown name")
    })
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum OutputFormat {
    Text,
    Json,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ExplainFormat {
    Text,
    Json,
    Markdown,
}

#[cfg(test)]
mod tests;
