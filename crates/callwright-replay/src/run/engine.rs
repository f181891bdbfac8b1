//! Turns pieces into counts, on all cores: shared by runs over files and over records.

use std::num::NonZero;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;

use callwright::admit::MemoryLedger;
use callwright::validate::SchemaCache;
use callwright::{Policy, ToolSpec};

use super::against::Against;
use super::counts::Counts;
use super::tool_store::ToolStore;
use super::tools::Tools;
use super::turnstile::Turnstile;
use super::worker::Shared;
use super::{ReplaySettings, RunError};
use crate::conversation::Conversations;
use crate::judge::Judge;
use crate::read::Reader;
use crate::source::{Input, Piece, Position, Trouble as SourceTrouble};
use crate::summary::{Parts, Summary, Trouble};

/// How many conversations admission remembers. The least recently used one is dropped first. A few seconds pass
/// between two calls of a loop, and even a fleet that makes a hundred million calls a week has fewer conversations
/// than this in a minute. More sessions overflow the CPU cache and measurably slow the run down.
const SESSIONS: usize = 5_000;

/// See the module documentation.
#[derive(Debug)]
pub(super) struct Engine {
    shared: Shared,
    calls: Arc<AtomicU64>,
    ledger: Arc<MemoryLedger>,
    workers: usize,
    summary: Mutex<Summary>,
    part: Option<String>,
}

impl Engine {
    /// An engine that has counted nothing. If the tools come from the log, `inputs` are read once more first, if they
    /// can be read twice.
    pub(super) fn new(settings: ReplaySettings, inputs: &[Input]) -> Result<Self, RunError> {
        let ledger = Arc::new(MemoryLedger::new(SESSIONS));
        let cores = thread::available_parallelism().map_or(1, NonZero::get);
        let mut workers = settings.workers.map_or(cores, NonZero::get);
        let tools = if let Some(tools) = settings.tools {
            Tools::given(tools, settings.policy, Arc::clone(&ledger) as _)?
        } else {
            let log = ToolStore::of_log(settings.policy, Arc::clone(&ledger) as _);
            if !inputs.is_empty() && inputs.iter().all(|input| input.bytes.is_some()) {
                log.learn_all(inputs.to_vec(), settings.stop.as_deref());
            } else {
                // Input that can only be read once: tools are learned on the way, one record after another.
                workers = 1;
            }
            Tools::Stored(Box::new(log))
        };
        let against = settings.against.map(other_judge).transpose()?;
        let summary = Summary {
            compared: against.is_some(),
            ..Summary::default()
        };
        Ok(Engine {
            shared: Shared {
                tools,
                against,
                turnstile: Turnstile::default(),
                conversations: Mutex::default(),
            },
            calls: Arc::default(),
            ledger,
            workers,
            summary: Mutex::new(summary),
            part: settings.part,
        })
    }

    /// How many calls have been counted so far.
    pub(super) fn calls(&self) -> Arc<AtomicU64> {
        Arc::clone(&self.calls)
    }

    /// The counts, while no worker runs.
    pub(super) fn summary(&self) -> MutexGuard<'_, Summary> {
        self.summary.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What is remembered about conversations, while no worker runs.
    pub(super) fn conversations(&self) -> MutexGuard<'_, Conversations> {
        self.shared.conversations()
    }

    /// Counts pieces until there are no more, or until `stops` says so. Returns where the last one ended.
    pub(super) fn count(
        &self,
        pieces: &Mutex<impl Iterator<Item = Result<Piece, SourceTrouble>> + Send>,
        stops: &(impl Fn() -> bool + Sync),
    ) -> Result<Option<Position>, RunError> {
        let last = Mutex::new(None);
        let parts: Vec<thread::Result<Counts>> = thread::scope(|scope| {
            let workers: Vec<_> = (0..self.workers)
                .map(|_| scope.spawn(|| self.work(pieces, stops, &last)))
                .collect();
            workers
                .into_iter()
                .map(thread::ScopedJoinHandle::join)
                .collect()
        });
        for part in parts {
            self.absorb(part.map_err(|_| RunError::Worker)?);
        }
        let last = last.into_inner().unwrap_or_else(PoisonError::into_inner);
        Ok(last.map(|(_, position)| position))
    }

    fn work(
        &self,
        pieces: &Mutex<impl Iterator<Item = Result<Piece, SourceTrouble>>>,
        stops: &impl Fn() -> bool,
        last: &Mutex<Option<(u64, Position)>>,
    ) -> Counts {
        let (mut reader, mut counts) = (Reader::new(), Counts::default());
        while !stops() {
            let mut pieces = pieces.lock().unwrap_or_else(PoisonError::into_inner);
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

    /// Adds a worker's counts.
    fn absorb(&self, counts: Counts) {
        let counted = counts.into_summary();
        self.summary().absorb(counted);
    }

    /// The final counts. An unfinished run is marked as interrupted.
    pub(super) fn finish(self, ended: bool) -> Summary {
        let mut effects = Vec::new();
        self.conversations().end(&mut effects);
        let mut counts = Counts::default();
        counts.effects(&mut effects);
        self.absorb(counts);
        let summary = self.summary.into_inner();
        let mut summary = summary.unwrap_or_else(PoisonError::into_inner);
        summary.input.forgotten_sessions += self.ledger.returned();
        self.shared.tools.add_idle(&mut summary);
        summary.input.interrupted = !ended;
        summary.parts = Parts::of(self.part, &summary);
        summary
    }
}

fn other_judge((tools, policy): (Vec<ToolSpec>, Policy)) -> Result<Against, RunError> {
    let ledger = Arc::new(MemoryLedger::new(1));
    let judge = Judge::new(tools, &policy, ledger, SchemaCache::shared())?;
    Ok(Against { judge })
}
