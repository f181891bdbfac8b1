//! What a part of a schema asks for, as data.
//!
//! Takes a node of a schema; returns the shortest [`Expected`] that tells a model what to send. Never produces text.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::{Map, Number, Value as Schema};

use super::schema::CompiledSchema;
use crate::json::keyword;
use crate::vocabulary::{Comparison, Expected, SchemaType, Unit};

/// What the parts of one schema ask for.
pub(super) struct Expectations<'s> {
    schema: &'s CompiledSchema,
    /// Expectations that copy a part of the schema, by the address of the part: hundreds of objections may refer to one.
    known: RefCell<BTreeMap<usize, Expected>>,
}

impl<'s> Expectations<'s> {
    pub(super) fn new(schema: &'s CompiledSchema) -> Self {
        Expectations {
            schema,
            known: RefCell::default(),
        }
    }

    /// The cached expectation of a part, computed if necessary.
    fn once(&self, part: &Schema, find: impl FnOnce() -> Expected) -> Expected {
        let address = std::ptr::from_ref(part).addr();
        if let Some(known) = self.known.borrow().get(&address) {
            return known.clone();
        }
        let found = find();
        self.known.borrow_mut().insert(address, found.clone());
        found
    }

    /// What a part of the schema asks for: its constant, its values, or its type with further constraints.
    pub(super) fn expectation(&self, declared: &'s Schema) -> Expected {
        let node = self.schema.follow(declared);
        if let Some(constant) = keyword(node, "const") {
            return self.once(node, || Expected::Constant(Arc::new(constant.clone())));
        }
        if let Some(values) = keyword(node, "enum").filter(|values| values.is_array()) {
            return self.once(node, || Expected::OneOf(Arc::new(values.clone())));
        }
        let typed = match keyword(node, "type") {
            Some(Schema::String(name)) => SchemaType::from_name(name).map(|name| match name {
                SchemaType::String => narrowed_string(node).unwrap_or(Expected::Type(name)),
                SchemaType::Integer | SchemaType::Number => narrowed_number(name, node),
                other => self.expected_type(other, || Some(node)),
            }),
            Some(Schema::Array(names)) => {
                let names = names.iter().filter_map(Schema::as_str);
                let names: Vec<_> = names.filter_map(SchemaType::from_name).collect();
                Some(self.expected_types(&names, || Some(node)))
            }
            _ if keyword(node, "required").is_some() || keyword(node, "properties").is_some() => {
                Some(self.expected_type(SchemaType::Object, || Some(node)))
            }
            _ if keyword(node, "$ref").is_some() => Some(Expected::AnotherForm),
            _ if *node == Schema::Bool(true) || node.as_object().is_some_and(Map::is_empty) => {
                Some(Expected::AnyValue)
            }
            _ => narrowed_string(node).or_else(|| self.simple_union(node)),
        };
        typed.unwrap_or_else(|| self.once(node, || Expected::Schema(Arc::new(node.clone()))))
    }

    /// What all branches of a union ask for.
    pub(super) fn expectations(&self, branches: &'s [Schema]) -> Vec<Expected> {
        let all = branches.iter().map(|branch| self.expectation(branch));
        all.collect()
    }

    /// These types, null last, with the schema's details.
    pub(super) fn expected_types(
        &self,
        names: &[SchemaType],
        node: impl Fn() -> Option<&'s Schema>,
    ) -> Expected {
        if let [only] = names {
            return self.expected_type(*only, node);
        }
        let mut names = names.to_vec();
        names.sort_by_key(|name| *name == SchemaType::Null);
        let types = names.iter().map(|name| self.expected_type(*name, &node));
        Expected::OneOfTypes(types.collect())
    }

    /// This type; for a list and an object also what the schema says about the content.
    fn expected_type(&self, name: SchemaType, node: impl Fn() -> Option<&'s Schema>) -> Expected {
        let get = |name: &str| node().and_then(|node| keyword(node, name));
        let detail = match name {
            SchemaType::Array => get("items")
                .and_then(|items| keyword(self.schema.follow(items), "type")?.as_str())
                .and_then(SchemaType::from_name)
                .map(Expected::ArrayOf),
            SchemaType::Object => get("required").and_then(|list| {
                let required = list.as_array().filter(|required| !required.is_empty())?;
                let keys = required.iter().filter_map(Schema::as_str);
                let copy = || Expected::ObjectWith(keys.map(str::to_owned).collect());
                Some(self.once(list, copy))
            }),
            _ => None,
        };
        detail.unwrap_or(Expected::Type(name))
    }

