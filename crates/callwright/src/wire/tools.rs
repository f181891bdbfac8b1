//! Tools out of any provider's shape, and into one.
//!
//! Takes the text of a tool file and returns its [`ToolSpec`]s in order; each tool's own keys tell which provider's it
//! is, so one file may mix them. Nothing is compiled or changed.

use std::sync::Arc;

use serde_json::{Map, Value as Json, json};

use super::mcp::read_annotations;
use super::provider::{Provider, Vocabulary, vocabularies};
use crate::error::{Error, ErrorKind};
use crate::words::{DeclaredBy, ToolSpec};

/// A tool as a provider wants it declared in a request. (Gemini wants them collected under `functionDeclarations`.) The
/// schema goes as it is; whether the provider takes all of it is another question.
pub fn declare(provider: Provider, tool: &ToolSpec) -> Json {
    // Providers want a schema even where there are no arguments.
    let schema = tool
        .input_schema
        .as_deref()
        .cloned()
        .unwrap_or_else(|| json!({"type": "object", "properties": {}}));
    let mut declared = Map::new();
    declared.insert("name".to_owned(), json!(tool.name));
    if let Some(description) = &tool.description {
        declared.insert("description".to_owned(), json!(description));
    }
    provider.shape().declare(declared, schema, tool)
}

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

/// The keys of one kind, of all providers.
fn keys(of: fn(&Vocabulary) -> &'static [&'static str]) -> impl Iterator<Item = &'static str> {
    vocabularies().flat_map(move |own| of(own).iter().copied())
}

/// The keys under which a file has lists of tools.
fn lists() -> impl Iterator<Item = &'static str> {
    std::iter::once("tools").chain(keys(|own| own.tool_lists))
}

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
            if let Some(key) = lists().find(|key| entry.get(*key).is_some_and(Json::is_array)) {
                let inner = match place {
                    "the file" => key.to_owned(),
                    outer => format!("{outer}.{key}"),
                };
                let list = entry.remove(key).unwrap_or_default();
                return read_entry(list, &inner, tools);
            }
            // A whole JSON-RPC answer to `tools/list`.
            if let Some(result @ Json::Object(_)) = entry.remove("result") {
                return read_entry(result, place, tools);
            }
            if entry.contains_key("jsonrpc") && entry.contains_key("error") {
                return Err(ErrorKind::ErrorAnswer.into());
            }
            if let Some(key) = lists().find(|key| entry.contains_key(*key)) {
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
    let is_hosted = |key: &String| {
        let folded = key.replace('_', "").to_ascii_lowercase();
        keys(|own| own.hosted_tools).any(|hosted| hosted == folded)
    };
    let kind = entry.get("type").and_then(Json::as_str);
    !entry.contains_key("name")
        && !entry.contains_key("function")
        && (kind.is_some_and(|kind| !matches!(kind, "function" | "object"))
            || entry.keys().any(is_hosted))
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
    let description = entry.get("description").and_then(Json::as_str);
    let description = description.map(str::to_owned);
    let mut schema = |of: fn(&Vocabulary) -> &'static [&'static str]| {
        keys(of)
            .find_map(|key| entry.remove(key).filter(|value| !value.is_null()))
            .map(Arc::new)
    };
    Ok(ToolSpec {
        name,
        description,
        input_schema: schema(|own| own.input_schema),
        output_schema: schema(|own| own.output_schema),
        effect,
        declared_by: DeclaredBy::Hint,
        idempotent,
    })
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
