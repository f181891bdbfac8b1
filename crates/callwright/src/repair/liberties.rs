//! The liberties that reading takes with a text: one table, with the grade of each and the highest stakes at which it is taken.
//!
//! The rules on values are in [`super::rules`]. No other liberty is ever taken.

use super::rule_list::RuleRow;
use super::stakes::Stakes;
use super::{Edit, Grade};
use crate::json::{Path, Value};
use crate::vocabulary::EditKind;

macro_rules! liberties {
    ($($(#[doc = $about:literal])* $constant:ident = $name:literal, $grade:ident, $up_to:ident;)*) => {
        $($(#[doc = $about])* pub(super) const $constant: RuleRow = RuleRow {
            name: $name,
            grade: Grade::$grade,
            up_to: Stakes::$up_to,
            about: concat!($($about),*).trim_ascii(),
        };)*

        /// All of them.
        pub(super) const LIBERTIES: &[RuleRow] = &[$($constant),*];
    };
}

liberties! {
    /// White space that JSON does not allow, also if it is written as an escape.
    WHITE_SPACE = "white_space", Lossless, Destroys;
    /// A comment of nothing but blanks, stars and dashes.
    EMPTY_COMMENT = "empty_comment", Lossless, Destroys;
    /// A comment that says something: "wait for approval", or a member that was commented out.
    COMMENT = "comment", Guess, Reads;
    /// A comma before the last brace. For a tool that may destroy something, the call counts as cut off, unless the provider
    /// says that the response is complete.
    TRAILING_COMMA = "trailing_comma", Lossless, Destroys;
    /// One missing comma between two members, after anything but a number.
    MISSING_COMMA = "missing_comma", Lossless, Destroys;
    /// A line break instead of a comma between two members, after a number.
    LINE_FOR_COMMA = "line_for_comma", Lossless, Changes;
    /// A comma before the last bracket of a list of strings or objects, `["a", ]`: an item may be missing.
    LIST_COMMA = "list_comma", Guess, Reads;
    /// `=`, `=>` or a full-width colon between a key and its value, a full-width comma between two values, or full-width braces.
    SEPARATOR = "separator", Lossless, Destroys;
    /// A key without quotes.
    UNQUOTED_KEY = "unquoted_key", Lossless, Destroys;
    /// A key without its first quote: it may lack more than that.
    HALF_QUOTED_KEY = "half_quoted_key", Guess, Changes;
    /// `True`, `None` and the like.
    LITERAL = "literal", Lossless, Destroys;
    /// A number as other languages write it, where the schema wants a number: `+1.5`, `.5`, `1_000`. It may have lost its
    /// beginning.
    NUMBER = "number", Guess, Reads;
    /// An unescaped backslash in a path or a pattern.
    BACKSLASH = "backslash", Lossless, Destroys;
    /// A string in single, typographic or triple quotes, between Gemma's tokens for quotes, or one of several lines in backticks.
    SINGLE_QUOTES = "single_quotes", Lossless, Destroys;
    /// An apostrophe with a backslash, `user\'s`, where nothing looks like a program.
    APOSTROPHE = "apostrophe", Lossless, Changes;
    /// A line break or another control character in a string.
    RAW_CONTROL = "raw_control", Lossless, Destroys;
    /// Unescaped quotes inside a string.
    INNER_QUOTES = "inner_quotes", Guess, Changes;
    /// One bracket that is missing, extra or of the wrong kind.
    BRACKET = "bracket", Guess, Changes;
    /// A Markdown fence, backticks or quotes around the whole value.
    FENCE = "fence", Lossless, Destroys;
    /// Tokens, tags and labels of a chat template in any spelling, with no word between them but the tool's name.
    CONTROL_TOKEN = "control_token", Lossless, Destroys;
    /// A value in which every quote is escaped with a backslash, and nothing else is.
    ESCAPED_VALUE = "escaped_value", Lossless, Destroys;
    /// A call in the notation of a chat template or of Python: `<function=search>…</function>`, `search(query="tea")`,
    /// `<search><query>…</search>`.
    NOTATION = "notation", Lossless, Destroys;
    /// Parameters without the start of the call, `<parameter=city>…`, or members without braces. If its end is missing too, the
    /// provider must say that the response is complete, unless the tool only reads.
    OPEN_NOTATION = "open_notation", Lossless, Changes;
    /// A closed block of reasoning in front of the value.
    REASONING = "reasoning", Lossless, Destroys;
    /// A list around one call, `[{…}]`.
    CALL_IN_LIST = "call_in_list", Lossless, Destroys;
    /// The tool's own name next to its arguments, `{"name": …, "arguments": {…}}`, and nothing else.
    ENVELOPE = "envelope", Lossless, Destroys;
    /// Extra closing brackets and meaningless punctuation around the value.
    EXTRA_CLOSER = "extra_closer", Lossless, Destroys;
    /// A comma after the value, if the provider says that the response is complete.
    OUTER_COMMA = "outer_comma", Lossless, Destroys;
    /// An empty object directly in front of the value, if the tool does not accept it, or what joining the pieces of a stream
    /// made of a missing one: `undefined{…}`, `null{…}`, `{…}undefined`.
    EMPTY_OBJECT = "empty_object", Lossless, Changes;
    /// Words around the value. No list of words tells an introduction from "Do not run this:" in every language.
    PROSE = "prose", Guess, Reads;
    /// The same value repeated. Two payments may be meant, so the tool must read or be idempotent.
    REPEATED_VALUE = "repeated_value", Lossless, Reads;
}

/// How many characters of a text are shown in an edit: enough to find the place again.
const SHOWN: usize = 40;

impl RuleRow {
    /// An edit that takes this liberty at a place: `before` was read as `after`.
    pub(super) fn edit(&self, path: &Path, before: &str, after: &str) -> Edit {
        let shown = |text: &str| {
            let mut short: String = text.chars().take(SHOWN).collect();
            if short.len() < text.len() {
                short.push('…');
            }
            Value::String(short.into())
        };
        Edit {
            path: path.clone(),
            rule: self.name,
            kind: EditKind::Read,
            grade: self.grade,
            before: shown(before),
            after: shown(after),
            masked: None,
        }
    }
}

/// Whether the liberty that an edit took is allowed at these stakes.
pub(super) fn is_allowed(edit: &Edit, stakes: Stakes) -> bool {
    let row = LIBERTIES.iter().find(|liberty| liberty.name == edit.rule);
    row.is_some_and(|liberty| stakes <= liberty.up_to)
}
