//! The surroundings of calls written as text: the rest of an answer, other choices, quirks of servers, the request.

use super::notations::written;
use super::*;

/// Only the text, the calls and the finish reason differ.
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
fn choices_are_kept_apart() {
    let chunk = |index: usize, content: &str, finish: Value| {
        let event = json!({"id": "c", "choices": [{"index": index, "delta": {"content": content}, "finish_reason": finish}]});
        format!("data: {event}\n\n")
    };
    let call =
        "<tool_call>{\"name\": \"get_weather\", \"arguments\": {\"city\": \"Paris\"}}</tool_call>";
    // Spaces would be held until the next word.
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
        // After "Well:" it is clear that this is not a call.
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

/// Some servers omit fields, or combine what others send separately.
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
    // First an event of another kind, then everything else in one event.
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

/// Two text blocks form one message. If anything else follows the text, or the text is inconsistent, it is left alone.
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
    // The final event of a responses stream contradicts its pieces.
    let stream = Api::Responses.streamed(&text(call), 7);
    let (pieces, end) = stream.rsplit_once("response.completed").expect("an end");
    let stream = format!("{pieces}response.completed{}", end.replace("Paris", "Rome"));
    assert_eq!(
        judged(Api::Responses, &stream, 1000, &mut Judge::default()),
        stream
    );
}

/// A request may forbid calls of other tools, or more than one call.
#[test]
fn nothing_is_rescued_that_the_request_has_no_room_for() {
    let call = written(0, "get_weather", &json!({"city": "Paris"}));
    let (one, two) = (text(&call), text(&format!("{call}{call}")));
    let mut single = CallScope::default();
    single.is_single = true;
    let mut other = CallScope::default();
    other.tools = Some(vec!["book_trip".to_owned()]);
    for api in Api::ALL {
        let changes = |said: &Said, scope: &CallScope| {
            let mut guard = AnswerGuard::new(gate(), api)
                .splitting(scope.clone())
                .rescuing();
            guard
                .body(&api.whole(said), &mut Judge::default())
                .is_some()
        };
        assert!(changes(&one, &CallScope::default()) && changes(&two, &CallScope::default()));
        assert!(changes(&one, &single) && !changes(&two, &single));
        assert!(!changes(&one, &other));
    }
}
