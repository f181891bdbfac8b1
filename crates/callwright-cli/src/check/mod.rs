//! `callwright check`: reads calls, prints one verdict per call, in input order. Never runs a tool.

mod judge;
mod table;

use std::io::{self, IsTerminal as _, Write as _};
use std::num::NonZero;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use anyhow::{Context, Result, anyhow};
use callwright::admit::MemoryLedger;
use callwright::feedback::Feedback;
use callwright_replay::run::Turnstile;
use callwright_replay::source::{LONGEST_RECORD, Pieces, Trouble, TroubleKind};
use indicatif::HumanBytes;
use parking_lot::Mutex;

use self::judge::{LineJudge, Verdicts};
use self::table::Table;
use crate::args::{CheckArguments, OutputFormat};
use crate::progress::ProgressLine;
use crate::{CommandOutcome, input, say};

/// How many conversations are remembered. The least recently used one is dropped first, so this only matters for logs
/// that interleave more than about this many. They take a few hundred megabytes.
const SESSIONS: usize = 100_000;

/// How many malformed lines are reported one by one; the rest are counted.
const NAMED_LINES: usize = 20;

/// Anything shorter is finished before a progress bar could be read.
const LONG_INPUT: u64 = 16 * 1024 * 1024;

pub(crate) fn run(arguments: &CheckArguments) -> Result<CommandOutcome> {
    let ledger = Arc::new(MemoryLedger::new(SESSIONS));
    let policy = arguments.policy.as_deref();
    let gate = input::load_gate(
        &arguments.tools,
        policy,
        arguments.repair,
        Arc::clone(&ledger),
    )?;
    let source = input::open(&arguments.calls)?;
    let stdout = io::stdout();
    let table = (arguments.format == OutputFormat::Text)
        .then(|| Table::new(&gate, &stdout.lock(), arguments.style.is_some()));
    if let Some(table) = &table {
        let written = stdout.lock().write_all(table.header().as_bytes());
        written.context("cannot write the verdicts to standard output")?;
    }
    let judge = LineJudge {
        gate,
        feedback: Feedback::new(arguments.style.unwrap_or_default()),
        table,
        explain: arguments.explain,
        rescue: arguments.rescue,
        mask: arguments.mask_secrets,
        admission: Turnstile::default(),
    };
    // Lives as long as the program: freeing thousands of tools at exit would be wasted work.
    let judge: &'static LineJudge = Box::leak(Box::new(judge));
    let cannot = || format!("cannot read {}", source.name);
    let pieces = Pieces::of_reader(&source.name, source.reader).with_context(cannot)?;
    let read = pieces.progress();
    // The verdicts would overwrite the bar.
    let progress = if source.size.is_some_and(|size| size < LONG_INPUT) || stdout.is_terminal() {
        ProgressLine::none()
    } else {
        ProgressLine::new(source.size, Arc::clone(&read), move |seconds| {
            format!("{}/s", HumanBytes(per_second(read.bytes(), seconds)))
        })
    };
    let total = CheckRun {
        judge,
        name: &source.name,
        pieces: Mutex::new((0, pieces)),
        printing: Turnstile::default(),
        printed: Mutex::default(),
        stop: AtomicBool::new(false),
    }
    .run()?;
    progress.finish();
    warn_of_forgotten(&ledger);
    report(&total, arguments.format);
    Ok(if total.malformed_lines > 0 {
        CommandOutcome::Malformed
    } else if !total.refused.is_empty() || !total.results.is_empty() || total.unjudged > 0 {
        CommandOutcome::Findings
    } else {
        CommandOutcome::Clean
    })
}

#[expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a rate that is shown without fractions"
)]
fn per_second(count: u64, seconds: f64) -> u64 {
    (count as f64 / seconds) as u64
}