    /// A union inside a union, one level deep.
    fn simple_union(&self, node: &'s Schema) -> Option<Expected> {
        let union = keyword(node, "anyOf").or_else(|| keyword(node, "oneOf"))?;
        let branches = union.as_array()?;
        let is_simple = |branch: &Schema| {
            let branch = self.schema.follow(branch);
            let says = |name: &&str| keyword(branch, name).is_some();
            ["type", "const", "enum"].iter().any(says)
        };
        let is_simple = branches.iter().all(is_simple);
        is_simple.then(|| Expected::AnyOf(self.expectations(branches)))
    }

    /// What a `not` rules out. Its type alone would say too much if more keywords constrain it.
    pub(super) fn ruled_out(&self, ruled_out: Schema) -> Expected {
        let has = |keywords: &[&str]| {
            keywords
                .iter()
                .any(|key| keyword(&ruled_out, key).is_some())
        };
        let is_whole = match ruled_out.as_object().map_or(0, Map::len) {
            0 | 1 => true,
            2 => has(&["type"]) && has(&["minimum", "maximum", "pattern", "format"]),
            _ => false,
        };
        let expected = if is_whole || has(&["enum", "const"]) {
            // This is a copy, so its parts must not be cached by address.
            Expectations::new(self.schema).expectation(&ruled_out)
        } else {
            Expected::Schema(Arc::new(ruled_out))
        };
        Expected::Not(Box::new(expected))
    }

    /// What a `contains` asks for, with its counting keywords.
    pub(super) fn expected_items(&self, node: Option<&'s Schema>) -> Expected {
        let get = |name: &str| node.and_then(|node| keyword(node, name));
        let count = |name: &str| get(name).and_then(Schema::as_number).cloned();
        let item = get("contains").map(|wanted| Box::new(self.expectation(wanted)));
        Expected::Containing {
            item,
            least: count("minContains"),
            most: count("maxContains"),
        }
    }
}

/// How many items a list may have if its first items are described one by one.
pub(super) fn extra_items(node: Option<&Schema>) -> Expected {
    let prefix = node.and_then(|node| {
        let items = keyword(node, "prefixItems").or_else(|| keyword(node, "items"))?;
        items.as_array().map(Vec::len)
    });
    prefix.map_or(Expected::NoFurtherItems, |limit| Expected::Limit {
        comparison: Comparison::AtMost,
        limit: Number::from(limit),
        unit: Some(Unit::Items),
    })
}

/// What an unknown keyword asks for.
pub(super) fn other_keyword(node: Option<&Schema>, name: String) -> Expected {
    let rule = node.and_then(|node| keyword(node, &name)?.as_str());
    Expected::Keyword {
        rule: rule.map(str::to_owned),
        name,
    }
}

fn narrowed_string(node: &Schema) -> Option<Expected> {
    let text = |name: &str| keyword(node, name)?.as_str().map(str::to_owned);
    let format = text("format").map(Expected::Format);
    format.or_else(|| text("pattern").map(Expected::Pattern))
}

fn narrowed_number(name: SchemaType, node: &Schema) -> Expected {
    /// A limit beyond this is that of a machine type, which means nothing to a model.
    const FAR: f64 = 2_147_483_647.0;
    let within = |limit: &str, comparison| {
        let limit = keyword(node, limit)?.as_number()?;
        let is_near = limit.as_f64().is_some_and(|limit| limit.abs() < FAR);
        is_near.then_some(())?;
        Some(Expected::NumberWithin(name, comparison, limit.clone()))
    };
    within("minimum", Comparison::AtLeast)
        .or_else(|| within("maximum", Comparison::AtMost))
        .unwrap_or(Expected::Type(name))
}
