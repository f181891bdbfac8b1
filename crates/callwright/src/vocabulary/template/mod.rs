//! What chat templates leave around a call, recognised by shape: one table for repair and rescue.
//!
//! Takes the text next to a call and determines, piece by piece, what of it is debris: fences, tags and control tokens in any
//! spelling, closed or not; labels and headers; the name of the called tool; punctuation; blanks. The criterion is that nothing
//! in it could be a key, a value, another name or a sentence. It fails closed: a word that is not part of a template may mean
//! something, and so may much punctuation (`❌`, `//`, `…`, a comma after which more was to come).

mod marks;
mod names;
mod pieces;
mod reasoning;
mod strings;

pub(crate) use marks::is_bar;
use marks::{MarkKind, mark};
use names::{is_label, may_begin_label, may_begin_name};

use std::borrow::Cow;

use crate::text::first_bytes;
use pieces::PieceReader;

pub(crate) use names::{is_language, is_maker};
pub(crate) use reasoning::{
    after_closing_tag, after_reasoning, is_finished, reasoning_name, reasoning_tags,
};
pub(crate) use strings::{holds_token, object_length, string_token};

/// The side of a call that a text is on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CallSide {
    Before,
    Between,
    After,
}

/// What is known about a text next to a call.
#[derive(Clone, Copy)]
pub(crate) struct DebrisContext<'a> {
    pub(crate) side: CallSide,
    /// Whether it is part of a message to people. There punctuation and backticks display what is between them.
    pub(crate) is_message: bool,
    /// Whether this is the name of a tool that may be called here.
    pub(crate) is_tool: &'a dyn Fn(&str) -> bool,
    /// Whether a tool that may be called here has this parameter, in any spelling: then a tag or a label of that name may hold
    /// its value.
    pub(crate) is_key: &'a dyn Fn(&str) -> bool,
}

/// One piece of debris.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum DebrisPiece<'t> {
    /// White space, also as an escape: `\n`.
    Blank,
    Fence,
    /// A tag, a token or a marker, and what belongs to it.
    Mark,
    /// `Action Input:`
    Label,
    /// The name of a tool.
    Tool(&'t str),
    /// Punctuation that means nothing.
    Sign,
}

/// The debris of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Debris<'t> {
    pub(crate) has_fence: bool,
    pub(crate) has_mark: bool,
    pub(crate) has_sign: bool,
    /// The only tool that it names.
    pub(crate) tool: Option<&'t str>,
}

/// The pieces of a text, if it is debris from start to end.
pub(crate) fn debris<'t>(text: &'t str, around: &DebrisContext<'_>) -> Option<Debris<'t>> {
    let (debris, end) = leading_debris(text, around);
    (end == text.len()).then_some(debris)
}

/// The debris at the start of a text, and where it ends.
pub(crate) fn leading_debris<'t>(text: &'t str, around: &DebrisContext<'_>) -> (Debris<'t>, usize) {
    let mut found = Debris::default();
    let mut reader = PieceReader::new(text, around);
    let mut is_in_tag = false;
    for _ in 0..MOST_PIECES {
        let from = reader.at;
        let Some(piece) = reader.next_piece() else {
            return (found, reader.at);
        };
        let passed = &text[from..reader.at];
        match piece {
            DebrisPiece::Blank => {}
            // `<function=search></function>` is a call without arguments: what follows does not belong to it.
            DebrisPiece::Mark if is_in_tag && passed.starts_with("</") => {
                return (Debris::default(), 0);
            }
            DebrisPiece::Fence => found.has_fence = true,
            DebrisPiece::Mark | DebrisPiece::Label => found.has_mark = true,
            DebrisPiece::Sign => found.has_sign = true,
            DebrisPiece::Tool(tool) if found.tool.is_none_or(|other| other == tool) => {
                found.tool = Some(tool);
                is_in_tag = passed.starts_with('<') && !passed.contains("</");
                // A name in a namespace is only written for a call.
                let is_spaced = || NAMESPACES.iter().any(|space| passed.contains(space));
                found.has_mark |= passed.starts_with(['<', '[']) || is_spaced();
                found.has_fence |= passed.starts_with('`');
            }
            // Two tools: it is unknown which one is called.
            DebrisPiece::Tool(_) => return (Debris::default(), 0),
        }
    }
    (Debris::default(), 0)
}

