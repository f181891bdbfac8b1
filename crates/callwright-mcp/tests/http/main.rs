//! The guard between real clients and real servers over streamable HTTP: the official Python SDK on both sides.
//!
//! If Python or its package `mcp` is missing, tests that need it say so and pass.
#![allow(
    clippy::expect_used,
    clippy::print_stderr,
    reason = "a test may panic, and says what it skips"
)]

mod bridge;
mod broken;
mod odd;
mod parts;
mod plain;
mod tenants;

use parts::{Guarded, Server, client, has_python};

/// Requests that the guard does not touch, and valid calls.
const USUAL: &[&str] = &[
    "about",
    "tools",
    "resources",
    "prompts",
    "missing",
    r#"add {"a":1,"b":2}"#,
    r#"slow {"steps":3,"pause":0.05}"#,
    r#"big {"length":200000}"#,
];

/// Calls that fail without the guard.
const BAD: &[&str] = &[
    r#"twice {"value":"21"}"#,
    r#"Twice {"value":4}"#,
    r#"twice {"value":"many"}"#,
];

#[tokio::test(flavor = "multi_thread")]
async fn clients_see_no_difference_where_nothing_is_wrong() {
    if !has_python() {
        return;
    }
    for kind in [&[][..], &["json"][..], &["stateless"][..]] {
        let server = Server::start(kind).await;
        for mode in ["legacy", "2026-07-28", "auto"] {
            // Clients without a session that look alike count as one client, so they would be stopped for repeating
            // calls.
            let guarded = Guarded::start(&server.url).await;
            let without = client(&server.url, mode, USUAL).await;
            let with = client(&guarded.url, mode, USUAL).await;
            assert_eq!(with, without, "{kind:?} {mode}");
            let last = with.last().expect("a line");
            assert!(last.ends_with("200000 True"), "{with:?}");
            let counts = guarded.settings.status.tools();
            assert_eq!(counts["add"].calls, 1, "{kind:?} {mode}");
            let warnings = guarded.warnings.lock().expect("whole").clone();
            assert_eq!(warnings, Vec::<String>::new());
            guarded.end().await;
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn calls_are_repaired_and_refused() {
    if !has_python() {
        return;
    }
    for kind in [&[][..], &["json"][..], &["stateless"][..]] {
        let server = Server::start(kind).await;
        for mode in ["legacy", "2026-07-28"] {
            for steps in [BAD.to_vec(), [&["tools"], BAD].concat()] {
                let guarded = Guarded::start(&server.url).await;
                let with = client(&guarded.url, mode, &steps).await;
                let with = &with[steps.len() - BAD.len()..];
                assert_eq!(with[0], "ok | 42", "{kind:?} {mode}");
                assert_eq!(with[1], "ok | 8", "{kind:?} {mode}");
                assert!(with[2].starts_with("error | "), "{kind:?} {mode} {with:?}");
                assert!(with[2].contains("value"), "{kind:?} {mode} {with:?}");
                let counts = guarded.settings.status.tools()["twice"];
                assert_eq!((counts.calls, counts.repaired, counts.refused), (3, 2, 1));
                guarded.end().await;
            }
        }
    }
}

/// Servers ask during a call; since 2026-07-28 the call ends with the question and is made again.
#[tokio::test(flavor = "multi_thread")]
async fn users_are_asked_within_a_call() {
    if !has_python() {
        return;
    }
    let server = Server::start(&[]).await;
    let twice = [r#"pay {"amount":5}"#; 2];
    let guarded = Guarded::start(&server.url).await;
    let said = client(&guarded.url, "legacy", &twice).await;
    assert_eq!(said[..2], ["asked Pay 5?", "ok | paid 5 True"]);
    // A second run needs the user's consent: first the guard's question, then the server's own.
    assert!(
        said[2].starts_with("asked The model wants to call \"pay\" again."),
        "{said:?}"
    );
    assert_eq!(said[3..], ["asked Pay 5?", "ok | paid 5 True"]);
    let counts = guarded.settings.status.tools()["pay"];
    assert_eq!((counts.calls, counts.stopped), (2, 0), "{counts}");
    // Without a session, earlier payments cannot be attributed to this client.
    let said = client(&guarded.url, "2026-07-28", &twice).await;
    assert_eq!(
        said,
        [
            "asked Pay 5?",
            "ok | paid 5 True",
            "asked Pay 5?",
            "ok | paid 5 True"
        ]
    );
    guarded.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn each_client_has_its_own_session() {
    if !has_python() {
        return;
    }
    let server = Server::start(&[]).await;
    let guarded = Guarded::start(&server.url).await;
    // Repeating the same call is stopped, but only within one session.
    let same = [r#"add {"a":1,"b":1}"#; 30];
    let few = [r#"add {"a":1,"b":1}"#];
    let (one, _) = tokio::join!(
        client(&guarded.url, "legacy", &same),
        client(
            &guarded.url,
            "legacy",
            &["tools", r#"slow {"steps":3,"pause":0.1}"#]
        ),
    );
    assert!(one.iter().any(|line| line.starts_with("error")), "{one:?}");
    let other = client(&guarded.url, "legacy", &few).await;
    assert_eq!(other, ["ok | 2"]);
    guarded.end().await;
}
