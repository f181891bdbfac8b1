//! What of a schema is shown with a change, and by what a schema is known again.

use callwright::json::Path;
use serde_json::{Map, Value as Json};
use xxhash_rust::xxh3::xxh3_64;

/// A part before and after: whole where it is small, else only the keywords that differ.
pub(super) fn shown(old: &Json, new: &Json, at: &Path) -> (Json, Json) {
    let part = |root: &Json| root.pointer(at.as_pointer()).cloned().unwrap_or_default();
    let (before, after) = (part(old), part(new));
    let is_small = before.get("properties").is_none()
        && before.get("$defs").is_none()
        && before.get("definitions").is_none();
    if is_small {
        return (before, after);
    }
    let mut shown = (Map::new(), Map::new());
    let (Json::Object(before), Json::Object(after)) = (before, after) else {
        return (Json::Null, Json::Null);
    };
    let is_changed = |keyword: &String| before.get(keyword) != after.get(keyword);
    let keywords = before.keys().chain(after.keys());
    for keyword in keywords.filter(|keyword| is_changed(keyword)) {
        let (old, new) = (before.get(keyword), after.get(keyword));
        if let (Some(Json::Object(old)), Some(Json::Object(new))) = (old, new) {
            let only_changed = |one: &Map<String, Json>, other: &Map<String, Json>| {
                let members = one
                    .iter()
                    .filter(|(key, value)| other.get(*key) != Some(*value));
                Json::Object(
                    members
                        .map(|(key, value)| (key.clone(), value.clone()))
                        .collect(),
                )
            };
            shown.0.insert(keyword.clone(), only_changed(old, new));
            shown.1.insert(keyword.clone(), only_changed(new, old));
            continue;
        }
        if let Some(old) = old {
            shown.0.insert(keyword.clone(), old.clone());
        }
        if let Some(new) = new {
            shown.1.insert(keyword.clone(), new.clone());
        }
    }
    (Json::Object(shown.0), Json::Object(shown.1))
}

/// A hash of a schema that does not depend on the order of its keys.
pub(super) fn hash(schema: &Json) -> String {
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
