//! Dynamic tools, unknown when this program was compiled. Their declarations come from a file, in any provider's
//! format, and one function serves them all. They are judged like typed ones.
//!
//! Run it with `cargo run -p callwright-examples --example dynamic_tool`.

use callwright::check::ToolFailure;
use callwright::toolbox::{CallContext, ToolDef, ToolResult, Toolbox};
use callwright::wire::read_tools;
use callwright::{Call, Error};
use serde_json::{Value, json};

/// Where the calls go: a plugin, a script, a service. Here it is a shop with a single order.
async fn backend(arguments: Value, call: CallContext) -> ToolResult<Value> {
    match call.tool.as_str() {
        "search_orders" => Ok(json!({
            "orders": [{"id": "O-2207", "total": 39.9, "item": arguments["query"]}],
        })),
        "refund" => Ok(json!({"refunded": arguments["order"], "to": arguments["to"]["kind"]})),
        other => Err(ToolFailure::new(
            "read_only",
            format!("{other} is switched off: the shop takes no files today."),
        )
        .with_hint("Go on without it.")),
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Error> {
    let mut builder = Toolbox::builder();
    for spec in read_tools(include_str!("tools.json"))? {
        println!("registered {}", spec.name);
        builder = builder.tool(ToolDef::dynamic_with_context(spec, backend));
    }
    let toolbox = builder.build()?;

    let calls = [
        ("search_orders", r#"{"query": "lamp", "limit": "5"}"#),
        ("search_orders", r#"{"limit": 0, "since": "last week"}"#),
        (
            "refund",
            r#"{"order": 2207, "to": {"kind": "card", "last_four": "12"}}"#,
        ),
        (
            "refund",
            r#"{"order": 2207, "to": {"kind": "card", "last_four": "1234"}}"#,
        ),
        (
            "write_file",
            r#"{"filePath": "notes.txt", "content": "2207"}"#,
        ),
        ("list_orders", "{}"),
    ];
    for (tool, arguments) in calls {
        let call = Call::from_text(tool, arguments);
        let settled = toolbox.invoke(&call, None).await;
        println!("\nmodel: {tool} {arguments}");
        println!("tool:  {}", settled.text(toolbox.feedback()));
    }
    Ok(())
}
