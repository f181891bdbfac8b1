//! Faults → issues: what the engine objects to, in terms of what came and what was meant.
//!
//! Unions are reduced to the branch that was meant, a missing key that arrived under a similar name
//! becomes one issue instead of two, values that must not be shown are hidden, and the most useful
//! comes first. Nothing here decides whether a call is good.

use std::collections::HashSet;

use serde_json::Value as Schema;

use super::describe::{
    alternative, alternatives, format, literal, options, pattern, received, received_hidden,
    received_length, types,
};
use super::fault::{Fault, FaultKind};
use super::phrases::{
    bound_phrase, extra_items, near_value, other_keyword, property_name_rule, ruled_out_phrase,
};
use super::properties::Properties;
use super::rename::Renames;
use super::schema::CompiledSchema;
use super::union::{Meant, meant};
use crate::json::{Path, Value};
use crate::nearest::single_nearest;
use crate::text::{list, quoted};
use crate::words::{BranchChoice, Issue, IssueCode};

/// How many issues are found in one call. The model is told five, and some hundreds are enough for any
/// report; a hostile object of a million unknown keys stays cheap.
const MOST_ISSUES: usize = 256;

/// How deep unions inside unions are followed: as deep as a call may be by default. A recursive schema
/// has as many levels as its value.
const UNION_DEPTH: usize = 100;

/// Turns all objections into findings, one for each, in the order of the engine.
pub(crate) fn findings(
    schema: &CompiledSchema,
    arguments: &Value<'_>,
    faults: Vec<Fault>,
) -> Vec<Finding> {
    let mut explainer = Explainer {
        schema,
        arguments,
        found: Vec::new(),
    };
    for fault in faults {
        explainer.explain(fault, None, UNION_DEPTH);
    }
    explainer.found
}

/// Turns all objections into issues, the most useful first.
pub(crate) fn issues(
    schema: &CompiledSchema,
    arguments: &Value<'_>,
    faults: Vec<Fault>,
) -> Vec<Issue> {
    let mut found = findings(schema, arguments, faults);
    Renames::find(schema, arguments, &found).apply(&mut found);
    name_received_keys(schema, arguments, &mut found);
    if found.len() > 1 {
        settle(&mut found);
    }
    found.into_iter().map(|finding| finding.issue).collect()
}

/// Sorts findings by usefulness and leaves out what others say better.
fn settle(found: &mut Vec<Finding>) {
    found.sort_by_key(|finding| finding.issue.code);
    // The allowed values say more than their type.
    let listed: HashSet<Path> = found
        .iter()
        .filter(|finding| matches!(finding.issue.code, IssueCode::Enum | IssueCode::Const))
        .map(|finding| finding.issue.path.clone())
        .collect();
    if !listed.is_empty() {
        found.retain(|Finding { issue, .. }| {
            issue.code != IssueCode::Type || !listed.contains(&issue.path)
        });
    }
    let mut seen = HashSet::with_capacity(found.len());
    found.retain(|Finding { issue, .. }| {
        seen.insert((issue.path.clone(), issue.code, issue.expected.clone()))
    });
}

/// An issue, and where in the schema it comes from.
#[derive(Debug)]
pub(crate) struct Finding {
    pub(crate) issue: Issue,
    /// The schema that holds the objecting keyword.
    pub(crate) owner: Path,
}

impl Finding {
    /// Arguments that are no object.
    pub(crate) fn not_an_object(value: &Value<'_>) -> Finding {
        Finding {
            issue: Issue {
                path: Path::root(),
                code: IssueCode::Type,
                expected: "object".to_owned(),
                received: received(value),
                suggestion: None,
                branch: None,
            },
            owner: Path::root(),
        }
    }
}

struct Explainer<'x> {
    schema: &'x CompiledSchema,
    arguments: &'x Value<'x>,
    found: Vec<Finding>,
}

