//! The API: it streams chat completions in which everything goes wrong that users of gateways report, once each.

use std::error::Error;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};

use axum::Router;
use axum::extract::State;
use axum::http::{HeaderMap, header};
use axum::response::{IntoResponse, Response};
use axum::routing::post;
use serde_json::{Value, json};

/// One answer of the model.
pub(crate) struct Turn {
    pub(crate) mistake: &'static str,
    /// The deltas of the answer, each as JSON.
    deltas: &'static [&'static str],
    /// `None` if it is missing, together with the end of the stream.
    finish: Option<&'static str>,
    /// How many records the gateway writes.
    pub(crate) records: usize,
}

pub(crate) const TURNS: [Turn; 12] = [
    Turn {
        mistake: "a number as text",
        deltas: &[
            r#"{"tool_calls":[{"index":0,"id":"call_1","function":{"name":"get_weather","arguments":"{\"city\":\"Paris\","}}]}"#,
            r#"{"tool_calls":[{"index":0,"function":{"arguments":"\"days\":\"3\"}"}}]}"#,
        ],
        finish: Some("tool_calls"),
        records: 1,
    },
    Turn {
        mistake: "two calls with one index, and `stop` beside them",
        deltas: &[
            r#"{"tool_calls":[{"index":0,"id":"call_2","function":{"name":"get_weather","arguments":"{\"city\":\"Lyon\"}"}}]}"#,
            r#"{"tool_calls":[{"index":0,"id":"call_3","function":{"name":"get_weather","arguments":"{\"city\":\"Nice\"}"}}]}"#,
        ],
        finish: Some("stop"),
        records: 2,
    },
    Turn {
        mistake: "no index",
        deltas: &[
            r#"{"tool_calls":[{"id":"call_4","function":{"name":"get_weather","arguments":"{\"city\":\"Turin\"}"}}]}"#,
        ],
        finish: Some("tool_calls"),
        records: 1,
    },
    Turn {
        mistake: "id and name again with every piece",
        deltas: &[
            r#"{"tool_calls":[{"index":0,"id":"call_5","function":{"name":"get_weather","arguments":"{\"city\":"}}]}"#,
            r#"{"tool_calls":[{"index":0,"id":"call_5","function":{"name":"get_weather","arguments":"\"Milan\"}"}}]}"#,
        ],
        finish: Some("tool_calls"),
        records: 1,
    },
    Turn {
        mistake: "arguments as an object",
        deltas: &[
            r#"{"tool_calls":[{"index":0,"id":"call_6","function":{"name":"get_weather","arguments":{"city":"Genoa"}}}]}"#,
        ],
        finish: Some("tool_calls"),
        records: 1,
    },
    Turn {
        mistake: "arguments encoded twice",
        deltas: &[
            r#"{"tool_calls":[{"index":0,"id":"call_7","function":{"name":"get_weather","arguments":"\"{\\\"city\\\":\\\"Pisa\\\"}\""}}]}"#,
        ],
        finish: Some("tool_calls"),
        records: 1,
    },
    Turn {
        mistake: "Python instead of JSON",
        deltas: &[
            r#"{"tool_calls":[{"index":0,"id":"call_8","function":{"name":"get_weather","arguments":"{'city': 'Rome', 'days': 2,}"}}]}"#,
        ],
        finish: Some("tool_calls"),
        records: 1,
    },
    Turn {
        mistake: "a name with the prefix of a template",
        deltas: &[
            r#"{"tool_calls":[{"index":0,"id":"call_9","function":{"name":"functions.get_weather","arguments":"{\"city\":\"Naples\"}"}}]}"#,
        ],
        finish: Some("tool_calls"),
        records: 1,
    },
    Turn {
        mistake: "a call as text, and no end of the stream",
        deltas: &[
            r#"{"content":"```json\n{\"name\": \"get_weather\", "}"#,
            r#"{"content":"\"arguments\": {\"city\": \"Bari\"}}\n```"}"#,
        ],
        finish: None,
        records: 1,
    },
    Turn {
        mistake: "a city is missing: the model is asked again",
        deltas: &[
            r#"{"tool_calls":[{"index":0,"id":"call_10","function":{"name":"get_weather","arguments":"{\"days\":2}"}}]}"#,
        ],
        finish: Some("tool_calls"),
        records: 2,
    },
    Turn {
        mistake: "cut off by the token limit: it passes as it came",
        deltas: &[
            r#"{"tool_calls":[{"index":0,"id":"call_11","function":{"name":"get_weather","arguments":"{\"city\":\"Pale"}}]}"#,
        ],
        finish: Some("length"),
        records: 1,
    },
    Turn {
        mistake: "none: words pass at once",
        deltas: &[r#"{"content":"Sunny "}"#, r#"{"content":"everywhere."}"#],
        finish: Some("stop"),
        records: 0,
    },
];

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
    let answered = messages
        .iter()
        .filter(|message| message["role"] == "assistant");
    let Some(turn) = TURNS.get(answered.count()) else {
        return (axum::http::StatusCode::BAD_REQUEST, "the script has ended").into_response();
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
