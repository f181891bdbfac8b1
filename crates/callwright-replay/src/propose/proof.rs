//! Whether a change only loosens, by machine.
//!
//! The smallest part of the schema is compared on which the whole depends in one direction only. First the algebra of
//! schemas is asked; where it gives up, a change that is looser by construction is enough, in a place where "more" below
//! means "more" above.

use callwright::json::Path;
use callwright::validate::{Loosening, only_loosens};
use serde_json::Value as Json;

use super::Proof;
use crate::schema::{Positions, closed};

/// Compares two versions that differ at `nodes`. `None` if something that was accepted is refused now.
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
        "the new schema contains the old one, by the algebra of schemas".to_owned()
    } else {
        "by construction: a rule of the schema was only widened or dropped".to_owned()
    }))
}

/// Compares the parts at a place.
pub(super) fn compare(old: &Json, new: &Json, at: &Path) -> Loosening {
    match (closed(old, at), closed(new, at)) {
        (Some(old), Some(new)) => only_loosens(&old, &new),
        _ => Loosening::Unknown("the schema refers to something outside of it".to_owned()),
    }
}
