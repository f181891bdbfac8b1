//! Single schemas, changed: each function takes a schema and gives one that accepts more.
//!
//! Every change here is looser by construction, wherever "more" below means "more" above; what is not (a branch more of a
//! `oneOf`) says so.

use serde_json::{Map, Value as Json, json};

use super::wish::Limit;

/// What stays outside when a schema becomes one of several alternatives: words for people, and what others refer to.
const OUTSIDE: [&str; 11] = [
    "$schema",
    "$id",
    "$defs",
    "definitions",
    "title",
    "description",
    "default",
    "examples",
    "deprecated",
    "readOnly",
    "writeOnly",
];

/// Above this, whole numbers are not exact.
const EXACT: f64 = 9_007_199_254_740_992.0;

/// A schema with another one as an alternative.
pub(super) fn wrapped(node: &Json, branch: &Json) -> Json {
    let Json::Object(members) = node else {
        return json!({"anyOf": [node, branch]});
    };
    let is_outside = |keyword: &String| OUTSIDE.contains(&keyword.as_str());
    let (outside, inside): (Map<_, _>, Map<_, _>) = members
        .clone()
        .into_iter()
        .partition(|(keyword, _)| is_outside(keyword));
    let mut outer = outside;
    outer.insert("anyOf".to_owned(), json!([inside, branch]));
    Json::Object(outer)
}

/// A union with a branch more.
pub(super) fn with_branch(node: &Json, union: &str, branch: Json) -> Option<Json> {
    let mut changed = node.clone();
    changed.get_mut(union)?.as_array_mut()?.push(branch);
    Some(changed)
}

/// The schema of all values of a type. `array of string` has a type for its items, `string as date` a format.
pub(super) fn of_type(name: &str, upper: bool) -> Json {
    let spelt = |name: &str| {
        if upper {
            name.to_uppercase()
        } else {
            name.to_owned()
        }
    };
    if let Some(format) = name.strip_prefix("string as ") {
        return json!({"type": spelt("string"), "format": format});
    }
    match name.strip_prefix("array of ") {
        Some(items) => json!({"type": spelt("array"), "items": {"type": spelt(items)}}),
        None if name.is_empty() => json!({}),
        None => json!({"type": spelt(name)}),
    }
}

/// The names of the types that a schema lists.
pub(super) fn type_names(node: &Json) -> Vec<&str> {
    match node.get("type") {
        Some(Json::String(name)) => vec![name],
        Some(Json::Array(names)) => names.iter().filter_map(Json::as_str).collect(),
        _ => Vec::new(),
    }
}

/// Whether the types of a schema are in capitals, as Gemini has them.
pub(super) fn is_upper(node: &Json) -> bool {
    let names = type_names(node);
    !names.is_empty()
        && names
            .iter()
            .all(|name| name.chars().all(char::is_uppercase))
}

/// A schema with a type more.
pub(super) fn with_type(node: &Json, name: &str) -> Option<Json> {
    let upper = is_upper(node);
    let spelt = |name: &str| {
        let plain = name.split(' ').next().unwrap_or(name);
        if upper {
            plain.to_uppercase()
        } else {
            plain.to_owned()
        }
    };
    let old = type_names(node);
    if old.is_empty() {
        return None;
    }
    let mut names: Vec<String> = old.iter().map(|name| (*name).to_owned()).collect();
    let integer = names.iter().position(|known| *known == spelt("integer"));
    match integer.filter(|_| name == "number") {
        Some(at) if names.contains(&spelt("number")) => {
            names.remove(at);
        }
        Some(at) => names[at] = spelt("number"),
        None if names.contains(&spelt(name)) => return None,
        None => names.push(spelt(name)),
    }
    let mut changed = node.clone();
    let members = changed.as_object_mut()?;
    let types = match &names[..] {
        [only] => json!(only),
        several => json!(several),
    };
    members.insert("type".to_owned(), types);
    if let Some(format) = name.strip_prefix("string as ")
        && !members.contains_key("format")
    {
        members.insert("format".to_owned(), json!(format));
    }
    if let Some(items) = name.strip_prefix("array of ")
        && !members.contains_key("items")
        && !members.contains_key("prefixItems")
    {
        members.insert("items".to_owned(), of_type(items, upper));
    }
    Some(changed)
}

/// A schema with more values, of a type that it may not have had.
pub(super) fn with_values(node: &Json, values: &[Json]) -> Option<Json> {
    let mut changed = node.clone();
    for value in values {
        let name = type_name(value);
        let known = type_names(&changed);
        let is_known = known.iter().any(|known| {
            known.eq_ignore_ascii_case(name)
                || (name == "integer" && known.eq_ignore_ascii_case("number"))
        });
        if !known.is_empty() && !is_known {
            changed = with_type(&changed, name)?;
        }
    }
    let members = changed.as_object_mut()?;
    if let Some(only) = members.remove("const") {
        members.insert("enum".to_owned(), json!([only]));
    }
    let listed = members.get_mut("enum")?.as_array_mut()?;
    for value in values {
        if !listed.contains(value) {
            listed.push(value.clone());
        }
    }
    Some(changed)
}

/// A schema with any value of the types of an enum.
pub(super) fn with_any_value(node: &Json, values: &[Json]) -> Option<Json> {
    let mut changed = with_values(node, values)?;
    let members = changed.as_object_mut()?;
    let listed = members.remove("enum")?;
    if !members.contains_key("type") {
        let mut names: Vec<&str> = listed.as_array()?.iter().map(type_name).collect();
        names.sort_unstable();
        names.dedup();
        let types = match &names[..] {
            [only] => json!(only),
            several => json!(several),
        };
        members.insert("type".to_owned(), types);
    }
    Some(changed)
}

