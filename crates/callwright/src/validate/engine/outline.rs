//! A schema compiled once more to explain refusals: each union is one opaque keyword in it, and each
//! branch has its own validator.
//!
//! The engine by itself collects the objections of every branch of every union inside every branch;
//! in a recursive schema that is exponential in the depth of the value. With this, one level is asked
//! at a time, and only the branch that was meant is looked into further.

use std::collections::HashMap;
use std::sync::Arc;

use jsonschema::paths::Location;
use jsonschema::{Keyword, ValidationError, Validator, ValidatorMap};
use serde_json::Value as Schema;

use super::super::schema::children;
use super::options;
use super::tree::Tree;
use crate::json::{Path, Value};

/// The whole schema and its parts, with opaque unions.
#[derive(Debug)]
pub(super) struct Outline {
    root: Validator<Tree>,
    parts: ValidatorMap<Tree>,
}

impl Outline {
    pub(super) fn compile(schema: &Schema) -> Option<Outline> {
        let any = Unions {
            judges: Arc::new(options().build_map(schema).ok()?),
            pointers: Arc::new(union_pointers(schema)),
        };
        let one = any.clone();
        let options = options()
            .with_keyword("anyOf", move |_, branches, location| {
                Ok(Box::new(any.opaque(branches, &location, false)))
            })
            .with_keyword("oneOf", move |_, branches, location| {
                Ok(Box::new(one.opaque(branches, &location, true)))
            });
        Some(Outline {
            root: options.build(schema).ok()?,
            parts: options.build_map(schema).ok()?,
        })
    }

    /// The validator of the whole schema.
    pub(super) fn root(&self) -> &Validator<Tree> {
        &self.root
    }

    /// The validator of a part of the schema.
    pub(super) fn part(&self, at: &Path) -> Option<&Validator<Tree>> {
        self.parts.get(&format!("#{}", at.as_pointer()))
    }
}

/// Whether a schema has unions that can be looked into. One with resources inside (`$id`) is
/// left to the engine: places in it are not counted from the root.
pub(super) fn can_outline(schema: &Schema) -> bool {
    has_unions(schema) && !children(schema).any(|(_, inner)| names_resource(inner))
}

fn names_resource(node: &Schema) -> bool {
    children(node).any(|(key, member)| {
        (matches!(key, "$id" | "id") && member.is_string()) || names_resource(member)
    })
}

fn has_unions(node: &Schema) -> bool {
    children(node).any(|(key, member)| is_union(key, member) || has_unions(member))
}

fn is_union(keyword: &str, member: &Schema) -> bool {
    matches!(keyword, "anyOf" | "oneOf") && member.is_array()
}

/// What is needed to make a union opaque.
#[derive(Clone)]
struct Unions {
    judges: Arc<ValidatorMap<Tree>>,
    pointers: Arc<HashMap<usize, String>>,
}

impl Unions {
    fn opaque(&self, branches: &Schema, location: &Location, exclusive: bool) -> OpaqueUnion {
        let pointer = self.pointers.get(&address(branches)).cloned();
        let pointer = pointer.unwrap_or_else(|| location.as_str().to_owned());
        OpaqueUnion {
            judges: Arc::clone(&self.judges),
            branches: {
                let count = branches.as_array().map_or(0, Vec::len);
                (0..count)
                    .map(|index| format!("#{pointer}/{index}"))
                    .collect()
            },
            pointer,
            exclusive,
        }
    }
}

/// A union that only says yes or no. Its error carries the union's place in the schema.
struct OpaqueUnion {
    judges: Arc<ValidatorMap<Tree>>,
    pointer: String,
    /// The keys of the branches' own validators.
    branches: Vec<String>,
    exclusive: bool,
}

impl<'i> Keyword<'i, Tree> for OpaqueUnion {
    fn validate(&self, instance: &'i Value<'i>) -> Result<(), ValidationError<'i>> {
        if Keyword::is_valid(self, instance) {
            Ok(())
        } else {
            Err(ValidationError::custom(self.pointer.clone()))
        }
    }

    fn is_valid(&self, instance: &'i Value<'i>) -> bool {
        let fitting = self
            .branches
            .iter()
            .filter_map(|branch| self.judges.get(branch))
            .filter(|branch| branch.is_valid(instance))
            .take(2)
            .count();
        if self.exclusive {
            fitting == 1
        } else {
            fitting > 0
        }
    }
}

/// Where the unions of a schema are, by the address of their list of branches: the one thing that the
/// engine hands on unchanged wherever it has followed a reference.
fn union_pointers(schema: &Schema) -> HashMap<usize, String> {
    fn walk(node: &Schema, here: &Path, found: &mut HashMap<usize, String>) {
        match node {
            Schema::Object(members) => {
                for (key, member) in members {
                    let place = here.key(key);
                    if is_union(key, member) {
                        found.insert(address(member), place.as_pointer().to_owned());
                    }
                    walk(member, &place, found);
                }
            }
            Schema::Array(items) => {
                for (at, item) in items.iter().enumerate() {
                    walk(item, &here.index(at), found);
                }
            }
            _ => {}
        }
    }
    let mut found = HashMap::new();
    walk(schema, &Path::root(), &mut found);
    found
}

fn address(node: &Schema) -> usize {
    std::ptr::from_ref(node).addr()
}
