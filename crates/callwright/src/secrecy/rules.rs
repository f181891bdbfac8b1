//! Which values and keys of a call or its result are secrets, and the texts of those secrets.

use super::known::Known;
use crate::json::{Path, Value, read_value};
use crate::validate::Secrets;

/// How deep JSON inside text inside JSON is followed. Models escape twice at most.
const LAYERS: usize = 4;

/// Values that are only likely to be secrets are searched for elsewhere from this many bytes on: shorter ones are also ordinary
/// words and numbers.
const LIKELY: usize = 6;

/// The longest key that is an array index: longer numbers may be secrets.
const LONGEST_INDEX: usize = 4;

/// How many keys that the schema does not list are compared with those that it does, and how many comparisons there may be:
/// about ten milliseconds. Beyond that, nothing of the call is shown.
const MOST_STRANGERS: usize = 1_000;
const MOST_COMPARISONS: usize = 200_000;

/// Whose value it is.
#[derive(Debug, Clone, Copy)]
pub(super) struct Rules<'s> {
    pub(super) secrets: &'s Secrets,
    of_result: bool,
}

/// How certain it is that a value is a secret.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Certainty {
    /// The schema marks it.
    Marked,
    /// Nothing is known about its place.
    Likely,
}

impl<'s> Rules<'s> {
    pub(super) fn of_arguments(secrets: &'s Secrets) -> Self {
        Rules {
            secrets,
            of_result: false,
        }
    }

    pub(super) fn of_result(secrets: &'s Secrets) -> Self {
        Rules {
            secrets,
            of_result: true,
        }
    }

    /// Whether a value is a secret as a whole; `None` if it may be shown, except for what is inside it.
    pub(super) fn certainty(self, value: &Value<'_>, at: &Path) -> Option<Certainty> {
        let secrets = self.secrets;
        if secrets.cover(at) {
            return Some(Certainty::Marked);
        }
        let is_hidden = match value {
            // A pair of a name and a value, such as `{"name": "password", "value": …}`, or the two swapped.
            Value::Object(members) => members.iter().any(|(key, member)| {
                let mut text = member.as_str().into_iter();
                text.any(|text| secrets.name_secret(text)) && !secrets.lists(key)
            }),
            Value::Array(items) => {
                let is_listed = at.segments().any(|key| secrets.lists(&key));
                let mut texts = items.iter().filter_map(Value::as_str);
                (!self.of_result && secrets.is_stray(at))
                    || (!is_listed && texts.any(|text| secrets.name_secret(text)))
            }
            Value::String(text) => self.hides_leaf(at) || secrets.named_in(text),
            _ => self.hides_leaf(at),
        };
        is_hidden.then_some(Certainty::Likely)
    }

    fn hides_leaf(self, at: &Path) -> bool {
        // A value in place of the whole object may be any of its parts.
        let is_keyless = || at.segments().all(|segment| is_index(&segment));
        let by_place = if self.of_result {
            self.secrets.hide_marked(at)
        } else {
            self.secrets.hide(at)
        };
        by_place || is_keyless()
    }

    /// Whether a key may be a secret by its place or its form. One that is close to a name in the schema is a name.
    pub(super) fn hides_key(self, key: &str, around: &Path) -> bool {
        let secrets = self.secrets;
        let is_stray = || !self.of_result && secrets.is_stray(around);
        (secrets.cover(around) || is_stray() || secrets.named_in(key))
            && !secrets.is_nearly_listed(key)
    }
}

pub(super) fn is_index(segment: &str) -> bool {
    segment.len() <= LONGEST_INDEX && segment.bytes().all(|byte| byte.is_ascii_digit())
}

/// Collects the secrets of a value.
pub(super) struct Noting<'n> {
    rules: Rules<'n>,
    known: &'n mut Known,
    /// How many keys were seen that the schema does not list.
    strangers: usize,
}

impl<'n> Noting<'n> {
    pub(super) fn new(rules: Rules<'n>, known: &'n mut Known) -> Self {
        Noting {
            rules,
            known,
            strangers: 0,
        }
    }

    /// Records the secrets of the arguments or the result as a whole.
    pub(super) fn all(&mut self, value: &Value<'_>) {
        self.value(value, &Path::root(), LAYERS);
    }

    fn value(&mut self, value: &Value<'_>, at: &Path, layers: usize) {
        if self.known.overflows() {
            return;
        }
        let certainty = self.rules.certainty(value, at);
        if let Some(certainty) = certainty {
            self.secret(value, certainty);
        }
        match value {
            // All of them are recorded, and each would be examined again with its path.
            Value::Array(_) if certainty.is_some() => {}
            Value::Array(items) => {
                for (index, item) in items.iter().enumerate() {
                    self.value(item, &at.index(index), layers);
                }
            }
            Value::Object(members) => {
                for (key, member) in members {
                    let is_name = self.rules.secrets.lists(key) || is_index(key);
                    if !is_name {
                        self.strangers += 1;
                        let comparisons = self.strangers * self.rules.secrets.names().len();
                        if self.strangers > MOST_STRANGERS || comparisons > MOST_COMPARISONS {
                            return self.known.give_up();
                        }
                        if self.rules.hides_key(key, at) {
                            self.known.note(key, LIKELY);
                        }
                    }
                    self.value(member, &at.key(key), layers);
                }
            }
            Value::String(text) if layers > 0 && text.trim_start().starts_with(['{', '[', '"']) => {
                if let Ok(inner) = read_value(text) {
                    self.value(&inner, at, layers - 1);
                }
            }
            _ => {}
        }
    }

    /// Records the texts of a secret: its strings, its numbers and its keys.
    fn secret(&mut self, value: &Value<'_>, certainty: Certainty) {
        let at_least = match certainty {
            Certainty::Marked => 0,
            Certainty::Likely => LIKELY,
        };
        match value {
            Value::String(text) => self.known.note(text, at_least),
            Value::Number(number) => self.known.note(number.as_str(), at_least),
            Value::Array(items) => items.iter().for_each(|item| self.secret(item, certainty)),
            Value::Object(members) => {
                for (key, member) in members {
                    if !self.rules.secrets.lists(key) && !self.rules.secrets.is_nearly_listed(key) {
                        self.known.note(key, LIKELY);
                    }
                    self.secret(member, certainty);
                }
            }
            // There are too few of these to recognise one.
            Value::Null | Value::Bool(_) => {}
        }
    }
}
