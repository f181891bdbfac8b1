//! Reads tools in any provider's shape, and writes them in one.
//!
//! Takes the text of a tool file and returns its [`ToolSpec`]s in order; each tool's keys tell its provider, so one file may
//! mix them. Compiles and changes nothing. Each schema is read separately: one that cannot be read loses only its own tool's
//! validation.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::value::RawValue;
use serde_json::{Map, Value as Json, json};

use super::mcp::read_annotations;
use super::provider::{Provider, Vocabulary, vocabularies};
use crate::error::{Error, ErrorKind};
use crate::vocabulary::{DeclaredBy, ToolSpec};

/// A tool as a provider wants it declared in a request. (Gemini wants them collected under `functionDeclarations`.) The schema
/// is passed on unchanged; whether the provider supports all of it is another question.
pub fn declare(provider: Provider, tool: &ToolSpec) -> Json {
    // Providers require a schema even if there are no arguments.
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

/// Reads tools in any of these shapes, alone, in an array, or under `tools`: MCP (including a complete `tools/list` response),
/// OpenAI chat and responses, Anthropic, Gemini.
///
/// A tool whose schema cannot be read (a number beyond all bounds, half a character, a hundred levels) keeps its name, and
/// [`ToolSpec::input_fault`] says why.
///
/// # Errors
/// Fails if the text is not JSON, or an entry is not a tool or has no name; the error names the entry.
pub fn read_tools(text: &str) -> Result<Vec<ToolSpec>, Error> {
    let mut tools = Vec::new();
    read_each_tool(text, |tool| tools.push(tool))?;
    Ok(tools)
}

/// The same for a text with many tools: they are passed on one by one. Parsed, all of them take ten times as much memory as
/// their text.
///
/// # Errors
/// See [`read_tools`]; the tools before the error have been passed on.
pub fn read_each_tool(text: &str, mut each: impl FnMut(ToolSpec)) -> Result<(), Error> {
    read_entry(read(text)?, "the file", &mut each)
}

/// The members of an object, each unparsed.
type UnparsedMembers<'t> = BTreeMap<String, &'t RawValue>;

fn read<'t, T: serde::Deserialize<'t>>(text: &'t str) -> Result<T, ErrorKind> {
    serde_json::from_str(text).map_err(ErrorKind::ToolsNotJson)
}

/// The keys of one kind, for all providers.
fn keys(of: fn(&Vocabulary) -> &'static [&'static str]) -> impl Iterator<Item = &'static str> {
    vocabularies().flat_map(move |own| of(own).iter().copied())
}

/// The keys of lists of tools in a file.
pub fn list_keys() -> impl Iterator<Item = &'static str> {
    std::iter::once("tools").chain(keys(|own| own.tool_lists))
}

/// The keys of a tool's input schema.
pub fn input_schema_keys() -> impl Iterator<Item = &'static str> {
    keys(|own| own.input_schema)
}

/// The keys of a tool's output schema.
pub fn output_schema_keys() -> impl Iterator<Item = &'static str> {
    keys(|own| own.output_schema)
}

