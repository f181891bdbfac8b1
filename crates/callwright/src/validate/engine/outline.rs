//! A second compilation of a schema, for explaining refusals: each union in it is one opaque keyword, and each branch can be
//! evaluated separately.
//!
//! By itself the engine collects the objections of every branch of every union inside every branch; in a recursive schema that
//! is exponential in the depth of the value. With this, one level is evaluated at a time, and only the branch that was meant is
//! examined further.
//!
//! All branches are in one validator, so that parts shared by several of them are compiled once: it takes an object whose only
//! key selects the branch, and whose value is the one to validate.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::Arc;

use jsonschema::{Draft, Keyword, Registry, ValidationError, Validator};
use serde_json::{Map, Value as Schema, json};

use super::super::schema::children;
use super::build::EngineOptions;
use super::tree::ValueTree;
use super::work::{object, spend};
use super::{collect_first, options};
use crate::json::{Path, Value, size};
use crate::validate::violation::Violation;

/// The URI under which the engine finds the outlined schema.
const ADDRESS: &str = "urn:callwright:schema";

/// The whole schema and its branches, with opaque unions.
#[derive(Debug)]
pub(super) struct Outline {
    validator: Validator<ValueTree>,
    /// The numbers of the entries, by their paths in the schema.
    entries: HashMap<String, usize>,
}

impl Outline {
    pub(super) fn compile(schema: &Schema, draft: Draft) -> Option<Outline> {
        let registry = Registry::new().draft(draft).add(ADDRESS, schema).ok()?;
        let registry = registry.prepare().ok()?;
        let options = || options(schema).with_draft(draft).with_registry(&registry);
        let mut places = vec![String::new()];
        let mut unions = HashMap::new();
        find_unions(schema, &Path::root(), &mut places, &mut unions);
        let any = Unions {
            judge: Arc::new(build(&options(), &places)?),
            found: Arc::new(unions),
        };
        let one = any.clone();
        let outlined = options()
            .with_keyword("anyOf", move |_, branches, _| {
                Ok(Box::new(any.opaque(branches, false)))
            })
            .with_keyword("oneOf", move |_, branches, _| {
                Ok(Box::new(one.opaque(branches, true)))
            });
        let validator = build(&outlined, &places)?;
        let entries = places.into_iter().enumerate();
        Some(Outline {
            validator,
            entries: entries.map(|(number, place)| (place, number)).collect(),
        })
    }

    /// The objections of the schema at a path, either the root or a branch of a union.
    pub(super) fn violations(
        &self,
        place: &Path,
        value: &Value<'_>,
        limit: usize,
    ) -> Option<Vec<Violation>> {
        let number = *self.entries.get(place.as_pointer())?;
        let asked = asking(number, value);
        let mut violations = collect_first(&self.validator, &asked, limit);
        for violation in &mut violations {
            // Without the number of the entry.
            let pointer = violation.at.as_pointer().trim_start_matches('/');
            let inner = pointer.find('/').map_or("", |at| &pointer[at..]);
            violation.at = Path::from_pointer(inner);
        }
        Some(violations)
    }
}

/// The validator of an object whose key is the number of a path.
fn build(
    options: &EngineOptions<'_, ValueTree>,
    places: &[String],
) -> Option<Validator<ValueTree>> {
    let entries = places.iter().enumerate().map(|(number, place)| {
        let reference = format!("{ADDRESS}#{}", percent_encoded(place));
        (number.to_string(), json!({"$ref": reference}))
    });
    let entries: Map<String, Schema> = entries.collect();
    options.build(&json!({"properties": entries})).ok()
}

fn asking<'v>(number: usize, value: &Value<'v>) -> Value<'v> {
    // Copying takes about as long as visiting an eighth of it.
    spend(size(value) / 8);
    Value::Object(vec![(Cow::Owned(number.to_string()), value.clone())])
}

/// A pointer as a URI fragment.
fn percent_encoded(pointer: &str) -> String {
    let encode = |byte: u8| match byte {
        b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'~' | b'$' | b'-' | b'_' | b'.' => {
            char::from(byte).to_string()
        }
        other => format!("%{other:02X}"),
    };
    pointer.bytes().map(encode).collect()
}

/// Whether a schema has unions that can be examined. One with embedded resources (`$id`) is left to the engine: paths in it do
/// not start at the root.
pub(super) fn can_outline(schema: &Schema) -> bool {
    has_unions(schema) && !children(schema).any(|(_, inner)| names_resource(inner))
}

/// Whether a part of the schema has a name by which others refer to it.
pub(super) fn names_resource(node: &Schema) -> bool {
    children(node).any(|(key, member)| {
        (matches!(key, "$id" | "id") && member.is_string()) || names_resource(member)
    })
}

pub(super) fn has_unions(node: &Schema) -> bool {
    children(node).any(|(key, member)| is_union(key, member) || has_unions(member))
}

