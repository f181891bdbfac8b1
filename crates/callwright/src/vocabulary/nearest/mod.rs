//! "Did you mean": names that are close to a name.
//!
//! Takes a name and candidates; returns the closest. Case and separators are ignored first (`fileName`, `file_name` and
//! `file-name` are one name), then whole words are compared (`path` is half of `filePath`), then letters. Used for keys, enum
//! values, tool names and codes; it only ever proposes, and never decides that a name is meant.

mod accents;
mod letters;
mod name;
mod spelling;

use std::cell::OnceCell;

pub(crate) use self::accents::{alike_but_accents, same_but_accents};
use self::letters::{Alphabet, Letters, fold_ascii, is_one_word};
pub(crate) use self::name::{FoldedName, has_word, words};
pub(crate) use self::spelling::{
    has_same_letters, is_english_word, is_slip, same_key, same_spelling,
};
use super::Work;

/// Real names are short; a long text is not a misspelt name, and the cost of comparing it grows with the square of its length.
const LONGEST_NAME: usize = 128;

/// The cost, in steps, of comparing the counted letters of two names, of comparing their order per letter of one of them, of
/// splitting a name into words, and of comparing one pair of letters if these are not ASCII.
const PAIR_OF_NAMES: usize = 24;
const LETTER: usize = 10;
const INTO_WORDS: usize = 400;
const PAIR_OF_LETTERS: usize = 16;

/// How many steps it may take to find the names closest to one: thousands of names can be compared.
const STEPS_FOR_ONE: usize = 1_500_000;

/// How close two names are, from [`CLOSE`] to 1 (equal except for case and separators); 0 if they are not close.
pub(crate) fn similarity(left: &str, right: &str) -> f64 {
    Wanted::new(left).similarity(right, &Work::new(usize::MAX))
}

/// A name that others are compared with.
pub(crate) struct Wanted<'n> {
    written: &'n str,
    letters: Letters,
    name: FoldedName,
    /// For ASCII names that are not too long.
    alphabet: Option<Alphabet>,
}

impl<'n> Wanted<'n> {
    pub(crate) fn new(written: &'n str) -> Self {
        let is_name = written.len() <= LONGEST_NAME;
        let short = if is_name { written } else { "" };
        let name = FoldedName::new(short);
        Wanted {
            written,
            letters: Letters::of(short),
            alphabet: Alphabet::of(&name.folded).filter(|_| short.is_ascii()),
            name,
        }
    }

    /// Whether a text mentions it, in any case.
    pub(crate) fn is_in(&self, text: &str) -> bool {
        text.to_lowercase().contains(&self.written.to_lowercase())
    }

    /// How close another name is; also 0 if there is no work left to find out.
    pub(crate) fn similarity(&self, other: &str, work: &Work) -> f64 {
        if !work.take(other.len().min(LONGEST_NAME)) {
            return 0.0;
        }
        self.similarity_to(&Candidate::new(other), work)
    }

    fn similarity_to(&self, candidate: &Candidate<'_>, work: &Work) -> f64 {
        let other = candidate.written;
        if self.written.len() > LONGEST_NAME || other.len() > LONGEST_NAME {
            return f64::from(u8::from(self.written == other));
        }
        let shared = self.letters.shared(&candidate.letters);
        if !work.take(PAIR_OF_NAMES) || !shared.may_be_close {
            return 0.0;
        }
        match &self.alphabet {
            Some(alphabet) if candidate.letters.is_ascii => {
                if !work.take(other.len() * LETTER) {
                    return 0.0;
                }
                let folded = fold_ascii(other);
                let own = self.name.folded.as_bytes();
                if folded.is_empty() || own == folded.as_slice() {
                    return f64::from(u8::from(!folded.is_empty()));
                }
                let score = alphabet.shared_letters(&folded);
                let score = score.max(shared_beginning(own, &folded));
                // Words are shared only if one name has all letters of the other, and one of them has several.
                let may_share =
                    shared.one_has_all && (self.name.ends.len() > 1 || !is_one_word(other));
                let words = if may_share && work.take(INTO_WORDS) {
                    shared_words(&self.name, candidate.name())
                } else {
                    0.0
                };
                close(score.max(words))
            }
            _ => self.slow_similarity(candidate, work),
        }
    }

