//! The ledger on a real server: the same answers as in memory, one round trip, exact budgets, and what happens when the
//! server dies.
//!
//! Each test starts its own server (`redis-server` or `valkey-server`). If neither is installed, the tests say so and
//! pass.

#![expect(clippy::expect_used, clippy::print_stderr, reason = "tests")]

mod away;
#[cfg(feature = "cluster")]
mod cluster;
#[cfg(feature = "tls")]
mod tls;

use std::env;
use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant, SystemTime};

use callwright::admit::ledger::{Ask, Ended, LedgerAway, Limits, RefusedCall, Report, ToolName};
use callwright::admit::{
    AdmissionPolicy, Digest, Fingerprint, Ledger, MemoryLedger, Moment, Place, Reply, Shape,
    Success, WhenAway,
};
use callwright::check::Ran;
use callwright::event::Event;
use callwright::{Call, Gate, Opened, ToolSpec, json};
use callwright_redis::{RedisLedger, RedisSettings};
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};

/// A server that is stopped when this is dropped.
struct Server {
    process: Child,
    port: u16,
}

impl Server {
    /// Starts a server on a free port; `None`, with a message, if none is installed.
    fn start() -> Option<Server> {
        Server::start_on(free_port())
    }

    fn start_on(port: u16) -> Option<Server> {
        let server = Server::spawn(port, &["--port", &port.to_string()])?;
        server.wait(|| server.query("PING").is_ok());
        Some(server)
    }

    /// Starts a server with these settings, without waiting for it.
    fn spawn(port: u16, settings: &[&str]) -> Option<Server> {
        let started = ["redis-server", "valkey-server"]
            .iter()
            .find_map(|program| {
                Command::new(program)
                    .args(["--bind", "127.0.0.1", "--save", "", "--appendonly", "no"])
                    .args(settings)
                    .current_dir(env::temp_dir())
                    .stdout(Stdio::null())
                    .stderr(Stdio::null())
                    .spawn()
                    .ok()
            });
        let Some(process) = started else {
            eprintln!("skipped: neither redis-server nor valkey-server is installed");
            return None;
        };
        Some(Server { process, port })
    }

    fn wait(&self, is_ready: impl Fn() -> bool) {
        let deadline = Instant::now() + Duration::from_secs(20);
        while !is_ready() {
            assert!(Instant::now() < deadline, "{} is not ready", self.port);
            thread::sleep(Duration::from_millis(20));
        }
    }

    fn address(&self) -> String {
        format!("redis://127.0.0.1:{}/0", self.port)
    }

    fn ledger(&self) -> RedisLedger {
        RedisLedger::new(&self.address(), patient()).expect("an address")
    }

    fn query(&self, command: &str) -> redis::RedisResult<String> {
        let mut connection = redis::Client::open(self.address())?.get_connection()?;
        let mut words = command.split(' ');
        let mut query = redis::cmd(words.next().unwrap_or_default());
        for word in words {
            query.arg(word);
        }
        let value: redis::Value = query.query(&mut connection)?;
        Ok(match value {
            redis::Value::BulkString(bytes) => String::from_utf8_lossy(&bytes).into_owned(),
            redis::Value::VerbatimString { text, .. } => text,
            other => format!("{other:?}"),
        })
    }

