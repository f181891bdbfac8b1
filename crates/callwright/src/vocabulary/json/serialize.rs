//! Writes values as JSON, digit for digit.

use std::fmt::{self, Write as _};

use serde::ser::{Serialize, Serializer};
use serde_json::value::RawValue;

use super::scan::plain_until;
use super::{Number, Value};
use crate::text::first_bytes;

impl Serialize for Value<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Value::Null => serializer.serialize_unit(),
            Value::Bool(yes) => serializer.serialize_bool(*yes),
            Value::Number(number) => number.serialize(serializer),
            Value::String(text) => serializer.serialize_str(text),
            Value::Array(items) => serializer.collect_seq(items),
            Value::Object(members) => {
                serializer.collect_map(members.iter().map(|(key, value)| (key, value)))
            }
        }
    }
}

impl Serialize for Number<'_> {
    /// 64-bit integers are written directly; every other literal is written as raw JSON, which `serde_json` copies byte for
    /// byte.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.as_i64() {
            // `-0` parses as 0, and would lose its sign.
            Some(small) if self.as_str() != "-0" => serializer.serialize_i64(small),
            _ => match serde_json::from_str::<&RawValue>(self.as_str()) {
                Ok(raw) => raw.serialize(serializer),
                Err(_) => serializer.serialize_f64(self.as_f64()),
            },
        }
    }
}

impl Value<'_> {
    /// The first `bytes` of the value as compact JSON, or a few less. The rest of a large value is not visited.
    pub(crate) fn json_beginning(&self, bytes: usize) -> String {
        let mut out = String::new();
        self.write_some_json(&mut out, bytes);
        out.truncate(first_bytes(&out, bytes).len());
        out
    }

    /// Appends the value as compact JSON.
    pub fn write_json(&self, out: &mut String) {
        self.write_some_json(out, usize::MAX);
    }

    /// Appends the value as compact JSON until there are at least `enough` bytes.
    fn write_some_json(&self, out: &mut String, enough: usize) {
        match self {
            Value::Null => out.push_str("null"),
            Value::Bool(true) => out.push_str("true"),
            Value::Bool(false) => out.push_str("false"),
            Value::Number(number) => out.push_str(number.as_str()),
            Value::String(text) => {
                let left = enough.saturating_sub(out.len());
                write_json_string(first_bytes(text, left), out);
            }
            Value::Array(items) => {
                out.push('[');
                for (at, item) in items.iter().enumerate() {
                    if out.len() >= enough {
                        return;
                    }
                    if at > 0 {
                        out.push(',');
                    }
                    item.write_some_json(out, enough);
                }
                out.push(']');
            }
            Value::Object(members) => {
                out.push('{');
                for (at, (key, value)) in members.iter().enumerate() {
                    if out.len() >= enough {
                        return;
                    }
                    if at > 0 {
                        out.push(',');
                    }
                    write_json_string(key, out);
                    out.push(':');
                    value.write_some_json(out, enough);
                }
                out.push('}');
            }
        }
    }
}

/// Appends a text as a JSON string.
pub(crate) fn write_json_string(text: &str, out: &mut String) {
    out.push('"');
    let bytes = text.as_bytes();
    let mut from = 0;
    loop {
        let at = plain_until(bytes, from);
        out.push_str(&text[from..at]);
        let Some(byte) = bytes.get(at) else { break };
        match byte {
            b'"' => out.push_str("\\\""),
            b'\\' => out.push_str("\\\\"),
            b'\n' => out.push_str("\\n"),
            b'\r' => out.push_str("\\r"),
            b'\t' => out.push_str("\\t"),
            0x08 => out.push_str("\\b"),
            0x0c => out.push_str("\\f"),
            control => {
                // Writing to a `String` cannot fail.
                let _ = write!(out, "\\u{control:04x}");
            }
        }
        from = at + 1;
    }
    out.push('"');
}

impl fmt::Display for Value<'_> {
    /// Compact JSON.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut out = String::new();
        self.write_json(&mut out);
        f.write_str(&out)
    }
}
