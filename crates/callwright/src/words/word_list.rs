//! Lists of words, written as plain text.

/// `word_list![one two]` is `&["one", "two"]`.
macro_rules! word_list {
    ($($word:ident)+) => {
        &[$(stringify!($word)),+]
    };
}

pub(crate) use word_list;