    /// The same for names with non-ASCII letters, and for long ones.
    fn slow_similarity(&self, candidate: &Candidate<'_>, work: &Work) -> f64 {
        let (left, right) = (&self.name, candidate.name());
        let pairs = left.folded.len() * right.folded.len();
        if pairs == 0 || !work.take(INTO_WORDS + pairs * PAIR_OF_LETTERS) {
            return 0.0;
        }
        if left.folded == right.folded {
            return 1.0;
        }
        let distance = strsim::osa_distance(&left.folded, &right.folded);
        let longest = left
            .folded
            .chars()
            .count()
            .max(right.folded.chars().count());
        let beginning = shared_beginning(left.folded.as_bytes(), right.folded.as_bytes());
        close(
            share(longest - distance, longest)
                .max(beginning)
                .max(shared_words(left, right)),
        )
    }
}

fn close(score: f64) -> f64 {
    if score >= CLOSE { score } else { 0.0 }
}

#[expect(clippy::cast_precision_loss, reason = "names are short")]
fn share(part: usize, all: usize) -> f64 {
    part as f64 / all as f64
}

/// A name that may have been meant, with its letters counted.
struct Candidate<'n> {
    written: &'n str,
    letters: Letters,
    /// Computed when its words are compared with those of another name.
    name: OnceCell<FoldedName>,
}

impl<'n> Candidate<'n> {
    fn new(written: &'n str) -> Self {
        let is_name = written.len() <= LONGEST_NAME;
        Candidate {
            written,
            letters: Letters::of(if is_name { written } else { "" }),
            name: OnceCell::new(),
        }
    }

    fn name(&self) -> &FoldedName {
        self.name.get_or_init(|| FoldedName::new(self.written))
    }
}

/// Names that several others are compared with.
pub(crate) struct Candidates<'n>(Vec<Candidate<'n>>);

impl<'n> Candidates<'n> {
    pub(crate) fn new(names: impl IntoIterator<Item = &'n str>) -> Self {
        Candidates(names.into_iter().map(Candidate::new).collect())
    }

    /// Which of them is closest to a name.
    pub(crate) fn nearest(&self, name: &str, work: &Work) -> Nearest<'n> {
        let wanted = Wanted::new(name);
        let scored = self.0.iter().map(|candidate| {
            let score = wanted.similarity_to(candidate, work);
            (score, candidate.written)
        });
        best(scored, work)
    }
}

/// The name that is closest to another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Nearest<'n> {
    /// None is close.
    None,
    One(&'n str),
    /// Several are equally close, or there was not enough work left to compare them all.
    Unclear,
}

