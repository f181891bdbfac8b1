//! Tenants of one guard are isolated: nothing of one is shown to another, or counted against it.

use callwright_mcp::http::Options;
use serde_json::{Value, json};

use crate::odd::{Got, Odd, json as whole, parsed, with};
use crate::parts::{Answer, Guarded, request};

/// Assigns session ids, lists tools by login, and answers with data that only one tenant may see.
fn bank(got: &Got) -> String {
    if got.body.is_empty() {
        return with("405 Method Not Allowed", "", "");
    }
    let message = parsed(&got.body);
    let id = &message["id"];
    let key = ["x-api-key: ", "sid=", "?key="]
        .iter()
        .find_map(|mark| got.head.split(mark).nth(1))
        .map_or("nobody", |rest| &rest[..1]);
    match message["method"].as_str() {
        Some("initialize") => {
            let result = json!({"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}});
            let body = json!({"jsonrpc": "2.0", "id": id, "result": result}).to_string();
            let headers = "Content-Type: application/json\r\nMcp-Session-Id: given\r\n";
            with("200 OK", headers, &body)
        }
        Some("tools/list") => {
            let schema = json!({"type": "object"});
            let pay = json!({"name": "pay", "inputSchema": schema, "annotations": {"destructiveHint": true}});
            let own = json!({"name": format!("audit_{key}"), "inputSchema": schema});
            whole(&json!({"jsonrpc": "2.0", "id": id, "result": {"tools": [pay, own]}}))
        }
        _ => {
            let text = format!("the balance of {key} is 7");
            let content = json!([{"type": "text", "text": text}]);
            whole(&json!({"jsonrpc": "2.0", "id": id, "result": {"content": content}}))
        }
    }
}

fn call(tool: &str) -> String {
    let params = json!({"name": tool, "arguments": {"to": "Ann"}});
    json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}).to_string()
}

fn text(answer: &Answer) -> String {
    let message: Value = parsed(&answer.body);
    let text = message["result"]["content"][0]["text"].as_str();
    text.unwrap_or_else(|| panic!("{answer:?}")).to_owned()
}

async fn initialize(url: &str, headers: &[(&str, &str)]) {
    let params = json!({"protocolVersion": "2025-11-25", "capabilities": {}});
    let message = json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params});
    let answer = request(url, "POST", headers, &message.to_string()).await;
    assert_eq!(answer.header("mcp-session-id"), Some("given"), "{answer:?}");
}

