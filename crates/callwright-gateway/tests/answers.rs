//! A streamed answer and a whole one give the same result, however the bytes are split.
#![allow(
    clippy::expect_used,
    clippy::panic,
    clippy::too_many_lines,
    reason = "a test may panic, and tells one story"
)]

mod support;

use std::sync::Arc;

use bytes::Bytes;
use callwright::call::Call;
use callwright::wire::EnvelopeDefect;
use callwright::{Gate, ToolSpec};
use callwright_gateway::{AnswerGuard, CallJudge, CallScope, Decision, SplitCall, Unjudged};
use proptest::prelude::*;
use serde_json::json;
use support::judge::Judge;
use support::{Api, Said, TestApi, guarded};

fn gate() -> Arc<Gate> {
    let schema = json!({"type": "object", "properties": {"city": {"type": "string"}, "days": {"type": "integer"},
        "where": {"type": "object", "properties": {"lat": {"type": "number"}}}}, "required": ["city"]});
    let tools = ["get_weather", "search_city"].map(|name| ToolSpec::new(name, schema.clone()));
    Arc::new(Gate::builder().tools(tools).build().expect("tools"))
}

fn guard(api: Api) -> AnswerGuard {
    AnswerGuard::new(gate(), api).splitting(CallScope::default())
}

fn judged(api: Api, stream: &str, portion: usize, judge: &mut Judge) -> String {
    guarded::streamed(guard(api), stream, portion, judge)
}

fn judged_whole(api: Api, body: &str, judge: &mut Judge) -> String {
    guarded::whole(guard(api), body, judge)
}

