//! A schema → a bounded, deterministic list of values that it might accept.
//!
//! Each place in the schema yields a list of values, the most ordinary first. Containers take the ordinary values of their
//! parts and vary one part at a time, so the number of samples grows with the size of the schema and not exponentially: all
//! properties, only the required ones, each optional one left out, each other value of each property, each branch of each
//! union. A place without a value (a pattern that we cannot satisfy, a recursion that goes too deep) yields none, and is left
//! out where that is allowed. Keywords that relate parts to each other are ignored: the validator rejects samples that do not
//! fit.

use serde_json::{Value as Schema, json};

use super::scalars::{matching, numbers, strings};
use crate::toolbox::schema::SchemaMembers;

/// How many samples are tried. Registering a tool may cost a millisecond or two; a sample of about ten values takes a few
/// microseconds to make, validate and deserialise.
const MOST_SAMPLES: usize = 256;

/// How many bytes of JSON the samples of one object may take together, for schemas with hundreds of properties.
const MOST_BYTES: usize = 200_000;

/// How many values one nested place may yield: a long `enum` has a few dozen.
const MOST_PER_PLACE: usize = 64;

/// How often a reference is followed inside another's target: once to see the recursion, once to see it end.
const MOST_REFERENCES: usize = 2;

/// How deep schemas may be nested before no values are made; the parser takes 100 levels, and no hand-written type has twenty.
const MOST_LEVELS: usize = 20;

/// How many items an array is filled with at most if it requires many.
const MOST_ITEMS: u64 = 64;

/// The key that is made up for a map.
const MADE_UP_KEY: &str = "some_key";

/// Values that a schema might accept, the most ordinary first.
pub(super) fn samples(schema: &Schema) -> Vec<Schema> {
    let sampler = Sampler {
        root: schema,
        references_left: MOST_REFERENCES,
        levels_left: MOST_LEVELS,
        most: MOST_SAMPLES,
    };
    sampler.values(schema, None)
}

/// Makes values for one place in a schema.
#[derive(Clone, Copy)]
struct Sampler<'s> {
    root: &'s Schema,
    references_left: usize,
    levels_left: usize,
    /// How many values this place may yield.
    most: usize,
}

impl<'s> Sampler<'s> {
    /// The values of a part of this place.
    fn part(self, schema: &'s Schema) -> Vec<Schema> {
        let most = MOST_PER_PLACE;
        Sampler { most, ..self }.values(schema, None)
    }

    /// The values of a schema. `kind` is the type that the enclosing schema gives, if any.
    fn values(mut self, schema: &'s Schema, kind: Option<&'s Schema>) -> Vec<Schema> {
        let members = match schema {
            Schema::Object(members) if self.levels_left > 0 => members,
            Schema::Bool(true) => return anything(),
            _ => return Vec::new(),
        };
        self.levels_left -= 1;
        let single = ["const", "default"].map(|key| members.get(key));
        let lists = ["enum", "examples"].map(|key| list(members, key));
        let named = single
            .into_iter()
            .flatten()
            .chain(lists.into_iter().flatten());
        let mut values: Vec<Schema> = named.take(self.most).cloned().collect();
        if !members.contains_key("enum") && !members.contains_key("const") {
            values.extend(self.made(members, kind));
        }
        let mut distinct: Vec<Schema> = Vec::with_capacity(values.len().min(self.most));
        for value in values {
            // Comparing large values costs more than trying one of them twice.
            let is_large = value.is_object() || value.is_array();
            if distinct.len() < self.most && (is_large || !distinct.contains(&value)) {
                distinct.push(value);
            }
        }
        distinct
    }

    /// The made-up values.
    fn made(self, members: &'s SchemaMembers, kind: Option<&'s Schema>) -> Vec<Schema> {
        let kind = members.get("type").or(kind);
        let branches = |key| {
            list(members, key)
                .iter()
                .map(|branch| self.values(branch, kind))
        };
        let mut parts: Vec<_> = branches("allOf").collect();
        for union in ["anyOf", "oneOf"]
            .into_iter()
            .filter(|key| members.contains_key(*key))
        {
            parts.push(in_turns(&branches(union).collect::<Vec<_>>()));
        }
        let reference = members.get("$ref").and_then(Schema::as_str);
        let pointer = reference.and_then(|reference| reference.strip_prefix('#'));
        if let Some(target) = pointer.and_then(|pointer| self.root.pointer(pointer)) {
            let inside = self
                .references_left
                .checked_sub(1)
                .map(|references_left| Sampler {
                    references_left,
                    ..self
                });
            parts.push(inside.map_or_else(Vec::new, |inside| inside.values(target, kind)));
        }
        let own = self.of_kind(members, kind);
        if !own.is_empty() || parts.is_empty() {
            parts.insert(0, own);
        }
        combined(parts)
    }

