//! What came along: the other clusters of a place, and the other faults of the same calls.

use std::collections::{BTreeMap, HashMap};

use callwright::json::Path;

use super::facts::Facts;
use super::outcome::ratio;
use super::points::{
    MANY_KEYS, MANY_RESULTS, NOTHING_GIVEN, NOTHING_GIVEN_FROM, ONE_OF_MANY_KEYS, OTHERS_REFUSED,
    OTHERS_TAKEN, OWN_SHARE, REFUSES_UP_TO, SOME_RESULTS, TAKES_FROM,
};
use super::{Reason, say};
use crate::summary::{Cluster, ClusterKey, LedTo, Side, Summary};

/// Issues of which one place has many clusters: one for each value, size, length or look.
const DIVIDED: [&str; 11] = [
    "enum",
    "const",
    "minimum",
    "maximum",
    "multiple_of",
    "min_length",
    "max_length",
    "min_items",
    "max_items",
    "format",
    "pattern",
];

type Place<'k> = (&'k str, Side, &'k str, &'k str);

fn place(key: &ClusterKey) -> Place<'_> {
    (&key.tool, key.side, &key.path, &key.issue)
}

/// What several clusters led to, together.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Together {
    pub(super) calls: u64,
    pub(super) ran_fine: u64,
    pub(super) refused: u64,
}

impl Together {
    fn add(&mut self, cluster: &Cluster) {
        self.calls += cluster.calls;
        self.ran_fine += cluster.led_to.ran_fine;
        self.refused += cluster.led_to.tool_refused;
    }
}

