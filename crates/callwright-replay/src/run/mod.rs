//! Reads, judges and counts on all cores.
//!
//! Workers fetch pieces of the log in turn. Each counts by itself; only what depends on the order of calls is done one
//! piece after the other. Memory does not grow with the log. A run goes in legs: between two of them, and when it is
//! interrupted, everything is in one [`Checkpoint`], from which another run can continue.

mod against;
mod checkpoint;
mod counts;
mod sighting;
mod tools;
mod turn;
mod turnstile;
mod worker;

use std::num::NonZero;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;

use callwright::admit::MemoryLedger;
use callwright::validate::SchemaCache;
use callwright::{Policy, ToolSpec};

pub use self::checkpoint::{Checkpoint, CheckpointError, SettingsDigest};
pub use self::tools::ToolSet;
pub(crate) use self::turn::AwaitedCall;
pub use self::turnstile::{TurnTicket, Turnstile};

use self::against::Against;
use self::counts::Counts;
use self::tools::{FromLog, Tools};
use self::worker::Shared;
use crate::conversation::Conversations;
use crate::judge::Judge;
use crate::read::Reader;
use crate::source::{Input, Pieces, Position, Progress, SourceError};
use crate::summary::{Merge, Summary, Trouble};

/// How many conversations admission remembers. The least recently used one is forgotten first. Between two calls of a loop
/// some seconds pass, and in a minute not even a fleet that makes a hundred million calls a week has as many conversations.
/// More sessions overflow the CPU cache and measurably slow the run down.
const SESSIONS: usize = 5_000;

/// How much text is counted between two checkpoints by default.
const LEG_BYTES: u64 = 2 * 1024 * 1024 * 1024;

/// What judges a log, and how the run is done.
#[derive(Debug, Clone, Default)]
pub struct ReplaySettings {
    /// The tools; `None` takes those that the log itself shows.
    pub tools: Option<Vec<ToolSpec>>,
    /// The policy.
    pub policy: Policy,
    /// Other tools, or another policy, to compare with.
    pub against: Option<(Vec<ToolSpec>, Policy)>,
    /// How many workers; all cores if not given.
    pub workers: Option<NonZero<usize>>,
    /// How much text is counted between two checkpoints; two gigabytes, a few seconds' worth, if not given.
    pub leg_bytes: Option<u64>,
    /// When set, stops looking for tools in the log. The run can only end then.
    pub stop: Option<Arc<AtomicBool>>,
    /// Where the tools, the policies and their options come from: only a run with the same sources can be resumed.
    pub digest: SettingsDigest,
}

/// Why there is no run.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RunError {
    /// The tools cannot be used.
    #[error(transparent)]
    Tools(#[from] callwright::Error),
    /// The log cannot be read on from where another run stopped.
    #[error(transparent)]
    Source(#[from] SourceError),
    /// The interrupted run had other settings; these differ.
    #[error(
        "{} changed since the run was interrupted, so the counts would not add up; restore {}, or delete the state file to start over",
        .0.join(" and "), if .0.len() == 1 { "it" } else { "them" }
    )]
    OtherSettings(Vec<String>),
    /// The state does not say with which settings it was made.
    #[error(
        "an earlier version wrote the state, and its settings cannot be compared; delete the state file to start over"
    )]
    UnknownSettings,
    /// A worker died.
    #[error("a worker stopped; please report this")]
    Worker,
}

/// A run over some inputs.
#[derive(Debug)]
pub struct Run {
    shared: Shared,
    pieces: Mutex<Pieces>,
    progress: Arc<Progress>,
    calls: Arc<AtomicU64>,
    ledger: Arc<MemoryLedger>,
    workers: usize,
    inputs: Vec<(String, Option<u64>)>,
    position: Option<Position>,
    summary: Mutex<Summary>,
    files_before: u64,
    ended: bool,
    digest: SettingsDigest,
    leg_bytes: u64,
}

