//! What the function of a dynamic tool takes and returns.

use std::borrow::Cow;

use crate::json::Value;
use crate::words::Output;

/// Arguments for a tool without a type: JSON in one form or another.
pub trait FromArguments: Send + Sized + 'static {
    /// Takes the validated arguments.
    fn from_arguments(arguments: &Value<'_>) -> Self;
}

impl FromArguments for Value<'static> {
    fn from_arguments(arguments: &Value<'_>) -> Self {
        arguments.clone().into_owned()
    }
}

/// Integers beyond 64 bits become floats here; a [`Value`] keeps them.
impl FromArguments for serde_json::Value {
    fn from_arguments(arguments: &Value<'_>) -> Self {
        serde_json::Value::from(arguments)
    }
}

/// The arguments as JSON text.
impl FromArguments for String {
    fn from_arguments(arguments: &Value<'_>) -> Self {
        arguments.to_string()
    }
}

/// What a tool without a type returns: JSON, text, or bytes that should be text.
pub trait IntoOutput: Send + 'static {
    /// Gives the output to be judged.
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
