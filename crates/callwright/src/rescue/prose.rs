//! Sentences before a call: do they announce it, or do they quote it?
//!
//! In comes text, out goes whether it is short plain prose whose last sentence says that the model acts
//! now. English only: in any other language the answer is no, and a call must stand alone.

/// One to three sentences. A longer text is an answer, and what stands at its end may be a part of it.
const LONGEST: usize = 400;

/// What an announcement starts with.
const OPENINGS: [&str; 6] = [
    "i'll ",
    "i will ",
    "i'm going to ",
    "i am going to ",
    "let me ",
    "let's ",
];

/// What may stand before that.
const CONNECTIVES: [&str; 11] = [
    "now", "first", "next", "then", "so", "ok", "okay", "sure", "great", "alright", "and",
];

/// Words of texts that show, condition, report or take back what follows.
const DOUBTFUL: [&str; 64] = [
    "not",
    "never",
    "no",
    "nor",
    "without",
    "instead",
    "rather",
    "cannot",
    "example",
    "examples",
    "sample",
    "would",
    "could",
    "should",
    "might",
    "may",
    "if",
    "when",
    "unless",
    "whether",
    "show",
    "shows",
    "showing",
    "shown",
    "quote",
    "quoted",
    "quoting",
    "quotes",
    "repeat",
    "describe",
    "explain",
    "demonstrate",
    "illustrate",
    "imagine",
    "suppose",
    "pretend",
    "format",
    "syntax",
    "template",
    "like",
    "such",
    "below",
    "above",
    "following",
    "says",
    "said",
    "wrote",
    "written",
    "contains",
    "reads",
    "stop",
    "avoid",
    "ask",
    "asks",
    "asked",
    "confirm",
    "wait",
    "after",
    "until",
    "once",
    "later",
    "cancel",
    "ignore",
    "how",
];

/// Whether a text before a call says that the call is meant.
pub(super) fn announces(text: &str) -> bool {
    let text = text.trim_ascii();
    // Marks of quotation, code, lists, links and tables, and the colon that introduces what is shown.
    let shows =
        |c: char| !(c.is_alphanumeric() || c.is_ascii_whitespace() || ".,;!?'’…-–—".contains(c));
    let is_prose = |line: &str| line.is_empty() || line.starts_with(char::is_alphabetic);
    if text.len() > LONGEST || text.contains(shows) || !text.lines().all(is_prose) {
        return false;
    }
    let text = text.to_lowercase().replace('’', "'");
    let Some(sentences) = text.strip_suffix(['.', '!', '…']) else {
        return false;
    };
    let doubtful = |word: &str| DOUBTFUL.contains(&word) || word.ends_with("n't");
    if text
        .split(|c: char| !(c.is_alphanumeric() || c == '\''))
        .any(doubtful)
    {
        return false;
    }
    let mut last = sentences
        .rsplit(['.', '!', '?', '…', '\n'])
        .next()
        .unwrap_or_default()
        .trim_ascii();
    while let Some(rest) = CONNECTIVES
        .iter()
        .find_map(|word| last.strip_prefix(word)?.strip_prefix([',', ' ']))
    {
        last = rest.trim_ascii_start();
    }
    OPENINGS.iter().any(|opening| last.starts_with(opening))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn announcements_announce() {
        for text in [
            "I'll look that up.",
            "Let me check the weather in Oslo.\n",
            "You want the forecast for tomorrow. Okay, let me look.",
            "Good question! Now I’ll search the archive…",
        ] {
            assert!(announces(text), "{text}");
        }
    }

    #[test]
    fn quotations_do_not() {
        for text in [
            "",
            "I'll",
            "For example:",
            "Let me check:",
            "Let me show you what I would send.",
            "I'll never run this.",
            "I won't run this. Let me look.",
            "Shall I run this?",
            "The page ends with a call.",
            "I'll look at \"this\".",
            "I'll run `this`.",
            "> I'll look.",
            "1) I'll look.",
            "1. tea\n2. coffee\nI'll look.",
            "- I'll look.",
            "Tea.\n  I'll look.",
            "Ich sehe nach.",
        ] {
            assert!(!announces(text), "{text}");
        }
        let long = format!("{}I'll look.", "Very interesting. ".repeat(30));
        assert!(!announces(&long));
    }
}
