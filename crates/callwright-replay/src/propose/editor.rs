//! Carries out relaxations of one family at one place, changing the schema as little as possible.

use callwright::json::Path;
use serde_json::{Value as Json, json};

use super::ChangeKind;
use super::node::{
    forbids, is_upper, of_type, requires, with_any_key, with_any_value, with_branch, with_key,
    with_limit, with_look, with_nullable, with_type, with_values, without, without_required,
    wrapped,
};
use super::relaxation::{AddedType, Relaxation};
use super::target::{self, SEVERAL_MEANT, Targets, Why};
use crate::schema::{PartValidator, Positions, SchemaPart, SizeLimit, children, follow, places};

/// From this many legitimate values on, an enum is no longer a list of values.
const OPEN_ENUM_FROM: usize = 21;

/// How deep a schema is searched for `nullable`.
const DEEPEST: usize = 32;

/// A schema to be changed.
pub(super) struct Editor<'s> {
    pub(super) root: &'s Json,
    pub(super) positions: Positions<'s>,
    validator: PartValidator<'s>,
}

/// What one change has to allow.
#[derive(Debug)]
pub(super) struct ChangeRequest<'o> {
    /// The place in the arguments.
    pub(super) path: &'o str,
    pub(super) relaxations: &'o [Relaxation],
    /// Values that must be accepted afterwards.
    pub(super) samples: &'o [Json],
    /// Whether something else violates the same keyword at the same place, and is not an edge case.
    pub(super) beside_others: bool,
}

/// A schema, changed or being changed.
#[derive(Debug)]
pub(super) struct Edited {
    pub(super) schema: Json,
    pub(super) change: ChangeKind,
    /// The parts that were changed.
    pub(super) nodes: Vec<Path>,
    /// Whether the change is looser by construction.
    pub(super) by_construction: bool,
    /// What is newly allowed, for the title: `null`, `"urgent"`.
    pub(super) what: String,
}

impl Edited {
    fn new(root: &Json, change: ChangeKind, what: String) -> Self {
        Edited {
            schema: root.clone(),
            change,
            nodes: Vec::new(),
            by_construction: true,
            what,
        }
    }

    /// Changes the part at a place.
    fn edit(&mut self, at: &Path, edit: impl FnOnce(&Json) -> Option<Json>) -> Result<(), Why> {
        let node = self.schema.pointer_mut(at.as_pointer());
        let node = node.ok_or("the place is gone")?;
        *node = edit(node).ok_or("nothing to change")?;
        if !self.nodes.contains(at) {
            self.nodes.push(at.clone());
        }
        Ok(())
    }
}

impl<'s> Editor<'s> {
    pub(super) fn of(root: &'s Json) -> Self {
        Editor {
            root,
            positions: Positions::of(root),
            validator: PartValidator::of(root),
        }
    }

    /// Changes the schema.
    ///
    /// # Errors
    /// Fails with the reason if there is no single place to change, or no change that works.
    pub(super) fn carry_out(&mut self, request: &ChangeRequest<'_>) -> Result<Edited, Why> {
        let all = || request.relaxations.iter();
        let edited = match all().next().ok_or("nothing is asked for")? {
            Relaxation::Value(Json::Null) => self.types(request, &[AddedType::Null]),
            Relaxation::Type(_) => {
                let types = all().filter_map(|it| match it {
                    Relaxation::Type(kind) => Some(kind.clone()),
                    _ => None,
                });
                self.types(request, &one_text(types.collect()))
            }
            Relaxation::Value(_) => self.values(request),
            Relaxation::Optional(key) => {
                return self.around(request.path, ChangeKind::Optional, String::new(), &|node| {
                    requires(node, key).then(|| without_required(node, key))?
                });
            }
            Relaxation::Key(key, _) => return self.key(request, key),
            Relaxation::Limit(limit, first) => {
                let to = all().fold(*first, |to, it| match it {
                    Relaxation::Limit(_, other) if limit.is_tighter(to, *other) => *other,
                    _ => to,
                });
                let (change, what) = widened(limit, to);
                self.keyword(request, change, what, &|node| with_limit(node, limit, to))
            }
            Relaxation::Without(keyword) => {
                let what = format!("any value without `{keyword}`");
                let drop = |node: &Json| without(node, keyword);
                self.keyword(request, ChangeKind::WiderRange, what, &drop)
            }
            Relaxation::Look(keyword, _) => self.look(request, keyword),
        }?;
        verify(request, &edited)?;
        Ok(edited)
    }

    /// The places where a change for values must be made.
    fn objecting(&mut self, request: &ChangeRequest<'_>) -> Result<Vec<SchemaPart>, Why> {
        let mut all = places(self.root, request.path);
        if all.is_empty() {
            return Err("no part of the schema is about this place");
        }
        all.retain(|place| target::objects(&mut self.validator, &place.at, request.samples));
        target::firm_or_only(all)
    }

