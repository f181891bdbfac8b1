//! What can be wrong with a call, and how to make it so.

use serde_json::{Value, json};

use super::random::Random;

/// What a violation really is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Label {
    /// The call is fine, and the schema is too strict.
    EdgeCase,
    /// A mistake.
    Bug,
}

/// Makes a replacement for the value at a place, if there is one.
pub(crate) type Make = fn(&mut Random, Option<&Value>) -> Value;

/// How a call or a result is changed. Places are JSON Pointers; `*` is the last item of a list.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Damage {
    /// Another value at a place.
    Set(&'static str, Make),
    /// A key is left out.
    Leave(&'static str),
    /// A key of the arguments has another name.
    Rename(&'static str, &'static str),
    /// One of several unknown keys is added to the object at the place.
    Add(&'static str, &'static [&'static str], Make),
    /// Several changes at once.
    All(&'static [Damage]),
    /// The text of the arguments ends early.
    Cut,
    /// A tool that does not exist.
    Tool(&'static [&'static str]),
    /// Another value at a place in the result.
    SetResult(&'static str, Make),
    /// An unknown key is added to the object at a place in the result.
    AddResult(&'static str, &'static str, Make),
    /// The result ends early.
    CutResult,
}

/// Many calls at once from one broken program.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Burst {
    /// The share of all calls in the log.
    pub(crate) share: f64,
    /// The day and the hour in which it happens.
    pub(crate) day: i64,
    pub(crate) hour: i64,
    /// The number of conversations.
    pub(crate) sessions: usize,
}

/// One planted pattern.
#[derive(Debug, Clone)]
pub(crate) struct Pattern {
    /// Its number, starting at one; ids of calls contain it.
    pub(crate) number: usize,
    pub(crate) label: Label,
    pub(crate) tool: &'static str,
    /// Where the gate objects: a JSON Pointer in which `*` matches any index.
    pub(crate) path: &'static str,
    /// What the gate objects to: the name of an issue, or the code of a failure.
    pub(crate) issue: &'static str,
    /// What it represents in the real world.
    pub(crate) stands_for: &'static str,
    pub(crate) damage: Damage,
    /// The share of the tool's calls that have it.
    pub(crate) share: f64,
    /// Only these models do it, by their index in the list of models; all if empty.
    pub(crate) models: &'static [usize],
    /// The first day.
    pub(crate) since_day: i64,
    /// The last day.
    pub(crate) until_day: i64,
    /// Before this day the tool refuses every such call; then a new version is rolled out.
    pub(crate) taken_since: i64,
    /// How often the tool refuses the call because of it.
    pub(crate) refused: f64,
    /// Errors from other causes, on top of the tool's usual error rate.
    pub(crate) more_errors: f64,
    /// How often the model notices by itself that the result is useless.
    pub(crate) noticed: f64,
    pub(crate) burst: Option<Burst>,
}

impl Pattern {
    /// A legitimate call that the schema forbids; the tool runs it like any other.
    pub(crate) fn edge_case(
        tool: &'static str,
        share: f64,
        (path, issue): (&'static str, &'static str),
        damage: Damage,
        stands_for: &'static str,
    ) -> Self {
        Pattern {
            number: 0,
            label: Label::EdgeCase,
            tool,
            path,
            issue,
            stands_for,
            damage,
            share,
            models: &[],
            since_day: 0,
            until_day: i64::MAX,
            taken_since: 0,
            refused: 0.0,
            more_errors: 0.0,
            noticed: 0.0,
            burst: None,
        }
    }

    /// A mistake. `refused` is how often the tool itself refuses it.
    pub(crate) fn bug(
        tool: &'static str,
        share: f64,
        refused: f64,
        place: (&'static str, &'static str),
        damage: Damage,
        stands_for: &'static str,
    ) -> Self {
        Pattern {
            label: Label::Bug,
            refused,
            ..Pattern::edge_case(tool, share, place, damage, stands_for)
        }
    }

    pub(crate) fn only_from(mut self, models: &'static [usize]) -> Self {
        self.models = models;
        self
    }

    pub(crate) fn since_day(mut self, day: i64) -> Self {
        self.since_day = day;
        self
    }

    pub(crate) fn until_day(mut self, day: i64) -> Self {
        self.until_day = day;
        self
    }

    pub(crate) fn taken_since(mut self, day: i64) -> Self {
        self.taken_since = day;
        self
    }

    pub(crate) fn with_errors(mut self, share: f64) -> Self {
        self.more_errors = share;
        self
    }

    pub(crate) fn noticed(mut self, share: f64) -> Self {
        self.noticed = share;
        self
    }

    pub(crate) fn in_a_burst(mut self, burst: Burst) -> Self {
        self.burst = Some(burst);
        self
    }

    /// Whether it is in the result of a call.
    pub(crate) fn is_in_result(&self) -> bool {
        matches!(
            self.damage,
            Damage::SetResult(..) | Damage::AddResult(..) | Damage::CutResult
        )
    }

    /// The top-level parameter that it touches, if there is exactly one.
    pub(crate) fn parameter(&self) -> Option<&'static str> {
        match self.damage {
            Damage::Set(place, _) | Damage::Leave(place) => place[1..].split('/').next(),
            _ => None,
        }
    }
}

impl Damage {
    /// Damages valid arguments.
    pub(crate) fn arguments(&self, random: &mut Random, arguments: &mut Value) {
        match *self {
            Damage::Set(place, make) => {
                set(random, arguments, place, make);
            }
            Damage::All(changes) => {
                for change in changes {
                    change.arguments(random, arguments);
                }
            }
            Damage::Leave(place) => {
                let (parent, key) = place.rsplit_once('/').unwrap_or_default();
                if let Some(Value::Object(members)) = slot(arguments, parent) {
                    members.shift_remove(key);
                }
            }
            Damage::Rename(from, to) => {
                if let Some(members) = arguments.as_object_mut()
                    && let Some(value) = members.shift_remove(from)
                {
                    members.insert(to.to_owned(), value);
                }
            }
            Damage::Add(place, keys, make) => {
                let key = *random.pick(keys);
                let value = make(random, None);
                if let Some(Value::Object(members)) = slot(arguments, place) {
                    members.insert(key.to_owned(), value);
                }
            }
            _ => {}
        }
    }

    /// Damages a valid result; returns whether the result has the place.
    pub(crate) fn result(&self, random: &mut Random, result: &mut Value) -> bool {
        match *self {
            Damage::SetResult(place, make) => return set(random, result, place, make),
            Damage::AddResult(place, key, make) => {
                let value = make(random, None);
                let Some(Value::Object(members)) = slot(result, place) else {
                    return false;
                };
                members.insert(key.to_owned(), value);
            }
            Damage::CutResult => *result = json!(cut(random, &result.to_string())),
            _ => {}
        }
        true
    }
}

/// A text without its end: at least the last quote or bracket is missing.
pub(crate) fn cut(random: &mut Random, text: &str) -> String {
    let most = text.len().saturating_sub(2).max(2);
    let mut end = (most / 2 + random.below(most / 2 + 1)).max(1);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    text[..end].to_owned()
}

fn set(random: &mut Random, root: &mut Value, place: &str, make: Make) -> bool {
    let Some(there) = slot(root, place) else {
        return false;
    };
    let known = (!there.is_null()).then_some(&*there);
    let new = make(random, known);
    *there = new;
    true
}

/// The value at a place; missing objects on the way are created.
fn slot<'v>(root: &'v mut Value, place: &str) -> Option<&'v mut Value> {
    let mut value = root;
    for segment in place.split('/').skip(1) {
        if value.is_null() {
            *value = json!({});
        }
        value = match value {
            Value::Object(members) => members.entry(segment).or_insert(Value::Null),
            Value::Array(items) => items.last_mut()?,
            _ => return None,
        };
    }
    Some(value)
}
