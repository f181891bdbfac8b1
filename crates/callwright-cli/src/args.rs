//! The command line: commands, options and their help.

use std::ffi::OsString;
use std::path::PathBuf;

use callwright::event::Values;
use callwright::feedback::Style;
use callwright::policy::Validation;
use callwright::repair::{Grade, RepairPolicy};
use clap::builder::styling::{AnsiColor, Styles};
use clap::{Args, Parser, Subcommand, ValueEnum};

const STYLES: Styles = Styles::styled()
    .header(AnsiColor::Green.on_default().bold())
    .usage(AnsiColor::Green.on_default().bold())
    .literal(AnsiColor::Cyan.on_default().bold())
    .placeholder(AnsiColor::Cyan.on_default());

/// A guard between language models and their tools.
#[derive(Debug, Parser)]
#[command(name = "callwright", version, styles = STYLES)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    Check(CheckArguments),
    Explain(ExplainArguments),
    Mcp(McpArguments),
    Replay(Box<crate::replay::args::ReplayArguments>),
}

/// Judge calls against the schemas of their tools
///
/// Reads one call per line and prints one verdict per call, in the same order. Exit codes: 0 if all calls
/// are valid or repaired, 1 if at least one is refused or could not be judged, 2 if something could not be read.
#[derive(Debug, Args)]
#[command(after_long_help = SHAPES)]
pub(crate) struct CheckArguments {
    /// The tools: a JSON array, or an object with `tools` (such as an MCP `tools/list` result)
    #[arg(long, value_name = "FILE")]
    pub(crate) tools: PathBuf,

    /// The format of the feedback to the model
    #[arg(long, value_name = "STYLE")]
    pub(crate) style: Option<StyleName>,

    /// The policy, a TOML file (see docs/policy.md); no default location is searched
    #[arg(long, value_name = "FILE")]
    pub(crate) policy: Option<PathBuf>,

    /// The highest grade of repair for all tools, overriding the policy; the default is `guess` for tools
    /// that only read and `lossless` for all others
    #[arg(long, value_name = "GRADE")]
    pub(crate) repair: Option<RepairName>,

    /// Show every repair that was tried, with its grade and cost (text only)
    #[arg(long)]
    pub(crate) explain: bool,

    /// Extract calls that a model wrote into a message as text, such as `<tool_call>…</tool_call>`, if the
    /// message holds nothing else
    #[arg(long)]
    pub(crate) rescue: bool,

    /// The output format: text for people, JSON Lines for programs
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    pub(crate) format: Format,

    /// Also mask values marked `writeOnly` or `format: password` in JSON output. Text output always masks them; by
    /// default `arguments` and `edits` in JSON do not, for programs that need the values
    #[arg(long)]
    pub(crate) mask_secrets: bool,

    /// The calls, one JSON object per line; `-` for standard input
    #[arg(value_name = "CALLS", default_value = "-")]
    pub(crate) calls: PathBuf,
}

