//! A map that never holds more than `N` keys, and always the same ones, in whatever order they came.
//!
//! Of too many keys, those with the smallest hashes are kept. A key that is kept in the end was kept in every part, so its
//! value has counted everything; of the dropped ones only the number is known.

use std::collections::BTreeMap;
use std::hash::{Hash, Hasher};

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use xxhash_rust::xxh3::Xxh3;

use super::{Distinct, Merge};

/// See the module.
#[derive(Debug, Clone, PartialEq)]
pub struct Bounded<K: Ord, V, const N: usize> {
    kept: BTreeMap<K, V>,
    /// By hash, so that the largest is at hand. Only filled when the map is full.
    order: BTreeMap<u64, K>,
    /// Keys that were dropped.
    dropped: Distinct,
}

impl<K: Ord, V, const N: usize> Default for Bounded<K, V, N> {
    fn default() -> Self {
        Bounded {
            kept: BTreeMap::new(),
            order: BTreeMap::new(),
            dropped: Distinct::default(),
        }
    }
}

fn hash(key: &impl Hash) -> u64 {
    let mut hasher = Xxh3::new();
    key.hash(&mut hasher);
    hasher.finish()
}

impl<K: Ord + Clone + Hash, V: Merge, const N: usize> Bounded<K, V, N> {
    /// Adds to the value of a key.
    pub fn add(&mut self, key: K, value: V) {
        if let Some(known) = self.kept.get_mut(&key) {
            known.absorb(value);
            return;
        }
        let hash = hash(&key);
        if self.kept.len() < N {
            self.order.insert(hash, key.clone());
            self.kept.insert(key, value);
            return;
        }
        let Some((&largest, _)) = self.order.last_key_value() else {
            return;
        };
        if hash >= largest {
            self.dropped.add(hash);
            return;
        }
        if let Some((_, out)) = self.order.pop_last() {
            self.kept.remove(&out);
            self.dropped.add(largest);
        }
        self.order.insert(hash, key.clone());
        self.kept.insert(key, value);
    }

    /// Counts something for a key. Only a key that is new is copied.
    pub fn update<Q>(&mut self, key: &Q, count: impl FnOnce(&mut V))
    where
        K: std::borrow::Borrow<Q>,
        Q: Ord + ToOwned<Owned = K> + ?Sized,
        V: Default,
    {
        if let Some(known) = self.kept.get_mut(key) {
            return count(known);
        }
        let mut value = V::default();
        count(&mut value);
        self.add(key.to_owned(), value);
    }
}

impl<K: Ord, V, const N: usize> Bounded<K, V, N> {
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

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.kept.is_empty()
    }

    /// About how many keys there was no room for.
    pub fn dropped(&self) -> u64 {
        self.dropped.count()
    }
}

impl<K: Ord + Clone + Hash, V: Merge, const N: usize> Merge for Bounded<K, V, N> {
    fn absorb(&mut self, other: Self) {
        self.dropped.absorb(other.dropped);
        for (key, value) in other.kept {
            self.add(key, value);
        }
    }
}

/// The form in which it is written.
#[derive(Serialize, Deserialize)]
struct Written<K, V, D> {
    kept: Vec<Kept<K, V>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    dropped: Option<D>,
}

#[derive(Serialize, Deserialize)]
struct Kept<K, V> {
    key: K,
    value: V,
}

impl<K: Ord + Serialize, V: Serialize, const N: usize> Serialize for Bounded<K, V, N> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let kept = self.kept.iter();
        Written {
            kept: kept.map(|(key, value)| Kept { key, value }).collect(),
            dropped: Some(&self.dropped).filter(|dropped| !dropped.is_empty()),
        }
        .serialize(serializer)
    }
}

impl<'de, K, V, const N: usize> Deserialize<'de> for Bounded<K, V, N>
where
    K: Ord + Clone + Hash + Deserialize<'de>,
    V: Merge + Deserialize<'de>,
{
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let written = Written::<K, V, Distinct>::deserialize(deserializer)?;
        let mut map = Bounded {
            dropped: written.dropped.unwrap_or_default(),
            ..Bounded::default()
        };
        for Kept { key, value } in written.kept {
            map.add(key, value);
        }
        Ok(map)
    }
}
