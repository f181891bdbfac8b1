//! The command line of `callwright replay`.

use std::path::PathBuf;

use callwright::repair::RepairPolicy;
use clap::{Args, Subcommand};

use crate::args::{OutputFormat, named};

/// Judge recorded traffic, and propose where schemas are too strict
///
/// Runs the guard offline over logs: which calls violate their schema and how they ended, which of them are bugs and
/// which are edge cases that the schema should allow, and the smallest schema changes that allow those. Nothing is
/// sent anywhere, and no tool is called. See docs/replay.md.
///
/// Exit codes: 0 if nothing was refused; 1 if a call or a result was refused or, with `--against`, if something got
/// stricter; 2 if the options are wrong, or if nothing could be read or judged; 130 if interrupted, after reporting
/// what was done so far.
#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true, after_long_help = FORMATS)]
pub(crate) struct ReplayArguments {
    #[command(subcommand)]
    pub(crate) command: Option<ReplayCommand>,

    #[command(flatten)]
    pub(crate) run: RunArguments,
}

// Paragraphs are wrapped to the width of the terminal; the commands fit into 80 columns.
const FORMATS: &str = "\
Formats are recognised by their content and may be mixed: records of `--record`, call lines as for `callwright check`, \
requests and responses of OpenAI (chat and responses), Anthropic and Gemini, message arrays, MCP messages, OpenTelemetry \
spans (OTLP JSON); one per line, or whole JSON files; plain, gzip or zstd. docs/replay-formats.md describes what is read \
from each. A record that cannot be read is counted and named in the report; it neither stops the run nor changes the exit \
code.

Examples:
  A summary on the terminal
    callwright replay --tools tools.json logs/

  An HTML report, and the proposals in a file
    callwright replay --tools tools.json --report report.html \\
      --suggest changes.json 'logs/*.jsonl.gz'

  A new tool file with two of the proposals
    callwright replay apply --tools tools.json --suggestions changes.json \\
      --accept 1,3 --output new.json

  Which verdicts the new tool file would change
    callwright replay --tools tools.json --against new.json logs/

  A long run that Ctrl-C interrupts and the same command continues
    callwright replay --tools tools.json --state replay.state logs/

  Parts on several machines, merged
    callwright replay --tools tools.json --part 1 \\
      --emit-summary part-1.json.gz part-1.jsonl
    callwright replay merge --report week.html part-*.json.gz";

#[derive(Debug, Subcommand)]
pub(crate) enum ReplayCommand {
    Merge(MergeArguments),
    Apply(ApplyArguments),
    Review(ReviewArguments),
}

#[derive(Debug, Args)]
pub(crate) struct RunArguments {
    /// The tools, a JSON file as for `callwright check`; by default those found in the logs
    ///
    /// Logs declare tools in requests and in `tools/list` results. Without this option they are read twice.
    #[arg(long, value_name = "FILE")]
    pub(crate) tools: Option<PathBuf>,

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

    /// Other tools to compare with: shows which verdicts would change
    ///
    /// The exit code is then 1 only if something gets stricter.
    #[arg(long, value_name = "FILE")]
    pub(crate) against: Option<PathBuf>,

    /// Another policy to compare with, for the tools of `--against` or `--tools`
    ///
    /// Limits and loops are not compared.
    #[arg(long, value_name = "FILE")]
    pub(crate) against_policy: Option<PathBuf>,

    /// Keep the state of the run in this file: after Ctrl-C, the same command continues from there
    ///
    /// The file is deleted when the run completes. Tools, policies and logs must be the same; standard input must start
    /// from the beginning.
    #[arg(long, value_name = "FILE")]
    pub(crate) state: Option<PathBuf>,

    /// An id for this part of the logs, so that `merge` counts it once even if it is given twice
    #[arg(long, value_name = "ID", requires = "emit_summary", value_parser = clap::builder::NonEmptyStringValueParser::new())]
    pub(crate) part: Option<String>,

