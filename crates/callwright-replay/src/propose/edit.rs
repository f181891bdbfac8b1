//! Wishes of one family at one place → the schema, changed as little as will do.

use callwright::json::Path;
use serde_json::{Value as Json, json};

use super::Change;
use super::draft::{Edits, uses_nullable, verify};
use super::node::{
    self, forbids, is_upper, of_type, requires, with_any_key, with_any_value, with_key, with_limit,
    with_look, with_type, with_values, without, without_required, wrapped,
};
use super::sketch::pattern_of;
use super::target::{Target, targets};
use super::title::with_article;
use super::wish::Wish;
use crate::schema::{Judge, Place, Positions, follow, places};

/// From so many legitimate values on an enum is no list of values any more.
const OPEN_ENUM_FROM: usize = 21;

/// A schema and how it is to be changed.
pub(super) struct Editor<'s> {
    pub(super) root: &'s Json,
    pub(super) positions: Positions<'s>,
    pub(super) judge: Judge<'s>,
}

/// What one change wants.
#[derive(Debug)]
pub(super) struct Order<'o> {
    /// The place in the arguments.
    pub(super) path: &'o str,
    pub(super) wishes: &'o [Wish],
    /// Values that must be accepted afterwards.
    pub(super) samples: &'o [Json],
    /// Whether something else breaks the same keyword at the same place, and is no edge case.
    pub(super) beside_others: bool,
}

/// A changed schema.
#[derive(Debug)]
pub(super) struct Edited {
    pub(super) schema: Json,
    pub(super) change: Change,
    /// The parts that were changed.
    pub(super) nodes: Vec<Path>,
    /// Whether the change is looser by construction.
    pub(super) by_construction: bool,
    /// What is allowed now, for the title: `null`, `"urgent"`.
    pub(super) what: String,
}

impl<'s> Editor<'s> {
    pub(super) fn of(root: &'s Json) -> Self {
        Editor {
            root,
            positions: Positions::of(root),
            judge: Judge::of(root),
        }
    }

    /// Carries out an order.
    ///
    /// # Errors
    /// Fails with the reason if there is no single place to change, or no change that does it.
    pub(super) fn carry_out(&mut self, order: &Order<'_>) -> Result<Edited, String> {
        let first = order.wishes.first().ok_or("nothing is asked for")?;
        let edited = match first {
            Wish::Value(Json::Null) => self.types(order, &["null".to_owned()]),
            Wish::Type(_) => {
                let names = order.wishes.iter().filter_map(|wish| match wish {
                    Wish::Type(name) => Some(name.clone()),
                    _ => None,
                });
                self.types(order, &one_text(names.collect()))
            }
            Wish::Value(_) => self.values(order),
            Wish::Optional(key) => self.optional(order, key),
            Wish::Key(key, _) => self.key(order, key),
            Wish::AtMost(limit, _) | Wish::AtLeast(limit, _) => {
                let most = matches!(first, Wish::AtMost(_, _));
                let to = order.wishes.iter().filter_map(|wish| match wish {
                    Wish::AtMost(_, to) | Wish::AtLeast(_, to) => Some(*to),
                    _ => None,
                });
                let to = if most {
                    to.fold(f64::NEG_INFINITY, f64::max)
                } else {
                    to.fold(f64::INFINITY, f64::min)
                };
                let limit = *limit;
                let (change, what) = match (limit.unit(), most) {
                    (None, true) => (Change::WiderRange, format!("up to {to}")),
                    (None, false) => (Change::WiderRange, format!("down to {to}")),
                    (Some(unit), true) => (Change::WiderLength, format!("up to {to} {unit}")),
                    (Some(unit), false) => (Change::WiderLength, format!("as few as {to} {unit}")),
                };
                self.keyword(order, change, what, |node| {
                    with_limit(node, limit, most, to)
                })
            }
            Wish::Without(keyword) => {
                let what = format!("any value without `{keyword}`");
                self.keyword(order, Change::WiderRange, what, |node| {
                    without(node, keyword)
                })
            }
            Wish::Look(keyword, _) => self.look(order, keyword),
        }?;
        verify(order, &edited)?;
        Ok(edited)
    }

    /// The places that a change for values must be made at.
    fn objecting(&mut self, order: &Order<'_>) -> Result<Vec<Place>, String> {
        let all = places(self.root, order.path);
        if all.is_empty() {
            return Err("no part of the schema speaks about this place".to_owned());
        }
        let mut left = Vec::new();
        for place in all {
            let mut samples = order.samples.iter();
            if order.samples.is_empty()
                || samples.any(|sample| self.judge.accepts(&place.at, sample) == Some(false))
            {
                left.push(place);
            }
        }
        let firm: Vec<Place> = left
            .iter()
            .filter(|it| !it.is_alternative)
            .cloned()
            .collect();
        match (&firm[..], &left[..]) {
            ([], []) => Err("the newest declaration allows it already".to_owned()),
            ([], [_]) => Ok(left),
            ([], _) => Err("several alternatives of the schema could be meant".to_owned()),
            _ => Ok(firm),
        }
    }