/// How many pieces debris may have. The longest header with a tool has about twenty; runaways repeat a token for ever.
const MOST_PIECES: usize = 256;

/// Where the mark or the fence at this position of a text ends, if there is one.
pub(crate) fn mark_end(text: &str, at: usize) -> Option<usize> {
    let rest = &text[at..];
    let length = mark(rest, false).map(|mark| mark.length);
    length
        .or_else(|| fence(rest, true))
        .map(|length| at + length)
}

/// A fence with the language of its content, or backticks. In a message a longer fence displays a shorter one, and a single
/// backtick displays what follows it.
fn fence(text: &str, is_message: bool) -> Option<usize> {
    let sign = text
        .chars()
        .next()
        .filter(|c| matches!(c, '`' | '~' | '\'' | '"'))?;
    let after = text.trim_start_matches(sign);
    let run = text.len() - after.len();
    // Python has fences of three quotes.
    if matches!(sign, '\'' | '"') && (run != 3 || is_message) {
        return None;
    }
    if run < 3 && sign == '~' || run != 3 && is_message {
        return None;
    }
    if run < 3 {
        return Some(run);
    }
    let is_part = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '+');
    let language = after.find(|c| !is_part(c)).unwrap_or(after.len());
    is_language(&after[..language]).then_some(run + language)
}

/// Whether a text that is still growing can turn out to start with debris before a call in a message. `begins_tool` tells
/// whether a word starts the name of a tool.
pub(crate) fn may_become_debris(text: &str, begins_tool: &dyn Fn(&str) -> bool) -> bool {
    if text.len() >= LOOK_AHEAD {
        return false;
    }
    let is_open = |text: &str| !text.contains(['>', ']', '\n', '{']);
    match text.chars().next() {
        None => true,
        Some('<') => is_open(text),
        Some('[') => is_open(text) && !text.contains(['"', '\'']),
        Some('◁') => !text.contains('▷'),
        Some(sign) if may_become_ruled(text, sign) => true,
        Some(sign @ ('`' | '~')) => {
            let language = text.trim_start_matches(sign);
            !language.contains(|c: char| !(c.is_alphanumeric() || matches!(c, '_' | '-' | '+')))
        }
        Some(first) if first.is_alphabetic() || matches!(first, '_' | '#') => {
            let (line, mark) = text.split_at(text.find('<').unwrap_or(text.len()));
            let may_be = |word: &str| {
                let own = || OWN_WORDS.iter().chain(&["analysis"]);
                let word = word.strip_prefix(PRINT).unwrap_or(word);
                let joined = word.strip_prefix("assistant").unwrap_or(word);
                own().any(|own| own.starts_with(word) || own.starts_with(joined))
                    || "to=functions.".starts_with(word)
                    || PRINT.starts_with(word)
                    || NAMESPACES.iter().any(|space| space.starts_with(word))
                    || may_begin_label(word)
                    || begins_tool(word)
            };
            is_open(mark) && !line.contains('\n') && line.split_whitespace().all(may_be)
        }
        Some(_) => false,
    }
}

/// The length of the tag, token or marker at the start of a text, if it names no tool and displays nothing.
pub(crate) fn plain_mark(text: &str) -> Option<usize> {
    let found = mark(text, false)?;
    (found.tool.is_none() && found.kind != MarkKind::Shown).then_some(found.length)
}

/// A text without characters that are invisible and mean nothing.
pub(crate) fn without_invisible(text: &str) -> Cow<'_, str> {
    if text.contains(is_invisible) {
        text.replace(is_invisible, "").into()
    } else {
        text.into()
    }
}

/// Characters that are invisible and mean nothing: zero width, writing direction, byte order marks, zero bytes.
fn is_invisible(c: char) -> bool {
    matches!(
        c,
        '\u{200b}'..='\u{200f}' | '\u{2060}' | '\u{feff}' | '\u{ad}' | '\0'
    )
}

