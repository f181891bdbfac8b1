//! One call after the other.

use std::hint::black_box;
use std::sync::Arc;
use std::time::{Duration, Instant};

use callwright::admit::Steps;
use callwright_mcp::guard::{Action, Guard, Now, Settings};

use crate::parts::{self, COPIED, LIST, TOOLS, answer, call};

/// How many measured calls each client makes.
const CALLS: usize = 2_000;

/// How many warm-up calls come before.
const WARM_UP: usize = 200;

/// More bytes than the caches of one core hold: simulates a server whose work evicts them.
const SWEPT: usize = 8 * 1024 * 1024;

pub(crate) fn measure() {
    println!("one call after the other, in front of the server of this bench");
    side_by_side(&parts::fast());
    print("the guard in process", &percentiles(guard_alone(0)), None);
    print(
        "and with cold caches",
        &percentiles(guard_alone(SWEPT)),
        None,
    );
    match parts::everything() {
        Some(server) => {
            println!("one call after the other, in front of server-everything");
            side_by_side(&server);
        }
        None => println!(
            "server-everything is not there: CALLWRIGHT_TEST_NODE_MODULES does not name it"
        ),
    }
}

fn side_by_side(server: &[std::ffi::OsString]) {
    let mut clients = parts::clients(server, &[]);
    let mut took = vec![Vec::with_capacity(CALLS); clients.len()];
    for number in 0..WARM_UP + CALLS {
        for turn in 0..clients.len() {
            // Rotate, forwards and backwards in turn, so that none always follows the same one.
            let last = clients.len() - 1;
            let turn = if number % 2 == 0 { turn } else { last - turn };
            let at = (turn + number) % clients.len();
            let (client, took) = (&mut clients[at], &mut took[at]);
            let line = call(number);
            let part = format!("Echo: hello {number}\"");
            let began = Instant::now();
            client.ask(&line, &part);
            let time = began.elapsed();
            if number >= WARM_UP {
                took.push(time);
            }
        }
    }
    let mut limit = None;
    for (client, took) in clients.into_iter().zip(took) {
        let name = client.name;
        client.end();
        let took = percentiles(took);
        print(name, &took, limit);
        if name == COPIED {
            limit = Some(took);
        }
    }
}

/// The same calls and answers through the guard, without pipes. Before each message, `swept` bytes of other memory are
/// written.
fn guard_alone(swept: usize) -> Vec<Duration> {
    let most = Steps::new(10_000, 10_000);
    let mut settings = Settings::default();
    settings.policy.admission.tool_calls = most;
    settings.policy.admission.turn_calls = most;
    let guard = Guard::new(Arc::new(settings), "bench");
    let mut out = Vec::new();
    guard.from_client(LIST.as_bytes(), Now::by_clock(), &mut out);
    guard.from_server(TOOLS.as_bytes(), Now::by_clock(), &mut out);
    for action in std::mem::take(&mut out) {
        if let Action::CompileTools(compilation) = action {
            guard.tools_compiled(compilation.run(), Now::by_clock(), &mut out);
        }
    }
    let mut all = Vec::with_capacity(CALLS);
    let mut other = vec![0; swept];
    for number in 0..WARM_UP + CALLS {
        let line = call(number);
        let said = answer(&line);
        let mut out = Vec::new();
        black_box(&mut other).fill(1);
        let began = Instant::now();
        guard.from_client(line.as_bytes(), Now::by_clock(), &mut out);
        let judged = began.elapsed();
        black_box(&mut other).fill(2);
        let began = Instant::now();
        guard.from_server(said.as_bytes(), Now::by_clock(), &mut out);
        let took = judged + began.elapsed();
        assert_eq!(out.len(), 2);
        if number >= WARM_UP {
            all.push(took);
        }
    }
    all
}

/// Median, 95th and 99th percentile, in microseconds.
fn percentiles(mut took: Vec<Duration>) -> [f64; 3] {
    took.sort();
    [50, 95, 99].map(|percent| took[(took.len() - 1) * percent / 100].as_secs_f64() * 1e6)
}

fn print(name: &str, [median, p95, p99]: &[f64; 3], limit: Option<[f64; 3]>) {
    print!("  {name:<22} median {median:>8.1} µs   p95 {p95:>8.1} µs   p99 {p99:>8.1} µs");
    if let Some([of_median, _, of_p99]) = limit {
        let (median, p99) = (median / of_median, p99 / of_p99);
        print!("   median × {median:.2}, p99 × {p99:.2} of the line copier");
    }
    println!();
}
