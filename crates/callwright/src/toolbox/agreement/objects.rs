//! Arrays and objects that a schema might accept.

use serde_json::{Map, Value as Schema};

use super::samples::{Place, in_turns};
use super::scalars::matching;

/// The key that is made up for a map.
const MADE_UP_KEY: &str = "some_key";

/// How many items an array is filled with at most, if it must have many.
const MOST_ITEMS: usize = 64;

/// Arrays: one item, none, each other item.
pub(super) fn arrays(place: Place<'_>, members: &Map<String, Schema>) -> Vec<Schema> {
    let length = |key: &str| members.get(key).and_then(Schema::as_u64);
    let fewest = length("minItems")
        .and_then(|fewest| usize::try_from(fewest).ok())
        .unwrap_or(0);
    if fewest > MOST_ITEMS {
        return Vec::new();
    }
    let leading = members.get("prefixItems").and_then(Schema::as_array);
    let leading: Vec<Vec<Schema>> = leading
        .into_iter()
        .flatten()
        .map(|item| place.part(item))
        .collect();
    let mut arrays = Vec::new();
    if leading.is_empty() {
        let items = match members.get("items") {
            Some(items) => place.part(items),
            None => vec!["text".into()],
        };
        let count = fewest.max(1);
        for first in 0..items.len() {
            // Different items, in case they must be.
            let rest = items.iter().cycle().skip(first).take(count);
            arrays.push(Schema::Array(rest.cloned().collect()));
        }
    } else if leading.iter().all(|values| !values.is_empty()) {
        let usual: Vec<Schema> = leading.iter().map(|values| values[0].clone()).collect();
        let varied = leading.iter().enumerate().map(|(at, values)| {
            let with = |value: &Schema| {
                let mut items = usual.clone();
                items[at] = value.clone();
                Schema::Array(items)
            };
            values.iter().map(with).collect()
        });
        arrays = in_turns(&varied.collect::<Vec<_>>());
    }
    if fewest == 0 {
        arrays.insert(arrays.len().min(1), Schema::Array(Vec::new()));
    }
    arrays.truncate(place.most);
    arrays
}

/// A property and the values that it may have.
struct Property {
    key: String,
    values: Vec<Schema>,
    required: bool,
    /// Not one that the schema names. It is tried, and not usual.
    made_up: bool,
}

/// Objects: all properties, only the required ones, each optional one left out, each other value of each.
pub(super) fn objects(place: Place<'_>, members: &Map<String, Schema>) -> Vec<Schema> {
    let Some(properties) = properties(place, members) else {
        return Vec::new();
    };
    let all = object(properties.iter().filter(|property| !property.made_up));
    let most = place.most_like(&all);
    let required = object(properties.iter().filter(|property| property.required));
    let mut objects = vec![all.clone(), required];
    let optional = |property: &&Property| !property.required && !property.made_up;
    for left_out in properties.iter().filter(optional).take(most) {
        let mut rest = all.clone();
        if let Schema::Object(members) = &mut rest {
            members.shift_remove(&left_out.key);
        }
        objects.push(rest);
    }
    let longest = properties
        .iter()
        .map(|property| property.values.len())
        .max();
    'filled: for turn in 0..longest.unwrap_or(0) {
        for property in &properties {
            let is_usual = turn == 0 && !property.made_up;
            let Some(value) = property.values.get(turn).filter(|_| !is_usual) else {
                continue;
            };
            if objects.len() >= most {
                break 'filled;
            }
            let mut varied = all.clone();
            if let Schema::Object(members) = &mut varied {
                members.insert(property.key.clone(), value.clone());
            }
            objects.push(varied);
        }
    }
    objects
}

/// The usual values of some properties.
fn object<'p>(properties: impl Iterator<Item = &'p Property>) -> Schema {
    let usual = |property: &Property| {
        let value = property.values.first()?;
        Some((property.key.clone(), value.clone()))
    };
    Schema::Object(properties.filter_map(usual).collect())
}

/// The properties for which there are values, those with made-up texts last: a type reads the keys in the
/// order of the object and stops at its first objection, which may be its own against such a text.
/// `None` if a required property has none.
fn properties(place: Place<'_>, members: &Map<String, Schema>) -> Option<Vec<Property>> {
    let names = members.get("required").and_then(Schema::as_array);
    let required: Vec<&str> = names
        .into_iter()
        .flatten()
        .filter_map(Schema::as_str)
        .collect();
    let declared = members.get("properties").and_then(Schema::as_object);
    let mut properties = Vec::new();
    for (key, schema) in declared.into_iter().flatten() {
        let property = Property {
            key: key.clone(),
            values: place.part(schema),
            required: required.contains(&key.as_str()),
            made_up: false,
        };
        match (property.values.is_empty(), property.required) {
            (true, true) => return None,
            (true, false) => {}
            (false, _) => properties.push(property),
        }
    }
    for (key, schema) in made_up(members) {
        properties.push(Property {
            values: place.part(schema),
            key,
            required: false,
            made_up: true,
        });
    }
    properties.retain(|property| !property.values.is_empty());
    properties.sort_by_key(|property| property.values[0].is_string());
    Some(properties)
}

/// Keys of our own, where the schema says what stands under keys that it does not name. Where it says
/// nothing about them, they mean nothing.
fn made_up(members: &Map<String, Schema>) -> Vec<(String, &Schema)> {
    let other = members.get("additionalProperties");
    let other = other.filter(|schema| schema.is_object());
    let mut keys: Vec<(String, &Schema)> = Vec::new();
    keys.extend(other.map(|schema| (MADE_UP_KEY.to_owned(), schema)));
    let patterns = members.get("patternProperties").and_then(Schema::as_object);
    for (pattern, schema) in patterns.into_iter().flatten() {
        keys.extend(
            matching(pattern, 0)
                .into_iter()
                .take(1)
                .map(|key| (key, schema)),
        );
    }
    keys
}