/// Just close enough if one name is the beginning of the other: `warn` and `warning`.
fn shared_beginning(left: &[u8], right: &[u8]) -> f64 {
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

/// Whether a close name may be meant. It must have the same digits (`5 minutes` is not a misspelt `45 minutes`) and the same
/// negation (`!all` is not a misspelt `all`); it must share a word or its beginning, or be at most two letters away and begin
/// alike: `Today` is not a misspelt `Monday`.
pub(crate) fn is_worth_proposing(sent: &str, near: &str) -> bool {
    fn digits(name: &str) -> impl Iterator<Item = char> {
        name.chars().filter(|c| c.is_numeric())
    }
    if !digits(sent).eq(digits(near)) || negates(sent) != negates(near) {
        return false;
    }
    let (left, right) = (FoldedName::new(sent), FoldedName::new(near));
    let is_near = |left: &str, right: &str| {
        let begins_alike = left.chars().next() == right.chars().next();
        let most = if begins_alike { 2 } else { 1 };
        let lengths = left.chars().count().abs_diff(right.chars().count());
        lengths <= most && strsim::osa_distance(left, right) <= most
    };
    shared_beginning(left.folded.as_bytes(), right.folded.as_bytes()) >= CLOSE
        || shared_words(&left, &right) >= CLOSE
        || is_near(&left.folded, &right.folded)
}

/// Whether a name contains a negation, in the languages that most names are in. A name with an unknown negation is proposed,
/// and the model still decides.
fn negates(name: &str) -> bool {
    const WORDS: &[&str] = &[
        "no",
        "not",
        "non",
        "never",
        "none",
        "without",
        "except",
        "exclude",
        "excluding",
        "dont",
        "don",
        "kein",
        "nicht",
        "ohne",
        "pas",
        "sans",
        "sin",
        "não",
        "sem",
        "не",
        "без",
    ];
    name.trim_start().starts_with(['!', '-', '~', '^', '¬']) || has_word(name, WORDS)
}

/// Names above this are worth proposing. One wrong letter in a word of three (0.67) is, and so is one shared word out of two
/// (0.66); one shared letter in two is not.
pub(crate) const CLOSE: f64 = 0.6;

/// The closest candidates, the closest first, at most `max`. None of them need be right. If there are too many to compare,
/// there are none.
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
    // Equal scores fall back to the name, so that the result does not depend on a map's order.
    scored.sort_by(|left, right| right.0.total_cmp(&left.0).then(left.1.cmp(right.1)));
    // A name that is equal except for case and separators is proposed alone.
    let same = scored.partition_point(|(score, _)| *score >= 1.0);
    scored
        .into_iter()
        .take(if same > 0 { same.min(max) } else { max })
        .map(|(_, candidate)| candidate)
        .collect()
}

/// The closest candidate, as [`Candidates`] determines it, if only one name is compared with them.
pub(crate) fn single_nearest<'n>(
    name: &str,
    candidates: impl IntoIterator<Item = &'n str>,
    work: &Work,
) -> Option<&'n str> {
    let wanted = Wanted::new(name);
    let candidates = candidates.into_iter();
    let scored = candidates.map(|candidate| (wanted.similarity(candidate, work), candidate));
    match best(scored, work) {
        Nearest::One(nearest) => Some(nearest),
        Nearest::None | Nearest::Unclear => None,
    }
}

fn best<'n>(scored: impl Iterator<Item = (f64, &'n str)>, work: &Work) -> Nearest<'n> {
    let mut best = (CLOSE, Nearest::None);
    for (score, candidate) in scored.take_while(|_| work.left() > 0) {
        if score > best.0 || score >= CLOSE && best.1 == Nearest::None {
            best = (score, Nearest::One(candidate));
        } else if score >= best.0 {
            best.1 = Nearest::Unclear;
        }
    }
    if work.left() > 0 {
        best.1
    } else {
        Nearest::Unclear
    }
}

/// Two thirds of a full match if all words of the shorter name are in the longer one, a little more the larger its share is.
fn shared_words(left: &FoldedName, right: &FoldedName) -> f64 {
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

    /// The letters only rule out what comparing would have ruled out.
    #[test]
    fn letters_never_rule_out_what_is_close() {
        let names = include_str!("near_words.txt").lines().step_by(97);
        let names: Vec<String> = names
            .zip(include_str!("near_words.txt").lines().skip(5).step_by(53))
            .flat_map(|(left, right)| [left.to_owned(), format!("{left}_{right}")])
            .collect();
        for left in &names {
            for right in &names {
                let shared = Letters::of(left).shared(&Letters::of(right));
                let (left, right) = (FoldedName::new(left), FoldedName::new(right));
                let words = shared_words(&left, &right);
                assert!(words < CLOSE || shared.one_has_all);
                if !shared.may_be_close {
                    let alphabet = Alphabet::of(&left.folded).expect("short");
                    let score = alphabet.shared_letters(right.folded.as_bytes());
                    let beginning =
                        shared_beginning(left.folded.as_bytes(), right.folded.as_bytes());
                    let score = score.max(beginning).max(words);
                    assert!(score < CLOSE, "{} {}", left.folded, right.folded);
                }
            }
        }
    }

    /// A name that its letters do not rule out costs the same, however many follow it.
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
    fn a_tie_has_no_winner() {
        assert_eq!(nearest_of("date", ["start_date", "end_date"]), None);
    }

    #[test]
    fn dissimilar_names_are_not_proposed() {
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