impl Run {
    /// Prepares a run. Where the tools come from the log, this reads all of it once.
    ///
    /// # Errors
    /// Fails if the tools cannot be used.
    pub fn new(inputs: Vec<Input>, settings: ReplaySettings) -> Result<Self, RunError> {
        Run::prepare(inputs, settings, None)
    }

    /// Continues where another run stopped, with the same inputs and settings.
    ///
    /// # Errors
    /// Fails if the tools cannot be used, or the inputs or settings are not the same.
    pub fn resume(
        inputs: Vec<Input>,
        settings: ReplaySettings,
        checkpoint: Checkpoint,
    ) -> Result<Self, RunError> {
        Run::prepare(inputs, settings, Some(checkpoint))
    }

    fn prepare(
        inputs: Vec<Input>,
        settings: ReplaySettings,
        checkpoint: Option<Checkpoint>,
    ) -> Result<Self, RunError> {
        if let Some(checkpoint) = &checkpoint {
            let before = checkpoint
                .settings
                .as_ref()
                .ok_or(RunError::UnknownSettings)?;
            let differences = settings.digest.differences(before);
            if !differences.is_empty() {
                return Err(RunError::OtherSettings(differences));
            }
        }
        let ledger = Arc::new(MemoryLedger::new(SESSIONS));
        let cores = thread::available_parallelism().map_or(1, NonZero::get);
        let mut workers = settings.workers.map_or(cores, NonZero::get);
        let tools = if let Some(tools) = settings.tools {
            let ledger = Arc::clone(&ledger) as _;
            Tools::Given(Arc::new(ToolSet::new(tools, &settings.policy, ledger)?))
        } else {
            let log = FromLog::new(settings.policy.clone(), Arc::clone(&ledger) as _);
            if inputs.iter().all(|input| input.bytes.is_some()) {
                log.learn_all(inputs.clone(), settings.stop.as_deref());
            } else {
                // A pipe can be read only once: tools are learned on the way, one record after the other.
                workers = 1;
            }
            Tools::FromLog(Box::new(log))
        };
        let against = match settings.against {
            None => None,
            Some((tools, policy)) => Some(Against {
                judge: Judge::new(
                    tools,
                    &policy,
                    Arc::new(MemoryLedger::new(1)),
                    SchemaCache::shared(),
                )?,
            }),
        };
        let names = inputs
            .iter()
            .map(|input| (input.name.to_string(), input.bytes))
            .collect();
        let mut conversations = Conversations::default();
        let mut summary = Summary {
            compared: against.is_some(),
            ..Summary::default()
        };
        let (mut position, mut ended, mut files_before) = (None, false, 0);
        if let Some(checkpoint) = checkpoint {
            files_before = checkpoint.summary.input.files;
            summary = checkpoint.summary;
            conversations = Conversations::resume(checkpoint.conversations);
            summary.input.interrupted = false;
            (position, ended) = (checkpoint.position, checkpoint.ended);
        }
        let pieces = match &position {
            _ if ended => Pieces::new(Vec::new()),
            Some(position) => Pieces::resume(inputs, position.clone())?,
            None => Pieces::new(inputs),
        };
        Ok(Run {
            shared: Shared {
                tools,
                against,
                turnstile: Turnstile::default(),
                conversations: Mutex::new(conversations),
            },
            progress: pieces.progress(),
            pieces: Mutex::new(pieces),
            calls: Arc::default(),
            ledger,
            workers,
            inputs: names,
            position,
            summary: Mutex::new(summary),
            files_before,
            ended,
            digest: settings.digest,
            leg_bytes: settings.leg_bytes.unwrap_or(LEG_BYTES),
        })
    }

    /// How far reading has come.
    pub fn progress(&self) -> Arc<Progress> {
        Arc::clone(&self.progress)
    }

    /// How many calls have been counted by now, for a progress bar.
    pub fn calls(&self) -> Arc<AtomicU64> {
        Arc::clone(&self.calls)
    }

