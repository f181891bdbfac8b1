//! Renders a report as JSON for programs: the [`View`], serialised.

use std::io;

use serde_json::Value as Json;

use super::view::View;
use super::{Report, ReportError};

/// The report as one JSON object.
///
/// Fields may be added; none is renamed or dropped without a new `v`. Names and values from the log are unchanged:
/// escape them before printing. Times are RFC 3339 in UTC, time spans are in microseconds, sizes in bytes; unknown
/// values are `null`. Nothing is left out, and the most important entries come first.
///
/// | field | content |
/// |---|---|
/// | `v` | 1 |
/// | `headline` | what was found, in two or three sentences |
/// | `compared` | whether other tools or another policy judged as well |
/// | `changes` | what these would change, the stricter first: `stricter`, `tool`, `side`, `from`, `to`, what the stricter one objects to (`path`, `issue`), `calls`, `examples` |
/// | `read` | `files`, `bytes` (after decompression), `records`, `formats` (records by format), `first`, `last`, `without_calls`, `shown_again`, `results_without_call`, `forgotten_sessions`, `interrupted`, `troubles` (`what`, `records`, `places` of `file` and `line`), `notes` (sentences) |
/// | `calls` | counts (below), `sessions`, and of the violations: `allowed_by_proposals`, `look_like_bugs`, `undecided`; and `undeclared`, calls that were not judged because nothing declares their tools |
/// | `tools` | `name`, counts, `sessions`, `versions`, `quarantined`, `latency_us`, `models` (calls by model) |
/// | `models` | `name`, counts |
/// | `time` | `from`, `width_us`, counts; pieces without calls are left out |
/// | `clusters` | `number`, `tool`, `side`, `path`, `issue`, `shape`, `calls`, `share`, `alone`, `repaired`, `rules`, `first`, `last`, `sessions`, `models`, `values`, `smallest`, `largest`, `led_to`, `judgement` (`kind`, `score`, `reasons` of `points` and `why`), `proposals` (numbers), `examples` |
/// | `proposals` | `number`, `tool`, `side`, `change`, `title`, `kind`, `clusters` (numbers), `pointer`, `before`, `after`, `patch`, `accepts`, `accepts_bugs`, `is_estimate`, `touches`, `shared_by`, `proved`, `proof` |
/// | `unplaced` | `cluster` (a number), `why`: not a bug, and no change is known that would allow it |
/// | `advice` | `tool`, `path`, `text` |
/// | `loops` | `code`, `calls`, `sessions`, `latency_us`, `result_bytes`, `tools`, `examples` |
/// | `repairs` | how often each rule was applied |
///
/// Counts are `calls`, `valid`, `unjudged`, `repaired`, `refused` (these four add up to `calls`), `warned` (of the valid ones,
/// those that the policy lets through with a warning), `violations` (repaired, refused or warned),
/// `stopped`, `results`, `results_refused`, `tool_errors`. `led_to` has `ran_fine`, `tool_refused`, `unknown` (these add up to
/// the calls), `corrected`, `repeated`, `gave_up`. An example has `value` (JSON text with secrets masked; empty for a
/// missing key), `whole`, `arguments` (of the call around it, perhaps cut), `place`, `time`, `session`, `model`. Numbers of sessions above 256 are estimates.
///
/// # Errors
///
/// None that is known: every field is a text, a number or a list of such.
pub fn json(report: &Report) -> Result<Json, ReportError> {
    let view = View::of(report).map_err(ReportError::new)?;
    serde_json::to_value(view).map_err(ReportError::new)
}

/// Writes what [`json()`] returns, without keeping all of it in memory, which is a lot with thousands of clusters.
///
/// # Errors
///
/// If it cannot be written.
pub fn write_json(report: &Report, to: impl io::Write) -> Result<(), ReportError> {
    let view = View::of(report).map_err(ReportError::new)?;
    serde_json::to_writer(to, &view).map_err(ReportError::new)
}
