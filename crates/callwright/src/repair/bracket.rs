//! Fixes a text in which exactly one bracket is wrong: missing, surplus, or of the other kind.
//!
//! Takes a text of complete tokens that cannot be read as it is; returns its value if every way to fix one bracket leads to the
//! same one. It never merges two values, never ends a text whose last bracket is missing or wrong (that text is cut off), and
//! changes nothing but one bracket.

use super::extract::JSON_BLANK;
use super::tolerant::{self, TolerantReading};
use super::{Edit, liberties};
use crate::json::Path;

/// Longer texts are left alone: each position where a bracket could be wrong costs a pass over all tokens. 256 tokens are about
/// sixty members, more than 99 of 100 real calls have, and 200,000 steps at most.
const MOST_TOKENS: usize = 256;

/// Reads the value that starts at byte `from` and ends with the last bracket of the text.
pub(super) fn read(text: &str, from: usize, max_depth: usize) -> Option<TolerantReading> {
    let end = text.rfind(['}', ']'])? + 1;
    let region = text.get(from..end)?;
    let tokens = tokens(region)?;
    let change = only_change(&tokens)?;
    let (mended, edit) = change.apply(region, &tokens);
    let reading = tolerant::read(&mended, 0, max_depth).ok()?;
    let mut edits = vec![edit];
    edits.extend(reading.edits);
    (reading.end == mended.len()).then_some(TolerantReading {
        value: reading.value,
        edits,
        end,
    })
}

/// The kind of a token: its character, or one of the two below.
type TokenKind = char;

/// A quoted text, which may be a key.
const TEXT: TokenKind = '"';

/// A number or a word.
const SCALAR: TokenKind = '0';

fn opens(kind: TokenKind) -> bool {
    matches!(kind, '{' | '[')
}

/// The bracket of the other kind, if this is one.
fn sibling(kind: TokenKind) -> Option<TokenKind> {
    match kind {
        '{' => Some('['),
        '}' => Some(']'),
        '[' => Some('{'),
        ']' => Some('}'),
        _ => None,
    }
}

struct Token {
    kind: TokenKind,
    at: usize,
    length: usize,
}

/// The tokens of a text; `None` if it contains anything else, or too many.
fn tokens(text: &str) -> Option<Vec<Token>> {
    let mut tokens = Vec::new();
    let mut at = 0;
    loop {
        let rest = text[at..].trim_start();
        at = text.len() - rest.len();
        let Some(first) = rest.chars().next() else {
            return Some(tokens);
        };
        let run = |part: fn(char) -> bool| {
            let length = rest.find(|c: char| !part(c)).unwrap_or(rest.len());
            Some((SCALAR, length))
        };
        let (kind, length) = match first {
            '{' | '}' | '[' | ']' | ',' | ':' => Some((first, 1)),
            '"' | '\'' => quoted(rest, first).map(|length| (TEXT, length)),
            '-' | '0'..='9' => run(|c| matches!(c, '0'..='9' | '-' | '+' | '.' | 'e' | 'E')),
            'a'..='z' | 'A'..='Z' => run(|c| c.is_ascii_alphabetic()),
            _ => None,
        }?;
        if tokens.len() == MOST_TOKENS {
            return None;
        }
        tokens.push(Token { kind, at, length });
        at += length;
    }
}

/// The length of a quoted text. If quotes are wrong, texts are confused with what is between them: such a text spans a line
/// break, contains half a pair of brackets, or only separators.
fn quoted(text: &str, quote: char) -> Option<usize> {
    let mut characters = text.char_indices().skip(1);
    let (mut objects, mut lists) = (0_usize, 0_usize);
    let mut says_something = false;
    while let Some((at, c)) = characters.next() {
        match c {
            '\\' => {
                characters.next();
                says_something = true;
            }
            '\n' | '\r' => return None,
            '{' => objects += 1,
            '}' => objects = objects.checked_sub(1)?,
            '[' => lists += 1,
            ']' => lists = lists.checked_sub(1)?,
            c if c == quote => {
                let is_text = says_something && (objects, lists) == (0, 0);
                return is_text.then_some(at + 1);
            }
            c => says_something |= !(c.is_whitespace() || matches!(c, ',' | ':' | ';')),
        }
    }
    None
}

