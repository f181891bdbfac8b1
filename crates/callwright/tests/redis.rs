//! The ledger on a real server: the same answers as in memory, one round trip, exact budgets, and what happens when
//! the server dies.
//!
//! Each test starts a server of its own (`redis-server` or `valkey-server`); where none is installed, the tests say
//! so and pass.

#![cfg(feature = "redis")]
#![expect(clippy::expect_used, clippy::print_stderr, reason = "tests")]

use std::env;
use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant, SystemTime};

use callwright::admit::ledger::{Ask, Limits, RedisLedger, RedisSettings, RefusedCall, Report};
use callwright::admit::{
    AdmissionPolicy, Answer, Fingerprint, Ledger, MemoryLedger, Moment, Outcome, Place, Reply,
    Shape, Success, WhenAway,
};
use callwright::check::Ran;
use callwright::event::Event;
use callwright::{Call, Gate, Opened, ToolSpec, json};
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};

/// A server that lives as long as this does.
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

    /// Starts a server with these settings and does not wait for it.
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

/// A ledger that is patient: test machines are busy.
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
        tool: "t",
        limits: limits(),
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
        /// Whether it is of an earlier turn, or of none.
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

/// What both ledgers say to a conversation, step by step.
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
            // The next is again a number or another name, in any order.
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
                let digest = Outcome::ok(Answer::Text(&format!("refused {reason}"))).digest;
                let refused = Some(RefusedCall {
                    digest,
                    unknown_tool: *unknown,
                });
                let fingerprint = fingerprint(&tool, *argument);
                let ask = Ask {
                    at,
                    fingerprint,
                    tool: &tool,
                    limits: limits(),
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
                let at = match straggler {
                    Some(3) => Moment { turn: None, ..at },
                    Some(back) => Moment {
                        turn: at.turn.map(|turn| turn.saturating_sub(*back)),
                        ..at
                    },
                    None => at,
                };
                let ask = Ask {
                    at,
                    fingerprint,
                    tool: &tool,
                    limits,
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
                        tool: &tool,
                        changes: *changes,
                        waits: *poller || *argument == 2,
                        success: *success,
                        digest: Outcome::ok(Answer::Text(&answer)).digest,
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
fn the_server_says_what_memory_says() {
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
        // What was saved there goes on here, and the other way round.
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
    // The first step teaches the server the script.
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

fn gate(server: &Server, when_away: WhenAway) -> Gate {
    let mut settings = RedisSettings::default();
    settings.timeout = Duration::from_secs(2);
    settings.pause = Duration::from_millis(50);
    let mut policy = AdmissionPolicy::default();
    policy.when_away = when_away;
    Gate::builder()
        .tool(ToolSpec::without_schema("run"))
        .tool(ToolSpec::without_schema("pay"))
        .admission(policy)
        .ledger(Arc::new(
            RedisLedger::new(&server.address(), settings).expect("an address"),
        ))
        .build()
        .expect("two tools")
}

fn code(opened: &Opened<'_>) -> Option<&'static str> {
    match opened {
        Opened::Admitted(_) => None,
        Opened::Refused(refused) => Some(refused.failure.code.name()),
    }
}

#[test]
fn a_server_that_dies_and_comes_back() {
    let Some(server) = Server::start() else {
        return;
    };
    let (open, closed) = (
        gate(&server, WhenAway::Open),
        gate(&server, WhenAway::Closed),
    );
    let by_effect = gate(&server, WhenAway::default());
    let call = Call::from_text("run", r#"{"to": "Ann"}"#);
    let payment = Call::from_text("pay", r#"{"to": "Ann"}"#);
    let at = |round| Place::new("s", 0, round);
    let Opened::Admitted(ticket) = closed.open(&call, at(0)) else {
        panic!("the first")
    };

    let port = server.kill();
    // The one that was under way is settled all the same.
    assert!(closed.close(ticket, Ran::ok("paid")).notice.is_none());
    assert_eq!(
        code(&open.open(&call, at(1))),
        None,
        "the policy lets calls run uncounted"
    );
    assert_eq!(code(&closed.open(&call, at(1))), Some("ledger_unavailable"));
    let Opened::Admitted(ticket) = by_effect.open(&call, at(1)) else {
        panic!("it may run uncounted")
    };
    assert!(ticket.is_uncounted());
    let settled = by_effect.close(ticket, Ran::ok("ran"));
    let event = Event::of(&by_effect, &call, &settled.verdict, SystemTime::UNIX_EPOCH);
    let line = event.with_uncounted(settled.uncounted).line().to_string();
    assert!(line.contains(r#""uncounted":true"#), "{line}");
    assert_eq!(
        code(&by_effect.open(&payment, at(1))),
        Some("ledger_unavailable"),
        "what must be counted does not run uncounted"
    );

    let _server = Server::start_on(port).expect("it started before");
    thread::sleep(Duration::from_millis(60));
    for round in 2..5 {
        assert_eq!(
            code(&closed.open(&call, at(round))),
            None,
            "round {round}: the memory is new"
        );
    }
    assert_eq!(
        code(&closed.open(&call, at(5))),
        Some("retry_budget_exceeded")
    );
}

#[test]
fn a_server_that_hangs_costs_three_waits() {
    let Some(server) = Server::start() else {
        return;
    };
    let mut settings = RedisSettings::default();
    settings.timeout = Duration::from_millis(200);
    settings.pause = Duration::from_secs(60);
    let ledger = RedisLedger::new(&server.address(), settings).expect("an address");
    let ask = ask();
    ledger.open("s", &ask).expect("it is there");
    let id = server.process.id().to_string();
    let stopped = Command::new("kill")
        .args(["-STOP", &id])
        .status()
        .expect("kill");
    assert!(stopped.success());
    for _ in 0..3 {
        assert!(ledger.open("s", &ask).is_err(), "one after the other waits");
    }
    let begin = Instant::now();
    for _ in 0..1_000 {
        assert!(ledger.open("s", &ask).is_err());
    }
    // A thousand waits would take minutes.
    assert!(begin.elapsed() < Duration::from_secs(30));
    Command::new("kill")
        .args(["-CONT", &id])
        .status()
        .expect("kill");
}

/// A server that answers is there: what is wrong with one session is no reason to forget the others.
#[test]
fn one_bad_key_harms_one_session() {
    let Some(server) = Server::start() else {
        return;
    };
    let ledger = server.ledger();
    server
        .query("SET callwright:session:bad x")
        .expect("it is there");
    let ask = ask();
    for round in 0..6 {
        assert!(ledger.open("bad", &ask).is_err());
        let ruling = ledger.open("good", &ask).expect("it is there");
        assert_eq!(ruling.reason.is_none(), round < 3, "round {round}");
    }
    assert_eq!(ledger.failed(), 6);
}

/// While a server hangs, one call a pause waits for it, however many threads there are.
#[test]
fn a_hanging_server_does_not_hold_up_the_crowd() {
    let Some(server) = Server::start() else {
        return;
    };
    let mut settings = RedisSettings::default();
    settings.timeout = Duration::from_millis(300);
    settings.pause = Duration::from_millis(600);
    let ledger = RedisLedger::new(&server.address(), settings).expect("an address");
    let ask = ask();
    let id = server.process.id().to_string();
    let signal = |name: &str| {
        Command::new("kill")
            .args([name, &id])
            .status()
            .expect("kill")
    };
    assert!(signal("-STOP").success());
    for _ in 0..3 {
        assert!(ledger.open("s", &ask).is_err(), "these wait");
    }
    let waited = AtomicUsize::new(0);
    let end = Instant::now() + Duration::from_secs(3);
    thread::scope(|scope| {
        for _ in 0..30 {
            scope.spawn(|| {
                while Instant::now() < end {
                    let begin = Instant::now();
                    assert!(ledger.open("s", &ask).is_err());
                    // The others are told at once.
                    let long = begin.elapsed() > Duration::from_millis(250);
                    waited.fetch_add(usize::from(long), Ordering::Relaxed);
                    thread::sleep(Duration::from_millis(20));
                }
            });
        }
    });
    signal("-CONT");
    let waited = waited.into_inner();
    // Five pauses and some; a busy machine may make a few others late. Thirty threads would wait 150 times.
    assert!((1..60).contains(&waited), "{waited} calls waited");
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

/// Takes part in a race if it is told to: asks for the same call until it is refused, and prints how often it ran.
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
        tool: "pay",
        limits,
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

/// A way to a server on which replies get lost or come byte by byte.
#[derive(Clone)]
struct BadLine {
    port: u16,
    /// How many replies are swallowed, with the connection that they came on.
    swallow: Arc<AtomicUsize>,
    drips: Arc<AtomicBool>,
}

impl BadLine {
    fn to(server: &Server) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let line = BadLine {
            port: listener.local_addr().expect("an address").port(),
            swallow: Arc::default(),
            drips: Arc::default(),
        };
        let (port, this) = (server.port, line.clone());
        thread::spawn(move || {
            for client in listener.incoming() {
                let client = client.expect("a client");
                let server = TcpStream::connect(("127.0.0.1", port)).expect("it is there");
                let mut ways = [
                    (
                        client.try_clone().expect("a socket"),
                        server.try_clone().expect("a socket"),
                    ),
                    (server, client),
                ];
                let this = this.clone();
                let [there, back] = &mut ways;
                let (mut from, mut to) = (
                    there.0.try_clone().expect("a socket"),
                    there.1.try_clone().expect("a socket"),
                );
                thread::spawn(move || std::io::copy(&mut from, &mut to));
                let (mut from, mut to) = (
                    back.0.try_clone().expect("a socket"),
                    back.1.try_clone().expect("a socket"),
                );
                thread::spawn(move || this.answer(&mut from, &mut to));
            }
        });
        line
    }

    fn answer(&self, from: &mut TcpStream, to: &mut TcpStream) {
        let mut buffer = [0; 4_096];
        while let Ok(length @ 1..) = from.read(&mut buffer) {
            let one_less = |left: usize| left.checked_sub(1);
            let (set, get) = (Ordering::SeqCst, Ordering::SeqCst);
            if self.swallow.fetch_update(set, get, one_less).is_ok() {
                let _ = to.shutdown(Shutdown::Both);
                let _ = from.shutdown(Shutdown::Both);
                return;
            }
            let drips = self.drips.load(Ordering::SeqCst);
            let size = if drips { 1 } else { length };
            for piece in buffer[..length].chunks(size) {
                if to.write_all(piece).is_err() {
                    return;
                }
                if drips {
                    thread::sleep(Duration::from_millis(50));
                }
            }
        }
    }

    fn address(&self) -> String {
        format!("redis://127.0.0.1:{}/0", self.port)
    }
}

/// The server took the step, and its reply was lost: the step is sent again and counted once.
#[test]
fn a_step_whose_reply_was_lost_counts_once() {
    let Some(server) = Server::start() else {
        return;
    };
    let line = BadLine::to(&server);
    let ledger = RedisLedger::new(&line.address(), patient()).expect("an address");
    let ask = |turn, round| Ask {
        at: Moment {
            turn: Some(turn),
            round: Some(round),
        },
        limits: Limits {
            budget: 100,
            ..limits()
        },
        ..ask()
    };
    ledger.open("s", &ask(0, 0)).expect("it is there");
    for round in 1..30 {
        // A step that begins a turn forgets the calls of the turn before, and not itself.
        let turn = round / 10;
        line.swallow.store(1, Ordering::SeqCst);
        let ruling = ledger.open("s", &ask(turn, round)).expect("it is there");
        assert_eq!(line.swallow.load(Ordering::SeqCst), 0, "it was lost");
        let calls = u32::try_from(round % 10 + 1).expect("few");
        assert_eq!((ruling.turn, ruling.turn_calls), (Some(turn), calls));
    }
    assert_eq!(ledger.failed(), 0);
}

/// What is remembered of steps does not grow.
#[test]
fn steps_are_remembered_for_a_while() {
    let Some(server) = Server::start() else {
        return;
    };
    let ledger = server.ledger();
    for _ in 0..200 {
        ledger.open("s", &ask()).expect("it is there");
    }
    let fields = server
        .query("HLEN callwright:session:s")
        .expect("it is there");
    // 64 steps with their slots, the head, the call and its tool.
    assert_eq!(fields, "int(131)");
}

/// The time-out is for the whole step, however the reply comes.
#[test]
fn a_reply_that_drips_does_not_hold_a_step() {
    let Some(server) = Server::start() else {
        return;
    };
    let line = BadLine::to(&server);
    let mut settings = RedisSettings::default();
    settings.timeout = Duration::from_millis(300);
    let ledger = RedisLedger::new(&line.address(), settings).expect("an address");
    let _ = ledger.open("s", &ask());
    line.drips.store(true, Ordering::SeqCst);
    let begin = Instant::now();
    assert!(ledger.open("s", &ask()).is_err());
    // The reply has some two hundred bytes: ten seconds.
    assert!(begin.elapsed() < Duration::from_secs(3));
    // One slow answer is no reason to let the next go uncounted.
    line.drips.store(false, Ordering::SeqCst);
    assert!(ledger.open("t", &ask()).is_ok());
}

/// A healthy server in a burst: each payment is made once, whatever has to wait.
#[test]
fn a_burst_never_runs_one_payment_too_many() {
    let Some(server) = Server::start() else {
        return;
    };
    let patient = RedisLedger::new(&server.address(), patient()).expect("an address");
    let usual = RedisLedger::new(&server.address(), RedisSettings::default()).expect("an address");
    for (ledger, name, is_patient) in [(patient, "patient", true), (usual, "usual", false)] {
        let gate = Gate::builder()
            .tool(ToolSpec::without_schema("pay"))
            .ledger(Arc::new(ledger))
            .build()
            .expect("a tool");
        let ran = AtomicUsize::new(0);
        thread::scope(|scope| {
            for worker in 0..500 {
                let (gate, ran) = (&gate, &ran);
                scope.spawn(move || {
                    for payment in 0..20 {
                        let session = format!("{name} {}", (worker + payment * 5) % 100);
                        let call = Call::from_text("pay", r#"{"to": "Ann"}"#);
                        let opened = gate.open(&call, Place::new(&session, 0, 0));
                        let admitted = matches!(opened, Opened::Admitted(_));
                        ran.fetch_add(usize::from(admitted), Ordering::Relaxed);
                    }
                });
            }
        });
        let ran = ran.into_inner();
        assert!(ran <= 100, "{ran} of 100 payments ran");
        assert!(!is_patient || ran == 100, "{ran} of 100 payments ran");
    }
}

/// Four replicas that do not agree about the turn: each payment is made once a turn, and turns go forward.
#[test]
fn replicas_that_disagree_about_the_turn_pay_once() {
    let Some(server) = Server::start() else {
        return;
    };
    let gate = gate(&server, WhenAway::default());
    let ran = AtomicUsize::new(0);
    thread::scope(|scope| {
        for replica in 0..4 {
            let (gate, ran) = (&gate, &ran);
            scope.spawn(move || {
                for round in 0..200 {
                    let call = Call::from_text("pay", r#"{"to": "Ann"}"#);
                    let opened = gate.open(&call, Place::new("s", replica, round));
                    let admitted = matches!(opened, Opened::Admitted(_));
                    ran.fetch_add(usize::from(admitted), Ordering::Relaxed);
                }
            });
        }
    });
    // Four turns at most, each with one payment.
    assert!((1..=4).contains(&ran.into_inner()));
}

#[cfg(feature = "redis-tls")]
mod tls {
    use std::{fs, path::Path};

    use callwright::admit::ledger::ClientCertificate;

    use super::*;

    fn openssl(folder: &Path, arguments: &str) -> bool {
        let done = Command::new("openssl")
            .args(arguments.split(' '))
            .current_dir(folder)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status();
        done.is_ok_and(|status| status.success())
    }

    /// An authority, and a certificate that it signed.
    fn certificates(folder: &Path) -> bool {
        fs::write(folder.join("names"), "subjectAltName=IP:127.0.0.1\n").expect("a file");
        [
            "req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=authority -keyout ca.key -out ca.pem",
            "req -newkey rsa:2048 -nodes -subj /CN=server -keyout own.key -out own.csr",
            "x509 -req -in own.csr -CA ca.pem -CAkey ca.key -CAcreateserial -days 2 -extfile names -out own.pem",
        ]
        .iter()
        .all(|arguments| openssl(folder, arguments))
    }

    #[test]
    fn a_server_that_speaks_tls() {
        let port = free_port();
        let folder = env::temp_dir().join(format!("callwright-tls-{port}"));
        fs::create_dir_all(&folder).expect("a folder");
        if !certificates(&folder) {
            eprintln!("skipped: openssl is not installed");
            return;
        }
        let file = |name: &str| folder.join(name).to_string_lossy().into_owned();
        let server = Server::spawn(
            port,
            &[
                "--port",
                "0",
                "--tls-port",
                &port.to_string(),
                "--tls-ca-cert-file",
                &file("ca.pem"),
                "--tls-cert-file",
                &file("own.pem"),
                "--tls-key-file",
                &file("own.key"),
            ],
        );
        let Some(server) = server else {
            return;
        };
        server.wait(|| TcpStream::connect(("127.0.0.1", port)).is_ok());
        let address = format!("rediss://127.0.0.1:{port}/0");
        let read = |name: &str| fs::read(folder.join(name)).expect("a file");
        let mut settings = patient();
        settings.root_certificate = Some(read("ca.pem"));
        settings.client_certificate = Some(ClientCertificate {
            certificate: read("own.pem"),
            key: read("own.key"),
        });
        let ledger = RedisLedger::new(&address, settings.clone()).expect("an address");
        for round in 0..4 {
            let ruling = ledger.open("s", &ask()).expect("it is there");
            assert_eq!(ruling.reason.is_none(), round < 3);
        }
        // A certificate that no authority of ours signed is not believed.
        settings.root_certificate = None;
        let ledger = RedisLedger::new(&address, settings).expect("an address");
        assert!(ledger.open("s", &ask()).is_err());
        // Nor is a plain connection taken for an answer.
        let plain = RedisLedger::new(&server.address(), patient()).expect("an address");
        assert!(plain.open("s", &ask()).is_err());
        fs::remove_dir_all(folder).expect("the folder");
    }
}

#[cfg(feature = "redis-cluster")]
mod cluster {
    use std::fs;

    use super::*;

    /// Three nodes that share the slots, once they know each other.
    fn start() -> Option<Vec<Server>> {
        let mut nodes = Vec::new();
        for slots in ["0 5460", "5461 10922", "10923 16383"] {
            let port = loop {
                // Nodes talk to each other ten thousand ports further.
                let port = free_port();
                if port < 55_000 {
                    break port;
                }
            };
            let folder = env::temp_dir().join(format!("callwright-cluster-{port}"));
            fs::create_dir_all(&folder).expect("a folder");
            let node = Server::spawn(
                port,
                &[
                    "--port",
                    &port.to_string(),
                    "--cluster-enabled",
                    "yes",
                    "--dir",
                    &folder.to_string_lossy(),
                ],
            )?;
            node.wait(|| node.query("PING").is_ok());
            let added = node.query(&format!("CLUSTER ADDSLOTSRANGE {slots}"));
            added.expect("slots that nobody has");
            nodes.push(node);
        }
        for node in &nodes[1..] {
            let meet = format!("CLUSTER MEET 127.0.0.1 {}", node.port);
            nodes[0].query(&meet).expect("it is there");
        }
        for node in &nodes {
            let is_ok = || {
                let info = node.query("CLUSTER INFO").unwrap_or_default();
                info.contains("cluster_state:ok") && info.contains("cluster_known_nodes:3")
            };
            node.wait(is_ok);
        }
        Some(nodes)
    }

    #[test]
    fn sessions_are_spread_over_the_nodes() {
        let Some(nodes) = start() else {
            return;
        };
        let addresses = [nodes[0].address(), nodes[1].address()];
        let addresses = addresses.each_ref().map(String::as_str);
        let ledger = RedisLedger::cluster(&addresses, patient()).expect("addresses");
        let here = MemoryLedger::default();
        for number in 0..60 {
            let session = format!("{{chat}} {number} {{");
            for _ in 0..5 {
                let there = ledger.open(&session, &ask()).expect("it is there");
                assert_eq!(there, here.open(&session, &ask()).expect("memory"));
            }
            let saved = ledger.save(&session).expect("it is there");
            assert_eq!(saved, here.save(&session).expect("memory"));
        }
        let steps = [Step::Call {
            tool: 0,
            argument: 0,
            outcome: Some((Success::Ok, 0)),
            poller: false,
            changes: true,
            straggler: None,
        }];
        for number in 0..60 {
            let session = format!("chat {number}");
            assert_eq!(
                play(&ledger, &session, &steps),
                play(&here, &session, &steps)
            );
        }
        for node in &nodes {
            let size = node.query("DBSIZE").expect("it is there");
            assert_ne!(size, "int(0)", "each node has sessions");
        }
        assert_eq!(ledger.failed(), 0);
        for node in &nodes {
            let folder = env::temp_dir().join(format!("callwright-cluster-{}", node.port));
            let _ = fs::remove_dir_all(folder);
        }
    }
}
