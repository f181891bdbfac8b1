//! Whether two names are the same name in another spelling, or with one typing error. Repair acts on these answers.

use std::cmp::Ordering;

use super::name::words;

/// Longer texts are not names.
const LONGEST: usize = 256;

/// Whether two names have the same words except for case and separators: a blank, `_`, `-` or a capital. Any other character
/// may be all that distinguishes two names (`C++` and `C#`, `-1` and `1`), and so may case next to digits (`1m` and `1M`) and
/// in short names, unless both are cased like words (`usd`, `Usd`, `USD`; but `mWh` is not `MWh`).
pub(crate) fn same_spelling(left: &str, right: &str) -> bool {
    const SHORTEST: usize = 3;
    let plain = |name: &str| {
        let letters = name.chars().filter(|c| c.is_alphabetic()).count();
        let short = letters <= SHORTEST;
        name.len() <= LONGEST
            && letters >= SHORTEST
            && (!short || is_cased_like_a_word(name))
            && !name.contains(|c: char| c.is_ascii_digit())
    };
    left == right
        || (has_same_letters(left, right)
            && plain(left)
            && plain(right)
            && spelt(left) == spelt(right))
}

/// Whether two keys are the same in another spelling, or differ only in case: `filepath` is `filePath`, but `resign` is not
/// `re-sign`. In very short names one must be in lower case (`id`, `ID`; but `Mb` is not `MB`), and a single letter is a symbol:
/// `T` is not `t`.
pub(crate) fn same_key(left: &str, right: &str) -> bool {
    const SHORTEST: usize = 2;
    const SHORT: usize = 3;
    fn small(name: &str) -> impl Iterator<Item = char> {
        name.chars().flat_map(char::to_lowercase)
    }
    let letters = |name: &str| name.chars().filter(|c| c.is_alphabetic()).count();
    let is_small = |name: &str| !name.contains(char::is_uppercase);
    let is_name = || match letters(left) {
        0..SHORTEST => false,
        SHORTEST..=SHORT => {
            (is_small(left) || is_small(right))
                && is_cased_like_a_word(left)
                && is_cased_like_a_word(right)
        }
        _ => left.len().max(right.len()) <= LONGEST,
    };
    same_spelling(left, right)
        || (has_same_letters(left, right) && small(left).eq(small(right)) && is_name())
}

/// Whether two names are equal except for case and blanks: rules out almost all others quickly.
pub(crate) fn has_same_letters(left: &str, right: &str) -> bool {
    fn bytes(name: &str) -> impl Iterator<Item = u8> {
        let letters = name.bytes().filter(|byte| !is_blank(char::from(*byte)));
        letters.map(|byte| byte.to_ascii_lowercase())
    }
    fn letters(name: &str) -> impl Iterator<Item = char> {
        let letters = name.chars().filter(|c| !is_blank(*c));
        letters.flat_map(char::to_lowercase)
    }
    fn is_blank(c: char) -> bool {
        matches!(c, '_' | '-') || c.is_whitespace()
    }
    match (left.is_ascii(), right.is_ascii()) {
        (true, true) => bytes(left).eq(bytes(right)),
        (false, false) => letters(left).eq(letters(right)),
        _ => false,
    }
}

/// Letters only: all lower case, all upper case, or lower case after a capital.
fn is_cased_like_a_word(name: &str) -> bool {
    let rest = name.chars().skip(1);
    name.chars().all(char::is_alphabetic)
        && (name.chars().all(char::is_uppercase) || rest.clone().all(char::is_lowercase))
}

/// A name in lower case, with `_` between its words.
fn spelt(name: &str) -> String {
    let all: Vec<char> = name.trim().chars().collect();
    let mut out = String::with_capacity(name.len() + 4);
    for (at, character) in all.iter().enumerate() {
        let before = at.checked_sub(1).and_then(|at| all.get(at));
        let next = all.get(at + 1);
        let between_letters = [before, next]
            .iter()
            .all(|side| side.is_some_and(|c| c.is_alphabetic()));
        let new_word = character.is_uppercase() && before.is_some_and(|c| c.is_lowercase());
        match character {
            ' ' | '_' | '-' if between_letters => out.push('_'),
            _ => {
                if new_word {
                    out.push('_');
                }
                out.extend(character.to_lowercase());
            }
        }
    }
    out
}