fn read_entry(entry: &RawValue, place: &str, each: &mut impl FnMut(ToolSpec)) -> Result<(), Error> {
    match kind_of(entry) {
        "an array" => {
            let entries: Vec<&RawValue> = read(entry.get())?;
            for (at, entry) in entries.into_iter().enumerate() {
                let inner = match place {
                    "the file" => format!("tools[{at}]"),
                    outer => format!("{outer}[{at}]"),
                };
                read_entry(entry, &inner, each)?;
            }
            Ok(())
        }
        "an object" => {
            let entry: UnparsedMembers<'_> = read(entry.get())?;
            let is_list = |key: &&str| entry.get(*key).is_some_and(|it| kind_of(it) == "an array");
            if let Some(key) = list_keys().find(is_list) {
                let inner = match place {
                    "the file" => key.to_owned(),
                    outer => format!("{outer}.{key}"),
                };
                return read_entry(entry[key], &inner, each);
            }
            // A complete JSON-RPC response to `tools/list`.
            let result = entry.get("result");
            if let Some(result) = result.filter(|result| kind_of(result) == "an object") {
                return read_entry(result, place, each);
            }
            if entry.contains_key("jsonrpc") && entry.contains_key("error") {
                return Err(ErrorKind::ErrorAnswer.into());
            }
            if let Some(key) = list_keys().find(|key| entry.contains_key(*key)) {
                return Err(ErrorKind::ToolsNotAList {
                    place: place.to_owned(),
                    key,
                }
                .into());
            }
            if is_hosted(&entry) {
                return Ok(());
            }
            each(read_tool(entry, place)?);
            Ok(())
        }
        found => Err(ErrorKind::NotATool {
            place: place.to_owned(),
            found,
        }
        .into()),
    }
}

/// Tools that the provider runs itself (`{"type": "web_search"}`, `{"googleSearch": {}}`): there are no calls of them to judge.
fn is_hosted(entry: &UnparsedMembers<'_>) -> bool {
    let is_hosted = |key: &String| {
        let folded = key.replace('_', "").to_ascii_lowercase();
        keys(|own| own.hosted_tools).any(|hosted| hosted == folded)
    };
    let kind = text(entry, "type");
    !entry.contains_key("name")
        && !entry.contains_key("function")
        && (kind.is_some_and(|kind| !matches!(kind.as_str(), "function" | "object"))
            || entry.keys().any(is_hosted))
}

/// A member that is a readable text.
fn text(entry: &UnparsedMembers<'_>, key: &str) -> Option<String> {
    serde_json::from_str(entry.get(key)?.get()).ok()
}

fn read_tool(mut entry: UnparsedMembers<'_>, place: &str) -> Result<ToolSpec, Error> {
    // OpenAI chat keeps everything one level deeper.
    if let Some(function) = entry.get("function")
        && kind_of(function) == "an object"
    {
        entry = read(function.get())?;
    }
    let name = text(&entry, "name").filter(|name| !name.trim().is_empty());
    let name = name.ok_or_else(|| ErrorKind::NamelessTool {
        place: place.to_owned(),
    })?;
    let annotations = entry.get("annotations").map(|hints| read(hints.get()));
    let annotations: Option<Json> = annotations.and_then(Result::ok);
    let (effect, idempotent) = read_annotations(annotations.as_ref());
    let declared = |key| entry.get(key).filter(|it| kind_of(it) != "null");
    let schema = |declared: &&RawValue| serde_json::from_str(declared.get()).map(Arc::new);
    let input = input_schema_keys().find_map(declared).map(schema);
    let output = output_schema_keys().find_map(declared).map(schema);
    let (input_schema, input_fault) = schema_or_fault(input);
    let (output_schema, output_fault) = schema_or_fault(output);
    Ok(ToolSpec {
        description: text(&entry, "description"),
        input_schema,
        input_fault,
        output_schema,
        output_fault,
        effect,
        declared_by: DeclaredBy::Hint,
        idempotent,
        ..ToolSpec::without_schema(name)
    })
}

fn schema_or_fault(
    read: Option<Result<Arc<Json>, serde_json::Error>>,
) -> (Option<Arc<Json>>, Option<Arc<str>>) {
    match read {
        None => (None, None),
        Some(Ok(schema)) => (Some(schema), None),
        Some(Err(error)) => (None, Some(format!("it cannot be read: {error}").into())),
    }
}

fn kind_of(value: &RawValue) -> &'static str {
    match value.get().as_bytes().first() {
        Some(b'n') => "null",
        Some(b't' | b'f') => "a boolean",
        Some(b'"') => "a string",
        Some(b'[') => "an array",
        Some(b'{') => "an object",
        _ => "a number",
    }
}
