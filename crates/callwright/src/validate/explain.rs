//! Violations → issues: what the engine objects to, in terms of what came and what was meant.
//!
//! Unions are reduced to the branch that was meant, a missing key that arrived under a similar name
//! becomes one issue instead of two, values that must not be shown are hidden, and the most useful
//! comes first. Makes no words, and never decides whether a call is good.

use std::sync::Arc;

use ahash::{AHashMap, AHashSet};
use serde_json::Value as Schema;
use smallvec::SmallVec;

use super::expect::{extra_items, other_keyword};
use super::properties::Properties;
use super::rename::{join_renamed, unknown_keys};
use super::schema::CompiledSchema;
use super::union::{Meant, meant};
use super::violation::{Violation, ViolationKind};
use crate::json::{Indexed, Member, Path, Value};
use crate::nearest::{Candidates, is_worth_proposing, single_nearest};
use crate::words::{
    BranchChoice, Correction, Expected, Issue, IssueCode, ItemPlace, Received, ReceivedKeys,
    SchemaType, Work,
};

/// How many issues are found in one call. The model is told five, and some hundreds are enough for any
/// report; a hostile object of a million unknown keys stays cheap.
const MOST_ISSUES: usize = 256;

/// How many branches of a union are looked into. Real ones have a few dozen; of more than this none is near.
const MOST_BRANCHES: usize = 256;

/// How deep unions inside unions are followed: as deep as a call may be by default. A recursive schema
/// has as many levels as its value.
const UNION_DEPTH: usize = 100;

/// How many characters of a text are repeated in a proposal. A longer one does not fit the line.
const LONGEST_ITEM: usize = 30;

/// How many steps suggestions may take for one call: half a millisecond. A key is compared with a hundred others in ten
/// thousand.
const SUGGESTING: usize = 500_000;

/// Turns all objections into issues, one for each, in the order of the engine. Nothing is suggested and allowed keys are
/// not listed: repair asks for issues after each edit, and for neither of these.
pub(crate) fn located_issues(
    schema: &CompiledSchema,
    arguments: &Value<'_>,
    violations: Vec<Violation>,
) -> Vec<LocatedIssue> {
    let mut collector = IssueCollector {
        schema,
        arguments: Indexed::new(arguments),
        found: Vec::with_capacity(violations.len().min(MOST_ISSUES)),
        properties: None,
    };
    for violation in violations {
        collector.explain(violation, None, UNION_DEPTH);
    }
    collector.found
}

/// What the model is told: with suggestions, the most useful first.
pub(crate) fn issues(
    schema: &CompiledSchema,
    arguments: &Value<'_>,
    mut found: Vec<LocatedIssue>,
) -> Vec<Issue> {
    let work = Work::new(SUGGESTING);
    let places = Indexed::new(arguments);
    suggest(schema, &places, &mut found, &work);
    join_renamed(schema, &places, &mut found, &work);
    name_received_keys(schema, &places, &mut found);
    let mut issues = found.into_iter().map(|located| located.issue).collect();
    settle(&mut issues);
    take_advice_back(&mut issues);
    note_items(arguments, &mut issues);
    issues
}

