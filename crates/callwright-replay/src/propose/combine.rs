//! Several patches on one schema → one.
//!
//! Each was made for the schema as it is. What they write to different places is simply written; what they write to the
//! same place is joined where both only widen it.

use callwright::json::Path;
use json_patch::{
    AddOperation, Patch, PatchOperation, RemoveOperation, ReplaceOperation, patch as apply_patch,
};
use serde_json::{Value as Json, json};

use super::patch::pointer;

/// Why patches do not go together.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Clash {
    /// The patch with this number was made for another schema.
    Changed(usize),
    /// The patches with these numbers contradict each other.
    Between(usize, usize),
}

#[derive(Debug, Clone, PartialEq)]
enum Write {
    Set(Json),
    Remove,
}

/// Applies numbered patches to a schema.
pub(super) fn combined(schema: &Json, patches: &[(usize, Patch)]) -> Result<Json, Clash> {
    let mut writes: Vec<(Path, Write, usize)> = Vec::new();
    let mut appends: Vec<(Path, Json)> = Vec::new();
    for (number, patch) in patches {
        // A patch that fits nothing is told before anything is written.
        let mut probe = schema.clone();
        apply_patch(&mut probe, patch).map_err(|_| Clash::Changed(*number))?;
        let is_drop = patch
            .iter()
            .all(|it| matches!(it, PatchOperation::Test(_) | PatchOperation::Remove(_)));
        for operation in patch.iter() {
            let at = Path::from_pointer(operation.path().as_str());
            let write = match operation {
                PatchOperation::Test(_) => continue,
                PatchOperation::Add(it) if at.last().as_deref() == Some("-") => {
                    let append = (at, it.value.clone());
                    if !appends.contains(&append) {
                        appends.push(append);
                    }
                    continue;
                }
                PatchOperation::Add(it) => Write::Set(it.value.clone()),
                PatchOperation::Replace(it) => Write::Set(it.value.clone()),
                PatchOperation::Remove(_) => Write::Remove,
                PatchOperation::Move(_) | PatchOperation::Copy(_) => {
                    return Err(Clash::Changed(*number));
                }
            };
            match writes.iter_mut().find(|(known, _, _)| *known == at) {
                None => writes.push((at, write, *number)),
                Some((_, known, other)) => {
                    *known = joined(&at, known, &write, is_drop)
                        .ok_or(Clash::Between(*other, *number))?;
                }
            }
        }
    }
    write(schema, writes, appends)
}

fn write(
    schema: &Json,
    writes: Vec<(Path, Write, usize)>,
    appends: Vec<(Path, Json)>,
) -> Result<Json, Clash> {
    let (removed, set): (Vec<_>, Vec<_>) = writes
        .into_iter()
        .partition(|(_, write, _)| *write == Write::Remove);
    let is_removed = |at: &Path| removed.iter().any(|(gone, _, _)| gone.contains(at));
    let mut operations = Vec::new();
    for (at, write, _) in &set {
        let Write::Set(value) = write else { continue };
        if is_removed(at) {
            continue;
        }
        let (path, value) = (pointer(at), value.clone());
        operations.push(match schema.pointer(at.as_pointer()) {
            Some(_) => PatchOperation::Replace(ReplaceOperation { path, value }),
            None => PatchOperation::Add(AddOperation { path, value }),
        });
    }
    for (at, value) in appends {
        if !is_removed(&at.parent()) {
            let path = pointer(&at);
            operations.push(PatchOperation::Add(AddOperation { path, value }));
        }
    }
    let mut removed = removed;
    // The last item of a list first, so that the others keep their places.
    removed.sort_by_key(|(at, _, _)| std::cmp::Reverse(order(at)));
    for (at, _, _) in &removed {
        let path = pointer(at);
        operations.push(PatchOperation::Remove(RemoveOperation { path }));
    }
    let mut changed = schema.clone();
    let number = removed.iter().chain(&set).map(|(_, _, number)| *number);
    let number = number.max().unwrap_or_default();
    apply_patch(&mut changed, &operations).map_err(|_| Clash::Changed(number))?;
    Ok(changed)
}

/// Indices by their size, not by their digits.
fn order(at: &Path) -> Vec<(usize, String)> {
    at.segments()
        .map(|segment| (segment.parse().unwrap_or_default(), segment.into_owned()))
        .collect()
}

/// What does for both.
fn joined(at: &Path, one: &Write, other: &Write, other_drops: bool) -> Option<Write> {
    let (one, other) = match (one, other) {
        _ if one == other => return Some(one.clone()),
        (Write::Set(one), Write::Set(other)) => (one, other),
        // A rule that is dropped is looser than one that is widened; a rule that moves elsewhere is not.
        (Write::Set(_), Write::Remove) if other_drops => return Some(Write::Remove),
        _ => return None,
    };
    let keyword = at.last()?;
    let value = match &*keyword {
        "type" => types(one, other),
        "maximum" | "maxLength" | "maxItems" | "maxProperties" => {
            extreme(one, other, |one, other| one >= other)
        }
        "minimum" | "minLength" | "minItems" | "minProperties" => {
            extreme(one, other, |one, other| one <= other)
        }
        "enum" | "anyOf" => {
            let mut all = one.as_array()?.clone();
            for value in other.as_array()? {
                if !all.contains(value) {
                    all.push(value.clone());
                }
            }
            Some(Json::Array(all))
        }
        "properties" => {
            let mut all = one.as_object()?.clone();
            for (key, value) in other.as_object()? {
                if *all.entry(key.clone()).or_insert_with(|| value.clone()) != *value {
                    return None;
                }
            }
            Some(Json::Object(all))
        }
        _ => None,
    };
    value.map(Write::Set)
}

fn extreme(one: &Json, other: &Json, keeps: impl Fn(f64, f64) -> bool) -> Option<Json> {
    let wider = if keeps(one.as_f64()?, other.as_f64()?) {
        one
    } else {
        other
    };
    Some(wider.clone())
}

/// All types of both. A number may be an integer.
fn types(one: &Json, other: &Json) -> Option<Json> {
    let mut names: Vec<String> = Vec::new();
    for side in [one, other] {
        let listed = match side {
            Json::Array(listed) => listed.as_slice(),
            single => std::slice::from_ref(single),
        };
        for name in listed {
            let name = name.as_str()?;
            if !names.iter().any(|known| known == name) {
                names.push(name.to_owned());
            }
        }
    }
    if names.iter().any(|name| name.eq_ignore_ascii_case("number")) {
        names.retain(|name| !name.eq_ignore_ascii_case("integer"));
    }
    Some(match &names[..] {
        [only] => json!(only),
        several => json!(several),
    })
}
