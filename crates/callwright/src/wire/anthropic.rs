//! Anthropic messages.

use super::{id, object, present, text, tool_name, value_arguments};
use crate::call::Call;
use crate::error::Error;
use crate::json::Value;

/// A `tool_use` block.
pub(super) fn read(mut value: Value<'_>) -> Result<Call<'_>, Error> {
    let tool = tool_name(&mut value, "name")?;
    let mut call = Call::new(tool, value_arguments(&mut value)?);
    call.id = present(&mut value, "id");
    Ok(call)
}

/// The `tool_use` block again.
pub(super) fn call<'v>(call: &'v Call<'_>, tool: &'v str, arguments: &'v Value<'_>) -> Value<'v> {
    object([
        ("type", text("tool_use")),
        ("id", id(call)),
        ("name", text(tool)),
        ("input", Some(arguments.clone())),
    ])
}

/// A `tool_result` block.
pub(super) fn result<'v>(call: &'v Call<'_>, content: String, is_error: bool) -> Value<'v> {
    object([
        ("type", text("tool_result")),
        ("tool_use_id", id(call)),
        ("content", text(content)),
        ("is_error", is_error.then_some(Value::Bool(true))),
    ])
}
