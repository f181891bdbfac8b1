//! Splits the text next to a call into pieces of debris.
//!
//! Takes the text and what is known about it; returns each piece of debris with its end, and stops at the first place that may
//! mean something.

use super::marks::{Mark, MarkKind, mark, rest_of_mark};
use super::names::{is_label, is_last_label};
use super::{
    CallSide, DebrisContext, DebrisPiece, PRINT, beginning, fence, is_invisible, is_role,
    reasoning, without_namespace,
};
use crate::vocabulary::envelope::NAMES;

/// The label of arguments in the notation of `ReAct`, whatever the tool's parameters are.
const REACT: &str = "action input";

/// Walks through a text piece by piece.
pub(super) struct PieceReader<'t, 'a> {
    text: &'t str,
    pub(super) at: usize,
    /// The last piece, ignoring blanks, and whether its line has ended.
    last: Option<(DebrisPiece<'t>, bool)>,
    around: &'a DebrisContext<'a>,
}

impl<'t, 'a> PieceReader<'t, 'a> {
    pub(super) fn new(text: &'t str, around: &'a DebrisContext<'a>) -> Self {
        PieceReader {
            text,
            at: 0,
            last: None,
            around,
        }
    }

    pub(super) fn rest(&self) -> &'t str {
        &self.text[self.at..]
    }

