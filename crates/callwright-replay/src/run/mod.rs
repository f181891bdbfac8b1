//! Reads, judges and counts on all cores.
//!
//! Workers take pieces of the log in turn. Each counts for itself; only what depends on the order of calls is done
//! one piece after another. Memory does not grow with the log. A run is divided into legs: between two of them, and
//! when it is interrupted, everything is in one [`Checkpoint`], from which another run can continue.

mod against;
mod checkpoint;
mod counts;
mod declared;
mod engine;
mod records;
mod sighting;
mod tool_store;
mod tools;
mod turn;
mod turnstile;
mod worker;

use std::num::NonZero;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use callwright::{Policy, ToolSpec};

pub use self::checkpoint::{Checkpoint, CheckpointError, SettingsDigest};
pub use self::declared::DeclaredTools;
pub use self::records::replay_records;
pub use self::tools::ToolSet;
pub(crate) use self::turn::AwaitedCall;
pub use self::turnstile::{TurnTicket, Turnstile};

use self::engine::Engine;
use crate::conversation::Conversations;
use crate::source::{Input, Pieces, Position, Progress, SourceError};
use crate::summary::Summary;

/// How much text is counted between two checkpoints by default.
const LEG_BYTES: u64 = 2 * 1024 * 1024 * 1024;

/// What a log is judged by, and how the run is done.
#[derive(Debug, Clone, Default)]
pub struct ReplaySettings {
    /// The tools; `None` uses those that the log itself declares.
    pub tools: Option<DeclaredTools>,
    /// The policy.
    pub policy: Policy,
    /// Other tools, or another policy, to compare with.
    pub against: Option<(Vec<ToolSpec>, Policy)>,
    /// How many workers; all cores by default.
    pub workers: Option<NonZero<usize>>,
    /// How much text is counted between two checkpoints; two gigabytes, a few seconds' worth, by default.
    pub leg_bytes: Option<u64>,
    /// When set, stops looking for tools in the log, and reading records. The run can then only end.
    pub stop: Option<Arc<AtomicBool>>,
    /// The id of the part of a log that the run covers: [`Summary::merge`] counts a part once. Without one, the
    /// counts are added as often as they are merged.
    pub part: Option<String>,
    /// Where the tools, the policies and their options come from: a run can only be resumed with the same sources.
    pub digest: SettingsDigest,
}

/// Why a run is not possible.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RunError {
    /// The tools cannot be used.
    #[error(transparent)]
    Tools(#[from] callwright::Error),
    /// The log cannot be read from where another run stopped.
    #[error(transparent)]
    Source(#[from] SourceError),
    /// The interrupted run had other settings; these differ.
    #[error(
        "{} changed since the run was interrupted, so the counts would not add up; restore {}, or delete the state file to start over",
        .0.join(" and "), if .0.len() == 1 { "it" } else { "them" }
    )]
    OtherSettings(Vec<String>),
    /// The state does not say which settings it was made with.
    #[error(
        "an earlier version wrote the state, and its settings cannot be compared; delete the state file to start over"
    )]
    UnknownSettings,
    /// A worker panicked.
    #[error("a worker thread panicked; please report this as a bug")]
    Worker,
}

/// A run over some inputs.
#[derive(Debug)]
pub struct Run {
    engine: Engine,
    pieces: Mutex<Pieces>,
    progress: Arc<Progress>,
    position: Option<Position>,
    files_before: u64,
    ended: bool,
    digest: SettingsDigest,
    leg_bytes: u64,
}

impl Run {
    /// Prepares a run. If the tools come from the log, this reads all of it once.
    ///
    /// # Errors
    /// Fails if the tools cannot be used.
    pub fn new(inputs: Vec<Input>, settings: ReplaySettings) -> Result<Self, RunError> {
        let digest = settings.digest.clone();
        let leg_bytes = settings.leg_bytes.unwrap_or(LEG_BYTES);
        let engine = Engine::new(settings, &inputs)?;
        let pieces = Pieces::new(inputs);
        Ok(Run {
            engine,
            progress: pieces.progress(),
            pieces: Mutex::new(pieces),
            position: None,
            files_before: 0,
            ended: false,
            digest,
            leg_bytes,
        })
    }

    /// Continues where another run stopped, with the same inputs and settings.
    ///
    /// # Errors
    /// Fails if the tools cannot be used, or the inputs or settings differ.
    pub fn resume(
        inputs: Vec<Input>,
        settings: ReplaySettings,
        checkpoint: Checkpoint,
    ) -> Result<Self, RunError> {
        let before = checkpoint.settings.as_ref();
        let before = before.ok_or(RunError::UnknownSettings)?;
        let differences = settings.digest.differences(before);
        if !differences.is_empty() {
            return Err(RunError::OtherSettings(differences));
        }
        let left = match &checkpoint.position {
            _ if checkpoint.ended => Pieces::new(Vec::new()),
            Some(position) => Pieces::resume(inputs.clone(), position.clone())?,
            None => Pieces::new(inputs.clone()),
        };
        let mut run = Run::new(inputs, settings)?;
        run.progress = left.progress();
        run.pieces = Mutex::new(left);
        run.files_before = checkpoint.summary.input.files;
        *run.engine.conversations() = Conversations::resume(checkpoint.conversations);
        *run.engine.summary() = checkpoint.summary;
        (run.position, run.ended) = (checkpoint.position, checkpoint.ended);
        Ok(run)
    }

    /// How far reading has come.
    pub fn progress(&self) -> Arc<Progress> {
        Arc::clone(&self.progress)
    }

    /// How many calls have been counted so far, for a progress bar.
    pub fn calls(&self) -> Arc<AtomicU64> {
        self.engine.calls()
    }

    /// Runs until the end, until the leg is complete, or until `stop` is set. Returns whether that was the end.
    ///
    /// # Errors
    /// Fails if a worker panicked, which is a bug.
    pub fn leg(&mut self, stop: &AtomicBool) -> Result<bool, RunError> {
        let until = self.progress.text_bytes().saturating_add(self.leg_bytes);
        let is_stopped = || stop.load(Ordering::Relaxed);
        let is_far = || self.progress.text_bytes() >= until;
        let last = self
            .engine
            .count(&self.pieces, &|| is_stopped() || is_far())?;
        self.ended = !is_stopped() && !is_far();
        // Files without content have no piece, but still count.
        self.engine.summary().input.files = self.progress.files().max(self.files_before);
        self.position = last.or(self.position.take());
        Ok(self.ended)
    }

    /// The state between two legs.
    pub fn checkpoint(&self) -> Checkpoint {
        Checkpoint {
            settings: Some(self.digest.clone()),
            position: self.position.clone(),
            ended: self.ended,
            summary: self.engine.summary().clone(),
            conversations: self.engine.conversations().save(),
        }
    }

    /// The counts. An unfinished run is marked as interrupted.
    pub fn finish(self) -> Summary {
        self.engine.finish(self.ended)
    }
}