/// Arguments that are valid, repairable or refused.
fn arguments() -> impl Strategy<Value = String> {
    prop_oneof![
        Just(r#"{"city":"Paris"}"#.to_owned()),
        Just(r#"{"city": "Zürich \"x\" 😀", "days": 3}"#.to_owned()),
        Just(r#"{"city":"Paris","days":"3"}"#.to_owned()),
        Just(r#"{"city":"Rome","where":"{\"lat\": 1.5}"}"#.to_owned()),
        Just(r#"{"days":3}"#.to_owned()),
        Just("{}".to_owned()),
        Just(r#"[{"city":"Paris"},{"city":"Rome","days":"2"}]"#.to_owned()),
        "[a-zäß]{0,8}".prop_map(|city| json!({"city": city, "days": "2"}).to_string()),
    ]
}

fn text_arguments() -> impl Strategy<Value = String> {
    prop_oneof![
        3 => arguments(),
        1 => Just(r#"{"city":"Par"#.to_owned()),
        1 => Just(r#"{"city":"Paris",}"#.to_owned()),
        1 => Just(r#""{\"city\":\"Paris\"}""#.to_owned()),
        1 => Just(r#"{"city":"Paris"} {"city":"Rome"}"#.to_owned()),
    ]
}

fn said(arguments: impl Strategy<Value = String>) -> impl Strategy<Value = Said> {
    let call = (
        prop_oneof!["get_weather", "search_city", "getWeather", "nothing"],
        arguments,
    );
    let calls = prop::collection::vec(call, 0..4);
    ("[a-z ü]{0,12}", calls, prop::bool::weighted(0.2)).prop_map(|(text, calls, is_cut)| Said {
        text,
        reasoning: String::new(),
        calls: calls
            .into_iter()
            .enumerate()
            .map(|(at, (tool, arguments))| (format!("call_{at}"), tool, arguments))
            .collect(),
        is_cut,
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn a_streamed_answer_is_judged_like_a_whole_one(
        of_text in said(text_arguments()),
        of_values in said(arguments()),
        piece in 1_usize..20,
        portion in 1_usize..200,
    ) {
        for api in Api::ALL {
            let said = if api.wants_json() { &of_values } else { &of_text };
            let (mut streamed, mut whole) = (Judge::default(), Judge::default());
            let stream = judged(api, &api.streamed(said, piece), portion, &mut streamed);
            let body = judged_whole(api, &api.whole(said), &mut whole);
            let (mut stream, mut body) = (api.hear_stream(&stream), api.hear_whole(&body));
            if api.wants_json() {
                // Ignore spaces between tokens.
                for call in stream.calls.iter_mut().chain(&mut body.calls) {
                    call.2 = serde_json::from_str::<serde_json::Value>(&call.2).expect("JSON").to_string();
                }
            }
            prop_assert_eq!(stream, body, "{:?}", api);
            prop_assert_eq!(&streamed.verdicts, &whole.verdicts);
            prop_assert_eq!(&streamed.ids, &whole.ids);
            prop_assert_eq!(&streamed.mended, &whole.mended);
        }
    }

    #[test]
    fn what_needs_no_repair_keeps_its_bytes(said in said(arguments()), piece in 1_usize..20, portion in 1_usize..99) {
        for api in Api::ALL {
            let stream = api.streamed(&said, piece);
            let mut judge = Judge::default();
            let out = judged(api, &stream, portion, &mut judge);
            let is_changed = |(taken_out, _, verdict): &(Option<_>, _, &str)| taken_out.is_some() || *verdict == "repaired";
            if !judge.verdicts.iter().any(is_changed) {
                prop_assert_eq!(&out, &stream);
            }
        }
    }
}

#[test]
fn nothing_but_name_and_arguments_changes() {
    for api in Api::ALL {
        let said = Said {
            text: "Let me look.".to_owned(),
            calls: vec![(
                "call_0".to_owned(),
                "getWeather".to_owned(),
                r#"{"city":"Paris","days":"3"}"#.to_owned(),
            )],
            ..Said::default()
        };
        let right = Said {
            calls: vec![(
                "call_0".to_owned(),
                "get_weather".to_owned(),
                r#"{"city":"Paris","days":3}"#.to_owned(),
            )],
            ..said.clone()
        };
        let body = judged_whole(api, &api.whole(&said), &mut Judge::default());
        assert_eq!(body, api.whole(&right), "{api:?}");
        let stream = judged(api, &api.streamed(&said, 1000), 64, &mut Judge::default());
        let mut expected = api.streamed(&right, 1000);
        if api == Api::Messages || api == Api::Chat {
            // The first piece has all the arguments, and the piece that had them is empty.
            let full = serde_json::Value::from(r#"{"city":"Paris","days":3}"#).to_string();
            expected = expected.replacen(&full, "#", 1);
            let (before, after) = expected.split_once('#').expect("is there");
            let at = before.rfind("\"\"").expect("an empty piece");
            expected = format!("{}{full}{}\"\"{after}", &before[..at], &before[at + 2..]);
        }
        if api == Api::Responses {
            let hear = |stream: &str| api.hear_stream(stream);
            assert_eq!(hear(&stream), hear(&expected));
            continue;
        }
        assert_eq!(stream, expected, "{api:?}");
    }
}

#[test]
fn text_is_not_held_and_calls_are() {
    let said = Said {
        text: "Let me look.".to_owned(),
        calls: vec![(
            "a".to_owned(),
            "get_weather".to_owned(),
            r#"{"city":"Paris"}"#.to_owned(),
        )],
        ..Said::default()
    };
    for api in Api::ALL {
        let stream = api.streamed(&said, 3);
        let (mut guard, mut judge) = (AnswerGuard::new(gate(), api), Judge::default());
        let mut passed = 0;
        let mut in_call = false;
        for event in stream.split_inclusive("\n\n") {
            let mut out = Vec::new();
            in_call |= event.contains("get_weather");
            guard.event(
                Bytes::copy_from_slice(event.as_bytes()),
                &mut judge,
                &mut out,
            );
            assert_eq!(
                out.is_empty(),
                in_call && guard.is_holding(),
                "{api:?}: {event}"
            );
            passed += usize::from(!out.is_empty() && !in_call);
        }
        assert!(passed >= 4, "{api:?}");
        // Gemini's stream just ends.
        assert_eq!(guard.is_holding(), matches!(api, Api::Gemini));
        guard.end(&mut judge, &mut Vec::new());
        assert!(!guard.is_holding());
        assert_eq!(judge.verdicts.len(), 1);
    }
}

/// Fails on the call with this number.
struct Failing(usize);

impl CallJudge for Failing {
    fn judge(&mut self, gate: &Gate, call: &Call<'_>, split: &mut SplitCall<'_>) -> Decision {
        assert!(self.0 > 0, "this call is one too many");
        self.0 -= 1;
        Judge::default().judge(gate, call, split)
    }

    fn mended(&mut self, _: EnvelopeDefect) {}
}

#[test]
fn a_defect_of_ours_costs_the_client_nothing() {
    let call = |at: usize, arguments: &str| {
        let id = format!("call_{at}");
        (id, "get_weather".to_owned(), arguments.to_owned())
    };
    let said = Said {
        text: "Let me look.".to_owned(),
        calls: vec![
            call(0, r#"{"city":"Paris"}"#),
            call(1, r#"{"city":"Rome","days":"2"}"#),
            call(2, r#"{"city":"Oslo"}"#),
        ],
        ..Said::default()
    };
    for api in Api::ALL {
        let (stream, body) = (api.streamed(&said, 4), api.whole(&said));
        for sound in 0..2 {
            let mut judge = Failing(sound);
            let mut guard = guard(api);
            let mut out = Vec::new();
            for event in stream.split_inclusive("\n\n") {
                let event = Bytes::copy_from_slice(event.as_bytes());
                guard.event(event, &mut judge, &mut out);
            }
            guard.end(&mut judge, &mut out);
            assert_eq!(guard.unjudged(), Some(Unjudged::Defect), "{api:?}");
            let out = String::from_utf8(out.concat()).expect("text");
            assert_eq!(out, stream, "{api:?} {sound}");
            let mut whole = AnswerGuard::new(gate(), api);
            assert_eq!(whole.body(&body, &mut Failing(sound)), None);
            assert_eq!(whole.unjudged(), Some(Unjudged::Defect));
        }
    }
}
