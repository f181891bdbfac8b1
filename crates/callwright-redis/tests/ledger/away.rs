//! Servers that die, hang, answer slowly or lose their replies, and many callers at once.

use super::*;

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
    // The call in progress is still settled.
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
    let line = event.settled(&settled).line().to_string();
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

/// A server that answers is up: one bad session does not affect the others.
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

/// While a server hangs, one call per pause waits for it, however many threads there are.
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
                    // The others fail at once.
                    let long = begin.elapsed() > Duration::from_millis(250);
                    waited.fetch_add(usize::from(long), Ordering::Relaxed);
                    thread::sleep(Duration::from_millis(20));
                }
            });
        }
    });
    signal("-CONT");
    let waited = waited.into_inner();
    // Five pauses and a few late calls on a busy machine. If all thirty threads waited, it would be 150.
    assert!((1..60).contains(&waited), "{waited} calls waited");
}

/// A connection to a server that loses replies or delivers them byte by byte.
#[derive(Clone)]
struct BadLine {
    port: u16,
    /// How many replies are dropped, together with their connection.
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

/// The server took the step but its reply was lost: the step is sent again and counted once.
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
        // A step that begins a turn forgets the calls of the previous turn, but not itself.
        let turn = round / 10;
        line.swallow.store(1, Ordering::SeqCst);
        let ruling = ledger.open("s", &ask(turn, round)).expect("it is there");
        assert_eq!(line.swallow.load(Ordering::SeqCst), 0, "it was lost");
        let calls = u32::try_from(round % 10 + 1).expect("few");
        assert_eq!((ruling.turn, ruling.turn_calls), (Some(turn), calls));
    }
    assert_eq!(ledger.failed(), 0);
}

/// Stops or resumes a server.
fn signal(server: &Server, signal: &str) {
    let id = server.process.id().to_string();
    let sent = Command::new("kill").args([signal, &id]).status();
    assert!(sent.expect("kill").success());
}

/// The server takes a step after its caller has timed out. The call did not run, so it does not count; the outcome of a
/// call counts even if it is late.
#[test]
fn a_step_that_timed_out_counts_as_it_was_answered() {
    let Some(server) = Server::start() else {
        return;
    };
    let mut settings = RedisSettings::default();
    settings.timeout = Duration::from_millis(300);
    settings.pause = Duration::from_millis(100);
    let ledger = RedisLedger::new(&server.address(), settings).expect("an address");
    let once = Ask {
        limits: Limits {
            budget: 1,
            ..limits()
        },
        ..ask()
    };
    ledger.open("warm", &once).expect("it is there");
    signal(&server, "-STOP");
    assert!(ledger.open("s", &once).is_err(), "it hangs");
    signal(&server, "-CONT");
    let saved = |session: &str| {
        let saved = ledger.save(session).ok().flatten();
        serde_json::to_value(saved).expect("JSON")
    };
    // The late step and its withdrawal can arrive in either order.
    let entry = format!("{}", once.fingerprint);
    server.wait(|| {
        let session = saved("s");
        !session.is_null() && session["entries"][&entry]["calls"] != 1
    });
    let ruling = eventually(|| ledger.open("s", &once));
    assert_eq!((ruling.reason, ruling.turn_calls), (None, 1));

    let report = Report {
        turn: ruling.turn,
        fingerprint: once.fingerprint,
        tool: ToolName::new("t"),
        ended: Ended {
            success: Success::Ok,
            digest: Digest::of("paid"),
            changes: true,
            waits: false,
        },
        beginning: "paid",
    };
    signal(&server, "-STOP");
    assert!(ledger.close("s", &report).is_err(), "it hangs");
    signal(&server, "-CONT");
    server.wait(|| saved("s")["pending"].as_array().map(Vec::len) == Some(1));
}

fn eventually<T>(step: impl Fn() -> Result<T, LedgerAway>) -> T {
    let deadline = Instant::now() + Duration::from_secs(20);
    loop {
        match step() {
            Ok(done) => return done,
            Err(error) => assert!(Instant::now() < deadline, "{error}"),
        }
        thread::sleep(Duration::from_millis(20));
    }
}

/// The memory of steps is bounded.
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

/// The timeout applies to the whole step, however the reply arrives.
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
    // The reply has about two hundred bytes, which would take ten seconds.
    assert!(begin.elapsed() < Duration::from_secs(3));
    // After one slow answer the next call is still counted.
    line.drips.store(false, Ordering::SeqCst);
    assert!(ledger.open("t", &ask()).is_ok());
}

/// A healthy server under a burst: each payment is made once, whatever has to wait.
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

/// Four replicas that disagree about the turn: each payment is made once per turn, and turns only advance.
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
    // At most four turns, each with one payment.
    assert!((1..=4).contains(&ran.into_inner()));
}
