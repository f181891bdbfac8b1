//! Computes a JSON Patch between two versions of a schema.
//!
//! A removed value is tested first, a list that grows is appended to, a list that loses an item loses that item: so a
//! patch fails if the schema has changed, and never touches what is next to it. (The diff in the `json-patch` crate
//! has no tests, and replaces a list from the first differing item on.)

use std::borrow::Cow;

use callwright::json::Path;
use json_patch::jsonptr::PointerBuf;
use json_patch::{
    AddOperation, Patch, PatchOperation, RemoveOperation, ReplaceOperation, TestOperation,
};
use serde_json::Value as Json;

/// The patch from one version to the other.
pub(super) fn patch(old: &Json, new: &Json) -> Patch {
    let mut operations = Vec::new();
    compare(&Path::root(), old, new, &mut operations);
    let tests = |operation: &PatchOperation| matches!(operation, PatchOperation::Test(_));
    if !operations.iter().any(tests)
        && let Some(test) = operations.first().and_then(|first| beside(old, first))
    {
        operations.insert(0, test);
    }
    Patch(operations)
}

fn compare(at: &Path, old: &Json, new: &Json, operations: &mut Vec<PatchOperation>) {
    match (old, new) {
        _ if old == new => {}
        (Json::Object(before), Json::Object(after)) => {
            for (key, value) in before {
                let at = at.key(key);
                if let Some(changed) = after.get(key) {
                    compare(&at, value, changed, operations);
                } else {
                    operations.push(test(&at, value));
                    operations.push(remove(&at));
                }
            }
            for (key, value) in after {
                if !before.contains_key(key) {
                    operations.push(add(&at.key(key), value));
                }
            }
        }
        (Json::Array(before), Json::Array(after)) if after.starts_with(before) => {
            operations.push(test(at, old));
            for value in &after[before.len()..] {
                operations.push(add(&at.key("-"), value));
            }
        }
        (Json::Array(before), Json::Array(after)) if before.len() == after.len() + 1 => {
            let gone = before
                .iter()
                .zip(after)
                .position(|(one, other)| one != other);
            let gone = gone.unwrap_or(after.len());
            if before[gone + 1..] == after[gone..] {
                operations.push(test(&at.index(gone), &before[gone]));
                operations.push(remove(&at.index(gone)));
            } else {
                replace(at, old, new, operations);
            }
        }
        (Json::Array(before), Json::Array(after)) if before.len() == after.len() => {
            for (index, (value, changed)) in before.iter().zip(after).enumerate() {
                compare(&at.index(index), value, changed, operations);
            }
        }
        _ => replace(at, old, new, operations),
    }
}

fn replace(at: &Path, old: &Json, new: &Json, operations: &mut Vec<PatchOperation>) {
    operations.push(test(at, old));
    operations.push(PatchOperation::Replace(ReplaceOperation {
        path: pointer(at),
        value: new.clone(),
    }));
}

/// A test of something next to an addition: its type, or that there is nothing else.
fn beside(old: &Json, first: &PatchOperation) -> Option<PatchOperation> {
    let added = Path::from_pointer(first.path().as_str());
    let mut around = added.parent();
    if around.last().as_deref() == Some("properties") {
        around = around.parent();
    }
    let node = old.pointer(around.as_pointer())?;
    let keyword = ["additionalProperties", "type", "$ref", "enum"]
        .into_iter()
        .find(|keyword| node.get(keyword).is_some())?;
    Some(test(&around.key(keyword), node.get(keyword)?))
}

fn test(at: &Path, value: &Json) -> PatchOperation {
    PatchOperation::Test(TestOperation {
        path: pointer(at),
        value: value.clone(),
    })
}

fn add(at: &Path, value: &Json) -> PatchOperation {
    PatchOperation::Add(AddOperation {
        path: pointer(at),
        value: value.clone(),
    })
}

fn remove(at: &Path) -> PatchOperation {
    PatchOperation::Remove(RemoveOperation { path: pointer(at) })
}

/// The same patch at other places. `None` if one of them does not exist.
pub(super) fn moved(original: &Patch, to: impl Fn(&Path) -> Option<Path>) -> Option<Patch> {
    let operations = original.iter().cloned().map(|mut operation| {
        let path = pointer(&to(&Path::from_pointer(operation.path().as_str()))?);
        match &mut operation {
            PatchOperation::Add(it) => it.path = path,
            PatchOperation::Remove(it) => it.path = path,
            PatchOperation::Replace(it) => it.path = path,
            PatchOperation::Test(it) => it.path = path,
            // These have two places, and are never proposed.
            PatchOperation::Move(_) | PatchOperation::Copy(_) => return None,
        }
        Some(operation)
    });
    operations.collect::<Option<_>>().map(Patch)
}

/// Paths are well-formed pointers by construction.
fn pointer(at: &Path) -> PointerBuf {
    let steps: Vec<String> = at.segments().map(Cow::into_owned).collect();
    PointerBuf::from_tokens(&steps)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[track_caller]
    #[expect(clippy::needless_pass_by_value, reason = "reads better below")]
    fn patched(old: Json, new: Json, expected: Json) {
        let patch = patch(&old, &new);
        assert_eq!(serde_json::to_value(&patch).unwrap(), expected);
        let mut document = old;
        json_patch::patch(&mut document, &patch).unwrap();
        assert_eq!(document, new);
    }

    #[test]
    fn lists_grow_and_lose_items() {
        patched(
            json!({"enum": ["a"], "required": ["x", "y"]}),
            json!({"enum": ["a", "b"], "required": ["y"]}),
            json!([
                {"op": "test", "path": "/enum", "value": ["a"]},
                {"op": "add", "path": "/enum/-", "value": "b"},
                {"op": "test", "path": "/required/0", "value": "x"},
                {"op": "remove", "path": "/required/0"},
            ]),
        );
    }

    #[test]
    fn replaced_and_dropped_values_are_tested() {
        patched(
            json!({"type": "string", "format": "date"}),
            json!({"type": ["string", "null"]}),
            json!([
                {"op": "test", "path": "/type", "value": "string"},
                {"op": "replace", "path": "/type", "value": ["string", "null"]},
                {"op": "test", "path": "/format", "value": "date"},
                {"op": "remove", "path": "/format"},
            ]),
        );
    }

    #[test]
    fn an_addition_tests_its_neighbour() {
        patched(
            json!({"properties": {}, "additionalProperties": false}),
            json!({"properties": {"a/b": {}}, "additionalProperties": false}),
            json!([
                {"op": "test", "path": "/additionalProperties", "value": false},
                {"op": "add", "path": "/properties/a~1b", "value": {}},
            ]),
        );
    }
}
