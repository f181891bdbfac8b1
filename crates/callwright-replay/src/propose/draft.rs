//! A schema in the making.

use callwright::json::Path;
use serde_json::Value as Json;

use super::Change;
use super::edit::{Edited, Order};
use super::wish::Wish;
use crate::schema::{Judge, places};

/// A schema in the making.
pub(super) struct Edits {
    schema: Json,
    nodes: Vec<Path>,
    /// Whether all changes are looser by construction.
    pub(super) by_construction: bool,
}

impl Edits {
    pub(super) fn on(root: &Json) -> Self {
        Edits {
            schema: root.clone(),
            nodes: Vec::new(),
            by_construction: true,
        }
    }

    /// A part as it is now.
    pub(super) fn node(&self, at: &Path) -> Result<Json, String> {
        let node = self.schema.pointer(at.as_pointer()).cloned();
        node.ok_or_else(|| "the place is gone".to_owned())
    }

    /// Changes a part.
    pub(super) fn set(&mut self, at: &Path, changed: Json) -> Result<(), String> {
        let node = self.schema.pointer_mut(at.as_pointer());
        *node.ok_or("the place is gone")? = changed;
        if !self.nodes.contains(at) {
            self.nodes.push(at.clone());
        }
        Ok(())
    }

    pub(super) fn done(self, change: Change, what: String) -> Edited {
        Edited {
            schema: self.schema,
            change,
            nodes: self.nodes,
            by_construction: self.by_construction,
            what,
        }
    }
}

/// Whether a schema says `nullable` anywhere, as OpenAPI does.
pub(super) fn uses_nullable(root: &Json) -> bool {
    fn says(node: &Json, levels: usize) -> bool {
        levels > 0
            && (node.get("nullable").is_some_and(Json::is_boolean)
                || crate::schema::children(node)
                    .into_iter()
                    .any(|(_, inner, _)| says(inner, levels - 1)))
    }
    says(root, 32)
}

/// Whether the change does what it is for.
pub(super) fn verify(order: &Order<'_>, edited: &Edited) -> Result<(), String> {
    let first = order.wishes.first();
    if matches!(first, Some(Wish::Optional(_) | Wish::Key(_, _))) {
        return Ok(());
    }
    let mut judge = Judge::of(&edited.schema);
    let all = places(&edited.schema, order.path);
    for sample in order.samples {
        let mut answers = all
            .iter()
            .map(|place| (place.is_alternative, judge.accepts(&place.at, sample)));
        let refused = if all.iter().all(|place| place.is_alternative) {
            answers.all(|(_, answer)| answer == Some(false))
        } else {
            answers.any(|(alternative, answer)| !alternative && answer == Some(false))
        };
        if refused {
            return Err("one change alone does not allow it".to_owned());
        }
    }
    Ok(())
}
