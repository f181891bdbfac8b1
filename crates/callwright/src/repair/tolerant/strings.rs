//! Strings as models write them: in other quotes, over several lines, with backslashes that JSON does not have.
//!
//! Takes the position of a quote; returns the text and moves past it, with every liberty on record. It never drops a character
//! of a text but the backslash in front of an apostrophe, and never reads a string in two ways.

use std::borrow::Cow;

use super::super::escapes::{
    escape, is_apostrophe, keeps_backslashes, may_be_code, may_be_unescaped,
};
use super::super::inner_quotes::{Ending, ending};
use super::super::liberties;
use super::{NoReading, TolerantReader, TolerantResult};
use crate::json::{Path, Value};
use crate::vocabulary::template::holds_token;
use crate::vocabulary::{says_run, swallows_member};

impl TolerantReader<'_> {
    /// A string that may contain unescaped quotes; it may not contain escapes. If some quotes are content, a string with
    /// escaped ones may end elsewhere, two in a row may open a quoted part, and blanks at the edge of an item may belong to a
    /// comma in it.
    pub(super) fn quoting(&mut self, path: &Path) -> TolerantResult<Value<'static>> {
        let start = self.at + 1;
        let text = match ending(self.text, start, self.in_list) {
            Ending::FirstQuote => self.string(Delimiter::one('"'), path)?,
            Ending::Unclear => return Err(NoReading::Unclear),
            Ending::AfterPair { first, end } => {
                let pair = &self.text[first];
                let escaped = pair.replace('"', "\\\"");
                self.note(&liberties::INNER_QUOTES, path, pair, &escaped);
                let written = &self.text[start..end];
                if let Some(control) = written.chars().find(|c| c.is_control()) {
                    self.note_raw_control(path, control);
                }
                self.at = end + 1;
                written.to_owned()
            }
        };
        let half_escaped = self.text[start..self.at].contains("\\\"");
        let loose = self.in_list && text.trim() != text;
        if text.is_empty() || half_escaped || loose {
            return Err(NoReading::Unclear);
        }
        Ok(Value::String(Cow::Owned(text)))
    }

    /// A string of several lines. On one line, some of three quotes may be a part of the text, and backticks may be around a
    /// command whose output is meant; with `${`, something is to be filled in.
    pub(super) fn lines(&mut self, delimiter: Delimiter, path: &Path) -> TolerantResult<String> {
        let start = self.at;
        let text = self.string(delimiter, path)?;
        let written = &self.text[start..self.at];
        let is_template = delimiter.quote == '`' && written.contains("${");
        if written.contains('\n') && !is_template {
            Ok(text)
        } else {
            Err(NoReading::Unclear)
        }
    }

    /// A string between two tokens that a template has for quotes: it has no escapes.
    pub(super) fn between_tokens(&mut self, token: &str, path: &Path) -> TolerantResult<String> {
        let (_, opened) = self.rest().split_at(token.len());
        let length = opened.find(token).ok_or(NoReading::CutOff)?;
        let text = opened[..length].to_owned();
        if holds_token(&text) || swallows_member(&text) {
            return Err(NoReading::Unclear);
        }
        let written = &self.rest()[..length + 2 * token.len()];
        let quoted = Value::String(Cow::Borrowed(&text)).to_string();
        self.note(&liberties::SINGLE_QUOTES, path, written, &quoted);
        self.at += written.len();
        Ok(text)
    }

    /// A string ends at the first quote of its own kind. What follows shows whether that was meant.
    pub(super) fn string(&mut self, delimiter: Delimiter, path: &Path) -> TolerantResult<String> {
        let Delimiter { quote, count } = delimiter;
        let opened = self.at;
        self.at += quote.len_utf8() * count;
        let start = self.at;
        let mut out = String::new();
        let (mut kept_backslash, mut decoded_escape, mut has_apostrophe) = (false, false, false);
        loop {
            match self.peek().ok_or(NoReading::CutOff)? {
                '\\' if quote == '"' && self.rest()[1..].starts_with('\'') => {
                    if !is_apostrophe(&out, &self.rest()[2..]) || runs_anything(path) {
                        return Err(NoReading::Unclear);
                    }
                    self.at += 2;
                    has_apostrophe = true;
                    out.push('\'');
                }
                '\\' => {
                    let (decoded, length) = escape(self.rest(), quote)?;
                    self.at += length;
                    decoded_escape |= decoded.is_some();
                    kept_backslash |= decoded.is_none();
                    out.push(decoded.unwrap_or('\\'));
                }
                c if closes(quote, c) && delimiter.ends(self.rest()) => break,
                // Another quote may be the one that was meant to close it, or it may end later.
                c if is_typographic(quote) && (c == '"' || is_typographic(c)) => {
                    return Err(NoReading::Unclear);
                }
                c => {
                    if c.is_control() && !delimiter.takes_lines() {
                        self.note_raw_control(path, c);
                    }
                    out.push(c);
                    self.at += c.len_utf8();
                }
            }
        }
        let written = &self.text[start..self.at];
        if (quote != '"' || count > 1) && swallows_member(written) {
            return Err(NoReading::Unclear);
        }
        // In French the blanks in `« a »` belong to the quotes.
        if quote == '«' && written.trim() != written {
            return Err(NoReading::Unclear);
        }
        // In `C:\new\Users` the `\n` may be a line break.
        if kept_backslash && (decoded_escape || !keeps_backslashes(written)) {
            return Err(NoReading::Unclear);
        }
        if decoded_escape && self.unescaped.is_none() && may_be_unescaped(written) {
            self.unescaped = Some(path.clone());
        }
        if kept_backslash {
            self.note(&liberties::BACKSLASH, path, "\\", "\\\\");
        }
        if has_apostrophe {
            // Where only some have a backslash, it may be there for a reason: `'it\'s'`.
            let all = written.matches('\'').count();
            if kept_backslash || may_be_code(written) || all > written.matches("\\'").count() {
                return Err(NoReading::Unclear);
            }
            self.note(&liberties::APOSTROPHE, path, "\\'", "'");
        }
        self.at += self.peek().map_or(0, char::len_utf8) * count;
        // Only the first of many strings is recorded.
        if (quote != '"' || count > 1) && !self.has_noted(&liberties::SINGLE_QUOTES) {
            let after = format!("\"{written}\"");
            self.note(
                &liberties::SINGLE_QUOTES,
                path,
                &self.text[opened..self.at],
                &after,
            );
        }
        Ok(out)
    }
}

