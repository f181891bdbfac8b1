//! Reads, judges and counts on all cores.
//!
//! Workers fetch pieces of the log in turn. Each counts by itself; only what depends on the order of calls is done one
//! piece after the other. Memory does not grow with the log. A run goes in legs: between two of them, and when it is
//! interrupted, everything is in one [`Checkpoint`], from which another run can go on.

mod against;
mod by_address;
mod checkpoint;
mod faulty;
mod first_pass;
mod idle;
mod item;
mod local;
mod tools;
mod turn;
mod turnstile;
mod worker;

use std::num::NonZero;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use callwright::admit::MemoryLedger;
use callwright::{Policy, ToolSpec};

pub use self::checkpoint::{Checkpoint, CheckpointError};
pub use self::tools::ToolSet;
pub use self::turnstile::{Ticket, Turnstile};

use self::against::Against;
use self::item::Tools;
use self::local::Local;
use self::tools::FromLog;
use self::worker::Shared;
use crate::conversation::Conversations;
use crate::judge::Judge;
use crate::read::Reader;
use crate::source::{Input, Item, Pieces, Position, Progress, SourceError};
use crate::summary::{Merge, Summary, Trouble};

/// How many conversations admission remembers. The least recently used one is forgotten first. Between two calls of a loop
/// some seconds pass, and in a minute not even those who make a hundred million calls a week have as many conversations.
/// More would not fit into a processor's cache, and are felt.
const SESSIONS: usize = 5_000;

/// How much text is counted between two checkpoints, if nobody says otherwise.
const LEG_BYTES: u64 = 2 * 1024 * 1024 * 1024;

/// What judges.
#[derive(Debug, Clone, Default)]
pub struct Settings {
    /// The tools; `None` takes those that the log itself shows.
    pub tools: Option<Vec<ToolSpec>>,
    /// The policy.
    pub policy: Policy,
    /// Other tools, or another policy, to compare with.
    pub against: Option<(Vec<ToolSpec>, Policy)>,
    /// How many workers; all cores if not given.
    pub workers: Option<NonZero<usize>>,
    /// How much text is counted between two checkpoints; two gigabytes, some seconds' worth, if not given.
    pub leg_bytes: Option<u64>,
    /// Breaks off looking for tools in the log, when set. The run can only end then.
    pub stop: Option<Arc<AtomicBool>>,
    /// Equal for runs with the same tools and policy: only such a run can be resumed.
    pub identity: u64,
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
    /// Another run, with other tools or another policy, was interrupted.
    #[error(
        "the interrupted run had other tools or another policy, and its counts would not fit; give the same ones, or delete its state to start anew"
    )]
    OtherSettings,
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
    summary: Summary,
    files_before: u64,
    ended: bool,
    identity: u64,
    leg_bytes: u64,
}

impl Run {
    /// Prepares a run. Where the tools come from the log, this reads all of it once.
    ///
    /// # Errors
    /// Fails if the tools cannot be used.
    pub fn new(inputs: Vec<Input>, settings: Settings) -> Result<Self, RunError> {
        Run::prepare(inputs, settings, None)
    }

    /// Goes on where another run stopped, with the same inputs and settings.
    ///
    /// # Errors
    /// Fails if the tools cannot be used, or the inputs are others.
    pub fn resume(
        inputs: Vec<Input>,
        settings: Settings,
        checkpoint: Checkpoint,
    ) -> Result<Self, RunError> {
        Run::prepare(inputs, settings, Some(checkpoint))
    }

