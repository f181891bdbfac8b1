//! Example calls.

use std::collections::BTreeMap;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::Merge;

/// How many are kept.
const KEPT: usize = 3;

/// One call that shows a cluster or a loop.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Example {
    /// The value at the place, as JSON; secrets are masked. Empty for a missing key. For a text that is not JSON, a
    /// JSON string with its beginning.
    pub value: String,
    /// Whether `value` is complete; otherwise it is cut and not JSON.
    pub whole: bool,
    /// The arguments of the call around it, as JSON, with secrets masked; cut if they are long. Empty if they are
    /// unknown, or are the value itself.
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

/// At most three examples: those with the smallest hashes, so that they are the same in whatever order they came.
///
/// Sorted by hash. A map would take room for eleven.
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

    /// Whether it is empty.
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
