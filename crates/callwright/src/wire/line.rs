//! callwright's own call lines: `{"tool", "arguments", "id"?, "finish_reason"?}`.
//!
//! Also accepts `{"name", "arguments"}` and similar shapes, which models and older APIs write.

use super::{present, read_call, text_arguments, tool_name};
use crate::call::Call;
use crate::error::{Error, ErrorKind};
use crate::json::{Value, read_value};

/// Reads one line of JSON Lines: a call in any known shape.
///
/// # Errors
/// Fails if the line is not JSON or not a call; the error says which, and names the column.
pub fn read_line(line: &str) -> Result<Call<'_>, Error> {
    read_call(read_json(line)?)
}

/// Parses the JSON of a line.
pub(super) fn read_json(line: &str) -> Result<Value<'_>, Error> {
    read_value(line).map_err(|error| {
        let (_, column) = error.line_and_column(line);
        let reason = |text| crate::feedback::syntax_reason(&error, text);
        ErrorKind::CallNotJson {
            column,
            reason: reason(Some(line)),
            unquoted: reason(None),
        }
        .into()
    })
}

pub(super) fn read(mut value: Value<'_>) -> Result<Call<'_>, Error> {
    let own = value.get("tool").is_some() || value.get("name").is_none();
    let tool = tool_name(&mut value, if own { "tool" } else { "name" })?;
    let mut call = Call::new(tool, text_arguments(&mut value)?);
    call.id = present(&mut value, "id");
    Ok(call)
}
