//! Small logs, and `callwright replay` over them.

use std::fmt::Write as _;
use std::path::Path;

use serde_json::Value as Json;

use super::{Run, program, run};

/// One tool, with a schema that is too strict for some calls of [`log`].
pub(crate) const TOOLS: &str = r#"[{"name": "search", "inputSchema": {
    "type": "object", "additionalProperties": false, "required": ["query"],
    "properties": {"query": {"type": "string"}, "limit": {"type": "integer"},
                   "sort": {"enum": ["up", "down"]}, "key": {"type": "string", "writeOnly": true}}}}]"#;

/// Calls of twelve sessions over ten days. Every seventh uses a sort order that the tool knows but the schema does not;
/// every eleventh lacks a required argument, and the tool refuses it.
pub(crate) fn log(calls: usize) -> String {
    let mut text = String::new();
    for call in 0..calls {
        let arguments = match call {
            _ if call % 7 == 3 => format!(r#"{{"query":"tea {call}","sort":"newest"}}"#),
            _ if call % 11 == 5 => r#"{"limit":5}"#.to_owned(),
            _ => format!(r#"{{"query":"tea {call}","limit":{call}}}"#),
        };
        let is_error = !arguments.contains("query");
        let (session, model) = (call % 12, call % 2);
        let seconds = 1_794_000_000 + call * 864_000 / calls.max(1);
        let _ = writeln!(
            text,
            r#"{{"tool":"search","arguments":{arguments},"session":"s{session}","round":{call},"output":"found {call}","is_error":{is_error},"time":{seconds},"model":"m{model}"}}"#
        );
    }
    text
}

/// `callwright replay` with these arguments.
pub(crate) fn replay<A: AsRef<std::ffi::OsStr>>(arguments: &[A]) -> Run {
    run(program().arg("replay").args(arguments))
}

/// `callwright replay --format json` over one log, as JSON.
pub(crate) fn replay_json(tools: &Path, log: &Path) -> (i32, Json) {
    let run = run(program()
        .args(["replay", "--format", "json", "--tools"])
        .args([tools, log]));
    let report = serde_json::from_str(&run.stdout).expect("one JSON object");
    (run.code, report)
}

/// A report without anything that depends on how the files are split and named.
pub(crate) fn without_files(report: &Json) -> Json {
    match report {
        Json::Object(members) => members
            .iter()
            .filter(|(key, _)| !["examples", "places", "files"].contains(&key.as_str()))
            .map(|(key, value)| (key.clone(), without_files(value)))
            .collect(),
        Json::Array(items) => items.iter().map(without_files).collect(),
        other => other.clone(),
    }
}