/// What opens and closes a string.
#[derive(Debug, Clone, Copy)]
pub(super) struct Delimiter {
    pub(super) quote: char,
    /// How many of them.
    pub(super) count: usize,
}

impl Delimiter {
    pub(super) fn one(quote: char) -> Self {
        Delimiter { quote, count: 1 }
    }

    /// What opens a string of several lines in Python or JavaScript, if a text starts with it.
    pub(super) fn of_lines(text: &str) -> Option<Self> {
        let all = [('"', 3), ('\'', 3), ('`', 1)];
        let mut delimiters = all
            .map(|(quote, count)| Delimiter { quote, count })
            .into_iter();
        delimiters.find(|delimiter| text.starts_with(delimiter.quote) && delimiter.ends(text))
    }

    fn ends(self, rest: &str) -> bool {
        let quotes = rest.chars().take(self.count);
        self.count == 1 || quotes.filter(|c| *c == self.quote).count() == self.count
    }

    /// Whether a line break in such a string needs no escape.
    fn takes_lines(self) -> bool {
        self.count > 1 || self.quote == '`'
    }
}

/// Whether a value may be a command: one of the keys on the way to it says so.
fn runs_anything(path: &Path) -> bool {
    let mut keys = path.segments();
    keys.any(|key| says_run(&key) || says_run(key.trim_end_matches('s')))
}

pub(super) fn is_quote(c: char) -> bool {
    matches!(c, '"' | '\'') || is_typographic(c)
}

/// The quotes that word processors make of `"`.
fn is_typographic(c: char) -> bool {
    !closers(c).is_empty()
}

/// What closes a string in these typographic quotes. Models sometimes put the same sign on both sides.
fn closers(quote: char) -> &'static [char] {
    match quote {
        '“' | '„' => &['“', '”'],
        '”' => &['”'],
        '«' => &['»'],
        '「' => &['」'],
        _ => &[],
    }
}

fn closes(quote: char, c: char) -> bool {
    c == quote && closers(c).is_empty() || closers(quote).contains(&c)
}
