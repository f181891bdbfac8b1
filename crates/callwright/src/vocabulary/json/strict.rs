//! The strict JSON parser (RFC 8259): text in, [`Value`] or [`SyntaxError`] out.
//!
//! It accepts exactly what `serde_json` accepts and is faster, because it borrows instead of copying. No path is tracked on
//! success: on an error each level adds its own segment on the way out. It never repairs and never guesses.

use std::borrow::Cow;

use super::{
    Member, Number, Problem, Segment, SyntaxError, Value, has_duplicate, overflows, plain_bytes,
    plain_until,
};

/// The result of parsing one text.
#[derive(Debug)]
pub(crate) struct Document<'a> {
    pub(crate) value: Value<'a>,
    /// Whether some object repeats a key; which one is determined on demand.
    pub(crate) has_duplicates: bool,
}

/// Parses exactly one JSON value, with nothing but white space around it.
pub(crate) fn parse(text: &str, max_depth: usize) -> Result<Document<'_>, Box<SyntaxError>> {
    let mut reader = StrictParser::new(text, 0);
    let value = reader.value(max_depth)?;
    reader.skip_white_space();
    if reader.at < text.len() {
        return Err(SyntaxError::new(reader.at, Problem::TrailingText));
    }
    Ok(Document {
        value,
        has_duplicates: reader.has_duplicates,
    })
}

/// Parses one JSON value that starts at byte `from` and returns where it ends; anything after it is ignored. For texts with
/// several values side by side.
pub(crate) fn parse_prefix(
    text: &str,
    from: usize,
    max_depth: usize,
) -> Result<(Value<'_>, usize), Box<SyntaxError>> {
    let mut reader = StrictParser::new(text, from);
    let value = reader.value(max_depth)?;
    Ok((value, reader.at))
}

/// Most objects have no more members; space for this many is reserved at first.
const SMALL_OBJECT: usize = 4;

/// The same for the outermost object: arguments are larger than their parts.
const OUTER_OBJECT: usize = 8;

/// A longer text is a line of a log rather than the arguments of a call: a record with a dozen members.
const LONGEST_ARGUMENTS: usize = 256;

/// A larger object is most likely a record with many members, so its list need not grow step by step. A list of this size is
/// just under a kilobyte, the largest size that allocators hand out without searching.
const LARGER_OBJECT: usize = 18;

type ParseResult<T> = Result<T, Box<SyntaxError>>;

struct StrictParser<'a> {
    text: &'a str,
    bytes: &'a [u8],
    at: usize,
    has_duplicates: bool,
    /// How many members to reserve space for in the next object.
    room: usize,
}

impl<'a> StrictParser<'a> {
    fn new(text: &'a str, at: usize) -> Self {
        StrictParser {
            text,
            bytes: text.as_bytes(),
            at,
            has_duplicates: false,
            room: if text.len() > LONGEST_ARGUMENTS {
                LARGER_OBJECT
            } else {
                OUTER_OBJECT
            },
        }
    }

    fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    fn skip_white_space(&mut self) {
        while let Some(b' ' | b'\n' | b'\r' | b'\t') = self.peek() {
            self.at += 1;
        }
    }

    /// The next byte that is not white space, left in place.
    fn next_token(&mut self) -> Option<u8> {
        self.skip_white_space();
        self.peek()
    }

    #[cold]
    fn fail<T>(&self, problem: Problem) -> ParseResult<T> {
        Err(SyntaxError::new(self.at, problem))
    }

    /// Something else was expected here; at the end of the text that means it was cut off.
    #[cold]
    fn unexpected<T>(&self, expected: &'static str) -> ParseResult<T> {
        self.fail(if self.at >= self.bytes.len() {
            Problem::CutOff
        } else {
            Problem::Unexpected { expected }
        })
    }

