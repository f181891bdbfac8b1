//! Tools for the model: what it is told about them, in a provider's shape.

use serde_json::{Map, Value as Json, json};

use super::Provider;
use crate::words::{Effect, ToolSpec};

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
    match provider {
        Provider::OpenAiChat => {
            declared.insert("parameters".to_owned(), schema);
            json!({"type": "function", "function": declared})
        }
        Provider::OpenAiResponses => {
            declared.insert("type".to_owned(), json!("function"));
            declared.insert("parameters".to_owned(), schema);
            Json::Object(declared)
        }
        Provider::Gemini => {
            declared.insert("parameters".to_owned(), schema);
            Json::Object(declared)
        }
        Provider::Anthropic => {
            declared.insert("input_schema".to_owned(), schema);
            Json::Object(declared)
        }
        Provider::Mcp => {
            declared.insert("inputSchema".to_owned(), schema);
            // MCP has results that are objects, and no others.
            let output = tool.output_schema.as_deref();
            if let Some(output) = output.filter(|schema| schema["type"] == "object") {
                declared.insert("outputSchema".to_owned(), output.clone());
            }
            if let Some(annotations) = annotations(tool) {
                declared.insert("annotations".to_owned(), annotations);
            }
            Json::Object(declared)
        }
    }
}

/// What a tool does to the world, in the words of MCP; nothing where nothing is declared.
fn annotations(tool: &ToolSpec) -> Option<Json> {
    let mut hints = match tool.effect {
        Effect::Unknown => json!({}),
        Effect::Read => json!({"readOnlyHint": true}),
        Effect::Write => json!({"readOnlyHint": false, "destructiveHint": false}),
        Effect::Destructive => json!({"readOnlyHint": false, "destructiveHint": true}),
    };
    if tool.idempotent {
        hints["idempotentHint"] = json!(true);
    }
    hints
        .as_object()
        .is_some_and(|hints| !hints.is_empty())
        .then_some(hints)
}