    /// The number of threads; one per core by default
    #[arg(long, value_name = "COUNT")]
    pub(crate) threads: Option<std::num::NonZero<usize>>,

    #[command(flatten)]
    pub(crate) output: OutputArguments,

    /// Files, directories, patterns such as 'logs/*.jsonl', or `-` for standard input
    #[arg(value_name = "LOGS", required = true)]
    pub(crate) logs: Vec<String>,
}

#[derive(Debug, Args)]
pub(crate) struct OutputArguments {
    /// Write an HTML report: one self-contained page
    #[arg(long, value_name = "OUT.html")]
    pub(crate) report: Option<PathBuf>,

    /// Write the proposals as JSON Patches, for `apply` and `review`
    #[arg(long, value_name = "OUT.json")]
    pub(crate) suggest: Option<PathBuf>,

    /// Then review the proposals on the terminal, one key per decision
    ///
    /// Decisions are saved in the `--suggest` file; `callwright replay review` continues with the open ones.
    #[arg(long, requires = "suggest")]
    pub(crate) review: bool,

    /// Write only the counts, for `merge`
    ///
    /// The file has no calls, just numbers and masked examples. It is compressed if its name ends in `.gz`.
    #[arg(long, value_name = "PART.json.gz")]
    pub(crate) emit_summary: Option<PathBuf>,

    /// The output format: text for people, one JSON object for programs
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    pub(crate) format: OutputFormat,
}

/// Merge the counts of several runs
///
/// Each run covers a part of the logs, with all calls of a conversation in the same part. The order does not matter,
/// and merged counts can be merged again. A part with an id (`--part`) counts once: a second summary of it is skipped
/// if the counts are the same, and aborts the merge if they differ.
///
/// Exit codes: as for `callwright replay`.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  The report of all parts
    callwright replay merge part-*.json.gz

  A page, and the sum for a later merge
    callwright replay merge --report week.html --emit-summary week.json.gz part-*.json.gz")]
pub(crate) struct MergeArguments {
    #[command(flatten)]
    pub(crate) output: OutputArguments,

    /// Files written by `--emit-summary`
    #[arg(value_name = "PARTS", required = true)]
    pub(crate) parts: Vec<PathBuf>,
}

/// Write a new tool file with the accepted proposals
///
/// Only the places that change are rewritten. If a schema has changed since the proposals were made, or a proposal is
/// not proved to only loosen it, nothing is written and the exit code is 2.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  The proposals that a review accepted
    callwright replay apply --tools tools.json --suggestions changes.json --output new.json

  These two
    callwright replay apply --tools tools.json --suggestions changes.json --accept 1,3 \\
      --output new.json")]
pub(crate) struct ApplyArguments {
    /// The current tool file
    #[arg(long, value_name = "FILE")]
    pub(crate) tools: PathBuf,

    /// The file written by `--suggest`
    #[arg(long, value_name = "FILE")]
    pub(crate) suggestions: PathBuf,

    /// The numbers of the proposals to apply; by default those accepted in a review
    #[arg(long, value_name = "NUMBERS", value_delimiter = ',')]
    pub(crate) accept: Option<Vec<usize>>,

    /// Also apply proposals that are not proved to only loosen the schema
    #[arg(long)]
    pub(crate) force: bool,

    /// Where to write the new tool file; standard output by default
    #[arg(long, short, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
}

/// Review proposals on the terminal, one key per decision
///
/// `y` accepts, `n` rejects, space leaves a proposal open, `b` goes back, `q` quits. Every decision is saved
/// immediately, so an interrupted review continues with the first open proposal.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  Decide, then write the new tool file
    callwright replay review changes.json
    callwright replay apply --tools tools.json --suggestions changes.json --output new.json")]
pub(crate) struct ReviewArguments {
    /// The file written by `--suggest`; decisions are saved in it
    #[arg(value_name = "SUGGESTIONS")]
    pub(crate) suggestions: PathBuf,
}
