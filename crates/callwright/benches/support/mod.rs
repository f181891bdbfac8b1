//! Tools and calls to measure with: recorded ones if available, otherwise generated in the same sizes (arguments of 58
//! bytes in the median, schemas of one to two kilobytes).

use std::fs;
use std::path::{Path, PathBuf};

use callwright::tool::normalise;
use serde_json::{Value, json};

/// A set of tools, and calls of them.
pub(crate) struct Traffic {
    /// Where it comes from.
    #[allow(dead_code, reason = "one of the two benches prints it")]
    pub(crate) origin: String,
    /// Names and schemas.
    pub(crate) tools: Vec<(String, Value)>,
    /// Tool and arguments, all valid.
    pub(crate) valid: Vec<(String, String)>,
    /// Tool and arguments: JSON objects that their schema rejects.
    pub(crate) failing: Vec<(String, String)>,
}

/// Recorded traffic if there is any (`CALLWRIGHT_RECORDED_CALLS`, or the folder next to a checkout), generated traffic
/// otherwise.
pub(crate) fn traffic() -> Traffic {
    let beside = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data");
    let folder = std::env::var_os("CALLWRIGHT_RECORDED_CALLS").map_or(beside, PathBuf::from);
    recorded(&folder).unwrap_or_else(generated)
}

fn recorded(folder: &Path) -> Option<Traffic> {
    let rows = |name: &str| -> Option<Vec<Value>> {
        let text = fs::read_to_string(folder.join(name)).ok()?;
        text.lines()
            .map(|line| serde_json::from_str(line).ok())
            .collect()
    };
    let text = |row: &Value, key: &str| row[key].as_str().unwrap_or_default().to_owned();
    let tools: Vec<(String, Value)> = rows("tools.jsonl")?
        .into_iter()
        .map(|row| {
            (
                text(&row, "ref"),
                normalise(&row["input_schema"]).into_owned(),
            )
        })
        .collect();
    let calls = |name: &str| -> Option<Vec<(String, String)>> {
        let rows = rows(name)?;
        let pairs = rows
            .iter()
            .map(|row| (text(row, "schema_ref"), text(row, "raw_arguments")));
        Some(pairs.collect())
    };
    let schemas: std::collections::HashMap<_, _> = tools.iter().cloned().collect();
    let failing = calls("calls-failing.jsonl")?
        .into_iter()
        .filter(|(tool, arguments)| {
            let parsed = serde_json::from_str::<Value>(arguments);
            let (Some(schema), Ok(value @ Value::Object(_))) = (schemas.get(tool), parsed) else {
                return false;
            };
            jsonschema::validator_for(schema).is_ok_and(|compiled| !compiled.is_valid(&value))
        })
        .collect();
    Some(Traffic {
        origin: "recorded calls".to_owned(),
        valid: calls("calls-valid.jsonl")?,
        failing,
        tools,
    })
}

/// Deterministic: the same tools and calls every time.
pub(crate) fn generated() -> Traffic {
    let mut traffic = Traffic {
        origin: "generated calls".to_owned(),
        tools: Vec::new(),
        valid: Vec::new(),
        failing: Vec::new(),
    };
    for n in 0..500_usize {
        let name = format!("tool_{n}");
        traffic.tools.push((name.clone(), generated_schema(n)));
        for m in 0..8_usize {
            let limit = (n * 7 + m) % 100;
            let good = match m % 3 {
                0 => json!({"query": format!("orders of customer {m}"), "limit": limit}),
                1 => {
                    json!({"query": "status", "filter": {"status": "shipped", "tags": ["a", "b"]}})
                }
                _ => json!({"query": format!("find {n} {m}"), "limit": limit, "verbose": true}),
            };
            traffic.valid.push((name.clone(), good.to_string()));
            let bad = match m % 4 {
                0 => json!({"query": 5, "limit": "many"}),
                1 => json!({"qurey": "status", "limit": limit}),
                2 => json!({"query": "status", "filter": {"status": "shiped", "tags": "a"}}),
                _ => json!({"query": "status", "limit": 5000, "verbose": "true"}),
            };
            traffic.failing.push((name.clone(), bad.to_string()));
        }
    }
    traffic
}

fn generated_schema(n: usize) -> Value {
    let mut properties = json!({
        "query": {"type": "string", "description": "What to look for, in the words of the user."},
        "limit": {"type": "integer", "minimum": 0, "maximum": 1000, "default": 20},
        "verbose": {"type": "boolean", "default": false},
        "filter": {
            "type": "object",
            "properties": {
                "status": {"enum": ["pending", "shipped", "delivered", "returned"]},
                "tags": {"type": "array", "items": {"type": "string", "maxLength": 40}},
                "since": {"anyOf": [{"type": "string", "format": "date"}, {"type": "null"}]}
            },
            "additionalProperties": false
        }
    });
    for extra in 0..n % 9 {
        properties[format!("option_{extra}")] = json!({
            "type": "string",
            "description": format!("Option {extra} of tool {n}, which most calls leave alone."),
        });
    }
    json!({
        "type": "object",
        "properties": properties,
        "required": ["query"],
        "additionalProperties": false
    })
}
