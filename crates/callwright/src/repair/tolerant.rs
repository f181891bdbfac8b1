//! A reader for what models write instead of JSON, which records every liberty it takes.
//!
//! Takes text that starts with `{` or `[`; returns its only reading, the edits, and where it ends; or nothing, if there is more
//! than one reading or none. It never completes a text that ends in the middle, never drops a character of a string, and never
//! accepts an expression as a value. Unescaped quotes inside a string are content only if the caller asks for it.

use std::borrow::Cow;

use super::Edit;
use super::escapes::{escape, keeps_backslashes};
use super::extract::JSON_BLANK;
use super::inner_quotes::{Ending, ending};
use super::liberties;
use super::rule_list::RuleRow;
use crate::json::{Member, Number, Path, Value, has_duplicate, overflows, parse_at};

/// The reading of one text.
pub(super) struct TolerantReading {
    pub(super) value: Value<'static>,
    pub(super) edits: Vec<Edit>,
    /// Where the value ends.
    pub(super) end: usize,
}

/// Why there is no reading.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum NoReading {
    /// The text ends before the value does.
    CutOff,
    /// It is not meant as JSON, or there is more than one reading.
    Unclear,
}

pub(super) type TolerantResult<T> = Result<T, NoReading>;

/// Reads the value that starts at byte `from`, strictly if possible; if there is no reading, returns why and where.
pub(super) fn read(
    text: &str,
    from: usize,
    max_depth: usize,
) -> Result<TolerantReading, (NoReading, Path)> {
    match parse_at(text, from, max_depth) {
        Some((value, end)) => Ok(TolerantReading {
            value,
            edits: Vec::new(),
            end,
        }),
        None => run(text, from, max_depth, false),
    }
}

/// The same, but unescaped quotes inside a string may be content. A text that also takes liberties with separators between
/// values has no reading then: each liberty would weaken the evidence for the other.
pub(super) fn read_inner_quotes(
    text: &str,
    from: usize,
    max_depth: usize,
) -> Option<TolerantReading> {
    const TOO_MUCH: [&str; 5] = [
        liberties::MISSING_COMMA.name,
        liberties::COMMENT.name,
        liberties::EMPTY_COMMENT.name,
        liberties::UNQUOTED_KEY.name,
        liberties::HALF_QUOTED_KEY.name,
    ];
    let reading = run(text, from, max_depth, true).ok()?;
    let mut rules = reading.edits.iter().map(|edit| edit.rule);
    (!rules.any(|rule| TOO_MUCH.contains(&rule))).then_some(reading)
}

fn run(
    text: &str,
    from: usize,
    max_depth: usize,
    inner_quotes: bool,
) -> Result<TolerantReading, (NoReading, Path)> {
    let mut reader = TolerantReader {
        text,
        at: from,
        edits: Vec::new(),
        stopped: None,
        inner_quotes,
        in_list: false,
    };
    match reader.value(&Path::root(), max_depth) {
        Ok(value) => Ok(TolerantReading {
            value,
            edits: reader.edits,
            end: reader.at,
        }),
        Err(why) => Err((why, reader.stopped.unwrap_or_else(Path::root))),
    }
}

struct TolerantReader<'t> {
    text: &'t str,
    at: usize,
    edits: Vec<Edit>,
    /// The innermost path that was being read when reading stopped.
    stopped: Option<Path>,
    /// Whether quotes inside a string may be content.
    inner_quotes: bool,
    /// Whether the next value is an item of a list.
    in_list: bool,
}