impl Explainer<'_> {
    fn explain(&mut self, fault: Fault, branch: Option<&BranchChoice>, unions_left: usize) {
        if self.found.len() >= MOST_ISSUES {
            return;
        }
        let owner = fault.keyword.parent();
        let node = self.schema.node(&owner);
        let here = self.arguments.at(&fault.at);
        let hidden = self.schema.hides(&fault.at);
        let came = match here {
            Some(value) if hidden => received_hidden(value),
            Some(value) => match fault.kind {
                FaultKind::Bound(_, _) => received_length(value),
                _ => received(value),
            },
            None => String::new(),
        };
        let mut suggestion = None;
        let (code, expected) = match fault.kind {
            FaultKind::Union => {
                return self.explain_union(fault.at, &fault.keyword, came, unions_left);
            }
            FaultKind::Required(key) => {
                let (code, came) = match self.dependency(&fault.keyword, &fault.at, &key) {
                    Some(trigger) => (IssueCode::DependentRequired, trigger),
                    None => (IssueCode::Required, String::new()),
                };
                let expected = self.required_type(&owner, &key);
                return self.push(
                    fault.at.key(&key),
                    code,
                    expected,
                    came,
                    None,
                    branch,
                    owner,
                );
            }
            FaultKind::UnknownKeys(keys) => {
                return self.explain_unknown_keys(&fault.at, &keys, branch, &owner);
            }
            // What the engine makes of `additionalProperties: false` where no property is listed.
            FaultKind::Never if forbids_keys(&fault.keyword) && here.is_some_and(is_object) => {
                let keys = self.keys_at(&fault.at);
                return self.explain_unknown_keys(&fault.at, &keys, branch, &owner);
            }
            FaultKind::PropertyName { name, inner } => {
                let expected = property_name_rule(inner.kind);
                let came = format!("key {}", quoted(&name, 30));
                let (at, code) = (fault.at.key(&name), IssueCode::PropertyName);
                return self.push(at, code, expected, came, None, branch, owner);
            }
            FaultKind::Enum(_) if hidden => {
                (IssueCode::Enum, "one of the allowed values".to_owned())
            }
            FaultKind::Const(_) if hidden => (IssueCode::Const, "the allowed value".to_owned()),
            FaultKind::Not(_) if hidden => (IssueCode::Not, "another value".to_owned()),
            FaultKind::Contains if hidden => (
                IssueCode::Contains,
                "array that contains a certain item".to_owned(),
            ),
            FaultKind::Enum(allowed) => {
                let allowed = allowed.as_array().map(Vec::as_slice).unwrap_or_default();
                suggestion = here.and_then(|value| near_value(value, allowed));
                (IssueCode::Enum, options(allowed))
            }
            FaultKind::Const(wanted) => {
                let allowed = std::slice::from_ref(wanted.as_ref());
                suggestion = here.and_then(|value| near_value(value, allowed));
                (IssueCode::Const, literal(&wanted))
            }
            FaultKind::Type(names) => (IssueCode::Type, types(&names, node, self.schema)),
            FaultKind::ExtraItems => (IssueCode::MaxItems, extra_items(node)),
            FaultKind::Not(ruled_out) => (
                IssueCode::Not,
                format!("anything but {}", ruled_out_phrase(&ruled_out, self.schema)),
            ),
            FaultKind::Never => (IssueCode::NotAllowed, "nothing here".to_owned()),
            FaultKind::Contains => (IssueCode::Contains, self.contained(node)),
            FaultKind::UniqueItems => (IssueCode::UniqueItems, "unique items".to_owned()),
            FaultKind::Format(name) => (IssueCode::Format, format(&name)),
            FaultKind::Pattern(regex) => (IssueCode::Pattern, pattern(&regex)),
            FaultKind::Undecided => (
                IssueCode::Pattern,
                "shorter text: its pattern takes too many steps".to_owned(),
            ),
            FaultKind::MultipleOf(step) => (IssueCode::MultipleOf, format!("a multiple of {step}")),
            FaultKind::Bound(bound, limit) => bound_phrase(bound, &limit),
            FaultKind::Other(keyword) => (IssueCode::Other, other_keyword(node, &keyword)),
        };
        self.push(fault.at, code, expected, came, suggestion, branch, owner);
    }

    #[expect(
        clippy::too_many_arguments,
        reason = "the fields of a finding, in order"
    )]
    fn push(
        &mut self,
        path: Path,
        code: IssueCode,
        expected: String,
        received: String,
        suggestion: Option<String>,
        branch: Option<&BranchChoice>,
        owner: Path,
    ) {
        if self.found.len() >= MOST_ISSUES {
            return;
        }
        self.found.push(Finding {
            issue: Issue {
                path,
                code,
                expected,
                received,
                suggestion,
                branch: branch.cloned(),
            },
            owner,
        });
    }

    fn explain_union(&mut self, at: Path, union: &Path, came: String, unions_left: usize) {
        let (outcome, phrases) = self.look_into_union(&at, union, unions_left);
        let owner = union.parent();
        match outcome {
            Meant::Branch {
                index,
                faults,
                reason,
            } => {
                let choice = BranchChoice {
                    union: union.clone(),
                    index,
                    reason,
                };
                for fault in faults {
                    self.explain(fault, Some(&choice), unions_left - 1);
                }
            }
            Meant::Merged(kind, at) => {
                let keyword = union.clone();
                self.explain(Fault { at, keyword, kind }, None, unions_left - 1);
            }
            Meant::Several => {
                let expected = format!("exactly one of {phrases}");
                let code = IssueCode::SeveralBranches;
                self.push(at, code, expected, came, None, None, owner);
            }
            Meant::NoneNear => {
                self.push(at, IssueCode::Union, phrases, came, None, None, owner);
            }
        }
    }

    /// Which branch was meant, and all branches in words.
    fn look_into_union(&self, at: &Path, union: &Path, unions_left: usize) -> (Meant, String) {
        let branches = self.schema.node(union).and_then(Schema::as_array);
        let branches = branches.map(Vec::as_slice).unwrap_or_default();
        let phrases = alternatives(
            branches
                .iter()
                .map(|branch| alternative(branch, self.schema)),
        );
        let here = self.arguments.at(at);
        let faults: Option<Vec<Vec<Fault>>> = here.filter(|_| unions_left > 0).and_then(|value| {
            (0..branches.len())
                .map(|index| self.schema.branch_faults(&union.index(index), value, at))
                .collect()
        });
        let outcome = match faults {
            Some(faults) => {
                let schemas: Vec<Option<&Schema>> = branches
                    .iter()
                    .map(|branch| Some(self.schema.follow(branch)))
                    .collect();
                meant(at, faults, &schemas, here)
            }
            None => Meant::NoneNear,
        };
        (outcome, phrases)
    }

    fn explain_unknown_keys(
        &mut self,
        at: &Path,
        keys: &[String],
        branch: Option<&BranchChoice>,
        owner: &Path,
    ) {
        let properties = Properties::of(self.schema, owner);
        let known = properties.names();
        let sent = self.keys_at(at);
        let free: Vec<&str> = known
            .iter()
            .copied()
            .filter(|name| !sent.iter().any(|key| key == name))
            .collect();
        let expected = match (known.as_slice(), properties.patterns()) {
            ([], []) => "no further keys".to_owned(),
            ([], patterns) => format!("keys matching {}", list(patterns, 48)),
            (only @ [_], _) => list(only, 48),
            (names, _) => format!("one of {}", list(names, 48)),
        };
        for key in keys.iter().take(MOST_ISSUES) {
            let near = single_nearest(key, free.iter().copied()).map(str::to_owned);
            let came = format!("key {}", quoted(key, 30));
            let (path, code) = (at.key(key), IssueCode::UnknownKey);
            self.push(
                path,
                code,
                expected.clone(),
                came,
                near,
                branch,
                owner.clone(),
            );
        }
    }

    fn keys_at(&self, at: &Path) -> Vec<String> {
        let members = self.arguments.at(at).and_then(Value::as_object);
        let keys = members.unwrap_or_default().iter();
        keys.map(|(key, _)| key.clone().into_owned()).collect()
    }

    fn required_type(&self, owner: &Path, key: &str) -> String {
        Properties::of(self.schema, owner).get(key).map_or_else(
            || "a value".to_owned(),
            |property| alternative(property, self.schema),
        )
    }

    /// `key "a"` for a key that is only required because `a` is there.
    fn dependency(&self, keyword: &Path, at: &Path, required: &str) -> Option<String> {
        let rule = keyword.parent();
        let name = keyword.last()?;
        let trigger = if let "dependentRequired" | "dependencies" = name.as_ref() {
            // The engine names the rule as a whole: which of its keys came and asks for this one?
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
        };
        Some(format!("key {}", quoted(&trigger, 30)))
    }

    fn contained(&self, node: Option<&Schema>) -> String {
        let get = |keyword: &str| node.and_then(|node| node.get(keyword));
        let item = get("contains").map_or_else(
            || "a certain item".to_owned(),
            |wanted| alternative(wanted, self.schema),
        );
        match (get("minContains"), get("maxContains")) {
            (None, None) => format!("array that contains {item}"),
            (Some(least), None) => format!("array with at least {least} items that are {item}"),
            (None, Some(most)) => format!("array with 1 to {most} items that are {item}"),
            (Some(least), Some(most)) if least == most => {
                format!("array with exactly {least} items that are {item}")
            }
            (Some(least), Some(most)) => {
                format!("array with {least} to {most} items that are {item}")
            }
        }
    }
}