    /// Adds types.
    fn types(&mut self, request: &ChangeRequest<'_>, types: &[AddedType]) -> Result<Edited, Why> {
        let change = match types {
            [AddedType::Null] => ChangeKind::Nullable,
            _ => ChangeKind::WiderType,
        };
        let what: Vec<String> = types.iter().map(AddedType::with_article).collect();
        let mut edited = Edited::new(self.root, change, what.join(" or "));
        for place in self.objecting(request)? {
            for kind in types {
                self.one_type(&mut edited, place.at.clone(), kind)?;
            }
        }
        Ok(edited)
    }

    fn one_type(&self, edited: &mut Edited, at: Path, kind: &AddedType) -> Result<(), Why> {
        const COMBINED: [&str; 9] = [
            "$ref", "allOf", "anyOf", "oneOf", "not", "if", "const", "enum", "type",
        ];
        let mut at = at;
        loop {
            let node = edited.schema.pointer(at.as_pointer());
            let node = node.ok_or("the place is gone")?;
            let has: Vec<&str> = COMBINED
                .into_iter()
                .filter(|keyword| node.get(keyword).is_some())
                .collect();
            let is_null = *kind == AddedType::Null;
            let branch = of_type(kind, is_upper(node));
            let changed = match &has[..] {
                ["$ref"] => match follow(self.root, node) {
                    Some(target) if self.positions.uses(&target) <= 1 => {
                        at = target;
                        continue;
                    }
                    _ => Some(wrapped(node, &branch)),
                },
                _ if is_null && (uses_nullable(self.root, DEEPEST) || is_upper(node)) => {
                    Some(with_nullable(node))
                }
                ["anyOf"] => with_branch(node, "anyOf", branch),
                ["oneOf"] => {
                    edited.by_construction = false;
                    with_branch(node, "oneOf", branch)
                }
                ["enum"] | ["enum", "type"] if is_null => with_values(node, &[Json::Null]),
                // If it already has the type, something else objects.
                ["type"] => Some(
                    with_type(node, kind)
                        .ok_or("the type is allowed, and something else objects")?,
                ),
                _ => Some(wrapped(node, &branch)),
            };
            return edited.edit(&at, |_| changed);
        }
    }

    /// Adds values to an enum.
    fn values(&mut self, request: &ChangeRequest<'_>) -> Result<Edited, Why> {
        let values: Vec<Json> = (request.relaxations.iter())
            .filter_map(|it| match it {
                Relaxation::Value(value) => Some(value.clone()),
                _ => None,
            })
            .collect();
        let is_open = values.len() >= OPEN_ENUM_FROM;
        let (change, what) = if is_open {
            (ChangeKind::OpenEnum, "any value of its type".to_owned())
        } else {
            let written: Vec<String> = values.iter().map(Json::to_string).collect();
            (ChangeKind::WiderEnum, written.join(" or "))
        };
        let mut edited = Edited::new(self.root, change, what);
        let lists = |node: &Json| node.get("enum").is_some() || node.get("const").is_some();
        for place in &self.objecting(request)? {
            let entry = self.root.pointer(place.at.as_pointer());
            let referred = entry.and_then(|entry| follow(self.root, entry));
            if referred.is_some_and(|target| self.positions.uses(&target) > 1) {
                let branch = json!({"enum": values});
                edited.edit(&place.at, |entry| Some(wrapped(entry, &branch)))?;
                continue;
            }
            match target::targets(
                self.root,
                &mut self.validator,
                place,
                request.samples,
                &lists,
            ) {
                Targets::Nodes(nodes) => {
                    for at in nodes {
                        edited.edit(&at, |node| {
                            if is_open {
                                with_any_value(node, &values)
                            } else {
                                with_values(node, &values)
                            }
                        })?;
                    }
                }
                Targets::Branches(at, union) => {
                    let branch = match &values[..] {
                        [only] => json!({"const": only}),
                        several => json!({"enum": several}),
                    };
                    edited.by_construction &= union == "anyOf";
                    edited.edit(&at, |node| with_branch(node, union, branch))?;
                }
                Targets::None => return Err("no list of values objects to it"),
                Targets::Several => return Err(SEVERAL_MEANT),
            }
        }
        Ok(edited)
    }

    /// Changes or drops a keyword wherever it objects.
    fn keyword(
        &mut self,
        request: &ChangeRequest<'_>,
        change: ChangeKind,
        what: String,
        edit: &dyn Fn(&Json) -> Option<Json>,
    ) -> Result<Edited, Why> {
        let mut edited = Edited::new(self.root, change, what);
        let holds = |node: &Json| edit(node).is_some();
        for place in &self.objecting(request)? {
            match target::targets(
                self.root,
                &mut self.validator,
                place,
                request.samples,
                &holds,
            ) {
                Targets::Nodes(nodes) => {
                    for at in nodes {
                        edited.edit(&at, edit)?;
                    }
                }
                Targets::Branches(_, _) | Targets::Several => return Err(SEVERAL_MEANT),
                Targets::None => return Err("no keyword objects to it"),
            }
        }
        Ok(edited)
    }

