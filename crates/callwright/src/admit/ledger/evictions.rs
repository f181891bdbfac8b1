//! Counts sessions that were evicted, and how many of them came back.
//!
//! A session evicted after its last call has lost nothing; one that continues has lost its memory. The names of evicted
//! sessions tell the two apart. When there are too many, a random half of the names is kept, and a session that comes back
//! counts for all those it was sampled from.

use ahash::AHashMap;

/// How many names are kept per shard: 64 shards take 6 MB at most, and up to a quarter of a million sessions the count is
/// exact.
const NAMES: usize = 4_096;

/// The names of evicted sessions; see the module.
#[derive(Debug, Default)]
pub(super) struct Evictions {
    /// Whether the return of a session has been counted, by its name.
    names: AHashMap<u64, bool>,
    /// How often the names were halved: only those that end in this many zero bits are kept.
    halvings: u32,
    returned: u64,
}

impl Evictions {
    /// Records that a session was evicted.
    pub(super) fn evicted(&mut self, name: u64) {
        if name.trailing_zeros() < self.halvings {
            return;
        }
        self.names.entry(name).or_default();
        while self.names.len() > NAMES && self.halvings < u64::BITS - 1 {
            self.halvings += 1;
            let halvings = self.halvings;
            self.names
                .retain(|name, _| name.trailing_zeros() >= halvings);
        }
    }

    /// Records that a session starts, or continues after its eviction.
    pub(super) fn arrived(&mut self, name: u64) {
        if let Some(counted) = self.names.get_mut(&name)
            && !std::mem::replace(counted, true)
        {
            self.returned += 1 << self.halvings;
        }
    }

    /// How many sessions came back; an estimate once names were dropped.
    pub(super) fn returned(&self) -> u64 {
        self.returned
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Names are hashes.
    fn name(session: u64) -> u64 {
        xxhash_rust::xxh3::xxh3_64(&session.to_le_bytes())
    }

    #[test]
    fn only_sessions_that_come_back_count_and_only_once() {
        let mut evictions = Evictions::default();
        for session in 0..1_000 {
            evictions.arrived(name(session));
            evictions.evicted(name(session));
        }
        assert_eq!(evictions.returned(), 0);
        for session in (0..10).chain(0..10) {
            evictions.arrived(name(session));
            evictions.evicted(name(session));
        }
        assert_eq!(evictions.returned(), 10);
    }

    #[test]
    fn with_more_sessions_than_names_the_count_is_an_estimate() {
        let mut evictions = Evictions::default();
        for session in 0..400_000 {
            evictions.evicted(name(session));
        }
        assert!(evictions.names.len() <= NAMES);
        for session in 0..200_000 {
            evictions.arrived(name(session));
        }
        // One in 128 is kept: about 1,560 of the returning ones, so the error is a few percent.
        let returned = evictions.returned();
        assert!((170_000..230_000).contains(&returned), "{returned}");
    }
}
