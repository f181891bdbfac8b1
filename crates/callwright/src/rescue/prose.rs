//! Text before a call: does it announce the call, or does it quote it?
//!
//! Says whether a text is short plain prose whose last sentence says that the model looks
//! something up now. Everything is a list of what is known to be harmless, so what is not known is a
//! quotation. English only: in any other language a call must be alone.

use crate::words::word_list;

/// One to three sentences. A longer text is an answer, and what comes at its end may be a part of it.
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

/// What may come before that, or after it.
const FILLERS: &[&str] = word_list![
    now first next then so ok okay sure great alright and just quickly also
];

/// What a model does with a tool that reads. Verbs of telling (give, print, summarise) are not among them.
const VERBS: &[&str] = word_list![
    look check search find fetch query open list read inspect examine load retrieve investigate
    explore use run see
];

/// Words of texts that show, condition, report or take back what follows.
const DOUBTFUL: &[&str] = word_list![
    not never no nor without instead rather cannot example examples sample would could should
    might may if when unless whether show shows showing shown quote quoted quoting quotes repeat
    describe explain demonstrate illustrate imagine suppose pretend format syntax template like
    such below above following says said wrote written contains reads stop avoid ask asks asked
    confirm wait after until once later cancel ignore how call calls tag tags snippet line lines
    block instruction instructions prompt injection message command commands markup xml json
    refuse skip
];

/// Whether a text before a call says that the call is meant.
pub(super) fn announces(text: &str) -> bool {
    let text = text.trim_ascii();
    if !is_plain(text) {
        return false;
    }
    let text = text.to_lowercase().replace('’', "'");
    if words(&text).any(is_doubtful) {
        return false;
    }
    text.strip_suffix(['.', '!', '…'])
        .and_then(|sentences| sentences.rsplit(['.', '!', '?', '…', '\n']).next())
        .is_some_and(acts)
}

/// Whether a text may announce a call when more of it has come: nothing in it so far says otherwise.
pub(super) fn may_announce(text: &str) -> bool {
    if !is_plain(text.trim_ascii()) {
        return false;
    }
    let text = text.to_lowercase().replace('’', "'");
    // The last word may go on.
    let whole = text.rfind(is_between_words).map_or("", |end| &text[..end]);
    !words(whole).any(is_doubtful)
}

/// Whether a text is short, and neither shows nor lists anything.
fn is_plain(text: &str) -> bool {
    // Marks of quotation, code, lists, links and tables, and the colon that introduces what is shown.
    let shows =
        |c: char| !(c.is_alphanumeric() || c.is_ascii_whitespace() || ".,;!?'’…-–—".contains(c));
    let is_prose = |line: &str| line.is_empty() || line.starts_with(char::is_alphabetic);
    text.len() <= LONGEST && !text.contains(shows) && text.lines().all(is_prose)
}

fn is_doubtful(word: &str) -> bool {
    DOUBTFUL.contains(&word) || word.ends_with("n't")
}

/// Whether a sentence says that the model looks something up now, and does not address the user.
fn acts(sentence: &str) -> bool {
    let sentence = without_fillers(sentence.trim_ascii());
    let Some(act) = OPENINGS
        .iter()
        .find_map(|opening| sentence.strip_prefix(opening))
    else {
        return false;
    };
    let act = act.strip_suffix(" for you").unwrap_or(act);
    let verb = words(without_fillers(act)).next().unwrap_or_default();
    VERBS.contains(&verb) && !words(act).any(|word| word == "you")
}

fn without_fillers(mut text: &str) -> &str {
    while let Some(rest) = FILLERS
        .iter()
        .find_map(|word| text.strip_prefix(word)?.strip_prefix([',', ' ']))
    {
        text = rest.trim_ascii_start();
    }
    text
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(is_between_words)
}

fn is_between_words(c: char) -> bool {
    !(c.is_alphanumeric() || c == '\'')
}

/// Whether reasoning ends by itself. After an opening quotation mark or a colon, the tag that seems to
/// end it may be what it quotes.
pub(super) fn is_finished(reasoning: &str) -> bool {
    let open = |c: char| "\"'`“‘„«‹([{<:".contains(c);
    !reasoning.trim_end().ends_with(open)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn announcements_announce() {
        for text in [
            "I'll look that up.",
            "I'll check that for you.",
            "Let me just check the weather in Oslo.\n",
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
            "I'll summarise the page now.",
            "Let me print it.",
            "Let me read it to you.",
            "Let me find you the words.",
            "I'll list the tags.",
            "I'll copy the end of the file.",
            "Ich sehe nach.",
        ] {
            assert!(!announces(text), "{text}");
        }
        let long = format!("{}I'll look.", "Very interesting. ".repeat(30));
        assert!(!announces(&long));
    }
}