    /// The values of the types that a schema names or that its keywords apply to.
    fn of_kind(self, members: &'s SchemaMembers, kind: Option<&'s Schema>) -> Vec<Schema> {
        match kind {
            Some(Schema::String(kind)) => self.of_one_kind(members, kind),
            Some(Schema::Array(kinds)) => {
                let kinds = kinds.iter().filter_map(Schema::as_str);
                let each: Vec<_> = kinds.map(|kind| self.of_one_kind(members, kind)).collect();
                in_turns(&each)
            }
            _ => match implied_kind(members) {
                Some("any") => anything(),
                Some(kind) => self.of_one_kind(members, kind),
                None => Vec::new(),
            },
        }
    }

    fn of_one_kind(self, members: &'s SchemaMembers, kind: &str) -> Vec<Schema> {
        match kind {
            "null" => vec![Schema::Null],
            "boolean" => vec![true.into(), false.into()],
            "integer" => numbers(members, true),
            "number" => numbers(members, false),
            "string" => strings(members),
            "array" => self.arrays(members),
            "object" => self.objects(members),
            _ => Vec::new(),
        }
    }

    /// Arrays: with one item, with none, with each other item.
    fn arrays(self, members: &'s SchemaMembers) -> Vec<Schema> {
        let fewest = members
            .get("minItems")
            .and_then(Schema::as_u64)
            .unwrap_or(0);
        let Some(fewest) = usize::try_from(fewest.min(MOST_ITEMS + 1))
            .ok()
            .filter(|fewest| *fewest as u64 <= MOST_ITEMS)
        else {
            return Vec::new();
        };
        let leading: Vec<Vec<Schema>> = list(members, "prefixItems")
            .iter()
            .map(|item| self.part(item))
            .collect();
        let usual: Option<Vec<&Schema>> = leading.iter().map(|values| values.first()).collect();
        let mut arrays: Vec<Schema> = match usual {
            Some(usual) if !usual.is_empty() => {
                let varied = leading.iter().enumerate().map(|(at, values)| {
                    let with = |value| {
                        let mut items = usual.clone();
                        items[at] = value;
                        items.into_iter().cloned().collect()
                    };
                    values.iter().map(with).collect()
                });
                in_turns(&varied.collect::<Vec<_>>())
            }
            Some(_) => {
                let items = members.get("items");
                let items = items.map_or_else(|| vec!["text".into()], |items| self.part(items));
                // Different items, in case they must be unique.
                let from = |first| items.iter().cycle().skip(first).take(fewest.max(1));
                let each = (0..items.len()).map(|first| from(first).cloned().collect());
                each.collect()
            }
            None => Vec::new(),
        };
        if fewest == 0 {
            arrays.insert(arrays.len().min(1), Schema::Array(Vec::new()));
        }
        arrays.truncate(self.most);
        arrays
    }

    /// Objects: with all properties, with only the required ones, with each optional one left out, with each other value of
    /// each.
    fn objects(self, members: &'s SchemaMembers) -> Vec<Schema> {
        let Some(properties) = self.properties(members) else {
            return Vec::new();
        };
        let usual = |keeps: fn(&Property) -> bool| -> SchemaMembers {
            let kept = properties.iter().filter(|property| keeps(property));
            kept.map(|property| (property.key.clone(), property.values[0].clone()))
                .collect()
        };
        let all = usual(|property| !property.made_up);
        let size = json!(all).to_string().len();
        let most = self.most.min(MOST_BYTES / size).max(2);
        let optional = properties.iter().filter(|it| !it.required && !it.made_up);
        let left_out = optional.take(most).map(|property| {
            let mut rest = all.clone();
            rest.shift_remove(&property.key);
            rest
        });
        let both = [all.clone(), usual(|property| property.required)];
        let mut objects: Vec<SchemaMembers> = both.into_iter().chain(left_out).collect();
        let room = most.saturating_sub(objects.len());
        let turns = properties.iter().map(|property| property.values.len());
        let others = (0..turns.max().unwrap_or(0)).flat_map(|turn| {
            let varied = properties.iter().filter(move |it| turn > 0 || it.made_up);
            varied.filter_map(move |it| Some((it.key.clone(), it.values.get(turn)?.clone())))
        });
        objects.extend(others.take(room).map(|other| {
            let mut varied = all.clone();
            varied.extend([other]);
            varied
        }));
        objects.into_iter().map(Schema::Object).collect()
    }