/// Workers take pieces of the input in turn, judge them in parallel, and print the verdicts in order. A worker that
/// is ahead waits, so memory does not grow with the input.
struct CheckRun<'c> {
    judge: &'c LineJudge,
    /// The name of the input in messages.
    name: &'c str,
    /// The number of the next piece, and the source of pieces.
    pieces: Mutex<(usize, Pieces)>,
    printing: Turnstile,
    /// How many pieces were printed, and their totals.
    printed: Mutex<(usize, Verdicts)>,
    stop: AtomicBool,
}

impl CheckRun<'_> {
    fn run(self) -> Result<Verdicts> {
        let workers = thread::available_parallelism().map_or(1, NonZero::get);
        let results: Vec<thread::Result<Result<()>>> = thread::scope(|scope| {
            let workers: Vec<_> = (0..workers).map(|_| scope.spawn(|| self.work())).collect();
            workers
                .into_iter()
                .map(thread::ScopedJoinHandle::join)
                .collect()
        });
        for result in results {
            result
                .map_err(|_| anyhow!("a worker thread panicked; please report this as a bug"))??;
        }
        Ok(self.printed.into_inner().1)
    }

    fn work(&self) -> Result<()> {
        while !self.stop.load(Ordering::Relaxed) {
            let (turn, piece) = {
                let mut pieces = self.pieces.lock();
                let Some(piece) = pieces.1.next() else {
                    break;
                };
                pieces.0 += 1;
                (pieces.0 - 1, piece)
            };
            let ticket = self.printing.ticket(turn);
            let verdicts = match piece {
                Ok(piece) => Ok(self.judge.judge(turn, &piece)),
                Err(trouble) => {
                    drop(self.judge.admission.ticket(turn));
                    self.trouble(trouble)
                }
            };
            ticket.wait();
            let mut printed = self.printed.lock();
            // Nothing more is printed after an error, or after a worker has panicked.
            if self.stop.load(Ordering::Relaxed) || printed.0 != turn {
                break;
            }
            printed.0 += 1;
            if let Err(error) = verdicts.and_then(|verdicts| self.print(&verdicts, &mut printed.1))
            {
                self.stop.store(true, Ordering::Relaxed);
                return Err(error);
            }
        }
        Ok(())
    }

    fn trouble(&self, trouble: Trouble) -> Result<Verdicts> {
        let why = match trouble.kind {
            TroubleKind::TooLong { bytes } => {
                format!("has {bytes} bytes, over the limit of {LONGEST_RECORD}; split it")
            }
            TroubleKind::ReadFailed { error, .. } | TroubleKind::NotOpened(error) => {
                return Err(anyhow!(error).context(format!("cannot read {}", self.name)));
            }
        };
        Ok(Verdicts {
            malformed: vec![(trouble.line, why)],
            ..Verdicts::default()
        })
    }

    fn print(&self, part: &Verdicts, total: &mut Verdicts) -> Result<()> {
        let mut stdout = io::stdout().lock();
        stdout
            .write_all(part.text.as_bytes())
            .and_then(|()| stdout.flush())
            .context("cannot write the verdicts to standard output")?;
        let left = NAMED_LINES.saturating_sub(total.malformed_lines);
        for (line, error) in part.malformed.iter().take(left) {
            say("error", &format!("{}, line {line}: {error}", self.name));
        }
        total.add_counts(part);
        Ok(())
    }
}

fn warn_of_forgotten(ledger: &MemoryLedger) {
    let returned = ledger.returned();
    if returned > 0 {
        let what = format!(
            "{returned} sessions continued after they had been forgotten (only about {SESSIONS} are remembered), so \
             repetitions across the gap were missed; sort the calls by session"
        );
        say("warning", &what);
    }
}

fn report(total: &Verdicts, format: OutputFormat) {
    let unnamed = total.malformed_lines.saturating_sub(NAMED_LINES);
    if unnamed > 0 {
        say("error", &format!("{unnamed} more lines are not calls"));
    }
    if format == OutputFormat::Text {
        say("checked", &total.summary());
    }
}
