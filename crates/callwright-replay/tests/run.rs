//! Whole runs over small logs.
#![allow(clippy::expect_used, reason = "a test may panic")]

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use callwright::wire::read_tools;
use callwright_replay::run::{Checkpoint, ReplaySettings, Run};
use callwright_replay::source::find;
use callwright_replay::summary::{Side, Summary};

const TOOLS: &str = r#"[{"name": "search", "inputSchema": {
    "type": "object", "additionalProperties": false, "required": ["query"],
    "properties": {"query": {"type": "string"}, "limit": {"type": "integer", "maximum": 100},
                   "sort": {"enum": ["up", "down"]}, "key": {"type": "integer", "writeOnly": true}}}}]"#;

fn settings() -> ReplaySettings {
    ReplaySettings {
        tools: Some(read_tools(TOOLS).expect("tools").into()),
        ..ReplaySettings::default()
    }
}

/// A separate folder with one file in it.
fn log(name: &str, text: &str) -> String {
    // Tests run in parallel, so each call writes its own file.
    static WRITTEN: AtomicUsize = AtomicUsize::new(0);
    let nth = WRITTEN.fetch_add(1, Ordering::Relaxed);
    let folder =
        std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("replay-run-{nth}"));
    std::fs::create_dir_all(&folder).expect("a folder");
    let path = folder.join(name);
    std::fs::write(&path, text).expect("a file");
    path.to_string_lossy().into_owned()
}

fn run(path: &str) -> Summary {
    let mut run = Run::new(find(&[path]).expect("a file"), settings()).expect("a run");
    let stop = AtomicBool::new(false);
    while !run.leg(&stop).expect("no worker dies") {}
    run.finish()
}

#[test]
fn one_stopped_call_does_not_stop_the_others_of_its_record() {
    // Every record has a call that is repeated and one that is new.
    let lines: Vec<String> = (0..8)
        .map(|round| {
            format!(
                r#"{{"session":"a","calls":[{{"tool":"search","arguments":{{"query":"tea"}},"round":{round},"output":"no"}},
                   {{"tool":"search","arguments":{{"query":"tea {round}"}},"round":{round},"output":"{round}"}}]}}"#
            )
            .replace('\n', "")
        })
        .collect();
    let summary = run(&log("stopped.jsonl", &lines.join("\n")));
    let loops: u64 = summary.loops.values().map(|stopped| stopped.calls).sum();
    assert_eq!(summary.calls.calls, 16);
    assert!((1..8).contains(&loops), "{loops}");
    assert_eq!(summary.calls.stopped, loops);
    let examples = summary.loops.values().flat_map(|it| it.examples.iter());
    for example in examples {
        assert_eq!(example.value, r#"search {"query":"tea"}"#);
    }
}

/// If the tools are too large to keep in memory, they are compiled as they are called, with the same verdicts.
#[test]
fn many_tools_judge_as_few_do() {
    let path = log(
        "many.jsonl",
        &[
            r#"{"tool":"search","arguments":{"query":"tea"},"session":"a","output":"ok"}"#,
            r#"{"tool":"search","arguments":{"query":"tea","limit":"5"},"session":"a"}"#,
            r#"{"tool":"search","arguments":{"limit":500},"session":"a"}"#,
            r#"{"tool":"Search","arguments":{"query":"tea"}}"#,
            r#"{"tool":"searhc","arguments":{"query":"tea"}}"#,
            r#"{"tool":"brew","arguments":{"query":"tea"}}"#,
            r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"search","arguments":{"query":"a"}}}"#,
            r#"{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"fine"}]}}"#,
        ]
        .join("\n"),
    );
    let judged = |description: String| {
        let mut tools = read_tools(TOOLS).expect("tools");
        let other = serde_json::json!({"name": "other", "description": description});
        tools.extend(read_tools(&other.to_string()).expect("a tool"));
        let settings = ReplaySettings {
            tools: Some(tools.into()),
            ..ReplaySettings::default()
        };
        let mut run = Run::new(find(&[&path]).expect("a file"), settings).expect("a run");
        while !run.leg(&AtomicBool::new(false)).expect("no worker dies") {}
        run.finish()
    };
    let few = judged("Does little.".to_owned());
    let mut many = judged("Does much. ".repeat(200_000));
    assert_eq!((few.calls.calls, few.calls.results), (7, 2));
    // The tool that was never called is known too, by another declaration.
    assert!(many.tools.get("other").is_some());
    many.tools = few.tools.clone();
    assert_eq!(few, many);
}

