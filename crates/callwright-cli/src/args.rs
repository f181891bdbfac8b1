//! What can be typed.

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
/// Reads one call per line and prints one verdict per call, in the same order. Exit code 0: all calls
/// are valid; 1: at least one is refused; 2: something could not be read.
#[derive(Debug, Args)]
#[command(after_long_help = SHAPES)]
pub(crate) struct CheckArguments {
    /// The tools: a JSON array, or an object with `tools` (an MCP `tools/list` answer as it is)
    #[arg(long, value_name = "FILE")]
    pub(crate) tools: PathBuf,

    /// The shape of the feedback to the model
    #[arg(long, value_name = "STYLE")]
    pub(crate) style: Option<StyleName>,

    /// The settings, a TOML file as in docs/policy.md; no other file is looked for
    #[arg(long, value_name = "FILE")]
    pub(crate) policy: Option<PathBuf>,

    /// The highest grade of repair that is applied to calls of any tool, whatever the policy says: by
    /// default up to `guess` for tools that only read and `lossless` for all others
    #[arg(long, value_name = "GRADE")]
    pub(crate) repair: Option<RepairName>,

    /// Show every repair that was tried on a refused or repaired call, with its grade and cost (text only)
    #[arg(long)]
    pub(crate) explain: bool,

    /// Take calls out of messages in which a model wrote them as text, such as
    /// `<tool_call>…</tool_call>`: only where they are all that the message holds
    #[arg(long)]
    pub(crate) rescue: bool,

    /// What to print: text for people, JSON Lines for programs
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    pub(crate) format: Format,

    /// Hide the values that a schema marks with `writeOnly` or `format: password` in the JSON output too. Text never
    /// shows them; `arguments` and `edits` in JSON do without this, for programs that need them
    #[arg(long)]
    pub(crate) mask_secrets: bool,

    /// The calls, one JSON object per line; `-` for standard input
    #[arg(value_name = "CALLS", default_value = "-")]
    pub(crate) calls: PathBuf,
}

