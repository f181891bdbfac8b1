//! Properties of any conversation, and the ledger compared with a naive one that keeps everything.
#![allow(clippy::expect_used, reason = "a test may panic")]

mod naive;

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use callwright::admit::ledger::{Ask, Ended, Ledger as _, Limits, RefusedCall, Report, ToolName};
use callwright::admit::{
    AdmissionPolicy, Digest, Escalation, Fingerprint, MemoryLedger, Moment, Place, Reply, Session,
    Steps, Success,
};
use callwright::check::{Ran, ToolFailure};
use callwright::failure::Cause;
use callwright::feedback::Feedback;
use callwright::tool::Effect;
use callwright::wire::read_tools;
use callwright::{Call, Gate, Opened, Settled, ToolSpec, Verdict, wire};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::{Value, json};

use naive::Naive;

// ------------------------------------------------------------------------------------------------
// Conversations through the gate.

/// A read, a write, a tool with an unknown effect, a poller.
const TOOLS: &str = r#"[
    {"name": "read", "inputSchema": {"type": "object", "properties": {"path": {"type": "string"}, "n": {"type": "integer", "default": 1}}, "required": ["path"]}, "annotations": {"readOnlyHint": true}},
    {"name": "write", "inputSchema": {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]}, "annotations": {"readOnlyHint": false, "destructiveHint": false}},
    {"name": "run", "inputSchema": {"type": "object", "properties": {"path": {"type": "string"}}}},
    {"name": "job_status", "inputSchema": {"type": "object"}, "annotations": {"readOnlyHint": true}}
]"#;

/// One call of a conversation, and its outcome.
#[derive(Debug, Clone)]
struct Line {
    tool: &'static str,
    arguments: Value,
    output: Option<(&'static str, bool)>,
}

/// The calls in one answer of the model.
type Round = Vec<Line>;

fn arguments() -> impl Strategy<Value = Value> {
    select(vec![
        json!({"path": "a"}),
        json!({"path": "b"}),
        json!({"path": "a", "n": 1}),
        json!({"path": "a", "n": 2}),
        json!({"file": "a"}),
        json!("{\"path\": \"a\"}"),
        json!("no JSON"),
    ])
}

fn output() -> impl Strategy<Value = Option<(&'static str, bool)>> {
    select(vec![
        None,
        Some(("one", false)),
        Some(("one", false)),
        Some(("two", false)),
        Some(("gone", true)),
        Some(("forbidden", true)),
        Some(("HTTP 429", true)),
    ])
}

fn line() -> impl Strategy<Value = Line> {
    let tool = select(vec!["read", "read", "write", "run", "job_status", "web"]);
    (tool, arguments(), output()).prop_map(|(tool, arguments, output)| Line {
        tool,
        arguments,
        output,
    })
}

/// Rounds in which equal calls have the same outcome.
fn rounds() -> impl Strategy<Value = Vec<Round>> {
    vec(vec(line(), 1..5), 1..14).prop_map(|mut rounds| {
        for round in &mut rounds {
            for at in 1..round.len() {
                let earlier = round[..at].iter().find(|earlier| {
                    earlier.tool == round[at].tool
                        && plain(&earlier.arguments) == plain(&round[at].arguments)
                });
                if let Some(output) = earlier.map(|earlier| earlier.output) {
                    round[at].output = output;
                }
            }
        }
        rounds
    })
}

/// The meaning of arguments: without the default, and parsed if they are text.
fn plain(arguments: &Value) -> Value {
    let mut plain = match arguments {
        Value::String(text) => serde_json::from_str(text).unwrap_or_else(|_| arguments.clone()),
        other => other.clone(),
    };
    if plain["n"] == 1 {
        plain.as_object_mut().map(|members| members.remove("n"));
    }
    plain
}

fn never_at_a_limit() -> AdmissionPolicy {
    let mut policy = AdmissionPolicy::default();
    policy.tool_calls = Steps::NEVER;
    policy.turn_calls = Steps::NEVER;
    policy.most_refusals = u32::MAX;
    policy
}

/// The tools, the writing one as declared by its operator.
fn tools() -> Vec<ToolSpec> {
    let tools = read_tools(TOOLS).expect("tools").into_iter();
    tools
        .map(|tool| match tool.effect {
            Effect::Write => tool.with_effect(Effect::Write),
            _ => tool,
        })
        .collect()
}

fn gate(policy: AdmissionPolicy) -> Gate {
    let builder = Gate::builder().tools(tools()).admission(policy);
    builder.build().expect("tools")
}

fn text(line: &Line, round: usize) -> String {
    let mut call = json!({"tool": line.tool, "arguments": line.arguments, "session": "s", "turn": 0, "round": round});
    if let Some((output, is_error)) = line.output {
        call["output"] = json!(output);
        call["is_error"] = json!(is_error);
    }
    call.to_string()
}

/// The verdict line, and the reason if admission objects.
fn step(gate: &Gate, line: &str) -> (String, Option<String>) {
    let recorded = wire::read_recorded(line).expect("a call");
    let place = recorded.place().expect("a session");
    let settled: Settled<'_> = match (gate.open(&recorded.call, place), recorded.ran()) {
        (Opened::Refused(refused), _) => Verdict::Refused(refused).into(),
        (Opened::Admitted(ticket), Some(ran)) => gate.close(ticket, ran),
        (Opened::Admitted(ticket), None) => ticket.into(),
    };
    let reason = match settled.verdict.failure().map(|failure| &failure.cause) {
        Some(Cause::Objection(objection)) if objection.original.is_none() => {
            Some(format!("{:?} {}", objection.reason, objection.count))
        }
        _ => None,
    };
    let feedback = Feedback::default();
    (settled.line(&recorded.call, &feedback).to_string(), reason)
}

