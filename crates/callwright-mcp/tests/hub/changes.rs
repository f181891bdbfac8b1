//! Servers that end, and late lists.

use serde_json::json;

use crate::scene::{Came, Scene, request};

const CHANGED: &str = r#"{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}"#;

#[test]
fn a_server_that_ends_is_reported_and_the_others_continue() {
    let scene = Scene::ready(&["a", "b"], &json!({"tools": {}}));
    let call = |id: u32, name: &str| request(id, "tools/call", &json!({"name": name}));
    scene.client(&call(1, "a__x"));
    scene.client(&call(2, "b__x"));
    let list = scene.client(&request(3, "tools/list", &json!({})));
    scene.answer(1, &list.to_servers[1].1, &json!({"tools": [{"name": "x"}]}));
    assert_eq!(
        scene
            .router
            .error_of_lost_server(call(4, "a__x").as_bytes()),
        None
    );

    let came = scene.gone(0, "a has ended: exit status: 7");
    let mut to_client = came.to_client;
    to_client.sort();
    assert_eq!(
        to_client,
        [
            r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32000,"message":"a has ended: exit status: 7"}}"#,
            r#"{"jsonrpc":"2.0","id":3,"result":{"tools":[{"name":"b__x"}]}}"#,
            CHANGED,
        ]
    );
    // It is not reported twice.
    assert_eq!(scene.gone(0, "a has ended").to_client, [""; 0]);

    let vain = scene
        .router
        .error_of_lost_server(call(5, "a__x").as_bytes())
        .unwrap();
    assert!(String::from_utf8(vain).unwrap().contains("a has ended"));
    assert_eq!(
        scene.client(&call(5, "a__x")).answer()["error"]["code"],
        -32_000
    );
    assert_eq!(
        scene
            .router
            .error_of_lost_server(call(6, "b__x").as_bytes()),
        None
    );
    assert_eq!(scene.client(&call(6, "b__x")).sent().0, 1);
    assert_eq!(
        scene.client(&request(7, "tools/list", &json!({}))).sent().0,
        1
    );
    scene.gone(1, "b too");
}

#[test]
fn a_list_that_is_late_is_kept_for_the_next_time() {
    let mut scene = Scene::ready(&["a", "b"], &json!({"tools": {}}));
    let asked = scene.client(&request(1, "tools/list", &json!({})));
    let tools = json!({"tools": [{"name": "x"}]});
    scene.answer(0, &asked.to_servers[0].1, &tools);
    assert_eq!(scene.after(1), Came::default());
    let came = scene.after(60);
    assert_eq!(came.answer()["result"]["tools"], json!([{"name": "a__x"}]));
    assert_eq!(came.warnings.len(), 1);

    // The next list does not wait for it.
    let asked_again = scene.client(&request(2, "tools/list", &json!({})));
    assert_eq!(asked_again.sent().0, 0);
    let came = scene.answer(0, asked_again.sent().1, &tools);
    assert_eq!(came.answer()["result"]["tools"], json!([{"name": "a__x"}]));

    // It arrives, and is not requested again.
    let came = scene.answer(1, &asked.to_servers[1].1, &tools);
    assert_eq!(came.to_client, [CHANGED]);
    let asked = scene.client(&request(3, "tools/list", &json!({})));
    assert_eq!(asked.sent().0, 0);
    let came = scene.answer(0, asked.sent().1, &tools);
    assert_eq!(
        came.answer()["result"]["tools"],
        json!([{"name": "a__x"}, {"name": "b__x"}])
    );
    let asked = scene.client(&request(4, "tools/list", &json!({})));
    assert_eq!(asked.to_servers.len(), 2);
}

#[test]
fn listening_clients_are_notified() {
    let scene = Scene::of(&["a", "b"]);
    let asked = scene.client(&request(1, "server/discover", &json!({})));
    let result = json!({"supportedVersions": ["2026-07-28"], "capabilities": {"tools": {}}});
    scene.answer_all(&asked, &[result.clone(), result]);
    let listen = r#"{"id":"l-1","method":"subscriptions/listen","params":{"notifications":{"toolsListChanged": true}}}"#;
    let came = scene.client(listen);
    assert_eq!(
        came.to_servers,
        [(0, listen.to_owned()), (1, listen.to_owned())]
    );
    let meta = json!({"io.modelcontextprotocol/subscriptionId": "l-1"});
    let told = came.answer();
    assert_eq!(told["method"], "notifications/subscriptions/acknowledged");
    assert_eq!(told["params"]["_meta"], meta);
    // The servers' own acknowledgements are dropped.
    let theirs = r#"{"method":"notifications/subscriptions/acknowledged","params":{}}"#;
    assert_eq!(scene.server(0, theirs), Came::default());

    let told = scene.gone(0, "a has ended").answer();
    assert_eq!(told["method"], "notifications/tools/list_changed");
    assert_eq!(told["params"]["_meta"], meta);
    let end = r#"{"id":"l-1","result":{}}"#;
    assert_eq!(scene.server(1, end).to_client, [end]);
}
