//! Splits a name into its words, without case and separators.

use smallvec::SmallVec;

/// A name without its case and separators, and where its words end.
#[derive(Default)]
pub(crate) struct FoldedName {
    pub(crate) folded: String,
    pub(super) ends: SmallVec<[usize; 8]>,
}

impl FoldedName {
    /// Splits at separators and at a capital after a lower-case letter or a digit.
    pub(crate) fn new(name: &str) -> FoldedName {
        let mut folded = String::with_capacity(name.len());
        let mut ends = SmallVec::new();
        let mut end_word = |folded: &String| {
            if !folded.is_empty() && ends.last() != Some(&folded.len()) {
                ends.push(folded.len());
            }
        };
        let mut previous_small = false;
        // Almost all names are ASCII, and the other way takes five times as long.
        if name.is_ascii() {
            for letter in name.bytes() {
                let is_capital = letter.is_ascii_uppercase();
                if !letter.is_ascii_alphanumeric() {
                    end_word(&folded);
                    previous_small = false;
                    continue;
                }
                if previous_small && is_capital {
                    end_word(&folded);
                }
                previous_small = !is_capital;
                folded.push(char::from(letter.to_ascii_lowercase()));
            }
        } else {
            for character in name.chars() {
                if !character.is_alphanumeric() {
                    end_word(&folded);
                    previous_small = false;
                    continue;
                }
                if previous_small && character.is_uppercase() {
                    end_word(&folded);
                }
                previous_small = character.is_lowercase() || character.is_numeric();
                folded.extend(character.to_lowercase());
            }
        }
        end_word(&folded);
        FoldedName { folded, ends }
    }

    pub(crate) fn words(&self) -> impl Iterator<Item = &str> {
        let mut start = 0;
        self.ends.iter().map(move |end| {
            let word = &self.folded[start..*end];
            start = *end;
            word
        })
    }
}

/// The words of a name, in lower case.
pub(crate) fn words(name: &str) -> Vec<String> {
    FoldedName::new(name).words().map(str::to_owned).collect()
}

/// Whether one of the words of a name is among these, which are in lower case.
pub(crate) fn has_word(name: &str, words: &[&str]) -> bool {
    FoldedName::new(name)
        .words()
        .any(|word| words.contains(&word))
}
