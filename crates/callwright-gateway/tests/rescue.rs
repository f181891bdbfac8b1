//! Calls that came as text: however the bytes are cut, a streamed answer comes out like a whole one, and what is not a call
//! keeps its bytes.
#![allow(
    clippy::expect_used,
    clippy::panic,
    clippy::too_many_lines,
    reason = "a test may panic, and tells one story"
)]

mod support;

use std::sync::Arc;

use bytes::Bytes;
use callwright::call::{Call, Completeness};
use callwright::rescue::{Message, Notation};
use callwright::tool::Effect;
use callwright::wire::EnvelopeDefect;
use callwright::{Gate, ToolSpec, Verdict};
use callwright_gateway::{AnswerGuard, CallJudge, Decision, NewCall, RescueScope};
use callwright_http::sse::EventSplitter;
use proptest::prelude::*;
use serde_json::{Value, json};
use support::{APIS, Api, Heard, Said};

#[derive(Default)]
struct Judge {
    /// Notation, tool and verdict of each call.
    verdicts: Vec<(Option<&'static str>, String, &'static str)>,
}

impl CallJudge for Judge {
    fn judge(&mut self, gate: &Gate, call: &Call<'_>) -> Decision {
        let verdict = gate.judge(call);
        let notation = call.rescued.map(Notation::name);
        self.verdicts
            .push((notation, call.tool.to_string(), verdict.name()));
        match verdict {
            Verdict::Repaired(repaired) => Decision::Change(NewCall {
                tool: repaired.tool().name().to_owned(),
                arguments: repaired.arguments().to_string(),
            }),
            Verdict::Valid(_) => Decision::Valid,
            _ => Decision::Leave,
        }
    }

    fn mended(&mut self, _: EnvelopeDefect) {}
}

/// A tool that only reads, and one whose effect is unknown.
fn gate() -> Arc<Gate> {
    let schema = json!({"type": "object", "properties": {"city": {"type": "string"}, "days": {"type": "integer"}},
        "required": ["city"], "additionalProperties": false});
    let mut weather = ToolSpec::new("get_weather", schema.clone());
    weather.effect = Effect::Read;
    Arc::new(
        Gate::builder()
            .tool(weather)
            .tool(ToolSpec::new("book_trip", schema))
            .build()
            .expect("tools"),
    )
}

fn guard(api: Api) -> AnswerGuard {
    AnswerGuard::new(gate(), api.provider()).rescuing(RescueScope::default())
}

fn events(stream: &str) -> impl Iterator<Item = Bytes> {
    stream
        .split_inclusive("\n\n")
        .map(|event| Bytes::copy_from_slice(event.as_bytes()))
}

fn judged(api: Api, stream: &str, portion: usize, judge: &mut Judge) -> String {
    let mut guard = guard(api);
    let mut splitter = EventSplitter::default();
    let mut out = Vec::new();
    for portion in stream.as_bytes().chunks(portion) {
        splitter.push(portion);
        while let Some(event) = splitter.next_event() {
            guard.event(event, judge, &mut out);
        }
    }
    out.push(splitter.rest());
    guard.end(judge, &mut out);
    assert_eq!(guard.unjudged(), None);
    String::from_utf8(out.concat()).expect("text")
}

fn judged_whole(api: Api, body: &str, judge: &mut Judge) -> String {
    guard(api)
        .body(body, judge)
        .unwrap_or_else(|| body.to_owned())
}

/// A message that is only text.
fn text(text: &str) -> Said {
    Said {
        text: text.to_owned(),
        ..Said::default()
    }
}

/// A ping goes on at once, also while something is held.
fn without_pings(stream: &str) -> String {
    stream
        .split_inclusive("\n\n")
        .filter(|event| !event.starts_with("event: ping"))
        .collect()
}

/// What a client ought to hear of a message, apart from ids: what is left of the text, and calls.
fn expected(said: &Said) -> Option<(String, Vec<(String, Value)>)> {
    let gate = gate();
    let mut message = Message::from_text(said.text.as_str());
    message.completeness = if said.is_cut {
        Completeness::CutOff
    } else {
        Completeness::Complete
    };
    let rescued = gate
        .rescue(&message)
        .ok()
        .filter(|_| said.calls.is_empty())?;
    let calls = rescued.calls.iter().map(|call| {
        let verdict = gate.judge(call);
        let is_sound = matches!(verdict, Verdict::Valid(_) | Verdict::Repaired(_));
        let arguments = verdict.arguments().filter(|_| is_sound)?.to_string();
        Some((
            call.tool.to_string(),
            serde_json::from_str(&arguments).expect("JSON"),
        ))
    });
    Some((rescued.rest.to_owned(), calls.collect::<Option<Vec<_>>>()?))
}

