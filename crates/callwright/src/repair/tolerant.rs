//! A reader for what models write instead of JSON, with a ledger of every liberty it takes.
//!
//! In comes text that starts with `{` or `[`, out goes its one reading, the edits, and where it ends; or
//! nothing, where there is more than one reading or none. It never completes a text that ends in the
//! middle, never drops a character of a string, and takes no expression for a value.

use std::borrow::Cow;

use super::extract::JSON_BLANK;
use super::{Edit, Grade};
use crate::json::{Member, Number, Path, Value, has_duplicate, overflows};

/// What one text held.
pub(super) struct Reading {
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
    /// Not what anybody would write for JSON, or more than one reading.
    Unclear,
}

type Read<T> = Result<T, NoReading>;

/// Reads the value that starts at byte `from`; if it has no reading, says why and where.
pub(super) fn read(
    text: &str,
    from: usize,
    max_depth: usize,
) -> Result<Reading, (NoReading, Path)> {
    let mut reader = Reader {
        text,
        at: from,
        edits: Vec::new(),
        stopped: None,
    };
    match reader.value(&Path::root(), max_depth) {
        Ok(value) => Ok(Reading {
            value,
            edits: reader.edits,
            end: reader.at,
        }),
        Err(why) => Err((why, reader.stopped.unwrap_or_else(Path::root))),
    }
}

struct Reader<'t> {
    text: &'t str,
    at: usize,
    edits: Vec<Edit>,
    /// The innermost place that was being read when reading stopped.
    stopped: Option<Path>,
}