const SHAPES: &str = "\
Tool declarations, in any mix of these shapes:
  MCP               {\"name\", \"description\", \"inputSchema\", \"annotations\"}
  OpenAI chat       {\"type\": \"function\", \"function\": {\"name\", \"description\", \"parameters\"}}
  OpenAI responses  {\"type\": \"function\", \"name\", \"description\", \"parameters\"}
  Anthropic         {\"name\", \"description\", \"input_schema\"}
  Gemini            {\"functionDeclarations\": [{\"name\", \"description\", \"parameters\"}]}

Calls, in any mix of these shapes:
  callwright        {\"tool\", \"arguments\": object or text, \"id\"?, \"finish_reason\"?}
  OpenAI chat       {\"id\", \"type\": \"function\", \"function\": {\"name\", \"arguments\"}}
  OpenAI responses  {\"type\": \"function_call\", \"call_id\", \"name\", \"arguments\"}
  Anthropic         {\"type\": \"tool_use\", \"id\", \"name\", \"input\"}
  Gemini            {\"functionCall\": {\"name\", \"args\"}}
  MCP               {\"jsonrpc\": \"2.0\", \"id\", \"method\": \"tools/call\", \"params\": {\"name\", \"arguments\"}}

Calls that belong to a conversation have these members as well:
  \"session\"         the conversation; a call without one is judged by itself
  \"turn\", \"round\"   a message of the user begins a turn (one for all calls if absent); calls of one
                    answer share a round (one per call if absent)
  \"output\"          the tool's result, a value or text; \"is_error\": true if it is an error
They are also judged by what came before them: retry budgets, loops, limits.

Messages, with --rescue, also mixed with calls; calls in a message are judged by themselves:
  callwright        {\"text\", \"id\"?, \"finish_reason\"?}
  OpenAI chat       {\"role\": \"assistant\", \"content\"}
  Anthropic         {\"type\": \"text\", \"text\"}, or {\"role\": \"assistant\", \"content\": [one text block]}";

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
/// Starts the server and sits between it and the client: tool calls are judged before they reach the
/// server, and results before they reach the client. Everything else passes unchanged. Exit codes: the
/// server's own, 2 if the options are wrong, 3 if the server cannot be started. With `--servers`: 0 when
/// the client disconnects, 3 if no server is left.
#[derive(Debug, Args)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a flag of the command line"
)]
pub(crate) struct McpArguments {
    /// The policy, a TOML file (see docs/policy.md); no default location is searched
    #[arg(long, value_name = "FILE")]
    pub(crate) policy: Option<PathBuf>,

    /// What happens to an invalid call or result: `strict` refuses it, `warn` only reports it on stderr, `off` judges
    /// nothing
    #[arg(long, value_name = "MODE", default_value = "strict")]
    pub(crate) mode: ModeName,

    /// The format of the feedback to the model
    #[arg(long, value_name = "STYLE")]
    pub(crate) style: Option<StyleName>,

    /// Append a record of every call to this file, as JSON Lines
    #[arg(long, value_name = "FILE")]
    pub(crate) record: Option<PathBuf>,

    /// Which values the records contain: `masked` leaves out those that a schema marks as secret
    #[arg(
        long,
        value_name = "VALUES",
        default_value = "masked",
        requires = "record"
    )]
    pub(crate) record_values: ValuesName,

    /// How long the client must be silent before its next call starts a new turn
    #[arg(long, value_name = "SECONDS", default_value = "120")]
    pub(crate) quiet_turn: u32,

    /// Trust the server's annotations of its tools (`readOnlyHint`), even where that makes the guard less strict
    #[arg(long)]
    pub(crate) trust_annotations: bool,

    /// Fix the parts of tool schemas that clients are known to reject
    #[arg(long)]
    pub(crate) fix_schemas: bool,

    /// Print the entry for a client's configuration, before and after, without starting anything; with `--servers`, the
    /// one entry that replaces all of them
    #[arg(long, conflicts_with = "upstream")]
    pub(crate) print_config: bool,

    /// Guard all servers in this file, which has the format of a client's configuration (`mcpServers` or `servers`);
    /// tools and prompts are prefixed with the server's name, as in `github__create_issue`
    #[arg(long, value_name = "FILE", conflicts_with_all = ["command", "upstream", "listen"])]
    pub(crate) servers: Option<PathBuf>,

    /// Guard the streamable HTTP server at this URL instead of starting one; without `--listen`, the client is on stdin
    /// and stdout
    #[arg(long, value_name = "URL", conflicts_with = "command")]
    pub(crate) upstream: Option<String>,

    /// The address to listen on for HTTP clients, such as 127.0.0.1:8900; port 0 picks a free one
    #[arg(long, value_name = "ADDRESS", requires = "upstream")]
    pub(crate) listen: Option<String>,

    /// Accept clients from other machines; they are not authenticated
    #[arg(long, requires = "listen")]
    pub(crate) allow_remote: bool,

    /// Accept requests for this host name, besides `localhost` and IP addresses
    #[arg(long, value_name = "NAME", requires = "listen")]
    pub(crate) allow_host: Vec<String>,

    /// Accept requests from web pages of this origin, such as `https://app.example`
    #[arg(long, value_name = "ORIGIN", requires = "listen")]
    pub(crate) allow_origin: Vec<String>,

    /// A request header that identifies the conversation, for servers without session ids; without it, the calls of
    /// such clients are judged one by one and not remembered
    #[arg(long, value_name = "NAME", requires = "listen")]
    pub(crate) session_header: Option<String>,

    /// The server's command and its arguments, after `--`
    #[arg(
        value_name = "COMMAND",
        required_unless_present_any = ["upstream", "servers"],
        last = true
    )]
    pub(crate) command: Vec<OsString>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ModeName {
    Strict,
    Warn,
    Off,
}

impl ModeName {
    pub(crate) fn validation(self) -> Validation {
        match self {
            ModeName::Strict => Validation::Strict,
            ModeName::Warn => Validation::Warn,
            ModeName::Off => Validation::Off,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ValuesName {
    Masked,
    All,
    None,
}

impl ValuesName {
    pub(crate) fn values(self) -> Values {
        match self {
            ValuesName::Masked => Values::Masked,
            ValuesName::All => Values::All,
            ValuesName::None => Values::None,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum RepairName {
    None,
    Lossless,
    Lossy,
    Guess,
}

impl RepairName {
    pub(crate) fn policy(self) -> RepairPolicy {
        match self {
            RepairName::None => RepairPolicy::Never,
            RepairName::Lossless => RepairPolicy::UpTo(Grade::Lossless),
            RepairName::Lossy => RepairPolicy::UpTo(Grade::Lossy),
            RepairName::Guess => RepairPolicy::UpTo(Grade::Guess),
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    Text,
    Json,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ExplainFormat {
    Text,
    Json,
    Markdown,
}

/// A style of the library by its name.
#[derive(Debug, Clone, Copy)]
pub(crate) struct StyleName(pub(crate) Style);

impl ValueEnum for StyleName {
    fn value_variants<'a>() -> &'a [Self] {
        const {
            &[
                StyleName(Style::ALL[0].1),
                StyleName(Style::ALL[1].1),
                StyleName(Style::ALL[2].1),
                StyleName(Style::ALL[3].1),
            ]
        }
    }

    fn to_possible_value(&self) -> Option<clap::builder::PossibleValue> {
        let (name, _) = Style::ALL.iter().find(|(_, style)| *style == self.0)?;
        Some(clap::builder::PossibleValue::new(*name))
    }
}