#[test]
fn violations_are_clustered_with_what_they_led_to() {
    let lines = [
        r#"{"tool":"search","arguments":{"query":"tea"},"session":"a","round":0,"output":"ok","time":"2026-11-01T10:00:00Z","model":"m1"}"#,
        r#"{"tool":"search","arguments":{"query":"tea","limit":150},"session":"a","round":1,"output":"ok","time":"2026-11-01T10:01:00Z","model":"m1"}"#,
        r#"{"tool":"search","arguments":{"query":"tea","sort":"sideways"},"session":"a","round":2,"output":"bad sort","is_error":true,"time":"2026-11-02T10:00:00Z","model":"m2"}"#,
        r#"{"tool":"search","arguments":{"query":"tea","sort":"sideways"},"session":"a","round":3,"output":"bad sort","is_error":true,"time":"2026-11-02T10:00:00Z","model":"m2"}"#,
        r#"{"tool":"search","arguments":{"query":"tea","sort":"up"},"session":"a","round":4,"output":"ok","time":"2026-11-02T10:00:00Z","model":"m2"}"#,
        r#"{"tool":"search","arguments":{"limit":5},"session":"b","round":0,"output":"query?","is_error":true}"#,
        r#"{"tool":"search","arguments":{"query":"tea","limit":"5"}}"#,
        r#"{"tool":"search","arguments":{"query":"tea","key":"hunter2"}}"#,
        "no JSON",
    ];
    let summary = run(&log("clusters.jsonl", &lines.join("\n")));
    assert_eq!(summary.calls.calls, 8);
    assert_eq!(
        (
            summary.calls.valid,
            summary.calls.repaired,
            summary.calls.refused
        ),
        (2, 1, 5)
    );
    assert_eq!(summary.input.records, 9);
    assert_eq!(summary.input.troubles.len(), 1);
    let found: Vec<String> = summary
        .clusters
        .iter()
        .map(|(key, cluster)| {
            assert_eq!(key.side, Side::Input);
            let led = cluster.led_to;
            format!(
                "{} {} {:?}: {} calls, fine {}, refused {}, unknown {}, corrected {}, repeated {}, gave up {}",
                key.path, key.issue, key.shape.name(), cluster.calls,
                led.ran_fine, led.tool_refused, led.unknown, led.corrected, led.repeated, led.gave_up
            )
        })
        .collect();
    let expected = [
        r#"/key type "masked": 1 calls, fine 0, refused 0, unknown 1, corrected 0, repeated 0, gave up 0"#,
        r#"/limit maximum "integer of 3 digits": 1 calls, fine 1, refused 0, unknown 0, corrected 0, repeated 0, gave up 0"#,
        r#"/limit type "integer in a string": 1 calls, fine 0, refused 0, unknown 1, corrected 0, repeated 0, gave up 0"#,
        r#"/query required "": 1 calls, fine 0, refused 1, unknown 0, corrected 0, repeated 0, gave up 1"#,
        r#"/sort enum "\"sideways\"": 2 calls, fine 0, refused 2, unknown 0, corrected 1, repeated 1, gave up 0"#,
    ];
    assert_eq!(found, expected);
    assert!(
        !serde_json::to_string(&summary)
            .expect("JSON")
            .contains("hunter2")
    );
}

/// Calls of many sessions, some of them wrong, long enough for many pieces.
fn long_log() -> String {
    let mut text = String::new();
    for call in 0..6_000 {
        let (session, limit) = (
            call % 97,
            if call % 7 == 0 {
                100 + call
            } else {
                call % 100
            },
        );
        let error = call % 11 == 0;
        text += &format!(
            "{{\"tool\":\"search\",\"arguments\":{{\"query\":\"tea {call}\",\"limit\":{limit}}},\"session\":\"s{session}\",\"round\":{call},\"output\":\"{call}\",\"is_error\":{error},\"time\":{},\"model\":\"m{}\"}}\n",
            1_760_000_000 + call * 60,
            call % 3
        );
    }
    text
}

