//! Adds suggestions to issues: what was probably meant, most helpful first.
//!
//! Takes the issues of a refused call; returns those that are reported to the model, with suggestions. A missing key that
//! arrived under a similar name becomes one issue instead of two, and issues that others cover better are left out. Never
//! produces text.

use std::rc::Rc;
use std::sync::Arc;

use ahash::AHashSet;
use serde_json::Value as Schema;
use smallvec::SmallVec;

use super::explain::LocatedIssue;
use super::properties::{Properties, PropertiesByOwner};
use super::rename::{join_renamed, unknown_keys};
use super::schema::CompiledSchema;
use crate::json::{Indexed, Member, Path, Value};
use crate::nearest::{Candidates, Nearest, is_worth_proposing, single_nearest};
use crate::vocabulary::{
    Correction, Expected, Issue, IssueCode, ItemPlace, Received, ReceivedKeys, SchemaType, Work,
};

/// How many characters of a text are repeated in a proposal. A longer one does not fit in the line.
const LONGEST_ITEM: usize = 30;

/// How many steps suggestions may take for one call: half a millisecond. Comparing a key with a hundred others takes ten
/// thousand.
const SUGGESTING: usize = 500_000;

/// The issues for the model: with suggestions, the most useful first.
pub(crate) fn issues(
    schema: &CompiledSchema,
    arguments: &Value<'_>,
    mut found: Vec<LocatedIssue>,
) -> Vec<Issue> {
    let work = Work::new(SUGGESTING);
    let places = Indexed::new(arguments);
    let properties = PropertiesByOwner::new(schema);
    suggest(schema, &properties, &places, &mut found, &work);
    join_renamed(&properties, &places, &mut found, &work);
    name_received_keys(schema, &properties, &places, &mut found);
    let mut issues = found.into_iter().map(|located| located.issue).collect();
    settle(&mut issues);
    note_items(arguments, &mut issues);
    issues
}

/// Adds what was probably meant, and for an unknown key, which keys are allowed.
fn suggest(
    schema: &CompiledSchema,
    properties: &PropertiesByOwner<'_>,
    places: &Indexed<'_, '_>,
    found: &mut [LocatedIssue],
    work: &Work,
) {
    // If more than unknown keys is wrong, the value of one may be missing elsewhere.
    let is_unknown_key = |it: &LocatedIssue| it.issue.code == IssueCode::UnknownKey;
    let may_be_left_out = found.iter().all(is_unknown_key);
    // Most unknown keys are in one object, or in objects of one kind.
    let mut last: Option<(Path, KnownKeys<'_>)> = None;
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
                    Some((of, known)) if of == owner => known,
                    last => {
                        let known = KnownKeys::of(properties.of(owner));
                        &mut last.insert((owner.clone(), known)).1
                    }
                };
                issue.expected = known.expected.clone();
                let Some(free) = known.free_in(&place, places, work) else {
                    continue;
                };
                match free.candidates.nearest(&key, work) {
                    Nearest::One(near) => Some(near).filter(|near| is_worth_proposing(&key, near)),
                    // In a call that is complete without it, an unknown key is best left out. If nothing else arrived,
                    // something else was meant.
                    Nearest::None if may_be_left_out && free.some_came => {
                        issue.suggestion = Some(Correction::LeaveOut);
                        continue;
                    }
                    Nearest::None | Nearest::Unclear => None,
                }
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

/// The list of one, if a single string was sent instead of a list of strings. The model has to decide: others may have been
/// lost, or the string may contain several.
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
    (holds_one && is_allowed).then(|| Correction::Value(Box::new(vec![text].into())))
}

fn near_value_at<'s>(
    places: &Indexed<'_, '_>,
    at: &Path,
    allowed: &'s [Schema],
    work: &Work,
) -> Option<&'s str> {
    near_value(places.at(at)?, allowed, work)
}

/// The keys that may replace an unknown one, in objects of one kind.
struct KnownKeys<'s> {
    expected: Expected,
    properties: Rc<Properties<'s>>,
    /// The last object that was examined.
    last: Option<(Path, FreeKeys<'s>)>,
}

/// The further keys that one object may have.
struct FreeKeys<'s> {
    /// The listed keys that are absent.
    candidates: Candidates<'s>,
    /// Whether some listed keys are present.
    some_came: bool,
}

/// The cost, in steps, of looking up one listed key in an object and counting its letters.
const PER_FREE_KEY: usize = 50;

impl<'s> KnownKeys<'s> {
    fn of(properties: Rc<Properties<'s>>) -> Self {
        let copied = |names: &[&str]| -> Arc<[String]> {
            names.iter().map(|name| (*name).to_owned()).collect()
        };
        let expected = match (properties.names(), properties.patterns()) {
            ([], []) => Expected::NoFurtherKeys,
            ([], patterns) => Expected::KeyMatching(copied(patterns)),
            (names, _) => Expected::Key(copied(names)),
        };
        KnownKeys {
            expected,
            properties,
            last: None,
        }
    }

