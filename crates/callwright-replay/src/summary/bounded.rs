//! A map that never holds more than `N` keys, nor much more than `BYTES` bytes, and always the same keys, in whatever
//! order they came.
//!
//! If there are too many keys, those with the smallest hashes are kept. A key that is kept in the end was kept in
//! every part, so its value has counted everything; for dropped ones, only the number is known. The same goes for
//! bytes, since a value only grows as it counts.

use std::collections::BTreeMap;
use std::hash::{Hash, Hasher};

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use xxhash_rust::xxh3::Xxh3;

use super::sorted_map::SortedMap;
use super::{Distinct, Merge};

/// See the module documentation.
#[derive(Debug, Clone)]
pub struct Bounded<K: Ord, V, const N: usize, const BYTES: usize = { usize::MAX }> {
    kept: SortedMap<K, V>,
    /// The weight of all values.
    bytes: usize,
    /// By hash, so that the largest is at hand. Filled when the first key has to be dropped.
    order: BTreeMap<u64, K>,
    /// Keys that were dropped.
    dropped: Distinct,
}

impl<K: Ord, V, const N: usize, const BYTES: usize> Default for Bounded<K, V, N, BYTES> {
    fn default() -> Self {
        Bounded {
            kept: SortedMap::default(),
            bytes: 0,
            order: BTreeMap::new(),
            dropped: Distinct::default(),
        }
    }
}

impl<K: Ord, V: PartialEq, const N: usize, const BYTES: usize> PartialEq
    for Bounded<K, V, N, BYTES>
{
    fn eq(&self, other: &Self) -> bool {
        self.kept == other.kept && self.dropped == other.dropped
    }
}

fn hash(key: &impl Hash) -> u64 {
    let mut hasher = Xxh3::new();
    key.hash(&mut hasher);
    hasher.finish()
}

impl<K, V, const N: usize, const BYTES: usize> Bounded<K, V, N, BYTES>
where
    K: Ord + Clone + Hash,
    V: Merge,
{
    /// Adds to the value of a key.
    pub fn add(&mut self, key: K, value: V) {
        match self.kept.get_mut(&key) {
            Some(known) => {
                self.bytes -= known.bytes();
                known.absorb(value);
                self.bytes += known.bytes();
                self.fit();
            }
            None => self.insert(key, value),
        }
    }

    /// Counts something for a key. Only a new key is copied.
    pub fn update<Q>(&mut self, key: &Q, count: impl FnOnce(&mut V))
    where
        K: std::borrow::Borrow<Q>,
        Q: Ord + ToOwned<Owned = K> + ?Sized,
        V: Default,
    {
        if let Some(known) = self.kept.get_mut(key) {
            self.bytes -= known.bytes();
            count(known);
            self.bytes += known.bytes();
            self.fit();
        } else {
            let mut value = V::default();
            count(&mut value);
            self.insert(key.to_owned(), value);
        }
    }

    fn insert(&mut self, key: K, value: V) {
        if !self.dropped.is_empty() {
            let hash = hash(&key);
            // It was dropped before, or its value may have been counted only in part.
            if hash >= self.dropped.smallest() {
                self.dropped.add(hash);
                return;
            }
            self.index();
            self.order.insert(hash, key.clone());
        }
        self.bytes += value.bytes();
        self.kept.insert(key, value);
        self.fit();
    }

    /// Drops keys for which there is no room.
    fn fit(&mut self) {
        while self.kept.len() > N || (self.bytes > BYTES && self.kept.len() > 1) {
            self.index();
            let Some((hash, key)) = self.order.pop_last() else {
                return;
            };
            self.drop_key(hash, &key);
        }
    }

    fn drop_key(&mut self, hash: u64, key: &K) {
        let value = self.kept.remove(key);
        self.bytes -= value.map_or(0, |value| value.bytes());
        self.dropped.add(hash);
    }

    /// Fills `order`, if necessary.
    fn index(&mut self) {
        if self.order.len() != self.kept.len() {
            let keys = self.kept.iter().map(|(key, _)| key);
            // Not `collect`: it instantiates a separate sort for every kind of key, 5 KB each.
            self.order = BTreeMap::new();
            self.order.extend(keys.map(|key| (hash(key), key.clone())));
        }
    }
}

impl<K: Ord, V, const N: usize, const BYTES: usize> Bounded<K, V, N, BYTES> {
    /// The value of a key.
    pub fn get<Q: Ord + ?Sized>(&self, key: &Q) -> Option<&V>
    where
        K: std::borrow::Borrow<Q>,
    {
        self.kept.get(key)
    }

    /// The keys and values that were kept, in the order of the keys.
    pub fn iter(&self) -> impl Iterator<Item = (&K, &V)> {
        self.kept.iter()
    }

    /// How many keys were kept.
    pub fn len(&self) -> usize {
        self.kept.len()
    }

    /// Whether it is empty.
    pub fn is_empty(&self) -> bool {
        self.kept.len() == 0
    }

    /// About how many keys were dropped.
    pub fn dropped(&self) -> u64 {
        self.dropped.count_from_smallest()
    }
}

impl<K, V, const N: usize, const BYTES: usize> Merge for Bounded<K, V, N, BYTES>
where
    K: Ord + Clone + Hash,
    V: Merge,
{
    fn absorb(&mut self, other: Self) {
        self.dropped.absorb(other.dropped);
        if !self.dropped.is_empty() {
            // What the other part has not counted completely.
            self.index();
            let gone = self.order.split_off(&self.dropped.smallest());
            for (hash, key) in gone {
                self.drop_key(hash, &key);
            }
        }
        for (key, value) in other.kept {
            self.add(key, value);
        }
    }

    fn bytes(&self) -> usize {
        self.bytes
    }
}

/// The serialised form.
#[derive(Serialize, Deserialize)]
struct Written<K, V, D> {
    kept: Vec<(K, V)>,
    #[serde(skip_serializing_if = "Option::is_none")]
    dropped: Option<D>,
}

impl<K, V, const N: usize, const BYTES: usize> Serialize for Bounded<K, V, N, BYTES>
where
    K: Ord + Serialize,
    V: Serialize,
{
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        Written {
            kept: self.kept.iter().collect(),
            dropped: Some(&self.dropped).filter(|dropped| !dropped.is_empty()),
        }
        .serialize(serializer)
    }
}

impl<'de, K, V, const N: usize, const BYTES: usize> Deserialize<'de> for Bounded<K, V, N, BYTES>
where
    K: Ord + Clone + Hash + Deserialize<'de>,
    V: Merge + Deserialize<'de>,
{
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let written = Written::<K, V, Distinct>::deserialize(deserializer)?;
        let mut map = Bounded::default();
        for (key, value) in written.kept {
            map.add(key, value);
        }
        map.dropped.absorb(written.dropped.unwrap_or_default());
        Ok(map)
    }
}
