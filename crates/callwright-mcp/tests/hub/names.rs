//! Lists of several servers merged into one, and calls of their entries.

use serde_json::json;

use crate::scene::{Came, Scene, request};

fn scene() -> Scene {
    Scene::ready(
        &["a", "b"],
        &json!({"tools": {}, "prompts": {}, "logging": {}, "completions": {}}),
    )
}

#[test]
fn lists_are_put_together_byte_for_byte() {
    let scene = scene();
    let asked = scene
        .client(r#"{"jsonrpc":"2.0","id":"l","method":"tools/list","params":{"_meta":{"k":1}}}"#);
    assert_eq!(asked.to_servers.len(), 2);
    // The first list has two pages.
    let first = r#"{"id":"callwright-part-2-0-0","result":{"tools":[{"x": 1.0 ,"name":"one"},{"no":"name"}],"nextCursor":"c\"2"}}"#;
    let next = scene.server(0, first);
    assert_eq!(
        next.sent(),
        (
            0,
            r#"{"jsonrpc":"2.0","id":"callwright-part-2-0-1","method":"tools/list","params":{"cursor":"c\"2","_meta":{"k":1}}}"#
        )
    );
    let second = r#"{"id":"callwright-part-2-1-0","result":{"tools":[{"name":"one","inputSchema":{"b":1,"a":2}}],"ttlMs":50,"cacheScope":"public","resultType":"complete"}}"#;
    assert_eq!(scene.server(1, second), Came::default());
    let last = r#"{"id":"callwright-part-2-0-1","result":{"tools":[{ "name" : "\u0074wo.x" }],"nextCursor":""}}"#;
    assert_eq!(
        scene.server(0, last).to_client,
        [
            r#"{"jsonrpc":"2.0","id":"l","result":{"tools":[{"x": 1.0 ,"name":"a__one"},{"no":"name"},{ "name" : "a__two_x" },{"name":"b__one","inputSchema":{"b":1,"a":2}}],"resultType":"complete","ttlMs":50,"cacheScope":"private"}}"#
        ]
    );
    for (called, server, name) in [
        ("a__one", 0, "one"),
        ("b__one", 1, "one"),
        ("a__two_x", 0, "two.x"),
        ("b__new", 1, "new"),
    ] {
        let call = |name: &str| {
            format!(
                r#" {{"params": {{"arguments":{{"name":"{called}"}} ,"name" :"{name}"}},"method":"tools/call","id": 7.0}}"#
            )
        };
        let came = scene.client(&call(called));
        assert_eq!(came.sent(), (server, call(name).as_str()));
        let answer = "{ \"id\":7,\"result\":{\"content\":[ ]},\"more\":null}\r\n";
        assert_eq!(scene.server(server, answer).to_client, [answer]);
        // Clients take the number for a text, too.
        let came = scene.client(&call(called));
        assert_eq!(came.to_servers.len(), 1);
        let answer = r#"{"id":"7","result":{"content":[]}}"#;
        assert_eq!(scene.server(server, answer).to_client, [answer]);
    }
}

#[test]
fn what_is_forwarded_is_json() {
    let call =
        |name: &str| format!(r#"{{"id":4,"method":"tools/call","params":{{"name":"{name}"}}}}"#);
    for blank in ["\x0c", " \x0c\n", "\t"] {
        let came = scene().client(&format!("{blank}{}{blank}", call("b__t.u")));
        let (server, sent) = came.sent();
        assert_eq!((server, sent.trim()), (1, call("t.u").as_str()));
        assert!(!sent.contains('\x0c'), "{sent:?}");
    }
}

#[test]
fn prompts_have_names_too() {
    let scene = scene();
    let asked = scene.client(&request(1, "prompts/list", &json!({})));
    let results = [json!({"prompts": [{"name": "p"}]}), json!({"prompts": []})];
    let listed = scene.answer_all(&asked, &results).answer();
    assert_eq!(listed["result"]["prompts"], json!([{"name": "a__p"}]));
    let got = scene.client(&request(2, "prompts/get", &json!({"name": "a__p"})));
    assert_eq!(
        got.sent(),
        (0, request(2, "prompts/get", &json!({"name": "p"})).as_str())
    );
    let params = |name: &str| json!({"ref": {"type": "ref/prompt", "name": name}, "argument": {"name": "b__x"}});
    let asked = scene.client(&request(3, "completion/complete", &params("b__q")));
    assert_eq!(
        asked.sent(),
        (1, request(3, "completion/complete", &params("q")).as_str())
    );
}

#[test]
fn what_no_server_has_is_an_error() {
    let scene = scene();
    for (method, params, code) in [
        ("tools/call", json!({"name": "c__x"}), -32_602),
        ("tools/call", json!({}), -32_602),
        ("prompts/get", json!({"name": 5}), -32_602),
        ("tools/list", json!({"cursor": "x"}), -32_602),
        ("made/up", json!({}), -32_601),
        ("tasks/get", json!({"taskId": "nobody's"}), -32_601),
        ("resources/read", json!({"uri": "x://y"}), -32_002),
        ("resources/read", json!({}), -32_602),
    ] {
        let came = scene.client(&request(1, method, &params));
        assert_eq!(came.answer()["error"]["code"], code, "{method} {params}");
        assert!(came.to_servers.is_empty());
    }
    // A single server gets every request.
    let alone = Scene::ready(&["a"], &json!({}));
    let sent = request(1, "made/up", &json!({}));
    assert_eq!(alone.client(&sent).sent(), (0, sent.as_str()));
}

#[test]
fn orders_are_for_all_who_can() {
    let scene = scene();
    assert_eq!(
        scene.client(r#"{"id":1,"method":"ping"}"#).to_client,
        [r#"{"jsonrpc":"2.0","id":1,"result":{}}"#]
    );
    let asked = scene.client(&request(2, "logging/setLevel", &json!({"level": "debug"})));
    let answer = scene.answer_all(&asked, &[json!({}), json!({})]).answer();
    assert_eq!(answer, json!({"jsonrpc": "2.0", "id": 2, "result": {}}));
    // An unknown notification goes to all servers.
    let note = r#"{"method":"notifications/roots/list_changed"}"#;
    assert_eq!(scene.client(note).to_servers.len(), 2);
}

#[test]
fn a_cancellation_goes_to_the_server_of_the_request() {
    let scene = scene();
    scene.client(&request(1, "tools/call", &json!({"name": "b__x"})));
    let cancel = |id: &str| {
        format!(r#"{{"method":"notifications/cancelled","params":{{"requestId":{id}}}}}"#)
    };
    assert_eq!(scene.client(&cancel("1")).sent(), (1, cancel("1").as_str()));
    assert_eq!(scene.client(&cancel("1")), Came::default());
    // A merged list belongs to no single server: its parts are discarded.
    let asked = scene.client(&request(2, "tools/list", &json!({})));
    assert_eq!(scene.client(&cancel("2")), Came::default());
    let results = [json!({"tools": []}), json!({"tools": []})];
    assert_eq!(scene.answer_all(&asked, &results), Came::default());
}

#[test]
fn tasks_are_found_again() {
    let scene = scene();
    scene.client(&request(
        1,
        "tools/call",
        &json!({"name": "b__x", "task": {}}),
    ));
    scene.server(
        1,
        r#"{"id":1,"result":{"task":{"taskId":"t1","status":"working"}}}"#,
    );
    let ask = request(2, "tasks/get", &json!({"taskId": "t1"}));
    assert_eq!(scene.client(&ask).sent(), (1, ask.as_str()));
}

#[test]
fn batches_are_taken_apart() {
    let scene = scene();
    let came = scene.client(
        r#"[{"id":1,"method":"tools/call","params":{"name":"a__x"}}, {"id":2,"method":"tools/call","params":{"name":"b__y"}}]"#,
    );
    assert_eq!(
        came.to_servers,
        [
            (
                0,
                r#"{"id":1,"method":"tools/call","params":{"name":"x"}}"#.to_owned()
            ),
            (
                1,
                r#"{"id":2,"method":"tools/call","params":{"name":"y"}}"#.to_owned()
            ),
        ]
    );
}
