//! The liberties that reading takes with a text: one table, with how far each departs from what was sent and how much
//! may be at stake.
//!
//! The rules on values are in [`super::rules`]. No other liberty is ever taken.

use super::stakes::Stakes;
use super::table::RuleRow;
use super::{Edit, Grade};
use crate::json::{Path, Value};

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
    /// White space that JSON does not have.
    WHITE_SPACE = "white_space", Lossless, Destroys;
    /// A comment of nothing but blanks, stars and dashes.
    EMPTY_COMMENT = "empty_comment", Lossless, Destroys;
    /// A comment that says something: "wait for approval", or a member that was taken out.
    COMMENT = "comment", Guess, Reads;
    /// A comma before the last brace. Where something may be destroyed, the call counts as cut off, unless the provider
    /// says that the answer is whole.
    TRAILING_COMMA = "trailing_comma", Lossless, Destroys;
    /// One comma missing between two members, after a text, a list or an object.
    MISSING_COMMA = "missing_comma", Lossless, Destroys;
    /// A key without quotes.
    UNQUOTED_KEY = "unquoted_key", Lossless, Destroys;
    /// A key without its first quote: it may lack more than that.
    HALF_QUOTED_KEY = "half_quoted_key", Guess, Changes;
    /// `True`, `None` and their kin.
    LITERAL = "literal", Lossless, Destroys;
    /// A backslash of a path or a pattern that was not escaped.
    BACKSLASH = "backslash", Lossless, Destroys;
    /// A text in single or typographic quotes.
    SINGLE_QUOTES = "single_quotes", Lossless, Destroys;
    /// A line break or another control character in a text.
    RAW_CONTROL = "raw_control", Lossless, Destroys;
    /// Quotes inside a text that were not escaped.
    INNER_QUOTES = "inner_quotes", Guess, Changes;
    /// One bracket that is missing, too many or of the other kind.
    BRACKET = "bracket", Guess, Changes;
    /// A Markdown fence, backticks or quotes around the whole value.
    FENCE = "fence", Lossless, Destroys;
    /// Tokens, tags and labels of a chat template in any spelling, with no other word between them than the tool's name.
    CONTROL_TOKEN = "control_token", Lossless, Destroys;
    /// A value in which every quote has a backslash before it, and nothing else has.
    ESCAPED_VALUE = "escaped_value", Lossless, Destroys;
    /// A closed block of reasoning in front of the value.
    REASONING = "reasoning", Lossless, Destroys;
    /// A list around one call, `[{…}]`.
    CALL_IN_LIST = "call_in_list", Lossless, Destroys;
    /// The tool's own name beside its arguments, `{"name": …, "arguments": {…}}`, and nothing else.
    ENVELOPE = "envelope", Lossless, Destroys;
    /// Closing brackets and signs around the value that say nothing.
    EXTRA_CLOSER = "extra_closer", Lossless, Destroys;
    /// Words around the value. No list of words tells an introduction from "Do not run this:" in every language.
    PROSE = "prose", Guess, Reads;
    /// The same value again. Two payments may be meant, so the tool reads or twice is as good as once.
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
            grade: self.grade,
            before: shown(before),
            after: shown(after),
            masked: None,
        }
    }
}

/// Whether the liberty that an edit took may be taken at these stakes.
pub(super) fn is_allowed(edit: &Edit, stakes: Stakes) -> bool {
    let row = LIBERTIES.iter().find(|liberty| liberty.name == edit.rule);
    row.is_some_and(|liberty| stakes <= liberty.up_to)
}
