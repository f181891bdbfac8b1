//! What admission costs on top of the verdict: `cargo bench -p callwright --bench admission`.
//!
//! A call is opened and closed in one of 100,000 live sessions, each with two or twenty calls in its turn, in random
//! order, so that nothing is in the CPU cache by chance.

#![expect(clippy::expect_used, clippy::print_stdout, reason = "a bench")]

use std::sync::LazyLock;
use std::sync::atomic::{AtomicU64, Ordering};

use callwright::admit::ledger::{Ask, Ended, Limits, Report, ToolName};
use callwright::admit::{
    AdmissionPolicy, Digest, Fingerprint, Ledger, MemoryLedger, Moment, Shape, Success,
};
use callwright::json::Value;
use callwright::parse::read_value;

const SESSIONS: u64 = 100_000;

fn main() {
    divan::main();
}

fn limits() -> Limits {
    Limits {
        tool_calls: u32::MAX,
        turn_calls: u32::MAX,
        ..Limits::from(&AdmissionPolicy::default())
    }
}

/// One call of a session: opened, run, closed with its own result.
fn call(ledger: &MemoryLedger, session: &str, number: u64, digest: Digest) -> bool {
    let at = Moment {
        turn: Some(0),
        round: Some(number),
    };
    let fingerprint = fingerprint(number);
    let ask = Ask {
        at,
        fingerprint,
        tool: ToolName::new("search"),
        limits: limits(),
        runs_uncounted: false,
        refused: None,
    };
    let runs = ledger.open(session, &ask).expect("memory").reason.is_none();
    let report = Report {
        turn: at.turn,
        fingerprint,
        tool: ToolName::new("search"),
        ended: Ended {
            changes: false,
            waits: false,
            success: Success::Ok,
            digest,
        },
        beginning: "forty characters of what the tool said …",
    };
    ledger.close(session, &report).expect("memory");
    runs
}

/// A fingerprint for each number, as cheap as possible: only the ledger should be measured.
fn fingerprint(number: u64) -> Fingerprint {
    static MADE: LazyLock<Vec<Fingerprint>> = LazyLock::new(|| {
        (0..1_000_u64)
            .map(|number| {
                Fingerprint::of("search", &Value::Number(number.into()), &Shape::default())
            })
            .collect()
    });
    MADE[usize::try_from(number).expect("small")]
}

/// A session's name, built without touching memory outside the cache.
fn name(session: u64) -> [u8; 16] {
    let mut name = *b"session-00000000";
    let mut rest = session;
    for digit in name.iter_mut().rev().take(8) {
        let value = (rest % 10) as u8;
        *digit = b'0' + value;
        rest /= 10;
    }
    name
}

fn as_text(name: &[u8; 16]) -> &str {
    std::str::from_utf8(name).expect("digits")
}

#[divan::bench(args = [2, 20], sample_count = 1_000, sample_size = 100)]
fn open_and_close_among_100_000_sessions(bencher: divan::Bencher<'_, '_>, calls: u64) {
    let digest = Digest::of("found");
    let before = resident();
    let ledger = MemoryLedger::new(2 * usize::try_from(SESSIONS).expect("small"));
    for number in 0..calls {
        for session in 0..SESSIONS {
            call(&ledger, as_text(&name(session)), number, digest);
        }
    }
    let bytes = (resident() - before) / SESSIONS;
    println!(
        "{} sessions of {calls} calls, {bytes} bytes each",
        ledger.sessions()
    );
    let step = AtomicU64::new(0);
    bencher.bench(|| {
        let step = step.fetch_add(1, Ordering::Relaxed);
        // A stride that shares no factor with the number of sessions visits all of them in scattered order.
        let name = name((step * 61_681) % SESSIONS);
        call(&ledger, as_text(&name), calls + step / SESSIONS, digest)
    });
}

#[divan::bench]
fn fingerprint_of_a_usual_call(bencher: divan::Bencher<'_, '_>) {
    let arguments = read_value(
        r#"{"query": "blue lamp", "limit": 5, "tags": ["a", "b"], "since": "2026-01-31"}"#,
    );
    let (arguments, shape) = (arguments.expect("JSON"), Shape::default());
    bencher.bench(|| Fingerprint::of("search_orders", &arguments, &shape));
}

/// Resident memory of this process in bytes, where the system reports it.
fn resident() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find(|line| line.starts_with("VmRSS:"));
    let kilobytes = line.and_then(|line| line.split_whitespace().nth(1)?.parse::<u64>().ok());
    kilobytes.unwrap_or_default() * 1024
}
