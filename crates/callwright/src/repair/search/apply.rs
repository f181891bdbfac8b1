//! Applies one edit to a value, and records it.

use super::super::rules::{ProposedEdit, RepairRule};
use crate::json::{Member, Path, Value};
use crate::vocabulary::{Edit, EditKind};

/// Applies an edit; `None` if the path does not exist, or a key is taken.
pub(super) fn apply(
    value: &mut Value<'static>,
    rule: &RepairRule,
    change: &ProposedEdit,
) -> Option<Edit> {
    fn members<'v>(
        value: &'v mut Value<'static>,
        of: &Path,
    ) -> Option<&'v mut Vec<Member<'static>>> {
        match value.at_mut(&of.parent())? {
            Value::Object(members) => Some(members),
            _ => None,
        }
    }
    let (kind, path, before, after) = match change {
        ProposedEdit::Replace(path, new) => {
            let old = std::mem::replace(value.at_mut(path)?, new.clone());
            (EditKind::Replaced, path.clone(), old, new.clone())
        }
        ProposedEdit::Insert(path, new) => {
            let key = path.last()?.into_owned().into();
            members(value, path)?.push((key, new.clone()));
            (EditKind::Added, path.clone(), Value::Null, new.clone())
        }
        ProposedEdit::Remove(path) => {
            let (members, key) = (members(value, path)?, path.last()?);
            let at = members.iter().position(|(name, _)| *name == key)?;
            let (_, old) = members.remove(at);
            (EditKind::LeftOut, path.clone(), old, Value::Null)
        }
        ProposedEdit::Unwrap(path) => {
            let place = value.at_mut(path)?;
            let old = std::mem::replace(place, Value::Null);
            *place = old.as_array()?.first()?.clone();
            let only = place.clone();
            (EditKind::Replaced, path.clone(), old, only)
        }
        ProposedEdit::Rename(path, to) => {
            let (members, from) = (members(value, path)?, path.last()?.into_owned());
            if members.iter().any(|(name, _)| name == to) {
                return None;
            }
            let member = members.iter_mut().find(|(name, _)| *name == from)?;
            member.0 = to.clone().into();
            let to_path = path.parent().key(to);
            let names = (Value::String(from.into()), Value::String(to.clone().into()));
            (EditKind::Renamed, to_path, names.0, names.1)
        }
    };
    Some(Edit {
        path,
        rule: rule.row.name,
        kind,
        grade: rule.row.grade,
        before,
        after,
        masked: None,
    })
}
