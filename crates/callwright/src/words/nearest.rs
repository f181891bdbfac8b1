//! "Did you mean": names that are close to a name.
//!
//! Case and separators are put aside first (`fileName`, `file_name` and `file-name` are one name),
//! then whole words are compared (`path` is half of `filePath`), then letters. Used for keys, enum
//! values, tool names and codes; it only ever proposes, and never decides that a name is meant.

use std::cmp::Ordering;

use super::Work;

/// Real names are short; a long text is not a misspelt name, and comparing it costs length squared.
const LONGEST_NAME: usize = 128;

/// What it costs to count the letters of a name, and to compare one pair of letters, in steps.
const PAIR_OF_NAMES: usize = 32;
const PAIR_OF_LETTERS: usize = 16;

/// How many steps it may take to find the names that are near to one: some thousands of names are compared with ease.
const STEPS_FOR_ONE: usize = 4_000_000;

/// How close two names are, from [`CLOSE`] to 1 (the same but for case and separators); 0 where they are not close.
pub(crate) fn similarity(left: &str, right: &str) -> f64 {
    Wanted::new(left).similarity(right, &Work::new(usize::MAX))
}

/// A name that others are compared with.
pub(crate) struct Wanted<'n> {
    written: &'n str,
    letters: Letters,
    name: Name,
}

impl<'n> Wanted<'n> {
    pub(crate) fn new(written: &'n str) -> Self {
        let is_name = written.len() <= LONGEST_NAME;
        let short = if is_name { written } else { "" };
        Wanted {
            written,
            letters: Letters::of(short),
            name: Name::new(short),
        }
    }

    /// Whether a text names it, in whatever case.
    pub(crate) fn is_in(&self, text: &str) -> bool {
        text.to_lowercase().contains(&self.written.to_lowercase())
    }

    /// How close another name is; 0 also where there is no work left to find out.
    pub(crate) fn similarity(&self, other: &str, work: &Work) -> f64 {
        if self.written.len() > LONGEST_NAME || other.len() > LONGEST_NAME {
            return f64::from(u8::from(self.written == other));
        }
        let steps = other.len() + PAIR_OF_NAMES;
        if !work.take(steps) || !self.letters.may_be_close(&Letters::of(other)) {
            return 0.0;
        }
        let (left, right) = (&self.name, Name::new(other));
        let pairs = left.folded.len() * right.folded.len();
        if pairs == 0 || !work.take(pairs * PAIR_OF_LETTERS) {
            return 0.0;
        }
        if left.folded == right.folded {
            return 1.0;
        }
        let score = shared_words(left, &right)
            .max(shared_letters(&left.folded, &right.folded))
            .max(shared_beginning(&left.folded, &right.folded));
        if score >= CLOSE { score } else { 0.0 }
    }
}

/// How often each letter occurs in a name, case and separators aside: tells most names apart without comparing them.
struct Letters {
    counts: [u8; 32],
    all: usize,
    is_ascii: bool,
}

