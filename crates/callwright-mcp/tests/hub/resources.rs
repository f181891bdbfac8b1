//! Resources: found in the servers' lists, or by asking.

use serde_json::{Value, json};

use crate::scene::{Came, Scene, request};

fn scene() -> Scene {
    Scene::ready(&["a", "b", "c"], &json!({"resources": {"subscribe": true}}))
}

fn read(scene: &Scene, id: u32, uri: &str) -> Came {
    scene.client(&request(id, "resources/read", &json!({"uri": uri})))
}

#[test]
fn listed_ones_are_known() {
    let scene = scene();
    let asked = scene.client(&request(1, "resources/list", &json!({})));
    let listed = |uris: &[&str]| {
        let uris = uris.iter().map(|uri| json!({"uri": uri, "name": "n"}));
        json!({"resources": uris.collect::<Vec<_>>()})
    };
    let came = scene.answer_all(
        &asked,
        &[listed(&["x://1"]), listed(&["x://2", "x://1"]), listed(&[])],
    );
    assert_eq!(came.answer()["result"], listed(&["x://1", "x://2"]));
    assert_eq!(
        came.warnings,
        [
            "the MCP servers \"a\" and \"b\" both have the resource \"x://1\"; requests for it go to the first"
        ]
    );
    assert_eq!(read(&scene, 2, "x://1").sent().0, 0);
    assert_eq!(read(&scene, 3, "x://2").sent().0, 1);
    let subscribe = request(4, "resources/subscribe", &json!({"uri": "x://2"}));
    assert_eq!(scene.client(&subscribe).sent(), (1, subscribe.as_str()));
}

#[test]
fn templates_of_resources_name_their_server() {
    let scene = scene();
    let asked = scene.client(&request(1, "resources/templates/list", &json!({})));
    let template = |uri: &str| json!({"resourceTemplates": [{"uriTemplate": uri, "name": "n"}]});
    let none = json!({"resourceTemplates": []});
    scene.answer_all(
        &asked,
        &[none, template("y://{id}/text"), template("z://{id}")],
    );
    assert_eq!(read(&scene, 2, "y://7/text").sent().0, 1);
    let params = json!({"ref": {"type": "ref/resource", "uri": "z://{id}"}, "argument": {"name": "id", "value": ""}});
    let asked = scene.client(&request(3, "completion/complete", &params));
    assert_eq!(asked.sent().0, 2);
}

#[test]
fn a_resource_of_unknown_origin_is_looked_for_in_order() {
    let scene = scene();
    assert_eq!(read(&scene, 5, "w://1").sent().0, 0);
    let error = |text: &str| format!(r#"{{"id":5,"error":{{"code":-32002,"message":"{text}"}}}}"#);
    assert_eq!(scene.server(0, &error("first")).sent().0, 1);
    let found = r#"{"id":5, "result":{"contents":[]}}"#;
    assert_eq!(scene.server(1, found).to_client, [found]);
    // From now on its server is known.
    assert_eq!(read(&scene, 5, "w://1").sent().0, 1);
    scene.server(1, found);

    // No server has this one; the first server's error is returned.
    assert_eq!(read(&scene, 5, "w://2").sent().0, 0);
    assert_eq!(scene.server(0, &error("first")).sent().0, 1);
    // This server ends before it answers, and the next one is asked.
    let came = scene.gone(1, "gone");
    assert_eq!(came.sent().0, 2);
    assert_eq!(scene.server(2, &error("last")).to_client, [error("first")]);
    // Its resources are looked for on the other servers again.
    assert_eq!(read(&scene, 6, "w://1").sent().0, 0);
}

#[test]
fn updates_pass() {
    let scene = scene();
    let update =
        "{\"method\":\"notifications/resources/updated\",\"params\":{\"uri\":\"x://1\"}}\n";
    assert_eq!(scene.server(2, update).to_client, [update]);
    let none: Vec<Value> = Vec::new();
    let asked = scene.client(&request(9, "tools/list", &json!({})));
    let empty = json!({"tools": none});
    let came = scene.answer_all(&asked, &[empty.clone(), empty.clone(), empty.clone()]);
    assert_eq!(came.answer()["result"], empty);
}
