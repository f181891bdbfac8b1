//! Follows references, and determines what a change at a place means for the whole schema.

use callwright::json::Path;
use serde_json::Value as Json;

use super::children::{SubschemaRole, children};

/// How deep a schema is searched. Real ones have a dozen levels.
const DEEPEST: usize = 64;

/// All references of a schema.
#[derive(Debug)]
pub(crate) struct Positions<'s> {
    root: &'s Json,
    /// Source and target of each.
    references: Vec<(Path, Path)>,
}

/// The target of this node's local reference.
pub(crate) fn follow(root: &Json, node: &Json) -> Option<Path> {
    let reference = node.get("$ref")?.as_str()?;
    let pointer = decoded(reference.strip_prefix('#')?);
    root.pointer(&pointer)?;
    Some(Path::from_pointer(pointer))
}

/// Some programs write `#/%24defs/a`.
fn decoded(pointer: &str) -> String {
    pointer
        .replace("%24", "$")
        .replace("%20", " ")
        .replace("%25", "%")
}

impl<'s> Positions<'s> {
    /// Collects all references.
    pub(crate) fn of(root: &'s Json) -> Self {
        let mut references = Vec::new();
        collect(root, root, &Path::root(), DEEPEST, &mut references);
        Positions { root, references }
    }

    /// How many places of the schema refer to this part, or to something around it. Zero means that it is only used
    /// in its own place.
    pub(crate) fn uses(&self, at: &Path) -> usize {
        let around = self.references.iter().filter(|(_, to)| to.contains(at));
        around.count()
    }

    /// The smallest part of the schema around a place such that, if that part accepts more, so does the whole schema.
    /// That is the place itself, unless a keyword like `not` or `oneOf` surrounds it.
    pub(crate) fn monotone_part(&self, at: &Path) -> Path {
        let own = self.negated_above(at).unwrap_or_else(|| at.clone());
        // Everything that refers to it, directly or indirectly.
        let mut reached = vec![own.clone()];
        let mut next = 0;
        while let Some(place) = reached.get(next).cloned() {
            next += 1;
            for (from, to) in &self.references {
                if to.contains(&place) && !reached.contains(from) {
                    if self.negated_above(from).is_some() {
                        return Path::root();
                    }
                    reached.push(from.clone());
                }
            }
        }
        own
    }

    /// The outermost schema above a place with a keyword that turns "more" into "less" on the way to the place.
    fn negated_above(&self, at: &Path) -> Option<Path> {
        let mut node = self.root;
        let mut here = Path::root();
        while here != *at {
            if ["unevaluatedProperties", "unevaluatedItems"]
                .iter()
                .any(|keyword| node.get(keyword).is_some())
            {
                return Some(here);
            }
            let below = children(node)
                .into_iter()
                .map(|(step, inner, role)| (here.join(&step), inner, role))
                .find(|(path, _, _)| path.contains(at));
            let (path, inner, role) = below?;
            if matches!(
                role,
                SubschemaRole::ExactlyOne | SubschemaRole::Conditional | SubschemaRole::Negated
            ) {
                return Some(here);
            }
            (node, here) = (inner, path);
        }
        None
    }
}

fn collect(root: &Json, node: &Json, at: &Path, levels: usize, references: &mut Vec<(Path, Path)>) {
    let Some(below) = levels.checked_sub(1) else {
        return;
    };
    if let Some(target) = follow(root, node) {
        references.push((at.clone(), target));
    }
    for (step, inner, _) in children(node) {
        collect(root, inner, &at.join(&step), below, references);
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_plain_place_is_its_own_lever() {
        let schema = json!({"properties": {"a": {"items": {"type": "string"}}}});
        let at = Path::from_pointer("/properties/a/items");
        assert_eq!(Positions::of(&schema).monotone_part(&at), at);
    }

    #[test]
    fn below_one_of_the_lever_is_what_holds_it() {
        let schema =
            json!({"properties": {"a": {"oneOf": [{"type": "string"}, {"type": "null"}]}}});
        let at = Path::from_pointer("/properties/a/oneOf/0");
        let monotone_part = Positions::of(&schema).monotone_part(&at);
        assert_eq!(monotone_part.as_pointer(), "/properties/a");
    }

    #[test]
    fn what_is_referred_to_from_below_not_moves_the_whole() {
        let schema = json!({
            "properties": {"a": {"not": {"$ref": "#/$defs/d"}}, "b": {"$ref": "#/$defs/d"}},
            "$defs": {"d": {"type": "string"}, "e": {"type": "string"}},
        });
        let positions = Positions::of(&schema);
        let at = Path::from_pointer("/$defs/d");
        assert_eq!(positions.monotone_part(&at), Path::root());
        assert_eq!(positions.uses(&at), 2);
    }

    #[test]
    fn a_reference_to_a_reference_below_not_counts_too() {
        let schema = json!({
            "properties": {"a": {"not": {"$ref": "#/$defs/outer"}}},
            "$defs": {
                "outer": {"properties": {"x": {"$ref": "#/$defs/inner"}}},
                "inner": {"type": "string"},
            },
        });
        let at = Path::from_pointer("/$defs/inner");
        assert_eq!(Positions::of(&schema).monotone_part(&at), Path::root());
    }

    #[test]
    fn a_schema_that_refers_to_itself_ends() {
        let schema = json!({"properties": {"next": {"$ref": "#"}, "size": {"maximum": 3}}});
        let at = Path::from_pointer("/properties/size");
        assert_eq!(Positions::of(&schema).monotone_part(&at), at);
    }
}
