//! Replays records provided by the caller instead of files: rows of a table, messages of a queue, a partition of a
//! larger job.

use std::sync::Mutex;
use std::sync::atomic::Ordering;

use super::engine::Engine;
use super::{ReplaySettings, RunError};
use crate::source::RecordPieces;
use crate::summary::Summary;

/// Judges and counts records, each the bytes of one JSON text in any format that a replay reads.
///
/// All calls of a conversation should be in one such run, in order; parts divided like this merge to what one run
/// over everything would count ([`Summary::merge`]). Examples and troubles give `name` as their file, and the number
/// of the record as the line. If [`ReplaySettings::tools`] is `None`, a call is judged by what its own record or an
/// earlier one declares, on a single thread.
///
/// The threads of the run take records in turn, and wait for the iterator. It may stop early, for example after an
/// error of its own: what it returned until then is counted. With [`ReplaySettings::stop`] set, the run ends after
/// the records at hand, and the summary is marked as interrupted.
///
/// # Errors
/// Fails if the tools cannot be used, or the iterator panics.
pub fn replay_records<I>(
    name: &str,
    records: I,
    settings: ReplaySettings,
) -> Result<Summary, RunError>
where
    I: IntoIterator<Item: AsRef<[u8]>, IntoIter: Send>,
{
    let stop = settings.stop.clone();
    let stops = || {
        let stop = stop.as_ref();
        stop.is_some_and(|stop| stop.load(Ordering::Relaxed))
    };
    let engine = Engine::new(settings, &[])?;
    let pieces = Mutex::new(RecordPieces::new(name, records.into_iter()));
    engine.count(&pieces, &stops)?;
    Ok(engine.finish(!stops()))
}
