//! Generates values that fit a schema, with realistic words.

use serde_json::{Map, Value, json};

use super::random::Random;
use super::words;

/// How often a model passes an optional parameter.
const GIVEN: f64 = 0.4;

/// How often a value is the declared default: models copy what they read.
const DEFAULT: f64 = 0.25;

/// Generates values for one schema.
pub(crate) struct Values<'s> {
    root: &'s Value,
}

impl<'s> Values<'s> {
    pub(crate) fn of(root: &'s Value) -> Self {
        Values { root }
    }

    pub(crate) fn value(&self, random: &mut Random) -> Value {
        self.at(random, self.root, "", 0)
    }

    fn at(&self, random: &mut Random, schema: &Value, name: &str, depth: usize) -> Value {
        if let Some(pointer) = schema["$ref"].as_str() {
            let target = self.root.pointer(pointer.trim_start_matches('#'));
            return self.at(random, target.unwrap_or(&Value::Null), name, depth);
        }
        if let Some(value) = schema.get("const") {
            return value.clone();
        }
        let branches = schema["anyOf"].as_array().or(schema["oneOf"].as_array());
        if let Some(branches) = branches {
            // The first branch is the usual one; deep down it is always chosen, so that recursion ends soon.
            let first = depth > 2 || random.chance(0.7);
            let branch = if first {
                0
            } else {
                random.below(branches.len())
            };
            return self.at(random, &branches[branch], name, depth + 1);
        }
        if let Some(values) = schema["enum"].as_array() {
            return random.pick_early(values).clone();
        }
        let kind = match &schema["type"] {
            Value::Array(kinds) => random.pick_early(kinds).as_str(),
            kind => kind.as_str(),
        };
        match kind {
            Some("object") => self.object(random, schema, depth),
            Some("array") => self.list(random, schema, name, depth),
            Some("integer") => json!(integer(random, schema)),
            Some("number") => number(random, schema),
            Some("boolean") => json!(random.chance(0.5)),
            Some("string") => json!(string(random, schema, name)),
            Some("null") => Value::Null,
            _ => json!(random.below(1_000)),
        }
    }

    fn object(&self, random: &mut Random, schema: &Value, depth: usize) -> Value {
        let required = schema["required"].as_array();
        let is_required =
            |key: &str| required.is_some_and(|keys| keys.iter().any(|known| known == key));
        let mut members = Map::new();
        if let Some(properties) = schema["properties"].as_object() {
            for (key, schema) in properties {
                if is_required(key) || random.chance(GIVEN) {
                    members.insert(key.clone(), self.at(random, schema, key, depth + 1));
                }
            }
        } else {
            let of_values = &schema["additionalProperties"];
            for _ in 0..random.below(3) {
                let key = format!("x-{}", words::person(random));
                let value = if of_values.is_object() {
                    self.at(random, of_values, "", depth + 1)
                } else {
                    json!(words::sentence(random))
                };
                members.insert(key, value);
            }
        }
        Value::Object(members)
    }

    fn list(&self, random: &mut Random, schema: &Value, name: &str, depth: usize) -> Value {
        let least = schema["minItems"].as_u64().unwrap_or(0) as usize;
        let most = schema["maxItems"].as_u64().unwrap_or(4).min(4) as usize;
        let items = least + random.below(most.max(least) - least + 1);
        let mut list = Vec::with_capacity(items);
        for _ in 0..items {
            let item = self.at(random, &schema["items"], name, depth + 1);
            if schema["uniqueItems"] != json!(true) || !list.contains(&item) {
                list.push(item);
            }
        }
        Value::Array(list)
    }
}

fn integer(random: &mut Random, schema: &Value) -> i64 {
    if let Some(default) = schema["default"].as_i64()
        && random.chance(DEFAULT)
    {
        return default;
    }
    let least = schema["minimum"].as_i64().unwrap_or(0);
    let most = schema["maximum"].as_i64().unwrap_or(least + 50_000);
    match random.below(4) {
        // Models prefer round numbers and the bounds themselves.
        0 => [5, 10, 20, 50, 100, most][random.below(6)].clamp(least, most),
        1 => least + (most - least) / random.between(2, 40),
        _ => random.between(least, most),
    }
}

fn number(random: &mut Random, schema: &Value) -> Value {
    let least = schema["minimum"].as_f64().unwrap_or(0.0);
    let most = schema["maximum"].as_f64().unwrap_or(least + 2_000.0);
    let value = least + random.share() * (most - least);
    let rounded = (value * 100.0).round() / 100.0;
    json!(if rounded < least {
        least
    } else {
        rounded.min(most)
    })
}

fn string(random: &mut Random, schema: &Value, name: &str) -> String {
    let mut text = match (schema["format"].as_str(), schema["pattern"].as_str()) {
        (Some("date-time"), _) => words::date_time(random),
        (Some("date"), _) => words::date(random),
        (Some("uri"), _) => words::url(random),
        (Some("email"), _) => words::email(random),
        (_, Some(pattern)) => words::matching(random, pattern),
        _ => words::by_name(random, name),
    };
    if let Some(most) = schema["maxLength"].as_u64() {
        text.truncate(most as usize);
    }
    text
}
