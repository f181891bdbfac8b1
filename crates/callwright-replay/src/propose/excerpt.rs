//! The part of a schema that is shown with a change.

use callwright::json::Path;
use serde_json::Value as Json;

/// A part before and after. Unchanged definitions would only make it longer.
pub(super) fn excerpt(old: &Json, new: &Json, at: &Path) -> (Json, Json) {
    let part = |root: &Json| root.pointer(at.as_pointer()).cloned().unwrap_or_default();
    let (mut before, mut after) = (part(old), part(new));
    if let (Json::Object(before), Json::Object(after)) = (&mut before, &mut after) {
        for keyword in ["$defs", "definitions"] {
            if before.get(keyword) == after.get(keyword) {
                before.shift_remove(keyword);
                after.shift_remove(keyword);
            }
        }
    }
    (before, after)
}
