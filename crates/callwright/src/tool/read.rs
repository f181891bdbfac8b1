//! Tools out of any provider's shape.
//!
//! The key that holds its schema tells the shape of each tool, so one file may mix them. In
//! comes the text of a tool file, out go [`ToolSpec`]s in order; nothing is compiled or changed.

use std::sync::Arc;

use serde_json::{Map, Value as Json};

use super::{DeclaredBy, Effect, ToolSpec};
use crate::error::{Error, ErrorKind};

/// Reads tools in any of these shapes, alone, in an array, or under `tools`: MCP (a whole
/// `tools/list` answer too), OpenAI chat and responses, Anthropic, Gemini.
///
/// # Errors
/// Fails if the text is not JSON, or an entry is not a tool or has no name; the error names the entry.
pub fn read_tools(text: &str) -> Result<Vec<ToolSpec>, Error> {
    let json: Json = serde_json::from_str(text).map_err(ErrorKind::ToolsNotJson)?;
    let mut tools = Vec::new();
    read_entry(json, "the file", &mut tools)?;
    Ok(tools)
}

/// The keys that hold lists of tools.
const LISTS: [&str; 4] = [
    "tools",
    "functionDeclarations",
    "function_declarations",
    "functions",
];

fn read_entry(entry: Json, place: &str, tools: &mut Vec<ToolSpec>) -> Result<(), Error> {
    match entry {
        Json::Array(entries) => {
            for (at, entry) in entries.into_iter().enumerate() {
                let inner = match place {
                    "the file" => format!("tools[{at}]"),
                    outer => format!("{outer}[{at}]"),
                };
                read_entry(entry, &inner, tools)?;
            }
            Ok(())
        }
        Json::Object(mut entry) => {
            if let Some(key) = LISTS
                .iter()
                .find(|key| entry.get(**key).is_some_and(Json::is_array))
            {
                let inner = match place {
                    "the file" => (*key).to_owned(),
                    outer => format!("{outer}.{key}"),
                };
                let list = entry.remove(*key).unwrap_or_default();
                return read_entry(list, &inner, tools);
            }
            // A whole JSON-RPC answer to `tools/list`.
            if let Some(result @ Json::Object(_)) = entry.remove("result") {
                return read_entry(result, place, tools);
            }
            if entry.contains_key("jsonrpc") && entry.contains_key("error") {
                return Err(ErrorKind::ErrorAnswer.into());
            }
            if let Some(key) = LISTS.iter().find(|key| entry.contains_key(**key)) {
                return Err(ErrorKind::ToolsNotAList {
                    place: place.to_owned(),
                    key,
                }
                .into());
            }
            if is_hosted(&entry) {
                return Ok(());
            }
            tools.push(read_tool(entry, place)?);
            Ok(())
        }
        other => Err(ErrorKind::NotATool {
            place: place.to_owned(),
            found: kind_of(&other),
        }
        .into()),
    }
}

/// Tools that the provider runs itself (`{"type": "web_search"}`, `{"googleSearch": {}}`): they take
/// no call that could be judged.
fn is_hosted(entry: &Map<String, Json>) -> bool {
    const GEMINI: [&str; 7] = [
        "googlesearch",
        "googlesearchretrieval",
        "googlemaps",
        "codeexecution",
        "urlcontext",
        "filesearch",
        "computeruse",
    ];
    let gemini = |key: &String| {
        let folded = key.replace('_', "").to_ascii_lowercase();
        GEMINI.contains(&folded.as_str())
    };
    let kind = entry.get("type").and_then(Json::as_str);
    !entry.contains_key("name")
        && !entry.contains_key("function")
        && (kind.is_some_and(|kind| !matches!(kind, "function" | "object"))
            || entry.keys().any(gemini))
}

fn read_tool(mut entry: Map<String, Json>, place: &str) -> Result<ToolSpec, Error> {
    // OpenAI chat keeps everything one level deeper.
    if let Some(Json::Object(function)) = entry.remove("function") {
        entry = function;
    }
    let name = match entry.remove("name") {
        Some(Json::String(name)) if !name.trim().is_empty() => name,
        _ => {
            return Err(ErrorKind::NamelessTool {
                place: place.to_owned(),
            }
            .into());
        }
    };
    let (effect, idempotent) = read_annotations(entry.get("annotations"));
    let mut first = |keys: &[&str]| {
        keys.iter()
            .find_map(|key| entry.remove(*key).filter(|value| !value.is_null()))
    };
    Ok(ToolSpec {
        name,
        description: first(&["description"]).and_then(|text| text.as_str().map(str::to_owned)),
        input_schema: first(&[
            "inputSchema",
            "input_schema",
            "parameters",
            "parametersJsonSchema",
        ])
        .map(Arc::new),
        output_schema: first(&["outputSchema", "output_schema", "responseJsonSchema"])
            .map(Arc::new),
        effect,
        declared_by: DeclaredBy::Hint,
        idempotent,
    })
}

/// MCP's hints. `readOnlyHint: false` by itself declares nothing: it is the protocol's default, which many servers
/// write out for every tool, those that only read included.
fn read_annotations(annotations: Option<&Json>) -> (Effect, bool) {
    let hint = |name: &str| annotations.and_then(|all| all.get(name)?.as_bool());
    let effect = match (hint("readOnlyHint"), hint("destructiveHint")) {
        (Some(true), _) => Effect::Read,
        (_, Some(true)) => Effect::Destructive,
        (_, Some(false)) => Effect::Write,
        (_, None) => Effect::Unknown,
    };
    (effect, hint("idempotentHint") == Some(true))
}

fn kind_of(value: &Json) -> &'static str {
    match value {
        Json::Null => "null",
        Json::Bool(_) => "a boolean",
        Json::Number(_) => "a number",
        Json::String(_) => "a string",
        Json::Array(_) => "an array",
        Json::Object(_) => "an object",
    }
}
