//! What may stand around a value without being part of it: fences, tags, control tokens, and words that
//! hold no data, name nothing else and take nothing back.
//!
//! In comes the text in front of a value, between two or behind it, and the call that was read; out goes
//! whether nothing is lost without that text. It never reads a value out of words.

use crate::json::Value;

/// What a text may mention without saying anything new.
pub(super) struct Call<'c> {
    /// The name of the tool.
    pub(super) tool: &'c str,
    /// What was read.
    pub(super) value: &'c Value<'static>,
}

/// How many quoted words, and how many names, are looked up. Models mention the tool and one or two values;
/// a text with more is a listing. (Each costs a walk through the value.)
const MOST_MENTIONS: usize = 8;

/// Whether text around a value has a letter or a digit that is not part of a fence, a tag or a control token.
pub(super) fn has_words(around: &str) -> bool {
    without_frame(around).is_none_or(|words| words.contains(char::is_alphanumeric))
}

/// Whether text in front of a value only introduces it.
pub(super) fn is_in_front(before: &str, call: &Call<'_>) -> bool {
    let Some(words) = without_frame(before) else {
        return false;
    };
    let words = words.trim();
    let (above, last) = words.rsplit_once('\n').unwrap_or(("", words));
    let introduces = last.trim().trim_end_matches(':');
    // One word alone may be the name of a tool.
    let is_name =
        !introduces.is_empty() && !introduces.trim().contains(' ') && !last.ends_with(':');
    is_prose(introduces, call) && is_prose(above, call) && !is_name
}

/// Whether text between two values only separates them.
pub(super) fn is_between(between: &str) -> bool {
    without_frame(between).is_some_and(|words| words.trim().is_empty())
}

/// Whether text behind a value is closers that are too many, or fences, tags and words that hold no data.
pub(super) fn is_behind(behind: &str, call: &Call<'_>) -> bool {
    let closers = |c: char| matches!(c, '}' | ']' | ')' | ';') || c.is_whitespace();
    if behind.chars().all(closers) {
        return true;
    }
    // A tag that opens behind the value opens another call.
    let opens = behind
        .split('<')
        .skip(1)
        .any(|tag| tag.starts_with(|c: char| c.is_ascii_alphabetic()));
    if opens {
        return false;
    }
    // A control token ends the message; whatever follows it (no bracket, see above) is another one, unless it
    // takes the call back.
    if behind.trim_start().starts_with("<|") {
        let first = without_courtesy(&without_frame(behind).unwrap_or_default());
        let first = first.trim_start().split(['.', '\n']).next();
        return !first.is_some_and(|words| words.split_whitespace().any(takes_back));
    }
    let apart = behind
        .trim_start_matches([' ', '\t'])
        .starts_with(['\n', '\r', '<', '`']);
    apart
        && without_frame(behind).is_some_and(|words| {
            let words = without_courtesy(&words);
            tells(&words) && is_prose(&words, call)
        })
}

/// Whether every sentence tells something about the call, as far as its first word shows. A sentence that
/// begins otherwise may be an order: "Wait.", "Leave it."
fn tells(words: &str) -> bool {
    const BEGINS: [&str; 10] = [
        "this", "these", "the", "it", "that", "here", "please", "done", "i", "i'll",
    ];
    words
        .split(['\n', '!'])
        .flat_map(|line| line.split(". "))
        .filter_map(|sentence| sentence.split_whitespace().next())
        .map(|first| {
            first
                .trim_matches(|c: char| !c.is_alphanumeric())
                .to_lowercase()
        })
        .all(|first| first.is_empty() || BEGINS.contains(&first.as_str()))
}

/// Words: nothing that could be a key, a value or a call, and nothing that takes the call back or asks
/// about it. What stands in quotes must be something that the call holds.
fn is_prose(words: &str, call: &Call<'_>) -> bool {
    let data = |c: char| "\"{}[]()<>=:`|\\/#*?".contains(c);
    let starts_like_data = |words: &str| {
        let mut lines = words.lines();
        lines.any(|line| line.trim_start().starts_with(['-', ',', '\'', '+']))
    };
    // "Should you agree, …"
    let conditional = words.split(['.', '\n']).any(|sentence| {
        let first = sentence.split_whitespace().next();
        first.is_some_and(|word| word.eq_ignore_ascii_case("should"))
    });
    if starts_like_data(words) || conditional {
        return false;
    }
    let Some(plain) = without_mentions(words, call) else {
        return false;
    };
    let mut each = plain
        .split_whitespace()
        .map(|word| word.trim_matches(|c: char| !c.is_alphanumeric()));
    let mut names = 0;
    !plain.contains(data)
        && each.all(|word| {
            let is_name = looks_like_a_name(word);
            names += usize::from(is_name);
            !takes_back(word) && (!is_name || (names <= MOST_MENTIONS && call.holds(word)))
        })
}