    fn value(&mut self, depth_left: usize) -> ParseResult<Value<'a>> {
        match self.next_token() {
            Some(b'"') => Ok(Value::String(self.string()?)),
            Some(b'{') => self.object(depth_left),
            Some(b'[') => self.array(depth_left),
            Some(b'-' | b'0'..=b'9') => Ok(Value::Number(self.number()?)),
            Some(b't') => self.literal("true", Value::Bool(true)),
            Some(b'f') => self.literal("false", Value::Bool(false)),
            Some(b'n') => self.literal("null", Value::Null),
            _ => self.unexpected("a value"),
        }
    }

    fn literal(&mut self, word: &'static str, value: Value<'a>) -> ParseResult<Value<'a>> {
        let rest = &self.bytes[self.at..];
        if rest.starts_with(word.as_bytes()) {
            self.at += word.len();
            return Ok(value);
        }
        if word.as_bytes().starts_with(rest) {
            self.at = self.bytes.len();
        }
        self.unexpected("a value")
    }

    fn object(&mut self, depth_left: usize) -> ParseResult<Value<'a>> {
        if depth_left == 0 {
            return self.fail(Problem::TooDeep);
        }
        self.at += 1;
        if self.next_token() == Some(b'}') {
            self.at += 1;
            return Ok(Value::Object(Vec::new()));
        }
        let room = std::mem::replace(&mut self.room, SMALL_OBJECT);
        let mut members: Vec<Member<'a>> = Vec::with_capacity(room);
        loop {
            if members.len() == room {
                // Not by growing it: allocators keep chunks of this size at hand for new lists only.
                let mut larger = Vec::with_capacity(LARGER_OBJECT);
                larger.append(&mut members);
                members = larger;
            }
            if self.next_token() != Some(b'"') {
                return self.unexpected("a key in double quotes");
            }
            let key = self.string()?;
            match self.member(depth_left) {
                Ok(value) => members.push((key, value)),
                Err(error) => return Err(error.within(Segment::Key(key.into_owned()))),
            }
            match self.next_token() {
                Some(b',') => self.at += 1,
                Some(b'}') => break,
                _ => {
                    let last = members.pop().map(|(key, _)| key.into_owned());
                    return self.not_continued("`}`", Segment::Key(last.unwrap_or_default()));
                }
            }
        }
        self.at += 1;
        self.has_duplicates |= has_duplicate(&members);
        Ok(Value::Object(members))
    }

    /// The value after a key.
    fn member(&mut self, depth_left: usize) -> ParseResult<Value<'a>> {
        if self.next_token() != Some(b':') {
            return self.unexpected("`:`");
        }
        self.at += 1;
        self.value(depth_left - 1)
    }

    fn array(&mut self, depth_left: usize) -> ParseResult<Value<'a>> {
        if depth_left == 0 {
            return self.fail(Problem::TooDeep);
        }
        self.at += 1;
        if self.next_token() == Some(b']') {
            self.at += 1;
            return Ok(Value::Array(Vec::new()));
        }
        let mut items = Vec::new();
        loop {
            match self.value(depth_left - 1) {
                Ok(value) => items.push(value),
                Err(error) => return Err(error.within(Segment::Index(items.len()))),
            }
            match self.next_token() {
                Some(b',') => self.at += 1,
                Some(b']') => break,
                _ => return self.not_continued("`]`", Segment::Index(items.len() - 1)),
            }
        }
        self.at += 1;
        Ok(Value::Array(items))
    }

    /// Neither a comma nor the end of the container follows a value.
    #[cold]
    fn not_continued<T>(&self, expected: &'static str, inner: Segment) -> ParseResult<T> {
        // Text right after the end of a string: most likely the string does not end there.
        let inside_string = self.bytes[..self.at].ends_with(b"\"")
            && !matches!(
                self.peek(),
                None | Some(b'"' | b'{' | b'}' | b'[' | b']' | b':')
            );
        let expected = match (expected, inside_string) {
            ("`}`", false) => "`,` or `}`",
            ("`}`", true) => "`,` or `}` (a quote inside a string needs a backslash)",
            (_, false) => "`,` or `]`",
            (_, true) => "`,` or `]` (a quote inside a string needs a backslash)",
        };
        self.unexpected(expected)
            .map_err(|error: Box<SyntaxError>| error.within(inner))
    }

    fn number(&mut self) -> ParseResult<Number<'a>> {
        let start = self.at;
        if self.peek() == Some(b'-') {
            self.at += 1;
        }
        match self.peek() {
            Some(b'0') => {
                self.at += 1;
                if let Some(b'0'..=b'9') = self.peek() {
                    self.at = start;
                    return self.fail(Problem::LeadingZero);
                }
            }
            Some(b'1'..=b'9') => self.digits()?,
            _ => return self.unexpected("a digit"),
        }
        if self.peek() == Some(b'.') {
            self.at += 1;
            self.digits()?;
        }
        let has_exponent = matches!(self.peek(), Some(b'e' | b'E'));
        if has_exponent {
            self.at += 1;
            if let Some(b'+' | b'-') = self.peek() {
                self.at += 1;
            }
            self.digits()?;
        }
        let literal = &self.text[start..self.at];
        if overflows(literal, has_exponent) {
            self.at = start;
            return self.fail(Problem::NumberOutOfRange);
        }
        Ok(Number::from_literal(literal))
    }

    /// One digit or more.
    fn digits(&mut self) -> ParseResult<()> {
        if !matches!(self.peek(), Some(b'0'..=b'9')) {
            return self.unexpected("a digit");
        }
        while let Some(b'0'..=b'9') = self.peek() {
            self.at += 1;
        }
        Ok(())
    }

    fn string(&mut self) -> ParseResult<Cow<'a, str>> {
        self.at += 1;
        let start = self.at;
        self.at = plain_until(self.bytes, start);
        if self.peek() == Some(b'"') {
            let text = &self.text[start..self.at];
            self.at += 1;
            return Ok(Cow::Borrowed(text));
        }
        self.escaped_string(start).map(Cow::Owned)
    }

    /// The rest of a string after the first byte that is not plain text.
    fn escaped_string(&mut self, start: usize) -> ParseResult<String> {
        /// Most strings with escapes are arguments as text, and no longer than this.
        const FIRST_GUESS: usize = 256;
        let left = self.bytes.len() - start;
        let mut out = Vec::with_capacity((self.at - start) + left.min(FIRST_GUESS));
        out.extend_from_slice(&self.bytes[start..self.at]);
        loop {
            match self.peek() {
                Some(b'"') => break,
                Some(b'\\') => {
                    // By far the most common escapes, in text inside text.
                    if let Some(simple @ (b'"' | b'\\')) = self.bytes.get(self.at + 1) {
                        self.at += 2;
                        out.push(*simple);
                    } else {
                        let decoded = self.escape()?;
                        out.extend_from_slice(decoded.encode_utf8(&mut [0; 4]).as_bytes());
                    }
                }
                Some(0..0x20) => return self.fail(Problem::ControlCharacter),
                Some(_) => self.copy_plain(&mut out),
                None => return self.fail(Problem::CutOff),
            }
        }
        self.at += 1;
        // Whole characters were copied from a valid text, so this never fails.
        String::from_utf8(out).or_else(|_| self.fail(Problem::LoneSurrogate))
    }

    /// Copies plain text. Between two escapes there are usually a few bytes: copying all eight and discarding the surplus is
    /// cheaper than copying the exact number.
    fn copy_plain(&mut self, out: &mut Vec<u8>) {
        while let Some(chunk) = self
            .bytes
            .get(self.at..)
            .and_then(|it| it.first_chunk::<8>())
        {
            let plain = plain_bytes(*chunk);
            let length = out.len() + plain;
            out.extend_from_slice(chunk);
            out.truncate(length);
            self.at += plain;
            if plain < chunk.len() {
                return;
            }
        }
        let end = plain_until(self.bytes, self.at);
        out.extend_from_slice(&self.bytes[self.at..end]);
        self.at = end;
    }

    fn escape(&mut self) -> ParseResult<char> {
        let start = self.at;
        self.at += 1;
        let decoded = match self.peek() {
            Some(b'"') => '"',
            Some(b'\\') => '\\',
            Some(b'/') => '/',
            Some(b'b') => '\u{8}',
            Some(b'f') => '\u{c}',
            Some(b'n') => '\n',
            Some(b'r') => '\r',
            Some(b't') => '\t',
            Some(b'u') => match unicode_escape(&self.bytes[start..]) {
                Ok((decoded, length)) => {
                    self.at = start + length;
                    return Ok(decoded);
                }
                Err(problem) => {
                    let is_cut = problem == Problem::CutOff;
                    self.at = if is_cut { self.bytes.len() } else { start };
                    return self.fail(problem);
                }
            },
            None => return self.fail(Problem::CutOff),
            Some(_) => {
                self.at = start;
                return self.fail(Problem::BadEscape);
            }
        };
        self.at += 1;
        Ok(decoded)
    }
}

