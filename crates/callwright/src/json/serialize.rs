//! Out again, digit for digit.

use std::fmt;

use serde::ser::{Serialize, SerializeMap, SerializeSeq, Serializer};
use serde_json::value::RawValue;

use super::{Number, Value};

impl Serialize for Value<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Value::Null => serializer.serialize_unit(),
            Value::Bool(yes) => serializer.serialize_bool(*yes),
            Value::Number(number) => number.serialize(serializer),
            Value::String(text) => serializer.serialize_str(text),
            Value::Array(items) => {
                let mut seq = serializer.serialize_seq(Some(items.len()))?;
                for item in items {
                    seq.serialize_element(item)?;
                }
                seq.end()
            }
            Value::Object(members) => {
                let mut map = serializer.serialize_map(Some(members.len()))?;
                for (key, value) in members {
                    map.serialize_entry(key.as_ref(), value)?;
                }
                map.end()
            }
        }
    }
}

impl Serialize for Number<'_> {
    /// Integers of 64 bits go the plain way; every other literal goes as raw JSON, which
    /// `serde_json` writes byte for byte.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.as_i64() {
            // `-0` parses as 0, and would come out without its sign.
            Some(small) if self.as_str() != "-0" => serializer.serialize_i64(small),
            _ => match serde_json::from_str::<&RawValue>(self.as_str()) {
                Ok(raw) => raw.serialize(serializer),
                Err(_) => serializer.serialize_f64(self.as_f64()),
            },
        }
    }
}

impl fmt::Display for Value<'_> {
    /// Compact JSON.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // A tree of JSON values always serialises.
        f.write_str(&serde_json::to_string(self).map_err(|_| fmt::Error)?)
    }
}
