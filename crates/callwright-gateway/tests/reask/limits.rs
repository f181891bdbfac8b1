//! How often and for how long the model is asked again, and what the client gets meanwhile.

use super::*;

#[tokio::test]
async fn it_is_tried_as_often_as_was_asked_for() {
    let api = Api::Messages;
    let bad = Reply::json(api.whole(&said(&[("get_weather", r#"{"days":4}"#)])));
    let good = Reply::json(api.whole(&said(&[("get_weather", GOOD)])));
    for (tries, replies, outcomes) in [
        (
            2,
            vec![bad.clone(), good.clone()],
            ["refused_again", "accepted"],
        ),
        (
            9,
            vec![bad.clone(), bad.clone(), good],
            ["refused_again", "accepted"],
        ),
    ] {
        let first = Reply::json(api.whole(&said(&[("get_weather", BAD)])));
        let sent = replies.len() + 1;
        let world = World::new([vec![first], replies].concat(), |options| {
            asks(options);
            options.reask = tries;
        })
        .await;
        let heard = api.hear_whole(&world.post(path(api, false), &request(api)).await.body);
        assert_eq!(heard.calls[0].2, GOOD);
        assert_eq!(world.requests().len(), sent);
        let metrics = world.metrics().await;
        for outcome in outcomes {
            assert!(
                metrics.contains(&format!("callwright_reasks_total{{outcome=\"{outcome}\"}}")),
                "{metrics}"
            );
        }
    }
}

#[tokio::test]
async fn time_and_tokens_have_limits() {
    for is_stream in [false, true] {
        let api = Api::Chat;
        let first = said(&[("get_weather", BAD)]);
        let good = || Reply::json(api.whole(&said(&[("get_weather", GOOD)])));
        let late = good().after(Duration::from_secs(20));
        let began = std::time::Instant::now();
        let (world, heard, _) = asked(api, is_stream, &first, late, |options| {
            options.reask_within = Duration::from_millis(300);
        })
        .await;
        assert!(began.elapsed() < Duration::from_secs(10));
        assert_eq!(heard.calls[0].2, BAD);
        assert!(world.metrics().await.contains("outcome=\"too_late\"} 1\n"));

        let (world, heard, _) = asked(api, is_stream, &first, good(), |options| {
            options.reask_max_tokens = 10;
        })
        .await;
        assert_eq!(heard.calls[0].2, BAD);
        assert_eq!(world.requests().len(), 1);
        assert!(
            world
                .metrics()
                .await
                .contains("outcome=\"prompt_too_long\"} 1\n")
        );
    }
}

#[tokio::test]
async fn a_client_that_waits_gets_keep_alives() {
    for api in Api::ALL {
        let first = said(&[("get_weather", BAD)]);
        let late = Reply::json(api.whole(&said(&[("get_weather", GOOD)])))
            .after(Duration::from_millis(400));
        let world = World::new(
            vec![Reply::events(api.streamed(&first, 5)), late],
            |options| {
                asks(options);
                options.keep_alive = Duration::from_millis(50);
            },
        )
        .await;
        let response = world.post(path(api, true), &request(api)).await;
        let before = api.streamed(&first, 5).matches("\n\n").count();
        assert!(
            response.body.matches("\n\n").count() >= before + 3,
            "{api:?}: {}",
            response.body
        );
        assert_eq!(
            value(&api.hear_stream(&response.body).calls[0].2),
            value(GOOD),
            "{api:?}"
        );
    }
}

#[tokio::test]
async fn what_is_too_long_to_be_held_passes_unchanged() {
    for api in Api::ALL {
        let first = said(&[("get_weather", BAD)]);
        let stream = api.streamed(&first, 5);
        let world = World::new(vec![Reply::events(&stream)], |options| {
            asks(options);
            options.hold_bytes = 10;
        })
        .await;
        assert_eq!(
            world.post(path(api, true), &request(api)).await.body,
            stream
        );
        assert_eq!(world.requests().len(), 1, "{api:?}");
    }
}

#[tokio::test]
async fn an_unreadable_answer_passes_unchanged() {
    let api = Api::Chat;
    let stream = api.streamed(&said(&[("get_weather", BAD)]), 5);
    // Corrupt the stream in the middle of the call.
    let at = stream.rfind("arguments").expect("a call");
    let stream = format!("{}{}", &stream[..at], &stream[at + 3..]);
    let stream = stream.replacen("\"ume", "ume", 1);
    let world = World::new(vec![Reply::events(&stream)], asks).await;
    assert_eq!(
        world.post(path(api, true), &request(api)).await.body,
        stream
    );
    assert_eq!(world.requests().len(), 1);
}

#[tokio::test]
async fn a_client_that_leaves_ends_the_second_request_too() {
    let api = Api::Messages;
    let late = Reply::json("{}").after(Duration::from_secs(60));
    let first = Reply::events(api.streamed(&said(&[("get_weather", BAD)]), 5));
    let world = World::new(vec![first, late], |options| {
        asks(options);
        options.keep_alive = Duration::from_millis(50);
    })
    .await;
    world
        .leave(path(api, true), &request(api), Duration::from_millis(500))
        .await;
    for _ in 0..100 {
        if world.left() == 1 {
            break;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    assert_eq!((world.left(), world.requests().len()), (1, 2));
    assert_eq!(
        world.events().len(),
        1,
        "the refused call is on record all the same"
    );
}
