//! Text in a stream: what is held, and what passes at once.

use super::*;

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
        for api in Api::ALL {
            for piece in [1, 5, 1000] {
                assert!(
                    !check(api, &text(message), piece, 1000),
                    "{api:?}: {message}"
                );
            }
        }
    }
}

/// Prose passes event by event; what may be a call is held.
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
    for api in Api::ALL {
        let prose = "Well: the weather in Paris is fine.";
        let waiting = passes(api, prose).iter().filter(|passes| !**passes).count();
        // A space is held until the next word, because it is dropped if a call follows.
        assert!(waiting <= prose.matches(' ').count() + 1, "{api:?}");
        let thought = passes(api, "<think>Let me think about it</think>");
        let waiting = thought.iter().filter(|passes| !**passes).count();
        // Held until it is clear that it is reasoning.
        assert!(waiting <= 8, "{api:?}: {thought:?}");
        let call = passes(api, "<tool_call>{\"name\": \"get_weather\"");
        assert!(
            call.iter().filter(|passes| !**passes).count() >= 30,
            "{api:?}: {call:?}"
        );
    }
}

#[test]
fn what_is_held_for_too_long_passes_unchanged() {
    let said = text(
        "<tool_call>{\"name\": \"get_weather\", \"arguments\": {\"city\": \"Paris\"}}</tool_call>",
    );
    for api in Api::ALL {
        let stream = api.streamed(&said, 3);
        let number = events(&stream).count();
        for release in 0..number {
            let (mut guard, mut judge) = (guard(api), Judge::default());
            let mut out = Vec::new();
            let mut was_holding = false;
            for (at, event) in events(&stream).enumerate() {
                guard.event(event, &mut judge, &mut out);
                if at == release {
                    // With a finish reason it has ended, though another reason might follow.
                    let choices = &guard.answer().choices;
                    let is_open = choices.iter().all(|choice| choice.completeness.is_none());
                    was_holding = is_open && guard.is_holding() && guard.held_bytes() > 0;
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
        // A stream that breaks off is truncated.
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
fn observing_changes_nothing() {
    let said = text(
        "<tool_call>{\"name\": \"get_weather\", \"arguments\": {\"city\": \"Paris\"}}</tool_call>",
    );
    for api in Api::ALL {
        let (mut guard, mut judge) = (guard(api).only_observing(), Judge::default());
        let stream = api.streamed(&said, 3);
        for event in events(&stream) {
            let mut out = Vec::new();
            guard.event(event.clone(), &mut judge, &mut out);
            assert_eq!(out, [event]);
        }
        guard.end(&mut judge, &mut Vec::new());
        assert_eq!(
            judge.verdicts,
            [(Some("tool_call"), "get_weather".to_owned(), "valid")],
            "{api:?}"
        );
    }
}
