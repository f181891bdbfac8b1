//! Violations → issues: the engine's objections, described in terms of what was received.
//!
//! Takes violations; returns issues. Unions are reduced to the branch that was meant, and secret values are hidden.
//! [`super::advise`] adds what to do about an issue. Never produces text, and never decides whether a call is valid.

use serde_json::Value as Schema;

use super::expect::{Expectations, extra_items, other_keyword};
use super::properties::PropertiesByOwner;
use super::schema::CompiledSchema;
use super::union::{Meant, meant};
use super::violation::{Violation, ViolationKind};
use crate::json::{Indexed, Path, Value};
use crate::vocabulary::{BranchChoice, Expected, Issue, IssueCode, Received};

/// How many issues are collected for one call. The model gets five, and a few hundred are enough for any report; a hostile
/// object of a million unknown keys stays cheap.
const MOST_ISSUES: usize = 256;

/// How many branches of a union are examined. Real ones have a few dozen; with more than this, none is close.
const MOST_BRANCHES: usize = 256;

/// How deep unions inside unions are followed: the default depth limit of a call. A recursive schema has as many levels as its
/// value.
const UNION_DEPTH: usize = 100;

/// Turns each objection into an issue, in the engine's order. Without suggestions and lists of allowed keys: repair asks for
/// issues after each edit, and needs neither.
pub(crate) fn located_issues(
    schema: &CompiledSchema,
    arguments: &Value<'_>,
    violations: Vec<Violation>,
) -> Vec<LocatedIssue> {
    let mut collector = IssueCollector {
        schema,
        arguments: Indexed::new(arguments),
        found: Vec::with_capacity(violations.len().min(MOST_ISSUES)),
        expectations: Expectations::new(schema),
        properties: PropertiesByOwner::new(schema),
    };
    for violation in violations {
        collector.explain(violation, None, UNION_DEPTH);
    }
    collector.found
}

/// An issue, and where in the schema it comes from.
#[derive(Debug)]
pub(crate) struct LocatedIssue {
    pub(crate) issue: Issue,
    /// The schema that contains the objecting keyword.
    pub(crate) owner: Path,
}

struct IssueCollector<'x> {
    schema: &'x CompiledSchema,
    arguments: Indexed<'x, 'x>,
    found: Vec<LocatedIssue>,
    expectations: Expectations<'x>,
    properties: PropertiesByOwner<'x>,
}

impl<'x> IssueCollector<'x> {
    fn explain(&mut self, violation: Violation, branch: Option<&BranchChoice>, unions_left: usize) {
        if self.found.len() >= MOST_ISSUES {
            return;
        }
        let Violation { at, keyword, kind } = violation;
        let owner = keyword.parent();
        let node = || self.schema.node(&owner);
        let hidden = self.schema.hides(&at);
        let (code, expected) = match kind {
            ViolationKind::Union => return self.explain_union(at, &keyword, unions_left),
            ViolationKind::Required(key) => {
                let (code, received) = match self.dependency(&keyword, &at, &key) {
                    Some(trigger) => (IssueCode::DependentRequired, Received::key(&trigger)),
                    None => (IssueCode::Required, Received::Nothing),
                };
                let place = at.key(&key);
                let expected = match self.properties.of(&owner).get(&key) {
                    Some(property) => self.wanted(property, &place),
                    None => Expected::SomeValue,
                };
                let issue = Issue::new(place, code, expected, received);
                return self.push(issue, branch, owner);
            }
            ViolationKind::UnknownKeys(keys) => {
                return self.explain_unknown_keys(&at, &keys, branch, &owner);
            }
            // How the engine reports `additionalProperties: false` if no property is listed.
            ViolationKind::Never
                if forbids_keys(&keyword)
                    && self.arguments.at(&at).and_then(Value::as_object).is_some() =>
            {
                let keys = self.keys_at(&at);
                return self.explain_unknown_keys(&at, &keys, branch, &owner);
            }
            ViolationKind::PropertyName(name, rule) => {
                let expected = Expected::KeyThatIs(rule.map(Box::new));
                let (path, code) = (at.key(&name), IssueCode::PropertyName);
                let issue = Issue::new(path, code, expected, Received::key(&name));
                return self.push(issue, branch, owner);
            }
            ViolationKind::Enum(_) if hidden => {
                (IssueCode::Enum, Expected::Hidden(IssueCode::Enum))
            }
            ViolationKind::Const(_) if hidden => {
                (IssueCode::Const, Expected::Hidden(IssueCode::Const))
            }
            ViolationKind::Not(_) if hidden => (IssueCode::Not, Expected::Hidden(IssueCode::Not)),
            ViolationKind::Enum(allowed) => (IssueCode::Enum, Expected::OneOf(allowed)),
            ViolationKind::Const(wanted) => (IssueCode::Const, Expected::Constant(wanted)),
            ViolationKind::Type(names) => (
                IssueCode::Type,
                self.expectations.expected_types(&names, node),
            ),
            ViolationKind::ExtraItems => (IssueCode::MaxItems, extra_items(node())),
            ViolationKind::Not(ruled_out) => {
                (IssueCode::Not, self.expectations.ruled_out(ruled_out))
            }
            ViolationKind::Never => (IssueCode::NotAllowed, Expected::Nothing),
            ViolationKind::Contains => {
                let node = if hidden { None } else { node() };
                (IssueCode::Contains, self.expectations.expected_items(node))
            }
            ViolationKind::Expected(code, expected) => (code, expected),
            ViolationKind::Other(name) => (IssueCode::Other, other_keyword(node(), name)),
        };
        let received = self.received(&at, matches!(expected, Expected::Limit { .. }));
        self.push(Issue::new(at, code, expected, received), branch, owner);
    }

