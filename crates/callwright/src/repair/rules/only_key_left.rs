//! The one key that is missing, and the one key that is unknown and says nothing: `data` for `scores`.
//!
//! A guess, on strong evidence: nothing else is missing, nothing else is left over, and the value is a list or an object
//! that fits.

use super::super::{Grade, Stakes};
use super::key_words::{full_words, only_pair};
use super::{Change, Rule, Site};

pub(super) const RULE: Rule = Rule {
    name: "only_key_left",
    grade: Grade::Guess,
    cost: 2,
    up_to: Stakes::Changes,
    about: "The only unknown key takes the place of the only missing one, if its name says nothing: `data`, `the_list`.",
    propose,
};

fn propose(site: &Site<'_>) -> Option<Change> {
    let pair = only_pair(site)?;
    full_words(pair.unknown)
        .is_empty()
        .then(|| pair.rename(site))
}