fn finish_with_calls(api: Api) -> &'static str {
    match api {
        Api::Chat => "tool_calls",
        Api::Messages => "tool_use",
        Api::Responses => "completed",
        Api::Gemini => "STOP",
    }
}

/// Holds an answer, streamed and whole, to what it ought to be. Returns whether it had calls.
fn check(api: Api, said: &Said, piece: usize, portion: usize) -> bool {
    let (stream, body) = (api.streamed(said, piece), api.whole(said));
    let (mut of_stream, mut of_body) = (Judge::default(), Judge::default());
    let judged_stream = judged(api, &stream, portion, &mut of_stream);
    let judged_body = judged_whole(api, &body, &mut of_body);
    assert_eq!(of_stream.verdicts, of_body.verdicts);
    let Some((rest, calls)) = expected(said) else {
        assert!(
            without_pings(&judged_stream) == without_pings(&stream),
            "{api:?}: not a call, so not a byte changes: {said:?}"
        );
        assert_eq!(
            judged_body, body,
            "{api:?}: not a call, so not a byte changes"
        );
        return false;
    };
    let mut heard = api.hear_stream(&judged_stream);
    let mut whole = api.hear_whole(&judged_body);
    for call in heard.calls.iter_mut().chain(&mut whole.calls) {
        call.2 = serde_json::from_str::<Value>(&call.2)
            .expect("JSON")
            .to_string();
    }
    assert_eq!(heard, whole, "{api:?}: {said:?}");
    assert_eq!(heard.text, rest, "{api:?}");
    let found: Vec<_> = heard
        .calls
        .iter()
        .map(|(_, tool, arguments)| {
            (
                tool.clone(),
                serde_json::from_str::<Value>(arguments).expect("JSON"),
            )
        })
        .collect();
    assert_eq!(found, calls, "{api:?}");
    assert_eq!(heard.finish, finish_with_calls(api));
    let ids: std::collections::BTreeSet<&str> =
        heard.calls.iter().map(|call| call.0.as_str()).collect();
    assert_eq!(ids.len(), calls.len());
    for id in ids {
        let hash = id.strip_prefix("call_").expect("an id of ours");
        assert!(
            hash.len() == 24 && hash.bytes().all(|byte| byte.is_ascii_alphanumeric()),
            "{id}"
        );
    }
    if rest.is_empty() {
        assert!(
            heard
                .parts
                .iter()
                .all(|part| !matches!(part.as_str(), "text" | "message")),
            "{:?}",
            heard.parts
        );
    }
    assert!(
        of_stream
            .verdicts
            .iter()
            .all(|(notation, ..)| notation.is_some())
    );
    true
}

/// A call as models write it, in any of the notations.
fn written(notation: usize, tool: &str, arguments: &Value) -> String {
    let members = arguments.as_object().expect("an object");
    let text = |value: &Value| {
        value
            .as_str()
            .map_or_else(|| value.to_string(), str::to_owned)
    };
    let parameters = |open: &str, opened: &str| -> String {
        let parameter = |(key, value): (&String, &Value)| {
            format!("{open}{key}{opened}{}</parameter>\n", text(value))
        };
        members.iter().map(parameter).collect()
    };
    let named: Vec<String> = members
        .iter()
        .map(|(key, value)| format!("{key}={value}"))
        .collect();
    let json = json!({"name": tool, "arguments": arguments});
    match notation {
        0 => format!("<tool_call>\n{json}\n</tool_call>"),
        1 => format!(
            "<tool_call>\n<function={tool}>\n{}</function>\n</tool_call>",
            parameters("<parameter=", ">")
        ),
        2 => format!("<function={tool}>{arguments}</function>"),
        3 => format!(
            "<invoke name=\"{tool}\">\n{}</invoke>",
            parameters("<parameter name=\"", "\">")
        ),
        4 => format!("[TOOL_CALLS]{tool}{arguments}"),
        5 => format!("[TOOL_CALLS][{json}]"),
        6 => format!("{tool}[ARGS]{arguments}"),
        7 => format!(
            "<|channel|>commentary to=functions.{tool} <|constrain|>json<|message|>{arguments}<|call|>"
        ),
        8 => format!("[{tool}({})]", named.join(", ")),
        9 => json.to_string(),
        10 => format!("[{json}, {json}]"),
        11 => format!("```json\n{json:#}\n```"),
        _ => format!(
            "{}{}",
            written(0, tool, arguments),
            written(0, "get_weather", arguments)
        ),
    }
}

