//! Signs from other clusters at the same place, and from other violations in the same calls.

use std::collections::{BTreeMap, HashMap};

use callwright::json::Path;
use callwright::validate::IssueCode;

use super::ScoredReason;
use super::facts::Facts;
use super::outcome::ratio;
use super::signs::{
    MANY_KEYS, MANY_RESULTS, NOTHING_GIVEN_FROM, OWN_SHARE, REFUSES_UP_TO, SOME_RESULTS, Sign,
    TAKES_FROM,
};
use crate::summary::{Cluster, ClusterKey, Side, Summary, ValueShape};

/// Whether one place has many clusters of an issue: one for each value, size, length or sketch.
fn has_one_cluster_per_value(code: IssueCode) -> bool {
    use IssueCode as Code;
    matches!(
        code,
        Code::Enum
            | Code::Const
            | Code::Minimum
            | Code::Maximum
            | Code::MultipleOf
            | Code::MinLength
            | Code::MaxLength
            | Code::MinItems
            | Code::MaxItems
            | Code::Format
            | Code::Pattern
    )
}

/// The tool, the side, the path and the issue.
type PlaceKey<'k> = (&'k str, Side, &'k str, Option<IssueCode>);

fn place(key: &ClusterKey) -> PlaceKey<'_> {
    (&key.tool, key.side, &key.path, key.issue_code())
}

/// The combined outcomes of several clusters.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Totals {
    pub(super) calls: u64,
    pub(super) ran_fine: u64,
    pub(super) refused: u64,
}

impl Totals {
    fn add(&mut self, cluster: &Cluster) {
        self.calls += cluster.calls;
        self.ran_fine += cluster.led_to.ran_fine;
        self.refused += cluster.led_to.tool_refused;
    }
}

/// What is known about all clusters together.
#[derive(Debug, Default)]
pub(super) struct Neighbours<'s> {
    places: HashMap<PlaceKey<'s>, Totals>,
    /// By place and sketch.
    looks: HashMap<(PlaceKey<'s>, String), Totals>,
    /// By object, its undeclared keys and their calls.
    undeclared: HashMap<(&'s str, Side, Path), BTreeMap<&'s str, u64>>,
    /// For clusters about missing keys: how many keys of the object are missing, in how many calls.
    missing: HashMap<u64, Vec<(usize, u64)>>,
}

impl<'s> Neighbours<'s> {
    /// Collects them.
    pub(super) fn of(summary: &'s Summary) -> Self {
        let mut all = Neighbours::default();
        let mut parents: HashMap<u64, (Side, Path)> = HashMap::new();
        for (key, cluster) in summary.clusters.iter() {
            let code = key.issue_code();
            if code.is_some_and(has_one_cluster_per_value) {
                all.places.entry(place(key)).or_default().add(cluster);
            }
            if let Some(look) = look(key) {
                let same_look = all.looks.entry((place(key), look));
                same_look.or_default().add(cluster);
            }
            let around = Path::from_pointer(key.path.as_str()).parent();
            if code == Some(IssueCode::UnknownKey) {
                let keys = all.undeclared.entry((&key.tool, key.side, around));
                *keys.or_default().entry(&key.path).or_insert(0) += cluster.calls;
            } else if code == Some(IssueCode::Required) {
                parents.insert(key.hash(), (key.side, around));
            }
        }
        for (combination, calls) in summary.combinations.iter() {
            for hash in &combination.clusters {
                let Some(around) = parents.get(hash) else {
                    continue;
                };
                let of_object = |other: &&u64| parents.get(other) == Some(around);
                let keys = combination.clusters.iter().filter(of_object).count();
                all.missing.entry(*hash).or_default().push((keys, *calls));
            }
        }
        all
    }

    /// All clusters of the place that violate the same rule.
    pub(super) fn of_the_place(&self, key: &ClusterKey) -> Option<Totals> {
        self.places.get(&place(key)).copied()
    }

    /// All clusters of the place that look the same except for the number of digits.
    pub(super) fn alike(&self, key: &ClusterKey) -> Option<Totals> {
        self.looks.get(&(place(key), look(key)?)).copied()
    }
}

/// The outcomes of other values that violate the same rule at the same place.
pub(super) fn others_of_the_place(facts: &Facts<'_>) -> Option<ScoredReason> {
    let own = facts.cluster.led_to;
    // With many results, a cluster speaks for itself.
    if own.ran_fine + own.tool_refused >= MANY_RESULTS {
        return None;
    }
    let all = facts.neighbours.of_the_place(facts.key)?;
    let fine = all.ran_fine.saturating_sub(own.ran_fine);
    let refused = all.refused.saturating_sub(own.tool_refused);
    let known = fine + refused;
    match ratio(fine, known) {
        _ if known < SOME_RESULTS => None,
        share if share >= TAKES_FROM => Some(Sign::OthersTaken.because(format!(
            "{fine} of {known} calls with other such values there ran fine"
        ))),
        share if share <= REFUSES_UP_TO => Some(Sign::OthersRefused.because(format!(
            "{refused} of {known} calls with other such values there failed"
        ))),
        _ => None,
    }
}

/// A sketch without the number of digits: `9.99` is `9.9`, and a word with digits in it, as in a hexadecimal id, is
/// `x`.
fn look(key: &ClusterKey) -> Option<String> {
    let is_of_word = |letter: char| matches!(letter, 'a' | 'A' | '9');
    let ValueShape::Sketch(sketch) = &key.shape else {
        return None;
    };
    let mut rest = sketch.as_str();
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

/// Whether it is one of many undeclared keys.
pub(super) fn one_of_many_keys(facts: &Facts<'_>) -> Option<ScoredReason> {
    let around = Path::from_pointer(facts.key.path.as_str()).parent();
    let object = (facts.key.tool.as_str(), facts.key.side, around);
    let keys = facts.neighbours.undeclared.get(&object)?;
    let all: u64 = keys.values().sum();
    let own = keys.get(facts.key.path.as_str()).copied();
    let is_one = facts.code == Some(IssueCode::UnknownKey)
        && keys.len() >= MANY_KEYS
        && ratio(own.unwrap_or_default(), all) < OWN_SHARE;
    let why = || format!("one of {} undeclared keys there", keys.len());
    is_one.then(|| Sign::OneOfManyKeys.because(why()))
}

/// Whether all required keys of an object are missing at once.
pub(super) fn nothing_given(facts: &Facts<'_>) -> Option<ScoredReason> {
    // It only contains clusters about missing keys.
    let counts = facts.neighbours.missing.get(&facts.key.hash())?;
    let lists = facts.around.iter();
    let lists = lists.filter_map(|node| node.get("required")?.as_array());
    let required = lists.map(Vec::len).max().unwrap_or_default();
    let all: u64 = counts.iter().map(|(_, calls)| calls).sum();
    let at_once = counts.iter().filter(|(keys, _)| *keys >= required);
    let at_once: u64 = at_once.map(|(_, calls)| calls).sum();
    (required >= 2 && ratio(at_once, all) >= NOTHING_GIVEN_FROM).then(|| {
        Sign::NothingGiven.because(format!(
            "in {at_once} of {all} calls all {required} required keys are missing"
        ))
    })
}