/// Adds what was probably meant, and which keys are allowed where one is not.
fn suggest(
    schema: &CompiledSchema,
    places: &Indexed<'_, '_>,
    found: &mut [LocatedIssue],
    work: &Work,
) {
    // Most unknown keys are in one object.
    let mut last: Option<(Path, Path, KnownKeys<'_>)> = None;
    for LocatedIssue { issue, owner } in found {
        let near = match &issue.expected {
            Expected::OneOf(allowed) => {
                let allowed = allowed.as_array().map(Vec::as_slice).unwrap_or_default();
                near_value_at(places, &issue.path, allowed, work)
            }
            Expected::Constant(wanted) => {
                near_value_at(places, &issue.path, std::slice::from_ref(wanted), work)
            }
            Expected::NoFurtherKeys if issue.code == IssueCode::UnknownKey => {
                let Some(key) = issue.path.last() else {
                    continue;
                };
                let place = issue.path.parent();
                let known = match &mut last {
                    Some((of, at, known)) if of == owner && *at == place => known,
                    last => {
                        let known = KnownKeys::of(schema, owner, places.at(&place));
                        &mut last.insert((owner.clone(), place, known)).2
                    }
                };
                issue.expected = known.expected.clone();
                let near = known.free.single_nearest(&key, work);
                let near = near.filter(|near| is_worth_proposing(&key, near));
                // Beside a call that is complete without it, an unknown key is best left out. Where nothing else came,
                // or two keys are near, something else was meant.
                if near.is_none() && known.some_came && !known.free.any_near(&key, work) {
                    issue.suggestion = Some(Correction::LeaveOut);
                    continue;
                }
                near
            }
            Expected::ArrayOf(SchemaType::String) if issue.code == IssueCode::Type => {
                let value = places
                    .at(&issue.path)
                    .filter(|_| !schema.hides(&issue.path));
                issue.suggestion = list_of_one(value, schema.node(owner), schema);
                continue;
            }
            _ => continue,
        };
        issue.suggestion = near.map(|near| Correction::Use(near.to_owned()));
    }
}

/// The list of one, where a single text came instead of a list of texts. It is for the model to decide: others may have been
/// lost, or the text may hold several.
fn list_of_one(
    value: Option<&Value<'_>>,
    node: Option<&Schema>,
    schema: &CompiledSchema,
) -> Option<Correction> {
    let text = value?.as_str()?;
    let length = text.chars().count();
    let holds_one =
        (1..=LONGEST_ITEM).contains(&length) && !text.contains([',', ';', '|', '\n', '[', '{']);
    let items = node.and_then(|node| node.get("items"));
    let allowed = items.and_then(|items| schema.follow(items).get("enum")?.as_array());
    let is_allowed = allowed.is_none_or(|allowed| allowed.iter().any(|value| value == text));
    (holds_one && is_allowed).then(|| Correction::Value(Schema::from(vec![text])))
}

fn near_value_at<'s>(
    places: &Indexed<'_, '_>,
    at: &Path,
    allowed: &'s [Schema],
    work: &Work,
) -> Option<&'s str> {
    near_value(places.at(at)?, allowed, work)
}

/// What may be where an unknown key is.
struct KnownKeys<'s> {
    expected: Expected,
    /// The listed keys that did not come.
    free: Candidates<'s>,
    /// Whether others came.
    some_came: bool,
}

impl<'s> KnownKeys<'s> {
    fn of(schema: &'s CompiledSchema, owner: &Path, object: Option<&Value<'_>>) -> Self {
        let properties = Properties::of(schema, owner);
        let known = properties.names();
        let members = object.and_then(Value::as_object).unwrap_or_default();
        let copied = |names: &[&str]| -> Arc<[String]> {
            names.iter().map(|name| (*name).to_owned()).collect()
        };
        let expected = match (known.as_slice(), properties.patterns()) {
            ([], []) => Expected::NoFurtherKeys,
            ([], patterns) => Expected::KeyMatching(copied(patterns)),
            (names, _) => Expected::Key(copied(names)),
        };
        let free = free_names(&known, members);
        KnownKeys {
            expected,
            some_came: free.len() < known.len(),
            free: Candidates::new(free),
        }
    }
}

/// Takes the advice to leave a key out back where more than unknown keys is wrong: its value may be missing elsewhere.
fn take_advice_back(issues: &mut [Issue]) {
    if issues
        .iter()
        .any(|issue| issue.code != IssueCode::UnknownKey)
    {
        let advised = issues
            .iter_mut()
            .filter(|issue| issue.suggestion == Some(Correction::LeaveOut));
        advised.for_each(|issue| issue.suggestion = None);
    }
}

/// Notes which issues are within a list, where several may be about its items.
fn note_items(arguments: &Value<'_>, issues: &mut [Issue]) {
    if issues.len() < 2 {
        return;
    }
    // Issues of one list come one after the other.
    let mut known: Option<(Path, Option<usize>)> = None;
    for issue in issues {
        let pointer = issue.path.as_pointer();
        let Some(list) = innermost_index(pointer).and_then(|at| pointer.get(..at)) else {
            continue;
        };
        if known
            .as_ref()
            .is_none_or(|(path, _)| path.as_pointer() != list)
        {
            let path = Path::from_pointer(list);
            let items = arguments
                .at(&path)
                .and_then(Value::as_array)
                .map(<[_]>::len);
            known = Some((path, items));
        }
        let items = known.as_ref().and_then(|(_, items)| *items);
        let list = list.len();
        issue.item = items.map(|items| ItemPlace { list, items });
    }
}