    /// The further keys that the object at a path may have; `None` if there is no work left to find out.
    fn free_in(
        &mut self,
        place: &Path,
        places: &Indexed<'_, '_>,
        work: &Work,
    ) -> Option<&FreeKeys<'s>> {
        if self.last.as_ref().is_none_or(|(at, _)| at != place) {
            let names = self.properties.names();
            work.take(names.len() * PER_FREE_KEY).then_some(())?;
            let members = places.at(place).and_then(Value::as_object);
            let free = free_names(names, members.unwrap_or_default());
            let free = FreeKeys {
                some_came: free.len() < names.len(),
                candidates: Candidates::new(free),
            };
            self.last = Some((place.clone(), free));
        }
        self.last.as_ref().map(|(_, free)| free)
    }
}

/// Marks the issues that are within a list, where several may be about its items.
fn note_items(arguments: &Value<'_>, issues: &mut [Issue]) {
    if issues.len() < 2 {
        return;
    }
    // Issues of one list are adjacent.
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

/// Where the last segment of a pointer that may be an index starts.
fn innermost_index(pointer: &str) -> Option<usize> {
    // Most paths contain no digit at all. Without an early exit, many bytes are tested at a time.
    let has_digit = |found, byte: u8| found | byte.is_ascii_digit();
    pointer.bytes().fold(false, has_digit).then_some(())?;
    let mut end = pointer.bytes().rposition(|byte| byte.is_ascii_digit())? + 1;
    end += pointer[end..].find('/').unwrap_or(pointer.len() - end);
    while let Some(start) = pointer[..end].rfind('/') {
        let segment = &pointer[start + 1..end];
        if !segment.is_empty() && segment.bytes().all(|byte| byte.is_ascii_digit()) {
            return Some(start);
        }
        end = start;
    }
    None
}

/// Sorts issues by usefulness and removes those that others cover better.
fn settle(issues: &mut Vec<Issue>) {
    if issues.len() < 2 {
        return;
    }
    issues.sort_by_key(|issue| issue.code);
    let lists_values = |issue: &Issue| matches!(issue.code, IssueCode::Enum | IssueCode::Const);
    let valued: Vec<&Path> = issues
        .iter()
        .filter(|issue| lists_values(issue))
        .map(|issue| &issue.path)
        .collect();
    // There are a few hundred at most, usually just a few: comparing each with all costs less than building a map.
    let is_new = |(at, issue): (usize, &Issue)| {
        let is_again = |other: &Issue| {
            other.path == issue.path && other.code == issue.code && other.expected == issue.expected
        };
        // The allowed values say more than their type.
        let says_less = issue.code == IssueCode::Type && valued.contains(&&issue.path);
        !says_less && !issues[..at].iter().any(is_again)
    };
    let kept: SmallVec<[bool; 8]> = issues.iter().enumerate().map(is_new).collect();
    let mut kept = kept.into_iter();
    issues.retain(|_| kept.next().unwrap_or(true));
}

/// If an object has none of its required keys, the unknown keys in it are named, once, unless they are issues themselves: the
/// model has mistaken the tool for another one.
fn name_received_keys(
    schema: &CompiledSchema,
    properties: &PropertiesByOwner<'_>,
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
    // The objects that need no explanation, or already have one.
    let explained = found.iter().filter(explains);
    let mut told: SmallVec<[Path; 4]> = explained.map(|it| it.issue.path.parent()).collect();
    for located in found.iter_mut() {
        let LocatedIssue { issue, owner } = &*located;
        let place = issue.path.parent_pointer();
        if !is_missing(located) || told.iter().any(|told| told.as_pointer() == place) {
            continue;
        }
        let place = issue.path.parent();
        let object = places.at(&place);
        let required = schema.node(owner).and_then(|node| node.get("required"));
        let required = required.and_then(Schema::as_array).into_iter().flatten();
        let mut required = required.filter_map(Schema::as_str);
        let has = |key| object.is_some_and(|object| places.child(object, key).is_some());
        if !required.any(has) {
            let properties = properties.of(owner);
            let unknown: Vec<&str> = unknown_keys(&properties, places, &place).collect();
            if !unknown.is_empty() {
                located.issue.received = Received::Keys(ReceivedKeys::of(unknown.into_iter()));
            }
        }
        told.push(place);
    }
}

/// The allowed value that is closest to a received one.
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

/// Up to here, scanning the keys is faster than hashing them.
const FEW_KEYS: usize = 16;

/// The listed keys that are absent.
pub(crate) fn free_names<'s>(known: &[&'s str], sent: &[Member<'_>]) -> Vec<&'s str> {
    let known = known.iter().copied();
    if sent.len() <= FEW_KEYS {
        let came = |name: &&str| sent.iter().any(|(key, _)| key == name);
        return known.filter(|name| !came(name)).collect();
    }
    let sent: AHashSet<&str> = sent.iter().map(|(key, _)| key.as_ref()).collect();
    known.filter(|name| !sent.contains(name)).collect()
}
