//! "Did you mean": names that are close to a name.
//!
//! Case and separators are put aside first (`fileName`, `file_name` and `file-name` are one name),
//! then whole words are compared (`path` is half of `filePath`), then letters. Used for keys, enum
//! values, tool names and codes; it only ever proposes, and never decides that a name is meant.

use std::cell::OnceCell;
use std::cmp::Ordering;

use smallvec::SmallVec;

use super::Work;

/// Real names are short; a long text is not a misspelt name, and comparing it costs length squared.
const LONGEST_NAME: usize = 128;

/// What it costs, in steps, to compare the letters of two names that were counted, to compare their order for each letter
/// of one of them, to take a name apart into words, and to compare one pair of letters where these are not ASCII.
const PAIR_OF_NAMES: usize = 24;
const LETTER: usize = 10;
const INTO_WORDS: usize = 400;
const PAIR_OF_LETTERS: usize = 16;

/// How many steps it may take to find the names that are near to one: some thousands of names are compared with ease.
const STEPS_FOR_ONE: usize = 1_500_000;

/// How close two names are, from [`CLOSE`] to 1 (the same but for case and separators); 0 where they are not close.
pub(crate) fn similarity(left: &str, right: &str) -> f64 {
    Wanted::new(left).similarity(right, &Work::new(usize::MAX))
}

/// A name that others are compared with.
pub(crate) struct Wanted<'n> {
    written: &'n str,
    letters: Letters,
    name: Name,
    /// For names of ASCII that are not too long.
    alphabet: Option<Alphabet>,
}

impl<'n> Wanted<'n> {
    pub(crate) fn new(written: &'n str) -> Self {
        let is_name = written.len() <= LONGEST_NAME;
        let short = if is_name { written } else { "" };
        let name = Name::new(short);
        Wanted {
            written,
            letters: Letters::of(short),
            alphabet: Alphabet::of(&name.folded).filter(|_| short.is_ascii()),
            name,
        }
    }

    /// Whether a text names it, in whatever case.
    pub(crate) fn is_in(&self, text: &str) -> bool {
        text.to_lowercase().contains(&self.written.to_lowercase())
    }

    /// How close another name is; 0 also where there is no work left to find out.
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
                // Words are shared only where one name has all letters of the other, and one of them has several.
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

    /// The same for names with other letters than those of ASCII, and for long ones.
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

/// The letters and digits of a name of ASCII, in lower case.
fn fold_ascii(name: &str) -> SmallVec<[u8; 64]> {
    let letters = name.bytes().filter(u8::is_ascii_alphanumeric);
    letters.map(|byte| byte.to_ascii_lowercase()).collect()
}

/// Whether a name of ASCII is certainly not of several words: small letters and digits only.
fn is_one_word(name: &str) -> bool {
    name.bytes()
        .all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit())
}

/// Where each letter occurs in a folded name of at most 64: what comparing it with many others takes.
struct Alphabet {
    /// A bit for each place, by letter.
    places: [u64; 128],
    length: usize,
}

impl Alphabet {
    fn of(folded: &str) -> Option<Self> {
        let mut alphabet = Alphabet {
            places: [0; 128],
            length: folded.len(),
        };
        if folded.is_empty() || folded.len() > 64 {
            return None;
        }
        for (place, byte) in folded.bytes().enumerate() {
            *alphabet.places.get_mut(usize::from(byte))? |= 1 << place;
        }
        Some(alphabet)
    }

    /// The share of letters that need not be changed: put in, left out, exchanged, or swapped with a neighbour.
    fn shared_letters(&self, other: &[u8]) -> f64 {
        let longest = self.length.max(other.len());
        share(longest - self.distance(other), longest)
    }

    /// How many letters have to be changed, a column of the usual table at a time (Hyyrö 2003, with swaps): each bit says
    /// whether one cell is larger or smaller by one than its neighbour.
    fn distance(&self, other: &[u8]) -> usize {
        let last = 1 << (self.length - 1);
        let (mut larger_below, mut smaller_below) = (u64::MAX, 0u64);
        let (mut diagonal, mut previous) = (0u64, 0u64);
        let mut distance = self.length;
        for byte in other {
            let places = self.places[usize::from(*byte & 127)];
            let swapped = ((!diagonal & places) << 1) & previous;
            let carried = (places & larger_below).wrapping_add(larger_below) ^ larger_below;
            diagonal = carried | places | smaller_below | swapped;
            let larger = smaller_below | !(diagonal | larger_below);
            let smaller = diagonal & larger_below;
            distance += usize::from(larger & last != 0);
            distance -= usize::from(smaller & last != 0);
            let larger = (larger << 1) | 1;
            larger_below = (smaller << 1) | !(diagonal | larger);
            smaller_below = larger & diagonal;
            previous = places;
        }
        distance
    }
}

/// A name that may be the one that was meant, with its letters counted.
struct Candidate<'n> {
    written: &'n str,
    letters: Letters,
    /// Made when its words are compared with those of another name.
    name: OnceCell<Name>,
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

    fn name(&self) -> &Name {
        self.name.get_or_init(|| Name::new(self.written))
    }
}