/// Whether one name is another with one typing error: a letter too many, too few, wrong or swapped with its neighbour, in a
/// word of at least five letters. More than one letter is as often as not another word (`min`, `max`; `paid`, `unpaid`), digits
/// are never typing errors, and neither is a correct word. Beyond ASCII no word can be checked, and one letter may be all of a
/// prefix (`включить`, `выключить`) or half a name (`東京駅`, `東北駅`).
pub(crate) fn is_slip(sent: &str, meant: &str) -> bool {
    // A punctuation mark may reverse the meaning of a name: `price>`, `!scopes`.
    let signs = |name: &str| {
        let others = name.chars().filter(|c| !c.is_alphabetic());
        others.collect::<String>()
    };
    let (left, right) = (sent.to_lowercase(), meant.to_lowercase());
    (left.is_ascii() && right.is_ascii())
        && left.len().min(right.len()) >= SHORTEST
        && left.chars().next() == right.chars().next()
        && left.len().max(right.len()) <= 128
        && signs(&left) == signs(&right)
        && strsim::damerau_levenshtein(&left, &right) == 1
        && is_slip_within_words(&words(sent), &words(meant))
}

/// The list of correct words has none that is shorter, and short codes differ by a letter (`lang_en`, `lang_es`).
const SHORTEST: usize = 5;

/// Whether two names have the same words except for one that is misspelt: it begins with the same letter, since a letter in
/// front may reverse the meaning (`asynchronous`), it is not short, and it is not a correct word (`county`, `passed`).
fn is_slip_within_words(sent: &[String], meant: &[String]) -> bool {
    let mut differing = sent.iter().zip(meant).filter(|(sent, meant)| sent != meant);
    sent.len() != meant.len()
        || differing.all(|(sent, meant)| {
            let plural = is_plural(sent, meant) || is_plural(meant, sent);
            let same_start = sent.chars().next() == meant.chars().next();
            let is_long = sent.len().min(meant.len()) >= SHORTEST;
            let is_misspelt = is_long && !is_english_word(sent);
            same_start && !is_other_role(sent, meant) && (plural || is_misspelt)
        })
}

/// Whether two words name the two sides of an action: `payer`, `payee`.
fn is_other_role(left: &str, right: &str) -> bool {
    let role = |word: &str| ["er", "ee", "or"].iter().any(|end| word.ends_with(end));
    role(left) && role(right)
}

fn is_plural(word: &str, of: &str) -> bool {
    word.strip_suffix('s') == Some(of)
}

/// Whether this is an English word that is one letter away from another one. The list is sorted, one word per line.
pub(crate) fn is_english_word(word: &str) -> bool {
    const WORDS: &str = include_str!("near_words.txt");
    let (mut low, mut high) = (0, WORDS.len());
    while low < high {
        let middle = usize::midpoint(low, high);
        let start = WORDS[..middle]
            .rfind('\n')
            .map_or(0, |line_end| line_end + 1);
        let length = WORDS[start..].find('\n').unwrap_or(WORDS.len() - start);
        match WORDS[start..start + length].cmp(word) {
            Ordering::Less => low = start + length + 1,
            Ordering::Greater => high = start,
            Ordering::Equal => return true,
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_word_of_the_list_is_found() {
        let words = include_str!("near_words.txt").lines();
        assert!(words.clone().is_sorted());
        for word in words {
            assert!(is_english_word(word), "{word}");
            assert!(!is_english_word(&format!("{word}qq")), "{word}");
        }
        assert!(!is_english_word("") && !is_english_word("zzzz") && !is_english_word("aaaa"));
    }

    #[test]
    fn a_correct_word_is_not_a_typing_error() {
        for (sent, meant) in [
            ("shiped", "shipped"),
            ("qurey", "query"),
            ("customer_adress", "customer_address"),
            ("limits", "limit"),
        ] {
            assert!(is_slip(sent, meant), "{sent} {meant}");
        }
        for (sent, meant) in [
            ("county", "country"),
            ("passed", "paused"),
            ("ship_to_county", "ship_to_country"),
            ("synchronous", "asynchronous"),
            ("run_typical", "run_atypical"),
            ("order1", "order2"),
            ("lang_es", "lang_en"),
            ("user_rule", "user_role"),
            ("вход", "выход"),
            ("北海市", "北京市"),
        ] {
            assert!(!is_slip(sent, meant), "{sent} {meant}");
        }
    }
}
