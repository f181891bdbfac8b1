//! A report → JSON for programs.
//!
//! The fields are a contract of their own, documented at [`json`]: what is counted inside may change, these names do not.

mod change;
mod cluster;
mod read;

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::Value as Json;

use crate::summary::Tally;

use super::outlook::{self, Outlook};
use super::{Error, Report, date, ranking};
use change::ChangeObject;
use cluster::{ClusterObject, ExampleObject, Proposal, UnplacedObject};
use read::Read;

/// The version of the form. Raised when a field is renamed or dropped.
const VERSION: u32 = 1;

/// The whole of it.
#[derive(Serialize)]
struct Document {
    v: u32,
    /// What was found, in two or three sentences.
    headline: String,
    /// Whether other tools or another policy were compared.
    compared: bool,
    /// Verdicts that the other one changes; the stricter first.
    changes: Vec<ChangeObject>,
    /// What was read, and what could not be.
    read: Read,
    /// All calls.
    calls: Calls,
    /// Those whose calls break their schema most often first.
    tools: Vec<Tool>,
    /// Likewise.
    models: Vec<Model>,
    /// Calls over time, in pieces of equal width; pieces without calls are left out.
    time: Vec<Piece>,
    /// Violations of one kind each, the most frequent first.
    clusters: Vec<ClusterObject>,
    /// Changes of schemas, numbered as `apply --accept` wants them.
    proposals: Vec<Proposal>,
    /// Clusters that are no bugs, and for which no change is known.
    unplaced: Vec<UnplacedObject>,
    advice: Vec<Advice>,
    /// What admission would have stopped, by code.
    loops: Vec<Loop>,
    /// How often each rule of repair was applied.
    repairs: BTreeMap<String, u64>,
}

/// Counts of verdicts. The first three add up to `calls`.
#[derive(Serialize)]
struct Counts {
    calls: u64,
    valid: u64,
    repaired: u64,
    refused: u64,
    /// Repaired and refused.
    violations: u64,
    /// Calls that admission would have stopped, valid or not.
    stopped: u64,
    /// Calls whose result is known.
    results: u64,
    results_refused: u64,
    tool_errors: u64,
}

#[derive(Serialize)]
struct Calls {
    #[serde(flatten)]
    counts: Counts,
    /// How many conversations there are; above 256 an estimate.
    sessions: u64,
    /// Violations that all proposals together would allow.
    allowed_by_proposals: u64,
    /// Of the others, those that look like bugs.
    look_like_bugs: u64,
    /// Of the others, those that a person has to look at: unclear ones, and edge cases for which there is no proposal.
    undecided: u64,
    /// Calls that were not judged, because nothing declares their tools. They count as valid.
    undeclared: u64,
}

#[derive(Serialize)]
struct Tool {
    name: String,
    #[serde(flatten)]
    counts: Counts,
    sessions: u64,
    /// How many declarations of it there were. Zero if it was never declared.
    versions: usize,
    /// Why its schema does not compile, if it does not: then its calls were not judged.
    quarantined: Option<String>,
    latency_us: u64,
    /// Calls by model.
    models: BTreeMap<String, u64>,
}

#[derive(Serialize)]
struct Model {
    name: String,
    #[serde(flatten)]
    counts: Counts,
}

#[derive(Serialize)]
struct Piece {
    from: String,
    width_us: i64,
    #[serde(flatten)]
    counts: Counts,
}

#[derive(Serialize)]
struct Advice {
    tool: String,
    path: String,
    text: String,
}

#[derive(Serialize)]
struct Loop {
    code: String,
    calls: u64,
    sessions: u64,
    latency_us: u64,
    result_bytes: u64,
    /// Calls by tool.
    tools: BTreeMap<String, u64>,
    examples: Vec<ExampleObject>,
}

impl From<&Tally> for Counts {
    fn from(tally: &Tally) -> Self {
        Counts {
            calls: tally.calls,
            valid: tally.valid,
            repaired: tally.repaired,
            refused: tally.refused,
            violations: tally.violations(),
            stopped: tally.stopped,
            results: tally.results,
            results_refused: tally.results_refused,
            tool_errors: tally.tool_errors,
        }
    }
}