    fn kill(mut self) -> u16 {
        self.process.kill().expect("it runs");
        self.process.wait().expect("it ends");
        self.port
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

fn free_port() -> u16 {
    let port = TcpListener::bind("127.0.0.1:0").and_then(|listener| listener.local_addr());
    port.expect("a free port").port()
}

/// A long timeout, because test machines are busy.
fn patient() -> RedisSettings {
    let mut settings = RedisSettings::default();
    settings.timeout = Duration::from_secs(10);
    settings.pause = Duration::from_millis(50);
    settings
}

fn limits() -> Limits {
    Limits {
        budget: 3,
        once: false,
        spends: false,
        repeated_refusal: 3,
        repeated_call: 4,
        repeated_result: 4,
        polling: 6,
        poller: false,
        cycle: 3,
        error_streak: 5,
        unknown_tools: 3,
        tool_calls: 25,
        turn_calls: 40,
        transient: 3,
        most_refusals: 12,
    }
}

fn fingerprint(tool: &str, argument: u8) -> Fingerprint {
    let arguments = json::Value::Number(u64::from(argument).into());
    Fingerprint::of(tool, &arguments, &Shape::default())
}

/// Always the same call.
fn ask() -> Ask<'static> {
    Ask {
        at: Moment::default(),
        fingerprint: fingerprint("t", 0),
        tool: ToolName::new("t"),
        limits: limits(),
        runs_uncounted: false,
        refused: None,
    }
}

/// One thing that happens in a conversation.
#[derive(Debug, Clone)]
enum Step {
    Call {
        tool: u8,
        argument: u8,
        outcome: Option<(Success, u8)>,
        poller: bool,
        changes: bool,
        /// Whether it belongs to an earlier turn, or to none.
        straggler: Option<u64>,
    },
    Refused {
        tool: u8,
        argument: u8,
        reason: u8,
        unknown: bool,
    },
    Reply(u8),
    NextRound,
    NextTurn,
    NamedTurn,
}

fn step() -> impl Strategy<Value = Step> {
    let success = prop_oneof![4 => Just(Success::Ok), 2 => Just(Success::Error), 1 => Just(Success::Transient)];
    prop_oneof![
        10 => (0..3_u8, 0..3_u8, prop::option::weighted(0.9, (success, 0..2_u8)), prop::bool::weighted(0.2), any::<bool>(), prop::option::weighted(0.1, 1..4_u64))
            .prop_map(|(tool, argument, outcome, poller, changes, straggler)| Step::Call { tool, argument, outcome, poller, changes, straggler }),
        3 => (0..3_u8, 0..2_u8, 0..2_u8, prop::bool::weighted(0.4))
            .prop_map(|(tool, argument, reason, unknown)| Step::Refused { tool, argument, reason, unknown }),
        1 => (0..12_u8).prop_map(Step::Reply),
        8 => Just(Step::NextRound),
        1 => Just(Step::NextTurn),
        1 => Just(Step::NamedTurn),
    ]
}

/// The moment of a late call.
fn back(at: Moment, turns: Option<u64>) -> Moment {
    let turn = match turns {
        Some(3) => None,
        turns => at.turn.map(|turn| turn.saturating_sub(turns.unwrap_or(0))),
    };
    Moment { turn, ..at }
}

/// The ledger's answers in a conversation, step by step.
fn play(ledger: &dyn Ledger, session: &str, steps: &[Step]) -> Vec<String> {
    let mut at = Moment {
        turn: Some(0),
        round: Some(0),
    };
    let mut said = Vec::new();
    for step in steps {
        match step {
            Step::NextRound => at.round = at.round.map(|round| round + 1),
            Step::NextTurn => at.turn = at.turn.map(|turn| turn + 1),
            // The next turn is again a number or another name, in any order.
            Step::NamedTurn => {
                at.turn = at
                    .turn
                    .map(|turn| turn.wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ (1 << 63));
            }
            Step::Reply(kind) => {
                let reply = match kind {
                    0 => Reply::Stop,
                    1..=3 => Reply::AllowTool(format!("tool{kind}")),
                    _ => Reply::AllowOnce(fingerprint(&format!("tool{}", kind % 3), kind % 2)),
                };
                ledger.answer(session, &reply).expect("it is there");
            }
            Step::Refused {
                tool,
                argument,
                reason,
                unknown,
            } => {
                let tool = format!("tool{tool}");
                let digest = Digest::of(&format!("refused {reason}"));
                let refused = Some(RefusedCall {
                    digest,
                    unknown_tool: *unknown,
                });
                let fingerprint = fingerprint(&tool, *argument);
                let ask = Ask {
                    at,
                    fingerprint,
                    tool: ToolName::new(&tool),
                    limits: limits(),
                    runs_uncounted: false,
                    refused,
                };
                said.push(format!(
                    "{:?}",
                    ledger.open(session, &ask).expect("it is there")
                ));
            }
            Step::Call {
                tool,
                argument,
                outcome,
                poller,
                changes,
                straggler,
            } => {
                let tool = format!("tool{tool}");
                let fingerprint = fingerprint(&tool, *argument);
                let limits = Limits {
                    poller: *poller,
                    once: *changes && *argument != 1,
                    spends: *changes && *poller != (*argument == 0),
                    ..limits()
                };
                let at = back(at, *straggler);
                let ask = Ask {
                    at,
                    fingerprint,
                    tool: ToolName::new(&tool),
                    limits,
                    runs_uncounted: false,
                    refused: None,
                };
                let ruling = ledger.open(session, &ask).expect("it is there");
                let runs = ruling.reason.is_none();
                said.push(format!("{ruling:?}"));
                let runs = runs && !matches!(straggler, Some(2));
                if let (true, Some((success, answer))) = (runs, outcome) {
                    let answer = format!("answer {answer} \"ü\\");
                    let report = Report {
                        turn: ruling.turn,
                        fingerprint,
                        tool: ToolName::new(&tool),
                        ended: Ended {
                            changes: *changes,
                            waits: *poller || *argument == 2,
                            success: *success,
                            digest: Digest::of(&answer),
                        },
                        beginning: &answer,
                    };
                    said.push(format!(
                        "{:?}",
                        ledger.close(session, &report).expect("it is there")
                    ));
                }
            }
        }
    }
    said
}

#[test]
fn the_server_agrees_with_memory() {
    let Some(server) = Server::start() else {
        return;
    };
    let (there, here) = (server.ledger(), MemoryLedger::default());
    let count = std::cell::Cell::new(0);
    let mut runner = TestRunner::new(Config {
        cases: 300,
        failure_persistence: None,
        ..Config::default()
    });
    let result = runner.run(&prop::collection::vec(step(), 1..80), |steps| {
        count.set(count.get() + 1);
        let session = format!("session {}: äöü", count.get());
        prop_assert_eq!(
            play(&there, &session, &steps),
            play(&here, &session, &steps)
        );
        let saved = here.save(&session).expect("memory");
        // A session saved there resumes here, and the other way round.
        let moved = there.save(&session).expect("it is there");
        if let (Some(saved), Some(moved)) = (saved, moved) {
            there.resume("moved", saved).expect("it is there");
            here.resume("moved", moved).expect("memory");
            prop_assert_eq!(play(&there, "moved", &steps), play(&here, "moved", &steps));
        }
        Ok(())
    });
    result.unwrap_or_else(|error| panic!("{error}"));
}

#[test]
fn one_round_trip_per_step() {
    let Some(server) = Server::start() else {
        return;
    };
    let ledger = server.ledger();
    let steps = [
        Step::Call {
            tool: 0,
            argument: 0,
            outcome: Some((Success::Ok, 0)),
            poller: true,
            changes: false,
            straggler: None,
        },
        Step::NextRound,
    ];
    // The first step loads the script into the server.
    play(&ledger, "warm", &steps[..1]);
    server.query("CONFIG RESETSTAT").expect("it is there");
    play(
        &ledger,
        "counted",
        &steps.iter().cycle().take(10).cloned().collect::<Vec<_>>(),
    );
    let stats = server.query("INFO commandstats").expect("it is there");
    assert!(
        stats.contains("cmdstat_evalsha:calls=10,"),
        "five calls are ten steps:\n{stats}"
    );
    for other in [
        "cmdstat_eval:",
        "cmdstat_script",
        "cmdstat_get:",
        "cmdstat_ping",
    ] {
        assert!(!stats.contains(other), "{other} in\n{stats}");
    }
}

/// A step reads and writes only its own data, not everything in its round.
#[test]
fn a_step_is_as_small_in_a_large_round() {
    let Some(server) = Server::start() else {
        return;
    };
    let ledger = server.ledger();
    let at = Moment {
        turn: Some(0),
        round: Some(0),
    };
    let mut limits = limits();
    (limits.turn_calls, limits.tool_calls) = (1_000, 1_000);
    let head = || {
        let length = server.query("HSTRLEN callwright:session:s head");
        length.expect("it is there")
    };
    let mut lengths = Vec::new();
    for argument in 0..200 {
        let fingerprint = fingerprint("t", argument);
        let ask = Ask {
            at,
            fingerprint,
            limits,
            ..ask()
        };
        let ruling = ledger.open("s", &ask).expect("it is there");
        assert_eq!(ruling.reason, None);
        let report = Report {
            turn: ruling.turn,
            fingerprint,
            tool: ToolName::new("t"),
            ended: Ended {
                success: Success::Ok,
                digest: Digest::of("found"),
                changes: false,
                waits: false,
            },
            beginning: "found",
        };
        ledger.close("s", &report).expect("it is there");
        lengths.push(head());
    }
    // Numbers with the same number of digits make heads of the same length.
    assert_eq!(lengths[110], lengths[199]);
    let saved = ledger.save("s").expect("it is there").expect("it was used");
    let saved = serde_json::to_value(&saved).expect("JSON");
    assert_eq!(saved["pending"].as_array().map(Vec::len), Some(200));
}

#[test]
fn sessions_expire() {
    let Some(server) = Server::start() else {
        return;
    };
    let mut settings = RedisSettings::default();
    settings.lifetime = Duration::from_secs(1);
    settings.timeout = Duration::from_secs(10);
    let ledger = RedisLedger::new(&server.address(), settings).expect("an address");
    let ask = ask();
    ledger.open("s", &ask).expect("it is there");
    assert!(ledger.save("s").expect("it is there").is_some());
    let deadline = Instant::now() + Duration::from_secs(20);
    while ledger.save("s").expect("it is there").is_some() {
        assert!(
            Instant::now() < deadline,
            "it should be forgotten after a second"
        );
        thread::sleep(Duration::from_millis(100));
    }
}

/// Takes part in a race if asked to: makes the same call until it is refused, and prints how often it ran.
#[test]
fn racer() {
    let Ok(address) = env::var("CALLWRIGHT_TEST_RACE") else {
        return;
    };
    let mut settings = RedisSettings::default();
    settings.timeout = Duration::from_secs(10);
    let ledger = RedisLedger::new(&address, settings).expect("an address");
    let at = Moment {
        turn: Some(0),
        round: Some(0),
    };
    let limits = Limits {
        budget: 500,
        turn_calls: 10_000,
        tool_calls: 10_000,
        ..limits()
    };
    let ask = Ask {
        at,
        fingerprint: fingerprint("pay", 0),
        tool: ToolName::new("pay"),
        limits,
        runs_uncounted: false,
        refused: None,
    };
    let ran = (0..1_000)
        .take_while(|_| {
            ledger
                .open("race", &ask)
                .expect("it is there")
                .reason
                .is_none()
        })
        .count();
    println!("ran {ran} times");
}

#[test]
fn two_processes_never_run_one_call_too_many() {
    let Some(server) = Server::start() else {
        return;
    };
    let start = || {
        Command::new(env::current_exe().expect("this test"))
            .args(["--exact", "racer", "--nocapture"])
            .env("CALLWRIGHT_TEST_RACE", server.address())
            .stdout(Stdio::piped())
            .spawn()
            .expect("this test again")
    };
    let racers = [start(), start()];
    let ran: Vec<u32> = racers
        .into_iter()
        .map(|racer| {
            let output = racer.wait_with_output().expect("it ends");
            let text = String::from_utf8_lossy(&output.stdout).into_owned();
            let (_, rest) = text
                .split_once("ran ")
                .unwrap_or_else(|| panic!("no count in {text}"));
            rest.split(' ')
                .next()
                .and_then(|count| count.parse().ok())
                .expect("a count")
        })
        .collect();
    assert_eq!(ran.iter().sum::<u32>(), 500, "{ran:?}");
}
