//! Rules for an allowed value, a date or a time in another notation.

use std::slice;

use serde_json::Value as Schema;

use super::{ObjectionSite, ProposedEdit, only};
use crate::json::{Value, keyword};
use crate::nearest::{alike_but_accents, is_slip, same_but_accents, same_spelling, words};
use crate::validate::near_value;
use crate::vocabulary::{Expected, IssueCode, word_list};

/// Names of units are short: `mbar`, `Mmol`.
const LONGEST_UNIT: usize = 4;

/// Lossless if exactly one allowed value is equal except for case, separators, white space and quotes around it. In short words,
/// and in words with capitals inside, case may carry the meaning (`Mbar`, `mbar`; `MBps`, `Mbps`), so there all allowed values
/// must be written alike: then it is a convention.
pub(super) fn enum_spelling(site: &ObjectionSite<'_, '_>) -> Option<ProposedEdit> {
    same_spelled(site, same_spelling, same_spelling)
}

/// The same for accents that one of the two has none of. A guess, for tools that read: they may be all that distinguishes two
/// words (`zahlen`, `zählen`).
pub(super) fn enum_accents(site: &ObjectionSite<'_, '_>) -> Option<ProposedEdit> {
    same_spelled(
        site,
        |option, text| same_but_accents(option, text, same_spelling),
        |option, text| alike_but_accents(option, text, same_spelling),
    )
}

/// Replaces a text by the allowed value that is the same, if no other is like it.
fn same_spelled(
    site: &ObjectionSite<'_, '_>,
    same: fn(&str, &str) -> bool,
    like: fn(&str, &str) -> bool,
) -> Option<ProposedEdit> {
    if !matches!(site.code(), IssueCode::Enum | IssueCode::Const) {
        return None;
    }
    let text = unquoted(site.value()?.as_str()?);
    let node = site.node()?;
    let allowed: Vec<&str> = match site.code() {
        IssueCode::Enum => keyword(node, "enum")?
            .as_array()?
            .iter()
            .filter_map(Schema::as_str)
            .collect(),
        _ => keyword(node, "const")?.as_str().into_iter().collect(),
    };
    site.compare_with(allowed.len())?;
    let near = only(allowed.iter().filter(|option| like(option, text)))?;
    let same = Some(near).filter(|option| same(option, text))?;
    // `MBps` next to `KBps`, `Mbar` next to `kbar`: case may be all that distinguishes two units.
    let short = text.chars().filter(|c| c.is_alphabetic()).count() <= LONGEST_UNIT;
    let units = short || !is_of_words(text) || !allowed.iter().all(|option| is_of_words(option));
    if text != *same && units && !written_alike(&allowed) {
        return None;
    }
    Some(site.replace(Value::String((*same).to_owned().into())))
}

/// A text without blanks and one pair of quotes around it.
fn unquoted(text: &str) -> &str {
    let text = text.trim();
    let inside = |quote| text.strip_prefix(quote)?.strip_suffix(quote);
    let quoted = ['"', '\'', '`'].into_iter().find_map(inside);
    quoted.map_or(text, str::trim)
}

/// Whether all are in lower case, or all in upper case, or all have a capital at the start of each word.
fn written_alike(allowed: &[&str]) -> bool {
    let small = |text: &&str| !text.contains(char::is_uppercase);
    let capital = |text: &&str| !text.contains(char::is_lowercase);
    let in_front = |text: &&str| text.starts_with(char::is_uppercase) && is_of_words(text);
    allowed.iter().all(small) || allowed.iter().all(capital) || allowed.iter().all(in_front)
}

/// Whether the text has no lower-case letters, or every capital starts a word of them. `MBps` and `kWh` are not words.
fn is_of_words(text: &str) -> bool {
    let characters: Vec<char> = text.chars().collect();
    let begins_a_word = |at: usize| {
        characters
            .get(at + 1)
            .is_some_and(|next| next.is_lowercase())
    };
    let mut capitals = characters
        .iter()
        .enumerate()
        .filter(|(_, c)| c.is_uppercase());
    !text.contains(char::is_lowercase) || capitals.all(|(at, _)| begins_a_word(at))
}

/// A guess: exactly one allowed value is close (the one that the feedback would propose), and one typing error away. For
/// read-only tools: correct words are only known in English (`dessus` is not a misspelt `dessous`), and names are not known at
/// all (`Marie`, `Maria`).
pub(super) fn enum_near(site: &ObjectionSite<'_, '_>) -> Option<ProposedEdit> {
    let allowed = match &site.located.issue.expected {
        Expected::OneOf(values) if site.code() == IssueCode::Enum => values.as_array()?,
        Expected::Constant(value) if site.code() == IssueCode::Const => slice::from_ref(&**value),
        _ => return None,
    };
    let sent = site.value()?.as_str()?;
    let meant = near_value(site.value()?, allowed, site.scope.work)?;
    is_slip(sent, meant).then(|| site.replace(Value::String(meant.to_owned().into())))
}

/// Words around an allowed value that add no meaning. Any other word is assumed to mean something, in any language: `except
/// shipped`, `nicht shipped`.
const WORDS_AROUND: &[&str] = word_list![
    a an the my this these of in by for per on at as with is and it please only just last past current type kind class mode
    style level order format scale unit units system degree degrees value option setting method category
];