/// A fix of one bracket.
#[derive(Debug, Clone, Copy)]
enum BracketFix {
    Insert(usize, TokenKind),
    Delete(usize),
    Replace(usize, TokenKind),
}

impl BracketFix {
    fn kinds(self, tokens: &[Token], into: &mut Vec<TokenKind>) {
        into.clear();
        into.extend(tokens.iter().map(|token| token.kind));
        match self {
            BracketFix::Insert(at, kind) => into.insert(at, kind),
            BracketFix::Delete(at) => {
                into.remove(at);
            }
            BracketFix::Replace(at, kind) => into[at] = kind,
        }
    }

    /// Whether the result may be used. If not, it only shows that there is another reading.
    fn is_safe(self, tokens: &[Token]) -> bool {
        let last = tokens.len() - 1;
        match self {
            // Around everything, it would make one value of two; at the end, it would complete a cut text; next to its other
            // half, it would enclose nothing that was sent. After the objects of a list, the next one may follow, without its
            // brace and cut off.
            BracketFix::Insert(at, kind) => {
                let kind_at = |at: usize| tokens.get(at).map(|token| token.kind);
                let before = at.checked_sub(1).and_then(kind_at);
                let beside = if opens(kind) { kind_at(at) } else { before };
                let holds_something = beside.is_some_and(|beside| {
                    sibling(beside).is_none() || opens(beside) == opens(kind)
                });
                let ends_objects = kind == ']' && before == Some('}') && kind_at(at) == Some(',');
                at > 0 && at <= last && holds_something && !ends_objects
            }
            // What an opening bracket opened may be cut off. A closing one that fits nowhere may be one of the other kind, next
            // to another fault.
            BracketFix::Delete(at) => {
                let kinds: Vec<TokenKind> = tokens[..=at].iter().map(|token| token.kind).collect();
                at < last && !opens(tokens[at].kind) && extent(&kinds) != ValueExtent::Broken
            }
            // In a list of lists, two faults easily make one more level.
            BracketFix::Replace(at, kind) if opens(kind) => {
                let is_member = at > 0 && tokens[at - 1].kind == ':';
                is_member && at < last && sibling(tokens[at + 1].kind).is_none()
            }
            // Without it the text may be cut off.
            BracketFix::Replace(at, _) => {
                let mut without = Vec::new();
                BracketFix::Delete(at).kinds(tokens, &mut without);
                at < last && extent(&without) == ValueExtent::Broken
            }
        }
    }

    /// The fixed text, and the record of the fix: the text around the bracket before and after.
    fn apply(self, text: &str, tokens: &[Token]) -> (String, Edit) {
        const AROUND: usize = 16;
        let (at, length, sign) = match self {
            BracketFix::Insert(at, kind) => {
                let end = tokens.get(at).map_or(text.len(), |token| token.at);
                (end, 0, kind.to_string())
            }
            BracketFix::Delete(at) => (tokens[at].at, tokens[at].length, String::new()),
            BracketFix::Replace(at, kind) => (tokens[at].at, tokens[at].length, kind.to_string()),
        };
        let (front, old, back) = (&text[..at], &text[at..at + length], &text[at + length..]);
        let start = front.char_indices().rev().take(AROUND).last();
        let near_front = &front[start.map_or(at, |(start, _)| start)..];
        let near_back: String = back.chars().take(AROUND).collect();
        let near = |sign: &str| {
            let near = format!("{near_front}{sign}{near_back}");
            near.trim_matches(JSON_BLANK).to_owned()
        };
        let edit = liberties::BRACKET.edit(&Path::root(), &near(old), &near(&sign));
        (format!("{front}{sign}{back}"), edit)
    }
}