const NOTATIONS: usize = 13;

fn call_as_text() -> impl Strategy<Value = String> {
    let arguments = prop_oneof![
        4 => Just(json!({"city": "Paris"})),
        2 => Just(json!({"city": "Zürich \"x\" 😀", "days": 3})),
        1 => Just(json!({"city": "Paris", "days": "3"})),
        1 => Just(json!({"days": 3})),
    ];
    let tool = prop_oneof![4 => Just("get_weather"), 2 => Just("book_trip"), 1 => Just("get_news")];
    (0..NOTATIONS, tool, arguments)
        .prop_map(|(notation, tool, arguments)| written(notation, tool, &arguments))
}

/// Messages around calls: some of them are calls, some quote them.
fn message() -> impl Strategy<Value = Said> {
    let before = prop_oneof![
        6 => Just(""),
        1 => Just(" \n"),
        1 => Just("<think>I could call <tool_call>.</think>\n\n"),
        1 => Just("Let me look.\n\n"),
        1 => Just("<|channel|>analysis<|message|>Hm.<|end|>"),
        1 => Just("For example:\n"),
        1 => Just("Sure. "),
    ];
    let after = prop_oneof![6 => Just(""), 1 => Just("\n"), 1 => Just("<|im_end|>"), 1 => Just("\nThat is it.")];
    let reasoning = prop_oneof![2 => Just(""), 1 => Just("Hm. <tool_call>{\"name\": \"get_weather\"}</tool_call>")];
    let called = prop::bool::weighted(0.1);
    (
        before,
        call_as_text(),
        after,
        reasoning,
        prop::bool::weighted(0.1),
        called,
    )
        .prop_map(|(before, call, after, reasoning, is_cut, is_called)| {
            let native = (
                "call_1".to_owned(),
                "get_weather".to_owned(),
                r#"{"city":"Oslo"}"#.to_owned(),
            );
            Said {
                reasoning: reasoning.to_owned(),
                text: format!("{before}{call}{after}"),
                calls: if is_called { vec![native] } else { Vec::new() },
                is_cut,
            }
        })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_streamed_answer_is_rescued_like_a_whole_one(said in message(), piece in 1_usize..40, portion in 1_usize..300) {
        for api in APIS {
            check(api, &said, piece, portion);
        }
    }
}

#[test]
fn every_notation_is_rescued_from_every_api() {
    for notation in 0..NOTATIONS {
        let arguments = json!({"city": "Paris", "days": 3});
        let call = written(notation, "get_weather", &arguments);
        for api in APIS {
            for piece in [1, 3, 1000] {
                assert!(check(api, &text(&call), piece, 1000), "{api:?}: {call}");
                let reasoned = Said {
                    reasoning: "Hm.".to_owned(),
                    ..text(&call)
                };
                assert!(check(api, &reasoned, piece, 1000), "{api:?}: {call}");
                let thought = text(&format!("<think>Hm.</think>\n\n{call}\n"));
                assert!(check(api, &thought, piece, 1000), "{api:?}: {call}");
                let cut = Said {
                    is_cut: true,
                    ..text(&call)
                };
                assert!(!check(api, &cut, piece, 1000), "{api:?}: {call}");
            }
        }
    }
}

/// Every way to cut the bytes of one answer.
#[test]
fn it_does_not_matter_how_bytes_are_cut() {
    let said = text(
        "Let me look.\n<tool_call>{\"name\": \"get_weather\", \"arguments\": {\"city\": \"Zürich\"}}</tool_call>",
    );
    for api in APIS {
        let stream = api.streamed(&said, 20);
        let once = judged(api, &stream, usize::MAX, &mut Judge::default());
        // Portions of any size cut the same places as before beyond the longest event.
        for portion in 1..400 {
            assert!(
                judged(api, &stream, portion, &mut Judge::default()) == once,
                "{api:?}: {portion}"
            );
        }
        for piece in 1..100 {
            assert!(check(api, &said, piece, 1000));
        }
    }
}

