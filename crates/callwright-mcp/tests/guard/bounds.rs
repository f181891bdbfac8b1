//! What a guard remembers of a server and of calls stays small, however much they send.

use std::sync::Arc;

use callwright::policy::Validation;
use callwright_mcp::guard::{Action, Guard, Now, Settings};

use crate::sides::{Sides, compile, texts};

/// Otherwise a server could fill the memory: pages are small enough for a message, and there is always another one.
#[test]
fn a_list_has_only_so_many_bytes() {
    let guard = Guard::new(Arc::new(Settings::default()), "s");
    let now = Now::by_clock();
    let call = |tool: &str| {
        format!(r#"{{"id":"{tool}","method":"tools/call","params":{{"name":"{tool}"}}}}"#)
    };
    let (known, late) = (call("t0"), call("t99"));
    let mut actions = Vec::new();
    guard.from_client(known.as_bytes(), now, &mut actions);
    guard.from_client(late.as_bytes(), now, &mut actions);
    let schema = serde_json::json!({"type": "object", "required": ["a"]});
    let text = "x".repeat(8 * 1024 * 1024);
    let mut pages = 0;
    while let Some(request) = actions.iter().find_map(|action| match action {
        Action::ListTools(request) => Some(request),
        _ => None,
    }) {
        let request: serde_json::Value = serde_json::from_slice(request).unwrap();
        let tool = serde_json::json!({"name": format!("t{pages}"), "description": text, "inputSchema": schema});
        let page = serde_json::json!({"tools": [tool], "nextCursor": pages.to_string()});
        let page = serde_json::json!({"id": request["id"], "result": page}).to_string();
        let mut out = Vec::new();
        guard.from_server(page.as_bytes(), now, &mut out);
        pages += 1;
        assert!(pages < 20, "it goes on");
        let out = out.into_iter().map(|action| match action {
            Action::ListTools(request) => Action::ListTools(request),
            Action::CompileTools(tools) => Action::CompileTools(tools),
            Action::Warn(warning) => Action::Warn(warning),
            other => panic!("{other:?}"),
        });
        actions = compile(&guard, out.collect(), now);
    }
    assert_eq!(pages, 8);
    let sides = Sides::of(&actions);
    assert!(
        sides.warnings[0].contains("67108864 bytes"),
        "{:?}",
        sides.warnings
    );
    // A known tool is judged, and one that may be on a later page passes.
    let answers = texts(sides.to_client);
    assert!(answers[0].contains("a: Required"), "{answers:?}");
    assert_eq!(texts(sides.to_server), [late]);
}

#[test]
fn long_names_are_cut_where_they_are_remembered() {
    let settings = Arc::new(Settings::default());
    let guard = Guard::new(Arc::clone(&settings), "s");
    let now = Now::by_clock();
    let name = "é".repeat(500_000);
    let tools = serde_json::json!([{"name": name, "inputSchema": {"type": "wibble"}}]);
    let list = serde_json::json!({"id": 1, "result": {"tools": tools}}).to_string();
    let call = serde_json::json!({"id": 2, "method": "tools/call", "params": {"name": name}});
    let call = call.to_string();
    let mut out = Vec::new();
    guard.from_client(br#"{"id":1,"method":"tools/list"}"#, now, &mut out);
    guard.from_server(list.as_bytes(), now, &mut out);
    guard.from_client(call.as_bytes(), now, &mut out);
    let sides = Sides::of(&compile(&guard, out, now));
    assert_eq!(
        sides.to_server.last().map(Vec::as_slice),
        Some(call.as_bytes())
    );
    assert!(sides.warnings[0].contains("éé"), "{:?}", sides.warnings);
    assert!(sides.warnings.iter().all(|warning| warning.len() < 1_100));
    let counted = settings.status.tools();
    assert_eq!(counted.len(), 1);
    assert!(
        counted
            .iter()
            .all(|(name, counts)| name.len() <= 128 && counts.calls == 1)
    );
}

#[test]
fn a_warning_quotes_only_so_much_of_a_name() {
    let mut settings = Settings::default();
    settings.mode = Validation::Warn;
    let guard = Guard::new(Arc::new(settings), "s");
    let now = Now::by_clock();
    let name = "é".repeat(500_000);
    let call = serde_json::json!({"id": 2, "method": "tools/call", "params": {"name": name}});
    let call = call.to_string();
    let mut out = Vec::new();
    guard.from_client(br#"{"id":1,"method":"tools/list"}"#, now, &mut out);
    guard.from_server(br#"{"id":1,"result":{"tools":[]}}"#, now, &mut out);
    let mut out = compile(&guard, out, now);
    guard.from_client(call.as_bytes(), now, &mut out);
    let request = out.iter().find_map(|action| match action {
        Action::ListTools(request) => serde_json::from_slice::<serde_json::Value>(request).ok(),
        _ => None,
    });
    let id = &request.expect("the list is requested once more")["id"];
    let list = serde_json::json!({"id": id, "result": {"tools": []}}).to_string();
    guard.from_server(list.as_bytes(), now, &mut out);
    let sides = Sides::of(&compile(&guard, out, now));
    let warning = sides.warnings.last().expect("a warning");
    assert!(warning.contains("would be refused") || warning.ends_with('…'));
    assert!(warning.len() < 1_100, "{} bytes", warning.len());
}