/// Whether a text that is still growing can turn out to start with a name between rows of one character.
fn may_become_ruled(text: &str, sign: char) -> bool {
    let inside = text.trim_start_matches(sign);
    let run = (text.len() - inside.len()) / sign.len_utf8();
    let fewest = match sign {
        '-' | '=' | '#' | '*' | '_' | '+' if !inside.is_empty() => 2,
        '-' | '=' | '#' | '*' | '_' | '+' | '(' | '@' | '%' | '§' | '✿' => 1,
        _ => return false,
    };
    let name = inside.trim_end_matches([sign, ')', ':']);
    run >= fewest && !name.contains('\n') && name.split_whitespace().all(may_begin_name)
}

/// The words of a header: the role of the model itself, channels and content types.
const OWN_WORDS: [&str; 10] = [
    "ai",
    "assistant",
    "bot",
    "model",
    "tools",
    "commentary",
    "json",
    "code",
    "function",
    "functions",
];

/// Every word that debris may contain, besides the names of tools.
pub(crate) fn words() -> impl Iterator<Item = &'static str> {
    let headers = OWN_WORDS.into_iter().chain(["to"]);
    let around_names = NAMESPACES.into_iter().chain([PRINT]);
    names::all_words()
        .chain(reasoning::words())
        .chain(headers)
        .chain(around_names)
}

/// What templates put before the name of a tool.
pub(crate) const NAMESPACES: [&str; 9] = [
    "functions.",
    "function.",
    "tools.",
    "tool.",
    "default_api.",
    "api.",
    "call:default_api:",
    "default_api:",
    "call:",
];

/// A tool's name without what templates, providers and clients put in front of it, and without the number of the call in the
/// conversation, which Kimi writes after it: `functions.bash:0`; `None` if nothing is in front. Alone, the number may be an
/// argument: `delete_row:5`.
pub(crate) fn without_namespace(name: &str) -> Option<&str> {
    let mut spaces = NAMESPACES.iter();
    let bare = spaces.find_map(|space| name.strip_prefix(space))?;
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|c| c.is_ascii_digit());
    let numbered = bare.rsplit_once(':').filter(|(_, end)| is_number(end));
    Some(numbered.map_or(bare, |(name, _)| name))
}

/// What models put around a call in Python.
const PRINT: &str = "print(";

/// Whether a word belongs to a header, even if the tokens between two of them are lost: `assistantcommentary`.
fn is_role(word: &str) -> bool {
    let lower = word.to_lowercase();
    let own = |word: &str| OWN_WORDS.contains(&word);
    own(&lower) || lower.strip_prefix("assistant").is_some_and(own)
}

/// Whether a word is one that a template puts next to a call: a role, a channel, a message type.
pub(crate) fn is_own_word(word: &str) -> bool {
    OWN_WORDS.contains(&word.to_lowercase().as_str())
        || is_label(word)
        || is_label(&format!("{word}:"))
}

/// How far a line is searched for a label, a header or a name. The longest header names a tool, whose name has up to 128
/// letters.
const LOOK_AHEAD: usize = 256;

/// The beginning of a text that is searched.
fn beginning(text: &str) -> &str {
    first_bytes(text, LOOK_AHEAD)
}

/// The length of a message's header: tokens and the role of the model itself.
pub(crate) fn header_length(text: &str) -> usize {
    let around = DebrisContext {
        side: CallSide::Before,
        is_message: true,
        is_tool: &|_| false,
        is_key: &|_| false,
    };
    let mut reader = PieceReader::new(text, &around);
    let mut length = 0;
    for _ in 0..MOST_PIECES {
        let rest = reader.rest();
        if reasoning_tags(rest).is_some() {
            break;
        }
        let is_token = mark(rest, false).is_some_and(|mark| mark.kind == MarkKind::Token);
        let is_part = is_token || rest.starts_with(char::is_alphabetic);
        match reader.next_piece() {
            Some(DebrisPiece::Mark) if is_part => length = reader.at,
            Some(DebrisPiece::Blank) => {}
            _ => break,
        }
    }
    length
}

/// A text without the tokens that end a message. A closing tag ends a call.
pub(crate) fn without_last_tokens(text: &str) -> &str {
    let mut text = text.trim_ascii_end();
    while let Some(open) = text.rfind('<').filter(|_| text.ends_with('>'))
        && let Some(found) = mark(&text[open..], false)
        && (found.ends_message || found.kind == MarkKind::Token && !text[open..].starts_with("</"))
        && open + found.length == text.len()
    {
        text = text[..open].trim_ascii_end();
    }
    text
}