/// The name of a value's type.
pub(super) fn type_name(value: &Json) -> &'static str {
    match value {
        Json::Null => "null",
        Json::Bool(_) => "boolean",
        Json::Number(number) if number.is_f64() => "number",
        Json::Number(_) => "integer",
        Json::String(_) => "string",
        Json::Array(_) => "array",
        Json::Object(_) => "object",
    }
}

/// A schema with a wider limit.
pub(super) fn with_limit(node: &Json, limit: Limit, most: bool, to: f64) -> Option<Json> {
    let keyword = limit.keyword(most);
    let exclusive = if most {
        "exclusiveMaximum"
    } else {
        "exclusiveMinimum"
    };
    let is_tighter = |value: &Json| {
        let value = number(value);
        value.is_some_and(|limit| if most { limit < to } else { limit > to })
    };
    let mut changed = node.clone();
    let members = changed.as_object_mut()?;
    let mut is_changed = false;
    if members.get(keyword).is_some_and(is_tighter) {
        members.insert(keyword.to_owned(), written(to));
        is_changed = true;
    }
    if limit == Limit::Number {
        match members.get(exclusive) {
            // Draft 4: the limit itself is excluded, too.
            Some(Json::Bool(true)) => {
                let stood = node.get(keyword).and_then(number)?;
                if is_changed || (stood - to).abs() < f64::EPSILON {
                    members.remove(exclusive);
                    is_changed = true;
                }
            }
            Some(value) => {
                let stood = number(value)?;
                if is_tighter(value) || (stood - to).abs() < f64::EPSILON {
                    members.remove(exclusive);
                    members.entry(keyword).or_insert_with(|| written(to));
                    is_changed = true;
                }
            }
            None => {}
        }
    }
    is_changed.then_some(changed)
}

/// A limit as a number; some programs write it as a text.
pub(super) fn number(value: &Json) -> Option<f64> {
    match value {
        Json::String(text) => text.parse().ok(),
        value => value.as_f64(),
    }
}

/// A number as a person would write it.
#[expect(clippy::cast_possible_truncation, reason = "whole and small enough")]
fn written(number: f64) -> Json {
    if number.fract() == 0.0 && number.abs() < EXACT {
        json!(number as i64)
    } else {
        json!(number)
    }
}

/// A schema without a keyword.
pub(super) fn without(node: &Json, keyword: &str) -> Option<Json> {
    let mut changed = node.clone();
    changed.as_object_mut()?.shift_remove(keyword)?;
    Some(changed)
}

/// A schema in which a keyword need not hold for texts that look otherwise.
pub(super) fn with_look(node: &Json, keyword: &str, patterns: &[String]) -> Option<Json> {
    let mut changed = node.clone();
    let members = changed.as_object_mut()?;
    let stood = members.shift_remove(keyword)?;
    let mut branches = vec![json!({keyword: stood})];
    branches.extend(patterns.iter().map(|pattern| json!({"pattern": pattern})));
    let either = json!({"anyOf": &branches});
    if let Some(all) = members.get_mut("allOf").and_then(Json::as_array_mut) {
        all.push(either);
    } else if members.contains_key("anyOf") {
        members.insert("allOf".to_owned(), json!([either]));
    } else {
        members.insert("anyOf".to_owned(), Json::Array(branches));
    }
    Some(changed)
}

/// An object in which a key need not be there.
pub(super) fn without_required(node: &Json, key: &str) -> Option<Json> {
    let mut changed = node.clone();
    let mut is_changed = false;
    if let Some(Json::Array(listed)) = changed.get_mut("required") {
        let before = listed.len();
        listed.retain(|name| name != key);
        is_changed = listed.len() < before;
        if listed.is_empty() && is_changed {
            changed.as_object_mut()?.shift_remove("required");
        }
    }
    // Draft 3 said it on the property.
    if let Some(Json::Object(property)) = changed
        .get_mut("properties")
        .and_then(|all| all.get_mut(key))
        && property.get("required") == Some(&Json::Bool(true))
    {
        property.shift_remove("required");
        is_changed = true;
    }
    is_changed.then_some(changed)
}

/// Whether an object must have a key.
pub(super) fn requires(node: &Json, key: &str) -> bool {
    let listed = node.get("required").and_then(Json::as_array);
    listed.is_some_and(|listed| listed.iter().any(|name| name == key))
        || node.pointer("/properties").is_some_and(|all| {
            let property = all.get(key);
            property.is_some_and(|property| property.get("required") == Some(&Json::Bool(true)))
        })
}

/// Whether an object may not have a key because it names all that there are.
pub(super) fn forbids(node: &Json, key: &str) -> bool {
    let is_closed = ["additionalProperties", "unevaluatedProperties"]
        .iter()
        .filter_map(|keyword| node.get(*keyword))
        .any(|rest| matches!(rest, Json::Bool(false)) || rest == "false");
    is_closed
        && node
            .get("properties")
            .is_none_or(|named| named.get(key).is_none())
}

/// An object with a key more.
pub(super) fn with_key(node: &Json, key: &str, schema: Json) -> Option<Json> {
    let mut changed = node.clone();
    let members = changed.as_object_mut()?;
    let properties = members
        .entry("properties")
        .or_insert_with(|| Json::Object(Map::new()));
    properties.as_object_mut()?.insert(key.to_owned(), schema);
    Some(changed)
}

/// An object with any key.
pub(super) fn with_any_key(node: &Json) -> Option<Json> {
    let mut changed = node.clone();
    let members = changed.as_object_mut()?;
    for keyword in ["additionalProperties", "unevaluatedProperties"] {
        if members.contains_key(keyword) {
            members.insert(keyword.to_owned(), Json::Bool(true));
        }
    }
    Some(changed)
}
