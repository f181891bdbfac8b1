//! callwright's own event lines, read back as the calls they describe, so that recordings can be replayed.
//!
//! The arguments are those that the model sent, not those that went to the tool, and the tool's name is the one that the model
//! used. `sent_as` tells a value from a text where nothing else does.

use super::{present, tool_name};
use crate::call::{Arguments, Call};
use crate::error::Error;
use crate::json::Value;

/// The member that only an event line has.
pub(super) const ARGUMENTS_SENT: &str = "arguments_sent";

pub(super) fn read(mut value: Value<'_>) -> Result<Call<'_>, Error> {
    let own_name = value.get("tool_sent").is_some();
    let tool = tool_name(&mut value, if own_name { "tool_sent" } else { "tool" })?;
    let as_value = value.get("sent_as").and_then(Value::as_str) == Some("value");
    let arguments = match value.take(ARGUMENTS_SENT) {
        Some(sent) if as_value => Arguments::Value(sent),
        None | Some(Value::Null) => Arguments::Absent,
        Some(Value::String(text)) => Arguments::Text(text),
        Some(sent) => Arguments::Value(sent),
    };
    let mut call = Call::new(tool, arguments);
    call.id = present(&mut value, "id");
    call.rescued = value
        .get("rescued")
        .and_then(Value::as_str)
        .and_then(crate::vocabulary::Notation::from_name);
    Ok(call)
}