    /// More types.
    fn types(&mut self, order: &Order<'_>, names: &[String]) -> Result<Edited, String> {
        let places = self.objecting(order)?;
        let mut edits = Edits::on(self.root);
        for place in places {
            for name in names {
                self.one_type(&mut edits, place.at.clone(), name)?;
            }
        }
        let change = match names {
            [only] if only == "null" => Change::Nullable,
            _ => Change::WiderType,
        };
        let what: Vec<String> = names.iter().map(|name| with_article(name)).collect();
        Ok(edits.done(change, what.join(" or ")))
    }

    fn one_type(&mut self, edits: &mut Edits, mut at: Path, name: &str) -> Result<(), String> {
        const COMBINED: [&str; 9] = [
            "$ref", "allOf", "anyOf", "oneOf", "not", "if", "const", "enum", "type",
        ];
        loop {
            let node = edits.node(&at)?;
            let has: Vec<&str> = COMBINED
                .into_iter()
                .filter(|keyword| node.get(keyword).is_some())
                .collect();
            let branch = of_type(name, is_upper(&node));
            let changed = match &has[..] {
                ["$ref"] => match follow(self.root, &node) {
                    Some(target) if self.positions.uses(&target) <= 1 => {
                        at = target;
                        continue;
                    }
                    _ => wrapped(&node, &branch),
                },
                _ if name == "null" && (uses_nullable(self.root) || is_upper(&node)) => {
                    let mut changed = node.clone();
                    if let Some(members) = changed.as_object_mut() {
                        members.insert("nullable".to_owned(), Json::Bool(true));
                    }
                    changed
                }
                ["anyOf"] => node::with_branch(&node, "anyOf", branch).ok_or("no union")?,
                ["oneOf"] => {
                    edits.by_construction = false;
                    node::with_branch(&node, "oneOf", branch).ok_or("no union")?
                }
                ["enum"] | ["enum", "type"] if name == "null" => {
                    with_values(&node, &[Json::Null]).ok_or("no list of values")?
                }
                ["type"] => match with_type(&node, name) {
                    Some(changed) => changed,
                    // It has the type, and something else is in the way.
                    None => return Err("the type is allowed, and something else objects".into()),
                },
                _ => wrapped(&node, &branch),
            };
            return edits.set(&at, changed);
        }
    }

    /// More values of an enum.
    fn values(&mut self, order: &Order<'_>) -> Result<Edited, String> {
        let values: Vec<Json> = order
            .wishes
            .iter()
            .filter_map(|wish| match wish {
                Wish::Value(value) => Some(value.clone()),
                _ => None,
            })
            .collect();
        let places = self.objecting(order)?;
        let mut edits = Edits::on(self.root);
        let lists = |node: &Json| node.get("enum").is_some() || node.get("const").is_some();
        let open = values.len() >= OPEN_ENUM_FROM;
        for place in &places {
            let entry = edits.node(&place.at)?;
            let referred = follow(self.root, &entry);
            if referred.is_some_and(|target| self.positions.uses(&target) > 1) {
                edits.set(&place.at, wrapped(&entry, &json!({"enum": values})))?;
                continue;
            }
            match targets(self.root, &mut self.judge, place, order.samples, &lists) {
                Target::Nodes(nodes) => {
                    for at in nodes {
                        let node = edits.node(&at)?;
                        let changed = if open {
                            with_any_value(&node, &values)
                        } else {
                            with_values(&node, &values)
                        };
                        edits.set(&at, changed.ok_or("no list of values")?)?;
                    }
                }
                Target::Branches(at, union) => {
                    let branch = match &values[..] {
                        [only] => json!({"const": only}),
                        several => json!({"enum": several}),
                    };
                    let node = edits.node(&at)?;
                    edits.by_construction &= union == "anyOf";
                    let changed = node::with_branch(&node, union, branch);
                    edits.set(&at, changed.ok_or("no union")?)?;
                }
                Target::None => return Err("no list of values objects to it".to_owned()),
                Target::Several => {
                    return Err("several alternatives of the schema could be meant".to_owned());
                }
            }
        }
        let written: Vec<String> = values.iter().map(Json::to_string).collect();
        Ok(if open {
            edits.done(Change::OpenEnum, "any value of its type".to_owned())
        } else {
            edits.done(Change::WiderEnum, written.join(" or "))
        })
    }