/// Where the last segment of a pointer begins that may be an index.
fn innermost_index(pointer: &str) -> Option<usize> {
    let mut end = pointer.len();
    while let Some(start) = pointer[..end].rfind('/') {
        let segment = &pointer[start + 1..end];
        if !segment.is_empty() && segment.bytes().all(|byte| byte.is_ascii_digit()) {
            return Some(start);
        }
        end = start;
    }
    None
}

/// Sorts issues by usefulness and leaves out what others say better.
fn settle(issues: &mut Vec<Issue>) {
    if issues.len() < 2 {
        return;
    }
    issues.sort_by_key(|issue| issue.code);
    // The allowed values say more than their type.
    let is_listed = |issue: &&Issue| matches!(issue.code, IssueCode::Enum | IssueCode::Const);
    let listed = issues.iter().filter(is_listed).map(|issue| &issue.path);
    let listed: AHashSet<&Path> = listed.collect();
    let says_less = |issue: &Issue| issue.code == IssueCode::Type && listed.contains(&issue.path);
    // Most places are objected to once, so what was expected there, which may be a long list, is rarely compared.
    let mut seen: AHashMap<(&Path, IssueCode), SmallVec<[&Expected; 1]>> = AHashMap::new();
    let kept = issues.iter().map(|issue| {
        let others = seen.entry((&issue.path, issue.code)).or_default();
        let is_new = !others.contains(&&issue.expected);
        others.push(&issue.expected);
        is_new && !says_less(issue)
    });
    let kept: Vec<bool> = kept.collect();
    drop(seen);
    let mut kept = kept.into_iter();
    issues.retain(|_| kept.next().unwrap_or(true));
}

/// An issue, and where in the schema it comes from.
#[derive(Debug)]
pub(crate) struct LocatedIssue {
    pub(crate) issue: Issue,
    /// The schema that holds the objecting keyword.
    pub(crate) owner: Path,
}

struct IssueCollector<'x> {
    schema: &'x CompiledSchema,
    arguments: Indexed<'x, 'x>,
    found: Vec<LocatedIssue>,
    /// The properties of the last object that lacks a key: most objections of one kind are to one object.
    properties: Option<(Path, Properties<'x>)>,
}

impl IssueCollector<'_> {
    fn explain(&mut self, violation: Violation, branch: Option<&BranchChoice>, unions_left: usize) {
        if self.found.len() >= MOST_ISSUES {
            return;
        }
        let Violation { at, keyword, kind } = violation;
        let owner = keyword.parent();
        let node = self.schema.node(&owner);
        let here = self.arguments.at(&at);
        let hidden = self.schema.hides(&at);
        let (code, expected) = match kind {
            ViolationKind::Union => return self.explain_union(at, &keyword, unions_left),
            ViolationKind::Required(key) => {
                let (code, received) = match self.dependency(&keyword, &at, &key) {
                    Some(trigger) => (IssueCode::DependentRequired, Received::key(&trigger)),
                    None => (IssueCode::Required, Received::Nothing),
                };
                if self.properties.as_ref().is_none_or(|(of, _)| *of != owner) {
                    self.properties = Some((owner.clone(), Properties::of(self.schema, &owner)));
                }
                let known = self.properties.as_ref();
                let place = at.key(&key);
                let expected = match known.and_then(|(_, properties)| properties.get(&key)) {
                    Some(property) => self.wanted(property, &place),
                    None => Expected::SomeValue,
                };
                let issue = Issue::new(place, code, expected, received);
                return self.push(issue, branch, owner);
            }
            ViolationKind::UnknownKeys(keys) => {
                return self.explain_unknown_keys(&at, &keys, branch, &owner);
            }
            // What the engine makes of `additionalProperties: false` where no property is listed.
            ViolationKind::Never
                if forbids_keys(&keyword) && here.and_then(Value::as_object).is_some() =>
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
            ViolationKind::Type(names) => {
                (IssueCode::Type, self.schema.expected_types(&names, node))
            }
            ViolationKind::ExtraItems => (IssueCode::MaxItems, extra_items(node)),
            ViolationKind::Not(ruled_out) => (IssueCode::Not, self.schema.ruled_out(ruled_out)),
            ViolationKind::Never => (IssueCode::NotAllowed, Expected::Nothing),
            ViolationKind::Contains => {
                let node = node.filter(|_| !hidden);
                (IssueCode::Contains, self.schema.expected_items(node))
            }
            ViolationKind::Expected(code, expected) => (code, expected),
            ViolationKind::Other(name) => (IssueCode::Other, other_keyword(node, name)),
        };
        let received = self.received(&at, matches!(expected, Expected::Limit { .. }));
        self.push(Issue::new(at, code, expected, received), branch, owner);
    }

    /// What a missing key is to hold, as far as it may be shown.
    fn wanted(&self, property: &Schema, place: &Path) -> Expected {
        match self.schema.expectation(property) {
            Expected::OneOf(_) if self.schema.hides(place) => Expected::Hidden(IssueCode::Enum),
            Expected::Constant(_) if self.schema.hides(place) => Expected::Hidden(IssueCode::Const),
            expected => expected,
        }
    }

    /// What came at a place, as far as it may be shown.
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
            issue.branch = branch.cloned();
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
                let all = self.schema.expectations(named);
                (IssueCode::SeveralBranches, Expected::ExactlyOneOf(all))
            }
            Meant::NoneNear => {
                let all = self.schema.expectations(named);
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

    /// Which branch was meant.
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

    /// The key that came and makes this one required, if one does.
    fn dependency(&self, keyword: &Path, at: &Path, required: &str) -> Option<String> {
        let rule = keyword.parent();
        let name = keyword.last()?;
        Some(
            if let "dependentRequired" | "dependencies" = name.as_ref() {
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
            },
        )
    }
}