fn is_union(keyword: &str, member: &Schema) -> bool {
    matches!(keyword, "anyOf" | "oneOf") && member.is_array()
}

/// What is needed to make unions opaque.
#[derive(Clone)]
struct Unions {
    judge: Arc<Validator<ValueTree>>,
    found: Arc<HashMap<usize, Union>>,
}

/// The path of a union, and the number of its first branch.
#[derive(Clone)]
struct Union {
    place: String,
    first: usize,
}

impl Unions {
    fn opaque(&self, branches: &Schema, is_exclusive: bool) -> OpaqueUnion {
        OpaqueUnion {
            judge: Arc::clone(&self.judge),
            union: self.found.get(&address(branches)).cloned(),
            branches: branches.as_array().map_or(0, Vec::len),
            is_exclusive,
        }
    }
}

/// The cost of evaluating one branch besides its visits.
const PER_BRANCH: usize = 24;

/// A union that only says yes or no. Its error carries the union's path in the schema.
struct OpaqueUnion {
    judge: Arc<Validator<ValueTree>>,
    /// Absent for a union of a meta-schema, which is never reported.
    union: Option<Union>,
    branches: usize,
    is_exclusive: bool,
}

impl<'i> Keyword<'i, ValueTree> for OpaqueUnion {
    fn validate(&self, instance: &'i Value<'i>) -> Result<(), ValidationError<'i>> {
        if Keyword::is_valid(self, instance) {
            return Ok(());
        }
        // The engine copies the value, and counts only objections of its own keywords.
        spend(size(instance) / 8);
        object();
        let place = self.union.as_ref().map(|union| union.place.clone());
        Err(ValidationError::custom(place.unwrap_or_default()))
    }

    fn is_valid(&self, instance: &'i Value<'i>) -> bool {
        let Some(Union { first, .. }) = self.union else {
            return true;
        };
        let mut asked = asking(first, instance);
        let fits = |branch: &usize| {
            spend(PER_BRANCH);
            if let Value::Object(members) = &mut asked {
                for (key, _) in members {
                    *key = Cow::Owned(branch.to_string());
                }
            }
            self.judge.is_valid(&asked)
        };
        let fitting = (first..first + self.branches).filter(fits).take(2).count();
        if self.is_exclusive {
            fitting == 1
        } else {
            fitting > 0
        }
    }
}

/// Finds the unions of a schema, by the address of their list of branches: the one thing that the engine passes on unchanged
/// wherever it has followed a reference. The paths of their branches are recorded in order.
fn find_unions(
    node: &Schema,
    here: &Path,
    places: &mut Vec<String>,
    found: &mut HashMap<usize, Union>,
) {
    match node {
        Schema::Object(members) => {
            for (key, member) in members {
                let place = here.key(key);
                if is_union(key, member) {
                    let union = Union {
                        place: place.as_pointer().to_owned(),
                        first: places.len(),
                    };
                    found.insert(address(member), union);
                    let branches = 0..member.as_array().map_or(0, Vec::len);
                    places.extend(branches.map(|at| place.index(at).as_pointer().to_owned()));
                }
                find_unions(member, &place, places, found);
            }
        }
        Schema::Array(items) => {
            for (at, item) in items.iter().enumerate() {
                find_unions(item, &here.index(at), places, found);
            }
        }
        _ => {}
    }
}

fn address(node: &Schema) -> usize {
    std::ptr::from_ref(node).addr()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::read_value;
    use crate::validate::CompiledSchema;

    /// The union and the intended branch are found wherever they are in the schema and whatever keys are called.
    #[test]
    fn unions_are_found_under_any_name_and_in_any_draft() {
        for header in [
            json!({}),
            json!({"$id": "https://example.com/schemas/one"}),
            json!({"$schema": "http://json-schema.org/draft-07/schema#"}),
            json!({"$schema": "http://json-schema.org/draft-04/schema#", "id": "urn:one"}),
        ] {
            for key in ["x", "a b", "50%", "é/~\"#?", "\\{}|^`", "0"] {
                let mut schema = header.clone();
                schema["definitions"] = json!({"n": {"type": "integer", "minimum": 5}});
                let union = json!([{"$ref": "#/definitions/n"}, {"type": "null"}]);
                schema["properties"] = json!({key: {"properties": {key: {"anyOf": union}}}});
                let compiled = CompiledSchema::compile(schema).expect("a schema");
                let text = json!({key: {key: 3}}).to_string();
                let issues = compiled.issues(&read_value(&text).expect("JSON"));
                assert_eq!(issues.len(), 1, "{header} {key}");
                assert_eq!(issues[0].path, Path::root().key(key).key(key));
                assert_eq!(
                    issues[0].code,
                    crate::vocabulary::IssueCode::Minimum,
                    "{header} {key}"
                );
            }
        }
    }
}