    /// The properties that have values, those with made-up texts last: a type reads the keys in object order and stops at its
    /// first objection, which may be its own objection to such a text. `None` if a required property has no value.
    fn properties(self, members: &'s SchemaMembers) -> Option<Vec<Property>> {
        let required = list(members, "required");
        let object = |key| {
            members
                .get(key)
                .and_then(Schema::as_object)
                .into_iter()
                .flatten()
        };
        let declared = object("properties").map(|(key, schema)| (key.clone(), schema, false));
        // Only if the schema describes the values of keys that it does not name; elsewhere such keys mean nothing.
        let other = members
            .get("additionalProperties")
            .filter(|schema| schema.is_object());
        let other = other.map(|schema| (MADE_UP_KEY.to_owned(), schema, true));
        let matching = object("patternProperties").filter_map(|(pattern, schema)| {
            Some((matching(pattern, 0).into_iter().next()?, schema, true))
        });
        let properties = declared.chain(other).chain(matching);
        let mut properties: Vec<Property> = properties
            .map(|(key, schema, made_up)| Property {
                required: !made_up && required.iter().any(|one| *one == key),
                values: self.part(schema),
                key,
                made_up,
            })
            .collect();
        if properties
            .iter()
            .any(|it| it.required && it.values.is_empty())
        {
            return None;
        }
        properties.retain(|property| !property.values.is_empty());
        properties.sort_by_key(|property| property.values[0].is_string());
        Some(properties)
    }
}

/// A property and its possible values.
struct Property {
    key: String,
    values: Vec<Schema>,
    required: bool,
    /// The schema does not name its key. It is tried, but not part of the ordinary value.
    made_up: bool,
}

/// A list in a schema; empty if there is none.
fn list<'s>(members: &'s SchemaMembers, key: &str) -> &'s [Schema] {
    members
        .get(key)
        .and_then(Schema::as_array)
        .map_or(&[], Vec::as_slice)
}

/// The type that a schema's keywords apply to if it names none; `None` if another schema decides.
fn implied_kind(members: &SchemaMembers) -> Option<&'static str> {
    let has = |keys: &[&str]| keys.iter().any(|key| members.contains_key(*key));
    Some(match () {
        () if has(&["properties", "required", "additionalProperties"]) => "object",
        () if has(&["items", "prefixItems"]) => "array",
        () if has(&["pattern", "format", "minLength"]) => "string",
        () if has(&["minimum", "maximum"]) => "number",
        () if has(&["anyOf", "oneOf", "allOf", "$ref", "$dynamicRef"]) => return None,
        () => "any",
    })
}

/// One value of each type.
fn anything() -> Vec<Schema> {
    vec![
        json!("text"),
        json!(1),
        json!(true),
        Schema::Null,
        json!([]),
        json!({}),
    ]
}

/// The first value of each list, then the second of each, and so on, so that a bound on the total cuts no list off.
fn in_turns(lists: &[Vec<Schema>]) -> Vec<Schema> {
    let longest = lists.iter().map(Vec::len).max().unwrap_or(0);
    let turn = |at| lists.iter().filter_map(move |list| list.get(at));
    (0..longest).flat_map(turn).cloned().collect()
}

/// The values of several schemas that apply to the same place: objects are merged, anything else is tried one by one.
fn combined(mut parts: Vec<Vec<Schema>>) -> Vec<Schema> {
    let are_objects = |part: &Vec<Schema>| part.first().is_some_and(Schema::is_object);
    if parts.len() > 1 && parts.iter().all(are_objects) {
        let usual: Vec<Schema> = parts.iter().map(|part| part[0].clone()).collect();
        for (varied, part) in parts.iter_mut().enumerate() {
            for value in part {
                let others = usual.iter().enumerate().filter(|(at, _)| *at != varied);
                let others = others.filter_map(|(_, other)| other.as_object());
                let mut whole: SchemaMembers = others
                    .flatten()
                    .map(|(key, value)| (key.clone(), value.clone()))
                    .collect();
                whole.extend(value.as_object().cloned().unwrap_or_default());
                *value = whole.into();
            }
        }
    } else {
        // A branch is more specific than what holds for all branches, so its values come first.
        parts.rotate_left(1);
    }
    in_turns(&parts)
}