impl<'t> TolerantReader<'t> {
    fn rest(&self) -> &'t str {
        &self.text[self.at..]
    }

    fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    fn next_token(&mut self) -> TolerantResult<char> {
        self.skip_blank()?;
        self.peek().ok_or(NoReading::CutOff)
    }

    /// White space and comments.
    fn skip_blank(&mut self) -> TolerantResult<()> {
        loop {
            let rest = self.rest();
            let trimmed = rest.trim_start();
            let blank = &rest[..rest.len() - trimmed.len()];
            if blank.contains(|c| !JSON_BLANK.contains(&c)) {
                self.note(&liberties::WHITE_SPACE, &Path::root(), blank, "");
            }
            self.at += blank.len();
            let ends = if trimmed.starts_with("//") {
                trimmed.find('\n')
            } else if trimmed.starts_with("/*") {
                trimmed.find("*/").map(|end| end + 2)
            } else {
                return Ok(());
            };
            // After a comment that never ends the text is cut off, unless the comment hides its end.
            let comment = ends.ok_or_else(|| match trimmed.find(['}', ']']) {
                Some(_) => NoReading::Unclear,
                None => NoReading::CutOff,
            })?;
            let before = &trimmed[..comment];
            // `/* ❌ */` and `/* … */` also say something.
            let says_nothing = |c: char| c.is_whitespace() || matches!(c, '/' | '*' | '-' | '=');
            let says_something = !before.chars().all(says_nothing);
            let liberty = if says_something {
                &liberties::COMMENT
            } else {
                &liberties::EMPTY_COMMENT
            };
            self.note(liberty, &Path::root(), before, "");
            self.at += comment;
        }
    }

    /// Records a liberty, once per rule: the first place is enough. Every comment is recorded.
    fn note(&mut self, liberty: &RuleRow, path: &Path, before: &str, after: &str) {
        let is_comment = *liberty == liberties::COMMENT && self.edits.len() < MOST_NOTED;
        if is_comment || !self.has_noted(liberty) {
            self.edits.push(liberty.edit(path, before, after));
        }
    }

    /// Records a control character that was written as it is, with the escape that JSON has for it.
    fn note_raw_control(&mut self, path: &Path, control: char) {
        let raw = control.to_string();
        let quoted = Value::String(Cow::Borrowed(&raw)).to_string();
        self.note(
            &liberties::RAW_CONTROL,
            path,
            &raw,
            quoted.trim_matches('"'),
        );
    }

    fn has_noted(&self, liberty: &RuleRow) -> bool {
        self.edits.iter().any(|edit| edit.rule == liberty.name)
    }

    fn value(&mut self, path: &Path, depth_left: usize) -> TolerantResult<Value<'static>> {
        match self.next_token()? {
            '{' if depth_left > 0 => self.object(path, depth_left - 1),
            '[' if depth_left > 0 => self.array(path, depth_left - 1),
            '"' if self.inner_quotes => self.quoting(path),
            quote if is_quote(quote) => Ok(Value::String(Cow::Owned(self.string(quote, path)?))),
            '-' | '0'..='9' => self.number(),
            c if c.is_alphabetic() => self.word(path),
            _ => Err(NoReading::Unclear),
        }
    }

    /// A value inside another one.
    fn inner(&mut self, path: &Path, depth_left: usize) -> TolerantResult<Value<'static>> {
        let value = self.value(path, depth_left);
        if value.is_err() && self.stopped.is_none() {
            self.stopped = Some(path.clone());
        }
        value
    }

    fn object(&mut self, path: &Path, depth_left: usize) -> TolerantResult<Value<'static>> {
        self.at += 1;
        let mut members: Vec<Member<'static>> = Vec::new();
        loop {
            match self.next_token()? {
                '}' => {
                    self.at += 1;
                    // Either value of a repeated key could be meant.
                    return if has_duplicate(&members) {
                        Err(NoReading::Unclear)
                    } else {
                        Ok(Value::Object(members))
                    };
                }
                ',' => return Err(NoReading::Unclear),
                _ => {}
            }
            let key = self.key(path)?;
            if self.next_token()? != ':' {
                return Err(NoReading::Unclear);
            }
            self.at += 1;
            let here = path.key(&key);
            self.in_list = false;
            let value = self.inner(&here, depth_left)?;
            let end = self.at;
            members.push((Cow::Owned(key), value));
            match self.next_token()? {
                ',' => {
                    self.at += 1;
                    if self.next_token()? == '}' {
                        self.note(&liberties::TRAILING_COMMA, path, ",}", "}");
                    }
                }
                '}' => {}
                // `"a," "b"`: the comma may have slipped into the string.
                '"' | '\'' if self.at > end && !ends_with_comma(&members) => {
                    self.note(&liberties::MISSING_COMMA, path, "", ",");
                }
                _ => return Err(NoReading::Unclear),
            }
        }
    }

    fn key(&mut self, path: &Path) -> TolerantResult<String> {
        match self.next_token()? {
            quote if is_quote(quote) => self.string(quote, path),
            c if c.is_alphabetic() || c == '_' || c == '$' => {
                let length = self
                    .rest()
                    .find(|c: char| !(c.is_alphanumeric() || matches!(c, '_' | '$' | '-' | '.')))
                    .ok_or(NoReading::CutOff)?;
                let key = self.rest()[..length].to_owned();
                self.at += length;
                // `description": "…"`: the opening quote is missing.
                let half = self.rest().starts_with("\":");
                self.at += usize::from(half);
                let liberty = if half {
                    &liberties::HALF_QUOTED_KEY
                } else {
                    &liberties::UNQUOTED_KEY
                };
                self.note(liberty, path, &key, &format!("\"{key}\""));
                Ok(key)
            }
            _ => Err(NoReading::Unclear),
        }
    }

    fn array(&mut self, path: &Path, depth_left: usize) -> TolerantResult<Value<'static>> {
        self.at += 1;
        let mut items = Vec::new();
        loop {
            match self.next_token()? {
                ']' => {
                    self.at += 1;
                    return Ok(Value::Array(items));
                }
                ',' => return Err(NoReading::Unclear),
                _ => {}
            }
            self.in_list = true;
            items.push(self.inner(&path.index(items.len()), depth_left)?);
            match self.next_token()? {
                ',' => {
                    self.at += 1;
                    // `[7, ]`: an item may be missing.
                    if self.next_token()? == ']' {
                        return Err(NoReading::Unclear);
                    }
                }
                ']' => {}
                _ => return Err(NoReading::Unclear),
            }
        }
    }

    fn number(&mut self) -> TolerantResult<Value<'static>> {
        let rest = self.rest();
        let length = rest
            .find(|c: char| !matches!(c, '0'..='9' | '-' | '+' | '.' | 'e' | 'E'))
            .ok_or(NoReading::CutOff)?;
        let literal = &rest[..length];
        // `5 * 2800`, `1/2`, `5 apples`: not a number.
        self.end_scalar(length, is_number(literal))?;
        Ok(Value::Number(Number::from_literal(literal.to_owned())))
    }

    /// `true`, `None` and similar words. Any other bare word is an expression or a name.
    fn word(&mut self, path: &Path) -> TolerantResult<Value<'static>> {
        let rest = self.rest();
        let length = rest
            .find(|c: char| !(c.is_alphanumeric() || c == '_'))
            .ok_or(NoReading::CutOff)?;
        let word = rest[..length].to_owned();
        let (value, json) = match word.as_str() {
            "true" | "True" | "TRUE" => (Value::Bool(true), "true"),
            "false" | "False" | "FALSE" => (Value::Bool(false), "false"),
            "null" | "None" | "NULL" | "nil" => (Value::Null, "null"),
            _ => return Err(NoReading::Unclear),
        };
        self.end_scalar(length, true)?;
        if word != json {
            self.note(&liberties::LITERAL, path, &word, json);
        }
        Ok(value)
    }

    /// Moves past a value of this many bytes, if it is one and what follows shows that it is complete.
    fn end_scalar(&mut self, length: usize, is_value: bool) -> TolerantResult<()> {
        match self.rest()[length..].trim_start().chars().next() {
            None => Err(NoReading::CutOff),
            Some(',' | '}' | ']') if is_value => {
                self.at += length;
                Ok(())
            }
            Some(_) => Err(NoReading::Unclear),
        }
    }

    /// A string that may contain unescaped quotes; it may not contain escapes. If some quotes are content, a string with
    /// escaped ones may end elsewhere, two in a row may open a quoted part, and blanks at the edge of an item may belong to a
    /// comma in it.
    fn quoting(&mut self, path: &Path) -> TolerantResult<Value<'static>> {
        let start = self.at + 1;
        let text = match ending(self.text, start, self.in_list) {
            Ending::FirstQuote => self.string('"', path)?,
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

    /// A string ends at the first quote of its own kind. What follows shows whether that was meant.
    fn string(&mut self, quote: char, path: &Path) -> TolerantResult<String> {
        self.at += quote.len_utf8();
        let start = self.at;
        let mut out = String::new();
        let (mut kept_backslash, mut decoded_escape) = (false, false);
        loop {
            match self.peek().ok_or(NoReading::CutOff)? {
                '\\' => {
                    let (decoded, length) = escape(self.rest(), quote)?;
                    self.at += length;
                    decoded_escape |= decoded.is_some();
                    kept_backslash |= decoded.is_none();
                    out.push(decoded.unwrap_or('\\'));
                }
                c if closes(quote, c) => break,
                // A plain quote may be the one that was meant to close it.
                '"' if is_typographic(quote) => return Err(NoReading::Unclear),
                c => {
                    if c.is_control() {
                        self.note_raw_control(path, c);
                    }
                    out.push(c);
                    self.at += c.len_utf8();
                }
            }
        }
        let written = &self.text[start..self.at];
        // In `C:\new\Users` the `\n` may be a line break.
        if kept_backslash && (decoded_escape || !keeps_backslashes(written)) {
            return Err(NoReading::Unclear);
        }
        if kept_backslash {
            self.note(&liberties::BACKSLASH, path, "\\", "\\\\");
        }
        self.at += self.peek().map_or(0, char::len_utf8);
        // Only the first of many strings is recorded.
        if quote != '"' && !self.has_noted(&liberties::SINGLE_QUOTES) {
            let (before, after) = (format!("'{written}'"), format!("\"{written}\""));
            self.note(&liberties::SINGLE_QUOTES, path, &before, &after);
        }
        Ok(out)
    }
}

fn is_quote(c: char) -> bool {
    matches!(c, '"' | '\'') || is_typographic(c)
}

/// The quotes that word processors make of `"`. Models sometimes put the same one on both sides.
fn is_typographic(c: char) -> bool {
    matches!(c, '“' | '”')
}

fn closes(quote: char, c: char) -> bool {
    c == quote || is_typographic(quote) && is_typographic(c)
}

/// How many edits are recorded before comments are no longer recorded one by one.
const MOST_NOTED: usize = 64;

/// Whether the last member is a string that ends with a comma.
fn ends_with_comma(members: &[Member<'_>]) -> bool {
    let last = members.last().and_then(|(_, value)| value.as_str());
    last.is_some_and(|text| text.trim_end().ends_with(','))
}

/// Whether a text is a JSON number within the range of a double.
pub(super) fn is_number(text: &str) -> bool {
    !text.contains(char::is_whitespace)
        && matches!(crate::json::read_value(text), Ok(Value::Number(_)))
        && !overflows(text, true)
}
