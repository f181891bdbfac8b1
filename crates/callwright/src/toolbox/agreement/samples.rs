//! A schema → a bounded, fixed list of values that it might accept.
//!
//! Each place of the schema gives a list of values, the usual one first. Containers take the usual values of
//! their parts and vary one part at a time, so the number of samples grows with the size of the schema
//! and not with its power: all properties, only the required ones, each optional one left out, each other
//! value of each property, each branch of each union. A place for which no value is found (a pattern that
//! we cannot satisfy, a recursion that goes too deep) gives none, and is left out where it may be.
//! Keywords that relate parts to each other are not looked at: the validator sorts out what does not fit.

use serde_json::{Map, Value as Schema, json};

use super::{objects, scalars};

/// How many samples are tried. Registering a tool may cost a millisecond or two; a sample of some ten values
/// costs some microseconds to make, to judge and to read.
const MOST_SAMPLES: usize = 256;

/// How many values the samples of one object may hold together, for schemas of hundreds of properties.
const MOST_VALUES: usize = 20_000;

/// How many values one place inside of another may give: a long `enum` has some dozens.
pub(super) const MOST_PER_PLACE: usize = 64;

/// How often a reference is followed inside of what a reference led to: once to see the recursion, once to
/// see it end.
const MOST_REFERENCES: usize = 2;

/// How deep schemas may stand inside each other before no values are made; the reader of calls takes 100
/// levels, and no type written by hand has twenty.
const MOST_LEVELS: usize = 20;

/// Values that a schema might accept, the usual one first.
pub(super) fn samples(schema: &Schema) -> Vec<Schema> {
    let place = Place {
        root: schema,
        references_left: MOST_REFERENCES,
        levels_left: MOST_LEVELS,
        most: MOST_SAMPLES,
    };
    place.values(schema, None)
}

/// How many values stand in a value.
fn size(value: &Schema) -> usize {
    1 + match value {
        Schema::Array(items) => items.iter().map(size).sum(),
        Schema::Object(members) => members.values().map(size).sum(),
        _ => 0,
    }
}

/// How far we are in a schema.
#[derive(Clone, Copy)]
pub(super) struct Place<'s> {
    root: &'s Schema,
    references_left: usize,
    levels_left: usize,
    /// How many values this place may give.
    pub(super) most: usize,
}

impl<'s> Place<'s> {
    /// How many objects like this one the place may give.
    pub(super) fn most_like(self, usual: &Schema) -> usize {
        self.most.min(MOST_VALUES / size(usual)).max(2)
    }

    /// The values of a part of this place.
    pub(super) fn part(self, schema: &'s Schema) -> Vec<Schema> {
        let place = Place {
            most: MOST_PER_PLACE,
            ..self
        };
        place.values(schema, None)
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
        let place = Place {
            levels_left,
            ..self
        };
        let mut values: Vec<Schema> = named(members).take(self.most).cloned().collect();
        if !members.contains_key("enum") && !members.contains_key("const") {
            values.extend(place.made(members, kind));
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
            let further = Place {
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
            "integer" => scalars::numbers(members, true),
            "number" => scalars::numbers(members, false),
            "string" => scalars::strings(members),
            "array" => objects::arrays(self, members),
            "object" => objects::objects(self, members),
            _ => Vec::new(),
        }
    }
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
pub(super) fn in_turns(lists: &[Vec<Schema>]) -> Vec<Schema> {
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
