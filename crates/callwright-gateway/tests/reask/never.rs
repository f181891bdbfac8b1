//! Calls for which the model is never asked again.

use super::*;

#[tokio::test]
async fn it_is_never_done_unless_it_is_asked_for() {
    for api in Api::ALL {
        let first = said(&[("get_weather", BAD)]);
        is_never_asked(api, &request(api), &first, |options| options.reask = 0).await;
        is_never_asked(api, &request(api), &first, |options| {
            options.mode = Mode::Observe;
        })
        .await;
    }
}

#[tokio::test]
async fn writes_are_never_asked_for_unless_that_is_asked_for_and_destruction_never() {
    let first = said(&[("get_weather", BAD)]);
    let undeclared = |options: &mut GatewayOptions| options.policy = Policy::default();
    is_never_asked(Api::Chat, &request(Api::Chat), &first, undeclared).await;
    let destroys = said(&[("delete_city", BAD)]);
    is_never_asked(Api::Chat, &request(Api::Chat), &destroys, |options| {
        options.reask_writes = true;
    })
    .await;
    // Asking again for the first would bring the second again too.
    let both = said(&[("get_weather", BAD), ("delete_city", BAD)]);
    is_never_asked(Api::Chat, &request(Api::Chat), &both, |_| {}).await;
    let second = Reply::json(Api::Chat.whole(&said(&[("get_weather", GOOD)])));
    let (_, heard, _) = asked(Api::Chat, false, &first, second, |options| {
        options.policy = Policy::default();
        options.reask_writes = true;
    })
    .await;
    assert_eq!(heard.calls[0].2, GOOD);
}

#[tokio::test]
async fn a_call_that_was_cut_off_is_never_asked_for() {
    for api in Api::ALL {
        let first = Said {
            is_cut: true,
            ..said(&[("get_weather", BAD)])
        };
        is_never_asked(api, &request(api), &first, |_| {}).await;
    }
}

#[tokio::test]
async fn a_conversation_with_the_provider_is_never_asked_again() {
    let first = said(&[("get_weather", BAD)]);
    for (api, member) in [
        (Api::Chat, r#""n": 2, "#),
        (Api::Responses, r#""conversation": "c", "#),
        (Api::Responses, r#""background": true, "#),
        (Api::Messages, r#""thread": {"type": "continue"}, "#),
        (
            Api::Gemini,
            r#""generationConfig": {"candidateCount": 2}, "#,
        ),
    ] {
        let body = request(api).replacen('{', &format!("{{{member}"), 1);
        is_never_asked(api, &body, &first, |_| {}).await;
    }
    // Here the second request contains everything it needs.
    let body = request(Api::Responses).replacen(
        '{',
        r#"{"previous_response_id": "r0", "store": true, "#,
        1,
    );
    let second = Reply::json(Api::Responses.whole(&said(&[("get_weather", GOOD)])));
    let world = World::new(
        vec![Reply::json(Api::Responses.whole(&first)), second],
        asks,
    )
    .await;
    let heard = Api::Responses.hear_whole(&world.post("/v1/responses", &body).await.body);
    assert_eq!(heard.calls[0].2, GOOD);
    let side = world.requests()[1].json();
    assert_eq!(
        (&side["store"], &side["previous_response_id"]),
        (&json!(false), &json!("r0"))
    );
}

#[tokio::test]
async fn a_program_that_called_is_never_asked_again() {
    let api = Api::Messages;
    let mut answer: Value =
        serde_json::from_str(&api.whole(&said(&[("get_weather", BAD), ("get_weather", BAD)])))
            .expect("JSON");
    answer["content"][2]["caller"] = json!({"type": "code_execution_20250825"});
    let world = World::new(vec![Reply::json(&answer)], asks).await;
    let response = world.post(path(api, false), &request(api)).await;
    assert_eq!(response.body, answer.to_string());
    assert_eq!(world.requests().len(), 1);
}

#[tokio::test]
async fn a_loop_is_never_asked_for() {
    let call = json!({"id": "a", "type": "function", "function": {"name": "get_weather", "arguments": GOOD}});
    let mut body: Value = serde_json::from_str(&request(Api::Chat)).expect("JSON");
    for _ in 0..3 {
        let messages = body["messages"].as_array_mut().expect("messages");
        messages.push(json!({"role": "assistant", "tool_calls": [call]}));
        messages.push(json!({"role": "tool", "tool_call_id": "a", "content": "error: closed"}));
    }
    let first = said(&[("get_weather", GOOD)]);
    is_never_asked(Api::Chat, &body.to_string(), &first, |_| {}).await;
}

#[tokio::test]
async fn what_is_valid_keeps_its_bytes_and_is_not_asked_for() {
    for api in Api::ALL {
        let first = said(&[("get_weather", GOOD), ("search_city", GOOD)]);
        let replies = vec![
            Reply::json(api.whole(&first)),
            Reply::events(api.streamed(&first, 4)),
        ];
        let world = World::new(replies.clone(), asks).await;
        for (is_stream, reply) in [false, true].into_iter().zip(&replies) {
            assert_eq!(
                world.post(path(api, is_stream), &request(api)).await.body,
                reply.body
            );
        }
        assert_eq!(world.requests().len(), 2);
    }
}
