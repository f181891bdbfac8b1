//! MCP.

use super::{id, name, not_a_call, object, text, tool_name, value_arguments};
use crate::call::Call;
use crate::error::Error;
use crate::json::Value;

const METHOD: &str = "tools/call";

/// A `tools/call` request.
pub(super) fn read(mut value: Value<'_>) -> Result<Call<'_>, Error> {
    let method = value.get("method").and_then(Value::as_str);
    if method != Some(METHOD) {
        let found = method.unwrap_or("no text");
        return Err(not_a_call(&format!(
            "the request's method is {}, not `{METHOD}`",
            crate::text::quoted(found, 40)
        )));
    }
    let mut params = value.take("params").unwrap_or_default();
    let tool = tool_name(&mut params, "name")?;
    let mut call = Call::new(tool, value_arguments(params.take("arguments")));
    call.id = value.take("id");
    Ok(call)
}

/// The `tools/call` request again.
pub(super) fn call<'v>(call: &'v Call<'_>, arguments: &'v Value<'_>) -> Value<'v> {
    object([
        ("jsonrpc", text("2.0")),
        ("id", id(call)),
        ("method", text(METHOD)),
        (
            "params",
            Some(object([
                ("name", name(call)),
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