    /// What a missing key should contain, as far as it may be shown.
    fn wanted(&self, property: &'x Schema, place: &Path) -> Expected {
        match self.expectations.expectation(property) {
            Expected::OneOf(_) if self.schema.hides(place) => Expected::Hidden(IssueCode::Enum),
            Expected::Constant(_) if self.schema.hides(place) => Expected::Hidden(IssueCode::Const),
            expected => expected,
        }
    }

    /// What was received at a path, as far as it may be shown.
    fn received(&self, at: &Path, with_length: bool) -> Received {
        match self.arguments.at(at) {
            None => Received::Nothing,
            Some(value) if self.schema.hides(at) => Received::Hidden(value.kind()),
            Some(value) if with_length => Received::length(value),
            Some(value) => Received::value(value),
        }
    }

    fn push(&mut self, mut issue: Issue, branch: Option<&BranchChoice>, owner: Path) {
        if self.found.len() < MOST_ISSUES {
            issue.branch = branch.cloned().map(Box::new);
            self.found.push(LocatedIssue { issue, owner });
        }
    }

    fn explain_union(&mut self, at: Path, union: &Path, unions_left: usize) {
        let branches = self.schema.node(union).and_then(Schema::as_array);
        let branches = branches.map(Vec::as_slice).unwrap_or_default();
        let named = &branches[..branches.len().min(MOST_BRANCHES)];
        let (code, expected) = match self.look_into_union(&at, union, branches, unions_left) {
            Meant::Branch {
                index,
                violations,
                reason,
            } => {
                let choice = BranchChoice {
                    union: union.clone(),
                    index,
                    reason,
                };
                for violation in violations {
                    self.explain(violation, Some(&choice), unions_left - 1);
                }
                return;
            }
            Meant::Merged(kind, at) => {
                let keyword = union.clone();
                let merged = Violation { at, keyword, kind };
                return self.explain(merged, None, unions_left - 1);
            }
            Meant::Several => {
                let all = self.expectations.expectations(named);
                (IssueCode::SeveralBranches, Expected::ExactlyOneOf(all))
            }
            Meant::NoneNear => {
                let all = self.expectations.expectations(named);
                (IssueCode::Union, Expected::AnyOf(all))
            }
        };
        let received = self.received(&at, false);
        self.push(
            Issue::new(at, code, expected, received),
            None,
            union.parent(),
        );
    }

    /// Finds the branch that was meant.
    fn look_into_union(
        &self,
        at: &Path,
        union: &Path,
        branches: &[Schema],
        unions_left: usize,
    ) -> Meant {
        let here = self.arguments.at(at);
        let is_looked_into = unions_left > 0 && branches.len() <= MOST_BRANCHES;
        let violations: Option<Vec<Vec<Violation>>> =
            here.filter(|_| is_looked_into).and_then(|value| {
                (0..branches.len())
                    .map(|index| {
                        self.schema
                            .branch_violations(&union.index(index), value, at)
                    })
                    .collect()
            });
        let Some(violations) = violations else {
            return Meant::NoneNear;
        };
        let schemas = branches.iter().map(|branch| self.schema.follow(branch));
        meant(at, violations, &schemas.collect::<Vec<_>>(), here)
    }

    fn explain_unknown_keys(
        &mut self,
        at: &Path,
        keys: &[String],
        branch: Option<&BranchChoice>,
        owner: &Path,
    ) {
        for key in keys.iter().take(MOST_ISSUES) {
            let (code, received) = (IssueCode::UnknownKey, Received::key(key));
            let issue = Issue::new(at.key(key), code, Expected::NoFurtherKeys, received);
            self.push(issue, branch, owner.clone());
        }
    }

    fn keys_at(&self, at: &Path) -> Vec<String> {
        let members = self.arguments.at(at).and_then(Value::as_object);
        let keys = members.unwrap_or_default().iter();
        keys.map(|(key, _)| key.clone().into_owned()).collect()
    }

    /// The present key that makes this one required, if any.
    fn dependency(&self, keyword: &Path, at: &Path, required: &str) -> Option<String> {
        let rule = keyword.parent();
        let name = keyword.last()?;
        Some(
            if let "dependentRequired" | "dependencies" = name.as_ref() {
                // The engine names the rule as a whole: which of its keys is present and requires this one?
                let rules = self.schema.node(keyword)?.as_object()?;
                let sent = self.keys_at(at);
                let asks = |wanted: &Schema| {
                    let mut all = wanted.as_array().into_iter().flatten();
                    all.any(|key| key == required)
                };
                let mut triggers = rules.iter().filter(|(key, _)| sent.contains(key));
                triggers.find(|(_, wanted)| asks(wanted))?.0.clone()
            } else if let Some("dependentRequired" | "dependentSchemas" | "dependencies") =
                rule.parent().last().as_deref()
                && !is_property(&rule.parent())
            {
                rule.last()?.into_owned()
            } else if let Some("dependentRequired" | "dependencies") = rule.last().as_deref()
                && !is_property(&rule)
            {
                name.into_owned()
            } else {
                return None;
            },
        )
    }
}

/// Whether a keyword forbids keys, and is not a property of that name.
fn forbids_keys(keyword: &Path) -> bool {
    matches!(
        keyword.last().as_deref(),
        Some("additionalProperties" | "unevaluatedProperties")
    ) && !is_property(keyword)
}

/// Whether the end of a schema path is the name of a property, which may be any word.
fn is_property(path: &Path) -> bool {
    path.parent().last().as_deref() == Some("properties")
}