fn lines(rounds: &[Round]) -> Vec<Vec<String>> {
    let numbered = rounds.iter().enumerate();
    numbered
        .map(|(at, round)| round.iter().map(|line| text(line, at)).collect())
        .collect()
}

/// The verdicts of each round, sorted, without the arguments: two spellings of one call count as one.
fn verdicts(gate: &Gate, rounds: &[Vec<String>]) -> Vec<Vec<String>> {
    let verdict = |line: &String| {
        let mut verdict: Value = serde_json::from_str(&step(gate, line).0).expect("JSON");
        verdict["arguments"] = Value::Null;
        verdict.to_string()
    };
    let of_round = |round: &Vec<String>| {
        let mut verdicts: Vec<String> = round.iter().map(verdict).collect();
        verdicts.sort();
        verdicts
    };
    rounds.iter().map(of_round).collect()
}

/// The same lines, rotated round by round.
fn turned(rounds: &[Vec<String>], by: usize, back: bool) -> Vec<Vec<String>> {
    let mut rounds = rounds.to_vec();
    for round in &mut rounds {
        let middle = by % round.len();
        round.rotate_left(middle);
        if back {
            round.reverse();
        }
    }
    rounds
}

/// An object with its keys in another order, at every level.
fn backwards(value: &Value) -> Value {
    match value {
        Value::Object(members) => members
            .iter()
            .rev()
            .map(|(key, member)| (key.clone(), backwards(member)))
            .collect(),
        other => other.clone(),
    }
}

