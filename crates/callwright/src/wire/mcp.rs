//! MCP: `tools/call`, `tools/list`. Each of its requests contains one call, so there are no answers and no histories.

use serde_json::{Map, Value as Json, json};

use super::provider::{ProviderShape, ProviderSummary, RunnableCall, Vocabulary};
use super::{each_key_once, not_a_call, object, text, tool_name, value_arguments};
use crate::call::Call;
use crate::error::Error;
use crate::feedback::{Content, Presented};
use crate::json::Value;
use crate::text::{first_bytes, quoted};
use crate::vocabulary::{Digest, Effect, Output, Ran, ToolFailure, ToolSpec};

const METHOD: &str = "tools/call";

pub(super) struct Mcp;

static VOCABULARY: Vocabulary = Vocabulary {
    input_schema: &["inputSchema"],
    output_schema: &["outputSchema"],
    ..Vocabulary::of(ProviderSummary {
        title: "MCP",
        tool: r#"{"name", "description", "inputSchema", "annotations"}"#,
        call: r#"{"method": "tools/call", "id", "params": {"name", "arguments"}}"#,
        message: None,
        answer: None,
    })
};

impl ProviderShape for Mcp {
    fn vocabulary(&self) -> &'static Vocabulary {
        &VOCABULARY
    }

    /// Any request; whether it is a `tools/call` is checked when it is read.
    fn is_call(&self, value: &Value<'_>) -> bool {
        value.get("method").is_some()
    }

    /// A `tools/call` request.
    fn read_call<'a>(&self, mut value: Value<'a>) -> Result<Call<'a>, Error> {
        let method = value.get("method").and_then(Value::as_str);
        if method != Some(METHOD) {
            let found = method.map_or_else(|| "no text".to_owned(), |name| quoted(name, 40));
            return Err(not_a_call(&format!(
                "the request's `method` is {found}, not `{METHOD}`"
            )));
        }
        let mut params = value.take("params").unwrap_or_default();
        each_key_once(&params)?;
        let tool = tool_name(&mut params, "name")?;
        let mut call = Call::new(tool, value_arguments(&mut params)?);
        call.id = value.take("id");
        Ok(call)
    }

    fn render_call<'v>(&self, call: RunnableCall<'v>) -> Value<'v> {
        let params = object([
            ("name", text(call.tool)),
            ("arguments", Some(call.arguments.clone())),
        ]);
        object([
            ("jsonrpc", text("2.0")),
            ("id", call.id),
            ("method", text(METHOD)),
            ("params", Some(params)),
        ])
    }

    /// A `CallToolResult`. Bad arguments are reported as a result with `isError`, never as a protocol error: otherwise the
    /// model would not see them.
    fn render_result<'v>(&self, _: &'v Call<'_>, content: String, is_error: bool) -> Value<'v> {
        object([
            ("content", Some(Value::Array(vec![text_block(content)]))),
            ("isError", Some(Value::Bool(is_error))),
        ])
    }

    fn with_structure<'v>(&self, result: Value<'v>, structure: Option<Value<'v>>) -> Value<'v> {
        match (result, structure) {
            (Value::Object(mut members), Some(structure)) => {
                members.insert(1, ("structuredContent".into(), structure));
                Value::Object(members)
            }
            (result, _) => result,
        }
    }

    fn requires_structure(&self, tool: &ToolSpec) -> bool {
        declared_output(tool).is_some()
    }

    fn declare(&self, mut declared: Map<String, Json>, schema: Json, tool: &ToolSpec) -> Json {
        declared.insert("inputSchema".to_owned(), schema);
        if let Some(output) = declared_output(tool) {
            declared.insert("outputSchema".to_owned(), output.clone());
        }
        let annotations = write_annotations(tool);
        if !annotations.is_empty() {
            declared.insert("annotations".to_owned(), Json::Object(annotations));
        }
        Json::Object(declared)
    }
}

/// The schema of results that a tool is declared with: MCP requires structured results to be objects.
fn declared_output(tool: &ToolSpec) -> Option<&Json> {
    let output = tool.output_schema.as_deref();
    output.filter(|schema| schema["type"] == "object")
}

/// A tool's effect as MCP hints; none if nothing is declared.
fn write_annotations(tool: &ToolSpec) -> Map<String, Json> {
    let mut hints = Map::new();
    let mut hint = |name: &str, value| hints.insert(name.to_owned(), json!(value));
    if tool.effect != Effect::Unknown {
        hint("readOnlyHint", tool.effect == Effect::Read);
    }
    if matches!(tool.effect, Effect::Write | Effect::Destructive) {
        hint("destructiveHint", tool.effect == Effect::Destructive);
    }
    if tool.idempotent {
        hint("idempotentHint", true);
    }
    hints
}

/// A tool's effect, and whether it is idempotent, from its MCP hints. `readOnlyHint: false` alone declares nothing: it is the
/// protocol's default, which many servers write out for every tool, including read-only ones. Nor do two contradictory hints.
pub(super) fn read_annotations(annotations: Option<&Json>) -> (Effect, bool) {
    let hint = |name: &str| annotations.and_then(|all| all.get(name)?.as_bool());
    let effect = match (hint("readOnlyHint"), hint("destructiveHint")) {
        (Some(true), Some(true)) => Effect::Unknown,
        (Some(true), _) => Effect::Read,
        (_, Some(true)) => Effect::Destructive,
        (_, Some(false)) => Effect::Write,
        (_, None) => Effect::Unknown,
    };
    (effect, hint("idempotentHint") == Some(true))
}

