//! Proves mechanically that a change only loosens.
//!
//! Compares the smallest part of the schema on which the whole depends in one direction only. First the schema
//! algebra is asked; if it gives up, a change that is looser by construction is enough, at a place where accepting
//! more below means accepting more above.

use callwright::json::Path;
use callwright::validate::{Loosening, only_loosens};
use serde_json::Value as Json;

use super::Proof;
use crate::schema::{Positions, closed};

/// Compares two versions that differ at `nodes`. `None` if something that was accepted is now refused.
pub(super) fn prove(
    old: &Json,
    new: &Json,
    nodes: &[Path],
    positions: &Positions<'_>,
    by_construction: bool,
) -> Option<Proof> {
    let mut algebra = true;
    for node in nodes {
        let monotone_part = positions.monotone_part(node);
        match compare(old, new, &monotone_part) {
            Loosening::Proved => {}
            Loosening::Refuted => return None,
            Loosening::Unknown(_) if by_construction && monotone_part == *node => algebra = false,
            Loosening::Unknown(why) => return Some(Proof::NotProved(why)),
        }
    }
    Some(Proof::Proved(if algebra {
        "the new schema contains the old one, by schema algebra".to_owned()
    } else {
        "by construction: a rule of the schema was only widened or dropped".to_owned()
    }))
}

/// Compares the parts at a place.
pub(super) fn compare(old: &Json, new: &Json, at: &Path) -> Loosening {
    match (closed(old, at), closed(new, at)) {
        (Some(old), Some(new)) => only_loosens(&old, &new),
        _ => Loosening::Unknown("the schema refers to something outside itself".to_owned()),
    }
}
