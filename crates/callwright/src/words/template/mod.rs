//! What chat templates leave around a call, by shape: one table for repair and rescue.
//!
//! Takes the text beside a call and says, piece by piece, what of it is debris: fences, tags and control tokens in any
//! spelling, closed or not; labels and headers; the name of the called tool; signs; blanks. The proof is that nothing in it
//! could be a key, a value, another name or a sentence. It fails closed: a word that is not part of a template may say
//! something, and so may many signs (`❌`, `//`, `…`, a comma after which more was to come).

mod marks;
mod names;

use marks::{Mark, mark, rest_of_mark};
use names::{is_label, is_last_label, may_begin_label};

pub(crate) use names::{is_language, is_token_name};

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
                is_in_tag = passed.starts_with('<');
                found.has_mark |= is_in_tag;
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
    let sign = text.chars().next().filter(|c| matches!(c, '`' | '~'))?;
    let after = text.trim_start_matches(sign);
    let run = text.len() - after.len();
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
        Some(sign @ ('`' | '~')) => {
            let language = text.trim_start_matches(sign);
            !language.contains(|c: char| !(c.is_alphanumeric() || matches!(c, '_' | '-' | '+')))
        }
        Some(first) if first.is_alphabetic() || matches!(first, '_' | '#') => {
            let (line, mark) = text.split_at(text.find('<').unwrap_or(text.len()));
            let may_be = |word: &str| {
                let own = || OWN_WORDS.iter().chain(&["analysis"]);
                own().any(|own| own.starts_with(word))
                    || "to=functions.".starts_with(word)
                    || may_begin_label(word)
                    || begins_tool(word)
            };
            is_open(mark) && !line.contains('\n') && line.split_whitespace().all(may_be)
        }
        Some(_) => false,
    }
}

/// The words of a header: the role of the model itself, channels and kinds of content.
const OWN_WORDS: [&str; 7] = [
    "assistant",
    "model",
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
        let is_token = mark(rest, false).is_some_and(|mark| mark.is_token);
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
        && (found.is_token || found.ends_message)
        && open + found.length == text.len()
    {
        text = text[..open].trim_ascii_end();
    }
    text
}

/// The tags around reasoning.
pub(crate) const REASONING: [(&str, &str); 7] = [
    ("<think>", "</think>"),
    ("<thinking>", "</thinking>"),
    ("<thought>", "</thought>"),
    ("<reasoning>", "</reasoning>"),
    ("<seed:think>", "</seed:think>"),
    ("[THINK]", "[/THINK]"),
    ("<|START_THINKING|>", "<|END_THINKING|>"),
];

/// Where a block of reasoning at the beginning of a text ends; nowhere if that is not certain, because one of its tags
/// occurs again, or because it ends in the middle.
fn reasoning_end(text: &str) -> Option<usize> {
    let (open, close) = REASONING.iter().find(|(open, _)| text.starts_with(open))?;
    let (reasoning, after) = text.split_once(close)?;
    let is_repeated =
        after.contains(close) || after.contains(open) || reasoning[open.len()..].contains(open);
    (!is_repeated && is_finished(reasoning)).then_some(reasoning.len() + close.len())
}

/// Where a text begins after its header and a block of reasoning, if it is certain where that ends; at its beginning if it
/// has none.
pub(crate) fn after_reasoning(text: &str) -> Option<usize> {
    let header = header_length(text);
    let start = text.len() - text[header..].trim_ascii_start().len();
    let is_opened = REASONING
        .iter()
        .any(|(open, _)| text[start..].starts_with(open));
    if is_opened {
        Some(start + reasoning_end(&text[start..])?)
    } else {
        Some(0)
    }
}

/// Whether reasoning ends by itself. After an opening quotation mark or a colon, the tag that seems to
/// end it may be what it quotes.
pub(crate) fn is_finished(reasoning: &str) -> bool {
    let open = |c: char| "\"'`“‘„«‹([{<:".contains(c);
    !reasoning.trim_end().ends_with(open)
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
        let is_blank = |c: char| c.is_whitespace() || c == '\u{feff}';
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
        if let Some(mark) = mark(rest, self.around.side == Side::After) {
            let Mark { length, tool, .. } = mark;
            // What follows is another message.
            let is_other = self.around.is_message && self.around.side == Side::Between;
            return match tool {
                _ if is_other && mark.ends_message => None,
                None => Some((Piece::Mark, length)),
                Some(tool) if (self.around.is_tool)(tool) => Some((Piece::Tool(tool), length)),
                Some(_) => None,
            };
        }
        if first.is_alphanumeric() || matches!(first, '_' | '#') {
            let words = self.header().or_else(|| self.label());
            return words.or_else(|| self.tool());
        }
        self.sign(first).map(|length| (Piece::Sign, length))
    }

    /// The words that a template puts next to its tokens: the role of the model itself, channels, kinds of content, and the
    /// tool: `<|im_start|>assistant`, `<|channel|>commentary to=functions.search `. Any other role speaks for another.
    fn header(&self) -> Option<(Piece<'t>, usize)> {
        let rest = beginning(self.rest());
        let length = rest.find(['<', '\n', '{', '`', '[']).unwrap_or(rest.len());
        let after_mark = matches!(self.last, Some((Piece::Mark | Piece::Tool(_), false)));
        let before_header = || mark(&rest[length..], false).is_some_and(|mark| mark.is_header);
        if !after_mark && !before_header() {
            return None;
        }
        let (mut tool, mut is_reasoning) = (None, false);
        for word in rest[..length].split_whitespace() {
            match self.named(word) {
                _ if OWN_WORDS.contains(&word) => {}
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
        (is_line && is_label(label)).then_some((Piece::Label, length))
    }

    /// The name of the tool on its own line, before a parenthesis or after a label or a mark. A name that is one plain word
    /// may be a word of a sentence.
    fn tool(&self) -> Option<(Piece<'t>, usize)> {
        if self.around.side == Side::After {
            return None;
        }
        let rest = beginning(self.rest());
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
        if (self.around.is_tool)(word) {
            return Some(word);
        }
        let bare = ["functions.", "function.", "tools."]
            .iter()
            .find_map(|space| word.strip_prefix(space))
            .unwrap_or(word);
        let bare = match bare.rsplit_once(':') {
            Some((name, number)) if number.bytes().all(|c| c.is_ascii_digit()) => name,
            _ => bare,
        };
        (self.around.is_tool)(bare).then_some(bare)
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