    /// A keyword changed or dropped, wherever it objects.
    fn keyword(
        &mut self,
        order: &Order<'_>,
        change: Change,
        what: String,
        edit: impl Fn(&Json) -> Option<Json>,
    ) -> Result<Edited, String> {
        let places = self.objecting(order)?;
        let mut edits = Edits::on(self.root);
        let holds = |node: &Json| edit(node).is_some();
        for place in &places {
            match targets(self.root, &mut self.judge, place, order.samples, &holds) {
                Target::Nodes(nodes) => {
                    for at in nodes {
                        let changed = edit(&edits.node(&at)?).ok_or("nothing to change")?;
                        edits.set(&at, changed)?;
                    }
                }
                Target::Branches(_, _) | Target::Several => {
                    return Err("several alternatives of the schema could be meant".to_owned());
                }
                Target::None => return Err("no keyword objects to it".to_owned()),
            }
        }
        Ok(edits.done(change, what))
    }

    /// A format or a pattern out of the way; only for such texts where others are no edge cases.
    fn look(&mut self, order: &Order<'_>, keyword: &'static str) -> Result<Edited, String> {
        let only_ascii = order
            .samples
            .iter()
            .all(|sample| sample.as_str().is_none_or(str::is_ascii));
        let sketches = order.wishes.iter().filter_map(|wish| match wish {
            Wish::Look(_, sketch) => Some(sketch),
            _ => None,
        });
        let patterns: Option<Vec<String>> = sketches
            .clone()
            .map(|sketch| pattern_of(sketch, only_ascii))
            .collect();
        if let Some(patterns) = patterns.filter(|_| order.beside_others) {
            let looks: Vec<&str> = sketches.map(String::as_str).collect();
            let what = format!("a text {}", looks.join(" or "));
            self.keyword(order, Change::NoFormat, what, |node| {
                with_look(node, keyword, &patterns)
            })
        } else {
            let what = format!("any text without `{keyword}`");
            self.keyword(order, Change::NoFormat, what, |node| without(node, keyword))
        }
    }

    /// A key that need not be there.
    fn optional(&mut self, order: &Order<'_>, key: &str) -> Result<Edited, String> {
        let nodes = super::target::around(self.root, order.path, &|node| requires(node, key))?;
        let mut edits = Edits::on(self.root);
        for at in nodes {
            let changed = without_required(&edits.node(&at)?, key);
            edits.set(&at, changed.ok_or("nothing requires the key")?)?;
        }
        Ok(edits.done(Change::Optional, String::new()))
    }

    /// A key that the schema does not name.
    fn key(&mut self, order: &Order<'_>, key: &str) -> Result<Edited, String> {
        let nodes = super::target::around(self.root, order.path, &|node| forbids(node, key))?;
        let mut names: Vec<&str> = order
            .wishes
            .iter()
            .filter_map(|wish| match wish {
                Wish::Key(_, name) => Some(name.as_str()),
                _ => None,
            })
            .collect();
        names.sort_unstable();
        names.dedup();
        let mut edits = Edits::on(self.root);
        for at in nodes {
            let node = edits.node(&at)?;
            let upper = is_upper(&node);
            let (first, rest) = names.split_first().ok_or("no type was seen")?;
            let mut schema = of_type(first, upper);
            for name in rest {
                schema = with_type(&schema, name).unwrap_or(schema);
            }
            let is_plain = node.get("additionalProperties").is_some()
                && node.get("patternProperties").is_none();
            edits.by_construction &= is_plain;
            edits.set(&at, with_key(&node, key, schema).ok_or("no object")?)?;
        }
        let what = names.into_iter().filter(|name| !name.is_empty());
        let what: Vec<String> = what.map(with_article).collect();
        Ok(edits.done(Change::MoreKeys, what.join(" or ")))
    }

    /// Any key, where too many are missing to name them.
    pub(super) fn any_key(&mut self, path: &str, key: &str) -> Result<Edited, String> {
        let nodes = super::target::around(self.root, path, &|node| forbids(node, key))?;
        let mut edits = Edits::on(self.root);
        for at in nodes {
            let changed = with_any_key(&edits.node(&at)?);
            edits.set(&at, changed.ok_or("no object")?)?;
        }
        Ok(edits.done(Change::MoreKeys, "any key".to_owned()))
    }
}

/// Texts of several looks are plain texts.
fn one_text(mut names: Vec<String>) -> Vec<String> {
    let is_text = |name: &String| name == "string" || name.starts_with("string as ");
    let mut texts: Vec<&String> = names.iter().filter(|name| is_text(name)).collect();
    texts.dedup();
    if texts.len() > 1 {
        names.retain(|name| !is_text(name));
        names.push("string".to_owned());
    }
    names
}
