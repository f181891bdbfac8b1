//! Which second answers are accepted, with every case in which a model invents another call.

use super::*;

/// Checks that the model is asked again and its second answer is not used.
async fn is_not_accepted(api: Api, first: &Said, second: Reply, outcome: &str) {
    for is_stream in [false, true] {
        let replies = (first, second.clone());
        let world = kept(api, is_stream, &request(api), replies, |_| {}).await;
        assert_eq!(world.requests().len(), 2, "{api:?} {outcome}");
        let metrics = world.metrics().await;
        assert!(
            metrics.contains(&format!(
                "callwright_reasks_total{{outcome=\"{outcome}\"}} 1\n"
            )),
            "{api:?}\n{metrics}"
        );
        let events = world.events();
        let asked = events
            .iter()
            .find(|event| event["reask"].is_object())
            .expect("it is on record");
        assert_eq!(asked["reask"]["outcome"], outcome);
        assert_eq!(asked["verdict"], "refused");
    }
}

#[tokio::test]
async fn an_unknown_tool_may_become_one_that_was_proposed() {
    let first = said(&[("get_wether", BAD)]);
    let second = Reply::json(Api::Chat.whole(&said(&[("get_weather", GOOD)])));
    let (_, heard, _) = asked(Api::Chat, true, &first, second, |_| {}).await;
    assert_eq!(
        heard.calls,
        [(
            "call_0".to_owned(),
            "get_weather".to_owned(),
            GOOD.to_owned()
        )]
    );
}

#[tokio::test]
async fn a_valid_call_of_another_tool_is_not_accepted() {
    for api in Api::ALL {
        // Seen in practice: first a tool that does not exist, then any valid call.
        let first = said(&[("config.json", "{}")]);
        is_never_asked(api, &request(api), &first, |_| {}).await;
        let first = said(&[("get_weather", BAD)]);
        let second = Reply::json(api.whole(&said(&[("search_city", GOOD)])));
        is_not_accepted(api, &first, second, "other_tool").await;
    }
}

#[tokio::test]
async fn anything_but_one_valid_call_for_each_refused_one_is_not_accepted() {
    for api in Api::ALL {
        let first = said(&[("get_weather", BAD)]);
        let answer = |said: Said| Reply::json(api.whole(&said));
        is_not_accepted(api, &first, answer(said(&[])), "no_call").await;
        is_not_accepted(
            api,
            &first,
            answer(said(&[("get_weather", GOOD), ("get_weather", GOOD)])),
            "other_calls",
        )
        .await;
        is_not_accepted(
            api,
            &first,
            answer(said(&[("get_weather", r#"{"days":4}"#)])),
            "refused_again",
        )
        .await;
        is_not_accepted(
            api,
            &first,
            answer(said(&[("get_weather", BAD)])),
            "same_again",
        )
        .await;
        let cut = Said {
            is_cut: true,
            ..said(&[("get_weather", GOOD)])
        };
        is_not_accepted(api, &first, answer(cut), "cut_off").await;
        is_not_accepted(api, &first, Reply::error(429, "{}"), "error").await;
        is_not_accepted(api, &first, Reply::json("[]"), "answer_shape").await;
        let two = said(&[("get_weather", BAD), ("search_city", r#"{"days":1}"#)]);
        is_not_accepted(
            api,
            &two,
            answer(said(&[("get_weather", GOOD)])),
            "other_calls",
        )
        .await;
    }
}

#[tokio::test]
async fn several_refused_calls_are_matched_by_their_tools() {
    for api in Api::ALL {
        for is_stream in [false, true] {
            let first = said(&[
                ("get_weather", BAD),
                ("search_city", GOOD),
                ("search_city", r#"{"days":1}"#),
            ]);
            let second = said(&[("search_city", r#"{"city":"Oslo"}"#), ("get_weather", GOOD)]);
            let (_, heard, _) = asked(
                api,
                is_stream,
                &first,
                Reply::json(api.whole(&second)),
                |_| {},
            )
            .await;
            let mut expected = first.clone();
            expected.calls[0].2 = GOOD.to_owned();
            expected.calls[2].2 = r#"{"city":"Oslo"}"#.to_owned();
            assert_eq!(
                heard,
                api.hear_whole(&api.whole(&expected)),
                "{api:?} {is_stream}"
            );
        }
    }
}

#[tokio::test]
async fn a_new_call_may_be_repaired_without_loss() {
    let first = said(&[("get_weather", BAD)]);
    let second =
        Reply::json(Api::Chat.whole(&said(&[("getWeather", r#"{"city":"Paris","days":"3",}"#)])));
    let (_, heard, _) = asked(Api::Chat, false, &first, second, |_| {}).await;
    assert_eq!(
        heard.calls[0],
        (
            "call_0".to_owned(),
            "get_weather".to_owned(),
            GOOD.to_owned()
        )
    );
}
