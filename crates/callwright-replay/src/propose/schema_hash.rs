//! The hash by which a schema is recognised.

use serde_json::Value as Json;
use xxhash_rust::xxh3::xxh3_64;

/// A hash of a schema that does not depend on the order of its keys.
pub(super) fn schema_hash(schema: &Json) -> String {
    let mut text = String::new();
    write(schema, &mut text);
    format!("{:016x}", xxh3_64(text.as_bytes()))
}

fn write(value: &Json, text: &mut String) {
    match value {
        Json::Object(members) => {
            let mut keys: Vec<&String> = members.keys().collect();
            keys.sort_unstable();
            text.push('{');
            for key in keys {
                text.push_str(&Json::from(key.as_str()).to_string());
                text.push(':');
                if let Some(member) = members.get(key) {
                    write(member, text);
                }
                text.push(',');
            }
            text.push('}');
        }
        Json::Array(items) => {
            text.push('[');
            for item in items {
                write(item, text);
                text.push(',');
            }
            text.push(']');
        }
        leaf => text.push_str(&leaf.to_string()),
    }
}
