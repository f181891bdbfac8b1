//! How many letters two names have in common: rules out most names at once, and compares the rest a column at a time.

use smallvec::SmallVec;

/// The letters and digits of an ASCII name, in lower case.
pub(super) fn fold_ascii(name: &str) -> SmallVec<[u8; 64]> {
    let letters = name.bytes().filter(u8::is_ascii_alphanumeric);
    letters.map(|byte| byte.to_ascii_lowercase()).collect()
}

/// Whether an ASCII name certainly does not have several words: lower-case letters and digits only.
pub(super) fn is_one_word(name: &str) -> bool {
    name.bytes()
        .all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit())
}

/// Where each letter occurs in a folded name of at most 64 letters, for comparing it with many others.
pub(super) struct Alphabet {
    /// One bit per position, by letter.
    places: [u64; 128],
    length: usize,
}

impl Alphabet {
    pub(super) fn of(folded: &str) -> Option<Self> {
        let mut alphabet = Alphabet {
            places: [0; 128],
            length: folded.len(),
        };
        if folded.is_empty() || folded.len() > 64 {
            return None;
        }
        for (place, byte) in folded.bytes().enumerate() {
            *alphabet.places.get_mut(usize::from(byte))? |= 1 << place;
        }
        Some(alphabet)
    }

    /// The share of letters that need no change: insertion, deletion, substitution, or a swap with a neighbour.
    pub(super) fn shared_letters(&self, other: &[u8]) -> f64 {
        let longest = self.length.max(other.len());
        super::share(longest - self.distance(other), longest)
    }

    /// How many letters have to be changed, a column of the usual table at a time (Hyyrö 2003, with swaps): each bit tells
    /// whether a cell is one larger or smaller than its neighbour.
    fn distance(&self, other: &[u8]) -> usize {
        let last = 1 << (self.length - 1);
        let (mut larger_below, mut smaller_below) = (u64::MAX, 0u64);
        let (mut diagonal, mut previous) = (0u64, 0u64);
        let mut distance = self.length;
        for byte in other {
            let places = self.places[usize::from(*byte & 127)];
            let swapped = ((!diagonal & places) << 1) & previous;
            let carried = (places & larger_below).wrapping_add(larger_below) ^ larger_below;
            diagonal = carried | places | smaller_below | swapped;
            let larger = smaller_below | !(diagonal | larger_below);
            let smaller = diagonal & larger_below;
            distance += usize::from(larger & last != 0);
            distance -= usize::from(smaller & last != 0);
            let larger = (larger << 1) | 1;
            larger_below = (smaller << 1) | !(diagonal | larger);
            smaller_below = larger & diagonal;
            previous = places;
        }
        distance
    }
}

/// How often each letter occurs in a name, ignoring case and separators: distinguishes most names without comparing them.
pub(super) struct Letters {
    counts: [u8; 32],
    all: usize,
    pub(super) is_ascii: bool,
}

impl Letters {
    /// The letters of a name of at most [`super::LONGEST_NAME`] bytes. Some digits count as letters.
    pub(super) fn of(name: &str) -> Self {
        let mut letters = Letters {
            counts: [0; 32],
            all: 0,
            is_ascii: name.is_ascii(),
        };
        for byte in name.bytes().filter(u8::is_ascii_alphanumeric) {
            letters.counts[usize::from(byte % 32)] += 1;
            letters.all += 1;
        }
        letters
    }

    pub(super) fn shared(&self, other: &Letters) -> SharedLetters {
        let both = self.counts.iter().zip(&other.counts);
        let both: usize = both
            .map(|(left, right)| usize::from(*left.min(right)))
            .sum();
        let (short, long) = (self.all.min(other.all), self.all.max(other.all));
        let one_has_all = !self.is_ascii || !other.is_ascii || both >= short;
        SharedLetters {
            one_has_all,
            // Three in five is `CLOSE`; if names share words or a beginning, one has all letters of the other.
            may_be_close: one_has_all || both * 5 >= long * 3,
        }
    }
}

/// What the letters of two names tell about them.
pub(super) struct SharedLetters {
    /// `false` only if neither name has all letters of the other.
    pub(super) one_has_all: bool,
    /// `false` only if two names are not close: they share too few letters.
    pub(super) may_be_close: bool,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distances_are_those_of_the_table() {
        let mut state = 1u64;
        let mut random = |below: u64| {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            (state >> 33) % below
        };
        for _ in 0..20_000 {
            let mut word = |longest| -> String {
                let length = 1 + random(longest);
                (0..length)
                    .map(|_| char::from(b'a' + u8::try_from(random(4)).expect("small")))
                    .collect()
            };
            let (left, right) = (word(64), word(80));
            let alphabet = Alphabet::of(&left).expect("short");
            let expected = strsim::osa_distance(&left, &right);
            assert_eq!(
                alphabet.distance(right.as_bytes()),
                expected,
                "{left} {right}"
            );
        }
    }
}
