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
/// Reads calls and prints one verdict per call, in input order. Exit codes: 0 if every call is valid or repaired, 1
/// if any call is refused or could not be judged, 2 if any input could not be read.
#[derive(Debug, Args)]
#[command(after_long_help = shapes())]
pub(crate) struct CheckArguments {
    /// The tools: a JSON array, or an object with a `tools` member (such as an MCP `tools/list` result)
    #[arg(long, value_name = "FILE")]
    pub(crate) tools: PathBuf,

    /// The format of the feedback for the model
    #[arg(long, value_name = "STYLE", value_parser = named(&Style::ALL))]
    pub(crate) style: Option<Style>,

    /// The policy file, in TOML (see docs/policy.md); no default location is searched
    #[arg(long, value_name = "FILE")]
    pub(crate) policy: Option<PathBuf>,

    /// The highest repair grade for all tools, overriding the policy; the default, `by_effect`, is `guess` for read-only tools and
    /// `lossless` for all others
    #[arg(long, value_name = "GRADE", value_parser = named(&RepairPolicy::ALL))]
    pub(crate) repair: Option<RepairPolicy>,

    /// Show every repair that was tried, with its grade and cost, or why none was tried (text output only)
    #[arg(long)]
    pub(crate) explain: bool,

    /// Extract calls that the model wrote into a message as text, such as `<tool_call>…</tool_call>`, if the message
    /// contains nothing else
    #[arg(long)]
    pub(crate) rescue: bool,

    /// The output format: text for people, JSON Lines for programs
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    pub(crate) format: OutputFormat,

    /// Also mask values marked `writeOnly` or `format: password` in JSON output. Text output always masks them; JSON
    /// output shows them in `arguments` and `edits` by default, for programs that need the values
    #[arg(long)]
    pub(crate) mask_secrets: bool,

    /// The calls, or complete model responses: JSON Lines, a JSON array, or concatenated JSON documents; plain, gzip
    /// or zstd; `-` for standard input
    #[arg(value_name = "CALLS", default_value = "-")]
    pub(crate) calls: PathBuf,
}

/// The input shapes that `check` accepts, from the provider table.
fn shapes() -> String {
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
        r#"Tool declarations, in any mix of these shapes:
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
pub(crate) struct ExplainArguments {
    /// A code such as `truncated_call` or a repair rule such as `null_left_out`; lists all codes if omitted
    pub(crate) name: Option<String>,

    /// List the repair rules instead of the codes
    #[arg(long, conflicts_with = "name")]
    pub(crate) repairs: bool,

    /// The output format
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    pub(crate) format: ExplainFormat,
}

/// Guard one or more MCP servers
///
/// Starts the server and sits between it and the client: tool calls are judged before they reach the server, and
/// results before they reach the client. Everything else passes through unchanged. Exit codes: the server's own, 2 if
/// the options are wrong, 3 if the server cannot be started. With `--servers`: 0 when the client disconnects, 3 when
/// no server is left.
#[derive(Debug, Args)]
pub(crate) struct McpArguments {
    /// The policy file, in TOML (see docs/policy.md); no default location is searched
    #[arg(long, value_name = "FILE")]
    pub(crate) policy: Option<PathBuf>,

    /// What to do with an invalid call or result: `strict` refuses it, `warn` only reports it on stderr, `off`
    /// disables judging
    #[arg(long, value_name = "MODE", default_value = "strict", value_parser = named(&Validation::ALL))]
    pub(crate) mode: Validation,

    /// The format of the feedback for the model
    #[arg(long, value_name = "STYLE", value_parser = named(&Style::ALL))]
    pub(crate) style: Option<Style>,

    #[command(flatten)]
    pub(crate) record: RecordOptions,

    /// How long the client must be idle before its next call starts a new turn
    #[arg(long, value_name = "SECONDS", default_value = "120")]
    pub(crate) quiet_turn: u32,

    /// Trust the server's tool annotations (`readOnlyHint`), even where that makes the guard less strict
    #[arg(long)]
    pub(crate) trust_annotations: bool,

    /// Fix the parts of tool schemas that some clients are known to reject
    #[arg(long)]
    pub(crate) fix_schemas: bool,

    /// Print the client configuration entry, before and after, without starting anything; with `--servers`, the
    /// single entry that replaces all of them
    #[arg(long, conflicts_with = "upstream")]
    pub(crate) print_config: bool,

    /// Guard all servers in this file, which has the format of a client configuration (`mcpServers` or `servers`);
    /// tool and prompt names are prefixed with the server's name, as in `github__create_issue`
    #[arg(long, value_name = "FILE", conflicts_with_all = ["command", "upstream", "listen"])]
    pub(crate) servers: Option<PathBuf>,

    /// Guard the streamable HTTP server at this URL instead of starting one; without `--listen`, the client uses
    /// stdin and stdout
    #[arg(long, value_name = "URL", conflicts_with = "command")]
    pub(crate) upstream: Option<String>,

    /// The address to listen on for HTTP clients, such as 127.0.0.1:8900; port 0 picks a free port. With a command,
    /// each client session gets its own server process
    #[arg(long, value_name = "ADDRESS")]
    pub(crate) listen: Option<String>,

    /// The largest message, in bytes: a client that sends a longer one gets an error, a server that does is stopped
    #[arg(long, value_name = "BYTES", default_value_t = 64 * 1024 * 1024)]
    pub(crate) max_message_bytes: usize,

    /// The largest arguments of a call, in bytes; larger ones are refused
    #[arg(long, value_name = "BYTES", default_value_t = 8 * 1024 * 1024)]
    pub(crate) max_argument_bytes: usize,

    /// How long to wait for servers to start; with `--servers`, slower ones are added once they are up
    #[arg(long, value_name = "SECONDS", default_value = "7")]
    pub(crate) start_limit: u32,

    #[command(flatten)]
    pub(crate) clients: HttpOptions,

    /// A request header that identifies the conversation, for servers without session ids; without it, calls of such
    /// clients are judged one by one, without history
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
mod tests {
    use std::fs;
    use std::path::Path;

    use super::*;

    /// Every command shown in a document is accepted by the program.
    #[test]
    fn documents_show_commands_as_they_are() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        // A packaged crate has no documents.
        let Ok(docs) = fs::read_dir(root.join("docs")) else {
            return;
        };
        let docs = docs.map(|entry| entry.expect("an entry").path());
        let documents = docs.filter(|path| path.extension().is_some_and(|ending| ending == "md"));
        let mut commands = 0;
        for document in documents.chain([root.join("README.md"), root.join("examples/README.md")]) {
            let text = fs::read_to_string(&document).expect("a document");
            let blocks = text.split("```console\n").skip(1);
            let lines = blocks.flat_map(|block| block.split("```").next().unwrap_or("").lines());
            for line in lines.filter_map(|line| line.strip_prefix("$ ")) {
                let line = line.split(" #").next().unwrap_or(line);
                let line = line.split(" > ").next().unwrap_or(line);
                let ours = line.strip_prefix("cargo run -- ");
                let Some(ours) = ours.or_else(|| line.strip_prefix("callwright ")) else {
                    continue;
                };
                let words = ["callwright"].into_iter().chain(ours.split_whitespace());
                if let Err(error) = Arguments::try_parse_from(words) {
                    panic!("{}: {line}\n{error}", document.display());
                }
                commands += 1;
            }
        }
        assert!(commands > 15, "only {commands} commands were found");
    }
}
