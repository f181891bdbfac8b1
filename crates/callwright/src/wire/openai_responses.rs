//! OpenAI responses.

use std::borrow::Cow;

use super::{id, object, present, text, text_arguments, tool_name};
use crate::call::Call;
use crate::error::Error;
use crate::json::Value;

/// A `function_call` item.
pub(super) fn read(mut value: Value<'_>) -> Result<Call<'_>, Error> {
    let tool = tool_name(&mut value, "name")?;
    let mut call = Call::new(tool, text_arguments(&mut value)?);
    call.id = present(&mut value, "call_id").or_else(|| present(&mut value, "id"));
    Ok(call)
}

/// The `function_call` item again.
pub(super) fn call<'v>(call: &'v Call<'_>, tool: &'v str, arguments: Cow<'v, str>) -> Value<'v> {
    object([
        ("type", text("function_call")),
        ("call_id", id(call)),
        ("name", text(tool)),
        ("arguments", text(arguments)),
    ])
}

/// A `function_call_output` item. The shape has no flag for errors; the text says it.
pub(super) fn result<'v>(call: &'v Call<'_>, output: String) -> Value<'v> {
    object([
        ("type", text("function_call_output")),
        ("call_id", id(call)),
        ("output", text(output)),
    ])
}