impl<'t> Reader<'t> {
    fn rest(&self) -> &'t str {
        &self.text[self.at..]
    }

    fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    fn next_token(&mut self) -> Read<char> {
        self.skip_blank()?;
        self.peek().ok_or(NoReading::CutOff)
    }

    /// White space and comments.
    fn skip_blank(&mut self) -> Read<()> {
        loop {
            let rest = self.rest();
            let trimmed = rest.trim_start();
            let blank = &rest[..rest.len() - trimmed.len()];
            if blank.contains(|c| !JSON_BLANK.contains(&c)) {
                self.note("white_space", Grade::Lossless, &Path::root(), blank, "");
            }
            self.at += blank.len();
            let ends = if trimmed.starts_with("//") {
                trimmed.find('\n')
            } else if trimmed.starts_with("/*") {
                trimmed.find("*/").map(|end| end + 2)
            } else {
                return Ok(());
            };
            // Behind a comment that never ends the text is cut off, unless the comment hides its end.
            let comment = ends.ok_or_else(|| match trimmed.find(['}', ']']) {
                Some(_) => NoReading::Unclear,
                None => NoReading::CutOff,
            })?;
            let before = trimmed[..comment].to_owned();
            self.note("comment", Grade::Lossless, &Path::root(), &before, "");
            self.at += comment;
        }
    }

    /// Records a liberty, once per rule: the first place shows it.
    fn note(&mut self, rule: &'static str, grade: Grade, path: &Path, before: &str, after: &str) {
        const SHOWN: usize = 40;
        let shown = |text: &str| {
            let short: String = text.chars().take(SHOWN).collect();
            Value::String(Cow::Owned(short))
        };
        if !self.edits.iter().any(|edit| edit.rule == rule) {
            self.edits.push(Edit {
                path: path.clone(),
                rule,
                grade,
                before: shown(before),
                after: shown(after),
            });
        }
    }

    fn value(&mut self, path: &Path, depth_left: usize) -> Read<Value<'static>> {
        match self.next_token()? {
            '{' if depth_left > 0 => self.object(path, depth_left - 1),
            '[' if depth_left > 0 => self.array(path, depth_left - 1),
            quote @ ('"' | '\'') => Ok(Value::String(Cow::Owned(self.string(quote, path)?))),
            '-' | '0'..='9' => self.number(),
            c if c.is_alphabetic() => self.word(path),
            _ => Err(NoReading::Unclear),
        }
    }

    /// A value inside another one.
    fn inner(&mut self, path: &Path, depth_left: usize) -> Read<Value<'static>> {
        let value = self.value(path, depth_left);
        if value.is_err() && self.stopped.is_none() {
            self.stopped = Some(path.clone());
        }
        value
    }

    fn object(&mut self, path: &Path, depth_left: usize) -> Read<Value<'static>> {
        self.at += 1;
        let mut members: Vec<Member<'static>> = Vec::new();
        loop {
            match self.next_token()? {
                '}' => {
                    self.at += 1;
                    // Of a key that stands twice nobody knows which value is meant.
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
            let value = self.inner(&here, depth_left)?;
            let end = self.at;
            members.push((Cow::Owned(key), value));
            match self.next_token()? {
                ',' => {
                    self.at += 1;
                    if self.next_token()? == '}' {
                        self.note("trailing_comma", Grade::Lossless, path, ",}", "}");
                    }
                }
                '}' => {}
                '"' | '\'' if self.at > end => {
                    self.note("missing_comma", Grade::Lossless, path, "", ",");
                }
                _ => return Err(NoReading::Unclear),
            }
        }
    }

    fn key(&mut self, path: &Path) -> Read<String> {
        match self.next_token()? {
            quote @ ('"' | '\'') => self.string(quote, path),
            c if c.is_alphabetic() || c == '_' || c == '$' => {
                let length = self
                    .rest()
                    .find(|c: char| !(c.is_alphanumeric() || matches!(c, '_' | '$' | '-' | '.')))
                    .ok_or(NoReading::CutOff)?;
                let key = self.rest()[..length].to_owned();
                self.at += length;
                // `description": "…"`: only the opening quote is missing.
                if self.rest().starts_with("\":") {
                    self.at += 1;
                }
                self.note(
                    "unquoted_key",
                    Grade::Lossless,
                    path,
                    &key,
                    &format!("\"{key}\""),
                );
                Ok(key)
            }
            _ => Err(NoReading::Unclear),
        }
    }

    fn array(&mut self, path: &Path, depth_left: usize) -> Read<Value<'static>> {
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
            items.push(self.inner(&path.index(items.len()), depth_left)?);
            match self.next_token()? {
                ',' => {
                    self.at += 1;
                    if self.next_token()? == ']' {
                        self.note("trailing_comma", Grade::Lossless, path, ",]", "]");
                    }
                }
                ']' => {}
                _ => return Err(NoReading::Unclear),
            }
        }
    }

    fn number(&mut self) -> Read<Value<'static>> {
        let rest = self.rest();
        let length = rest
            .find(|c: char| !matches!(c, '0'..='9' | '-' | '+' | '.' | 'e' | 'E'))
            .ok_or(NoReading::CutOff)?;
        let literal = &rest[..length];
        let next = rest[length..].trim_start().chars().next();
        // `5 * 2800`, `1/2`, `5 apples`: not a number.
        if !is_number(literal) || !matches!(next, Some(',' | '}' | ']')) {
            return Err(if next.is_none() {
                NoReading::CutOff
            } else {
                NoReading::Unclear
            });
        }
        self.at += length;
        Ok(Value::Number(Number::from_literal(literal.to_owned())))
    }

    /// `true`, `None` and their kin. Any other bare word is an expression or a name.
    fn word(&mut self, path: &Path) -> Read<Value<'static>> {
        let rest = self.rest();
        let length = rest
            .find(|c: char| !(c.is_alphanumeric() || c == '_'))
            .ok_or(NoReading::CutOff)?;
        let word = rest[..length].to_owned();
        let (value, json) = match word.as_str() {
            "true" | "True" | "TRUE" => (Value::Bool(true), "true"),
            "false" | "False" | "FALSE" => (Value::Bool(false), "false"),
            "null" | "None" | "NULL" | "undefined" | "nil" => (Value::Null, "null"),
            _ => return Err(NoReading::Unclear),
        };
        let next = rest[length..].trim_start().chars().next();
        if !matches!(next, Some(',' | '}' | ']')) {
            return Err(if next.is_none() {
                NoReading::CutOff
            } else {
                NoReading::Unclear
            });
        }
        if word != json {
            self.note("literal", Grade::Lossless, path, &word, json);
        }
        self.at += length;
        Ok(value)
    }

    /// A string ends at the first quote of its own kind. Whether that was meant shows in what follows.
    fn string(&mut self, quote: char, path: &Path) -> Read<String> {
        self.at += 1;
        let start = self.at;
        let mut out = String::new();
        let (mut kept_backslash, mut decoded_escape) = (false, false);
        loop {
            match self.peek().ok_or(NoReading::CutOff)? {
                '\\' => {
                    let decoded = self.escape(quote)?;
                    decoded_escape |= decoded.is_some();
                    kept_backslash |= decoded.is_none();
                    out.push(decoded.unwrap_or('\\'));
                }
                c if c == quote => break,
                c => {
                    if c.is_control() {
                        self.note("raw_control", Grade::Lossless, path, &c.to_string(), "\\n");
                    }
                    out.push(c);
                    self.at += c.len_utf8();
                }
            }
        }
        // `C:\new\Users`: is `\n` a line break there? Nobody can tell.
        if kept_backslash && decoded_escape {
            return Err(NoReading::Unclear);
        }
        if kept_backslash {
            self.note("backslash", Grade::Lossless, path, "\\", "\\\\");
        }
        let written = &self.text[start..self.at];
        self.at += 1;
        if quote == '\'' {
            let (before, after) = (format!("'{written}'"), format!("\"{written}\""));
            self.note("single_quotes", Grade::Lossless, path, &before, &after);
        }
        Ok(out)
    }

    /// What an escape stands for; nothing, if it is none of JSON's and the backslash stands for itself.
    fn escape(&mut self, quote: char) -> Read<Option<char>> {
        let mut characters = self.rest().chars();
        characters.next();
        let kind = characters.next().ok_or(NoReading::CutOff)?;
        let decoded = match kind {
            '"' => '"',
            '\\' => '\\',
            '/' if quote == '"' => '/',
            '/' => return Err(NoReading::Unclear),
            'b' => '\u{8}',
            'f' => '\u{c}',
            'n' => '\n',
            'r' => '\r',
            't' => '\t',
            '\'' if quote == '\'' => '\'',
            'u' => return self.unicode().map(Some),
            // Escapes of other languages: they may be meant.
            '\'' | 'x' | 'N' | 'a' | 'v' | '\n' | '\r' | '0'..='9' => {
                return Err(NoReading::Unclear);
            }
            'U' if self.rest()[2..].starts_with("000") => return Err(NoReading::Unclear),
            _ => {
                self.at += 1;
                return Ok(None);
            }
        };
        self.at += 1 + kind.len_utf8();
        Ok(Some(decoded))
    }

    /// `\u` with four hex digits, and its other half where it has one.
    fn unicode(&mut self) -> Read<char> {
        let first = unit(self.rest())?;
        if let Some(decoded) = char::from_u32(first) {
            self.at += 6;
            return Ok(decoded);
        }
        let second = unit(self.rest().get(6..).unwrap_or_default())?;
        if !(0xD800..0xDC00).contains(&first) || !(0xDC00..0xE000).contains(&second) {
            return Err(NoReading::Unclear);
        }
        let code = 0x10000 + ((first - 0xD800) << 10) + (second - 0xDC00);
        self.at += 12;
        char::from_u32(code).ok_or(NoReading::Unclear)
    }
}

/// The number in a `\u` escape.
fn unit(text: &str) -> Read<u32> {
    let mut code = 0;
    let mut characters = text.chars();
    for expected in ['\\', 'u'] {
        match characters.next() {
            Some(c) if c == expected => {}
            Some(_) => return Err(NoReading::Unclear),
            None => return Err(NoReading::CutOff),
        }
    }
    for _ in 0..4 {
        let digit = characters.next().ok_or(NoReading::CutOff)?;
        code = code * 16 + digit.to_digit(16).ok_or(NoReading::Unclear)?;
    }
    Ok(code)
}

/// Whether a text is a number as JSON writes them, within the range of a double.
pub(super) fn is_number(text: &str) -> bool {
    !text.contains(char::is_whitespace)
        && matches!(crate::parse::read_value(text), Ok(Value::Number(_)))
        && !overflows(text, true)
}