    pub(super) fn next_piece(&mut self) -> Option<DebrisPiece<'t>> {
        let (piece, length) = self.piece()?;
        let passed = &self.text[self.at..self.at + length];
        self.at += length;
        match (&mut self.last, piece) {
            (Some((_, is_ended)), DebrisPiece::Blank) => *is_ended |= passed.contains('\n'),
            (None, DebrisPiece::Blank) => {}
            (last, piece) => *last = Some((piece, passed.ends_with('\n'))),
        }
        Some(piece)
    }

    /// The piece at this position, and its length.
    fn piece(&self) -> Option<(DebrisPiece<'t>, usize)> {
        let rest = self.rest();
        let first = rest.chars().next()?;
        let is_blank = |c: char| c.is_whitespace() || is_invisible(c);
        if is_blank(first) {
            let length = rest.len() - rest.trim_start_matches(is_blank).len();
            return Some((DebrisPiece::Blank, length));
        }
        // A text in quotes is an argument: `search("""{…}""")`.
        let is_argument = self.text[..self.at].trim_end().ends_with('(');
        if let Some(length) = fence(rest, self.around.is_message).filter(|_| !is_argument) {
            return Some((DebrisPiece::Fence, length));
        }
        let is_first = self.last.is_none() && self.around.side != CallSide::Between;
        let lost = rest_of_mark(rest).filter(|_| is_first && !self.around.is_message);
        // `path>{…}` may have been the tag of a parameter.
        if let Some(length) = lost.filter(|length| !(self.around.is_key)(&rest[..length - 1])) {
            return Some((DebrisPiece::Mark, length));
        }
        if let Some(length) = reasoning::closing_tag(rest).filter(|_| self.is_at_start()) {
            return Some((DebrisPiece::Mark, length));
        }
        if let Some(mark) = mark(rest, self.around.side == CallSide::After) {
            let Mark { length, tool, .. } = mark;
            // What follows is another message.
            let is_other = self.around.is_message && self.around.side == CallSide::Between;
            let is_key = || mark.kind != MarkKind::Token && (self.around.is_key)(mark.name);
            return match tool {
                _ if is_other && mark.ends_message => None,
                _ if mark.kind == MarkKind::Shown && self.around.is_message || is_key() => None,
                None => Some((DebrisPiece::Mark, length)),
                Some(tool) if self.is_tool(tool) => Some((DebrisPiece::Tool(tool), length)),
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
        self.sign(first).map(|length| (DebrisPiece::Sign, length))
    }

    /// Whether only the header of a message comes before this position.
    fn is_at_start(&self) -> bool {
        self.around.side == CallSide::Before
            && matches!(self.last, None | Some((DebrisPiece::Mark, _)))
    }

    /// A tag named after a tool: `<search>{…}</search>`. After a call it only closes.
    fn tool_tag(&self) -> Option<(DebrisPiece<'t>, usize)> {
        let rest = beginning(self.rest());
        let (open, close) = match rest.as_bytes().first()? {
            b'<' => ("<", '>'),
            b'[' => ("[", ']'),
            b'`' => {
                let language = rest.strip_prefix("```")?;
                let name = &language[..language.find('\n')?];
                let tool = self.named(name.strip_prefix("tool:").unwrap_or(name).trim())?;
                return Some((DebrisPiece::Tool(tool), "```".len() + name.len()));
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
            CallSide::Before if !is_closing => DebrisPiece::Tool(name),
            CallSide::After | CallSide::Between if is_closing => DebrisPiece::Mark,
            _ => return None,
        };
        Some((piece, end + 1))
    }

    /// The name of the tool alone in a tag: `<name>search</name>`.
    fn tool_between_tags(&self, rest: &'t str, end: usize) -> Option<(DebrisPiece<'t>, usize)> {
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
            DebrisPiece::Tool(tool),
            end + 1 + stop + "</".len() + tag.len() + 1,
        ))
    }

    /// The words that a template puts next to its tokens: the role of the model itself, channels, content types, and the tool:
    /// `<|im_start|>assistant`, `<|channel|>commentary to=functions.search `. Any other role speaks for someone else.
    fn header(&self) -> Option<(DebrisPiece<'t>, usize)> {
        let rest = beginning(self.rest());
        let length = rest.find(['<', '\n', '{', '`', '[']).unwrap_or(rest.len());
        let after_mark = matches!(
            self.last,
            Some((DebrisPiece::Mark | DebrisPiece::Tool(_), false))
        );
        let before_header = || mark(&rest[length..], false).is_some_and(|mark| mark.is_header);
        // Without its tokens, a header is recognised by its addressee: `commentary to=functions.search json`.
        let is_addressed = self.last.is_none() && rest[..length].contains("to=functions.");
        if !after_mark && !before_header() && !is_addressed {
            return None;
        }
        let (mut tool, mut is_reasoning) = (None, false);
        // `<arg_key>code</arg_key>` names a parameter.
        let after_tag = self.text[..self.at]
            .trim_end()
            .strip_suffix('>')
            .is_some_and(|tag| !tag.ends_with(['|', '｜']));
        if after_tag && (self.around.is_key)(rest[..length].trim()) {
            return None;
        }
        // A role or a message type: `tool_call`, `function call`.
        if is_label(&rest[..length]) && !rest[..length].contains([':', '=']) {
            return Some((DebrisPiece::Mark, length));
        }
        for word in rest[..length].split_whitespace() {
            match self.named(word) {
                _ if is_role(word) => {}
                // Some models call tools from within their reasoning.
                _ if word == "analysis" => is_reasoning = true,
                Some(name) if tool.is_none() => tool = Some(name),
                _ => return None,
            }
        }
        if is_reasoning && tool.is_none() {
            return None;
        }
        Some((tool.map_or(DebrisPiece::Mark, DebrisPiece::Tool), length))
    }

    /// A line, or its beginning, that only says that a call follows, also as a heading; or that its result does. A label that
    /// could be a parameter of the tool says more.
    fn label(&self) -> Option<(DebrisPiece<'t>, usize)> {
        let rest = beginning(self.rest());
        let is_line = self
            .last
            .is_none_or(|(last, is_ended)| is_ended || last != DebrisPiece::Label);
        if self.around.side == CallSide::After {
            return is_last_label(rest).then_some((DebrisPiece::Label, rest.len()));
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
        // `payload: {…}` may give the value of a parameter, unless it names the tool: `Action: search`.
        let name = label.trim_matches(|c: char| !c.is_alphanumeric());
        let (value, _) = rest[length..].split_once('\n').unwrap_or_default();
        let names_tool =
            || NAMES.contains(&&*name.to_lowercase()) && self.named(value.trim()).is_some();
        // `Request payload: {…}` names it too.
        let is_named = |key: &str| !name.eq_ignore_ascii_case(REACT) && (self.around.is_key)(key);
        let last_word = name.rsplit([' ', '_', '-']).next().unwrap_or(name);
        if (is_named(name) || is_named(last_word)) && !names_tool() {
            return None;
        }
        (is_line && (is_label(label) || is_heading())).then_some((DebrisPiece::Label, length))
    }

    /// The name of the tool on a separate line, before a parenthesis or after a label or a mark. A name that is one plain word
    /// may be a word of a sentence.
    fn tool(&self) -> Option<(DebrisPiece<'t>, usize)> {
        if self.around.side == CallSide::After {
            return None;
        }
        let rest = beginning(self.rest());
        let printed = rest.strip_prefix(PRINT);
        // What is printed without a call is a value.
        if printed.is_some_and(|call| self.named(call.split('(').next().unwrap_or(call)).is_some())
        {
            return Some((DebrisPiece::Label, PRINT.len()));
        }
        let stop = rest
            .find(|c: char| c.is_whitespace() || matches!(c, '(' | '<' | '{' | '[' | '`'))
            .unwrap_or(rest.len());
        let after = &rest[stop..];
        let is_called = after.starts_with('(');
        let word = rest[..stop].trim_end_matches([':', '=']);
        // Llama's way to call the tools that it knows: `brave_search.call(query="tea")`.
        let method = || {
            word.strip_suffix(".call")
                .filter(|_| is_called && !self.around.is_message)
        };
        let name = self.named(word).or_else(|| self.named(method()?))?;
        let follows = self
            .last
            .is_some_and(|(last, _)| !matches!(last, DebrisPiece::Sign));
        let is_plain = name.chars().all(char::is_lowercase);
        let ends = after.trim_start_matches([' ', '\t']);
        let is_alone = is_called || ends.is_empty() || ends.starts_with(['\n', '<', '[', '`', '{']);
        let length = stop + usize::from(is_called);
        (is_alone && (is_called || follows || !is_plain))
            .then_some((DebrisPiece::Tool(name), length))
    }

    /// The tool that a word names, including what templates put before and after it.
    fn named(&self, word: &'t str) -> Option<&'t str> {
        let word = word.strip_prefix("to=").unwrap_or(word);
        if self.is_tool(word) {
            return Some(word);
        }
        let bare = without_namespace(word)?;
        self.is_tool(bare).then_some(bare)
    }

    /// Whether this names a tool that is called here. A name after a call starts another one.
    fn is_tool(&self, name: &str) -> bool {
        self.around.side != CallSide::After && (self.around.is_tool)(name)
    }

    /// Punctuation that means nothing. Other punctuation comments out (`//`, `#`), strikes out, quotes, asks, omits (`…`) or
    /// continues (`,`), and next to a bracket it may mark a placeholder (`${…}`).
    fn sign(&self, first: char) -> Option<usize> {
        let rest = self.rest();
        let is_after = self.around.side == CallSide::After;
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
                let follows = matches!(self.last, Some((DebrisPiece::Mark, false)));
                run == 1 && follows && self.around.side == CallSide::Before
            }
            // Any other displays a call in a message.
            _ if self.around.is_message => false,
            // The end of a comment that the value was in.
            '*' => !rest[length..].starts_with('/'),
            ')' | ';' | '|' | '｜' | '\\' | '_' => true,
            // `> {` is a quotation, `>>>name` is not.
            '>' => {
                let after = &rest[length..];
                is_after
                    || run >= 3 && !after.starts_with(' ')
                    || after.is_empty()
                    || after.starts_with('\n')
            }
            '/' | '.' | '。' => is_after && run == 1,
            // At the start of a text, its key may be lost: `: {…}}`.
            ':' => !is_after && run == 1 && self.last.is_some(),
            '=' => run >= 3 || !is_after && self.last.is_some(),
            '-' => run >= 3,
            _ => false,
        };
        says_nothing.then_some(length)
    }
}
