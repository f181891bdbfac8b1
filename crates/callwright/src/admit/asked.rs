//! The values that a call asked about: an answer that repeats one of them only says which call it belongs to.
//!
//! Takes the arguments; returns whether a word is one of theirs. They are only searched on demand.

use std::cell::{Cell, OnceCell};
use std::ops::ControlFlow::{self, Break, Continue};

use ahash::AHashSet;
use memchr::memmem::find;

use crate::json::Value;

/// How much of the arguments is searched, in bytes, and how long a value may be. Ids, times and names are shorter.
const LOOKED_AT: usize = 64 * 1024;
const LONGEST: usize = 200;

/// How many bytes of arguments are searched before their words are collected. Most answers need a few lookups in arguments of a
/// few hundred bytes, which takes a tenth of the time that collecting the words does.
const SEARCHED: usize = 2_048;

/// The arguments of a call, to the extent that answers may repeat them.
#[derive(Debug, Default)]
pub(super) struct Asked<'a> {
    arguments: Option<&'a Value<'a>>,
    searched: Cell<usize>,
    words: OnceCell<AHashSet<&'a str>>,
}

impl<'a> Asked<'a> {
    pub(super) fn new(arguments: &'a Value<'a>) -> Self {
        Asked {
            arguments: Some(arguments),
            searched: Cell::new(0),
            words: OnceCell::new(),
        }
    }

    /// Whether this is a value of the arguments, or a word in one.
    pub(super) fn holds(&self, word: &str) -> bool {
        let Some(arguments) = self.arguments else {
            return false;
        };
        if !(1..=LONGEST).contains(&word.len()) {
            return false;
        }
        if self.searched.get() < SEARCHED {
            let mut bytes_left = LOOKED_AT;
            let found = each_text(arguments, &mut bytes_left, &mut |text| {
                let is_within = find(text.as_bytes(), word.as_bytes()).is_some();
                let is_word = is_within && (text == word || words(text).any(|it| it == word));
                if is_word { Break(()) } else { Continue(()) }
            });
            let searched = LOOKED_AT - bytes_left + word.len();
            self.searched.set(self.searched.get() + searched);
            return found.is_break();
        }
        let words = self.words.get_or_init(|| {
            let (mut all, mut bytes_left) = (AHashSet::new(), LOOKED_AT);
            let _all = each_text(arguments, &mut bytes_left, &mut |text| {
                all.extend(words(text).chain([text]));
                Continue(())
            });
            all
        });
        words.contains(word)
    }
}

/// The words of a text, as an answer would repeat them.
fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|character: char| character.is_whitespace() || ",;()".contains(character))
}

/// Visits the texts and numbers in a value until the visitor breaks or the byte budget is used up.
fn each_text<'a>(
    value: &'a Value<'a>,
    bytes_left: &mut usize,
    visit: &mut impl FnMut(&'a str) -> ControlFlow<()>,
) -> ControlFlow<()> {
    let text = match value {
        Value::Object(members) => {
            let mut members = members.iter();
            return members.try_for_each(|(_, member)| each_text(member, bytes_left, visit));
        }
        Value::Array(items) => {
            let mut items = items.iter();
            return items.try_for_each(|item| each_text(item, bytes_left, visit));
        }
        Value::String(text) => text.as_ref(),
        Value::Number(number) => number.as_str(),
        Value::Null | Value::Bool(_) => return Continue(()),
    };
    match bytes_left.checked_sub(text.len()) {
        Some(left) => {
            *bytes_left = left;
            visit(text)
        }
        None => Continue(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::read_value;

    #[test]
    fn searching_and_collecting_find_the_same_words() {
        let text = r#"{"id": 17, "who": "Ada (C7), Bob", "in": [{"at": "2026-01-01T00:00:00Z"}], "no": null}"#;
        let arguments = read_value(text).expect("JSON");
        let words = [
            "17",
            "Ada",
            "C7",
            "Bob",
            "Ada (C7), Bob",
            "2026-01-01T00:00:00Z",
            "",
            "1",
            "A",
            "null",
            "(C7)",
            "Ada (C7)",
            "who",
        ];
        let searching = Asked::new(&arguments);
        let collecting = Asked::new(&arguments);
        collecting.searched.set(SEARCHED);
        let of = |asked: &Asked<'_>| words.map(|word| asked.holds(word));
        assert_eq!(of(&searching), of(&collecting));
        assert!(searching.words.get().is_none());
        assert_eq!(of(&searching).iter().filter(|it| **it).count(), 6);
    }
}