proptest! {
    #[test]
    fn the_order_of_keys_never_matters(rounds in rounds()) {
        let one = gate(never_at_a_limit());
        let other = gate(never_at_a_limit());
        for (at, round) in rounds.iter().enumerate() {
            for line in round {
                let reversed = Line { arguments: backwards(&line.arguments), ..line.clone() };
                let (first, _) = step(&one, &text(line, at));
                let (second, _) = step(&other, &text(&reversed, at));
                let first: Value = serde_json::from_str(&first).expect("JSON");
                let second: Value = serde_json::from_str(&second).expect("JSON");
                for key in ["verdict", "notice"] {
                    prop_assert_eq!(&first[key], &second[key]);
                }
                prop_assert_eq!(&first["failure"]["code"], &second["failure"]["code"]);
                prop_assert_eq!(&first["failure"]["next"], &second["failure"]["next"]);
            }
        }
    }

    #[test]
    fn the_order_in_a_round_never_matters(rounds in rounds(), by in 0_usize..4, back in any::<bool>()) {
        let lines = lines(&rounds);
        let expected = verdicts(&gate(never_at_a_limit()), &lines);
        let got = verdicts(&gate(never_at_a_limit()), &turned(&lines, by, back));
        prop_assert_eq!(expected, got);
    }

    /// The same call may return two results in one round. A budget may then go to either, so there is none here.
    #[test]
    fn the_order_does_not_matter_if_one_call_has_two_results(
        rounds in vec(vec(line(), 1..5), 1..14), by in 0_usize..4, back in any::<bool>()
    ) {
        let mut policy = never_at_a_limit();
        policy.budget = u32::MAX;
        policy.budget_read = u32::MAX;
        policy.budget_write = u32::MAX;
        policy.transient = u32::MAX;
        let lines: Vec<Vec<String>> = lines(&rounds)
            .into_iter()
            .map(|round| round.into_iter().filter(|line| !line.contains("429")).collect())
            .filter(|round: &Vec<String>| !round.is_empty())
            .collect();
        let expected = verdicts(&gate(policy.clone()), &lines);
        let got = verdicts(&gate(policy), &turned(&lines, by, back));
        prop_assert_eq!(expected, got);
    }

    #[test]
    fn a_resumed_session_continues_where_it_left_off(rounds in rounds(), every in 1_usize..4) {
        let whole = gate(AdmissionPolicy::default());
        let mut parts = gate(AdmissionPolicy::default());
        for (at, line) in lines(&rounds).iter().flatten().enumerate() {
            if at % every == 0
                && let Some(session) = parts.ledger().save("s").expect("here")
            {
                let text = serde_json::to_string(&session).expect("JSON");
                let read: Session = serde_json::from_str(&text).expect("a session");
                prop_assert_eq!(&read, &session);
                prop_assert_eq!(serde_json::to_string(&read).expect("JSON"), text);
                parts = gate(AdmissionPolicy::default());
                parts.ledger().resume("s", read).expect("here");
            }
            prop_assert_eq!(step(&whole, line).0, step(&parts, line).0);
        }
    }

    /// A call that admission refuses leaves no trace, except for the counted refusals.
    #[test]
    fn a_refused_call_leaves_no_trace(rounds in rounds()) {
        let mut policy = never_at_a_limit();
        policy.escalation = Escalation::Never;
        let (all, without) = (gate(policy.clone()), gate(policy));
        for line in lines(&rounds).iter().flatten() {
            let (verdict, reason) = step(&all, line);
            if reason.is_some() {
                continue;
            }
            let (expected, none) = step(&without, line);
            prop_assert_eq!(none, None, "{}", line);
            // The time since something happened is counted in rounds, and a round of refused calls is one too.
            let strip = |line: &str| -> (Value, Value) {
                let line: Value = serde_json::from_str(line).expect("JSON");
                (line["verdict"].clone(), line["notice"].clone())
            };
            prop_assert_eq!(strip(&verdict), strip(&expected), "{}", line);
        }
    }

    #[test]
    fn two_sessions_are_independent(rounds in rounds()) {
        let (alone, together) = (gate(AdmissionPolicy::default()), gate(AdmissionPolicy::default()));
        for line in lines(&rounds).iter().flatten() {
            let other = line.replace("\"session\":\"s\"", "\"session\":\"t\"");
            let expected = step(&alone, line);
            prop_assert_eq!(step(&together, &other), step(&together, line));
            prop_assert_eq!(expected, step(&together, &line.replace("\"session\":\"s\"", "\"session\":\"u\"")));
        }
    }
}

/// What happens to a ticket.
#[derive(Debug, Clone, Copy)]
enum Fate {
    /// Returned at once.
    Closed,
    /// Returned after other calls have been opened and closed, in another round or another turn.
    Late,
    /// Never returned.
    Dropped,
}

