//! Some calls to look at.

use std::collections::BTreeMap;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::Merge;

/// How many are kept.
const KEPT: usize = 3;

/// What a cluster or a loop looks like in one call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Example {
    /// The value at the place, as JSON; secrets are masked. Empty for a key that is missing. For a text that is not JSON, a
    /// JSON string with its beginning.
    pub value: String,
    /// Whether `value` is all of it; otherwise it is cut and not JSON.
    pub whole: bool,
    /// The arguments of the call around it, as JSON, with secrets masked; cut where they are long. Empty where they are not
    /// known, or are the value itself.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub arguments: String,
    /// The file and the line.
    pub place: String,
    /// When, in microseconds since 1970.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time: Option<i64>,
    /// The conversation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// The model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
}

/// Three examples at most: those with the smallest hashes, so that they are the same in whatever order they came.
///
/// In the order of their hashes. A map would take room for eleven.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Examples(Vec<(u64, Example)>);

impl Examples {
    /// Whether an example with this hash would be kept, so that others need not be made.
    pub fn wants(&self, hash: u64) -> bool {
        self.0.len() < KEPT || self.0.last().is_some_and(|(largest, _)| hash < *largest)
    }

    /// Adds an example. The hash should be that of its place and value.
    pub fn add(&mut self, hash: u64, example: Example) {
        if let Err(at) = self.0.binary_search_by_key(&hash, |(hash, _)| *hash)
            && at < KEPT
        {
            self.0.truncate(KEPT - 1);
            self.0.reserve_exact(1);
            self.0.insert(at, (hash, example));
        }
    }

    /// The examples.
    pub fn iter(&self) -> impl Iterator<Item = &Example> {
        self.0.iter().map(|(_, example)| example)
    }

    /// How many there are.
    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl Merge for Examples {
    fn absorb(&mut self, other: Self) {
        for (hash, example) in other.0 {
            self.add(hash, example);
        }
    }
}

/// As an object, by hash.
impl Serialize for Examples {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(hash, example)| (hash, example)))
    }
}

impl<'de> Deserialize<'de> for Examples {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut examples = Examples::default();
        for (hash, example) in BTreeMap::deserialize(deserializer)? {
            examples.add(hash, example);
        }
        Ok(examples)
    }
}
