//! The API: it streams the answers of [`TURNS`], and rejects conversations as real ones do.

use std::error::Error;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};

use axum::Router;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::post;
use serde_json::{Value, json};

use crate::turns::TURNS;

/// What the model says when it is asked again.
const SECOND_TRY: &str = r#"{"choices":[{"index":0,"finish_reason":"tool_calls","message":{"role":"assistant","content":null,"tool_calls":[{"id":"call_x","type":"function","function":{"name":"get_weather","arguments":"{\"city\":\"Palermo\",\"days\":2}"}}]}}]}"#;

/// Remembers what the model said, for the transcript.
#[derive(Debug, Default)]
pub(crate) struct Script(Mutex<Vec<String>>);

impl Script {
    /// What it said since the last time.
    pub(crate) fn said(&self) -> Vec<String> {
        std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn says(&self, line: String) {
        self.0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .push(line);
    }
}

/// Starts it on this machine; its address.
pub(crate) async fn start(script: Arc<Script>) -> Result<SocketAddr, Box<dyn Error>> {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await?;
    let address = listener.local_addr()?;
    let router = Router::new()
        .route("/v1/chat/completions", post(answer))
        .with_state(script);
    tokio::spawn(async move { axum::serve(listener, router).await });
    Ok(address)
}

async fn answer(
    State(script): State<Arc<Script>>,
    headers: HeaderMap,
    request: String,
) -> Response {
    let request: Value = serde_json::from_str(&request).unwrap_or_default();
    if headers.contains_key("x-callwright-reask") {
        let instruction = request["messages"].as_array().and_then(|all| all.last());
        let instruction = instruction.and_then(|last| last["content"].as_str());
        script.says(format!(
            "(asked again: {:?})",
            instruction.unwrap_or_default()
        ));
        script.says(format!(
            "(second try) {}",
            serde_json::from_str::<Value>(SECOND_TRY).unwrap_or_default()["choices"][0]["message"]
                ["tool_calls"][0]["function"]
        ));
        return ([(header::CONTENT_TYPE, "application/json")], SECOND_TRY).into_response();
    }
    let messages = request["messages"]
        .as_array()
        .map_or(&[][..], Vec::as_slice);
    if messages.iter().any(has_unreadable_arguments) {
        let error = "arguments of a call are not a JSON object";
        script.says(format!("(status 400: {error:?})"));
        let body = json!({"error": {"type": "invalid_request_error", "message": error}});
        return (StatusCode::BAD_REQUEST, body.to_string()).into_response();
    }
    let answered = messages
        .iter()
        .filter(|message| message["role"] == "assistant");
    let Some(turn) = TURNS.get(answered.count()) else {
        return (StatusCode::BAD_REQUEST, "the script has ended").into_response();
    };
    let mut stream = String::new();
    let mut event = |delta: Value, finish: Option<&str>| {
        let choice = json!({"index": 0, "delta": delta, "finish_reason": finish});
        let data = json!({"id": "c1", "object": "chat.completion.chunk", "model": "scripted", "choices": [choice]});
        stream.push_str(&format!("data: {data}\n\n"));
    };
    for delta in turn.deltas {
        script.says((*delta).to_owned());
        event(serde_json::from_str(delta).unwrap_or_default(), None);
    }
    if let Some(finish) = turn.finish {
        script.says(format!("finish_reason {finish:?}"));
        event(json!({}), Some(finish));
        stream.push_str("data: [DONE]\n\n");
    }
    ([(header::CONTENT_TYPE, "text/event-stream")], stream).into_response()
}

fn has_unreadable_arguments(message: &Value) -> bool {
    let calls = message["tool_calls"].as_array();
    calls.into_iter().flatten().any(|call| {
        let arguments = call["function"]["arguments"].as_str().unwrap_or_default();
        !serde_json::from_str::<Value>(arguments).is_ok_and(|read| read.is_object())
    })
}