/// The fix that makes the tokens one complete value, provided all possible fixes lead to the same value, and no bracket of the
/// other kind makes the text a cut one.
fn only_change(tokens: &[Token]) -> Option<BracketFix> {
    let (missing, extra) = what_could_be_wrong(tokens)?;
    let inserted = missing
        .into_iter()
        .flat_map(|kind| (0..=tokens.len()).map(move |at| BracketFix::Insert(at, kind)));
    let each = tokens.iter().enumerate();
    let deleted = each.clone().filter_map(|(at, token)| {
        let is_extra = Some(token.kind) == extra;
        is_extra.then_some(BracketFix::Delete(at))
    });
    let replaced = each.filter_map(|(at, token)| {
        sibling(token.kind).map(|sibling| BracketFix::Replace(at, sibling))
    });
    let mut found: Option<(BracketFix, Vec<TokenKind>)> = None;
    let mut kinds = Vec::with_capacity(tokens.len() + 1);
    for change in inserted.chain(deleted).chain(replaced) {
        change.kinds(tokens, &mut kinds);
        match extent(&kinds) {
            ValueExtent::Whole => {}
            ValueExtent::CutOff if matches!(change, BracketFix::Replace(..)) => return None,
            ValueExtent::CutOff | ValueExtent::Broken => continue,
        }
        // If the brackets differ, so do the values: nothing else was changed.
        let differs = found.as_ref().is_some_and(|(_, first)| *first != kinds);
        if differs || !change.is_safe(tokens) {
            return None;
        }
        found.get_or_insert_with(|| (change, kinds.clone()));
    }
    found.map(|(change, _)| change)
}

/// Which bracket could be missing and which surplus, judging by counts alone; `None` if no single bracket balances the counts.
/// If neither is named, one is of the other kind.
fn what_could_be_wrong(tokens: &[Token]) -> Option<(Option<TokenKind>, Option<TokenKind>)> {
    let open = |open: TokenKind, close: TokenKind| {
        let each = tokens.iter().map(|token| token.kind);
        each.map(|kind| i32::from(kind == open) - i32::from(kind == close))
            .sum::<i32>()
    };
    match (open('{', '}'), open('[', ']')) {
        (1, 0) => Some((Some('}'), Some('{'))),
        (-1, 0) => Some((Some('{'), Some('}'))),
        (0, 1) => Some((Some(']'), Some('['))),
        (0, -1) => Some((Some('['), Some(']'))),
        (1, -1) | (-1, 1) => Some((None, None)),
        _ => None,
    }
}

#[derive(Debug, PartialEq, Eq)]
enum ValueExtent {
    /// One value with nothing after it.
    Whole,
    /// The beginning of one.
    CutOff,
    Broken,
}

/// How much of a value these tokens form.
fn extent(kinds: &[TokenKind]) -> ValueExtent {
    #[derive(PartialEq)]
    enum Awaited {
        Value,
        FirstItem,
        FirstKey,
        Key,
        Colon,
        Next,
        Nothing,
    }
    use Awaited::{Colon, FirstItem, FirstKey, Key, Next, Nothing, Value};
    let mut open = Vec::new();
    let mut awaited = Value;
    for &kind in kinds {
        awaited = match (awaited, kind) {
            (Value | FirstItem, '{') => {
                open.push('}');
                FirstKey
            }
            (Value | FirstItem, '[') => {
                open.push(']');
                FirstItem
            }
            (FirstKey | Key, TEXT) => Colon,
            (Next, ',') if open.last() == Some(&'}') => Key,
            (Colon, ':') | (Next, ',') => Value,
            (Value | FirstItem, TEXT | SCALAR) => Next,
            (FirstItem | FirstKey | Next, '}' | ']') if open.last() == Some(&kind) => {
                open.pop();
                Next
            }
            _ => return ValueExtent::Broken,
        };
        if open.is_empty() {
            awaited = Nothing;
        }
    }
    if awaited == Nothing {
        ValueExtent::Whole
    } else {
        ValueExtent::CutOff
    }
}
