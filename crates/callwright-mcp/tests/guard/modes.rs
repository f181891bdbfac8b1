//! `warn` and `off` change nothing; `warn` reports. Every call is recorded once.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use callwright::event::{On, Sinks};
use callwright::policy::Validation;

use crate::transcript::with;

const SCRIPT: &str = r#"
    C= {"id":"list","method":"tools/list"}
    S= {"id":"list","result":{"tools":[{"name":"login","inputSchema":{"type":"object","properties":{"user":{"type":"string"},"pin":{"type":"integer","format":"password"}},"required":["user","pin"]},"outputSchema":{"type":"object","required":["ok"]}}]}}
"#;

#[test]
fn off_changes_nothing_and_adds_no_text() {
    with(|settings| settings.mode = Validation::Off)
        .then(SCRIPT)
        .then(
            r#"
            C= {"id":1,"method":"tools/call","params":{"name":"login","arguments":{}}}
            S= {"id":1,"result":{"structuredContent":{}}}
            C= {"id":2,"method":"tools/call","params":{"name":"unlisted"}}
            C= [{"id":3,"method":"tools/call","params":{"name":"unlisted"}}]
            "#,
        );
}

#[test]
fn warn_changes_nothing_and_reports() {
    let mut status = None;
    let played = with(|settings| {
        settings.mode = Validation::Warn;
        status = Some(Arc::clone(&settings.status));
    })
    .then(SCRIPT)
    .then(
        r#"
        C= {"id":1,"method":"tools/call","params":{"name":"login","arguments":{"pin":"hunter2"}}}
        w  tool "login": the call would be refused: Please rewrite
        C= {"id":2,"method":"tools/call","params":{"name":"login","arguments":{"user":"a","pin":"4711"}}}
        w  tool "login": the call would be repaired: number_from_string
        S= {"id":2,"result":{"structuredContent":{},"content":[]}}
        w  tool "login": the model would be told:
        C= [{"id":3,"method":"tools/call","params":{"name":"logon"}} ]
        s< {"jsonrpc":"2.0","id":"callwright-s-1","method":"tools/list","params":{}}
        S> {"id":"callwright-s-1","result":{"tools":[]}}
        w  There is no tool named "logon"
        "#,
    );
    for told in &played.warned {
        assert!(
            !told.contains("hunter2") && !told.contains("4711"),
            "{told}"
        );
    }
    let counts = status.unwrap().tools();
    assert_eq!(counts["login"].calls, 2);
    assert_eq!(counts["login"].refused, 1);
    assert_eq!(counts["login"].repaired, 1);
    assert_eq!(counts["login"].bad_results, 1);
    assert_eq!(counts["logon"].refused, 1);
    assert_eq!(
        format!("{:#}", counts["login"]),
        "2 calls, 1 would have been repaired, 1 would have been refused, 1 with a bad result"
    );
}

/// The guard's own request goes first, so that most servers answer it first.
#[test]
fn warn_makes_no_call_wait() {
    let played = with(|settings| settings.mode = Validation::Warn).then(
        r#"
        C= {"id":1,"method":"tools/call","params":{"name":"a","arguments":{}}}
        s< {"jsonrpc":"2.0","id":"callwright-s-1","method":"tools/list","params":{}}
        C= [{"id":2,"method":"tools/call","params":{"name":"a","arguments":{"x":1}}}, {"id":3,"method":"tools/call","params":{"name":"b"}}]
        # Answered before we know what was asked for, and judged all the same.
        S= {"id":2,"result":{"content":[],"structuredContent":{}}}
        C= {"method":"notifications/cancelled","params":{"requestId":3}}
        S> {"id":"callwright-s-1","result":{"tools":[{"name":"a","inputSchema":{"type":"object","required":["x"]},"outputSchema":{"required":["y"]}}]}}
        w  tool "a": the call would be refused
        w  tool "a": the model would be told: The result does not fit its schema: y: Required
        S= {"id":1,"result":{"content":[]}}
        t  60
        # No list has this tool, and the call is answered before that is known.
        S= {"method":"notifications/tools/list_changed"}
        C= {"id":4,"method":"tools/call","params":{"name":"c"}}
        s< {"jsonrpc":"2.0","id":"callwright-s-2","method":"tools/list","params":{}}
        S= {"id":4,"error":{"code":-32602,"message":"Unknown tool"}}
        S> {"id":"callwright-s-2","result":{"tools":[]}}
        w  There is no tool named "c"
        "#,
    );
    assert!(played.server_gone("no call waits").is_empty());
}

#[test]
fn every_call_is_recorded_once_and_without_secrets() {
    let seen = Arc::new(Mutex::new(Vec::new()));
    let sinks = {
        let seen = Arc::clone(&seen);
        let keep = move |event: &callwright::event::Event| {
            seen.lock().unwrap().push(event.line().to_string());
        };
        Sinks::builder().on(On::Any, keep).start().unwrap()
    };
    let played = with(|settings| settings.sinks = sinks.clone())
        .then(SCRIPT)
        .then(
            r#"
            C= {"id":1,"method":"tools/call","params":{"name":"login","arguments":{"user":"a","pin":4711}}}
            S= {"id":1,"result":{"structuredContent":{"ok":true},"content":[]}}
            C> {"id":2,"method":"tools/call","params":{"name":"login","arguments":{"pin":"hunter2"}}}
            r< 2 Please rewrite the input with valid arguments. Errors: user: Required; pin: expected integer, received string (hidden)
            C= {"id":3,"method":"tools/call","params":{"name":"login","arguments":{"user":"b","pin":4711}}}
            C= {"method":"notifications/cancelled","params":{"requestId":3}}
            S= {"id":3,"result":{"structuredContent":{"ok":true},"content":[]}}
            C= {"id":4,"method":"tools/call","params":{"name":"login","arguments":{"user":"c","pin":4711}}}
            C= {"id":4,"method":"tools/call","params":{"name":"login","arguments":{"user":"d","pin":4711}}}
            S= {"id":4,"result":{"structuredContent":{"ok":true},"content":[]}}
            S= {"id":4,"result":{"structuredContent":{"ok":true},"content":[]}}
            C= {"id":5,"method":"tools/call","params":{"name":"login","arguments":{"user":"e","pin":4711}}}
            S= {"id":5,"error":{"code":1,"message":"no"}}
            C= {"id":6,"method":"tools/call","params":{"name":"login","arguments":{"user":"f","pin":4711}}}
            "#,
        );
    assert_eq!(played.server_gone("gone").len(), 1);
    assert!(sinks.flush(Duration::from_secs(60)));
    let lines = seen.lock().unwrap();
    assert_eq!(lines.len(), 7, "{lines:#?}");
    for line in lines.iter() {
        assert!(
            !line.contains("4711") && !line.contains("hunter2"),
            "{line}"
        );
    }
}