/// The report as one JSON object.
///
/// Fields may be added; none is renamed or dropped without a new `v`. Names and values of the log stand as they are in the
/// log: whoever prints them escapes them. Times are RFC 3339 in UTC, time spans are in microseconds, sizes in bytes; what
/// is not known is `null`. Nothing is left out, and what matters most comes first.
///
/// | field | what it holds |
/// |---|---|
/// | `v` | 1 |
/// | `headline` | what was found, in two or three sentences |
/// | `compared` | whether other tools or another policy judged as well |
/// | `changes` | what these would change, the stricter first: `stricter`, `tool`, `side`, `from`, `to`, what the stricter one objects to (`path`, `issue`), `calls`, `examples` |
/// | `read` | `files`, `bytes`, `records`, `formats` (records by format), `first`, `last`, `without_calls`, `shown_again`, `results_without_call`, `forgotten_sessions`, `interrupted`, `troubles` (`what`, `records`, `places` of `file` and `line`), `notes` (sentences) |
/// | `calls` | counts (below), `sessions`, and of the violations: `allowed_by_proposals`, `look_like_bugs`, `undecided`; and `undeclared`, calls that were not judged because nothing declares their tools |
/// | `tools` | `name`, counts, `sessions`, `versions`, `quarantined`, `latency_us`, `models` (calls by model) |
/// | `models` | `name`, counts |
/// | `time` | `from`, `width_us`, counts; pieces without calls are left out |
/// | `clusters` | `number`, `tool`, `side`, `path`, `issue`, `shape`, `calls`, `share`, `alone`, `repaired`, `rules`, `first`, `last`, `sessions`, `models`, `values`, `smallest`, `largest`, `led_to`, `judgement` (`kind`, `score`, `reasons` of `points` and `why`), `proposals` (numbers), `examples` |
/// | `proposals` | `number`, `tool`, `side`, `change`, `title`, `kind`, `clusters` (numbers), `pointer`, `before`, `after`, `patch`, `accepts`, `accepts_bugs`, `is_estimate`, `touches`, `shared_by`, `proved`, `proof` |
/// | `unplaced` | `cluster` (a number), `why`: no bug, and no change is known that would allow it |
/// | `advice` | `tool`, `path`, `text` |
/// | `loops` | `code`, `calls`, `sessions`, `latency_us`, `result_bytes`, `tools`, `examples` |
/// | `repairs` | how often each rule was applied |
///
/// Counts are `calls`, `valid`, `repaired`, `refused` (these three add up to `calls`), `violations` (the last two of them),
/// `stopped`, `results`, `results_refused`, `tool_errors`. `led_to` has `ran_fine`, `tool_refused`, `unknown`, `corrected`,
/// `repeated`, `gave_up`. An example has `value`, `whole`, `place`, `time`, `session`, `model`. Numbers of sessions above 256
/// are estimates.
///
/// # Errors
///
/// None that is known: every field is a text, a number or a list of such.
pub fn json(report: &Report) -> Result<Json, Error> {
    serde_json::to_value(document(report)).map_err(Error::new)
}

fn document(report: &Report) -> Document {
    let summary = &report.summary;
    let outlook = Outlook::of(report);
    Document {
        v: VERSION,
        headline: outlook::sentences(report, &outlook).join(" "),
        compared: summary.compared,
        changes: change::changes(report),
        read: Read::of(report),
        calls: Calls {
            counts: (&summary.calls).into(),
            sessions: summary.sessions.count(),
            allowed_by_proposals: outlook.allowed,
            look_like_bugs: outlook.bugs,
            undecided: outlook.undecided,
            undeclared: outlook.undeclared,
        },
        tools: tools(report),
        models: ranking::models(report)
            .into_iter()
            .map(|(name, tally)| Model {
                name: name.to_owned(),
                counts: tally.into(),
            })
            .collect(),
        time: summary
            .time
            .iter()
            .map(|(from, tally)| Piece {
                from: date::rfc_3339(from),
                width_us: summary.time.width_us(),
                counts: tally.into(),
            })
            .collect(),
        clusters: ranking::clusters(report)
            .iter()
            .map(ClusterObject::from)
            .collect(),
        proposals: cluster::proposals(report),
        unplaced: cluster::unplaced(report),
        advice: report
            .proposals
            .advice
            .iter()
            .map(|advice| Advice {
                tool: advice.tool.clone(),
                path: advice.path.clone(),
                text: advice.text.clone(),
            })
            .collect(),
        loops: loops(report),
        repairs: summary.repairs.clone(),
    }
}

fn tools(report: &Report) -> Vec<Tool> {
    ranking::tools(report)
        .into_iter()
        .map(|(name, tool)| Tool {
            name: name.to_owned(),
            counts: (&tool.tally).into(),
            sessions: tool.sessions.count(),
            versions: tool.versions.len(),
            quarantined: tool
                .newest()
                .and_then(|version| version.quarantined.clone()),
            latency_us: tool.latency_us,
            models: owned(tool.models.iter()),
        })
        .collect()
}

fn loops(report: &Report) -> Vec<Loop> {
    let mut all: Vec<_> = report.summary.loops.iter().collect();
    all.sort_by_key(|(code, stopped)| (std::cmp::Reverse(stopped.calls), *code));
    all.into_iter()
        .map(|(code, stopped)| Loop {
            code: code.clone(),
            calls: stopped.calls,
            sessions: stopped.sessions.count(),
            latency_us: stopped.latency_us,
            result_bytes: stopped.result_bytes,
            tools: owned(stopped.tools.iter()),
            examples: stopped.examples.iter().map(ExampleObject::from).collect(),
        })
        .collect()
}

fn owned<'m>(map: impl Iterator<Item = (&'m String, &'m u64)>) -> BTreeMap<String, u64> {
    map.map(|(name, count)| (name.clone(), *count)).collect()
}