/// Words that programs use as names: `delete_file`, `deleteFile`, `files.delete`.
fn looks_like_a_name(word: &str) -> bool {
    let joined = word.split('.').count() > 1 && word.starts_with(char::is_alphabetic);
    // A capital inside, and small letters behind it: not `fMRI`.
    let humps = word.starts_with(char::is_lowercase)
        && word
            .split_once(char::is_uppercase)
            .is_some_and(|(_, behind)| behind.starts_with(char::is_lowercase));
    joined || humps || word.contains('_')
}

/// Words that forbid a call, doubt it, put it off, make an example of it, or say that it is somebody else's.
fn takes_back(word: &str) -> bool {
    const TAKES_BACK: [&str; 66] = [
        "not",
        "never",
        "no",
        "instead",
        "example",
        "would",
        "if",
        "cannot",
        "wrong",
        "failed",
        "fails",
        "avoid",
        "unless",
        "sample",
        "template",
        "placeholder",
        "hypothetical",
        "previous",
        "invalid",
        "incorrect",
        "unable",
        "without",
        "refuse",
        "refused",
        "confirm",
        "confirmed",
        "confirmation",
        "approve",
        "approved",
        "approval",
        "permission",
        "pending",
        "dry",
        "later",
        "bad",
        "cancel",
        "cancelled",
        "canceled",
        "stop",
        "undo",
        "ignore",
        "forget",
        "abort",
        "revert",
        "attacker",
        "malicious",
        "says",
        "said",
        "returned",
        "actually",
        "mistake",
        "error",
        "oops",
        "rather",
        "unsafe",
        "dangerous",
        "denied",
        "forbidden",
        "once",
        "until",
        "before",
        "might",
        "draft",
        "old",
        "skip",
        "disregard",
    ];
    let word = word.to_lowercase();
    TAKES_BACK.contains(&word.as_str()) || word.ends_with("n't") || word.ends_with("n’t")
}

/// The words without those in quotes that name the tool or stand in the call; `None` if others are quoted.
fn without_mentions(words: &str, call: &Call<'_>) -> Option<String> {
    let mut out = String::with_capacity(words.len());
    let (mut rest, mut mentions, mut in_word) = (words, 0, false);
    while let Some(open) = rest.find(['`', '\'']) {
        let (plain, quoted) = rest.split_at(open);
        out.push_str(plain);
        in_word = plain
            .chars()
            .next_back()
            .map_or(in_word, char::is_alphanumeric);
        let (quote, inner) = quoted.split_at(1);
        // An apostrophe.
        if quote == "'" && in_word {
            (rest, in_word) = (inner, false);
            out.push('\'');
            continue;
        }
        let (mention, behind) = inner.split_once(quote)?;
        mentions += 1;
        if mentions > MOST_MENTIONS || !call.holds(mention) {
            return None;
        }
        (rest, in_word) = (behind, false);
    }
    out.push_str(rest);
    Some(out)
}

impl Call<'_> {
    /// Whether the call has this name, key, text or number.
    fn holds(&self, word: &str) -> bool {
        fn within(value: &Value<'_>, word: &str) -> bool {
            match value {
                Value::String(text) => text == word,
                Value::Number(number) => number.as_str() == word,
                Value::Array(items) => items.iter().any(|item| within(item, word)),
                Value::Object(members) => members
                    .iter()
                    .any(|(key, inner)| key == word || within(inner, word)),
                Value::Bool(_) | Value::Null => false,
            }
        }
        self.tool == word || within(self.value, word)
    }
}

