//! A position in a text, and the few steps that all notations take from it.

use super::NoCall;
use crate::json::{SyntaxError, Value, read_prefix};

pub(super) type RescueResult<T> = Result<T, NoCall>;

/// A reader for one message; it only moves forward.
pub(super) struct Cursor<'t> {
    text: &'t str,
    at: usize,
    pub(super) max_depth: usize,
    /// Whether the notation itself has text before the calls.
    pub(super) has_words: bool,
    /// Where that text ends.
    pub(super) calls: usize,
    /// Whether the text ends within a call.
    pub(super) is_cut: bool,
}

/// How a tag is closed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Closing {
    /// The closing tag is present.
    Closed,
    /// The text ends where it should be, or within it.
    Cut,
    /// Something else is there.
    Other,
}

impl<'t> Cursor<'t> {
    pub(super) fn new(text: &'t str, at: usize, max_depth: usize) -> Self {
        Cursor {
            text,
            at,
            max_depth,
            has_words: false,
            calls: at,
            is_cut: false,
        }
    }

    pub(super) fn rest(&self) -> &'t str {
        &self.text[self.at..]
    }

    /// Records that everything before this position is text.
    pub(super) fn start_calls(&mut self) {
        self.calls = self.at;
    }

    pub(super) fn is_at_end(&self) -> bool {
        self.at == self.text.len()
    }

    /// The current position.
    pub(super) fn at(&self) -> usize {
        self.at
    }

    pub(super) fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    pub(super) fn skip_blank(&mut self) {
        self.at = self.text.len() - self.rest().trim_ascii_start().len();
    }

    /// Moves past `token` if it is here.
    pub(super) fn eat(&mut self, token: &str) -> bool {
        let here = self.rest().starts_with(token);
        if here {
            self.at += token.len();
        }
        here
    }

    /// Skips blanks, then `token` if it is there, then more blanks.
    pub(super) fn eat_spaced(&mut self, token: &str) -> bool {
        self.skip_blank();
        let here = self.eat(token);
        self.skip_blank();
        here
    }

    /// The text before `token`, moving past both; `None`, without moving, if it does not occur.
    pub(super) fn until(&mut self, token: &str) -> Option<&'t str> {
        let (before, _) = self.rest().split_once(token)?;
        self.at += before.len() + token.len();
        Some(before)
    }

    /// The text before the first of these characters, moving past the text only.
    pub(super) fn before(&mut self, stops: &[char]) -> Option<&'t str> {
        let length = self.rest().find(stops)?;
        let before = &self.rest()[..length];
        self.at += length;
        Some(before)
    }

    /// The rest of a call that is cut off.
    pub(super) fn cut(&mut self) -> &'t str {
        let all = self.rest();
        self.at = self.text.len();
        self.is_cut = true;
        all
    }

    /// Moves past a tag and the blanks before it.
    pub(super) fn close(&mut self, tag: &str) -> Closing {
        self.skip_blank();
        if self.eat(tag) {
            Closing::Closed
        } else if tag.starts_with(self.rest()) {
            self.at = self.text.len();
            Closing::Cut
        } else {
            Closing::Other
        }
    }

    /// Moves past a tag and the blanks before it; if the text ends there, the call is cut off.
    pub(super) fn expect_close(&mut self, tag: &str) -> RescueResult<()> {
        match self.close(tag) {
            Closing::Closed => Ok(()),
            Closing::Cut => {
                self.is_cut = true;
                Ok(())
            }
            Closing::Other => Err(NoCall::Unreadable),
        }
    }

    /// Moves past a tag after JSON, which is visibly complete by itself: the tag may be missing or misspelt if nothing else
    /// follows.
    pub(super) fn close_whole(&mut self, tag: &str) -> RescueResult<()> {
        match self.close(tag) {
            Closing::Closed | Closing::Cut => Ok(()),
            Closing::Other => Err(NoCall::Unreadable),
        }
    }

    /// The JSON value that starts here, parsed strictly and moved past; on an error the position stays.
    pub(super) fn json(&mut self) -> Result<Value<'t>, Box<SyntaxError>> {
        // The arguments are at most inside an object inside a list.
        let (value, end) = read_prefix(self.text, self.at, self.max_depth + 2)?;
        self.at = end;
        Ok(value)
    }
}
