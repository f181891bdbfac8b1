//! What chat templates leave around a call, by shape: one table for repair and rescue.
//!
//! Takes the text beside a call and says, piece by piece, what of it is debris: fences, tags and control tokens in any
//! spelling, closed or not; labels and headers; the name of the called tool; signs; blanks. The proof is that nothing in it
//! could be a key, a value, another name or a sentence. It fails closed: a word that is not part of a template may say
//! something, and so may many signs (`❌`, `//`, `…`, a comma after which more was to come).

mod marks;
mod names;
mod reasoning;

use marks::{Kind, Mark, mark, rest_of_mark};
use names::{is_label, is_last_label, may_begin_label, may_begin_name};

pub(crate) use names::{is_language, is_token_name};
pub(crate) use reasoning::{after_closing_tag, after_reasoning, is_finished, reasoning_tags};

/// On which side of a call a text is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Side {
    Before,
    Between,
    After,
}

/// What is known about a text beside a call.
#[derive(Clone, Copy)]
pub(crate) struct Around<'a> {
    pub(crate) side: Side,
    /// Whether it is part of a message to people. There signs and backticks show what is between them.
    pub(crate) is_message: bool,
    /// Whether this is the name of a tool that may be called here.
    pub(crate) is_tool: &'a dyn Fn(&str) -> bool,
    /// Whether a tool that may be called here has this parameter: then a tag of that name may hold its value.
    pub(crate) is_key: &'a dyn Fn(&str) -> bool,
}

/// One piece of debris.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Piece<'t> {
    /// White space, also as an escape: `\n`.
    Blank,
    Fence,
    /// A tag, a token or a marker, and what belongs to it.
    Mark,
    /// `Action Input:`
    Label,
    /// The name of a tool.
    Tool(&'t str),
    /// Signs that say nothing.
    Sign,
}

/// What the debris of a text consists of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Debris<'t> {
    pub(crate) has_fence: bool,
    pub(crate) has_mark: bool,
    pub(crate) has_sign: bool,
    /// The only tool that is named in it.
    pub(crate) tool: Option<&'t str>,
}

/// What a text consists of, if that is debris from its beginning to its end.
pub(crate) fn debris<'t>(text: &'t str, around: &Around<'_>) -> Option<Debris<'t>> {
    let (debris, end) = leading_debris(text, around);
    (end == text.len()).then_some(debris)
}

/// The debris at the beginning of a text, and where it ends.
pub(crate) fn leading_debris<'t>(text: &'t str, around: &Around<'_>) -> (Debris<'t>, usize) {
    let mut found = Debris::default();
    let mut reader = Reader {
        text,
        at: 0,
        last: None,
        around,
    };
    let mut is_in_tag = false;
    for _ in 0..MOST_PIECES {
        let from = reader.at;
        let Some(piece) = reader.next_piece() else {
            return (found, reader.at);
        };
        let passed = &text[from..reader.at];
        match piece {
            Piece::Blank => {}
            // `<function=search></function>` is a call without arguments: what follows is not its own.
            Piece::Mark if is_in_tag && passed.starts_with("</") => return (Debris::default(), 0),
            Piece::Fence => found.has_fence = true,
            Piece::Mark | Piece::Label => found.has_mark = true,
            Piece::Sign => found.has_sign = true,
            Piece::Tool(tool) if found.tool.is_none_or(|other| other == tool) => {
                found.tool = Some(tool);
                is_in_tag = passed.starts_with('<') && !passed.contains("</");
                // A name in a namespace is written for a call and nothing else.
                let is_spaced = || NAMESPACES.iter().any(|space| passed.contains(space));
                found.has_mark |= passed.starts_with(['<', '[']) || is_spaced();
                found.has_fence |= passed.starts_with('`');
            }
            // Two tools: it is not known which one is called.
            Piece::Tool(_) => return (Debris::default(), 0),
        }
    }
    (Debris::default(), 0)
}