#[test]
fn an_interrupted_run_continues_where_it_stopped() {
    let path = log("interrupted.jsonl", &long_log());
    let whole = run(&path);
    let inputs = find(&[&path]).expect("a file");
    let stop = AtomicBool::new(false);
    let mut first = Run::new(
        inputs.clone(),
        ReplaySettings {
            leg_bytes: Some(1),
            workers: std::num::NonZero::new(1),
            ..settings()
        },
    )
    .expect("a run");
    assert!(!first.leg(&stop).expect("no worker dies"));
    let checkpoint = first.checkpoint().to_json().expect("JSON");
    let done = first.finish();
    assert!(done.input.interrupted && done.calls.calls > 0 && done.calls.calls < 6_000);
    let checkpoint = Checkpoint::from_json(&checkpoint).expect("a checkpoint");
    let mut second = Run::resume(inputs, settings(), checkpoint).expect("a run");
    assert!(second.leg(&stop).expect("no worker dies"));
    let mut resumed = second.finish();
    // Admission's memory of a conversation does not survive the interruption.
    resumed.loops.clone_from(&whole.loops);
    assert!(resumed == whole, "a resumed run counts the same");
}

#[test]
fn requests_that_show_their_history_are_counted_once() {
    let tools = r#""tools":[{"type":"function","function":{"name":"search","parameters":{"type":"object","properties":{"limit":{"type":"integer"}}}}}]"#;
    let call = |id: &str, limit: &str| {
        format!(
            r#"{{"role":"assistant","tool_calls":[{{"id":"{id}","type":"function","function":{{"name":"search","arguments":"{{\"limit\": {limit}}}"}}}}]}}"#
        )
    };
    let user = r#"{"role":"user","content":"go"}"#;
    let answer = |id: &str, text: &str| {
        format!(r#"{{"role":"tool","tool_call_id":"{id}","content":"{text}"}}"#)
    };
    let (first, second) = ("call_a1b2c3d4e5f6", "call_f6e5d4c3b2a1");
    let lines = [
        format!(
            r#"{{"request":{{"model":"m","messages":[{user}],{tools}}},"response":{{"choices":[{{"message":{}}}]}}}}"#,
            call(first, "[1.5]")
        ),
        format!(
            r#"{{"request":{{"model":"m","messages":[{user},{},{}],{tools}}},"response":{{"choices":[{{"message":{}}}]}}}}"#,
            call(first, "[1.5]"),
            answer(first, "Error: limit must be a number"),
            call(second, "5"),
        ),
        format!(
            r#"{{"request":{{"model":"m","messages":[{user},{},{},{},{}],{tools}}},"response":{{"choices":[{{"message":{{"role":"assistant","content":"done"}}}}]}}}}"#,
            call(first, "[1.5]"),
            answer(first, "Error: limit must be a number"),
            call(second, "5"),
            answer(second, "five results"),
        ),
    ];
    let path = log("requests.jsonl", &lines.join("\n"));
    let mut run =
        Run::new(find(&[&path]).expect("a file"), ReplaySettings::default()).expect("a run");
    assert!(run.leg(&AtomicBool::new(false)).expect("no worker dies"));
    let summary = run.finish();
    assert_eq!(summary.calls.calls, 2);
    assert_eq!(summary.calls.results, 2);
    assert_eq!(summary.sessions.count(), 1);
    let clusters: Vec<_> = summary.clusters.iter().collect();
    assert_eq!(clusters.len(), 1);
    let (key, cluster) = clusters[0];
    assert_eq!(
        (key.path.as_str(), key.issue.name().as_ref()),
        ("/limit", "type")
    );
    assert_eq!(
        (cluster.led_to.tool_refused, cluster.led_to.corrected),
        (1, 1)
    );
}

#[test]
fn tools_that_nothing_declares_are_counted_and_not_judged() {
    let path = log(
        "undeclared.jsonl",
        r#"{"tool":"nobody_knows","arguments":{"a":1}}"#,
    );
    let mut run =
        Run::new(find(&[&path]).expect("a file"), ReplaySettings::default()).expect("a run");
    assert!(run.leg(&AtomicBool::new(false)).expect("no worker dies"));
    let summary = run.finish();
    let calls = summary.calls;
    assert_eq!((calls.calls, calls.valid, calls.unjudged), (1, 0, 1));
    assert!(summary.clusters.is_empty());
}

/// A signal during the search for tools ends the run, and the report says so.
/// The list of tools in a guard's record is complete: a name outside of it is judged as it was live.
#[test]
fn names_outside_of_a_recorded_list_are_judged_as_they_were_live() {
    let list = format!(r#"{{"jsonrpc":"2.0","id":"tools","result":{{"tools":{TOOLS}}}}}"#)
        .replace('\n', "");
    let event = |tool: &str, rest: &str| {
        format!(
            r#"{{"v":1,"tool":{tool},{rest},"arguments_sent":{{"query":"tea"}},"session":"a"}}"#
        )
    };
    let unknown = r#""verdict":"refused","failure":{"code":"unknown_tool"}"#;
    let lines = [
        event(
            r#""search","tool_sent":"functions.search""#,
            r#""verdict":"repaired","failure":null"#,
        ),
        event(r#""brew""#, unknown),
        // What the guard refused may be repaired by now.
        event(r#""Search""#, unknown),
        // There was no list when this one passed.
        event(r#""pour""#, r#""verdict":"unjudged","failure":null"#),
        event(r#""search""#, r#""verdict":"valid","failure":null"#),
    ];
    let judged = |lines: String| {
        let inputs = find(&[log("recorded.jsonl", &lines)]).expect("a file");
        let mut run = Run::new(inputs, ReplaySettings::default()).expect("a run");
        while !run.leg(&AtomicBool::new(false)).expect("no worker dies") {}
        run.finish()
    };
    let summary = judged(format!("{list}\n{}", lines.join("\n")));
    let calls = summary.calls;
    assert_eq!((calls.valid, calls.repaired, calls.refused), (1, 2, 1));
    assert_eq!((calls.unjudged, summary.undeclared_calls()), (1, 1));
    let unknown = summary.clusters.iter().find(|(key, _)| key.tool == "brew");
    assert_eq!(
        unknown.map(|(key, _)| key.issue.to_string()),
        Some("unknown_tool".to_owned())
    );
    // Without a list there is nothing to judge by.
    let calls = judged(lines.join("\n")).calls;
    assert_eq!((calls.calls, calls.unjudged), (5, 5));
}

#[test]
fn looking_for_tools_can_be_interrupted() {
    let path = log("stopped.jsonl", &long_log());
    let stop = std::sync::Arc::new(AtomicBool::new(true));
    let settings = ReplaySettings {
        stop: Some(std::sync::Arc::clone(&stop)),
        ..ReplaySettings::default()
    };
    let mut run = Run::new(find(&[path]).expect("a file"), settings).expect("a run");
    assert!(!run.leg(&stop).expect("no worker dies"));
    let report = callwright_replay::report::Report::new(run.finish());
    let text = callwright_replay::report::text(
        &report,
        100,
        false,
        callwright_replay::report::WrittenFiles::default(),
    )
    .unwrap();
    assert!(
        text.starts_with("Interrupted before any call was found.\n"),
        "{text}"
    );
}

/// Calls of a tool without a declaration are counted, and marked as such. In a file, a declaration also applies to
/// earlier calls.
#[test]
fn undeclared_tools_are_known_as_such() {
    let call = r#"{"tool":"search","arguments":{}}"#;
    let other = r#"{"tool":"read","arguments":{}}"#;
    let request = r#"{"model":"m","messages":[],"tools":[{"name":"search","input_schema":{"type":"object","required":["query"]}}]}"#;
    let path = log("undeclared.jsonl", &[call, other, request, call].join("\n"));
    let mut run =
        Run::new(find(&[path]).expect("a file"), ReplaySettings::default()).expect("a run");
    let stop = AtomicBool::new(false);
    while !run.leg(&stop).expect("no worker dies") {}
    let summary = run.finish();
    assert_eq!((summary.calls.calls, summary.calls.refused), (3, 2));
    assert_eq!(summary.undeclared_calls(), 1);
    let read = summary.tools.get("read").expect("it was called");
    assert!(read.versions.is_empty());
}

/// The requests of a conversation, each with the whole history, as an agent without session ids logs them. Each round
/// has one call, with the id that `id` returns.
fn requests(user: &str, rounds: usize, id: impl Fn(usize) -> Option<String>) -> Vec<String> {
    let mut messages = vec![serde_json::json!({"role": "user", "content": user})];
    let mut lines = vec![serde_json::json!({"messages": messages}).to_string()];
    for round in 0..rounds {
        let id = id(round);
        let arguments = serde_json::json!({"query": format!("{user} {}", round % 3)}).to_string();
        let function = serde_json::json!({"name": "search", "arguments": arguments});
        messages.push(match &id {
            Some(id) => {
                serde_json::json!({"role": "assistant", "tool_calls": [{"id": id, "function": function}]})
            }
            None => serde_json::json!({"role": "assistant", "function_call": function}),
        });
        messages.push(match &id {
            Some(id) => serde_json::json!({"role": "tool", "tool_call_id": id, "content": "found"}),
            None => serde_json::json!({"role": "function", "name": "search", "content": "found"}),
        });
        lines.push(serde_json::json!({"messages": messages}).to_string());
    }
    lines
}

#[test]
fn a_call_is_counted_once_whatever_its_id_looks_like() {
    type Id = fn(usize) -> Option<String>;
    let ids: [(&str, Id); 6] = [
        ("counters", |round| Some(format!("call_{round}"))),
        ("the same in every answer", |_| Some("call_1".to_owned())),
        ("long counters", |round| {
            Some(format!("call_00000000000000{round}"))
        }),
        ("short and random", |round| Some(format!("D681PevK{round}"))),
        ("letters only", |round| {
            let letter = char::from(b'a' + u8::try_from(round).expect("a few"));
            Some(format!("call_{}", letter.to_string().repeat(24)))
        }),
        ("none", |_| None),
    ];
    for (what, id) in ids {
        let mut lines = requests("tea", 9, id);
        lines.extend(requests("coffee", 5, id));
        let summary = run(&log("ids.jsonl", &lines.join("\n")));
        assert_eq!(summary.calls.calls, 14, "{what}");
        assert_eq!(summary.calls.results, 14, "{what}");
        assert_eq!(summary.sessions.count(), 2, "{what}");
    }
}

#[test]
fn an_answer_and_the_history_that_shows_it_are_one_call() {
    let id = |round: usize| Some(format!("call_{round}"));
    let requests = requests("tea", 4, id);
    let answer = |round: usize| {
        let history: serde_json::Value = serde_json::from_str(&requests[round + 1]).expect("JSON");
        let messages = history["messages"].as_array().expect("messages");
        let message = &messages[messages.len() - 2];
        serde_json::json!({"id": format!("chatcmpl-{round}"), "choices": [{"message": message}]})
    };
    let with_request: Vec<String> = (0..4)
        .map(|round| {
            format!(
                r#"{{"request":{},"response":{}}}"#,
                requests[round],
                answer(round)
            )
        })
        .collect();
    let by_themselves: Vec<String> = (0..4)
        .flat_map(|round| [requests[round].clone(), answer(round).to_string()])
        .collect();
    for (what, lines) in [("pairs", with_request), ("lines", by_themselves)] {
        let summary = run(&log("answers.jsonl", &lines.join("\n")));
        assert_eq!(summary.calls.calls, 4, "{what}");
    }
}

#[test]
fn an_example_shows_the_arguments_around_its_value_without_secrets() {
    let line = r#"{"tool":"search","arguments":{"query":"tea","limit":"many","key":987654321}}"#;
    let summary = run(&log("context.jsonl", line));
    let (_, cluster) = summary.clusters.iter().next().expect("a cluster");
    let example = cluster.examples.iter().next().expect("an example");
    assert_eq!(example.value, r#""many""#);
    assert!(
        example
            .arguments
            .contains(r#""query":"tea","limit":"many""#),
        "{example:?}"
    );
    assert!(!summary.to_json().expect("JSON").contains("987654321"));
}

#[test]
fn calls_that_pass_with_a_warning_break_their_schema_all_the_same() {
    let mut lenient = callwright::policy::ToolPolicy::new("search");
    lenient.validation = Some(callwright::policy::Validation::Warn);
    let mut settings = settings();
    settings.policy.tools.push(lenient);
    let line = r#"{"tool":"search","arguments":{"query":"tea","limit":"many"}}"#;
    let inputs = find(&[log("warned.jsonl", line)]).expect("a file");
    let mut run = Run::new(inputs, settings).expect("a run");
    while !run.leg(&AtomicBool::new(false)).expect("no worker dies") {}
    let summary = run.finish();
    let tally = summary.calls;
    assert_eq!((tally.valid, tally.warned, tally.violations()), (1, 1, 1));
    let report = callwright_replay::report::Report::new(summary);
    let written = callwright_replay::report::WrittenFiles::default();
    let text = callwright_replay::report::text(&report, 100, false, written).expect("a text");
    assert!(text.contains("1 of 1 call breaks its schema"), "{text}");
    assert!(text.contains("1 would have been refused"), "{text}");
}