/// Names that several others are compared with.
pub(crate) struct Candidates<'n>(Vec<Candidate<'n>>);

impl<'n> Candidates<'n> {
    pub(crate) fn new(names: impl IntoIterator<Item = &'n str>) -> Self {
        Candidates(names.into_iter().map(Candidate::new).collect())
    }

    /// The one of them that is nearest to a name, if there is a nearest one: two that are equally close do not count, and
    /// none does if there is not enough work left to compare them all.
    pub(crate) fn single_nearest(&self, name: &str, work: &Work) -> Option<&'n str> {
        let wanted = Wanted::new(name);
        let scored = self.0.iter().map(|candidate| {
            let score = wanted.similarity_to(candidate, work);
            (score, candidate.written)
        });
        single_best(scored, work)
    }

    /// Whether one of them is close to a name.
    pub(crate) fn any_near(&self, name: &str, work: &Work) -> bool {
        let wanted = Wanted::new(name);
        let mut all = self.0.iter();
        all.any(|candidate| wanted.similarity_to(candidate, work) >= CLOSE)
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

    fn shared(&self, other: &Letters) -> SharedLetters {
        let both = self.counts.iter().zip(&other.counts);
        let both: usize = both
            .map(|(left, right)| usize::from(*left.min(right)))
            .sum();
        let (short, long) = (self.all.min(other.all), self.all.max(other.all));
        let one_has_all = !self.is_ascii || !other.is_ascii || both >= short;
        SharedLetters {
            one_has_all,
            // Three in five is `CLOSE`; of names that share words or begin alike, one has all letters of the other.
            may_be_close: one_has_all || both * 5 >= long * 3,
        }
    }
}

/// What the letters of two names say about them.
struct SharedLetters {
    /// `false` only where neither name has all letters of the other.
    one_has_all: bool,
    /// `false` only where two names are not close: too few letters are in both of them.
    may_be_close: bool,
}

/// Just close enough where one name is the beginning of the other: `warn` and `warning`.
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

/// Whether a close name may be meant. It has the same digits (`5 minutes` is not a misspelt `45 minutes`); it shares a word or
/// its beginning, or is at most two letters away and begins alike: `Today` is not a misspelt `Monday`.
pub(crate) fn is_worth_proposing(sent: &str, near: &str) -> bool {
    fn digits(name: &str) -> impl Iterator<Item = char> {
        name.chars().filter(|c| c.is_numeric())
    }
    let (left, right) = (Name::new(sent), Name::new(near));
    let begins_alike = left.folded.chars().next() == right.folded.chars().next();
    let most = if begins_alike { 2 } else { 1 };
    digits(sent).eq(digits(near))
        && (shared_words(&left, &right) >= CLOSE
            || shared_beginning(left.folded.as_bytes(), right.folded.as_bytes()) >= CLOSE
            || strsim::damerau_levenshtein(&left.folded, &right.folded) <= most)
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
            same_start && !is_other_role(sent, meant) && (plural || !is_english_word(sent))
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

/// The one nearest candidate, as [`Candidates`] say it, where only one name is compared with them.
pub(crate) fn single_nearest<'n>(
    name: &str,
    candidates: impl IntoIterator<Item = &'n str>,
    work: &Work,
) -> Option<&'n str> {
    let wanted = Wanted::new(name);
    let candidates = candidates.into_iter();
    single_best(
        candidates.map(|candidate| (wanted.similarity(candidate, work), candidate)),
        work,
    )
}

fn single_best<'n>(scored: impl Iterator<Item = (f64, &'n str)>, work: &Work) -> Option<&'n str> {
    let mut best: Option<(f64, &str)> = None;
    let mut tied = false;
    for (score, candidate) in scored.take_while(|_| work.left() > 0) {
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
#[derive(Default)]
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
    fn distances_are_those_of_the_table() {
        let mut state = 1u64;
        let mut random = |below: u64| {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            (state >> 33) % below
        };
        for _ in 0..20_000 {
            let mut word = |longest| -> String {
                let length = 1 + random(longest);
                (0..length)
                    .map(|_| char::from(b'a' + u8::try_from(random(4)).expect("small")))
                    .collect()
            };
            let (left, right) = (word(64), word(80));
            let alphabet = Alphabet::of(&left).expect("short");
            let expected = strsim::osa_distance(&left, &right);
            assert_eq!(
                alphabet.distance(right.as_bytes()),
                expected,
                "{left} {right}"
            );
        }
    }

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
            for right in &names {
                let shared = Letters::of(left).shared(&Letters::of(right));
                let (left, right) = (Name::new(left), Name::new(right));
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
            assert!(is_english_word(word), "{word}");
            assert!(!is_english_word(&format!("{word}qq")), "{word}");
        }
        assert!(!is_english_word("") && !is_english_word("zzzz") && !is_english_word("aaaa"));
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
