//! MCP.

use super::{each_key_once, id, not_a_call, object, text, tool_name, value_arguments};
use crate::call::Call;
use crate::error::Error;
use crate::json::Value;
use crate::text::quoted;
use crate::words::{Output, Ran, ToolFailure};

const METHOD: &str = "tools/call";

/// A `tools/call` request.
pub(super) fn read(mut value: Value<'_>) -> Result<Call<'_>, Error> {
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

/// The `tools/call` request again.
pub(super) fn call<'v>(call: &'v Call<'_>, tool: &'v str, arguments: &'v Value<'_>) -> Value<'v> {
    object([
        ("jsonrpc", text("2.0")),
        ("id", id(call)),
        ("method", text(METHOD)),
        (
            "params",
            Some(object([
                ("name", text(tool)),
                ("arguments", Some(arguments.clone())),
            ])),
        ),
    ])
}

/// A `CallToolResult`. Bad arguments are a result with `isError`, never a protocol error: only then
/// does the model see them.
pub(super) fn result<'v>(content: String, is_error: bool) -> Value<'v> {
    let block = object([("type", text("text")), ("text", text(content))]);
    object([
        ("content", Some(Value::Array(vec![block]))),
        ("isError", Some(Value::Bool(is_error))),
    ])
}

/// A `CallToolResult` with the data beside its text.
pub(super) fn with_structure<'v>(result: Value<'v>, structure: Option<Value<'v>>) -> Value<'v> {
    match (result, structure) {
        (Value::Object(mut members), Some(structure)) => {
            members.insert(1, ("structuredContent".into(), structure));
            Value::Object(members)
        }
        (result, _) => result,
    }
}

/// How a call went, from a `CallToolResult`: its structured content, which is what an output schema is about, its text, or
/// the error that it says it is.
pub fn read_result<'v>(result: &'v Value<'_>) -> Ran<'v> {
    if result.get("isError") == Some(&Value::Bool(true)) {
        return Ran::failed(ToolFailure::said(output(result).into_owned()));
    }
    Ran::ok(output(result))
}

/// Whether a value has what a `CallToolResult` has.
pub(super) fn is_result(value: &Value<'_>) -> bool {
    value.get("structuredContent").is_some() || value.get("content").is_some()
}

/// What a `CallToolResult` says: its structured content, which is what an output schema is about, or its text if it is
/// one; any other value as it is.
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
        _ => Output::Value(result.clone()),
    }
}
