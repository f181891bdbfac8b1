//! What the function of a dynamic tool takes and returns.

use std::borrow::Cow;

use crate::json::{Path, Value};
use crate::vocabulary::{Output, ToolFailure};

/// Arguments of an untyped tool: JSON in one form or another.
pub trait FromArguments: Send + Sized + 'static {
    /// Takes the validated arguments.
    ///
    /// # Errors
    /// Fails if this form cannot represent them exactly; the tool does not run then.
    fn from_arguments(arguments: &Value<'_>) -> Result<Self, ToolFailure>;
}

impl FromArguments for Value<'static> {
    fn from_arguments(arguments: &Value<'_>) -> Result<Self, ToolFailure> {
        Ok(arguments.clone().into_owned())
    }
}

/// Integers beyond 64 bits are rejected: a rounded id would be a different id.
impl FromArguments for serde_json::Value {
    fn from_arguments(arguments: &Value<'_>) -> Result<Self, ToolFailure> {
        let Some(path) = wide_integer(arguments) else {
            return Ok(serde_json::Value::from(arguments));
        };
        let why = format!(
            "{path}: an integer beyond 64 bits does not fit into a `serde_json::Value`; take the arguments as a \
             `callwright::json::Value` or as a `String`"
        );
        let objection = "an integer of this size cannot be handled";
        Err(ToolFailure::defect(why).with_objection(path, objection))
    }
}

/// The path of the first integer that needs more than 64 bits.
fn wide_integer(value: &Value<'_>) -> Option<Path> {
    match value {
        Value::Number(number) => {
            let is_wide = number.is_written_as_integer()
                && number.as_u64().is_none()
                && number.as_i64().is_none();
            is_wide.then(Path::root)
        }
        Value::Array(items) => items.iter().enumerate().find_map(|(at, item)| {
            wide_integer(item).map(|inner| Path::root().index(at).join(&inner))
        }),
        Value::Object(members) => members.iter().find_map(|(key, member)| {
            wide_integer(member).map(|inner| Path::root().key(key).join(&inner))
        }),
        _ => None,
    }
}

/// The arguments as JSON text.
impl FromArguments for String {
    fn from_arguments(arguments: &Value<'_>) -> Result<Self, ToolFailure> {
        Ok(arguments.to_string())
    }
}

/// What an untyped tool returns: JSON, text, or bytes that should be text.
pub trait IntoOutput: Send + 'static {
    /// Returns the output to be judged.
    fn into_output(self) -> Output<'static>;
}

impl IntoOutput for Output<'static> {
    fn into_output(self) -> Output<'static> {
        self
    }
}

impl IntoOutput for Value<'static> {
    fn into_output(self) -> Output<'static> {
        Output::Value(self)
    }
}

impl IntoOutput for serde_json::Value {
    fn into_output(self) -> Output<'static> {
        Output::Value(Value::from(&self).into_owned())
    }
}

impl IntoOutput for String {
    fn into_output(self) -> Output<'static> {
        Output::Text(Cow::Owned(self))
    }
}

impl IntoOutput for &'static str {
    fn into_output(self) -> Output<'static> {
        Output::Text(Cow::Borrowed(self))
    }
}

impl IntoOutput for Vec<u8> {
    fn into_output(self) -> Output<'static> {
        Output::from_bytes(self)
    }
}