impl Letters {
    /// The letters of a name of at most [`LONGEST_NAME`] bytes. Some digits count as letters.
    fn of(name: &str) -> Self {
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

    /// `false` only where two names are not close: too few letters are in both of them.
    fn may_be_close(&self, other: &Letters) -> bool {
        let both = self.counts.iter().zip(&other.counts);
        let both: usize = both
            .map(|(left, right)| usize::from(*left.min(right)))
            .sum();
        let (short, long) = (self.all.min(other.all), self.all.max(other.all));
        // Three in five is `CLOSE`; of names that share words or begin alike, one has all letters of the other.
        !self.is_ascii || !other.is_ascii || both >= short || both * 5 >= long * 3
    }
}

/// Just close enough where one name is the beginning of the other: `warn` and `warning`.
fn shared_beginning(left: &str, right: &str) -> f64 {
    let (short, long) = if left.len() <= right.len() {
        (left, right)
    } else {
        (right, left)
    };
    if short.len() >= 3 && long.starts_with(short) {
        CLOSE
    } else {
        0.0
    }
}

/// The share of letters that need not be changed; 0 without counting where the lengths alone put
/// the names too far apart.
fn shared_letters(left: &str, right: &str) -> f64 {
    #[expect(clippy::cast_precision_loss, reason = "names are short")]
    let (short, long) = (
        left.len().min(right.len()) as f64,
        left.len().max(right.len()) as f64,
    );
    // Letters of two or more bytes make the lengths differ less than the names do, so nothing
    // close is thrown away by a factor of two.
    if short / long < CLOSE / 2.0 {
        return 0.0;
    }
    strsim::normalized_damerau_levenshtein(left, right)
}

/// Whether two names are the same words but for case and for what is between them: a blank, `_`,
/// `-` or a capital. Any other sign may be all that tells two names apart (`C++` and `C#`, `-1` and `1`),
/// and so may case next to digits (`1m` and `1M`) and in short names, unless both are written as words
/// are (`usd`, `Usd`, `USD`; but `mWh` is not `MWh`).
pub(crate) fn same_spelling(left: &str, right: &str) -> bool {
    // Texts this long are not names.
    const LONGEST: usize = 256;
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

/// Whether two names are the same but for case and blanks: a quick no for nearly all that are not.
fn has_same_letters(left: &str, right: &str) -> bool {
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

/// Letters only: all small, all capital, or small ones after a capital.
fn is_cased_like_a_word(name: &str) -> bool {
    let behind = name.chars().skip(1);
    name.chars().all(char::is_alphabetic)
        && (name.chars().all(char::is_uppercase) || behind.clone().all(char::is_lowercase))
}

/// A name in lower case, with `_` wherever its words meet.
fn spelt(name: &str) -> String {
    let all: Vec<char> = name.trim().chars().collect();
    let mut out = String::with_capacity(name.len() + 4);
    for (at, character) in all.iter().enumerate() {
        let before = at.checked_sub(1).and_then(|at| all.get(at));
        let behind = all.get(at + 1);
        let between_letters = [before, behind]
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

/// Whether one name is another with one slip of the pen: a letter too many, too few, wrong or in its
/// neighbour's place, in a name of five letters at least. More than one letter is another word as often
/// as not (`min`, `max`; `paid`, `unpaid`), digits are never slips, and nor is a correct word.
pub(crate) fn is_slip(sent: &str, meant: &str) -> bool {
    const SHORTEST: usize = 5;
    // A sign may be all that makes a name the opposite: `price>`, `!scopes`.
    let signs = |name: &str| {
        let others = name.chars().filter(|c| !c.is_alphabetic());
        others.collect::<String>()
    };
    let (left, right) = (sent.to_lowercase(), meant.to_lowercase());
    left.len().min(right.len()) >= SHORTEST
        && left.chars().next() == right.chars().next()
        && left.len().max(right.len()) <= 128
        && signs(&left) == signs(&right)
        && strsim::damerau_levenshtein(&left, &right) == 1
        && is_slip_within_words(&words(sent), &words(meant))
}

/// Whether two names have the same words but for one that is misspelt: it begins with the same letter, since a letter
/// in front makes the opposite (`asynchronous`), and it is not a correct word (`county`, `passed`).
fn is_slip_within_words(sent: &[String], meant: &[String]) -> bool {
    let mut differing = sent.iter().zip(meant).filter(|(sent, meant)| sent != meant);
    sent.len() != meant.len()
        || differing.all(|(sent, meant)| {
            let plural = is_plural(sent, meant) || is_plural(meant, sent);
            let same_start = sent.chars().next() == meant.chars().next();
            same_start && !is_other_role(sent, meant) && (plural || !is_word(sent))
        })
}

/// Whether two words name who does something and whom it is done to: `payer`, `payee`.
fn is_other_role(left: &str, right: &str) -> bool {
    let role = |word: &str| ["er", "ee", "or"].iter().any(|end| word.ends_with(end));
    role(left) && role(right)
}

fn is_plural(word: &str, of: &str) -> bool {
    word.strip_suffix('s') == Some(of)
}

/// Whether this is an English word that is one letter away from another one. The list is sorted, a word on each line.
fn is_word(word: &str) -> bool {
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

/// Names above this are worth a proposal. One wrong letter in a word of three (0.67) is, and so is
/// one shared word out of two (0.66); one shared letter in two is not.
pub(crate) const CLOSE: f64 = 0.6;

/// The nearest candidates, the closest first, at most `max`. None of them need be right. Where there are too many to be
/// compared, there are none.
pub(crate) fn nearest<'n>(
    name: &str,
    candidates: impl IntoIterator<Item = &'n str>,
    max: usize,
) -> Vec<&'n str> {
    let (wanted, work) = (Wanted::new(name), Work::new(STEPS_FOR_ONE));
    let mut scored: Vec<(f64, &str)> = candidates
        .into_iter()
        .take_while(|_| work.left() > 0)
        .map(|candidate| (wanted.similarity(candidate, &work), candidate))
        .filter(|(score, _)| *score >= CLOSE)
        .collect();
    if work.left() == 0 {
        return Vec::new();
    }
    // Equal scores fall back to the name, so that the answer does not depend on a map's order.
    scored.sort_by(|left, right| right.0.total_cmp(&left.0).then(left.1.cmp(right.1)));
    // A name that is the same but for case and separators needs no company.
    let same = scored.partition_point(|(score, _)| *score >= 1.0);
    scored
        .into_iter()
        .take(if same > 0 { same.min(max) } else { max })
        .map(|(_, candidate)| candidate)
        .collect()
}

/// The one nearest candidate, if there is a nearest one: two that are equally close do not count, and none does if there
/// is not enough work left to compare them all.
pub(crate) fn single_nearest<'n>(
    name: &str,
    candidates: impl IntoIterator<Item = &'n str>,
    work: &Work,
) -> Option<&'n str> {
    let wanted = Wanted::new(name);
    let mut best: Option<(f64, &str)> = None;
    let mut tied = false;
    for candidate in candidates {
        if work.left() == 0 {
            return None;
        }
        let score = wanted.similarity(candidate, work);
        if score < CLOSE {
            continue;
        }
        match best {
            Some((top, _)) if score < top => {}
            #[expect(clippy::float_cmp, reason = "a tie is the very same score")]
            Some((top, _)) if score == top => tied = true,
            _ => (best, tied) = (Some((score, candidate)), false),
        }
    }
    best.filter(|_| !tied && work.left() > 0)
        .map(|(_, candidate)| candidate)
}

/// Two thirds of a full match where all words of the shorter name are in the longer one, a little
/// more the larger its share is.
fn shared_words(left: &Name, right: &Name) -> f64 {
    let (short, long) = if left.ends.len() <= right.ends.len() {
        (left, right)
    } else {
        (right, left)
    };
    // A word of one or two letters (`id`, `x`) is in too many names to mean anything.
    if short.folded.len() < 3 || !short.words().all(|word| long.words().any(|w| w == word)) {
        return 0.0;
    }
    #[expect(clippy::cast_precision_loss, reason = "names have a handful of words")]
    let share = short.ends.len() as f64 / long.ends.len() as f64;
    0.6 + 0.12 * share
}

/// A name without its case and separators, and where its words end.
pub(crate) struct Name {
    pub(crate) folded: String,
    ends: Vec<usize>,
}

impl Name {
    /// Splits at separators and at a capital after a small letter or a digit.
    pub(crate) fn new(name: &str) -> Name {
        let mut folded = String::with_capacity(name.len());
        let mut ends = Vec::with_capacity(4);
        let mut end_word = |folded: &String| {
            if !folded.is_empty() && ends.last() != Some(&folded.len()) {
                ends.push(folded.len());
            }
        };
        let mut previous_small = false;
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
        end_word(&folded);
        Name { folded, ends }
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
    Name::new(name).words().map(str::to_owned).collect()
}

/// Whether one of the words of a name is among these, which are in lower case.
pub(crate) fn has_word(name: &str, words: &[&str]) -> bool {
    Name::new(name).words().any(|word| words.contains(&word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn case_and_separators_do_not_count() {
        for other in [
            "file_path",
            "file-path",
            "FilePath",
            "FILE PATH",
            "filepath",
        ] {
            assert!(
                (similarity("filePath", other) - 1.0).abs() < f64::EPSILON,
                "{other}"
            );
        }
    }

    fn nearest_of<'n>(name: &str, names: [&'n str; 2]) -> Option<&'n str> {
        single_nearest(name, names, &Work::new(STEPS_FOR_ONE))
    }

    /// What the letters rule out is what comparing would have ruled out.
    #[test]
    fn letters_never_rule_out_what_is_close() {
        let names = include_str!("near_words.txt").lines().step_by(97);
        let names: Vec<String> = names
            .zip(include_str!("near_words.txt").lines().skip(5).step_by(53))
            .flat_map(|(left, right)| [left.to_owned(), format!("{left}_{right}")])
            .collect();
        for left in &names {
            for right in names
                .iter()
                .filter(|it| !Letters::of(left).may_be_close(&Letters::of(it)))
            {
                let (left, right) = (Name::new(left), Name::new(right));
                let score = shared_words(&left, &right)
                    .max(shared_letters(&left.folded, &right.folded))
                    .max(shared_beginning(&left.folded, &right.folded));
                assert!(score < CLOSE, "{} {}", left.folded, right.folded);
            }
        }
    }

    /// A name that cannot be ruled out by its letters costs the same, however many there are after it.
    #[test]
    fn comparing_ends_with_the_work() {
        let anagram = |at: usize| {
            let (front, back) = "abcdefghijklmnop".split_at(at % 16);
            format!("{back}{front}")
        };
        let names: Vec<String> = (0..10_000).map(anagram).collect();
        let work = Work::new(100_000);
        let found = single_nearest("ponmlkjihgfedcba", names.iter().map(String::as_str), &work);
        assert_eq!((found, work.left()), (None, 0));
    }

    #[test]
    fn a_shared_word_is_close() {
        assert_eq!(
            nearest_of("path", ["filePath", "content"]),
            Some("filePath")
        );
        assert_eq!(
            nearest_of("fileContent", ["filePath", "content"]),
            Some("content")
        );
    }

    #[test]
    fn every_word_of_the_list_is_found() {
        let words = include_str!("near_words.txt").lines();
        assert!(words.clone().is_sorted());
        for word in words {
            assert!(is_word(word), "{word}");
            assert!(!is_word(&format!("{word}qq")), "{word}");
        }
        assert!(!is_word("") && !is_word("zzzz") && !is_word("aaaa"));
    }

    #[test]
    fn a_word_of_its_own_is_not_a_slip() {
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
        ] {
            assert!(!is_slip(sent, meant), "{sent} {meant}");
        }
    }

    #[test]
    fn a_tie_is_no_answer() {
        assert_eq!(nearest_of("date", ["start_date", "end_date"]), None);
    }

    #[test]
    fn strangers_are_not_proposed() {
        assert!(nearest("ProxyRead", ["bash", "write"], 3).is_empty());
        assert!(nearest("", ["a"], 3).is_empty());
        assert!(nearest("???", ["a"], 3).is_empty());
    }

    #[test]
    fn the_closest_comes_first() {
        let names = ["search_files", "search", "write_file", "read_file"];
        assert_eq!(nearest("serch", names, 3), ["search"]);
        assert_eq!(nearest("ReadFile", names, 1), ["read_file"]);
    }
}
