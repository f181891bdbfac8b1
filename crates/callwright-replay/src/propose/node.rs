//! Changes to single schemas: each function takes a schema and returns one that accepts more.
//!
//! Every change here is looser by construction wherever accepting more below means accepting more above, except for
//! one more branch of a `oneOf`.

use serde_json::{Map, Value as Json, json};

use super::relaxation::AddedType;
use crate::schema::SizeLimit;

/// What stays outside when a schema becomes one of several alternatives: text for people, and what others refer to.
const OUTSIDE: &str = "$schema $id $defs definitions title description default examples deprecated readOnly writeOnly";

/// Above this, whole numbers are not exact.
const EXACT: f64 = 9_007_199_254_740_992.0;

/// A schema with another one as an alternative.
pub(super) fn wrapped(node: &Json, branch: &Json) -> Json {
    let Json::Object(members) = node else {
        return json!({"anyOf": [node, branch]});
    };
    let is_outside = |keyword: &String| OUTSIDE.split(' ').any(|outside| outside == keyword);
    let (outside, inside): (Map<_, _>, Map<_, _>) = members
        .clone()
        .into_iter()
        .partition(|(keyword, _)| is_outside(keyword));
    let mut outer = outside;
    outer.insert("anyOf".to_owned(), json!([inside, branch]));
    Json::Object(outer)
}

/// A union with one more branch.
pub(super) fn with_branch(node: &Json, union: &str, branch: Json) -> Option<Json> {
    let mut changed = node.clone();
    changed.get_mut(union)?.as_array_mut()?.push(branch);
    Some(changed)
}

/// A schema that allows `null` the OpenAPI way.
pub(super) fn with_nullable(node: &Json) -> Json {
    let mut changed = node.clone();
    if let Some(members) = changed.as_object_mut() {
        members.insert("nullable".to_owned(), Json::Bool(true));
    }
    changed
}

/// The name of a type, in capitals as Gemini writes them, or not.
fn spelt(name: &str, upper: bool) -> String {
    if upper {
        name.to_uppercase()
    } else {
        name.to_owned()
    }
}

/// One name as a string, several as a list.
pub(super) fn one_or_list<T: Into<Json> + Clone>(names: &[T]) -> Json {
    match names {
        [only] => only.clone().into(),
        several => several.iter().cloned().map(Into::into).collect(),
    }
}

/// The schema of all values of a type.
pub(super) fn of_type(kind: &AddedType, upper: bool) -> Json {
    let name = spelt(kind.keyword(), upper);
    match kind {
        AddedType::Any => json!({}),
        AddedType::Formatted(format) => json!({"type": name, "format": format}),
        AddedType::ArrayOf(items) => json!({"type": name, "items": {"type": spelt(items, upper)}}),
        _ => json!({"type": name}),
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

/// Whether the types of a schema are in capitals, as Gemini writes them.
pub(super) fn is_upper(node: &Json) -> bool {
    let names = type_names(node);
    !names.is_empty()
        && names
            .iter()
            .all(|name| name.chars().all(char::is_uppercase))
}

/// A schema with one more type.
pub(super) fn with_type(node: &Json, kind: &AddedType) -> Option<Json> {
    let upper = is_upper(node);
    let mut names: Vec<String> = type_names(node).into_iter().map(str::to_owned).collect();
    if names.is_empty() {
        return None;
    }
    let (name, number) = (spelt(kind.keyword(), upper), spelt("number", upper));
    let integer = names
        .iter()
        .position(|known| *known == spelt("integer", upper));
    match integer.filter(|_| *kind == AddedType::Number) {
        Some(at) if names.contains(&number) => {
            names.remove(at);
        }
        Some(at) => names[at] = number,
        None if names.contains(&name) => return None,
        None => names.push(name),
    }
    let mut changed = node.clone();
    let members = changed.as_object_mut()?;
    members.insert("type".to_owned(), one_or_list(&names));
    match kind {
        AddedType::Formatted(format) if !members.contains_key("format") => {
            members.insert("format".to_owned(), json!(format));
        }
        AddedType::ArrayOf(items)
            if !members.contains_key("items") && !members.contains_key("prefixItems") =>
        {
            members.insert("items".to_owned(), json!({"type": spelt(items, upper)}));
        }
        _ => {}
    }
    Some(changed)
}

/// A schema with more values, of a type that it may not have had.
pub(super) fn with_values(node: &Json, values: &[Json]) -> Option<Json> {
    let mut changed = node.clone();
    for value in values {
        let kind = AddedType::of_value(value);
        let known = type_names(&changed);
        let is_known = known.iter().any(|known| {
            known.eq_ignore_ascii_case(kind.keyword())
                || (kind == AddedType::Integer && known.eq_ignore_ascii_case("number"))
        });
        if !known.is_empty() && !is_known {
            changed = with_type(&changed, &kind)?;
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

/// A schema with any value of an enum's types.
pub(super) fn with_any_value(node: &Json, values: &[Json]) -> Option<Json> {
    let mut changed = with_values(node, values)?;
    let members = changed.as_object_mut()?;
    let listed = members.remove("enum")?;
    if !members.contains_key("type") {
        let listed = listed.as_array()?.iter();
        let mut names: Vec<&str> = listed
            .map(|value| AddedType::of_value(value).keyword())
            .collect();
        names.sort_unstable();
        names.dedup();
        members.insert("type".to_owned(), one_or_list(&names));
    }
    Some(changed)
}

/// A schema with a wider limit.
pub(super) fn with_limit(node: &Json, limit: &SizeLimit, to: f64) -> Option<Json> {
    let keyword = limit.keyword;
    let is_tighter = |stated: f64| limit.is_tighter(stated, to);
    let mut changed = node.clone();
    let members = changed.as_object_mut()?;
    let stated = members.get(keyword).and_then(number);
    let mut is_changed = stated.is_some_and(is_tighter);
    if is_changed {
        members.insert(keyword.to_owned(), written(to));
    }
    let exclusive = match keyword {
        "maximum" => "exclusiveMaximum",
        "minimum" => "exclusiveMinimum",
        _ => "",
    };
    if !exclusive.is_empty() {
        let excludes = |stated: f64| (stated - to).abs() < f64::EPSILON;
        let is_in_the_way = match members.get(exclusive) {
            // Draft 4: the limit itself is excluded, too.
            Some(Json::Bool(true)) => is_changed || excludes(stated?),
            Some(value) => {
                let stated = number(value)?;
                is_tighter(stated) || excludes(stated)
            }
            None => false,
        };
        if is_in_the_way {
            members.remove(exclusive);
            members.entry(keyword).or_insert_with(|| written(to));
            is_changed = true;
        }
    }
    is_changed.then_some(changed)
}

/// A limit as a number; some programs write it as a string.
pub(super) fn number(value: &Json) -> Option<f64> {
    match value {
        Json::String(text) => text.parse().ok(),
        value => value.as_f64(),
    }
}

/// A number as people write it.
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

/// A schema in which a keyword need not hold for texts that match other patterns.
pub(super) fn with_look(node: &Json, keyword: &str, patterns: &[String]) -> Option<Json> {
    let mut changed = node.clone();
    let members = changed.as_object_mut()?;
    let stated = members.shift_remove(keyword)?;
    let mut branches = vec![json!({keyword: stated})];
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

/// An object in which a key may be missing.
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
    // Draft 3 stated it on the property.
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

/// Whether an object may not have a key because it names all allowed ones.
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

/// An object with one more key.
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
