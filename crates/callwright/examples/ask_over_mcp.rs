//! An MCP server with one tool that pays money, and a gate in front of it. A payment that was made is not made
//! again unless the user, asked by elicitation, says so.
//!
//! It speaks MCP over standard input and output, one message per line. Put it into any client that supports
//! elicitation: `cargo run -p callwright --example ask_over_mcp`.

use std::error::Error;
use std::io::{BufRead as _, Write as _};

use callwright::Refused;
use callwright::admit::Place;
use callwright::check::Ran;
use callwright::feedback::Feedback;
use callwright::tool::{Effect, ToolSpec};
use callwright::wire::{self, Provider};
use callwright::{Call, Gate, Opened, json};
use serde_json::{Value, json};

fn main() -> Result<(), Box<dyn Error>> {
    let schema = json!({
        "type": "object",
        "properties": {"to": {"type": "string"}, "amount": {"type": "number"}},
        "required": ["to", "amount"],
    });
    let pay = ToolSpec::new("pay", schema.clone()).with_effect(Effect::Destructive);
    let gate = Gate::builder().tool(pay).build()?;
    let tools =
        json!({"tools": [{"name": "pay", "description": "Pay money.", "inputSchema": schema}]});
    let mut client = Client::default();
    while let Some(message) = receive()? {
        let result = match message["method"].as_str() {
            Some("initialize") => {
                client.can_ask = message["params"]["capabilities"]["elicitation"].is_object();
                json!({
                    "protocolVersion": message["params"]["protocolVersion"],
                    "capabilities": {"tools": {}},
                    "serverInfo": {"name": "ask_over_mcp", "version": "1"},
                })
            }
            Some("tools/list") => tools.clone(),
            Some("tools/call") => client.call(&gate, &message)?,
            Some("ping") => json!({}),
            // Notifications need no answer.
            _ if message.get("id").is_none() => continue,
            _ => {
                let error = json!({"code": -32601, "message": "method not found"});
                send(&json!({"jsonrpc": "2.0", "id": message["id"], "error": error}))?;
                continue;
            }
        };
        send(&json!({"jsonrpc": "2.0", "id": message["id"], "result": result}))?;
    }
    Ok(())
}

#[derive(Default)]
struct Client {
    can_ask: bool,
    /// MCP has no rounds; every call is one.
    round: u64,
}

impl Client {
    fn call(&mut self, gate: &Gate, request: &Value) -> Result<Value, Box<dyn Error>> {
        let call = wire::read_call(json::Value::from(request))?;
        self.round += 1;
        let mut opened = gate.open(&call, Place::new("the only one", 0, self.round));
        if let Opened::Refused(refused) = &opened
            && self.ask(gate, refused)?
        {
            self.round += 1;
            opened = gate.open(&call, Place::new("the only one", 0, self.round));
        }
        Ok(match opened {
            Opened::Admitted(ticket) => {
                let answer = format!("paid {}", ticket.arguments());
                let settled = gate.close(ticket, Ran::ok(answer.as_str()));
                debug_assert!(settled.verdict.failure().is_none());
                result(&call, answer, false)
            }
            Opened::Refused(refused) => {
                let words =
                    Feedback::default().render_with(&refused.failure, refused.notice.as_ref());
                result(&call, words, true)
            }
        })
    }

    /// Asks the user about a refused call, if it is a question and the client can; says whether there was an answer.
    fn ask(&self, gate: &Gate, refused: &Refused<'_>) -> Result<bool, Box<dyn Error>> {
        let Some(question) = wire::elicitation(&refused.failure, &Feedback::default()) else {
            return Ok(false);
        };
        if !self.can_ask {
            return Ok(false);
        }
        let params: Value = serde_json::from_str(&question.to_string())?;
        let id = format!("ask-{}", self.round);
        send(
            &json!({"jsonrpc": "2.0", "id": id, "method": "elicitation/create", "params": params}),
        )?;
        while let Some(message) = receive()? {
            if message["id"] != id.as_str() {
                // A program of more than one idea would answer other requests meanwhile.
                continue;
            }
            let result = json::Value::from(&message["result"]);
            let Some(reply) = wire::read_elicitation(&result, &refused.failure) else {
                return Ok(false);
            };
            gate.ledger().answer("the only one", &reply)?;
            return Ok(true);
        }
        Ok(false)
    }
}

/// A `CallToolResult`.
fn result(call: &Call<'_>, text: String, is_error: bool) -> Value {
    let result = wire::render_result(Provider::Mcp, call, text, is_error);
    Value::from(&result)
}

/// The next message; `None` if the client is gone.
fn receive() -> Result<Option<Value>, Box<dyn Error>> {
    let mut line = String::new();
    let read = std::io::stdin().lock().read_line(&mut line)?;
    Ok(if read == 0 {
        None
    } else {
        Some(serde_json::from_str(&line)?)
    })
}

fn send(message: &Value) -> Result<(), Box<dyn Error>> {
    let mut out = std::io::stdout().lock();
    writeln!(out, "{message}")?;
    Ok(out.flush()?)
}
