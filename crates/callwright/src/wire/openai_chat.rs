//! OpenAI chat completions.

use std::borrow::Cow;

use super::{each_key_once, id, object, present, text, text_arguments, tool_name};
use crate::call::Call;
use crate::error::Error;
use crate::json::Value;

/// An element of `tool_calls[]`.
pub(super) fn read(mut value: Value<'_>) -> Result<Call<'_>, Error> {
    let mut function = value.take("function").unwrap_or_default();
    each_key_once(&function)?;
    let tool = tool_name(&mut function, "name")?;
    let mut call = Call::new(tool, text_arguments(&mut function)?);
    call.id = present(&mut value, "id");
    Ok(call)
}

/// The element of `tool_calls[]` again.
pub(super) fn call<'v>(call: &'v Call<'_>, tool: &'v str, arguments: Cow<'v, str>) -> Value<'v> {
    object([
        ("id", id(call)),
        ("type", text("function")),
        (
            "function",
            Some(object([
                ("name", text(tool)),
                ("arguments", text(arguments)),
            ])),
        ),
    ])
}

/// A `tool` message. The shape has no flag for errors; the text says it.
pub(super) fn result<'v>(call: &'v Call<'_>, content: String) -> Value<'v> {
    object([
        ("role", text("tool")),
        ("tool_call_id", id(call)),
        ("content", text(content)),
    ])
}
