//! Which keys of an answer describe the answer itself: when it was made, how long it took, for which request.

use std::borrow::Cow;

use crate::nearest::has_word;
use crate::vocabulary::word_list;

/// Words in the name of a key whose value describes the answer, not its subject.
const ABOUT_THE_ANSWER: &[&str] = word_list![
    timestamp elapsed took latency uptime nonce etag traceparent ts
];

/// Complete names of such keys, in lower case and without separators.
const ABOUT_THE_REQUEST: &[&str] = word_list![
    requestid traceid spanid correlationid servertime currenttime now generatedat fetchedat retrievedat
    queriedat checkedat
];

/// Keys, in the same spelling, of objects that describe the answer: a time or a UUID inside is not data.
const AROUND_THE_ANSWER: &[&str] = word_list![meta metadata trace];

/// What a key says about its value.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum KeyKind {
    Data,
    /// It describes the answer, not its subject.
    OfAnswer,
    /// Its content may describe the answer.
    AroundAnswer,
}

impl KeyKind {
    pub(super) fn of(key: &str) -> Self {
        if !may_be_about_the_answer(key) {
            KeyKind::Data
        } else if is_about_the_answer(key) {
            KeyKind::OfAnswer
        } else if is_around_the_answer(key) {
            KeyKind::AroundAnswer
        } else {
            KeyKind::Data
        }
    }
}

fn is_around_the_answer(key: &str) -> bool {
    let key = key.trim_matches('_');
    AROUND_THE_ANSWER
        .iter()
        .any(|known| known.eq_ignore_ascii_case(key))
}

/// Whether a key may describe the answer: a cheap test, and a `false` is always right.
fn may_be_about_the_answer(key: &str) -> bool {
    // Each name in the lists contains two of these letters in a row.
    const PAIRS: [[u8; 2]; 10] = [
        *b"ti", *b"ts", *b"el", *b"to", *b"la", *b"no", *b"et", *b"tr", *b"id", *b"at",
    ];
    // For each letter, those that may follow it.
    const FOLLOWS: [u32; 128] = {
        let (mut follows, mut at) = ([0; 128], 0);
        while at < PAIRS.len() {
            let [first, second] = PAIRS[at];
            follows[first as usize] |= 1 << (second - b'a');
            at += 1;
        }
        follows
    };
    let mut last = 0;
    for byte in key.bytes() {
        // Its lower-case form may be ASCII.
        if !byte.is_ascii() {
            return true;
        }
        // There may be separators between the letters of a name.
        if byte.is_ascii_alphanumeric() {
            let byte = byte.to_ascii_lowercase();
            let follows = byte.is_ascii_lowercase() && FOLLOWS[last] >> (byte - b'a') & 1 == 1;
            if follows {
                return true;
            }
            last = usize::from(byte);
        }
    }
    false
}

fn is_about_the_answer(key: &str) -> bool {
    // No key in the lists is longer.
    const LONGEST_KEY: usize = 40;
    if key.len() > LONGEST_KEY {
        return false;
    }
    let mut folded = [0; LONGEST_KEY];
    let folded = match folded_ascii(key, &mut folded) {
        Some(folded) => Cow::Borrowed(folded),
        None => Cow::Owned(
            key.chars()
                .filter(|character| character.is_alphanumeric())
                .flat_map(char::to_lowercase)
                .collect(),
        ),
    };
    ABOUT_THE_REQUEST.contains(&folded.as_ref())
        // Splitting a name costs more than searching for the letters of its words.
        || holds_letters(folded.as_bytes()) && has_word(key, ABOUT_THE_ANSWER)
}

/// Whether the letters of a word about the answer appear in a name one after the other.
fn holds_letters(name: &[u8]) -> bool {
    // The letters with which these words begin.
    const FIRST: u32 = {
        let (mut letters, mut at) = (0, 0);
        while at < ABOUT_THE_ANSWER.len() {
            letters |= 1 << (ABOUT_THE_ANSWER[at].as_bytes()[0] - b'a');
            at += 1;
        }
        letters
    };
    let begins = |byte: u8| byte.is_ascii_lowercase() && FIRST >> (byte - b'a') & 1 == 1;
    (0..name.len()).any(|at| {
        let mut words = ABOUT_THE_ANSWER.iter();
        begins(name[at]) && words.any(|word| name[at..].starts_with(word.as_bytes()))
    })
}

/// A key without separators, in lower case; `None` if it is not ASCII.
fn folded_ascii<'b>(key: &str, buffer: &'b mut [u8]) -> Option<&'b str> {
    let mut length = 0;
    for byte in key.bytes() {
        if !byte.is_ascii() {
            return None;
        }
        if byte.is_ascii_alphanumeric() {
            *buffer.get_mut(length)? = byte.to_ascii_lowercase();
            length += 1;
        }
    }
    std::str::from_utf8(buffer.get(..length)?).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cheap_test_never_misses_a_key() {
        for name in ABOUT_THE_ANSWER.iter().chain(ABOUT_THE_REQUEST) {
            assert!(may_be_about_the_answer(name), "{name}");
            assert!(may_be_about_the_answer(&name.to_uppercase()), "{name}");
        }
        assert!(may_be_about_the_answer("generated_at"));
        assert!(may_be_about_the_answer("request-Id"));
        assert!(!may_be_about_the_answer("has_more"));
    }
}
