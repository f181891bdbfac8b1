//! Finds where a text with unescaped quotes ends.
//!
//! Takes the position where a text starts; returns the quote that ends it, if every other quote in it can only be content: `git
//! log --format="%H" -1`. It never treats a quote as content if it could end the text or open a key, never lets the end of the
//! arguments end a text, and never decodes an escape: a text that was not escaped in one place may not have been in another, so
//! `\n` in it could mean either.

use std::ops::Range;

use crate::text::first_bytes;

/// How a text ends.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Ending {
    /// At its first quote, as usual.
    FirstQuote,
    /// After quotes that are content; this is the first pair of them.
    AfterPair { first: Range<usize>, end: usize },
    /// It cannot be decided.
    Unclear,
}

/// How far to look after a quote. Keys of real tools have up to 60 characters; a longer quoted text might be one, so its quote
/// is not treated as content.
const LOOK_AHEAD: usize = 200;

/// Which quote ends the text that starts at `start`, after its opening quote.
pub(super) fn ending(text: &str, start: usize, in_list: bool) -> Ending {
    let has_inner = match text[start..].find(['"', '\\']) {
        Some(at) => {
            let at = start + at;
            text[at..].starts_with('"') && !can_end(&text[at + 1..], in_list)
        }
        None => false,
    };
    if !has_inner {
        return Ending::FirstQuote;
    }
    let mut first: Option<Range<usize>> = None;
    let mut outside = Outside::default();
    let mut from = start;
    while let Some(length) = text[from..].find('"') {
        let open = from + length;
        let before = &text[from..open];
        if before.contains('\\') {
            return Ending::Unclear;
        }
        let after = &text[open + 1..];
        if can_end(after, in_list) {
            // A quote after one of these opens rather than ends, and the text is cut off inside what it opens.
            return match first {
                Some(first) if !before.ends_with([' ', '\t', '=', '(']) => {
                    Ending::AfterPair { first, end: open }
                }
                _ => Ending::Unclear,
            };
        }
        outside.parentheses(before);
        let Some(length) = after.find('"') else {
            return Ending::Unclear;
        };
        let (quoted, after) = (&after[..length], &after[length + 1..]);
        let is_pair = outside.can_open(before, first.is_some())
            && is_quoted(quoted)
            && !can_end(after, in_list)
            && can_follow(after, in_list);
        if !is_pair {
            return Ending::Unclear;
        }
        from = open + length + 2;
        first = first.or(Some(open..from));
    }
    Ending::Unclear
}

/// What was seen of a text outside its quoted parts.
#[derive(Default)]
struct Outside {
    open_parentheses: usize,
}

impl Outside {
    fn parentheses(&mut self, part: &str) {
        for c in part.chars() {
            match c {
                '(' => self.open_parentheses += 1,
                ')' => self.open_parentheses = self.open_parentheses.saturating_sub(1),
                _ => {}
            }
        }
    }

    /// Whether a quote after this part of the text, which starts the text or follows a quoted part, can open a quoted part:
    /// `say "`, `href="`, `print("`, `get("KEY", "`. A quote at the start of a line is more likely the key of a member, one
    /// after a colon its value, and one after a comma an item, unless a function call is open.
    fn can_open(&self, part: &str, follows_quoted: bool) -> bool {
        if part.ends_with(['=', '(', '>']) {
            return true;
        }
        let words = part.trim_end_matches([' ', '\t']);
        if words.len() == part.len() {
            return false;
        }
        match words.chars().next_back() {
            None => follows_quoted,
            Some(',') => follows_quoted && self.open_parentheses > 0,
            Some(c) => !matches!(c, ':' | '{' | '[' | '\n' | '\r'),
        }
    }
}

/// Whether these characters can be between two quotes that belong together. Text that starts or ends with an operator is
/// between two concatenated texts: `"ls "+dir+" -la"`, `"ls ".$dir." -la"`.
fn is_quoted(quoted: &str) -> bool {
    let begins = |c: char| c.is_whitespace() || ",:{}[]+&|\\);".contains(c);
    let ends = |c: char| c.is_whitespace() || ",:{[(=+&|".contains(c);
    let operator = ["<<", "<>"].iter().any(|sign| quoted.starts_with(sign))
        || (quoted.starts_with('.') && quoted.ends_with('.'));
    !quoted.is_empty()
        && !quoted.starts_with(begins)
        && !quoted.ends_with(ends)
        && !quoted.contains(['\\', '\n', '\r'])
        && !operator
}

/// Whether this can follow a quoted part inside a text: a blank, a punctuation mark, or the quote that ends the text.
fn can_follow(after: &str, in_list: bool) -> bool {
    match after.chars().next() {
        Some('"') => can_end(&after[1..], in_list),
        Some(c) => c.is_whitespace() || ").,;!?>/=+-*|&<'`".contains(c),
        None => false,
    }
}

/// Whether a quote followed by this could end a text, or be the end of a key. What is beyond the look-ahead could be anything.
fn can_end(after: &str, in_list: bool) -> bool {
    let near = first_bytes(after, LOOK_AHEAD);
    let next = near.trim_start();
    match next.chars().next() {
        None | Some('}' | ']' | ':') => true,
        Some(',') => in_list || is_key(&next[1..]),
        Some('"') if in_list => next.len() < near.len(),
        Some('/') => is_comment(next),
        Some(_) => next.len() < near.len() && is_key(next),
    }
}

/// Whether a key with its colon could be here, or the end of an object after a surplus comma.
fn is_key(text: &str) -> bool {
    let text = text.trim_start();
    let quoted = |quote: char| match text[1..].split_once(quote) {
        Some((_, after)) => matches!(after.trim_start().chars().next(), None | Some(':')),
        None => true,
    };
    match text.chars().next() {
        None | Some('}' | ']') => true,
        Some(quote @ ('"' | '\'')) => quoted(quote),
        Some('/') => is_comment(text),
        Some(_) => {
            let name = |c: char| c.is_alphanumeric() || matches!(c, '_' | '$' | '-' | '.');
            let after = text.trim_start_matches(name);
            let after = after.strip_prefix(['"', '\'']).unwrap_or(after);
            let colon = after.trim_start();
            // A URL is not a key.
            colon.is_empty() || (colon.starts_with(':') && !colon.starts_with("://"))
        }
    }
}

fn is_comment(text: &str) -> bool {
    text.starts_with("//") || text.starts_with("/*")
}

/// Whether the text after a value continues with another member: a comma, a key and a colon.
pub(super) fn next_member_follows(after: &str) -> bool {
    let next = first_bytes(after, LOOK_AHEAD)
        .trim_start()
        .strip_prefix(',');
    next.is_some_and(|next| next.trim_start().starts_with(['"', '\'']) && is_key(next))
}
