//! A reader for what models write instead of JSON, which records every liberty it takes.
//!
//! Takes text that starts with `{` or `[`; returns its only reading, the edits, and where it ends; or nothing, if there is more
//! than one reading or none. It never completes a text that ends in the middle, never drops a character of a string, and never
//! accepts an expression as a value. Unescaped quotes inside a string are content only if the caller asks for it.

mod scalars;
mod strings;

use std::borrow::Cow;

pub(super) use self::scalars::{is_number, literal};
use self::strings::{Delimiter, is_quote};
use super::Edit;
use super::extract::JSON_BLANK;
use super::liberties;
use super::rule_list::RuleRow;
use crate::json::{Member, Path, Value, has_duplicate, parse_at};
use crate::vocabulary::template::string_token;

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
    const TOO_MUCH: [&str; 8] = [
        liberties::MISSING_COMMA.name,
        liberties::LINE_FOR_COMMA.name,
        liberties::LIST_COMMA.name,
        liberties::SEPARATOR.name,
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
        escaped_blanks: false,
        unescaped: None,
    };
    match reader.value(&Path::root(), max_depth) {
        // If the whole text was escaped, its strings were too.
        Ok(_) if reader.escaped_blanks && text[from..reader.at].contains("\\\\") => {
            Err((NoReading::Unclear, Path::root()))
        }
        // `C:\Users` is not escaped, so `C:\new` may not be either.
        Ok(_) if reader.unescaped.is_some() && reader.has_noted(&liberties::BACKSLASH) => Err((
            NoReading::Unclear,
            reader.unescaped.unwrap_or_else(Path::root),
        )),
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
    /// Whether there was an escaped blank outside of strings.
    escaped_blanks: bool,
    /// A string whose escapes may be unescaped backslashes.
    unescaped: Option<Path>,
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
            if let Some(escape) = escaped_blank(trimmed) {
                self.note(&liberties::WHITE_SPACE, &Path::root(), escape, "");
                self.at += escape.len();
                self.escaped_blanks = true;
                continue;
            }
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
        let next = self.next_token()?;
        if let Some(delimiter) = Delimiter::of_lines(self.rest()) {
            return Ok(Value::String(Cow::Owned(self.lines(delimiter, path)?)));
        }
        if let Some(token) = string_token(self.rest()) {
            let text = self.between_tokens(token, path)?;
            return Ok(Value::String(Cow::Owned(text)));
        }
        match next {
            '{' | '｛' if depth_left > 0 => self.object(path, depth_left - 1),
            '[' if depth_left > 0 => self.array(path, depth_left - 1),
            '"' if self.inner_quotes => self.quoting(path),
            quote if is_quote(quote) => {
                let text = self.string(Delimiter::one(quote), path)?;
                Ok(Value::String(Cow::Owned(text)))
            }
            '-' | '+' | '.' | '0'..='9' => self.number(path),
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
        self.sign('{', path);
        let mut members: Vec<Member<'static>> = Vec::new();
        loop {
            match self.next_token()? {
                '}' | '｝' => {
                    self.sign('}', path);
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
            let is_quoted = is_quote(self.next_token()?);
            let key = self.key(path)?;
            let here = path.key(&key);
            self.separator(&here, is_quoted)?;
            self.in_list = false;
            let value = self.inner(&here, depth_left)?;
            let end = self.at;
            members.push((Cow::Owned(key), value));
            match self.next_token()? {
                ',' | '，' => {
                    self.sign(',', path);
                    if matches!(self.next_token()?, '}' | '｝') {
                        self.note(&liberties::TRAILING_COMMA, path, ",}", "}");
                    }
                }
                '}' | '｝' => {}
                // Only the line break shows that nothing else is missing.
                '"' if ends_with_number(&members) => {
                    self.note(&liberties::LINE_FOR_COMMA, path, "", ",");
                }
                // `"a," "b"`: the comma may have slipped into the string.
                '"' | '\'' if self.at > end && !ends_with_comma(&members) => {
                    self.note(&liberties::MISSING_COMMA, path, "", ",");
                }
                _ => return Err(NoReading::Unclear),
            }
        }
    }

    /// What separates a key from its value. `=` after a key without quotes is an assignment, and an operator (`>=`, `==`) is none.
    fn separator(&mut self, path: &Path, after_quote: bool) -> TolerantResult<()> {
        self.next_token()?;
        let rest = self.rest();
        let mut separators = [":", "：", "=>", "="].into_iter();
        let sign = separators
            .find(|sign| rest.starts_with(sign) && (after_quote || !sign.starts_with('=')));
        let sign = sign.ok_or(NoReading::Unclear)?;
        if sign != ":" {
            self.note(&liberties::SEPARATOR, path, sign, ":");
        }
        self.at += sign.len();
        Ok(())
    }

    /// Moves past a brace or a comma, as JSON writes it or full-width.
    fn sign(&mut self, sign: char, path: &Path) {
        let Some(written) = self.peek() else { return };
        if written != sign {
            self.note(
                &liberties::SEPARATOR,
                path,
                &written.to_string(),
                &sign.to_string(),
            );
        }
        self.at += written.len_utf8();
    }

    fn key(&mut self, path: &Path) -> TolerantResult<String> {
        if let Some(token) = string_token(self.rest()) {
            return self.between_tokens(token, path);
        }
        match self.next_token()? {
            quote if is_quote(quote) => self.string(Delimiter::one(quote), path),
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
                ',' | '，' => {
                    self.sign(',', path);
                    // An item may be missing, as half of a point is in `[7, ]`.
                    if self.next_token()? == ']' {
                        if !matches!(items.last(), Some(Value::String(_) | Value::Object(_))) {
                            return Err(NoReading::Unclear);
                        }
                        self.note(&liberties::LIST_COMMA, path, ",]", "]");
                    }
                }
                ']' => {}
                _ => return Err(NoReading::Unclear),
            }
        }
    }
}

/// An escape that stands for a blank, if a text outside of strings starts with it. In front of a letter it may be something else.
fn escaped_blank(text: &str) -> Option<&str> {
    let after = ["\\n", "\\t", "\\r"]
        .into_iter()
        .find_map(|escape| text.strip_prefix(escape))?;
    let is_blank = !after.starts_with(|c: char| c.is_alphanumeric() || c == '_');
    is_blank.then(|| &text[..text.len() - after.len()])
}

/// How many edits are recorded before comments are no longer recorded one by one.
const MOST_NOTED: usize = 64;

/// Whether the last member is a number.
fn ends_with_number(members: &[Member<'_>]) -> bool {
    let last = members.last().map(|(_, value)| value);
    matches!(last, Some(Value::Number(_)))
}

/// Whether the last member is a string that ends with a comma.
fn ends_with_comma(members: &[Member<'_>]) -> bool {
    let last = members.last().and_then(|(_, value)| value.as_str());
    last.is_some_and(|text| text.trim_end().ends_with(','))
}
