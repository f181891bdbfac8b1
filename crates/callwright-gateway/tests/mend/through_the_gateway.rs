//! Conversations that are mended on their way to an API.

use std::io::Write as _;

use callwright_gateway::{GatewayOptions, History};
use serde_json::json;

use crate::upstream::{Reply, World};

const PATH: &str = "/v1/chat/completions";

fn mends(options: &mut GatewayOptions) {
    options.history = History::Mend;
}

fn broken() -> String {
    json!({"model": "m", "messages": [{"role": "tool", "tool_call_id": "a", "content": "11 °C"}]})
        .to_string()
}

#[tokio::test]
async fn what_is_rejected_is_mended_and_sent_once_more() {
    let world = World::new(
        vec![Reply::error(400, "no"), Reply::json(r#"{"ok":1}"#)],
        mends,
    )
    .await;
    let response = world.post(PATH, &broken()).await;
    assert_eq!(
        (response.about.as_str(), response.body.as_str()),
        ("200", r#"{"ok":1}"#)
    );
    let requests = world.requests();
    assert_eq!(requests.len(), 2);
    assert_eq!(requests[0].body, broken());
    assert_eq!(requests[1].json()["messages"][0]["role"], "user");
    let counted = "callwright_history_mended_total{defect=\"orphan_result\"} 1\n";
    assert!(world.metrics().await.contains(counted));
}

#[tokio::test]
async fn if_that_fails_too_the_first_error_counts() {
    for second in [Reply::error(400, "second"), Reply::error(500, "second")] {
        let world = World::new(vec![Reply::error(400, "first"), second], mends).await;
        let response = world.post(PATH, &broken()).await;
        assert_eq!(
            (response.about.as_str(), response.body.as_str()),
            ("400", "first")
        );
        assert_eq!(world.requests().len(), 2);
        assert!(
            !world
                .metrics()
                .await
                .contains("callwright_history_mended_total{")
        );
    }
}

#[tokio::test]
async fn nothing_else_is_sent_twice() {
    let sound = json!({"messages": [{"role": "user", "content": "?"}]}).to_string();
    for (status, body, is_on) in [
        (400, sound, true),
        (500, broken(), true),
        (400, broken(), false),
    ] {
        let world = World::new(vec![Reply::error(status, "first")], |options| {
            if is_on {
                mends(options);
            }
        })
        .await;
        let response = world.post(PATH, &body).await;
        assert_eq!(
            (response.about, response.body.as_str()),
            (status.to_string(), "first")
        );
        assert_eq!(world.requests().len(), 1);
    }
}

#[tokio::test]
async fn a_compressed_conversation_is_sent_plain_if_it_is_mended() {
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    gzip.write_all(broken().as_bytes()).expect("memory");
    let bytes = gzip.finish().expect("memory");
    let replies = vec![Reply::error(400, "no"), Reply::json(r#"{"ok":1}"#)];
    let world = World::new(replies, mends).await;
    let response = world
        .post_bytes(PATH, &bytes, "content-encoding: gzip\r\n")
        .await;
    assert_eq!(response.about, "200");
    let requests = world.requests();
    assert_eq!(requests[0].header("content-encoding"), Some("gzip"));
    assert_eq!(requests[1].header("content-encoding"), None);
    assert_eq!(requests[1].json()["messages"][0]["role"], "user");
}
