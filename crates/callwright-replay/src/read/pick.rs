//! Parts of JSON values, taken out without copying.

use callwright::json::Value;

/// Takes a member out of an object. The order of the others is not kept.
pub(super) fn take<'a>(value: &mut Value<'a>, key: &str) -> Option<Value<'a>> {
    match value {
        Value::Object(members) => {
            let at = members.iter().position(|(name, _)| name == key)?;
            Some(members.swap_remove(at).1)
        }
        _ => None,
    }
}

/// Takes a member that is not null.
pub(super) fn present<'a>(value: &mut Value<'a>, key: &str) -> Option<Value<'a>> {
    take(value, key).filter(|member| *member != Value::Null)
}
