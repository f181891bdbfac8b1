//! Values that patterns put into calls.

use serde_json::{Value, json};

use super::pattern::Make;
use super::random::Random;
use super::words;

pub(crate) const NULL: Make = |_, _| Value::Null;
pub(crate) const HUGE: Make = |_, _| json!(1_000_000_000);

/// The value as a text: `10` becomes `"10"`, a list its JSON.
pub(crate) const IN_QUOTES: Make = |random, value| {
    let text = value.map_or_else(|| random.between(1, 30).to_string(), Value::to_string);
    json!(text)
};

pub(crate) const YES_IN_QUOTES: Make =
    |random, _| json!(random.pick(&["true", "false", "True", "yes"]));

pub(crate) const IN_WORDS: Make = |random, _| {
    json!(random.pick(&[
        "tomorrow",
        "next friday",
        "last week",
        "in 2 hours",
        "today",
        "Monday morning",
        "asap",
        "end of month",
        "tomorrow at 3pm",
        "yesterday",
    ]))
};

/// One of the intended words, misspelt or in capitals, or a word that is not in the list at all.
pub(crate) fn made_up(random: &mut Random, meant: &[&str], invented: &[&str]) -> Value {
    let word = *random.pick(meant);
    json!(match random.below(5) {
        0 => word.to_uppercase(),
        1 => word[..1].to_uppercase() + &word[1..],
        2 => swapped(random, word),
        _ => (*random.pick(invented)).to_owned(),
    })
}

/// The word with two letters swapped.
pub(crate) fn swapped(random: &mut Random, word: &str) -> String {
    let mut letters: Vec<char> = word.chars().collect();
    let at = random.below(letters.len() - 1);
    letters.swap(at, at + 1);
    let swapped: String = letters.into_iter().collect();
    if swapped == word {
        swapped + "_"
    } else {
        swapped
    }
}

/// A whole number from a range, round ones more often.
pub(crate) fn whole(random: &mut Random, low: i64, high: i64) -> Value {
    let number = random.between(low, high);
    let round = number - number % 10;
    json!(if round >= low && random.chance(0.6) {
        round
    } else {
        number
    })
}

pub(crate) fn texts(random: &mut Random, low: i64, high: i64) -> Value {
    let length = random.between(low, high) as usize;
    json!(words::text(random, length))
}

pub(crate) fn list(random: &mut Random, low: i64, high: i64) -> Value {
    let items = random.between(low, high);
    (0..items)
        .map(|at| format!("{}{at}", words::person(random)))
        .collect()
}

pub(crate) fn one_of(random: &mut Random, choices: &[&str]) -> Value {
    json!(random.pick_early(choices))
}

pub(crate) const DATE: Make = |random, _| json!(words::date(random));
