//! What can be typed behind `callwright replay`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use crate::args::{Format, RepairName};

/// Judge recorded traffic, and propose where schemas are too strict
///
/// Runs the guard offline over logs: which calls break their schema, what came of them, which of these
/// are bugs and which are edge cases that the schema should allow, and the smallest changes that allow
/// them. Nothing is sent anywhere, and no tool is called. docs/replay.md is the guide.
///
/// Exit code 0: nothing to object to; 1: a call or a result was refused, or with `--against` something
/// got stricter; 2: something about these options is wrong, or nothing could be read or judged;
/// 130: interrupted, after a report of what was done.
#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true, after_long_help = FORMATS)]
pub(crate) struct ReplayArguments {
    #[command(subcommand)]
    pub(crate) step: Option<Step>,

    #[command(flatten)]
    pub(crate) run: RunArguments,
}

const FORMATS: &str = "\
Formats are told by their content, and mixed files are fine: records of `--record`, call lines as for
`callwright check`, requests and responses of OpenAI (chat and responses), Anthropic and Gemini, message
arrays, MCP messages, OpenTelemetry spans (OTLP JSON); one per line, or whole JSON files; plain, gzip or
zstd. docs/replay-formats.md tells what is taken from each. A record that cannot be read is counted and
named in the report; it does not stop the run, nor change the exit code.

Examples:
  A summary on the terminal
    callwright replay --tools tools.json logs/
  A page to look at, and the proposals in a file
    callwright replay --tools tools.json --report report.html --suggest changes.json 'logs/*.jsonl.gz'
  A new tools file with two of the proposals
    callwright replay apply --tools tools.json --suggestions changes.json --accept 1,3 --output new.json
  Which verdicts the new file changes, before it ships
    callwright replay --tools tools.json --against new.json logs/
  A long run that can be interrupted with Ctrl-C and goes on when started again
    callwright replay --tools tools.json --state replay.state logs/
  Parts on several machines, put together
    callwright replay --tools tools.json --emit-summary part-1.json part-1.jsonl
    callwright replay merge --report week.html part-*.json";

#[derive(Debug, Subcommand)]
pub(crate) enum Step {
    Merge(MergeArguments),
    Apply(ApplyArguments),
    Review(ReviewArguments),
}

#[derive(Debug, Args)]
pub(crate) struct RunArguments {
    /// The tools, a JSON file as for `callwright check`. Without it calls are judged by the tools that the
    /// logs themselves show, as requests and `tools/list` answers do; logs in files are read twice then
    #[arg(long, value_name = "FILE")]
    pub(crate) tools: Option<PathBuf>,

    /// The settings, a TOML file as in docs/policy.md; no other file is looked for
    #[arg(long, value_name = "FILE")]
    pub(crate) policy: Option<PathBuf>,

    /// The highest grade of repair, whatever the policy says: by default up to `guess` for tools that only
    /// read and `lossless` for all others
    #[arg(long, value_name = "GRADE")]
    pub(crate) repair: Option<RepairName>,

    /// Other tools to compare with: which verdicts would change? The exit code is 1 only if something gets
    /// stricter
    #[arg(long, value_name = "FILE")]
    pub(crate) against: Option<PathBuf>,

    /// Another policy to compare with, for the tools of `--tools` or `--against`; limits and loops are not
    /// compared
    #[arg(long, value_name = "FILE")]
    pub(crate) against_policy: Option<PathBuf>,

    /// Keep the state of the run in this file: after Ctrl-C, the same command goes on from there. It is
    /// deleted when the run has come to its end. Logs must be the same, standard input from its beginning
    #[arg(long, value_name = "FILE")]
    pub(crate) state: Option<PathBuf>,

    /// How many threads; all cores by default
    #[arg(long, value_name = "COUNT")]
    pub(crate) threads: Option<std::num::NonZero<usize>>,

    #[command(flatten)]
    pub(crate) output: OutputArguments,

    /// Files, folders, patterns such as 'logs/*.jsonl', or `-` for standard input
    #[arg(value_name = "LOGS", required = true)]
    pub(crate) logs: Vec<String>,
}

#[derive(Debug, Args)]
pub(crate) struct OutputArguments {
    /// Write a report to look at: one page, which needs no network
    #[arg(long, value_name = "OUT.html")]
    pub(crate) report: Option<PathBuf>,

    /// Write the proposals as JSON Patches, for `apply` and `review`
    #[arg(long, value_name = "OUT.json")]
    pub(crate) suggest: Option<PathBuf>,

    /// After the report, walk through the proposals on the terminal, one key per decision. Decisions are
    /// kept in the file of `--suggest`; `callwright replay review` goes on with those that are open
    #[arg(long, requires = "suggest")]
    pub(crate) review: bool,

    /// Write the counts alone, for `merge`: no calls, only numbers and masked examples
    #[arg(long, value_name = "PART.json")]
    pub(crate) emit_summary: Option<PathBuf>,

    /// What to print: text for people, one JSON object for programs
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    pub(crate) format: Format,
}

/// Put the counts of several runs together
///
/// Each run is over a part of the logs, with all calls of a conversation in one part. The order does not
/// matter, and merged counts can be merged again.
#[derive(Debug, Args)]
pub(crate) struct MergeArguments {
    #[command(flatten)]
    pub(crate) output: OutputArguments,

    /// What `--emit-summary` wrote
    #[arg(value_name = "PARTS", required = true)]
    pub(crate) parts: Vec<PathBuf>,
}

/// Write a new tools file with proposals that were accepted
///
/// Only the places that change are rewritten. If a schema is another one than when the proposals were made,
/// or one of them is not proved to only loosen, nothing is written and the exit code is 2.
#[derive(Debug, Args)]
pub(crate) struct ApplyArguments {
    /// The tools as they are
    #[arg(long, value_name = "FILE")]
    pub(crate) tools: PathBuf,

    /// What `--suggest` wrote
    #[arg(long, value_name = "FILE")]
    pub(crate) suggestions: PathBuf,

    /// The numbers of the proposals; without it those that were accepted in a review
    #[arg(long, value_name = "NUMBERS", value_delimiter = ',')]
    pub(crate) accept: Option<Vec<usize>>,

    /// Apply also proposals that are not proved to only loosen
    #[arg(long)]
    pub(crate) force: bool,

    /// Where to write the new tools; standard output by default
    #[arg(long, short, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
}

/// Walk through proposals on the terminal, one key per decision
///
/// `y` accepts, `n` rejects, space leaves it open, `b` goes back, `q` quits. Every decision is written at
/// once, so a review can be broken off and goes on with the first that is open.
#[derive(Debug, Args)]
pub(crate) struct ReviewArguments {
    /// What `--suggest` wrote; decisions are kept in it
    #[arg(value_name = "SUGGESTIONS")]
    pub(crate) suggestions: PathBuf,
}