/// How many pieces debris may have. The longest header with a tool has some twenty; runaways repeat a token for ever.
const MOST_PIECES: usize = 256;

/// Where the mark or the fence ends that is at this place of a text, if there is one.
pub(crate) fn mark_end(text: &str, at: usize) -> Option<usize> {
    let rest = &text[at..];
    let length = mark(rest, false).map(|mark| mark.length);
    length
        .or_else(|| fence(rest, true))
        .map(|length| at + length)
}

/// A fence with the language of its content, or backticks. In a message a longer fence shows a shorter one, and a single
/// backtick shows what is after it.
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

/// Whether a text of which more may come can turn out to begin with debris before a call in a message. `begins_tool` says
/// whether a word begins the name of a tool.
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

/// Characters that are not seen and say nothing: of no width, of the order of writing, the mark of a byte order, zero bytes.
fn is_invisible(c: char) -> bool {
    matches!(
        c,
        '\u{200b}'..='\u{200f}' | '\u{2060}' | '\u{feff}' | '\u{ad}' | '\0'
    )
}

/// Whether a text of which more may come can turn out to begin with a name between rows of a sign.
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

/// The words of a header: the role of the model itself, channels and kinds of content.
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

/// Every word that debris may consist of, beside the names of tools.
pub(crate) fn words() -> impl Iterator<Item = &'static str> {
    let headers = OWN_WORDS.into_iter().chain(["analysis", "to"]);
    names::all_words().chain(headers)
}

/// What templates put before the name of a tool.
pub(crate) const NAMESPACES: [&str; 6] = [
    "functions.",
    "function.",
    "tools.",
    "tool.",
    "default_api.",
    "api.",
];

/// What models put around a call in Python.
const PRINT: &str = "print(";

/// Whether a word is one of a header, also where the tokens between two of them are lost: `assistantcommentary`.
fn is_role(word: &str) -> bool {
    let lower = word.to_lowercase();
    let own = |word: &str| OWN_WORDS.contains(&word);
    own(&lower) || lower.strip_prefix("assistant").is_some_and(own)
}

/// Whether a word is one that a template puts beside a call: a role, a channel, a kind of message.
pub(crate) fn is_own_word(word: &str) -> bool {
    OWN_WORDS.contains(&word.to_lowercase().as_str())
        || is_label(word)
        || is_label(&format!("{word}:"))
}

/// How far a line is looked at for a label, a header or a name. The longest header names a tool, whose name has up to 128
/// letters.
const LOOK_AHEAD: usize = 256;

/// The beginning of a text, as far as it is looked at.
fn beginning(text: &str) -> &str {
    let mut end = text.len().min(LOOK_AHEAD);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[..end]
}

/// How long the header of a message is: tokens and the role of the model itself.
pub(crate) fn header_length(text: &str) -> usize {
    let around = Around {
        side: Side::Before,
        is_message: true,
        is_tool: &|_| false,
        is_key: &|_| false,
    };
    let mut reader = Reader {
        text,
        at: 0,
        last: None,
        around: &around,
    };
    let mut length = 0;
    for _ in 0..MOST_PIECES {
        let rest = reader.rest();
        let is_token = mark(rest, false).is_some_and(|mark| mark.kind == Kind::Token);
        let is_part = is_token || rest.starts_with(char::is_alphabetic);
        match reader.next_piece() {
            Some(Piece::Mark) if is_part => length = reader.at,
            Some(Piece::Blank) => {}
            _ => break,
        }
    }
    length
}

/// A text without the tokens that end a message.
pub(crate) fn without_last_tokens(text: &str) -> &str {
    let mut text = text.trim_ascii_end();
    while let Some(open) = text.rfind('<').filter(|_| text.ends_with('>'))
        && let Some(found) = mark(&text[open..], false)
        && (found.kind == Kind::Token || found.ends_message)
        && open + found.length == text.len()
    {
        text = text[..open].trim_ascii_end();
    }
    text
}

