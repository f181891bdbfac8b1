//! Tools are learned from lists that pass through, or requested when a call comes first.

use callwright_mcp::guard::Action;

use crate::transcript::{play, with};

#[test]
fn a_list_that_passes_by_is_enough() {
    play(
        r#"
        C= {"jsonrpc":"2.0","id":1,"method":"tools/list"}
        S= {"jsonrpc":"2.0","id":1,"result":{"tools":[{"name":"add","inputSchema":{"type":"object","required":["a"]}}]}}
        C> {"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"add","arguments":{}}}
        r< 2 Please rewrite the input with valid arguments. Errors: a: Required
        C= {"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"add","arguments":{"a":1}}}
        S= {"jsonrpc":"2.0","id":3,"result":{"content":[{"type":"text","text":"1"}]}}
        "#,
    );
}

#[test]
fn pages_add_up() {
    play(
        r#"
        C= {"id":1,"method":"tools/list","params":{}}
        S= {"id":1,"result":{"tools":[{"name":"a","inputSchema":{"type":"object"}}],"nextCursor":"2"}}
        C= {"id":2,"method":"tools/list","params":{"cursor":"2"}}
        S= {"id":2,"result":{"tools":[{"name":"b","inputSchema":{"type":"object"}}]}}
        C= {"id":3,"method":"tools/call","params":{"name":"a"}}
        C= {"id":4,"method":"tools/call","params":{"name":"b"}}
        C> {"id":5,"method":"tools/call","params":{"name":"zebra"}}
        s< {"jsonrpc":"2.0","id":"callwright-s-1","method":"tools/list","params":{}}
        S> {"id":"callwright-s-1","result":{"tools":[{"name":"a","inputSchema":{"type":"object"}}]}}
        r< 5 There is no tool named "zebra". Call one of the tools you were given, by its exact name.
        "#,
    );
}

#[test]
fn a_client_that_reads_only_page_one_may_call_later_tools() {
    play(
        r#"
        C= {"id":1,"method":"tools/list","params":{"cursor":null}}
        S= {"id":1,"result":{"tools":[{"name":"a","inputSchema":{"type":"object"}}],"nextCursor":7}}
        C= {"id":2,"method":"tools/call","params":{"name":"a"}}
        C> {"id":3,"method":"tools/call","params":{"name":"b","arguments":{"x":1}}}
        s< {"jsonrpc":"2.0","id":"callwright-s-1","method":"tools/list","params":{}}
        S> {"id":"callwright-s-1","result":{"tools":[{"name":"a","inputSchema":{"type":"object"}}],"nextCursor":7}}
        s< {"jsonrpc":"2.0","id":"callwright-s-2","method":"tools/list","params":{"cursor":7}}
        S> {"id":"callwright-s-2","result":{"tools":[{"name":"b","inputSchema":{"type":"object"}}],"nextCursor":null}}
        s< {"id":3,"method":"tools/call","params":{"name":"b","arguments":{"x":1}}}
        "#,
    );
}

#[test]
fn a_page_alone_is_not_the_list() {
    play(
        r#"
        C= {"id":1,"method":"tools/list","params":{"cursor":"2"}}
        S= {"id":1,"result":{"tools":[{"name":"b","inputSchema":{"type":"object"}}]}}
        C= {"id":2,"method":"tools/call","params":{"name":"b"}}
        C> {"id":3,"method":"tools/call","params":{"name":"a"}}
        s< {"jsonrpc":"2.0","id":"callwright-s-1","method":"tools/list","params":{}}
        "#,
    );
}

#[test]
fn calls_before_the_first_list_wait_for_it_and_keep_their_order() {
    let played = play(
        r#"
        C> {"id":1,"method":"tools/call","params":{"name":"a","arguments":{},"_meta":{"io.x/y": "z"}}}
        s< {"jsonrpc":"2.0","id":"callwright-s-1","method":"tools/list","params":{"_meta":{"io.x/y": "z"}}}
        C> {"id":2,"method":"tools/call","params":{"name":"b"}}
        C= {"id":3,"method":"ping"}
        S> {"id":"callwright-s-1","result":{"tools":[{"name":"a","inputSchema":{"type":"object"}}],"nextCursor":"\u00e9"}}
        s< {"jsonrpc":"2.0","id":"callwright-s-2","method":"tools/list","params":{"cursor":"\u00e9","_meta":{"io.x/y": "z"}}}
        C> {"id":4,"method":"tools/call","params":{"name":"zebra"}}
        S> {"id":"callwright-s-2","result":{"tools":[{"name":"b","inputSchema":{"type":"object"}}]}}
        s< {"id":1,"method":"tools/call","params":{"name":"a","arguments":{},"_meta":{"io.x/y": "z"}}}
        s< {"id":2,"method":"tools/call","params":{"name":"b"}}
        r< 4 There is no tool named "zebra". Call one of the tools you were given, by its exact name.
        C= {"id":5,"method":"tools/call","params":{"name":"b","arguments":{"x":2}}}
        "#,
    );
    assert!(!played.waits());
}

#[test]
fn a_server_without_a_list_is_not_guarded() {
    play(
        r#"
        C> {"id":1,"method":"tools/call","params":{"name":"a"}}
        s< {"jsonrpc":"2.0","id":"callwright-s-1","method":"tools/list","params":{}}
        S> {"id":"callwright-s-1","error":{"code":-32601,"message":"no such method"}}
        s< {"id":1,"method":"tools/call","params":{"name":"a"}}
        w  the server does not list its tools
        C= {"id":2,"method":"tools/call","params":{"name":"a"}}
        # Until it lists them after all.
        C= {"id":3,"method":"tools/list"}
        S= {"id":3,"result":{"tools":[]}}
        C> {"id":4,"method":"tools/call","params":{"name":"a"}}
        s< {"jsonrpc":"2.0","id":"callwright-s-2","method":"tools/list","params":{}}
        S> {"id":"callwright-s-2","result":{"tools":[]}}
        r< 4 There is no tool named "a". Call one of the tools you were given, by its exact name.
        "#,
    );
}

#[test]
fn a_list_that_never_arrives_costs_one_wait() {
    let played = play(
        r#"
        C> {"id":1,"method":"tools/call","params":{"name":"a"}}
        s< {"jsonrpc":"2.0","id":"callwright-s-1","method":"tools/list","params":{}}
        C> {"id":2,"method":"tools/call","params":{"name":"b"}}
        t  9
        "#,
    );
    assert!(played.waits());
    let played = played.then(
        r#"
        t  1
        s< {"id":1,"method":"tools/call","params":{"name":"a"}}
        s< {"id":2,"method":"tools/call","params":{"name":"b"}}
        w  does not answer `tools/list`
        C= {"id":3,"method":"tools/call","params":{"name":"a"}}
        t  100
        S= {"id":1,"result":{"content":[]}}
        # Late, and for no one but us.
        S> {"id":"callwright-s-1","result":{"tools":[{"name":"a","inputSchema":{"type":"object","required":["x"]}}]}}
        C> {"id":4,"method":"tools/call","params":{"name":"a","arguments":{}}}
        r< 4 Please rewrite the input with valid arguments. Errors: x: Required
        "#,
    );
    assert!(!played.waits());
}

#[test]
fn a_changed_list_is_asked_for_again_at_the_next_call() {
    play(
        r#"
        C= {"id":1,"method":"tools/list"}
        S= {"id":1,"result":{"tools":[{"name":"a","inputSchema":{"type":"object"}}]}}
        S= {"method":"notifications/tools/list_changed"}
        C= {"id":2,"method":"ping"}
        C> {"id":3,"method":"tools/call","params":{"name":"b"}}
        s< {"jsonrpc":"2.0","id":"callwright-s-1","method":"tools/list","params":{}}
        # Once more while it is under way: what comes is judged by, and then asked for again.
        S= {"method":"notifications/tools/list_changed"}
        S> {"id":"callwright-s-1","result":{"tools":[{"name":"b","inputSchema":{"type":"object"}}]}}
        s< {"id":3,"method":"tools/call","params":{"name":"b"}}
        C> {"id":4,"method":"tools/call","params":{"name":"b","arguments":{"x":1}}}
        s< {"jsonrpc":"2.0","id":"callwright-s-2","method":"tools/list","params":{}}
        S> {"id":"callwright-s-2","result":{"tools":[{"name":"b","inputSchema":{"type":"object"}}]}}
        s< {"id":4,"method":"tools/call","params":{"name":"b","arguments":{"x":1}}}
        C= {"id":5,"method":"tools/call","params":{"name":"b","arguments":{"x":2}}}
        "#,
    );
}

#[test]
fn an_entry_that_is_not_a_tool_does_not_affect_the_others() {
    play(
        r#"
        C= {"id":1,"method":"tools/list"}
        S= {"id":1,"result":{"tools":[7,{"description":"no name"},{"name":"a","inputSchema":{"type":"object","required":["x"]}},{"name":"a","inputSchema":{"type":"object"}},{"name":"odd","inputSchema":{"type":"wibble"}}]}}
        w  entry 0 of the tool list
        w  entry 1 of the tool list
        w  tool "a" is listed twice
        w  tool "odd": its calls pass unvalidated
        C> {"id":2,"method":"tools/call","params":{"name":"a","arguments":{}}}
        r< 2 Please rewrite the input with valid arguments. Errors: x: Required
        C= {"id":3,"method":"tools/call","params":{"name":"odd","arguments":{"y":[]}}}
        # The same again, of which the operator knows.
        C= {"id":4,"method":"tools/list"}
        S= {"id":4,"result":{"tools":[7,{"name":"odd","inputSchema":{"type":"wibble"}}]}}
        "#,
    );
}

#[test]
fn a_list_without_end_is_not_followed_for_ever() {
    let mut played = play(
        r#"
        C> {"id":1,"method":"tools/call","params":{"name":"a"}}
        s< {"jsonrpc":"2.0","id":"callwright-s-1","method":"tools/list","params":{}}
        "#,
    );
    for page in 1..1_000 {
        let next = page + 1;
        played = played.then(&format!(
            r#"
            S> {{"id":"callwright-s-{page}","result":{{"tools":[],"nextCursor":"x"}}}}
            s< {{"jsonrpc":"2.0","id":"callwright-s-{next}","method":"tools/list","params":{{"cursor":"x"}}}}
            "#,
        ));
    }
    played.then(
        r#"
        S> {"id":"callwright-s-1000","result":{"tools":[],"nextCursor":"x"}}
        s< {"id":1,"method":"tools/call","params":{"name":"a"}}
        w  more than 1000 pages
        C= {"id":2,"method":"tools/call","params":{"name":"a"}}
        "#,
    );
}

#[test]
fn names_of_sessions_are_not_json() {
    let settings = std::sync::Arc::new(callwright_mcp::guard::Settings::default());
    let guard = callwright_mcp::guard::Guard::new(settings, "a\"b\\");
    let now = callwright_mcp::guard::Now::by_clock();
    let call = br#"{"id":1,"method":"tools/call","params":{"name":"a"}}"#;
    let mut out = Vec::new();
    guard.from_client(call, now, &mut out);
    assert!(matches!(&out[1], Action::Hold(id) if id == "1"), "{out:?}");
    let Action::ListTools(request) = &out[0] else {
        panic!("{out:?}");
    };
    let question: serde_json::Value = serde_json::from_slice(request).unwrap();
    let answer = serde_json::json!({"id": question["id"], "result": {"tools": [{"name": "a"}]}});
    let answer = answer.to_string();
    let mut out = Vec::new();
    guard.from_server(answer.as_bytes(), now, &mut out);
    let out = crate::sides::compile(&guard, out, now);
    assert!(
        matches!(&out[..], [Action::Release(held)] if held.message == call),
        "{out:?}"
    );
}

#[test]
fn schemas_that_clients_choke_on_are_corrected_where_that_is_wanted() {
    play(
        r#"
        C= {"id":1,"method":"tools/list"}
        S= {"id":1,"result":{"tools":[{"name":"a"},{"name":"b","inputSchema":{"type":"object"}},{"name":"c","inputSchema":{"type":"OBJECT","properties":{}}}]}}
        w  tool "a": its schema is malformed
        w  tool "c": its schema is malformed
        C= {"id":2,"method":"tools/list"}
        S= {"id":2,"result":{"tools":[{"name":"a"}]}}
        "#,
    );
    with(|settings| settings.fix_schemas = true).then(
        r#"
        C= {"id":1,"method":"tools/list"}
        S> {"id":1 ,"result":{"tools":[{"name":"a"}, {"name":"b","inputSchema":{"type":"object"}},{"name":"c","inputSchema":{"type":"OBJECT","properties":{}}}],"nextCursor":""}}
        c< {"id":1 ,"result":{"tools":[{"name":"a","inputSchema":{"type":"object","properties":{}}}, {"name":"b","inputSchema":{"type":"object","properties":{}}},{"name":"c","inputSchema":{"type":"object","properties":{}}}],"nextCursor":""}}
        w  tool "a": its schema is corrected
        w  tool "c": its schema is corrected
        "#,
    );
}

/// Omitting an unknown null key is too bold a repair for a tool of unknown effect. An untrusted hint restricts nothing:
/// both tools run twice.
#[test]
fn hints_decide_how_boldly_calls_are_repaired() {
    const LIST: &str = r#"
        C= {"id":"l","method":"tools/list"}
        S= {"id":"l","result":{"tools":[{"name":"look","annotations":{"readOnlyHint":true,"destructiveHint":false,"idempotentHint":true},"inputSchema":{"type":"object","properties":{"kind":{"type":"string"}},"additionalProperties":false}},{"name":"wipe","annotations":{"destructiveHint":true,"idempotentHint":true},"inputSchema":{"type":"object"}},{"name":"both","annotations":{"readOnlyHint":true,"destructiveHint":true},"inputSchema":{"type":"object"}}]}}
    "#;
    let trusted = with(|settings| settings.trust_annotations = true).then(LIST);
    trusted.then(
        r#"
        C> {"id":1,"method":"tools/call","params":{"name":"look","arguments":{"kind":"a","zzz":null}}}
        s< {"id":1,"method":"tools/call","params":{"name":"look","arguments":{"kind":"a"}}}
        "#,
    );
    play(LIST).then(
        r#"
        C> {"id":1,"method":"tools/call","params":{"name":"look","arguments":{"kind":"a","zzz":null}}}
        r< 1 Please rewrite the input with valid arguments. Errors: zzz: unknown key, leave it out
        C= {"id":2,"method":"tools/call","params":{"name":"wipe"}}
        S= {"id":2,"result":{"content":[{"type":"text","text":"done"}]}}
        C= {"id":3,"method":"tools/call","params":{"name":"wipe"}}
        S= {"id":3,"result":{"content":[{"type":"text","text":"done again"}]}}
        C= {"id":4,"method":"tools/call","params":{"name":"both"}}
        S= {"id":4,"result":{"content":[{"type":"text","text":"done"}]}}
        C= {"id":5,"method":"tools/call","params":{"name":"both"}}
        "#,
    );
}

#[test]
fn an_unknown_name_leads_to_a_new_list_before_it_is_refused() {
    play(
        r#"
        C= {"id":1,"method":"tools/list"}
        S= {"id":1,"result":{"tools":[{"name":"a","inputSchema":{"type":"object"}}]}}
        # A tool that was added without a notification.
        C> {"id":2,"method":"tools/call","params":{"name":"new_one","arguments":{"x":"1"}}}
        s< {"jsonrpc":"2.0","id":"callwright-s-1","method":"tools/list","params":{}}
        C= {"id":3,"method":"tools/call","params":{"name":"a"}}
        S> {"id":"callwright-s-1","result":{"tools":[{"name":"new_one","inputSchema":{"type":"object","properties":{"x":{"type":"integer"}}}}]}}
        s< {"id":2,"method":"tools/call","params":{"name":"new_one","arguments":{"x":1}}}
        # A name that only has to be spelt differently is no reason to ask.
        C> {"id":4,"method":"tools/call","params":{"name":"New_One"}}
        s< {"id":4,"method":"tools/call","params":{"name":"new_one"}}
        # A list that does not come is the list that there is.
        C> {"id":5,"method":"tools/call","params":{"name":"a"}}
        s< {"jsonrpc":"2.0","id":"callwright-s-2","method":"tools/list","params":{}}
        t  11
        r< 5 There is no tool named "a". Call one of the tools you were given, by its exact name.
        w  the server does not answer `tools/list`
        "#,
    );
}

#[test]
fn tools_that_cannot_be_read_are_known() {
    let nested = "{\"a\":".repeat(150) + "1" + &"}".repeat(150);
    let surrogate = r#"{"name":"odd","description":"\ud83d","inputSchema":{"type":"object"}}"#;
    let deep = format!(r#"{{"name":"deep","inputSchema":{{"type":"object","default":{nested}}}}}"#);
    let mut status = None;
    with(|settings| status = Some(std::sync::Arc::clone(&settings.status))).then(&format!(
        r#"
        C= {{"id":1,"method":"tools/list"}}
        S= {{"id":1,"result":{{"tools":[{surrogate},{deep},{{"name":"good","inputSchema":{{"type":"object","required":["x"]}}}},{{"title":"none"}}]}}}}
        w  entry 3 of the tool list is not a tool with a name
        w  tool "deep": its calls pass unvalidated
        C= {{"id":2,"method":"tools/call","params":{{"name":"odd","arguments":{{"x":1}}}}}}
        C= {{"id":3,"method":"tools/call","params":{{"name":"deep"}}}}
        C> {{"id":4,"method":"tools/call","params":{{"name":"good","arguments":{{}}}}}}
        r< 4 Please rewrite the input with valid arguments. Errors: x: Required
        "#
    ));
    let counts = status.unwrap().tools();
    // In "odd" only the description is unreadable.
    assert_eq!((counts["odd"].unjudged, counts["deep"].unjudged), (0, 1));
}

/// While a list is being compiled, calls wait for it; other messages do not.
#[test]
fn a_list_that_is_being_compiled_holds_up_calls_only() {
    let guard = callwright_mcp::guard::Guard::new(std::sync::Arc::default(), "s");
    let mut now = callwright_mcp::guard::Now::by_clock();
    let mut out = Vec::new();
    guard.from_client(br#"{"id":1,"method":"tools/list"}"#, now, &mut out);
    let list = br#"{"id":1,"result":{"tools":[{"name":"a","inputSchema":{"required":["x"]}}]}}"#;
    guard.from_server(list, now, &mut out);
    let call = br#"{"id":2,"method":"tools/call","params":{"name":"a"}}"#;
    guard.from_client(call, now, &mut out);
    let ping = br#"{"id":3,"method":"ping"}"#;
    guard.from_client(ping, now, &mut out);
    let sent = |out: &[Action<'_>]| crate::sides::Sides::of(out).to_server;
    assert_eq!(sent(&out)[1..], [ping.to_vec()]);
    // Calls wait for a while, and then pass unjudged.
    now.instant += std::time::Duration::from_secs(10);
    let mut late = Vec::new();
    guard.tick(now, &mut late);
    assert_eq!(sent(&late), [call.to_vec()]);
    guard.from_client(
        br#"{"id":4,"method":"tools/call","params":{"name":"a"}}"#,
        now,
        &mut late,
    );
    assert_eq!(sent(&late).len(), 2, "{late:?}");
    // Once it is compiled, they are judged.
    crate::sides::compile(&guard, out, now);
    let mut out = Vec::new();
    guard.from_client(
        br#"{"id":5,"method":"tools/call","params":{"name":"a"}}"#,
        now,
        &mut out,
    );
    let sides = crate::sides::Sides::of(&out);
    assert_eq!((sides.to_server.len(), sides.to_client.len()), (0, 1));
}

/// Calls that wait for a list are held in memory, so their number and size are bounded.
#[test]
fn only_so_many_calls_wait_for_a_list() {
    let refused_after = |padding: usize, most: usize| {
        let guard = callwright_mcp::guard::Guard::new(std::sync::Arc::default(), "s");
        let now = callwright_mcp::guard::Now::by_clock();
        let padding = "x".repeat(padding);
        (0..most).find(|id| {
            let call = format!(
                r#"{{"id":{id},"method":"tools/call","params":{{"name":"a","arguments":{{"x":"{padding}"}}}}}}"#
            );
            let mut out = Vec::new();
            guard.from_client(call.as_bytes(), now, &mut out);
            out.iter().any(|action| matches!(action, Action::ToClient(text) if text.windows(14).any(|it| it == b"too many calls")))
        })
    };
    assert_eq!(refused_after(0, 1_100), Some(1_000));
    assert_eq!(refused_after(17_000_000, 5), Some(3), "64 MiB");
}

#[test]
fn a_server_cannot_flood_the_log_with_warnings() {
    let guard = callwright_mcp::guard::Guard::new(std::sync::Arc::default(), "s");
    let now = callwright_mcp::guard::Now::by_clock();
    let mut warned = Vec::new();
    for list in 0..3 {
        let mut out = Vec::new();
        let tools: Vec<String> = (0..700)
            .map(|tool| format!(r#"{{"name":"t{}","inputSchema":7}}"#, list * 700 + tool))
            .collect();
        let request = format!(r#"{{"id":{list},"method":"tools/list"}}"#);
        guard.from_client(request.as_bytes(), now, &mut out);
        let answer = format!(
            r#"{{"id":{list},"result":{{"tools":[{}]}}}}"#,
            tools.join(",")
        );
        guard.from_server(answer.as_bytes(), now, &mut out);
        let done = crate::sides::compile(&guard, out, now);
        warned.extend(done.into_iter().filter_map(|action| match action {
            Action::Warn(warning) => Some(warning),
            _ => None,
        }));
    }
    assert_eq!(warned.len(), 1_001);
    assert_eq!(
        warned.last().map(String::as_str),
        Some("further warnings about this server are not shown")
    );
}
