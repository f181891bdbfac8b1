//! "Did you mean": names that are close to a name.
//!
//! Case and separators are put aside first (`fileName`, `file_name` and `file-name` are one name),
//! then whole words are compared (`path` is half of `filePath`), then letters. Used for keys, enum
//! values, tool names and codes; it only ever proposes, and never decides that a name is meant.

/// How close two names are, from 0 (nothing in common) to 1 (the same but for case and separators).
pub(crate) fn similarity(left: &str, right: &str) -> f64 {
    // Real names are short; a long text is no misspelt name, and comparing it costs length squared.
    const LONGEST_NAME: usize = 128;
    if left.len() > LONGEST_NAME || right.len() > LONGEST_NAME {
        return f64::from(u8::from(left == right));
    }
    let (left_words, right_words) = (words(left), words(right));
    let (folded_left, folded_right) = (left_words.concat(), right_words.concat());
    if folded_left.is_empty() || folded_right.is_empty() {
        return 0.0;
    }
    if folded_left == folded_right {
        return 1.0;
    }
    shared_words(&left_words, &right_words).max(shared_letters(&folded_left, &folded_right))
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

/// Names above this are worth a proposal. One wrong letter in a word of three (0.67) is, and so is
/// one shared word out of two (0.66); one shared letter in two is not.
const CLOSE: f64 = 0.6;

/// The nearest candidates, the closest first, at most `max`. None of them need be right.
pub(crate) fn nearest<'n>(
    name: &str,
    candidates: impl IntoIterator<Item = &'n str>,
    max: usize,
) -> Vec<&'n str> {
    let mut scored: Vec<(f64, &str)> = candidates
        .into_iter()
        .map(|candidate| (similarity(name, candidate), candidate))
        .filter(|(score, _)| *score >= CLOSE)
        .collect();
    // Equal scores fall back to the name, so that the answer does not depend on a map's order.
    scored.sort_by(|left, right| right.0.total_cmp(&left.0).then(left.1.cmp(right.1)));
    scored
        .into_iter()
        .take(max)
        .map(|(_, candidate)| candidate)
        .collect()
}

/// The one nearest candidate, if there is a nearest one: two that are equally close are none.
pub(crate) fn single_nearest<'n>(
    name: &str,
    candidates: impl IntoIterator<Item = &'n str>,
) -> Option<&'n str> {
    let mut best: Option<(f64, &str)> = None;
    let mut tied = false;
    for candidate in candidates {
        let score = similarity(name, candidate);
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
    best.filter(|_| !tied).map(|(_, candidate)| candidate)
}

/// Two thirds of a full match where all words of the shorter name stand in the longer one, a little
/// more the larger its share is.
fn shared_words(left: &[String], right: &[String]) -> f64 {
    let (short, long) = if left.len() <= right.len() {
        (left, right)
    } else {
        (right, left)
    };
    let all_there = !short.is_empty() && short.iter().all(|word| long.contains(word));
    // A word of one or two letters (`id`, `x`) is in too many names to mean anything.
    if !all_there || short.concat().len() < 3 {
        return 0.0;
    }
    #[expect(clippy::cast_precision_loss, reason = "names have a handful of words")]
    let share = short.len() as f64 / long.len() as f64;
    0.6 + 0.12 * share
}

/// The words of a name in lower case: split at separators, at a capital behind a small letter, and
/// between letters and digits not at all.
fn words(name: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut previous_small = false;
    for character in name.chars() {
        if !character.is_alphanumeric() {
            words.push(String::new());
            previous_small = false;
            continue;
        }
        if previous_small && character.is_uppercase() {
            words.push(String::new());
        }
        previous_small = character.is_lowercase() || character.is_numeric();
        if let Some(word) = words.last_mut() {
            word.extend(character.to_lowercase());
        }
    }
    words.retain(|word| !word.is_empty());
    words
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

    #[test]
    fn a_shared_word_is_close() {
        assert_eq!(
            single_nearest("path", ["filePath", "content"]),
            Some("filePath")
        );
        assert_eq!(
            single_nearest("fileContent", ["filePath", "content"]),
            Some("content")
        );
    }

    #[test]
    fn a_tie_is_no_answer() {
        assert_eq!(single_nearest("date", ["start_date", "end_date"]), None);
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