#[test]
fn what_quotes_a_call_or_only_begins_like_one_keeps_its_bytes() {
    for message in [
        "",
        "Sure, <tool_call>{\"name\": \"book_trip\", \"arguments\": {\"city\": \"Paris\"}}</tool_call>",
        "```json\n{\"name\": \"book_trip\", \"arguments\": {\"city\": \"Paris\"}}\n```\nThat is how it is called.",
        "{\"name\": \"get_weather\", \"version\": 3}",
        "{\"foo\": 1}",
        "<tool_call>{\"name\": \"get_weather\", \"arguments\": {\"city\": \"Par",
        "<tool_call>{\"name\": \"get_news\", \"arguments\": {}}</tool_call>",
        "<tool_call>{\"name\": \"get_weather\", \"arguments\": {\"town\": \"Paris\"}}</tool_call>",
        "I'll book it.\n<tool_call>{\"name\": \"book_trip\", \"arguments\": {\"city\": \"Paris\"}}</tool_call>",
        "get_weather is a tool.",
        "[link](https://example.org)",
        "<think>",
    ] {
        for api in APIS {
            for piece in [1, 5, 1000] {
                assert!(
                    !check(api, &text(message), piece, 1000),
                    "{api:?}: {message}"
                );
            }
        }
    }
}

/// Prose goes on event by event; what may be a call waits.
#[test]
fn only_what_may_be_a_call_waits() {
    let passes = |api: Api, message: &str| -> Vec<bool> {
        let (mut guard, mut judge) = (guard(api), Judge::default());
        let stream = api.streamed(&text(message), 1);
        let held = events(&stream).map(|event| {
            let is_text = event
                .windows(8)
                .any(|part| part == b"\"delta\":" || part == b"{\"text\":");
            let mut out = Vec::new();
            guard.event(event, &mut judge, &mut out);
            is_text.then_some(!out.is_empty())
        });
        held.flatten().collect()
    };
    for api in APIS {
        let prose = "Well: the weather in Paris is fine.";
        let waiting = passes(api, prose).iter().filter(|passes| !**passes).count();
        // A blank waits for the word after it: it goes if a call follows.
        assert!(waiting <= prose.matches(' ').count() + 1, "{api:?}");
        let thought = passes(api, "<think>Let me think about it</think>");
        let waiting = thought.iter().filter(|passes| !**passes).count();
        // Until it is clear that it is reasoning.
        assert!(waiting <= 8, "{api:?}: {thought:?}");
        let call = passes(api, "<tool_call>{\"name\": \"get_weather\"");
        assert!(
            call.iter().filter(|passes| !**passes).count() >= 30,
            "{api:?}: {call:?}"
        );
    }
}

#[test]
fn what_is_held_for_too_long_goes_on_as_it_came() {
    let said = text(
        "<tool_call>{\"name\": \"get_weather\", \"arguments\": {\"city\": \"Paris\"}}</tool_call>",
    );
    for api in APIS {
        let stream = api.streamed(&said, 3);
        let number = events(&stream).count();
        for release in 0..number {
            let (mut guard, mut judge) = (guard(api), Judge::default());
            let mut out = Vec::new();
            let mut was_holding = false;
            for (at, event) in events(&stream).enumerate() {
                guard.event(event, &mut judge, &mut out);
                if at == release {
                    was_holding = guard.is_holding() && guard.held_bytes() > 0;
                    guard.release(&mut judge, &mut out);
                    assert!(!guard.is_holding());
                }
            }
            guard.end(&mut judge, &mut out);
            if was_holding {
                let out = String::from_utf8(out.concat()).expect("text");
                assert_eq!(
                    without_pings(&out),
                    without_pings(&stream),
                    "{api:?} {release}"
                );
                assert!(judge.verdicts.is_empty());
            }
        }
        // A stream that breaks off is cut off.
        let (mut guard, mut judge) = (guard(api), Judge::default());
        let mut out = Vec::new();
        for event in events(&stream).take(number - 3) {
            guard.event(event, &mut judge, &mut out);
        }
        guard.break_off(&mut judge, &mut out);
        let out = String::from_utf8(out.concat()).expect("text");
        assert!(
            without_pings(&stream).starts_with(&without_pings(&out)),
            "{api:?}"
        );
    }
}

