//! Combines several patches of one schema.
//!
//! Each was made for the schema as it is, so each gives one changed schema, and these are merged three-way. Changes
//! at different places are simply taken over; changes at the same place are joined if both only widen it.

use json_patch::{Patch, PatchOperation, patch as apply_patch};
use serde_json::{Map, Value as Json};

use super::node::one_or_list;
use crate::schema::SizeLimit;

/// Why patches cannot be combined.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Clash {
    /// The patch with this number was made for another schema.
    Changed(usize),
    /// The patches with these numbers contradict each other.
    Between(usize, usize),
}

/// Applies numbered patches to a schema.
pub(super) fn combined(schema: &Json, patches: &[(usize, Patch)]) -> Result<Json, Clash> {
    let mut all = schema.clone();
    let mut earlier: Vec<(usize, Json)> = Vec::new();
    for (number, patch) in patches {
        let mut own = schema.clone();
        apply_patch(&mut own, patch).map_err(|_| Clash::Changed(*number))?;
        let only_drops = (patch.iter())
            .all(|it| matches!(it, PatchOperation::Test(_) | PatchOperation::Remove(_)));
        let with = |ours: &Json| merged("", Some(schema), Some(ours), Some(&own), only_drops);
        let merged = with(&all).map_err(|Contradiction| {
            let clashes = |(_, other): &&(usize, Json)| with(other).is_err();
            let first = earlier.iter().find(clashes).or(earlier.last());
            Clash::Between(first.map_or(*number, |(first, _)| *first), *number)
        })?;
        // A schema that both sides have is never removed.
        all = merged.unwrap_or(all);
        earlier.push((*number, own));
    }
    Ok(all)
}

/// Two changes at one place that cannot be joined.
struct Contradiction;

/// The value of a keyword with the changes of both sides; `None` if it is gone.
fn merged(
    keyword: &str,
    base: Option<&Json>,
    ours: Option<&Json>,
    theirs: Option<&Json>,
    theirs_only_drops: bool,
) -> Result<Option<Json>, Contradiction> {
    if ours == theirs || theirs == base {
        return Ok(ours.cloned());
    }
    if ours == base {
        return Ok(theirs.cloned());
    }
    let (ours, theirs) = match (ours, theirs) {
        (Some(ours), Some(theirs)) => (ours, theirs),
        // A rule that is dropped is looser than one that is widened; a rule that moves elsewhere is not.
        (Some(_), None) if theirs_only_drops => return Ok(None),
        _ => return Err(Contradiction),
    };
    let none = Json::Object(Map::new());
    let base = match keyword {
        "properties" => Some(base.unwrap_or(&none)),
        _ => base,
    };
    let value = match (base, ours, theirs) {
        (Some(Json::Object(base)), Json::Object(ours), Json::Object(theirs)) => {
            let added = theirs.keys().filter(|key| !ours.contains_key(*key));
            let mut all = Map::new();
            for key in ours.keys().chain(added) {
                let sides = (base.get(key), ours.get(key), theirs.get(key));
                if let Some(value) = merged(key, sides.0, sides.1, sides.2, theirs_only_drops)? {
                    all.insert(key.clone(), value);
                }
            }
            Json::Object(all)
        }
        (_, ours, theirs) if keyword == "type" => types(ours, theirs).ok_or(Contradiction)?,
        (Some(Json::Array(base)), Json::Array(ours), Json::Array(theirs)) => {
            list(base, ours, theirs, theirs_only_drops)?
        }
        (None, Json::Array(ours), Json::Array(theirs)) if matches!(keyword, "enum" | "anyOf") => {
            list(&[], ours, theirs, theirs_only_drops)?
        }
        _ => {
            let limits = (ours.as_f64()).zip(theirs.as_f64());
            let limit = SizeLimit::of_keyword(keyword).zip(limits);
            let (limit, (our_limit, their_limit)) = limit.ok_or(Contradiction)?;
            let is_tighter = limit.is_tighter(our_limit, their_limit);
            if is_tighter { theirs } else { ours }.clone()
        }
    };
    Ok(Some(value))
}

