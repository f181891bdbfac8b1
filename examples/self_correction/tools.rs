//! The tools: a search in front of an old order service, and a carrier that tracks parcels.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use callwright::check::{Detector, ToolFailure};
use callwright::policy::OutputSettings;
use callwright::tool::Effect;
use callwright::toolbox::{ToolDef, ToolResult, input_schema, output_schema};
use callwright::{Error, ToolSpec};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// How much of a response reaches us: something between us and the old service truncates the rest.
const MOST_BYTES: usize = 250;

/// The arguments of `search_orders`.
#[derive(Deserialize, JsonSchema)]
struct SearchOrders {
    /// Such as C-1042
    customer_id: String,
    status: Status,
    /// How many orders a page has
    #[serde(default = "ten")]
    #[schemars(range(min = 1, max = 50))]
    limit: usize,
    /// Counted from one
    #[serde(default = "one")]
    #[schemars(range(min = 1, max = 1000))]
    page: usize,
}

fn ten() -> usize {
    10
}

fn one() -> usize {
    1
}

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Status {
    Pending,
    Shipped,
    Delivered,
}

#[derive(Serialize, JsonSchema)]
struct Found {
    orders: Vec<Order>,
    page: usize,
    total_count: usize,
    has_more: bool,
}

#[derive(Serialize, JsonSchema)]
struct Order {
    id: &'static str,
    item: &'static str,
    parcel: &'static str,
}

/// All orders that were shipped.
const SHIPPED: [(&str, &str, &str); 7] = [
    ("O-2201", "desk", "P-3099"),
    ("O-2202", "chair", "P-3101"),
    ("O-2204", "shelf", "P-3102"),
    ("O-2205", "mirror", "P-3104"),
    ("O-2207", "lamp", "P-3107"),
    ("O-2209", "rug", "P-3108"),
    ("O-2210", "clock", "P-3111"),
];

/// The types define the input and the expected output; the text in between comes from the service.
pub(crate) fn search_orders() -> Result<ToolDef<Value, String>, Error> {
    let spec = ToolSpec::new("search_orders", input_schema::<SearchOrders>()?)
        .with_description("Finds the orders of a customer.")
        .with_output_schema(output_schema::<Found>())
        .with_effect(Effect::Read);
    let mut output = OutputSettings::default();
    output.detect = Some(vec![Detector::MorePages]);
    Ok(ToolDef::dynamic(spec, old_order_service).output(output))
}

async fn old_order_service(arguments: Value) -> ToolResult<String> {
    let asked: SearchOrders = serde_json::from_value(arguments)?;
    if asked.customer_id != "C-1042" {
        let detail = format!("There is no customer {}.", asked.customer_id);
        return Err(ToolFailure::new("unknown_customer", detail)
            .with_hint("Ask the user for the number on the invoice."));
    }
    let found: &[_] = match asked.status {
        Status::Shipped => &SHIPPED,
        Status::Pending | Status::Delivered => &[],
    };
    let before = asked.limit.saturating_mul(asked.page - 1);
    let here = found.iter().skip(before).take(asked.limit);
    let answer = serde_json::to_string(&Found {
        orders: here
            .map(|&(id, item, parcel)| Order { id, item, parcel })
            .collect(),
        page: asked.page,
        total_count: found.len(),
        has_more: before.saturating_add(asked.limit) < found.len(),
    })?;
    Ok(answer.chars().take(MOST_BYTES).collect())
}

/// Says where a parcel is.
#[derive(Deserialize, JsonSchema)]
pub(crate) struct TrackParcel {
    /// Such as P-3100
    parcel: String,
}

#[derive(Serialize, JsonSchema)]
pub(crate) struct Tracked {
    parcel: String,
    place: &'static str,
    arrives: &'static str,
}

/// The carrier only knows a parcel once it has been scanned, which takes until the third request.
pub(crate) fn track_parcel() -> ToolDef<TrackParcel, Tracked> {
    let asked = Arc::new(AtomicU32::new(0));
    ToolDef::new("track_parcel", move |TrackParcel { parcel }| {
        let is_scanned = asked.fetch_add(1, Ordering::Relaxed) >= 2;
        async move {
            if !is_scanned {
                let detail = format!("The carrier does not know parcel {parcel}.");
                return Err(ToolFailure::new("unknown_parcel", detail)
                    .with_hint("Check the number, or wait until it is picked up."));
            }
            Ok(Tracked {
                parcel,
                place: "Utrecht",
                arrives: "tomorrow",
            })
        }
    })
    .effect(Effect::Read)
}
