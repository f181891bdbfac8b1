//! `initialize` and `server/discover`, for all servers at once.

use serde_json::{Value, json};

use crate::scene::{Scene, request};

fn server_info(version: &str, capabilities: &Value, instructions: &str) -> Value {
    json!({
        "protocolVersion": version,
        "capabilities": capabilities,
        "serverInfo": {"name": "s", "version": "1"},
        "instructions": instructions,
    })
}

#[test]
fn servers_introduce_themselves_as_one() {
    let scene = Scene::of(&["a", "b b", "c"]);
    let sent = r#"{"id":"x", "jsonrpc":"2.0","method":"initialize","params":{"protocolVersion":"2025-06-18","new":[ ]}}"#;
    let asked = scene.client(sent);
    for (server, message) in &asked.to_servers {
        let expected = sent.replace("\"x\"", &format!("\"callwright-part-1-{server}-0\""));
        assert_eq!(message, &expected);
    }
    let answer = scene.answer_all(
        &asked,
        &[
            server_info("2024-11-05", &json!({"tools": {}, "logging": {}}), "Do a."),
            server_info(
                "2025-06-18",
                &json!({"prompts": {}, "resources": {"subscribe": true}, "experimental": {"x": {}}}),
                " ",
            ),
            server_info("2025-03-26", &json!({"resources": {"subscribe": false}}), "Do c."),
        ],
    );
    let answer = answer.answer();
    assert_eq!(answer["id"], "x");
    let result = &answer["result"];
    assert_eq!(result["protocolVersion"], "2025-06-18");
    assert_eq!(result["serverInfo"]["name"], "callwright");
    assert_eq!(
        result["instructions"],
        "# a (a__*)\n\nDo a.\n\n# c (c__*)\n\nDo c."
    );
    assert_eq!(
        result["capabilities"],
        json!({
            "tools": {"listChanged": true},
            "logging": {},
            "prompts": {"listChanged": true},
            "resources": {"subscribe": true, "listChanged": true},
        })
    );
    let ready = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
    let told = scene.client(ready);
    assert_eq!(
        told.to_servers,
        [0, 1, 2].map(|server| (server, ready.to_owned()))
    );
}

#[test]
fn a_server_that_cannot_be_used_does_not_affect_the_others() {
    let scene = Scene::of(&["a", "b"]);
    scene.gone(0, "a cannot be started");
    let asked = scene.client(&request(1, "initialize", &json!({})));
    let (server, message) = asked.sent();
    assert_eq!(server, 1);
    let result = server_info("2025-11-25", &json!({"tools": {}}), "");
    let answer = scene.answer(1, message, &result).answer();
    assert_eq!(answer["result"]["protocolVersion"], "2025-11-25");

    let scene = Scene::of(&["a", "b"]);
    let asked = scene.client(&request(1, "initialize", &json!({})));
    let failed = asked.to_servers[0].1.clone();
    let id = &serde_json::from_str::<Value>(&failed).unwrap()["id"];
    let error = json!({"id": id, "error": {"code": -32_600, "message": "too old"}});
    let came = scene.server(0, &error.to_string());
    assert_eq!(
        came.warnings,
        ["the MCP server \"a\" cannot be used: too old"]
    );
    let answer = scene.gone(1, "b has ended").answer();
    let message = answer["error"]["message"].as_str().unwrap();
    assert!(
        message.contains("too old") && message.contains("b has ended"),
        "{message}"
    );
}

#[test]
fn a_slow_server_is_added_later() {
    let mut scene = Scene::of(&["a", "b"]);
    let asked = scene.client(&request(
        1,
        "initialize",
        &json!({"protocolVersion": "2025-11-25"}),
    ));
    let result = server_info("2025-11-25", &json!({"tools": {}}), "");
    scene.answer(0, &asked.to_servers[0].1, &result);
    assert!(scene.router.deadline().is_some());
    let came = scene.after(60);
    let capabilities = &came.answer()["result"]["capabilities"];
    // The other server's capabilities are still unknown.
    assert_eq!(capabilities["prompts"]["listChanged"], true);
    assert!(came.warnings[0].contains("\"b\" is slow"), "{came:?}");
    assert_eq!(scene.router.deadline(), None);

    let ready = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
    assert_eq!(scene.client(ready).sent(), (0, ready));
    let listed = scene.client(&request(2, "tools/list", &json!({})));
    assert_eq!(listed.sent().0, 0);

    let result = server_info("2025-11-25", &json!({"tools": {}, "prompts": {}}), "");
    let came = scene.answer(1, &asked.to_servers[1].1, &result);
    assert_eq!(came.sent(), (1, ready));
    assert_eq!(
        came.to_client,
        ["tools", "prompts"].map(|what| format!(
            "{{\"jsonrpc\":\"2.0\",\"method\":\"notifications/{what}/list_changed\"}}"
        ))
    );
}

#[test]
fn a_client_that_does_not_wait_for_the_answer_loses_nothing() {
    let scene = Scene::of(&["a", "b"]);
    let asked = scene.client(&request(1, "initialize", &json!({})));
    let ready = r#"{"method":"notifications/initialized"}"#;
    let list = request(2, "tools/list", &json!({}));
    for early in [ready, &list] {
        assert_eq!(scene.client(early), crate::scene::Came::default());
    }
    let result = server_info("2025-11-25", &json!({"tools": {}}), "");
    let came = scene.answer_all(&asked, &[result.clone(), result]);
    assert_eq!(came.answer()["id"], 1);
    let methods: Vec<Value> = came
        .to_servers
        .iter()
        .map(|(_, message)| serde_json::from_str::<Value>(message).unwrap()["method"].take())
        .collect();
    let (ready, list) = ("notifications/initialized", "tools/list");
    assert_eq!(methods, [ready, ready, list, list]);
}

#[test]
fn newer_servers_are_discovered_together() {
    let scene = Scene::of(&["a", "b"]);
    let asked = scene.client(&request(1, "server/discover", &json!({"_meta": {}})));
    let discovered = |versions: &[&str]| json!({"supportedVersions": versions, "capabilities": {"tools": {}}, "resultType": "complete"});
    let came = scene.answer_all(
        &asked,
        &[
            discovered(&["2026-07-28", "2027-01-01"]),
            discovered(&["2025-11-25", "2026-07-28"]),
        ],
    );
    assert_eq!(came.restarts, [0; 0]);
    let answer = came.answer();
    assert_eq!(answer["result"]["supportedVersions"], json!(["2026-07-28"]));
    assert_eq!(answer["result"]["resultType"], "complete");
}

#[test]
fn servers_of_both_lifecycles_get_the_one_that_all_know() {
    let scene = Scene::of(&["new", "old"]);
    let asked = scene.client(&request(1, "server/discover", &json!({})));
    let result = json!({"supportedVersions": ["2026-07-28"], "capabilities": {}});
    scene.answer(0, &asked.to_servers[0].1, &result);
    let error = r#"{"id":"callwright-part-1-1-0","error":{"code":-32601,"message":"?"}}"#;
    let came = scene.server(1, error);
    assert_eq!(came.answer()["error"]["code"], -32_601);
    // It would not accept `initialize` after `server/discover`.
    assert_eq!(came.restarts, [0]);
    let again = scene.client(&request(2, "server/discover", &json!({})));
    assert_eq!(again.answer()["error"]["code"], -32_601);
    assert!(again.to_servers.is_empty() && again.restarts.is_empty());
    let asked = scene.client(&request(3, "initialize", &json!({})));
    assert_eq!(asked.to_servers.len(), 2);
}
