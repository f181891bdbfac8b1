//! Gemini.

use super::{each_key_once, id, name, object, present, text, tool_name, value_arguments};
use crate::call::Call;
use crate::error::Error;
use crate::json::Value;

/// A part with a `functionCall`. Gemini numbers calls only in some of its APIs.
pub(super) fn read(mut value: Value<'_>) -> Result<Call<'_>, Error> {
    let mut function = value.take("functionCall").unwrap_or_default();
    each_key_once(&function)?;
    let tool = tool_name(&mut function, "name")?;
    let mut call = Call::new(tool, value_arguments(&mut function)?);
    call.id = present(&mut function, "id");
    Ok(call)
}

/// The part with the `functionCall` again.
pub(super) fn call<'v>(call: &'v Call<'_>, tool: &'v str, arguments: &'v Value<'_>) -> Value<'v> {
    object([(
        "functionCall",
        Some(object([
            ("id", id(call)),
            ("name", text(tool)),
            ("args", Some(arguments.clone())),
        ])),
    )])
}

/// A part with a `functionResponse`; an error stands under `error`, anything else under `output`.
pub(super) fn result<'v>(call: &'v Call<'_>, content: String, is_error: bool) -> Value<'v> {
    let key = if is_error { "error" } else { "output" };
    object([(
        "functionResponse",
        Some(object([
            ("id", id(call)),
            ("name", name(call)),
            ("response", Some(object([(key, text(content))]))),
        ])),
    )])
}