fn is_object(value: &Value<'_>) -> bool {
    value.as_object().is_some()
}

/// Whether a keyword is one that forbids keys, and not a property of that name.
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

/// Where none of an object's required keys came, keys that nobody knows are named, once, unless they
/// are issues themselves: the model has taken the tool for another one.
fn name_received_keys(schema: &CompiledSchema, arguments: &Value<'_>, found: &mut [Finding]) {
    let mut named: Vec<Path> = Vec::new();
    for at in 0..found.len() {
        let Finding { issue, owner } = &found[at];
        let place = issue.path.parent();
        if issue.code != IssueCode::Required || named.contains(&place) {
            continue;
        }
        let told_otherwise = found.iter().any(|other| {
            let explains = match other.issue.code {
                IssueCode::Required => other.issue.suggestion.is_some(),
                IssueCode::UnknownKey => true,
                _ => false,
            };
            explains && other.issue.path.parent() == place
        });
        let members = arguments
            .at(&place)
            .and_then(Value::as_object)
            .unwrap_or_default();
        if !told_otherwise && !members.is_empty() {
            let properties = Properties::of(schema, owner);
            let required = schema
                .node(owner)
                .and_then(|node| node.get("required")?.as_array())
                .map(Vec::as_slice)
                .unwrap_or_default();
            let none_came = !members
                .iter()
                .any(|(key, _)| required.iter().any(|wanted| wanted == key.as_ref()));
            let unknown: Vec<&str> = members
                .iter()
                .map(|(key, _)| key.as_ref())
                .filter(|key| !properties.has(key) && properties.patterns().is_empty())
                .collect();
            if none_came && !unknown.is_empty() {
                found[at].issue.received = format!("keys {}", list(&unknown, 40));
            }
        }
        named.push(place);
    }
}
