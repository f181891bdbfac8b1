//! Tool and prompt names, as the client and as their server knows them.
//!
//! Takes the names that a server lists; returns them prefixed with the server's name, in the characters and the
//! length that model providers accept. Translating back needs no memory, except for names that had to be changed.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

/// Separates the name of a server from the name of its tool.
pub(crate) const SEPARATOR: &str = "__";

/// Model providers do not accept longer names.
const LONGEST_NAME: usize = 64;

/// How many changed names are remembered: a server that invents names must not use up our memory.
const MOST_CHANGED: usize = 10_000;

/// The names of one kind that one server lists.
#[derive(Debug)]
pub(crate) struct PrefixedNames {
    prefix: String,
    /// Names that had to be changed, with the server's own names.
    changed: HashMap<String, String>,
}

impl PrefixedNames {
    /// `prefix` is what all of them start with, including the separator.
    pub(crate) fn new(prefix: String) -> Self {
        PrefixedNames {
            prefix,
            changed: HashMap::new(),
        }
    }

    /// The names for the client, in the same order. A name that is listed twice stays the same name.
    pub(crate) fn shown(&mut self, names: &[Cow<'_, str>]) -> Vec<String> {
        let whole = |name: &str| format!("{}{name}", self.prefix);
        // Names that need no change are kept; others give way.
        let mut taken: HashSet<String> = names
            .iter()
            .map(|name| whole(name))
            .filter(|shown| is_accepted(shown))
            .collect();
        let mut given: HashMap<&str, String> = HashMap::new();
        let mut all = Vec::with_capacity(names.len());
        for name in names {
            let shown = whole(name);
            if is_accepted(&shown) {
                all.push(shown);
                continue;
            }
            let shown = given
                .entry(name)
                .or_insert_with(|| changed(&shown, name, &taken));
            taken.insert(shown.clone());
            if self.changed.len() < MOST_CHANGED {
                self.changed.insert(shown.clone(), name.to_string());
            }
            all.push(shown.clone());
        }
        all
    }

    /// The server's own name; `None` if it is not one of its names.
    pub(crate) fn original<'n>(&'n self, shown: &'n str) -> Option<&'n str> {
        let rest = shown.strip_prefix(self.prefix.as_str())?;
        Some(self.changed.get(shown).map_or(rest, String::as_str))
    }
}

/// A name in the characters that model providers accept.
pub(crate) fn in_plain_letters(name: &str) -> String {
    let plain = |letter: char| if is_plain(letter) { letter } else { '_' };
    name.chars().map(plain).collect()
}

fn is_plain(letter: char) -> bool {
    letter.is_ascii_alphanumeric() || letter == '_' || letter == '-'
}

fn is_accepted(name: &str) -> bool {
    name.len() <= LONGEST_NAME && name.chars().all(is_plain)
}

/// A name that providers accept and that no other tool has.
fn changed(shown: &str, name: &str, taken: &HashSet<String>) -> String {
    let plain = in_plain_letters(shown);
    if plain.len() <= LONGEST_NAME && !taken.contains(&plain) {
        return plain;
    }
    let mark = format!("_{:08x}", digest(name));
    let mut cut = plain;
    cut.truncate(LONGEST_NAME - mark.len());
    cut + &mark
}

/// FNV-1a: the same on every machine and in every version.
fn digest(name: &str) -> u32 {
    name.bytes().fold(0x811c_9dc5, |digest, byte| {
        (digest ^ u32::from(byte)).wrapping_mul(0x0100_0193)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn names(names: &[&str]) -> (PrefixedNames, Vec<String>) {
        let mut known = PrefixedNames::new("files__".to_owned());
        let names: Vec<Cow<'_, str>> = names.iter().map(|name| (*name).into()).collect();
        let shown = known.shown(&names);
        (known, shown)
    }

    #[test]
    fn good_names_only_get_a_prefix() {
        let (known, shown) = names(&["read", "write-all", "a__b"]);
        assert_eq!(shown, ["files__read", "files__write-all", "files__a__b"]);
        assert!(known.changed.is_empty());
        assert_eq!(known.original("files__a__b"), Some("a__b"));
        assert_eq!(known.original("file__read"), None);
    }

    #[test]
    fn others_are_changed_and_found_again() {
        let long = "x".repeat(70);
        let (known, shown) = names(&["a.b", "a/b", "a_b", &long, "c.d"]);
        // `a_b` is the name of another tool.
        assert_eq!(shown[2], "files__a_b");
        assert!(shown[0].starts_with("files__a_b_"), "{shown:?}");
        assert_ne!(shown[0], shown[1]);
        assert_eq!(shown[3].len(), LONGEST_NAME);
        assert_eq!(shown[4], "files__c_d");
        for (shown, name) in shown.iter().zip(["a.b", "a/b", "a_b", &long, "c.d"]) {
            assert_eq!(known.original(shown), Some(name));
        }
    }

    proptest! {
        #[test]
        fn every_name_is_accepted_and_found_again(
            listed in proptest::collection::hash_set("[a-c_./é]{1,4}|[a-b]{60,70}", 0..30),
        ) {
            let listed: Vec<&str> = listed.iter().map(String::as_str).collect();
            let (known, shown) = names(&listed);
            let different: HashSet<&String> = shown.iter().collect();
            prop_assert_eq!(different.len(), listed.len());
            for (shown, name) in shown.iter().zip(listed) {
                prop_assert!(is_accepted(shown));
                prop_assert_eq!(known.original(shown), Some(name));
            }
        }
    }
}