/// What is known of all clusters together.
#[derive(Debug)]
pub(super) struct Company<'s> {
    /// By place and issue.
    places: HashMap<Place<'s>, Together>,
    /// By place, issue and look.
    looks: HashMap<(Place<'s>, String), Together>,
    /// By object, the keys that nobody declared and their calls.
    unknown: HashMap<(&'s str, Side, Path), BTreeMap<&'s str, u64>>,
    /// Of clusters about missing keys: how many keys of the object are missing, in how many calls.
    missing: HashMap<u64, Vec<(usize, u64)>>,
}

impl<'s> Company<'s> {
    /// Looks at all of them.
    pub(super) fn of(summary: &'s Summary) -> Self {
        let mut places: HashMap<Place<'s>, Together> = HashMap::new();
        let mut looks: HashMap<_, Together> = HashMap::new();
        let mut unknown: HashMap<_, BTreeMap<&str, u64>> = HashMap::new();
        let mut parents: HashMap<u64, (Side, Path)> = HashMap::new();
        for (key, cluster) in summary.clusters.iter() {
            if DIVIDED.contains(&key.issue.as_str()) {
                places.entry(place(key)).or_default().add(cluster);
            }
            if let Some(look) = look(&key.shape) {
                looks.entry((place(key), look)).or_default().add(cluster);
            }
            let around = Path::from_pointer(key.path.as_str()).parent();
            if key.issue == "unknown_key" {
                let keys = unknown.entry((key.tool.as_str(), key.side, around));
                *keys.or_default().entry(key.path.as_str()).or_insert(0) += cluster.calls;
            } else if key.issue == "required" {
                parents.insert(key.hash(), (key.side, around));
            }
        }
        let mut missing: HashMap<u64, Vec<(usize, u64)>> = HashMap::new();
        for (combination, calls) in summary.combinations.iter() {
            for hash in &combination.clusters {
                let Some(around) = parents.get(hash) else {
                    continue;
                };
                let of_object = |other: &&u64| parents.get(other) == Some(around);
                let keys = combination.clusters.iter().filter(of_object).count();
                missing.entry(*hash).or_default().push((keys, *calls));
            }
        }
        Company {
            places,
            looks,
            unknown,
            missing,
        }
    }

    /// All clusters of the place that break the same rule.
    pub(super) fn of_the_place(&self, key: &ClusterKey) -> Option<Together> {
        self.places.get(&place(key)).copied()
    }

    /// All clusters of the place that look the same but for the number of digits.
    pub(super) fn alike(&self, key: &ClusterKey) -> Option<Together> {
        self.looks.get(&(place(key), look(&key.shape)?)).copied()
    }

    /// What calls with other clusters of the place led to.
    fn others(&self, key: &ClusterKey, own: LedTo) -> Option<(u64, u64)> {
        let all = self.places.get(&place(key))?;
        Some((
            all.ran_fine.saturating_sub(own.ran_fine),
            all.refused.saturating_sub(own.tool_refused),
        ))
    }
}

/// What the tool made of other values that break the same rule at the same place.
pub(super) fn others_of_the_place(
    facts: &Facts<'_>,
    company: &Company<'_>,
    reasons: &mut Vec<Reason>,
) {
    let own = facts.cluster.led_to;
    // With many results of its own a cluster speaks for itself.
    if own.ran_fine + own.tool_refused >= MANY_RESULTS {
        return;
    }
    let Some((fine, refused)) = company.others(facts.key, own) else {
        return;
    };
    let known = fine + refused;
    if known < SOME_RESULTS {
        return;
    }
    let share = ratio(fine, known);
    if share >= TAKES_FROM {
        let why = format!("{fine} of {known} calls with other such values there ran fine");
        say(reasons, OTHERS_TAKEN, why);
    } else if share <= REFUSES_UP_TO {
        let why = format!("{refused} of {known} calls with other such values there failed");
        say(reasons, OTHERS_REFUSED, why);
    }
}

/// A sketch without the number of digits: `like 9.99` is `9.9`, and a word with digits in it, as of an id in hexadecimal
/// digits, is `x`.
fn look(shape: &str) -> Option<String> {
    let is_of_word = |letter: char| matches!(letter, 'a' | 'A' | '9');
    let mut rest = shape.strip_prefix("like ")?;
    let mut look = String::new();
    while let Some(first) = rest.chars().next() {
        let end = rest.find(|letter| !is_of_word(letter));
        let (word, after) = rest.split_at(end.unwrap_or(rest.len()));
        rest = after;
        match (word.contains('9'), word.contains(['a', 'A'])) {
            (true, true) => look.push('x'),
            (true, false) => look.push('9'),
            (false, true) => look.push_str(word),
            (false, false) => {
                look.push(first);
                rest = &after[first.len_utf8()..];
            }
        }
    }
    Some(look)
}

/// Whether it is one of many keys that nobody declared.
pub(super) fn one_of_many_keys(
    facts: &Facts<'_>,
    company: &Company<'_>,
    reasons: &mut Vec<Reason>,
) {
    if facts.key.issue != "unknown_key" {
        return;
    }
    let around = Path::from_pointer(facts.key.path.as_str()).parent();
    let object = (facts.key.tool.as_str(), facts.key.side, around);
    let Some(keys) = company.unknown.get(&object) else {
        return;
    };
    let all: u64 = keys.values().sum();
    let own = keys.get(facts.key.path.as_str()).copied();
    if keys.len() >= MANY_KEYS && ratio(own.unwrap_or_default(), all) < OWN_SHARE {
        let why = format!("one of {} keys there that nobody declared", keys.len());
        say(reasons, ONE_OF_MANY_KEYS, why);
    }
}

/// Whether all keys that an object must have are missing at once.
pub(super) fn nothing_given(facts: &Facts<'_>, company: &Company<'_>, reasons: &mut Vec<Reason>) {
    if facts.key.issue != "required" {
        return;
    }
    let lists = facts.around.iter();
    let lists = lists.filter_map(|node| node.get("required")?.as_array());
    let required = lists.map(Vec::len).max().unwrap_or_default();
    let Some(counts) = company.missing.get(&facts.key.hash()) else {
        return;
    };
    if required < 2 {
        return;
    }
    let all: u64 = counts.iter().map(|(_, calls)| calls).sum();
    let together = counts.iter().filter(|(keys, _)| *keys >= required);
    let together: u64 = together.map(|(_, calls)| calls).sum();
    if ratio(together, all) >= NOTHING_GIVEN_FROM {
        let why = format!("in {together} of {all} calls all {required} required keys are missing");
        say(reasons, NOTHING_GIVEN, why);
    }
}