    /// Runs until the end, until some gigabytes are done, or until `stop` is set. Returns whether that was the end.
    ///
    /// # Errors
    /// Fails if a worker died, which is a defect.
    pub fn leg(&mut self, stop: &AtomicBool) -> Result<bool, RunError> {
        let until = self.progress.text_bytes().saturating_add(self.leg_bytes);
        let (run, last) = (&*self, Mutex::new(None));
        let parts: Vec<thread::Result<Counts>> = thread::scope(|scope| {
            let workers: Vec<_> = (0..run.workers)
                .map(|_| scope.spawn(|| run.work(stop, until, &last)))
                .collect();
            workers
                .into_iter()
                .map(thread::ScopedJoinHandle::join)
                .collect()
        });
        for part in parts {
            let counts = part.map_err(|_| RunError::Worker)?;
            self.absorb(counts);
        }
        if let Some((_, position)) = last.into_inner().unwrap_or_else(PoisonError::into_inner) {
            self.position = Some(position);
        }
        // Files that turned out to have nothing in them have no piece, and count all the same.
        self.summary().input.files = self.progress.files().max(self.files_before);
        let stopped = stop.load(Ordering::Relaxed);
        self.ended = !stopped && self.progress.text_bytes() < until;
        Ok(self.ended)
    }

    fn work(&self, stop: &AtomicBool, until: u64, last: &Mutex<Option<(u64, Position)>>) -> Counts {
        let (mut reader, mut counts) = (Reader::new(), Counts::default());
        while !stop.load(Ordering::Relaxed) && self.progress.text_bytes() < until {
            let mut pieces = self.pieces.lock().unwrap_or_else(PoisonError::into_inner);
            let next = pieces.next();
            drop(pieces);
            let piece = match next {
                None => break,
                Some(Ok(piece)) => piece,
                Some(Err(trouble)) => {
                    let at = Trouble::at(&trouble.file, trouble.line);
                    let troubles = &mut counts.summary.input.troubles;
                    troubles.add(trouble.kind.to_string(), at);
                    continue;
                }
            };
            let before = counts.calls();
            let turn = usize::try_from(piece.number).unwrap_or(usize::MAX);
            self.shared.piece(turn, &piece, &mut reader, &mut counts);
            let done = counts.calls() - before;
            self.calls.fetch_add(done, Ordering::Relaxed);
            if counts.is_large() {
                self.absorb(std::mem::take(&mut counts));
            }
            let mut last = last.lock().unwrap_or_else(PoisonError::into_inner);
            let known = last.as_ref().map(|(number, _)| *number);
            if known < Some(piece.number) {
                *last = Some((piece.number, piece.end()));
            }
        }
        counts
    }

    fn summary(&self) -> MutexGuard<'_, Summary> {
        self.summary.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds what a worker has counted.
    fn absorb(&self, counts: Counts) {
        let counted = counts.into_summary();
        self.summary().absorb(counted);
    }

    /// Everything as it is between two legs.
    pub fn checkpoint(&self) -> Checkpoint {
        Checkpoint {
            settings: Some(self.digest.clone()),
            inputs: self.inputs.clone(),
            position: self.position.clone(),
            ended: self.ended,
            summary: self.summary().clone(),
            conversations: self.shared.conversations().save(),
        }
    }

    /// What was counted. A run that has not ended is marked as interrupted.
    pub fn finish(self) -> Summary {
        let mut effects = Vec::new();
        let mut counts = Counts::default();
        let mut conversations = self.shared.conversations();
        let forgotten = self.ledger.forgotten() + conversations.waiting.forgotten();
        conversations.end(&mut effects);
        drop(conversations);
        counts.effects(&mut effects);
        self.absorb(counts);
        let mut summary = self
            .summary
            .into_inner()
            .unwrap_or_else(PoisonError::into_inner);
        summary.input.forgotten_sessions += forgotten;
        self.shared.tools.add_idle(&mut summary);
        summary.input.interrupted = !self.ended;
        summary
    }
}