proptest! {
    /// Tickets come back in any order, late or never; rounds and turns go back and forth; users answer without being
    /// asked.
    #[test]
    fn nothing_is_out_of_order(
        steps in vec((line(), 0_u64..3, 0_u64..4, select(vec![Fate::Closed, Fate::Late, Fate::Dropped]), 0_u8..20), 1..40)
    ) {
        let mut policy = AdmissionPolicy::default();
        policy.turn_calls = Steps::new(5, 12);
        let gate = gate(policy);
        let lines: Vec<String> = steps.iter().map(|(line, turn, round, ..)| {
            let mut call: Value = serde_json::from_str(&text(line, 0)).expect("JSON");
            call["turn"] = json!(turn);
            // Some calls are their own round.
            call["round"] = if *round == 3 { Value::Null } else { json!(round) };
            call.to_string()
        }).collect();
        let recorded: Vec<_> = lines.iter().map(|line| wire::read_recorded(line).expect("a call")).collect();
        let mut late = Vec::new();
        let mut in_a_row = (None, 0);
        for (recorded, (.., fate, answer)) in recorded.iter().zip(&steps) {
            match answer {
                0 => gate.ledger().answer("s", &Reply::Stop).expect("here"),
                1 => gate.ledger().answer("s", &Reply::AllowTool("read".to_owned())).expect("here"),
                2 => gate.ledger().answer("s", &Reply::AllowOnce(fingerprint(1))).expect("here"),
                _ => {}
            }
            if in_a_row.0 != recorded.at.turn {
                in_a_row = (recorded.at.turn, 0);
            }
            let Opened::Admitted(ticket) = gate.open(&recorded.call, recorded.place().expect("a session")) else {
                continue;
            };
            in_a_row.1 += 1;
            prop_assert!(in_a_row.1 <= 12, "the hard limit holds");
            match (fate, recorded.ran()) {
                (Fate::Closed, Some(ran)) => drop(gate.close(ticket, ran)),
                (Fate::Late, Some(ran)) => late.push((ticket, ran)),
                _ => drop(ticket),
            }
            if late.len() > 3 {
                let (ticket, ran) = late.swap_remove(1);
                drop(gate.close(ticket, ran));
            }
        }
        for (ticket, ran) in late {
            drop(gate.close(ticket, ran));
        }
    }
}

