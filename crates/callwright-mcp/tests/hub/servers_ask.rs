//! Requests from servers to the client: each server has its own ids.

use serde_json::json;

use crate::scene::{Came, Scene, request};

#[test]
fn two_servers_may_use_the_same_ids() {
    let scene = Scene::ready(&["a", "b"], &json!({}));
    for (server, id, seen) in [
        (0, "1", r#""0/1""#),
        (1, "1", r#""1/1""#),
        (1, r#""é\n""#, r#""1/\"é\\n\"""#),
    ] {
        let asked = |id: &str, token: &str| {
            format!(
                r#"{{"id": {id},"method":"sampling/createMessage" ,"params":{{"_meta":{{"progressToken":{token}}},"messages":[]}}}}"#
            )
        };
        assert_eq!(
            scene.server(server, &asked(id, id)).to_client,
            [asked(seen, seen)]
        );
        let progress = |token: &str| {
            format!(
                r#"{{"method":"notifications/progress","params":{{"progressToken":{token},"progress":1}}}}"#
            )
        };
        assert_eq!(
            scene.client(&progress(seen)).sent(),
            (server, progress(id).as_str())
        );
        let cancelled = |id: &str| {
            format!(
                r#"{{"method":"notifications/cancelled","params":{{"requestId":{id},"reason":"x"}}}}"#
            )
        };
        assert_eq!(
            scene.server(server, &cancelled(id)).to_client,
            [cancelled(seen)]
        );
        let answered = |id: &str| format!("{{\"result\":{{ }},\"id\":{id}}}\n");
        assert_eq!(
            scene.client(&answered(seen)).sent(),
            (server, answered(id).as_str())
        );
    }
}

#[test]
fn responses_without_a_request_are_dropped() {
    let scene = Scene::ready(&["a", "b"], &json!({}));
    scene.client(&request(7, "tools/call", &json!({"name": "a__x"})));
    // Another server must not answer for it.
    assert_eq!(
        scene.server(1, r#"{"id":7,"result":{"content":[]}}"#),
        Came::default()
    );
    for stray in [
        r#"{"id":"9/1","result":{}}"#,
        r#"{"id":"x","result":{}}"#,
        r#"{"id":1,"result":{}}"#,
    ] {
        assert_eq!(scene.client(stray), Came::default());
    }
    assert_eq!(
        scene
            .server(0, r#"{"id":7,"result":{"content":[]}}"#)
            .to_client
            .len(),
        1
    );
}

#[test]
fn what_is_not_a_message_is_left_out() {
    let scene = Scene::ready(&["a", "b"], &json!({}));
    let came = scene.server(0, "Listening on stdio\n");
    assert!(came.to_client.is_empty());
    assert!(
        came.warnings[0].contains("\"a\" writes lines that are not messages"),
        "{came:?}"
    );
    assert_eq!(scene.server(0, "{half"), Came::default());
    assert_eq!(scene.server(1, "\n"), Came::default());
    assert_eq!(scene.client("hello").warnings.len(), 1);
}