/// The character that `\uXXXX`, or two of them, stand for at the start of these bytes, and how many bytes that takes.
pub(crate) fn unicode_escape(bytes: &[u8]) -> Result<(char, usize), Problem> {
    let unit = |from: usize| {
        let digits = (from..from + 4).map(|at| bytes.get(at).ok_or(Problem::CutOff));
        digits.into_iter().try_fold(0, |code, byte| {
            let digit = (*byte? as char).to_digit(16);
            Ok(code << 4 | digit.ok_or(Problem::BadUnicodeEscape)?)
        })
    };
    let first: u32 = unit(2)?;
    if let Some(decoded) = char::from_u32(first) {
        return Ok((decoded, 6));
    }
    let rest = &bytes[6..];
    if rest.len() < 2 && b"\\u".starts_with(rest) {
        return Err(Problem::CutOff);
    }
    if (0xD800..0xDC00).contains(&first) && rest.starts_with(b"\\u") {
        let second = unit(8)?;
        if (0xDC00..0xE000).contains(&second) {
            let code = 0x10000 + ((first - 0xD800) << 10) + (second - 0xDC00);
            return Ok((char::from_u32(code).ok_or(Problem::LoneSurrogate)?, 12));
        }
    }
    Err(Problem::LoneSurrogate)
}