/// The allowed value that a received one is nearest to.
pub(crate) fn near_value<'s>(
    value: &Value<'_>,
    allowed: &'s [Schema],
    work: &Work,
) -> Option<&'s str> {
    let mut names = allowed.iter().filter_map(Schema::as_str);
    match value {
        Value::String(text) => {
            single_nearest(text, names, work).filter(|near| is_worth_proposing(text, near))
        }
        // `5` where `"5"` is meant.
        Value::Number(number) => names.find(|name| *name == number.as_str()),
        _ => None,
    }
}

/// Up to here going through the keys is faster than hashing them.
const FEW_KEYS: usize = 16;

/// The listed keys that did not come.
pub(crate) fn free_names<'s>(known: &[&'s str], sent: &[Member<'_>]) -> Vec<&'s str> {
    let known = known.iter().copied();
    if sent.len() <= FEW_KEYS {
        let came = |name: &&str| sent.iter().any(|(key, _)| key == name);
        return known.filter(|name| !came(name)).collect();
    }
    let sent: AHashSet<&str> = sent.iter().map(|(key, _)| key.as_ref()).collect();
    known.filter(|name| !sent.contains(name)).collect()
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

/// Where none of an object's required keys came, the unknown keys that came are named, once, unless they
/// are issues themselves: the model has mistaken the tool for another one.
fn name_received_keys(
    schema: &CompiledSchema,
    places: &Indexed<'_, '_>,
    found: &mut [LocatedIssue],
) {
    let is_missing = |located: &LocatedIssue| located.issue.code == IssueCode::Required;
    if !found.iter().any(is_missing) {
        return;
    }
    let explains = |located: &&LocatedIssue| match located.issue.code {
        IssueCode::Required => located.issue.suggestion.is_some(),
        IssueCode::UnknownKey => true,
        _ => false,
    };
    let explained = found.iter().filter(explains);
    let explained: AHashSet<Path> = explained.map(|it| it.issue.path.parent()).collect();
    let mut named: AHashSet<Path> = AHashSet::new();
    for located in found.iter_mut() {
        let LocatedIssue { issue, owner } = &*located;
        let place = issue.path.parent();
        if !is_missing(located) || !named.insert(place.clone()) {
            continue;
        }
        let told_otherwise = explained.contains(&place);
        let members = places.at(&place).and_then(Value::as_object);
        let required = schema.node(owner).and_then(|node| node.get("required"));
        let required = required.and_then(Schema::as_array).into_iter().flatten();
        let required: AHashSet<&str> = required.filter_map(Schema::as_str).collect();
        let mut keys = members.unwrap_or_default().iter().map(|(key, _)| key);
        let none_came = !keys.any(|key| required.contains(key.as_ref()));
        if !told_otherwise && none_came {
            let unknown: Vec<&str> = unknown_keys(schema, places, &place, owner).collect();
            if !unknown.is_empty() {
                located.issue.received = Received::Keys(ReceivedKeys::of(unknown.into_iter()));
            }
        }
    }
}
