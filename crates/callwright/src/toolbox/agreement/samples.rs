//! A schema → a bounded, fixed list of values that it might accept.
//!
//! Each place in the schema gives a list of values, the usual one first. Containers take the usual values of
//! their parts and vary one part at a time, so the number of samples grows with the size of the schema and not
//! exponentially: all properties, only the required ones, each optional one left out, each other value of each property,
//! each branch of each union. A place for which no value is found (a pattern that we cannot satisfy, a recursion
//! that goes too deep) gives none, and is left out where it may be. Keywords that relate parts to each other are
//! ignored: the validator sorts out what does not fit.

use serde_json::{Map, Value as Schema, json};

use super::scalars::{matching, numbers, strings};

/// How many samples are tried. Registering a tool may cost a millisecond or two; a sample of some ten values
/// costs some microseconds to make, to judge and to read.
const MOST_SAMPLES: usize = 256;

/// How many values the samples of one object may hold together, for schemas with hundreds of properties.
const MOST_VALUES: usize = 20_000;

/// How many values one place inside of another may give: a long `enum` has some dozens.
const MOST_PER_PLACE: usize = 64;

/// How often a reference is followed inside of another's target: once to see the recursion, once to see it end.
const MOST_REFERENCES: usize = 2;

/// How deep schemas may be nested before no values are made; the reader of calls takes 100 levels, and no type
/// written by hand has twenty.
const MOST_LEVELS: usize = 20;

/// How many items an array is filled with at most, if it must have many.
const MOST_ITEMS: usize = 64;

/// The key that is made up for a map.
const MADE_UP_KEY: &str = "some_key";

/// Values that a schema might accept, the usual one first.
pub(super) fn samples(schema: &Schema) -> Vec<Schema> {
    let sampler = Sampler {
        root: schema,
        references_left: MOST_REFERENCES,
        levels_left: MOST_LEVELS,
        most: MOST_SAMPLES,
    };
    sampler.values(schema, None)
}

/// How many values an object consists of.
fn size_of_object(members: &Map<String, Schema>) -> usize {
    fn size(value: &Schema) -> usize {
        match value {
            Schema::Array(items) => 1 + items.iter().map(size).sum::<usize>(),
            Schema::Object(members) => size_of_object(members),
            _ => 1,
        }
    }
    1 + members.values().map(size).sum::<usize>()
}

/// Makes values for one place in a schema.
#[derive(Clone, Copy)]
struct Sampler<'s> {
    root: &'s Schema,
    references_left: usize,
    levels_left: usize,
    /// How many values this place may give.
    most: usize,
}

impl<'s> Sampler<'s> {
    /// The values of a part of this place.
    fn part(self, schema: &'s Schema) -> Vec<Schema> {
        let sampler = Sampler {
            most: MOST_PER_PLACE,
            ..self
        };
        sampler.values(schema, None)
    }

    /// The values of a schema. `kind` is what the schema around it says about its type, if it has a say.
    fn values(self, schema: &'s Schema, kind: Option<&'s Schema>) -> Vec<Schema> {
        let members = match schema {
            Schema::Object(members) => members,
            Schema::Bool(true) => return anything(),
            _ => return Vec::new(),
        };
        let Some(levels_left) = self.levels_left.checked_sub(1) else {
            return Vec::new();
        };
        let sampler = Sampler {
            levels_left,
            ..self
        };
        let mut values: Vec<Schema> = named(members).take(self.most).cloned().collect();
        if !members.contains_key("enum") && !members.contains_key("const") {
            values.extend(sampler.made(members, kind));
        }
        let mut distinct: Vec<Schema> = Vec::with_capacity(values.len().min(self.most));
        for value in values {
            // To compare large values costs more than to try one of them twice.
            let is_large = value.is_object() || value.is_array();
            if distinct.len() < self.most && (is_large || !distinct.contains(&value)) {
                distinct.push(value);
            }
        }
        distinct
    }

    /// The values that we make up.
    fn made(self, members: &'s Map<String, Schema>, kind: Option<&'s Schema>) -> Vec<Schema> {
        let kind = members.get("type").or(kind);
        let mut parts = Vec::new();
        if let Some(branches) = members.get("allOf").and_then(Schema::as_array) {
            parts.extend(branches.iter().map(|branch| self.values(branch, kind)));
        }
        for union in ["anyOf", "oneOf"] {
            if let Some(branches) = members.get(union).and_then(Schema::as_array) {
                let each: Vec<_> = branches
                    .iter()
                    .map(|branch| self.values(branch, kind))
                    .collect();
                parts.push(in_turns(&each));
            }
        }
        if let Some(target) = self.target(members) {
            let further = Sampler {
                references_left: self.references_left.saturating_sub(1),
                ..self
            };
            parts.push(match self.references_left {
                0 => Vec::new(),
                _ => further.values(target, kind),
            });
        }
        let own = self.of_kind(members, kind);
        if !own.is_empty() || parts.is_empty() {
            parts.insert(0, own);
        }
        combined(parts)
    }