    /// Removes a format or a pattern; only for such texts if others are not edge cases.
    fn look(&mut self, request: &ChangeRequest<'_>, keyword: &'static str) -> Result<Edited, Why> {
        let only_ascii =
            (request.samples.iter()).all(|sample| sample.as_str().is_none_or(str::is_ascii));
        let looks = || {
            request.relaxations.iter().filter_map(|it| match it {
                Relaxation::Look(_, look) => Some(look),
                _ => None,
            })
        };
        let patterns: Option<Vec<String>> = looks().map(|look| look.pattern(only_ascii)).collect();
        if let Some(patterns) = patterns.filter(|_| request.beside_others) {
            let names: Vec<&str> = looks().map(|look| look.name.as_str()).collect();
            let what = format!("a text {}", names.join(" or "));
            let widen = |node: &Json| with_look(node, keyword, &patterns);
            self.keyword(request, ChangeKind::NoFormat, what, &widen)
        } else {
            let what = format!("any text without `{keyword}`");
            let drop = |node: &Json| without(node, keyword);
            self.keyword(request, ChangeKind::NoFormat, what, &drop)
        }
    }

    /// Allows a key that the schema does not name.
    fn key(&mut self, request: &ChangeRequest<'_>, key: &str) -> Result<Edited, Why> {
        let mut types: Vec<&AddedType> = (request.relaxations.iter())
            .filter_map(|it| match it {
                Relaxation::Key(_, kind) => Some(kind),
                _ => None,
            })
            .collect();
        types.sort_by_key(|kind| kind.name());
        types.dedup();
        let seen = types.iter().filter(|kind| ***kind != AddedType::Any);
        let what: Vec<String> = seen.map(|kind| kind.with_article()).collect();
        let add = |node: &Json| {
            let (first, rest) = types.split_first()?;
            let first = of_type(first, is_upper(node));
            let schema = rest.iter().fold(first, |schema, kind| {
                with_type(&schema, kind).unwrap_or(schema)
            });
            forbids(node, key).then(|| with_key(node, key, schema))?
        };
        let mut edited =
            self.around(request.path, ChangeKind::MoreKeys, what.join(" or "), &add)?;
        // If a pattern or another keyword decides about the key, nothing is known by construction.
        edited.by_construction = edited.nodes.iter().all(|at| {
            let node = self.root.pointer(at.as_pointer()).unwrap_or(&Json::Null);
            node.get("additionalProperties").is_some() && node.get("patternProperties").is_none()
        });
        Ok(edited)
    }

    /// Allows any key, if too many are missing to name them.
    pub(super) fn any_key(&self, path: &str, key: &str) -> Result<Edited, Why> {
        self.around(path, ChangeKind::MoreKeys, "any key".to_owned(), &|node| {
            forbids(node, key).then(|| with_any_key(node))?
        })
    }

    /// Changes the parts around a key that an edit applies to.
    fn around(
        &self,
        path: &str,
        change: ChangeKind,
        what: String,
        edit: &dyn Fn(&Json) -> Option<Json>,
    ) -> Result<Edited, Why> {
        let mut edited = Edited::new(self.root, change, what);
        for at in target::around(self.root, path, &|node| edit(node).is_some())? {
            edited.edit(&at, edit)?;
        }
        Ok(edited)
    }
}

/// Whether the change achieves its purpose.
fn verify(request: &ChangeRequest<'_>, edited: &Edited) -> Result<(), Why> {
    let mut validator = PartValidator::of(&edited.schema);
    let all = places(&edited.schema, request.path);
    let are_alternatives = all.iter().all(|place| place.is_alternative);
    for sample in request.samples {
        let mut refuses = |place: &SchemaPart| validator.accepts(&place.at, sample) == Some(false);
        let is_refused = if are_alternatives {
            all.iter().all(&mut refuses)
        } else {
            all.iter()
                .any(|place| !place.is_alternative && refuses(place))
        };
        if is_refused {
            return Err("one change alone does not allow it");
        }
    }
    Ok(())
}

fn widened(limit: &SizeLimit, to: f64) -> (ChangeKind, String) {
    match (limit.unit, limit.is_upper) {
        ("", true) => (ChangeKind::WiderRange, format!("up to {to}")),
        ("", false) => (ChangeKind::WiderRange, format!("down to {to}")),
        (unit, true) => (ChangeKind::WiderLength, format!("up to {to} {unit}")),
        (unit, false) => (ChangeKind::WiderLength, format!("as few as {to} {unit}")),
    }
}

/// Texts of several formats are plain texts.
fn one_text(mut types: Vec<AddedType>) -> Vec<AddedType> {
    let is_text = |kind: &AddedType| kind.keyword() == AddedType::String.keyword();
    let mut texts: Vec<&AddedType> = types.iter().filter(|kind| is_text(kind)).collect();
    texts.dedup();
    if texts.len() > 1 {
        types.retain(|kind| !is_text(kind));
        types.push(AddedType::String);
    }
    types
}

/// Whether a schema says `nullable` anywhere, as OpenAPI does.
fn uses_nullable(node: &Json, levels: usize) -> bool {
    levels > 0
        && (node.get("nullable").is_some_and(Json::is_boolean)
            || (children(node).into_iter()).any(|(_, inner, _)| uses_nullable(inner, levels - 1)))
}
