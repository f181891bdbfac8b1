//! Splits a name into its words, without case and separators.

use smallvec::SmallVec;

/// A name without its case and separators, and where its words end.
#[derive(Default)]
pub(crate) struct FoldedName {
    pub(crate) folded: String,
    pub(super) ends: SmallVec<[usize; 8]>,
}

impl FoldedName {
    /// Splits at separators, at a capital after a lower-case letter or a digit, and before the last of several capitals if a
    /// word begins with it: `HTTPServer` has two words, and `userIDs` too.
    pub(crate) fn new(name: &str) -> FoldedName {
        let mut folded = String::with_capacity(name.len());
        let mut ends = SmallVec::new();
        let mut end_word = |folded: &String| {
            if !folded.is_empty() && ends.last() != Some(&folded.len()) {
                ends.push(folded.len());
            }
        };
        let mut previous_small = false;
        let mut previous_capital = false;
        // Almost all names are ASCII, and the other way takes five times as long.
        if name.is_ascii() {
            for (at, letter) in name.bytes().enumerate() {
                let is_capital = letter.is_ascii_uppercase();
                if !letter.is_ascii_alphanumeric() {
                    end_word(&folded);
                    (previous_small, previous_capital) = (false, false);
                    continue;
                }
                let begins_word = || {
                    let next = name.as_bytes().get(at + 1..at + 3);
                    next.is_some_and(|next| next.iter().all(u8::is_ascii_lowercase))
                };
                if is_capital && (previous_small || previous_capital && begins_word()) {
                    end_word(&folded);
                }
                (previous_small, previous_capital) = (!is_capital, is_capital);
                folded.push(char::from(letter.to_ascii_lowercase()));
            }
        } else {
            for (at, character) in name.char_indices() {
                let is_capital = character.is_uppercase();
                if !character.is_alphanumeric() {
                    end_word(&folded);
                    (previous_small, previous_capital) = (false, false);
                    continue;
                }
                let begins_word = || {
                    let mut next = name[at..].chars().skip(1);
                    [next.next(), next.next()]
                        .iter()
                        .all(|next| next.is_some_and(char::is_lowercase))
                };
                if is_capital && (previous_small || previous_capital && begins_word()) {
                    end_word(&folded);
                }
                previous_small = character.is_lowercase() || character.is_numeric();
                previous_capital = is_capital;
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_have_words() {
        for (name, expected) in [
            ("search_orders", "search orders"),
            ("getOrderID", "get order id"),
            ("HTTPServer", "http server"),
            ("mcp__shop__get-order", "mcp shop get order"),
            ("sha256Sum", "sha256 sum"),
            ("avoid", "avoid"),
            ("userIDs", "user ids"),
            ("ÜberHTTPSeite", "über http seite"),
        ] {
            assert_eq!(words(name).join(" "), expected);
        }
    }
}