/// The outcome of a call, from a `CallToolResult`: its structured content, which is what an output schema describes, its text,
/// or the error that it reports.
pub fn read_result<'v>(result: &'v Value<'_>) -> Ran<'v> {
    if result.get("isError") == Some(&Value::Bool(true)) {
        return Ran::failed(ToolFailure::said(output(result).into_owned()));
    }
    Ran::ok(output(result))
}

/// A `CallToolResult` as the model gets it, if its content is not kept whole: a bad one has the note instead of its content and
/// its data, and one that is too long loses its data and the end of its texts. `typed` if the tool declares its results. `None`
/// if the content is kept, or the result is not written like one.
pub fn present_result<'v>(
    result: &Value<'v>,
    presented: &Presented<'_>,
    typed: bool,
) -> Option<Value<'v>> {
    let has_data = result
        .get("structuredContent")
        .is_some_and(|data| *data != Value::Null);
    let mut content = match presented.content {
        Content::Kept(_) => return None,
        Content::Withheld => Vec::new(),
        // The data is what was judged and cut, and what the model would have got; the texts beside it repeat it.
        Content::Cut(..) if has_data => {
            vec![text_block(presented.content_text()?.into_owned())]
        }
        Content::Cut(_, bytes) => {
            let blocks = result.get("content").and_then(Value::as_array)?;
            let mut left = bytes;
            blocks
                .iter()
                .map(|block| cut_texts(block, &mut left))
                .collect()
        }
    };
    content.extend(presented.note.clone().map(text_block));
    // Clients insist on the data of a tool that declares its results, unless the result is an error.
    let is_error = presented.is_error || (typed && has_data);
    let kept = result
        .as_object()?
        .iter()
        .filter(|(key, _)| !matches!(key.as_ref(), "content" | "structuredContent" | "isError"));
    let placed = [
        ("content".into(), Value::Array(content)),
        ("isError".into(), Value::Bool(is_error)),
    ];
    Some(Value::Object(
        placed.into_iter().chain(kept.cloned()).collect(),
    ))
}

fn text_block<'v>(content: String) -> Value<'v> {
    object([("type", text("text")), ("text", text(content))])
}

/// A block of content with at most so many bytes of its text, also inside an embedded resource. Media are left alone.
fn cut_texts<'v>(block: &Value<'v>, left: &mut usize) -> Value<'v> {
    let Value::Object(members) = block else {
        return block.clone();
    };
    let cut = members.iter().map(|(key, member)| {
        let member = match (key.as_ref(), member) {
            ("text", Value::String(text)) => {
                let kept = first_bytes(text, *left);
                *left -= kept.len();
                Value::String(kept.to_owned().into())
            }
            ("resource", resource) => cut_texts(resource, left),
            (_, member) => member.clone(),
        };
        (key.clone(), member)
    });
    Value::Object(cut.collect())
}

/// Whether a value has the members of a `CallToolResult`.
pub(super) fn is_result(value: &Value<'_>) -> bool {
    value.get("structuredContent").is_some() || value.get("content").is_some()
}

/// The content of a `CallToolResult`: its structured content, which is what an output schema describes, or its text; any other
/// value unchanged.
pub(super) fn output<'v>(result: &'v Value<'_>) -> Output<'v> {
    let structured = result.get("structuredContent");
    if let Some(structured) = structured.filter(|structured| **structured != Value::Null) {
        return Output::Value(structured.clone());
    }
    let Some(content) = result.get("content").and_then(Value::as_array) else {
        return Output::Value(result.clone());
    };
    match content {
        [block] if block.get("type").and_then(Value::as_str) == Some("text") => {
            match block.get("text").and_then(Value::as_str) {
                Some(text) => Output::from(text),
                None => Output::Value(result.clone()),
            }
        }
        _ => Output::Value(without_media(result)),
    }
}

/// Media longer than this are represented by their digest, which is enough to tell two results apart and keeps half a megabyte
/// of picture out of the text. Real pictures are longer; shorter content costs nothing as it is.
const LONGEST_MEDIA: usize = 1_024;

/// A copy of a result with its media replaced by digests.
fn without_media<'v>(value: &Value<'v>) -> Value<'v> {
    let Value::Object(members) = value else {
        return value.clone();
    };
    let shortened = members.iter().map(|(key, member)| {
        let member = match (key.as_ref(), member) {
            ("data" | "blob", Value::String(media)) if media.len() > LONGEST_MEDIA => {
                Value::String(Digest::of(media).to_string().into())
            }
            ("content", Value::Array(blocks)) => {
                Value::Array(blocks.iter().map(without_media).collect())
            }
            ("resource", resource) => without_media(resource),
            (_, member) => member.clone(),
        };
        (key.clone(), member)
    });
    Value::Object(shortened.collect())
}