const SHAPES: &str = "\
Shapes of a tool, mixed freely:
  MCP               {\"name\", \"description\", \"inputSchema\", \"annotations\"}
  OpenAI chat       {\"type\": \"function\", \"function\": {\"name\", \"description\", \"parameters\"}}
  OpenAI responses  {\"type\": \"function\", \"name\", \"description\", \"parameters\"}
  Anthropic         {\"name\", \"description\", \"input_schema\"}
  Gemini            {\"functionDeclarations\": [{\"name\", \"description\", \"parameters\"}]}

Shapes of a call, mixed freely:
  callwright        {\"tool\", \"arguments\": object or text, \"id\"?, \"finish_reason\"?}
  OpenAI chat       {\"id\", \"type\": \"function\", \"function\": {\"name\", \"arguments\"}}
  OpenAI responses  {\"type\": \"function_call\", \"call_id\", \"name\", \"arguments\"}
  Anthropic         {\"type\": \"tool_use\", \"id\", \"name\", \"input\"}
  Gemini            {\"functionCall\": {\"name\", \"args\"}}
  MCP               {\"jsonrpc\": \"2.0\", \"id\", \"method\": \"tools/call\", \"params\": {\"name\", \"arguments\"}}

Beside any of these, for calls that belong to a conversation:
  \"session\"         which conversation: calls without one are judged by themselves
  \"turn\", \"round\"   a message of the user begins a turn (one for all if absent); calls of one
                    answer share a round (each its own if absent)
  \"output\"          what the tool answered, a value or text; \"is_error\": true if that is an error
They are also judged by what came before: retry budgets, loops, limits.

Shapes of a message, with --rescue, mixed with calls freely; the calls in it are judged by themselves:
  callwright        {\"text\", \"id\"?, \"finish_reason\"?}
  OpenAI chat       {\"role\": \"assistant\", \"content\"}
  Anthropic         {\"type\": \"text\", \"text\"}, or {\"role\": \"assistant\", \"content\": [one text block]}";

/// Explain a code or a rule of repair, or list all of them
#[derive(Debug, Args)]
pub(crate) struct ExplainArguments {
    /// A code such as `truncated_call`, or a rule such as `null_left_out`; without it, all codes are listed
    pub(crate) name: Option<String>,

    /// List the rules of repair instead of the codes
    #[arg(long, conflicts_with = "name")]
    pub(crate) repairs: bool,

    /// What to print
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    pub(crate) format: ExplainFormat,
}

/// Guard an MCP server, or several
///
/// Starts the server and stands between it and the client: calls of its tools are judged before they
/// reach it, and their results before they reach the client. Everything else passes as it is. Exit code:
/// the server's own; 2 if something about these options is wrong; 3 if the server cannot be started. With
/// `--servers`: 0 when the client has ended; 3 if no server is left.
#[derive(Debug, Args)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a flag of the command line"
)]
pub(crate) struct McpArguments {
    /// The settings, a TOML file as in docs/policy.md; no other file is looked for
    #[arg(long, value_name = "FILE")]
    pub(crate) policy: Option<PathBuf>,

    /// What an objection leads to: `strict` refuses, `warn` only tells on stderr, `off` judges nothing
    #[arg(long, value_name = "MODE", default_value = "strict")]
    pub(crate) mode: ModeName,

    /// The shape of the feedback to the model
    #[arg(long, value_name = "STYLE")]
    pub(crate) style: Option<StyleName>,

    /// Append a record of every call to this file, one line of JSON each
    #[arg(long, value_name = "FILE")]
    pub(crate) record: Option<PathBuf>,

    /// Which values the records show: `masked` shows all but those that a schema marks as secrets
    #[arg(
        long,
        value_name = "VALUES",
        default_value = "masked",
        requires = "record"
    )]
    pub(crate) record_values: ValuesName,

    /// How long the client is silent before its next call counts as a new turn
    #[arg(long, value_name = "SECONDS", default_value = "120")]
    pub(crate) quiet_turn: u32,

    /// Believe what the server says about its tools (`readOnlyHint`), even where that makes the guard milder
    #[arg(long)]
    pub(crate) trust_annotations: bool,

    /// Correct what clients choke on in the schemas that pass by
    #[arg(long)]
    pub(crate) fix_schemas: bool,

    /// Print the entry for a client's configuration, before and after, and start nothing; with `--servers` the one
    /// entry that stands for all
    #[arg(long, conflicts_with = "upstream")]
    pub(crate) print_config: bool,

    /// Guard all servers of this file, which is written like a client's configuration (`mcpServers`, or `servers`); the
    /// names of their tools and prompts begin with the server's: `github__create_issue`
    #[arg(long, value_name = "FILE", conflicts_with_all = ["command", "upstream", "listen"])]
    pub(crate) servers: Option<PathBuf>,

    /// Guard the server at this address, which speaks streamable HTTP, instead of starting one; without `--listen` the
    /// client is on stdin and stdout
    #[arg(long, value_name = "URL", conflicts_with = "command")]
    pub(crate) upstream: Option<String>,

    /// Where clients find it over HTTP, such as 127.0.0.1:8900; port 0 takes any
    #[arg(long, value_name = "ADDRESS", requires = "upstream")]
    pub(crate) listen: Option<String>,

    /// Let clients on other machines in, though nobody asks who they are
    #[arg(long, requires = "listen")]
    pub(crate) allow_remote: bool,

    /// A name that this machine is known by to clients, besides `localhost` and numbers
    #[arg(long, value_name = "NAME", requires = "listen")]
    pub(crate) allow_host: Vec<String>,

    /// A web page that may come in, such as `https://app.example`
    #[arg(long, value_name = "ORIGIN", requires = "listen")]
    pub(crate) allow_origin: Vec<String>,

    /// A header by which clients tell their conversations apart, where the server does not name sessions; without
    /// one, calls of such clients are judged one by one and none is remembered
    #[arg(long, value_name = "NAME", requires = "listen")]
    pub(crate) session_header: Option<String>,

    /// The server: a command and its arguments, behind `--`
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