    fn prepare(
        inputs: Vec<Input>,
        settings: Settings,
        checkpoint: Option<Checkpoint>,
    ) -> Result<Self, RunError> {
        let ledger = Arc::new(MemoryLedger::new(SESSIONS));
        let cores = thread::available_parallelism().map_or(1, NonZero::get);
        let mut workers = settings.workers.map_or(cores, NonZero::get);
        let tools = if let Some(tools) = settings.tools {
            let ledger = Arc::clone(&ledger) as _;
            Tools::Given(Arc::new(ToolSet::new(tools, &settings.policy, ledger)?))
        } else {
            let log = FromLog::new(settings.policy.clone(), Arc::clone(&ledger) as _);
            if inputs.iter().all(|input| input.bytes.is_some()) {
                first_pass::learn(&log, inputs.clone(), settings.stop.as_deref());
            } else {
                // A pipe can be read only once: tools are learned on the way, one record after the other.
                workers = 1;
            }
            Tools::FromLog(Box::new(log))
        };
        let against = match settings.against {
            None => None,
            Some((tools, policy)) => Some(Against {
                judge: Judge::new(tools, &policy, Arc::new(MemoryLedger::new(1)))?,
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
            if checkpoint.identity != settings.identity {
                return Err(RunError::OtherSettings);
            }
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
            summary,
            files_before,
            ended,
            identity: settings.identity,
            leg_bytes: settings.leg_bytes.unwrap_or(LEG_BYTES),
        })
    }

    /// How far reading has come.
    pub fn progress(&self) -> Arc<Progress> {
        Arc::clone(&self.progress)
    }

    /// How many records have been gone through by now, for a progress bar.
    pub fn calls(&self) -> Arc<AtomicU64> {
        Arc::clone(&self.calls)
    }

    /// Goes on until the end, until some gigabytes are done, or until `stop` is set. Says whether that was the end.
    ///
    /// # Errors
    /// Fails if a worker died, which is a defect.
    pub fn leg(&mut self, stop: &AtomicBool) -> Result<bool, RunError> {
        let until = self.progress.text_bytes().saturating_add(self.leg_bytes);
        let (run, last) = (&*self, Mutex::new(None));
        let parts: Vec<thread::Result<Local>> = thread::scope(|scope| {
            let workers: Vec<_> = (0..run.workers)
                .map(|_| scope.spawn(|| run.work(stop, until, &last)))
                .collect();
            workers
                .into_iter()
                .map(thread::ScopedJoinHandle::join)
                .collect()
        });
        for part in parts {
            let local = part.map_err(|_| RunError::Worker)?;
            self.summary.absorb(local.into_summary());
        }
        if let Some((_, position)) = last.into_inner().unwrap_or_else(PoisonError::into_inner) {
            self.position = Some(position);
        }
        // Files that turned out to have nothing in them have no piece, and count all the same.
        self.summary.input.files = self.progress.files().max(self.files_before);
        let stopped = stop.load(Ordering::Relaxed);
        self.ended = !stopped && self.progress.text_bytes() < until;
        Ok(self.ended)
    }

    fn work(&self, stop: &AtomicBool, until: u64, last: &Mutex<Option<(u64, Position)>>) -> Local {
        let (mut reader, mut local) = (Reader::new(), Local::default());
        while !stop.load(Ordering::Relaxed) && self.progress.text_bytes() < until {
            let next = self
                .pieces
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .next();
            match next {
                None => break,
                Some(Item::Trouble(trouble)) => {
                    let at = Trouble::at(&trouble.file, trouble.line);
                    local.summary.input.troubles.add(trouble.what, at);
                }
                Some(Item::Piece(piece)) => {
                    let before = local.calls();
                    let turn = usize::try_from(piece.number()).unwrap_or(usize::MAX);
                    self.shared.piece(turn, &piece, &mut reader, &mut local);
                    self.calls
                        .fetch_add(local.calls() - before, Ordering::Relaxed);
                    let mut last = last.lock().unwrap_or_else(PoisonError::into_inner);
                    if last
                        .as_ref()
                        .is_none_or(|(number, _)| *number < piece.number())
                    {
                        *last = Some((piece.number(), piece.end()));
                    }
                }
            }
        }
        local
    }

    /// Everything as it is between two legs.
    pub fn checkpoint(&self) -> Checkpoint {
        Checkpoint {
            identity: self.identity,
            inputs: self.inputs.clone(),
            position: self.position.clone(),
            ended: self.ended,
            summary: self.summary.clone(),
            conversations: self.shared.conversations().save(),
        }
    }

    /// What was counted. A run that has not ended is marked as interrupted.
    pub fn finish(mut self) -> Summary {
        let mut effects = Vec::new();
        let mut local = Local::default();
        let mut conversations = self.shared.conversations();
        self.summary.input.forgotten_sessions +=
            self.ledger.forgotten() + conversations.waiting.forgotten();
        conversations.end(&mut effects);
        drop(conversations);
        local.effects(&mut effects);
        self.summary.absorb(local.into_summary());
        if let Some(tools) = self.shared.tools.all() {
            idle::add(&tools, &mut self.summary);
        }
        self.summary.input.interrupted = !self.ended;
        self.summary
    }
}
