//! The values and keys that a schema itself names, as opposed to those that we make up.

use serde_json::Value as Schema;

use crate::toolbox::schema::is_limit_of_a_type;

/// What stands in a schema.
#[derive(Debug, Default)]
pub(super) struct Declared<'s> {
    values: Vec<&'s Schema>,
    limits: Vec<f64>,
    keys: Vec<&'s str>,
}

impl<'s> Declared<'s> {
    pub(super) fn of(schema: &'s Schema) -> Self {
        let mut declared = Declared::default();
        declared.collect(schema);
        declared
    }

    /// Whether the schema names this value, or it is `null`, which a schema allows by name only.
    pub(super) fn has_value(&self, value: &Schema) -> bool {
        value.is_null()
            || self.values.contains(&value)
            || value
                .as_f64()
                .is_some_and(|number| self.limits.contains(&number))
    }

    pub(super) fn has_key(&self, key: &str) -> bool {
        self.keys.contains(&key)
    }

    fn collect(&mut self, schema: &'s Schema) {
        let Schema::Object(members) = schema else {
            return;
        };
        for (key, value) in members {
            match (key.as_str(), value) {
                ("const" | "default", value) => self.name(value),
                ("enum" | "examples", Schema::Array(values)) => {
                    for value in values {
                        self.name(value);
                    }
                }
                ("minimum" | "maximum", Schema::Number(limit)) if !is_limit_of_a_type(limit) => {
                    self.limits.extend(limit.as_f64());
                }
                ("exclusiveMinimum", Schema::Number(limit)) if !is_limit_of_a_type(limit) => {
                    self.limits.extend(limit.as_f64().map(|limit| limit + 1.0));
                }
                ("exclusiveMaximum", Schema::Number(limit)) if !is_limit_of_a_type(limit) => {
                    self.limits.extend(limit.as_f64().map(|limit| limit - 1.0));
                }
                (
                    "properties" | "patternProperties" | "$defs" | "definitions"
                    | "dependentSchemas",
                    Schema::Object(parts),
                ) => {
                    if key == "properties" {
                        self.keys.extend(parts.keys().map(String::as_str));
                    }
                    parts.values().for_each(|part| self.collect(part));
                }
                (_, Schema::Array(parts)) => parts.iter().for_each(|part| self.collect(part)),
                (_, part) => self.collect(part),
            }
        }
    }

    /// A named value, and everything in it.
    fn name(&mut self, value: &'s Schema) {
        self.values.push(value);
        match value {
            Schema::Array(items) => items.iter().for_each(|item| self.name(item)),
            Schema::Object(members) => {
                self.keys.extend(members.keys().map(String::as_str));
                members.values().for_each(|member| self.name(member));
            }
            _ => {}
        }
    }
}