/// The name of a header, empty for a query parameter, and its value for a tenant.
type Login = (&'static str, fn(&str) -> String);

/// Every way to log in.
const LOGINS: [Login; 3] = [
    ("X-Api-Key", str::to_owned),
    ("Cookie", |key| format!("sid={key}")),
    ("", |key| format!("?key={key}")),
];

/// A request from a tenant, with more headers.
async fn of(tenant: &str, login: &Login, url: &str, more: &[(&str, &str)], body: &str) -> Answer {
    let (header, value) = *login;
    let value = value(tenant);
    if header.is_empty() {
        return request(&format!("{url}{value}"), "POST", more, body).await;
    }
    let headers = [&[(header, value.as_str())], more].concat();
    request(url, "POST", &headers, body).await
}

#[tokio::test(flavor = "multi_thread")]
async fn without_a_session_no_call_is_remembered() {
    for login in &LOGINS {
        let server = Odd::start(bank).await;
        let guarded = Guarded::start(&server.url).await;
        for tenant in ["a", "b", "a", "a", "b"] {
            // An id invented by the client, and never confirmed.
            for more in [&[][..], &[("Mcp-Session-Id", "mine")]] {
                let answer = of(tenant, login, &guarded.url, more, &call("pay")).await;
                assert_eq!(text(&answer), format!("the balance of {tenant} is 7"));
            }
        }
        guarded.end().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_session_is_bound_to_its_login() {
    for login in &LOGINS {
        let server = Odd::start(bank).await;
        let guarded = Guarded::start(&server.url).await;
        let (header, value) = *login;
        let value = value("a");
        let url = &guarded.url;
        if header.is_empty() {
            initialize(&format!("{url}{value}"), &[]).await;
        } else {
            initialize(url, &[(header, &value)]).await;
        }
        let session = [("Mcp-Session-Id", "given")];
        let pay = call("pay");
        assert!(text(&of("a", login, url, &session, &pay).await).contains("of a is 7"));
        // Another tenant uses the stolen session id.
        for _ in 0..3 {
            let other = text(&of("b", login, url, &session, &pay).await);
            assert_eq!(other, "the balance of b is 7");
        }
        // The owner's history is unchanged.
        let again = text(&of("a", login, url, &session, &pay).await);
        assert!(again.contains("is not run twice"), "{again}");
        assert!(!again.contains("of b"), "{again}");
        guarded.end().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_list_is_for_the_login_that_got_it() {
    for login in &LOGINS {
        let server = Odd::start(bank).await;
        let guarded = Guarded::start(&server.url).await;
        for tenant in ["a", "b", "a"] {
            let own = of(
                tenant,
                login,
                &guarded.url,
                &[],
                &call(&format!("audit_{tenant}")),
            )
            .await;
            assert_eq!(text(&own), format!("the balance of {tenant} is 7"));
            let answer = of(tenant, login, &guarded.url, &[], &call("audit_x")).await;
            let said = text(&answer);
            let others = if tenant == "a" { "audit_b" } else { "audit_a" };
            assert!(said.contains(&format!("audit_{tenant}")), "{said}");
            assert!(!said.contains(others), "{said}");
        }
        guarded.end().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn conversations_by_a_header_of_the_operators() {
    let server = Odd::start(bank).await;
    let mut options = Options::new(&server.url);
    options.session_header = Some("X-Thread".to_owned());
    let guarded = Guarded::start_with(options).await;
    let url = &guarded.url;
    let pay = call("pay");
    for (tenant, thread, runs) in [
        ("a", "1", true),
        ("a", "2", true),
        ("b", "1", true),
        ("a", "1", false),
        ("b", "1", false),
    ] {
        let said = text(&of(tenant, &LOGINS[0], url, &[("X-Thread", thread)], &pay).await);
        assert_eq!(
            said.starts_with("the balance"),
            runs,
            "{tenant} {thread} {said}"
        );
        assert!(said.contains(&format!("of {tenant} is")), "{said}");
    }
    guarded.end().await;
}

/// Messages are only accepted by POST at one path, so that each is judged.
#[tokio::test(flavor = "multi_thread")]
async fn nothing_bypasses_the_guard() {
    let server = Odd::start(bank).await;
    let guarded = Guarded::start(&server.url).await;
    let base = guarded.url.strip_suffix("/mcp").expect("a path");
    for (method, path) in [
        ("PUT", "/mcp"),
        ("PATCH", "/mcp"),
        ("DELETE", "/mcp"),
        ("GET", "/mcp"),
        ("OPTIONS", "/mcp"),
        ("POST", "/.well-known/../mcp"),
        ("POST", "/.well-known/%2e%2e/mcp"),
        ("POST", "/.well-known/oauth-protected-resource"),
        ("GET", "/.well-known/..%2fmcp"),
    ] {
        let headers = [("X-Http-Method-Override", "POST")];
        let answer = request(&format!("{base}{path}"), method, &headers, &call("pay")).await;
        assert_eq!(answer.status, 405, "{method} {path} {answer:?}");
    }
    for kind in ["gzip", "br", "identity, gzip"] {
        let headers = [("Content-Encoding", kind)];
        let answer = request(&guarded.url, "POST", &headers, &call("pay")).await;
        assert_eq!(answer.status, 415, "{kind} {answer:?}");
    }
    // A server that decodes by this gets another argument: `+ACI-` is a quotation mark.
    let headers = [("Content-Type", "application/json; charset=utf-7")];
    let smuggled = call("pay").replace("Ann", "Ann+ACI-,+ACI-all+ACI-:+ACI-");
    let answer = request(&guarded.url, "POST", &headers, &smuggled).await;
    assert_eq!(answer.status, 415, "{answer:?}");
    // Without an id, or unreadable.
    let note = call("pay").replace(r#""id":1,"#, "");
    let twice = call("pay").replace(r#""id":1,"#, r#""id":1,"method":"ping","#);
    for body in [
        note,
        twice,
        format!("{0}{0}", call("pay")),
        format!("\u{feff}{}", call("pay")),
    ] {
        let answer = request(&guarded.url, "POST", &[], &body).await;
        assert_eq!(answer.status, 400, "{body} {answer:?}");
    }
    assert_eq!(server.bodies(), Vec::<String>::new());
    guarded.end().await;
}