#[test]
fn who_only_observes_changes_nothing() {
    let said = text(
        "<tool_call>{\"name\": \"get_weather\", \"arguments\": {\"city\": \"Paris\"}}</tool_call>",
    );
    for api in APIS {
        let (mut guard, mut judge) = (guard(api).only_observing(), Judge::default());
        let stream = api.streamed(&said, 3);
        for event in events(&stream) {
            let mut out = Vec::new();
            guard.event(event.clone(), &mut judge, &mut out);
            assert_eq!(out, [event]);
        }
        assert_eq!(
            judge.verdicts,
            [(Some("tool_call"), "get_weather".to_owned(), "valid")],
            "{api:?}"
        );
    }
}

/// Nothing but the text, the calls and the finish reason differs.
#[test]
fn the_rest_of_an_answer_keeps_its_bytes() {
    let text = "Let me look.\\n<tool_call>{\\\"name\\\": \\\"get_weather\\\", \\\"arguments\\\": {\\\"city\\\": \\\"Paris\\\"}}</tool_call>";
    let call = r#"<tool_call>{\"name\": \"get_weather\", \"arguments\": {\"city\": \"Paris\"}}</tool_call>"#;
    let id = |body: &str| {
        let at = body.find(":\"call_").expect("an id");
        body[at + 7..at + 31].to_owned()
    };
    for (api, before, after) in [
        (
            Api::Chat,
            format!(
                r#"{{ "id" : "a", "choices": [ {{"index":0,"finish_reason" : "stop", "message": {{"content": "{text}" , "role":"assistant", "tool_calls": [ ]}}, "logprobs":1.50 }}] }}"#
            ),
            r#"{ "id" : "a", "choices": [ {"index":0,"finish_reason" : "tool_calls", "message": {"content": "Let me look." , "role":"assistant", "tool_calls": [{"id":"call_ID","type":"function","function":{"name":"get_weather","arguments":"{\"city\":\"Paris\"}"}}]}, "logprobs":1.50 }] }"#,
        ),
        (
            Api::Chat,
            format!(
                r#"{{"choices":[{{"message":{{"role":"assistant","content":"{call}"}},"finish_reason":"stop"}}]}}"#
            ),
            r#"{"choices":[{"message":{"tool_calls":[{"id":"call_ID","type":"function","function":{"name":"get_weather","arguments":"{\"city\":\"Paris\"}"}}],"role":"assistant","content":null},"finish_reason":"tool_calls"}]}"#,
        ),
        (
            Api::Messages,
            format!(
                r#"{{"id":"a","type":"message","content":[ {{"type":"thinking","thinking":"x"}}, {{"text":"{call}","type":"text"}} ],"stop_reason": "end_turn","stop_sequence":null}}"#
            ),
            r#"{"id":"a","type":"message","content":[ {"type":"thinking","thinking":"x"},{"type":"tool_use","id":"call_ID","name":"get_weather","input":{"city":"Paris"}} ],"stop_reason": "tool_use","stop_sequence":null}"#,
        ),
        (
            Api::Gemini,
            format!(
                r#"{{"candidates":[{{"content":{{"parts":[{{"text":"{call}"}}]}},"finishReason":"STOP","n":1e5}}]}}"#
            ),
            r#"{"candidates":[{"content":{"parts":[{"functionCall":{"id":"call_ID","name":"get_weather","args":{"city":"Paris"}},"thoughtSignature":"skip_thought_signature_validator"}]},"finishReason":"STOP","n":1e5}]}"#,
        ),
        (
            Api::Responses,
            format!(
                r#"{{"object":"response","id":"a","status":"completed","output":[{{"type":"message","content":[{{"type":"output_text","text":"{text}","annotations":[]}}]}}],"usage":{{}}}}"#
            ),
            r#"{"object":"response","id":"a","status":"completed","output":[{"type":"message","content":[{"type":"output_text","text":"Let me look.","annotations":[]}]},{"type":"function_call","id":"fc_ID","call_id":"call_ID","name":"get_weather","arguments":"{\"city\":\"Paris\"}","status":"completed"}],"usage":{}}"#,
        ),
    ] {
        let body = judged_whole(api, &before, &mut Judge::default());
        let id = id(&body);
        assert_eq!(body, after.replace("ID", &id), "{api:?}");
    }
}

