//! What can be wrong with a text, as data.

use crate::json::{Path, Segment};
use crate::text::snippet;

/// The first place at which a text stops being JSON.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SyntaxError {
    /// Byte offset into the text.
    pub offset: usize,
    /// What is wrong there.
    pub problem: Problem,
    /// The segments of the path, innermost first: each level adds its own on the way out.
    innermost: Vec<Segment>,
}

/// What is wrong with a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Problem {
    /// The text ends although more must follow.
    CutOff,
    /// Another character was expected here.
    Unexpected {
        /// What would have been right, as a noun phrase.
        expected: &'static str,
    },
    /// A backslash that does not start a JSON escape.
    BadEscape,
    /// `\\u` without four hex digits after it.
    BadUnicodeEscape,
    /// Half of a surrogate pair, which is not a character.
    LoneSurrogate,
    /// A raw line break or another control character inside a string.
    ControlCharacter,
    /// A number with a leading zero.
    LeadingZero,
    /// A number that no double can hold.
    NumberOutOfRange,
    /// Something follows the end of the value.
    TrailingText,
    /// Containers are nested deeper than allowed.
    TooDeep,
}

#[expect(
    clippy::unnecessary_box_returns,
    reason = "boxed from the start, so that a result with it stays small on the usual path"
)]
impl SyntaxError {
    #[cold]
    pub(crate) fn new(offset: usize, problem: Problem) -> Box<Self> {
        Box::new(SyntaxError {
            offset,
            problem,
            innermost: Vec::new(),
        })
    }

    #[cold]
    pub(crate) fn within(mut self: Box<Self>, segment: Segment) -> Box<Self> {
        self.innermost.push(segment);
        self
    }

    /// The path in the value that was being read.
    pub fn path(&self) -> Path {
        Path::from_innermost(&self.innermost)
    }

    /// The text at the error: its beginning, escaped; empty at the end of the text.
    pub fn snippet(&self, text: &str) -> String {
        /// Enough to find the place again.
        const LENGTH: usize = 16;
        snippet(text.get(self.offset..).unwrap_or_default(), LENGTH)
    }

    /// Line and column, both counted from one; the column in characters.
    pub fn line_and_column(&self, text: &str) -> (usize, usize) {
        let before = &text.as_bytes()[..self.offset.min(text.len())];
        let line_start = before
            .iter()
            .rposition(|byte| *byte == b'\n')
            .map_or(0, |newline| newline + 1);
        let line = before.split(|byte| *byte == b'\n').count();
        let column = 1 + String::from_utf8_lossy(&before[line_start..])
            .chars()
            .count();
        (line, column)
    }
}