#[test]
fn no_call_too_many_runs_on_many_threads() {
    let gate = gate(AdmissionPolicy::default());
    let admitted = |tool: &str, arguments: &str, round: Option<u64>| {
        let call = Call::from_text(tool, arguments);
        let at = Moment {
            turn: Some(0),
            round,
        };
        matches!(
            gate.open(&call, Place { session: "s", at }),
            Opened::Admitted(_)
        )
    };
    for (tool, budget) in [("write", 1), ("run", 3), ("read", 10)] {
        let counted = AtomicUsize::new(0);
        thread::scope(|scope| {
            for number in 0..32 {
                let (counted, admitted) = (&counted, &admitted);
                scope.spawn(move || {
                    for round in 0..32 {
                        let round = (number % 2 == 0).then_some(round);
                        let yes = admitted(tool, r#"{"path": "a"}"#, round);
                        counted.fetch_add(usize::from(yes), Ordering::Relaxed);
                    }
                });
            }
        });
        // The refusals of one use up those of the other.
        gate.ledger().resume("s", Session::default()).expect("here");
        assert_eq!(counted.into_inner(), budget, "{tool}");
    }
}

#[test]
fn the_least_recently_used_session_is_evicted_first() {
    let ledger = Arc::new(MemoryLedger::new(2));
    let builder = Gate::builder().tools(tools()).ledger(ledger.clone());
    let gate = builder.build().expect("tools");
    let write = |session: &str| {
        let call = Call::from_text("write", r#"{"path": "a"}"#);
        matches!(
            gate.open(&call, Place::new(session, 0, 0)),
            Opened::Admitted(_)
        )
    };
    assert!(write("one") && write("two"));
    assert!(!write("one"), "it is remembered");
    assert!(write("three"), "and now two has left");
    assert!(!write("one") && write("two"));
    assert_eq!((ledger.sessions(), ledger.forgotten()), (2, 2));
}

// ------------------------------------------------------------------------------------------------
// The ledger, compared with one that keeps the whole history and starts over for each question.

/// An operation on a ledger.
#[derive(Debug, Clone)]
enum Event {
    /// Which of the calls, its outcome, and whether that is known before the round is over.
    Call(usize, Option<(Success, u64)>, bool),
    /// The same, for an earlier turn, or for none.
    Straggler(usize, Option<u64>),
    Round,
    Turn,
    Reply(Answer),
}

#[derive(Debug, Clone, Copy)]
enum Answer {
    Once(usize),
    Tool(usize),
    Stop,
}

/// The calls: their tool, and why the gate refuses them.
const CALLS: [(usize, Option<(u64, bool)>); 9] = [
    (0, None),
    (0, None),
    (0, None),
    (1, None),
    (1, None),
    (2, None),
    (0, Some((901, false))),
    (0, Some((901, false))),
    (3, Some((902, true))),
];
const NAMES: [&str; 4] = ["read", "write", "poll", "web"];

fn limits() -> impl Strategy<Value = Limits> {
    let few = 1_u32..6;
    (
        (few.clone(), few.clone(), few.clone(), few.clone()),
        (few.clone(), few.clone(), few.clone(), few),
        (3_u32..20, 3_u32..30, 2_u32..12, 0_u32..4),
    )
        .prop_map(|(first, second, third)| Limits {
            budget: third.3,
            once: false,
            spends: false,
            repeated_refusal: first.0,
            repeated_call: first.1,
            repeated_result: first.2,
            polling: first.3 + 3,
            poller: false,
            cycle: second.0,
            error_streak: second.1 + 1,
            unknown_tools: second.2,
            tool_calls: third.0,
            turn_calls: third.1,
            transient: second.3,
            most_refusals: third.2,
        })
}

/// The limits of one of the calls: some writes are payments.
fn of_call(call: usize, all: Limits) -> Limits {
    let (tool, _) = CALLS[call];
    let writes = NAMES[tool] == "write";
    Limits {
        poller: NAMES[tool] == "poll",
        once: writes,
        spends: writes && call % 2 == 1,
        ..all
    }
}

fn event() -> impl Strategy<Value = Event> {
    let outcome = prop_oneof![
        1 => Just(None),
        6 => (select(vec![Success::Ok, Success::Ok, Success::Error]), 0_u64..2).prop_map(Some),
        1 => Just(Some((Success::Transient, 7))),
    ];
    let answer = prop_oneof![
        3 => (0..CALLS.len()).prop_map(Answer::Once),
        2 => (0..NAMES.len()).prop_map(Answer::Tool),
        1 => Just(Answer::Stop),
    ];
    prop_oneof![
        30 => (0..CALLS.len(), outcome, any::<bool>()).prop_map(|(call, outcome, at_once)| Event::Call(call, outcome, at_once)),
        20 => Just(Event::Round),
        1 => Just(Event::Turn),
        2 => (0..6_usize, prop::option::of(1..3_u64)).prop_map(|(call, back)| Event::Straggler(call, back)),
        1 => answer.prop_map(Event::Reply),
    ]
}

fn fingerprint(call: usize) -> Fingerprint {
    format!("{call:x}").parse().expect("a number")
}

fn digest(number: u64) -> Digest {
    serde_json::from_value(json!(format!("{number:032x}"))).expect("a digest")
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_000))]
    #[test]
    fn the_ledger_agrees_with_a_naive_one(limits in limits(), events in vec(event(), 1..60)) {
        let ledger = MemoryLedger::new(1);
        let mut naive = Naive::default();
        let mut at = Moment { turn: Some(0), round: Some(0) };
        let mut open: Vec<Report<'_>> = Vec::new();
        // The outcomes of this round's calls: equal calls have equal outcomes.
        let mut brought: Vec<(usize, Option<(Success, u64)>)> = Vec::new();
        for event in events {
            match event {
                Event::Round | Event::Turn => {
                    for report in open.drain(..) {
                        prop_assert_eq!(ledger.close("s", &report).expect("here"), naive.close(&report));
                    }
                    brought.clear();
                    at.round = at.round.map(|round| round + 1);
                    if matches!(event, Event::Turn) {
                        at.turn = at.turn.map(|turn| turn + 1);
                    }
                }
                Event::Reply(answer) => {
                    let reply = match answer {
                        Answer::Once(call) => Reply::AllowOnce(fingerprint(call)),
                        Answer::Tool(tool) => Reply::AllowTool(NAMES[tool].to_owned()),
                        Answer::Stop => Reply::Stop,
                    };
                    ledger.answer("s", &reply).expect("here");
                    naive.answer(&reply);
                }
                Event::Straggler(call, back) => {
                    let (tool, _) = CALLS[call];
                    let turn = back.and_then(|back| Some(at.turn?.saturating_sub(back)));
                    let ask = Ask {
                        at: Moment { turn, ..at },
                        fingerprint: fingerprint(call),
                        tool: ToolName::new(NAMES[tool]),
                        limits: of_call(call, limits),
                        runs_uncounted: false,
                        refused: None,
                    };
                    prop_assert_eq!(ledger.open("s", &ask).expect("here"), naive.open(&ask));
                }
                Event::Call(call, outcome, at_once) => {
                    let (tool, refused) = CALLS[call];
                    let poller = NAMES[tool] == "poll";
                    let ask = Ask {
                        at,
                        fingerprint: fingerprint(call),
                        tool: ToolName::new(NAMES[tool]),
                        limits: of_call(call, limits),
                        runs_uncounted: false,
                        refused: refused.map(|(number, unknown_tool)| RefusedCall {
                            digest: digest(number),
                            unknown_tool,
                        }),
                    };
                    let ruling = ledger.open("s", &ask).expect("here");
                    let expected = naive.open(&ask);
                    prop_assert_eq!(&ruling, &expected, "call {} in {:?}", call, at);
                    if ruling.reason.is_some() || refused.is_some() {
                        continue;
                    }
                    let known = brought.iter().find(|(known, _)| *known == call);
                    let outcome = known.map_or(outcome, |(_, outcome)| *outcome);
                    brought.push((call, outcome));
                    let Some((success, number)) = outcome else { continue };
                    let number = number + if success == Success::Ok { 0 } else { 100 };
                    let report = Report {
                        turn: ruling.turn,
                        fingerprint: ask.fingerprint,
                        tool: ask.tool,
                        ended: Ended {
                            changes: ask.tool.as_str() == "write" || call == 2,
                            waits: poller || (call == 2 && success == Success::Ok),
                            success,
                            digest: digest(number),
                        },
                        beginning: ["one", "two"][usize::from(number % 2 == 1)],
                    };
                    if at_once {
                        prop_assert_eq!(ledger.close("s", &report).expect("here"), naive.close(&report));
                    } else {
                        open.push(report);
                    }
                }
            }
        }
    }
}

#[test]
fn a_recorded_loop_is_stopped_like_a_live_one() {
    let tool = ToolSpec::without_schema("read_file");
    let gate = Gate::builder().tool(tool).build().expect("one tool");
    let call = Call::from_text("read_file", r#"{"path": "a.txt"}"#);
    let verdict = gate.judge(&call);
    let tool = gate.tool("read_file").expect("it was just added");
    let stopped = (0..20).filter(|round| {
        let failed = Ran::failed(ToolFailure::said("no such file"));
        let arguments = verdict.arguments().expect("they were read");
        let recalled = gate.recall(&call, &verdict, Some(&gate.check(tool, arguments, failed)));
        let place = Place::new("chat-1", 0, *round);
        gate.relive(&recalled, place).is_some()
    });
    assert_eq!(stopped.count(), 17);
}
