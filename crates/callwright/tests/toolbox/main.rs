//! Typed tools behind one `invoke`: what the model gets, whatever a tool does.
#![allow(
    clippy::expect_used,
    clippy::items_after_statements,
    clippy::struct_field_names,
    clippy::too_many_lines,
    reason = "a test may panic, and its steps belong together"
)]

mod running;
mod telling;

use callwright::failure::Code;
use callwright::toolbox::{ToolDef, ToolResult, Toolbox};
use callwright::{Call, Settled};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Finds orders of a customer.
#[derive(Debug, Deserialize, JsonSchema)]
struct FindOrders {
    /// Such as C-1042
    customer_id: String,
    /// Counted from one
    #[serde(default = "first")]
    #[schemars(range(min = 1))]
    page: u32,
}

fn first() -> u32 {
    1
}

#[derive(Debug, Serialize, JsonSchema)]
struct Orders {
    orders: Vec<Order>,
    page: u32,
    has_more: bool,
}

#[derive(Debug, Serialize, JsonSchema)]
struct Order {
    id: String,
    #[schemars(range(min = 0))]
    total: f64,
}

async fn find_orders(args: FindOrders) -> ToolResult<Orders> {
    let order = Order {
        id: format!("O-{}", args.page),
        total: 12.5,
    };
    Ok(Orders {
        orders: vec![order],
        page: args.page,
        has_more: args.page < 3,
    })
}

#[derive(Debug, Deserialize, JsonSchema)]
struct Nothing {}

fn text(toolbox: &Toolbox, settled: &Settled<'_>) -> String {
    settled.text(toolbox.feedback()).into_owned()
}

/// Calls the tool in its own toolbox.
async fn said<A, O>(tool: ToolDef<A, O>, arguments: &str) -> (String, Option<Code>)
where
    A: Send + 'static,
    O: Send + 'static,
{
    let name = tool.spec().name.clone();
    let toolbox = Toolbox::builder().tool(tool).build().expect("a good tool");
    let call = Call::from_text(name.as_str(), arguments);
    let settled = toolbox.invoke(&call, None).await;
    let code = settled.failure().map(|failure| failure.code);
    (text(&toolbox, &settled), code)
}
