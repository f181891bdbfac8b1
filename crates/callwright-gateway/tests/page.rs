//! The live page in a real browser. Without Chromium, the test says so and passes.
#![allow(
    clippy::expect_used,
    clippy::print_stderr,
    reason = "a test may panic, and says what it skips"
)]

#[path = "../../callwright-replay/tests/support/browser.rs"]
#[allow(dead_code, reason = "other tests use the rest")]
mod browser;
mod support;

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use browser::Browser;
use callwright::call::Call;
use callwright::event::{Event, Sinks};
use callwright::{Gate, ToolSpec};
use callwright_http::host_check::HostCheck;
use callwright_live::{Guards, Live, OperatorPages};
use serde_json::{Value, json};
use support::scripted::{Running, ScriptedApi, text};
use support::{Api, Said, TestApi};
use tokio::net::TcpListener;

const REQUEST: &str = r#"{"model": "<b>small</b>", "messages": [], "tools": [{"type": "function", "function": {"name": "get_weather",
    "parameters": {"type": "object", "properties": {"city": {"type": "string"}, "key": {"type": "string", "writeOnly": true}},
    "required": ["city"], "additionalProperties": false}}}]}"#;

#[tokio::test(flavor = "multi_thread")]
async fn it_shows_what_happened() {
    let Some(mut browser) = Browser::start("live") else {
        return;
    };
    let call = |arguments: &str| {
        (
            "a".to_owned(),
            "get_weather".to_owned(),
            arguments.to_owned(),
        )
    };
    let said = Said {
        text: String::new(),
        calls: vec![
            call(r#"{"city":"Paris"}"#),
            call(r#"{"city":"Paris","key":"hunter2hunter2",}"#),
            call(r#"{"town":["<i>Paris</i>"],"key":"hunter2hunter2"}"#),
        ],
        is_cut: false,
        ..Said::default()
    };
    let upstream = ScriptedApi::json(&Api::Chat.whole(&said)).await;
    let gateway = Running::start(upstream.options()).await;
    text(gateway.post("/v1/chat/completions", REQUEST).await).await;
    let url = format!("http://127.0.0.1:{}/callwright/", gateway.port);
    let stats: Value = serde_json::from_str(&gateway.get("/callwright/stats").await).expect("JSON");
    assert_eq!(stats["calls"]["valid"], 1);
    assert!(
        !stats.to_string().contains("hunter2"),
        "secrets are masked: {stats}"
    );
    let seen = tokio::task::spawn_blocking(move || look(&mut browser, &url))
        .await
        .expect("looked");
    assert_eq!(
        seen["totals"],
        json!(["3", "1", "1", "1", "0", "0", "0", "0"]),
        "{seen}"
    );
    assert_eq!(
        seen["tools"][1],
        json!(["get_weather", "1", "1", "1", "0", "0"]),
        "{seen}"
    );
    assert_eq!(
        seen["models"][1][0], "<b>small</b>",
        "names of strangers are text"
    );
    assert!(
        seen["refusals"]
            .as_str()
            .expect("text")
            .contains("Please rewrite the input"),
        "{seen}"
    );
    assert!(
        seen["edits"]
            .to_string()
            .contains(r#"["around calls","call_id","2"]"#),
        "{seen}"
    );
    assert!(seen["bars"].as_u64() >= Some(3), "{seen}");
    assert_eq!(seen["markup"], 0, "{seen}");
    assert_eq!(seen["trouble"], "", "{seen}");
    assert!(
        seen["phone"].as_u64() <= Some(360),
        "no sideways scrolling on a phone: {seen}"
    );
    assert_ne!(seen["light"], seen["dark"]);
    assert_eq!(
        seen["elsewhere"],
        json!([]),
        "nothing is loaded from elsewhere"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_guard_of_tools_shows_results_instead_of_answers() {
    let Some(mut browser) = Browser::start("live-tools") else {
        return;
    };
    let tool = ToolSpec::new("get_weather", json!({"type": "object"}));
    let gate = Gate::builder().tool(tool).build().expect("a tool");
    let call = Call::from_text("get_weather", "{}");
    let live = Arc::new(Live::new(Guards::Tools, "python3"));
    let event = Event::of(&gate, &call, &gate.judge(&call), SystemTime::now());
    live.judged(&event, "mcp", "");
    let pages = OperatorPages::new(live, Sinks::default(), HostCheck::default());
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let url = format!("http://{}/", listener.local_addr().expect("an address"));
    tokio::spawn(Arc::new(pages).serve(listener));
    let looked = tokio::task::spawn_blocking(move || {
        visit(&mut browser, &url);
        let seen = "document.body.innerText";
        browser.value(seen).as_str().expect("text").to_owned()
    });
    let seen = looked.await.expect("looked");
    for part in [
        "Results refused",
        "Tools failed",
        "bad results",
        "get_weather",
    ] {
        assert!(seen.contains(part), "{part}: {seen}");
    }
    for part in ["Rescued", "Held", "Asked again", "Models", "Not judged"] {
        assert!(!seen.contains(part), "{part}: {seen}");
    }
}

/// Opens the page, and waits until it shows numbers.
fn visit(browser: &mut Browser, url: &str) {
    browser.visit(url);
    for _ in 0..100 {
        if browser.value("document.querySelectorAll('#totals b').length") != 0 {
            break;
        }
        std::thread::sleep(Duration::from_millis(50));
    }
}

fn look(browser: &mut Browser, url: &str) -> Value {
    visit(browser, url);
    let table = |id: &str| {
        format!(
            "[...document.querySelectorAll('#{id} tr')].map(r => [...r.cells].map(c => c.textContent))"
        )
    };
    let mut seen = json!({
        "totals": browser.value("[...document.querySelectorAll('#totals b')].map(b => b.textContent)"),
        "tools": browser.value(&table("tools")),
        "models": browser.value(&table("models")),
        "refusals": browser.value("document.getElementById('refusals').textContent"),
        "edits": browser.value(&table("edits")),
        "bars": browser.value("document.querySelectorAll('#minutes rect').length"),
        "markup": browser.value("document.querySelectorAll('td b, td i').length"),
        "trouble": browser.value("document.getElementById('trouble').textContent"),
    });
    let color = "getComputedStyle(document.body).backgroundColor";
    for scheme in ["light", "dark"] {
        let features = json!({"features": [{"name": "prefers-color-scheme", "value": scheme}]});
        browser.call("Emulation.setEmulatedMedia", &features);
        seen[scheme] = browser.value(color);
    }
    let phone = json!({"width": 360, "height": 740, "deviceScaleFactor": 2, "mobile": true});
    browser.call("Emulation.setDeviceMetricsOverride", &phone);
    seen["phone"] = browser.value("document.documentElement.scrollWidth");
    let requested = browser
        .events
        .iter()
        .filter(|event| event["method"] == "Network.requestWillBeSent");
    let elsewhere: Vec<&Value> = requested
        .map(|event| &event["params"]["request"]["url"])
        .filter(|asked| {
            let asked = asked.as_str().unwrap_or_default();
            !asked.starts_with(url) && !asked.starts_with("data:")
        })
        .collect();
    seen["elsewhere"] = json!(elsewhere);
    seen
}