/// Words without the sentence with which models end: "Let me know if you need anything else!" Any other
/// "if" may make the call depend on something.
fn without_courtesy(words: &str) -> String {
    const BEGINS: [&str; 3] = [
        "let me know if you ",
        "please let me know if you ",
        "feel free to let me know if you ",
    ];
    // Words that name nothing. "Objections" is none of them, nor is "how to proceed".
    const GOES_ON: [&str; 17] = [
        "need",
        "have",
        "any",
        "anything",
        "else",
        "more",
        "further",
        "additional",
        "other",
        "assistance",
        "help",
        "information",
        "questions",
        "with",
        "this",
        "that",
        "something",
    ];
    let is_courtesy = |sentence: &str| {
        let sentence = sentence.trim().to_lowercase();
        let rest = BEGINS
            .iter()
            .find_map(|begins| sentence.strip_prefix(begins));
        rest.is_some_and(|rest| rest.split_whitespace().all(|word| GOES_ON.contains(&word)))
    };
    words
        .split_inclusive(['.', '!', '\n'])
        .filter(|sentence| !is_courtesy(sentence.trim_end_matches(['.', '!', '\n'])))
        .collect()
}

/// Text without fences, control tokens and the tags that models put around a call; `None` if there are
/// other tags, which may hold or name something.
fn without_frame(text: &str) -> Option<String> {
    const WRAPPERS: [&str; 14] = [
        "tool_call",
        "tool_calls",
        "function_call",
        "function_calls",
        "functioncall",
        "function",
        "tool",
        "call",
        "arguments",
        "args",
        "json",
        "output",
        "response",
        "xml",
    ];
    // What a fence may call its content; most name none.
    const LANGUAGES: [&str; 14] = [
        "",
        "json",
        "json5",
        "jsonc",
        "jsonl",
        "js",
        "javascript",
        "python",
        "py",
        "xml",
        "text",
        "tool_call",
        "tool_code",
        "function_call",
    ];
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(open) = rest.find(['<', '`']) {
        out.push_str(&rest[..open]);
        rest = &rest[open..];
        if let Some(behind) = rest.strip_prefix("```") {
            let length = behind.find(|c: char| !(c.is_alphanumeric() || c == '_'));
            let (language, behind) = behind.split_at(length.unwrap_or(behind.len()));
            // Any other word may say something: "```example".
            if !LANGUAGES.contains(&language.to_lowercase().as_str()) {
                out.push_str(language);
            }
            rest = behind;
            continue;
        }
        if let Some(behind) = rest.strip_prefix('`') {
            out.push('`');
            rest = behind;
            continue;
        }
        let close = rest.find('>')?;
        let tag = &rest[1..close];
        let name = tag.trim_start_matches('/').trim();
        let token = is_token(tag);
        let header = tag.starts_with("?xml");
        if !token && !header && !WRAPPERS.contains(&name.to_lowercase().as_str()) {
            return None;
        }
        rest = &rest[close + 1..];
        if token {
            rest = without_role(tag, &mut out, rest);
        }
    }
    out.push_str(rest);
    Some(out)
}

/// Whether the inside of a tag is a control token: `|im_end|`, one word between bars, as no sentence has them.
fn is_token(tag: &str) -> bool {
    const LONGEST: usize = 40;
    let bar = |c: char| matches!(c, '|' | '｜');
    let name = tag.strip_prefix(bar).and_then(|tag| tag.strip_suffix(bar));
    let in_word = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '▁' | '/');
    name.is_some_and(|name| name.len() <= LONGEST && name.chars().all(in_word))
}

/// The model's own turn, which a chat template announces: `assistant<|end_header_id|>` and
/// `<|im_start|>assistant`. Any other role speaks for somebody else, so its name stays, and is no prose.
fn without_role<'t>(token: &str, out: &mut String, behind: &'t str) -> &'t str {
    const ROLE: &str = "assistant";
    let own_line = |before: &&str| before.is_empty() || before.ends_with('\n');
    if token == "|end_header_id|"
        && let Some(before) = out.strip_suffix(ROLE).filter(own_line)
    {
        out.truncate(before.len());
    }
    let ends = |rest: &str| rest.is_empty() || rest.starts_with(['\n', '\r', '<']);
    match behind.strip_prefix(ROLE) {
        Some(rest) if token == "|im_start|" && ends(rest) => rest,
        _ => behind,
    }
}