/// Choices of one answer do not wait for each other.
#[test]
fn choices_are_told_apart() {
    let chunk = |index: usize, content: &str, finish: Value| {
        let event = json!({"id": "c", "choices": [{"index": index, "delta": {"content": content}, "finish_reason": finish}]});
        format!("data: {event}\n\n")
    };
    let call =
        "<tool_call>{\"name\": \"get_weather\", \"arguments\": {\"city\": \"Paris\"}}</tool_call>";
    // Blanks would wait for the word after them.
    let prose = "Well:_it_is_fine.";
    let mut stream = String::new();
    for at in 0..call.len() {
        stream.push_str(&chunk(0, &call[at..=at], Value::Null));
        if at < prose.len() {
            stream.push_str(&chunk(1, &prose[at..=at], Value::Null));
        }
    }
    stream.push_str(&chunk(1, "", "stop".into()));
    stream.push_str(&chunk(0, "", "stop".into()));
    stream.push_str("data: [DONE]\n\n");
    let (mut guard, mut judge) = (guard(Api::Chat), Judge::default());
    let mut all = String::new();
    for event in events(&stream) {
        let is_prose = event.windows(9).any(|part| part == b"\"index\":1");
        let mut out = Vec::new();
        guard.event(event, &mut judge, &mut out);
        // After "Well:" it is clear that no call has begun.
        let out = String::from_utf8(out.concat()).expect("text");
        all.push_str(&out);
        let is_clear = all.contains(r#""content":":""#);
        assert!(!out.is_empty() || !is_prose || !is_clear);
    }
    let of = |index: usize| -> Heard {
        let own = all
            .split_inclusive("\n\n")
            .filter(|event| event.contains(&format!("\"index\":{index},\"delta\"")));
        Api::Chat.hear_stream(&own.collect::<String>())
    };
    assert_eq!(
        (
            of(1).text.as_str(),
            of(1).finish.as_str(),
            of(1).calls.len()
        ),
        (prose, "stop", 0)
    );
    assert_eq!(
        (
            of(0).text.as_str(),
            of(0).finish.as_str(),
            of(0).calls.len()
        ),
        ("", "tool_calls", 1)
    );
}

/// Servers leave things out, and put together what others send apart.
#[test]
fn quirks_of_servers_do_no_harm() {
    let call = "Let me look.\n<tool_call>{\"name\": \"get_weather\", \"arguments\": {\"city\": \"Paris\"}}</tool_call>";
    let hear = |api: Api, stream: &str| {
        let judged = judged(api, stream, 1000, &mut Judge::default());
        let heard = api.hear_stream(&judged);
        assert_eq!(
            (heard.text.as_str(), heard.calls.len()),
            ("Let me look.", 1),
            "{judged}"
        );
        (heard, judged)
    };
    // An event of another kind first, and everything else in one event.
    let chunk = json!({"id": "c", "choices": [{"index": 0, "delta": {"content": call}, "finish_reason": "stop"}]});
    let (heard, _) = hear(
        Api::Chat,
        &format!("data: {{\"x\": 1}}\n\ndata: {chunk}\n\ndata: [DONE]\n\n"),
    );
    assert_eq!(heard.finish, "tool_calls");
    let chunk =
        json!({"candidates": [{"content": {"parts": [{"text": call}]}, "finishReason": "STOP"}]});
    let (_, judged_stream) = hear(Api::Gemini, &format!("data: {chunk}\n\n"));
    assert!(
        judged_stream.find("Let me look.") < judged_stream.find("functionCall"),
        "{judged_stream}"
    );
    // No finish reason, with and without `[DONE]`.
    let chunk = json!({"id": "c", "choices": [{"index": 0, "delta": {"content": call}}]});
    for end in ["", "data: [DONE]\n\n"] {
        let (heard, judged) = hear(Api::Chat, &format!("data: {chunk}\n\n{end}"));
        assert_eq!(heard.finish, "tool_calls");
        assert!(judged.ends_with(end));
    }
    // No part at the end, or an empty one with a signature.
    for last in [
        json!({}),
        json!({"parts": []}),
        json!({"parts": [{"text": "", "thoughtSignature": "s"}]}),
    ] {
        let first = json!({"candidates": [{"content": {"parts": [{"text": call}]}}]});
        let last = json!({"candidates": [{"content": last, "finishReason": "STOP"}]});
        let (_, judged) = hear(Api::Gemini, &format!("data: {first}\n\ndata: {last}\n\n"));
        assert_eq!(
            judged.contains(r#""thoughtSignature":"s""#),
            last.to_string().contains("Signature")
        );
    }
    // llama.cpp numbers neither events nor items.
    let stream = Api::Responses.streamed(&text(call), 5);
    let without = stream
        .lines()
        .map(|line| match line.strip_prefix("data: ") {
            Some(data) => {
                let mut data: Value = serde_json::from_str(data).expect("JSON");
                for key in ["output_index", "content_index", "sequence_number"] {
                    data.as_object_mut().expect("an object").remove(key);
                }
                format!("data: {data}\n")
            }
            None => format!("{line}\n"),
        });
    let (_, judged) = hear(Api::Responses, &without.collect::<String>());
    assert!(!judged.contains("sequence_number"));
}

/// Text in two blocks is one message; anything else after text, or text told in two ways, leaves it alone.
#[test]
fn blocks_of_text_are_one_message() {
    let call =
        "<tool_call>{\"name\": \"get_weather\", \"arguments\": {\"city\": \"Paris\"}}</tool_call>";
    let stream_of = |blocks: &[(&str, &str)]| -> String {
        let mut events =
            vec![json!({"type": "message_start", "message": {"id": "m1", "content": []}})];
        for (index, (kind, text)) in blocks.iter().enumerate() {
            events.push(json!({"type": "content_block_start", "index": index, "content_block": {"type": kind, "text": ""}}));
            let delta = json!({"type": "text_delta", "text": text});
            events.push(json!({"type": "content_block_delta", "index": index, "delta": delta}));
            events.push(json!({"type": "content_block_stop", "index": index}));
        }
        events.push(json!({"type": "message_delta", "delta": {"stop_reason": "end_turn"}}));
        events
            .iter()
            .map(|event| {
                format!(
                    "event: {}\ndata: {event}\n\n",
                    event["type"].as_str().expect("a type")
                )
            })
            .collect()
    };
    let body_of = |blocks: &[(&str, &str)]| -> String {
        let content: Vec<Value> = blocks
            .iter()
            .map(|(kind, text)| json!({"type": kind, "text": text}))
            .collect();
        json!({"id": "m1", "type": "message", "content": content, "stop_reason": "end_turn"})
            .to_string()
    };
    let both = |blocks: &[(&str, &str)]| {
        let stream = judged(
            Api::Messages,
            &stream_of(blocks),
            1000,
            &mut Judge::default(),
        );
        let body = judged_whole(Api::Messages, &body_of(blocks), &mut Judge::default());
        (stream, body)
    };
    let (stream, body) = both(&[("text", "Let me look.\n"), ("text", call), ("text", "\n")]);
    let mut heard = Api::Messages.hear_stream(&stream);
    heard.calls[0].2 = heard.calls[0].2.replace(' ', "");
    assert_eq!(heard, Api::Messages.hear_whole(&body));
    assert_eq!(
        (heard.text.as_str(), heard.parts.as_slice()),
        (
            "Let me look.",
            &["text".to_owned(), "tool_use".to_owned()][..]
        )
    );
    for blocks in [
        &[("text", call), ("server_tool_use", "")][..],
        &[("text", "Let me look.\n"), ("thinking", ""), ("text", call)],
    ] {
        assert_eq!(both(blocks), (stream_of(blocks), body_of(blocks)));
    }
    // The end of a stream of responses says something else than its pieces did.
    let stream = Api::Responses.streamed(&text(call), 7);
    let (pieces, end) = stream.rsplit_once("response.completed").expect("an end");
    let stream = format!("{pieces}response.completed{}", end.replace("Paris", "Rome"));
    assert_eq!(
        judged(Api::Responses, &stream, 1000, &mut Judge::default()),
        stream
    );
}

/// A request may forbid calls of other tools, or more than one.
#[test]
fn nothing_is_rescued_that_the_request_has_no_room_for() {
    let call = written(0, "get_weather", &json!({"city": "Paris"}));
    let (one, two) = (text(&call), text(&format!("{call}{call}")));
    let mut single = RescueScope::default();
    single.is_single = true;
    let mut other = RescueScope::default();
    other.tools = Some(vec!["book_trip".to_owned()]);
    for api in APIS {
        let changes = |said: &Said, scope: &RescueScope| {
            let mut guard = AnswerGuard::new(gate(), api.provider()).rescuing(scope.clone());
            guard
                .body(&api.whole(said), &mut Judge::default())
                .is_some()
        };
        assert!(changes(&one, &RescueScope::default()) && changes(&two, &RescueScope::default()));
        assert!(changes(&one, &single) && !changes(&two, &single));
        assert!(!changes(&one, &other));
    }
}