/// Goes through a text from piece to piece.
struct Reader<'t, 'a> {
    text: &'t str,
    at: usize,
    /// The piece before this place, blanks aside, and whether the line it is on has ended.
    last: Option<(Piece<'t>, bool)>,
    around: &'a Around<'a>,
}

impl<'t> Reader<'t, '_> {
    fn rest(&self) -> &'t str {
        &self.text[self.at..]
    }

    fn next_piece(&mut self) -> Option<Piece<'t>> {
        let (piece, length) = self.piece()?;
        let passed = &self.text[self.at..self.at + length];
        self.at += length;
        match (&mut self.last, piece) {
            (Some((_, is_ended)), Piece::Blank) => *is_ended |= passed.contains('\n'),
            (None, Piece::Blank) => {}
            (last, piece) => *last = Some((piece, passed.ends_with('\n'))),
        }
        Some(piece)
    }

    /// The piece that is here, and how long it is.
    fn piece(&self) -> Option<(Piece<'t>, usize)> {
        let rest = self.rest();
        let first = rest.chars().next()?;
        let is_blank = |c: char| c.is_whitespace() || is_invisible(c);
        if is_blank(first) {
            let length = rest.len() - rest.trim_start_matches(is_blank).len();
            return Some((Piece::Blank, length));
        }
        if let Some(length) = fence(rest, self.around.is_message) {
            return Some((Piece::Fence, length));
        }
        let is_first = self.last.is_none() && self.around.side != Side::Between;
        if let Some(length) = rest_of_mark(rest).filter(|_| is_first && !self.around.is_message) {
            return Some((Piece::Mark, length));
        }
        if let Some(length) = reasoning::closing_tag(rest).filter(|_| self.is_at_start()) {
            return Some((Piece::Mark, length));
        }
        if let Some(mark) = mark(rest, self.around.side == Side::After) {
            let Mark { length, tool, .. } = mark;
            // What follows is another message.
            let is_other = self.around.is_message && self.around.side == Side::Between;
            let is_key = || mark.kind != Kind::Token && (self.around.is_key)(mark.name);
            return match tool {
                _ if is_other && mark.ends_message => None,
                _ if mark.kind == Kind::Shown && self.around.is_message || is_key() => None,
                None => Some((Piece::Mark, length)),
                Some(tool) if self.is_tool(tool) => Some((Piece::Tool(tool), length)),
                Some(_) => None,
            };
        }
        if let Some(length) = self.tool_tag() {
            return Some(length);
        }
        if first.is_alphanumeric() || matches!(first, '_' | '#') {
            let words = self.header().or_else(|| self.label());
            return words.or_else(|| self.tool());
        }
        self.sign(first).map(|length| (Piece::Sign, length))
    }

    /// Whether there is nothing before this place but the header of a message.
    fn is_at_start(&self) -> bool {
        self.around.side == Side::Before && matches!(self.last, None | Some((Piece::Mark, _)))
    }

    /// A tag that is named as a tool: `<search>{…}</search>`. After a call it only closes.
    fn tool_tag(&self) -> Option<(Piece<'t>, usize)> {
        let rest = beginning(self.rest());
        let (open, close) = match rest.as_bytes().first()? {
            b'<' => ("<", '>'),
            b'[' => ("[", ']'),
            b'`' => {
                let language = rest.strip_prefix("```")?;
                let name = &language[..language.find('\n')?];
                let tool = self.named(name.strip_prefix("tool:").unwrap_or(name).trim())?;
                return Some((Piece::Tool(tool), "```".len() + name.len()));
            }
            _ => return None,
        };
        let end = rest.find(close)?;
        if let Some(found) = self.tool_between_tags(rest, end) {
            return Some(found);
        }
        let inside = rest[open.len()..end].trim_matches('|');
        let (name, is_closing) = match inside.strip_prefix('/') {
            Some(name) => (name, true),
            None => (inside, false),
        };
        let kinds = ["tool:", "call:", "function:"];
        let name = kinds
            .iter()
            .find_map(|kind| name.strip_prefix(kind))
            .unwrap_or(name);
        let is_tool = (self.around.is_tool)(name) && !(self.around.is_key)(name);
        let piece = match self.around.side {
            _ if !is_tool => return None,
            Side::Before if !is_closing => Piece::Tool(name),
            Side::After | Side::Between if is_closing => Piece::Mark,
            _ => return None,
        };
        Some((piece, end + 1))
    }

    /// The name of the tool alone in a tag: `<name>search</name>`.
    fn tool_between_tags(&self, rest: &'t str, end: usize) -> Option<(Piece<'t>, usize)> {
        let tag = rest[..end].strip_prefix('<')?;
        let after = &rest[end + 1..];
        let stop = after.find("</")?;
        let is_closed = after[stop + "</".len()..]
            .strip_prefix(tag)?
            .starts_with('>');
        let tool = after[..stop].trim();
        let is_name = matches!(
            tag,
            "name" | "tool" | "tool_name" | "function" | "function_name"
        );
        (is_closed && is_name && !(self.around.is_key)(tag) && self.is_tool(tool)).then_some((
            Piece::Tool(tool),
            end + 1 + stop + "</".len() + tag.len() + 1,
        ))
    }

    /// The words that a template puts next to its tokens: the role of the model itself, channels, kinds of content, and the
    /// tool: `<|im_start|>assistant`, `<|channel|>commentary to=functions.search `. Any other role speaks for another.
    fn header(&self) -> Option<(Piece<'t>, usize)> {
        let rest = beginning(self.rest());
        let length = rest.find(['<', '\n', '{', '`', '[']).unwrap_or(rest.len());
        let after_mark = matches!(self.last, Some((Piece::Mark | Piece::Tool(_), false)));
        let before_header = || mark(&rest[length..], false).is_some_and(|mark| mark.is_header);
        // Without their tokens, the words of a header say where it goes: `commentary to=functions.search json`.
        let is_addressed = self.last.is_none() && rest[..length].contains("to=functions.");
        if !after_mark && !before_header() && !is_addressed {
            return None;
        }
        let (mut tool, mut is_reasoning) = (None, false);
        // A role or a kind of message: `tool_call`, `function call`.
        if is_label(&rest[..length]) && !rest[..length].contains([':', '=']) {
            return Some((Piece::Mark, length));
        }
        for word in rest[..length].split_whitespace() {
            match self.named(word) {
                _ if is_role(word) => {}
                // Some models call tools out of their reasoning.
                _ if word == "analysis" => is_reasoning = true,
                Some(name) if tool.is_none() => tool = Some(name),
                _ => return None,
            }
        }
        if is_reasoning && tool.is_none() {
            return None;
        }
        Some((tool.map_or(Piece::Mark, Piece::Tool), length))
    }

    /// A line, or its beginning, that says only that a call follows, also as a heading; or that its result does.
    fn label(&self) -> Option<(Piece<'t>, usize)> {
        let rest = beginning(self.rest());
        let is_line = self
            .last
            .is_none_or(|(last, is_ended)| is_ended || last != Piece::Label);
        if self.around.side == Side::After {
            return is_last_label(rest).then_some((Piece::Label, rest.len()));
        }
        let stop = rest.find(['\n', '<', '{', '`', '[']).unwrap_or(rest.len());
        let line = &rest[..stop];
        let heading = line.trim_start_matches('#').trim_start();
        let is_whole_line = rest[stop..].starts_with(['\n', '[', '{']) || stop == rest.len();
        let length = match heading.find([':', '=']) {
            Some(colon) => line.len() - heading.len() + colon + 1,
            None if is_whole_line => stop,
            None => return None,
        };
        let label = &line[line.len() - heading.len()..length];
        let is_heading = || heading.len() < line.len() && is_label(&format!("{label}:"));
        (is_line && (is_label(label) || is_heading())).then_some((Piece::Label, length))
    }

    /// The name of the tool on its own line, before a parenthesis or after a label or a mark. A name that is one plain word
    /// may be a word of a sentence.
    fn tool(&self) -> Option<(Piece<'t>, usize)> {
        if self.around.side == Side::After {
            return None;
        }
        let rest = beginning(self.rest());
        if rest.starts_with(PRINT) {
            return Some((Piece::Label, PRINT.len()));
        }
        let stop = rest
            .find(|c: char| c.is_whitespace() || matches!(c, '(' | '<' | '{' | '[' | '`'))
            .unwrap_or(rest.len());
        let name = self.named(rest[..stop].trim_end_matches([':', '=']))?;
        let after = &rest[stop..];
        let is_called = after.starts_with('(');
        let follows = self
            .last
            .is_some_and(|(last, _)| !matches!(last, Piece::Sign));
        let is_plain = name.chars().all(char::is_lowercase);
        let ends = after.trim_start_matches([' ', '\t']);
        let is_alone = is_called || ends.is_empty() || ends.starts_with(['\n', '<', '[', '`', '{']);
        let length = stop + usize::from(is_called);
        (is_alone && (is_called || follows || !is_plain)).then_some((Piece::Tool(name), length))
    }

    /// The tool that a word names: also with what templates put before it and after it.
    fn named(&self, word: &'t str) -> Option<&'t str> {
        let word = word.strip_prefix("to=").unwrap_or(word);
        if self.is_tool(word) {
            return Some(word);
        }
        let bare = NAMESPACES
            .iter()
            .find_map(|space| word.strip_prefix(space))
            .unwrap_or(word);
        let bare = match bare.rsplit_once(':') {
            Some((name, number)) if number.bytes().all(|c| c.is_ascii_digit()) => name,
            _ => bare,
        };
        self.is_tool(bare).then_some(bare)
    }

    /// Whether this names a tool that is called here. A name after a call begins another one.
    fn is_tool(&self, name: &str) -> bool {
        self.around.side != Side::After && (self.around.is_tool)(name)
    }

    /// Signs that say nothing. Others comment out (`//`, `#`), strike out, quote, ask, leave out (`…`) or go on (`,`), and
    /// next to a bracket they may mark a placeholder (`${…}`).
    fn sign(&self, first: char) -> Option<usize> {
        let rest = self.rest();
        let is_after = self.around.side == Side::After;
        let length = rest.len() - rest.trim_start_matches(first).len();
        let run = length / first.len_utf8();
        let escaped = rest
            .strip_prefix('\\')
            .and_then(|after| after.strip_prefix(['n', 't', 'r']))
            .filter(|after| !after.starts_with(char::is_alphanumeric));
        if escaped.is_some() && !self.around.is_message {
            return Some("\\n".len());
        }
        let says_nothing = match first {
            '}' | ']' => is_after,
            ':' if self.around.is_message => {
                let follows = matches!(self.last, Some((Piece::Mark, false)));
                run == 1 && follows && self.around.side == Side::Before
            }
            // Any other shows a call in a message.
            _ if self.around.is_message => false,
            ')' | ';' | '|' | '｜' | '\\' | '*' | '_' => true,
            // `> {` is a quotation, `>>>name` is not.
            '>' => {
                let after = &rest[length..];
                is_after
                    || run >= 3 && !after.starts_with(' ')
                    || after.is_empty()
                    || after.starts_with('\n')
            }
            '/' | '.' | '。' => is_after && run == 1,
            ':' => !is_after && run == 1,
            '=' => run >= 3 || !is_after,
            '-' => run >= 3,
            _ => false,
        };
        says_nothing.then_some(length)
    }
}