/// Words that may be a prefix of what they are joined to, and reverse it: `in-active`, `a_synchronous`.
const PREFIXES: &[&str] = word_list![a an in];

/// How many words a text that names an allowed value may have. A longer one is a sentence.
const MOST_WORDS: usize = 6;

/// How many letters a word of the key must have to be ignored next to the value.
const SHORTEST_OF_KEY: usize = 4;

/// A guess, for read-only tools: exactly one allowed value is in the text word for word, and all other words add no meaning or
/// belong to the key. Digits are never among them.
pub(super) fn enum_named(site: &ObjectionSite<'_, '_>) -> Option<ProposedEdit> {
    let Expected::OneOf(allowed) = &site.located.issue.expected else {
        return None;
    };
    let (sent, allowed) = (site.value()?.as_str()?, allowed.as_array()?);
    let is_plain = |c: char| c.is_alphabetic() || matches!(c, ' ' | '_' | '-');
    if site.code() != IssueCode::Enum || !sent.chars().all(is_plain) {
        return None;
    }
    site.look_at(allowed.len())?;
    if sent.split(' ').any(has_prefix) {
        return None;
    }
    let sent = separate_words(sent);
    if sent.len() > MOST_WORDS {
        return None;
    }
    let texts = allowed.iter().filter_map(Schema::as_str);
    let (meant, around) = only(texts.filter_map(|option| Some((option, around(&sent, option)?))))?;
    let mut of_key = site.key().map(|key| words(&key)).unwrap_or_default();
    // The key `no_smoking` does not make `no` a word without meaning.
    of_key.retain(|word| word.len() >= SHORTEST_OF_KEY);
    let says_nothing =
        |word: &&String| WORDS_AROUND.contains(&word.as_str()) || of_key.contains(word);
    (!around.is_empty() && around.iter().all(says_nothing))
        .then(|| site.replace(Value::String(meant.to_owned().into())))
}

/// Whether a part without blanks has a word joined to it that may be a prefix.
fn has_prefix(part: &str) -> bool {
    let mut joined = part.split_inclusive(['_', '-']);
    joined.any(|word| {
        let bare = word.trim_end_matches(['_', '-']);
        bare.len() < word.len() && PREFIXES.contains(&bare.to_lowercase().as_str())
    })
}

/// The words of a text, in lower case. A capital does not start a word: `inActive` may be a word with the opposite meaning.
fn separate_words(text: &str) -> Vec<String> {
    let words = text.split([' ', '_', '-']).filter(|word| !word.is_empty());
    words.map(str::to_lowercase).collect()
}

/// The other words of a text that names an allowed value word for word; `None` if it does not.
fn around<'w>(sent: &'w [String], option: &str) -> Option<Vec<&'w String>> {
    let option = separate_words(option);
    let at = sent
        .windows(option.len().max(1))
        .position(|part| part == option)?;
    Some(
        sent[..at]
            .iter()
            .chain(&sent[at + option.len()..])
            .collect(),
    )
}

/// Models write dates as the languages they know do. Lossless if every digit stays in place: the year first, and as many digits
/// as the format requires. `01/02/2026` may be January or February, and a time without its offset may be anywhere: both are
/// left alone.
pub(super) fn date_separators(site: &ObjectionSite<'_, '_>) -> Option<ProposedEdit> {
    if site.code() != IssueCode::Format {
        return None;
    }
    let text = site.value()?.as_str()?;
    let node = site.node()?;
    let rewritten = match keyword(node, "format").and_then(Schema::as_str)? {
        "date" => date(text)?,
        "date-time" => {
            // A date of ten characters, a blank, and a time; the validator checks the rest.
            let (day, time) = text.split_once(' ')?;
            format!("{}T{time}", date(day)?)
        }
        _ => return None,
    };
    Some(site.replace(Value::String(rewritten.into())))
}

/// Four, two and two digits with the same separator between them, written as the standard does.
fn date(text: &str) -> Option<String> {
    let sign = text.chars().find(|c| !c.is_ascii_digit())?;
    let mut parts = text.split(sign);
    let (year, month, day) = (parts.next()?, parts.next()?, parts.next()?);
    let digits =
        |part: &str, count| part.len() == count && part.bytes().all(|b| b.is_ascii_digit());
    let whole = parts.next().is_none() && matches!(sign, '/' | '.' | '-');
    (whole && digits(year, 4) && digits(month, 2) && digits(day, 2))
        .then(|| format!("{year}-{month}-{day}"))
}

/// Programs print dates like this, and models copy them. Lossy: the time is dropped, though it says nothing. Any other time
/// says something, and so does an offset: midnight there may be another day here.
pub(super) fn midnight_left_out(site: &ObjectionSite<'_, '_>) -> Option<ProposedEdit> {
    if site.code() != IssueCode::Format {
        return None;
    }
    if keyword(site.node()?, "format").and_then(Schema::as_str) != Some("date") {
        return None;
    }
    let (date, time) = site.value()?.as_str()?.split_once(['T', ' '])?;
    matches!(time, "00:00:00" | "00:00:00.000" | "00:00")
        .then(|| site.replace(Value::String(date.to_owned().into())))
}
