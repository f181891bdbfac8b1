//! The scripted model: a server on this machine that answers like OpenAI's chat completions.
//!
//! It continues only if it has read what it reacts to. If an instruction from callwright is missing in the request, or
//! a call has no answer, it rejects the request as a real provider does, so the loop cannot pass by accident.

use std::io;

use axum::Json;
use axum::Router;
use axum::http::StatusCode;
use axum::routing::post;
use callwright::json;
use callwright::wire::unanswered;
use serde_json::{Value, json};
use tokio::net::TcpListener;

/// One answer of the model.
struct Step {
    /// What the last message must say for the model to answer like this.
    read: &'static [&'static str],
    says: Says,
}

enum Says {
    Call(&'static str, &'static str),
    Words(&'static str),
}

/// The call that does not work at first.
const TRACK: Says = Says::Call("track_parcel", r#"{"parcel": "P-3107"}"#);

const SCRIPT: [Step; 10] = [
    // A required argument is missing, one is not a number, and one has a value that does not exist.
    Step {
        read: &["Where is the parcel"],
        says: Says::Call("search_orders", r#"{"status": "shiped", "limit": "all"}"#),
    },
    Step {
        read: &[
            "customer_id: Required",
            "limit: expected integer",
            r#"did you mean "shipped"?"#,
        ],
        says: Says::Call(
            "search_orders",
            r#"{"customer_id": "C-1042", "status": "shipped", "limit": 50}"#,
        ),
    },
    Step {
        read: &["The result was cut off at orders.", "ask for less at once"],
        says: Says::Call(
            "search_orders",
            r#"{"customer_id": "C-1042", "status": "shipped", "limit": 3}"#,
        ),
    },
    Step {
        read: &["Call again with page=2"],
        says: Says::Call(
            "search_orders",
            r#"{"customer_id": "C-1042", "status": "shipped", "limit": 3, "page": 2}"#,
        ),
    },
    Step {
        read: &["lamp", "P-3107"],
        says: TRACK,
    },
    // It tries again, as models do …
    Step {
        read: &["The carrier does not know parcel P-3107."],
        says: TRACK,
    },
    // … does not listen …
    Step {
        read: &["has failed the same way twice in a row"],
        says: TRACK,
    },
    // … and is not let through.
    Step {
        read: &["This exact call failed the same way twice in a row"],
        says: TRACK,
    },
    Step {
        read: &["Try it once more"],
        says: TRACK,
    },
    Step {
        read: &["Utrecht", "tomorrow"],
        says: Says::Words("Your lamp (order O-2207) is in Utrecht and arrives tomorrow."),
    },
];

/// Starts the server and returns its address.
pub(crate) async fn start() -> io::Result<String> {
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let base = format!("http://{}/v1", listener.local_addr()?);
    let service = Router::new().route("/v1/chat/completions", post(complete));
    tokio::spawn(async move { axum::serve(listener, service).await });
    Ok(base)
}

async fn complete(Json(request): Json<Value>) -> (StatusCode, Json<Value>) {
    match answer(&request) {
        Ok(message) => {
            let finish_reason = match message.get("tool_calls") {
                Some(_) => "tool_calls",
                None => "stop",
            };
            let choice = json!({"index": 0, "message": message, "finish_reason": finish_reason});
            (StatusCode::OK, Json(json!({"choices": [choice]})))
        }
        Err(why) => {
            let error = json!({"type": "invalid_request_error", "message": why});
            (StatusCode::BAD_REQUEST, Json(json!({"error": error})))
        }
    }
}

/// What the model says next, or what is wrong with the request.
fn answer(request: &Value) -> Result<Value, String> {
    let history = &request["messages"];
    if let [open, ..] = unanswered(&json::Value::from(history)).as_slice() {
        return Err(format!("the call of {} has no answer", open.tool));
    }
    let messages = history.as_array().map_or(&[][..], Vec::as_slice);
    let said = messages
        .iter()
        .filter(|message| message["role"] == "assistant")
        .count();
    let step = SCRIPT.get(said).ok_or("the script is at its end")?;
    let last = messages
        .last()
        .and_then(|message| message["content"].as_str())
        .unwrap_or_default();
    if let Some(missing) = step.read.iter().find(|words| !last.contains(**words)) {
        return Err(format!(
            "the script waits for {missing:?}, the last message is {last:?}"
        ));
    }
    Ok(match step.says {
        Says::Words(words) => json!({"role": "assistant", "content": words}),
        Says::Call(tool, arguments) => {
            let tools = request["tools"].as_array().map_or(&[][..], Vec::as_slice);
            if !tools.iter().any(|known| known["function"]["name"] == tool) {
                return Err(format!("no tool named {tool} is declared"));
            }
            json!({"role": "assistant", "content": null, "tool_calls": [{
                "id": format!("call_{said}"),
                "type": "function",
                "function": {"name": tool, "arguments": arguments},
            }]})
        }
    })
}
