//! A typical agent: it streams, assembles the pieces by their index, and runs what it gets.
//!
//! It checks nothing. Its weather tool accepts a city and a number of days, and fails on anything else.

use std::error::Error;

use serde_json::{Value, json};

pub(crate) const TASK: &str = "What will the weather be like on my journey through Europe?";

pub(crate) struct Agent {
    base: String,
    client: reqwest::Client,
    messages: Vec<Value>,
}

/// The outcome of one answer.
pub(crate) enum Received {
    Words(String),
    Calls {
        words: String,
        calls: Vec<RanCall>,
        finish: String,
    },
}

/// A call, and the outcome of running it.
pub(crate) struct RanCall {
    pub(crate) id: String,
    pub(crate) tool: String,
    pub(crate) arguments: String,
    pub(crate) outcome: String,
}

#[derive(Default)]
struct StreamedCall {
    id: String,
    tool: String,
    arguments: String,
}

impl Agent {
    pub(crate) fn new(base: String) -> Self {
        // Every client needs a TLS provider, even for plain HTTP. An existing one is kept.
        #[cfg(feature = "tls")]
        let _ = rustls::crypto::ring::default_provider().install_default();
        Agent {
            base,
            client: reqwest::Client::new(),
            messages: vec![json!({"role": "user", "content": TASK})],
        }
    }

    /// Asks the model once, and runs the calls of its answer.
    pub(crate) async fn turn(&mut self) -> Result<Received, Box<dyn Error>> {
        let request = json!({"model": "scripted", "stream": true, "messages": self.messages, "tools": tools()});
        let asked = self
            .client
            .post(format!("{}/chat/completions", self.base))
            .header("content-type", "application/json")
            .body(request.to_string());
        let mut response = asked.send().await?.error_for_status()?;
        let mut stream = Vec::new();
        while let Some(bytes) = response.chunk().await? {
            stream.extend_from_slice(&bytes);
        }
        let (mut words, mut finish) = (String::new(), String::new());
        let mut calls: Vec<StreamedCall> = Vec::new();
        for data in String::from_utf8(stream)?
            .lines()
            .filter_map(|line| line.strip_prefix("data: "))
            .filter(|data| *data != "[DONE]")
        {
            let event: Value = serde_json::from_str(data)?;
            let choice = &event["choices"][0];
            words += choice["delta"]["content"].as_str().unwrap_or_default();
            finish += choice["finish_reason"].as_str().unwrap_or_default();
            for piece in choice["delta"]["tool_calls"]
                .as_array()
                .into_iter()
                .flatten()
            {
                let index = piece["index"].as_u64().ok_or("a call without an index")?;
                let index = usize::try_from(index)?;
                calls.resize_with(calls.len().max(index + 1), StreamedCall::default);
                let call = &mut calls[index];
                call.id += piece["id"].as_str().unwrap_or_default();
                call.tool += piece["function"]["name"].as_str().unwrap_or_default();
                call.arguments += piece["function"]["arguments"].as_str().unwrap_or_default();
            }
        }
        if calls.is_empty() {
            self.messages
                .push(json!({"role": "assistant", "content": words}));
            return Ok(Received::Words(words));
        }
        let sent = calls.iter().map(|call| {
            json!({"id": call.id, "type": "function", "function": {"name": call.tool, "arguments": call.arguments}})
        });
        let sent: Vec<Value> = sent.collect();
        self.messages
            .push(json!({"role": "assistant", "content": words, "tool_calls": sent}));
        let mut ran = Vec::new();
        for call in calls {
            let outcome =
                run(&call.tool, &call.arguments).unwrap_or_else(|why| format!("error: {why}"));
            self.messages
                .push(json!({"role": "tool", "tool_call_id": call.id, "content": outcome}));
            ran.push(RanCall {
                id: call.id,
                tool: call.tool,
                arguments: call.arguments,
                outcome,
            });
        }
        Ok(Received::Calls {
            words,
            calls: ran,
            finish,
        })
    }
}

/// The tools as declared. The second one is never called.
fn tools() -> Value {
    let weather = json!({"type": "object", "required": ["city"], "additionalProperties": false, "properties": {
        "city": {"type": "string"}, "days": {"type": "integer", "minimum": 1, "maximum": 7}}});
    let postcard =
        json!({"type": "object", "required": ["to"], "properties": {"to": {"type": "string"}}});
    json!([
        {"type": "function", "function": {"name": "get_weather", "parameters": weather}},
        {"type": "function", "function": {"name": "send_postcard", "parameters": postcard}},
    ])
}

fn run(tool: &str, arguments: &str) -> Result<String, String> {
    if tool != "get_weather" {
        return Err(format!("there is no tool {tool:?}"));
    }
    let arguments: Value =
        serde_json::from_str(arguments).map_err(|error| format!("not JSON: {error}"))?;
    let city = arguments["city"].as_str().ok_or("city is not a string")?;
    let days = match &arguments["days"] {
        Value::Null => 1,
        days => days.as_u64().ok_or("days is not a number")?,
    };
    Ok(format!("{city}: sunny for {days} days"))
}