/// A list from which both sides removed items, or which both changed or extended.
fn list(
    base: &[Json],
    ours: &[Json],
    theirs: &[Json],
    theirs_only_drops: bool,
) -> Result<Json, Contradiction> {
    let mut all = Vec::new();
    let mut added = theirs;
    if ours.len() < base.len() || theirs.len() < base.len() {
        let is_left = |item: &&Json| theirs.contains(item) || !base.contains(item);
        all.extend(ours.iter().filter(is_left).cloned());
    } else {
        for (at, item) in base.iter().enumerate() {
            let merged = merged(
                "",
                Some(item),
                ours.get(at),
                theirs.get(at),
                theirs_only_drops,
            )?;
            all.extend(merged);
        }
        all.extend(ours[base.len()..].iter().cloned());
        added = &theirs[base.len()..];
    }
    for item in added {
        if !base.contains(item) && !all.contains(item) {
            all.push(item.clone());
        }
    }
    Ok(Json::Array(all))
}

/// All types of both. A number may be an integer.
fn types(one: &Json, other: &Json) -> Option<Json> {
    let mut names: Vec<&str> = Vec::new();
    for side in [one, other] {
        let listed = match side {
            Json::Array(listed) => listed.as_slice(),
            single => std::slice::from_ref(single),
        };
        for name in listed {
            let name = name.as_str()?;
            if !names.contains(&name) {
                names.push(name);
            }
        }
    }
    if names.iter().any(|name| name.eq_ignore_ascii_case("number")) {
        names.retain(|name| !name.eq_ignore_ascii_case("integer"));
    }
    Some(one_or_list(&names))
}

#[cfg(test)]
mod tests {
    use super::super::patch::patch;
    use super::*;
    use serde_json::json;

    #[track_caller]
    fn becomes(base: &Json, changed: &[Json], expected: &Result<Json, Clash>) {
        let patches = changed.iter().map(|changed| patch(base, changed));
        let patches: Vec<(usize, Patch)> = patches.enumerate().collect();
        assert_eq!(combined(base, &patches), *expected);
    }

    #[test]
    fn what_only_widens_is_joined() {
        let base = json!({"type": "integer", "maximum": 9, "enum": [1], "required": ["a", "b"]});
        let changed = [
            json!({"type": ["integer", "null"], "maximum": 9, "enum": [1, 2], "required": ["b"]}),
            json!({"type": "number", "maximum": 30, "enum": [1, 3], "required": ["a"]}),
            json!({"type": "integer", "maximum": 20, "enum": [1, 2], "required": ["a", "b"]}),
        ];
        let all =
            json!({"type": ["null", "number"], "maximum": 30, "enum": [1, 2, 3], "required": []});
        becomes(&base, &changed, &Ok(all));
    }

    #[test]
    fn a_part_that_moves_is_not_changed_as_well() {
        let base = json!({"a": {"type": "array", "items": {"type": "string"}}});
        let changed = [
            json!({"a": {"anyOf": [{"type": "array", "items": {"type": "string"}}, {"type": "null"}]}}),
            json!({"a": {"type": "array", "items": {"type": ["string", "integer"]}}}),
        ];
        becomes(&base, &changed, &Err(Clash::Between(0, 1)));
    }

    #[test]
    fn a_rule_that_is_dropped_is_looser_than_one_that_is_widened() {
        let base = json!({"type": "string", "format": "date", "maxLength": 3});
        let changed = [
            json!({"type": "string", "format": "date", "maxLength": 5}),
            json!({"type": "string", "format": "date"}),
        ];
        let all = json!({"type": "string", "format": "date"});
        becomes(&base, &changed, &Ok(all));
    }

    #[test]
    fn a_patch_for_another_schema_is_named() {
        let base = json!({"maximum": 9});
        let patches = [(7, patch(&json!({"maximum": 8}), &json!({"maximum": 10})))];
        assert_eq!(combined(&base, &patches), Err(Clash::Changed(7)));
    }
}
