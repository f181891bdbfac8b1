//! The scripted model continues only if it received what it reacts to, so a finished run shows that the loop works.
#![allow(clippy::expect_used, reason = "a test may panic")]

#[path = "../self_correction/script.rs"]
mod script;

use serde_json::{Value, json};

/// Asks the scripted model; returns the status and the answer.
async fn ask(last: &Value) -> (u16, Value) {
    #[cfg(feature = "tls")]
    let _ = rustls::crypto::ring::default_provider().install_default();
    let base = script::start().await.expect("a free port");
    let call = json!({"role": "assistant", "content": null, "tool_calls": [{
        "id": "call_0", "type": "function",
        "function": {"name": "search_orders", "arguments": "{}"},
    }]});
    let request = json!({
        "messages": [{"role": "user", "content": "Where is the parcel?"}, call, last],
        "tools": [{"type": "function", "function": {"name": "search_orders"}}],
    });
    let response = reqwest::Client::builder()
        .no_proxy()
        .build()
        .expect("a client")
        .post(format!("{base}/chat/completions"))
        .header("content-type", "application/json")
        .body(request.to_string())
        .send()
        .await
        .expect("the server runs");
    let status = response.status().as_u16();
    let body = response.text().await.expect("text");
    (status, serde_json::from_str(&body).expect("JSON"))
}

fn answered(content: &str) -> Value {
    json!({"role": "tool", "tool_call_id": "call_0", "content": content})
}

#[tokio::test]
async fn an_instruction_leads_to_a_better_call() {
    let told = answered(
        "Errors: customer_id: Required; limit: expected integer, received string \"all\"; \
         status: did you mean \"shipped\"?",
    );
    let (status, answer) = ask(&told).await;
    assert_eq!(status, 200, "{answer}");
    let call = &answer["choices"][0]["message"]["tool_calls"][0]["function"];
    assert!(
        call["arguments"].as_str().expect("text").contains("C-1042"),
        "{call}"
    );
}

#[tokio::test]
async fn no_instruction_no_better_call() {
    let (status, answer) = ask(&answered("KeyError: 'customer_id'")).await;
    assert_eq!(status, 400, "{answer}");
    assert_eq!(
        answer["error"]["message"],
        "the script waits for \"customer_id: Required\", the last message is \"KeyError: 'customer_id'\""
    );
}

#[tokio::test]
async fn every_call_needs_an_answer() {
    let (status, answer) = ask(&json!({"role": "user", "content": "Well?"})).await;
    assert_eq!(status, 400, "{answer}");
    assert_eq!(
        answer["error"]["message"],
        "the call of search_orders has no answer"
    );
}