    /// Where a local reference leads.
    fn target(self, members: &Map<String, Schema>) -> Option<&'s Schema> {
        let reference = members.get("$ref")?.as_str()?;
        self.root.pointer(reference.strip_prefix('#')?)
    }

    /// The values of the types that a schema names, or that its keywords are about.
    fn of_kind(self, members: &'s Map<String, Schema>, kind: Option<&'s Schema>) -> Vec<Schema> {
        match kind {
            Some(Schema::String(kind)) => self.of_one_kind(members, kind),
            Some(Schema::Array(kinds)) => {
                let kinds = kinds.iter().filter_map(Schema::as_str);
                let each: Vec<_> = kinds.map(|kind| self.of_one_kind(members, kind)).collect();
                in_turns(&each)
            }
            _ => match implied_kind(members) {
                Some(kind) => self.of_one_kind(members, kind),
                None if is_open(members) => anything(),
                None => Vec::new(),
            },
        }
    }

    fn of_one_kind(self, members: &'s Map<String, Schema>, kind: &str) -> Vec<Schema> {
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

    /// Arrays: one item, none, each other item.
    fn arrays(self, members: &'s Map<String, Schema>) -> Vec<Schema> {
        let fewest = members.get("minItems").and_then(Schema::as_u64);
        let Some(fewest) = usize::try_from(fewest.unwrap_or(0))
            .ok()
            .filter(|fewest| *fewest <= MOST_ITEMS)
        else {
            return Vec::new();
        };
        let leading = members.get("prefixItems").and_then(Schema::as_array);
        let leading = leading.into_iter().flatten();
        let leading: Vec<Vec<Schema>> = leading.map(|item| self.part(item)).collect();
        let mut arrays = Vec::new();
        if leading.is_empty() {
            let items = match members.get("items") {
                Some(items) => self.part(items),
                None => vec!["text".into()],
            };
            for first in 0..items.len() {
                // Different items, in case they must be.
                let rest = items.iter().cycle().skip(first).take(fewest.max(1));
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
        arrays.truncate(self.most);
        arrays
    }

    /// Objects: all properties, only the required ones, each optional one left out, each other value of each.
    fn objects(self, members: &'s Map<String, Schema>) -> Vec<Schema> {
        let Some(properties) = self.properties(members) else {
            return Vec::new();
        };
        let usual = |keeps: fn(&Property) -> bool| -> Map<String, Schema> {
            let kept = properties.iter().filter(|property| keeps(property));
            kept.map(|property| (property.key.clone(), property.values[0].clone()))
                .collect()
        };
        let all = usual(|property| !property.made_up);
        let most = self.most.min(MOST_VALUES / size_of_object(&all)).max(2);
        let mut objects = vec![all.clone(), usual(|property| property.required)];
        let optional = properties
            .iter()
            .filter(|property| !property.required && !property.made_up);
        objects.extend(optional.take(most).map(|left_out| {
            let mut rest = all.clone();
            rest.shift_remove(&left_out.key);
            rest
        }));
        let longest = properties.iter().map(|property| property.values.len());
        let other_values = (0..longest.max().unwrap_or(0)).flat_map(|turn| {
            let varied = properties
                .iter()
                .filter(move |property| turn > 0 || property.made_up);
            varied.filter_map(move |property| Some((&property.key, property.values.get(turn)?)))
        });
        let room = most.saturating_sub(objects.len());
        objects.extend(other_values.take(room).map(|(key, value)| {
            let mut varied = all.clone();
            varied.insert(key.clone(), value.clone());
            varied
        }));
        objects.into_iter().map(Schema::Object).collect()
    }

    /// The properties for which there are values, those with made-up texts last: a type reads the keys in the
    /// order of the object and stops at its first objection, which may be its own against such a text.
    /// `None` if a required property has none.
    fn properties(self, members: &'s Map<String, Schema>) -> Option<Vec<Property>> {
        let required = members.get("required").and_then(Schema::as_array);
        let is_required =
            |key: &str| required.is_some_and(|keys| keys.iter().any(|one| one == key));
        let declared = members.get("properties").and_then(Schema::as_object);
        let declared = declared
            .into_iter()
            .flatten()
            .map(|(key, schema)| Property {
                key: key.clone(),
                values: self.part(schema),
                required: is_required(key),
                made_up: false,
            });
        let made_up = made_up_keys(members)
            .into_iter()
            .map(|(key, schema)| Property {
                key,
                values: self.part(schema),
                required: false,
                made_up: true,
            });
        let mut properties: Vec<Property> = declared.chain(made_up).collect();
        if properties
            .iter()
            .any(|property| property.required && property.values.is_empty())
        {
            return None;
        }
        properties.retain(|property| !property.values.is_empty());
        properties.sort_by_key(|property| property.values[0].is_string());
        Some(properties)
    }
}

/// A property and the values that it may have.
struct Property {
    key: String,
    values: Vec<Schema>,
    required: bool,
    /// Its key is not one that the schema names. It is tried, and not usual.
    made_up: bool,
}

/// Made-up keys, where the schema describes the values of keys that it does not name. Where it does not, such keys mean
/// nothing.
fn made_up_keys(members: &Map<String, Schema>) -> Vec<(String, &Schema)> {
    let other = members.get("additionalProperties");
    let other = other.filter(|schema| schema.is_object());
    let other = other.map(|schema| (MADE_UP_KEY.to_owned(), schema));
    let patterns = members.get("patternProperties").and_then(Schema::as_object);
    let patterns = patterns.into_iter().flatten();
    let matching = patterns.filter_map(|(pattern, schema)| {
        let key = matching(&json!(pattern), 0).into_iter().next()?;
        Some((key, schema))
    });
    other.into_iter().chain(matching).collect()
}

/// The values that a schema names.
fn named(members: &Map<String, Schema>) -> impl Iterator<Item = &Schema> {
    let lists = ["enum", "examples"].map(|key| members.get(key).and_then(Schema::as_array));
    let single = ["const", "default"].map(|key| members.get(key));
    let lists = lists.into_iter().flatten().flatten();
    single.into_iter().flatten().chain(lists)
}

fn implied_kind(members: &Map<String, Schema>) -> Option<&'static str> {
    const IMPLIED: [(&str, &str); 10] = [
        ("properties", "object"),
        ("required", "object"),
        ("additionalProperties", "object"),
        ("items", "array"),
        ("prefixItems", "array"),
        ("pattern", "string"),
        ("format", "string"),
        ("minLength", "string"),
        ("minimum", "number"),
        ("maximum", "number"),
    ];
    let implied = IMPLIED.iter().find(|(key, _)| members.contains_key(*key));
    implied.map(|(_, kind)| *kind)
}

/// Whether a schema leaves open what a value is.
fn is_open(members: &Map<String, Schema>) -> bool {
    let says_it = ["anyOf", "oneOf", "allOf", "$ref", "$dynamicRef"];
    !says_it.iter().any(|key| members.contains_key(*key))
}

/// One value of each kind.
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

/// First the usual value of each list, then the second of each, and so on, so that a bound on their number
/// cuts no list off.
fn in_turns(lists: &[Vec<Schema>]) -> Vec<Schema> {
    let longest = lists.iter().map(Vec::len).max().unwrap_or(0);
    let turn = |at| {
        lists
            .iter()
            .filter_map(move |list: &Vec<Schema>| list.get(at))
    };
    (0..longest).flat_map(turn).cloned().collect()
}

/// The values of several schemas that hold for the same place: objects are put together, of anything else
/// each is tried.
fn combined(mut parts: Vec<Vec<Schema>>) -> Vec<Schema> {
    let are_objects = |part: &Vec<Schema>| part.first().is_some_and(Schema::is_object);
    if parts.len() == 1 || !parts.iter().all(are_objects) {
        // A branch says more than what holds for all branches, so its values come first.
        parts.rotate_left(1);
        return in_turns(&parts);
    }
    let longest = parts.iter().map(Vec::len).max().unwrap_or(0);
    let mut values = Vec::new();
    for turn in 0..longest {
        for (varied, part) in parts.iter().enumerate() {
            let Some(value) = part.get(turn) else {
                continue;
            };
            let others = parts.iter().enumerate().filter(|(at, _)| *at != varied);
            let mut whole = Map::new();
            for members in others
                .filter_map(|(_, part)| part.first())
                .chain([value])
                .filter_map(Schema::as_object)
            {
                whole.extend(members.clone());
            }
            values.push(whole.into());
        }
    }
    values
}
