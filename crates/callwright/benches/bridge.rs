//! The cost of converting arguments to a Rust type, and a result back to JSON, compared with `serde_json` and its own
//! tree: `cargo bench --bench bridge`.
#![allow(missing_docs)]

use std::collections::BTreeMap;

use callwright::json::{from_type, to_type};
use callwright::parse::read_value;
use divan::{Bencher, black_box};
use serde::{Deserialize, Serialize};

fn main() {
    divan::main();
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Order {
    Ascending,
    Descending,
}

#[derive(Serialize, Deserialize)]
struct Filter {
    field: String,
    values: Vec<i64>,
    negated: Option<bool>,
}

/// About the size of a usual call.
#[derive(Serialize, Deserialize)]
struct Search {
    query: String,
    limit: u32,
    offset: Option<u64>,
    least_score: f64,
    order: Order,
    filters: Vec<Filter>,
    labels: BTreeMap<String, String>,
    exact: bool,
}

const CALL: &str = r#"{"query":"rust json schema","limit":25,"offset":null,"least_score":0.75,
    "order":"descending","filters":[{"field":"year","values":[2023,2024,2025],"negated":false},
    {"field":"stars","values":[1000]}],"labels":{"team":"search","tier":"gold"},"exact":true}"#;

fn search() -> Search {
    serde_json::from_str(CALL).unwrap_or_else(|error| unreachable!("{error}"))
}

#[divan::bench]
fn into_type_ours(bencher: Bencher<'_, '_>) {
    let tree = read_value(CALL).unwrap_or_default();
    bencher.bench_local(|| to_type::<Search>(black_box(&tree)).is_ok());
}

/// The value is consumed, so its copy is made outside the measured time.
#[divan::bench]
fn into_type_serde_json_owned(bencher: Bencher<'_, '_>) {
    let tree: serde_json::Value = serde_json::from_str(CALL).unwrap_or_default();
    bencher
        .with_inputs(|| tree.clone())
        .bench_local_values(|tree| serde_json::from_value::<Search>(tree).is_ok());
}

#[divan::bench]
fn into_type_serde_json_borrowed(bencher: Bencher<'_, '_>) {
    let tree: serde_json::Value = serde_json::from_str(CALL).unwrap_or_default();
    bencher.bench_local(|| Search::deserialize(black_box(&tree)).is_ok());
}

#[divan::bench]
fn from_type_ours(bencher: Bencher<'_, '_>) {
    let search = search();
    bencher.bench_local(|| from_type(black_box(&search)).is_ok());
}

#[divan::bench]
fn from_type_serde_json(bencher: Bencher<'_, '_>) {
    let search = search();
    bencher.bench_local(|| serde_json::to_value(black_box(&search)).is_ok());
}
