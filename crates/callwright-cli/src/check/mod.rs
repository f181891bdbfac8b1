//! `callwright check`: one verdict per call, in order.
//!
//! Lines come in chunks, are judged on all cores, and go out in the order they came. Memory does not
//! grow with the input, but for a bounded number of conversations. A line that is no call is named on stderr and the rest goes on.

mod chunks;
mod judge;
mod ordered;
mod progress;
mod table;

use std::io::{self, IsTerminal, Write};
use std::sync::Arc;

use anyhow::{Context, Result};
use callwright::admit::MemoryLedger;
use callwright::feedback::Feedback;

use self::chunks::Chunks;
use self::judge::{Judge, Judged, Output};
use self::progress::Progress;
use self::table::Table;
use crate::args::{CheckArguments, Format, RepairName};
use crate::{Outcome, input, say};

/// How many conversations are remembered. The least recently used one is forgotten first, so this only matters for
/// logs in which more than about this many are interleaved. They take some hundred megabytes.
const SESSIONS: usize = 100_000;

/// How many malformed lines are named one by one; the rest is counted.
const NAMED_LINES: usize = 20;

pub(crate) fn run(arguments: &CheckArguments) -> Result<Outcome> {
    let repair = arguments.repair.map(RepairName::policy);
    let ledger = Arc::new(MemoryLedger::new(SESSIONS));
    let policy = arguments.policy.as_deref();
    let gate = input::load_gate(&arguments.tools, policy, repair, Arc::clone(&ledger))?;
    let source = input::open(&arguments.calls)?;
    let feedback = Feedback::new(arguments.style.map(|style| style.0).unwrap_or_default());

    let mut stdout = io::stdout().lock();
    let output = match arguments.format {
        Format::Json => Output::Json,
        Format::Text => {
            let table = Table::new(&gate, &stdout, arguments.style.is_some());
            stdout.write_all(table.header().as_bytes())?;
            Output::Text(table)
        }
    };
    let progress = Progress::new(source.size, stdout.is_terminal());
    // It lives as long as the program, and taking thousands of tools apart at the end is work for
    // nothing.
    let judge = Judge::new(gate, feedback, output)
        .explaining(arguments.explain)
        .rescuing(arguments.rescue)
        .masking(arguments.mask_secrets);
    let judge: &'static Judge = Box::leak(Box::new(judge));

    let mut total = Judged::default();
    let chunks = Chunks::new(source.reader).enumerate();
    let numbered = chunks.map(|(turn, chunk)| Ok((turn, chunk?)));
    let results = ordered::map(numbered, move |(turn, chunk)| judge.chunk(turn, chunk));
    for result in results {
        let judged = result.with_context(|| format!("cannot read {}", source.name))?;
        stdout
            .write_all(judged.text.as_bytes())
            .and_then(|()| stdout.flush())
            .context("cannot write the verdicts to standard output")?;
        progress.advance(judged.bytes);
        for (line, error) in &judged.malformed {
            total.malformed_lines += 1;
            if total.malformed_lines <= NAMED_LINES {
                say("error", &format!("{}, line {line}: {error}", source.name));
            }
        }
        total.add_counts(&judged);
    }
    progress.finish();
    warn_of_forgotten(&ledger);
    report(&total, arguments.format);
    Ok(match total {
        Judged {
            malformed_lines: 1..,
            ..
        } => Outcome::Malformed,
        Judged {
            refused, results, ..
        } if !refused.is_empty() || !results.is_empty() => Outcome::Findings,
        _ => Outcome::Clean,
    })
}

fn warn_of_forgotten(ledger: &MemoryLedger) {
    let forgotten = ledger.forgotten();
    if forgotten > 0 {
        let what = format!(
            "about {SESSIONS} sessions are remembered, and {forgotten} were forgotten for later ones; if the log goes \
             back to one of them, what it repeats is missed. Sort the calls by session"
        );
        say("warning", &what);
    }
}

fn report(total: &Judged, format: Format) {
    let unnamed = total.malformed_lines.saturating_sub(NAMED_LINES);
    if unnamed > 0 {
        say("error", &format!("{unnamed} more lines are no calls"));
    }
    if format == Format::Text {
        say("checked", &total.summary());
    }
}
