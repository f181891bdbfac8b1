//! What of a schema is shown with a change.

use callwright::json::Path;
use serde_json::{Map, Value as Json};

/// A part before and after: whole where it is small, else only the keywords that differ.
pub(super) fn excerpt(old: &Json, new: &Json, at: &Path) -> (Json, Json) {
    let part = |root: &Json| root.pointer(at.as_pointer()).cloned().unwrap_or_default();
    let (before, after) = (part(old), part(new));
    let large = ["properties", "$defs", "definitions"];
    if large.iter().all(|keyword| before.get(keyword).is_none()) {
        return (before, after);
    }
    let (Json::Object(before), Json::Object(after)) = (before, after) else {
        return (Json::Null, Json::Null);
    };
    (differing(&before, &after), differing(&after, &before))
}

/// The members that the other one does not have, or not so; of objects inside, only their members that differ.
fn differing(one: &Map<String, Json>, other: &Map<String, Json>) -> Json {
    let differs = |one: &Map<String, Json>, other: &Map<String, Json>| -> Map<String, Json> {
        let members = one.iter();
        let members = members.filter(|(key, value)| other.get(*key) != Some(*value));
        members
            .map(|(key, value)| (key.clone(), value.clone()))
            .collect()
    };
    let mut shown = differs(one, other);
    for (keyword, value) in &mut shown {
        if let (Json::Object(inner), Some(Json::Object(other))) = (&*value, other.get(keyword)) {
            *value = Json::Object(differs(inner, other));
        }
    }
    Json::Object(shown)
}
