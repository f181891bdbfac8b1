//! What a call asked for, next to what it was answered: a value of the arguments that an answer repeats says which call
//! it answers, whatever it looks like.
//!
//! Takes the arguments; answers whether a word is one of theirs. They are only read when needed.

use std::cell::OnceCell;

use ahash::AHashSet;

use crate::json::Value;

/// How much of the arguments is looked at, in bytes, and how long a value may be. Ids, times and names are shorter.
const LOOKED_AT: usize = 64 * 1024;
const LONGEST: usize = 200;

/// The arguments of a call, as far as answers may repeat them.
#[derive(Debug, Default)]
pub(super) struct Asked<'a> {
    arguments: Option<&'a Value<'a>>,
    words: OnceCell<AHashSet<Box<str>>>,
}

impl<'a> Asked<'a> {
    pub(super) fn new(arguments: &'a Value<'a>) -> Self {
        Asked {
            arguments: Some(arguments),
            words: OnceCell::new(),
        }
    }

    /// Whether a value of the arguments is this, or a word of one is.
    pub(super) fn holds(&self, word: &str) -> bool {
        let Some(arguments) = self.arguments else {
            return false;
        };
        let words = self.words.get_or_init(|| {
            let mut words = AHashSet::new();
            let mut bytes_left = LOOKED_AT;
            collect(arguments, &mut bytes_left, &mut words);
            words
        });
        words.contains(word)
    }
}

fn collect(value: &Value<'_>, bytes_left: &mut usize, words: &mut AHashSet<Box<str>>) {
    let text = match value {
        Value::Object(members) => {
            for (_, member) in members {
                collect(member, bytes_left, words);
            }
            return;
        }
        Value::Array(items) => {
            for item in items {
                collect(item, bytes_left, words);
            }
            return;
        }
        Value::String(text) => text.as_ref(),
        Value::Number(number) => number.as_str(),
        Value::Null | Value::Bool(_) => return,
    };
    let Some(left) = bytes_left.checked_sub(text.len()) else {
        return;
    };
    *bytes_left = left;
    let single =
        text.split(|character: char| character.is_whitespace() || ",;()".contains(character));
    for word in single.chain([text]) {
        if (1..=LONGEST).contains(&word.len()) {
            words.insert(word.into());
        }
    }
}
