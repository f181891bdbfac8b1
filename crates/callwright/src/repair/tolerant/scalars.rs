//! Numbers and words as models write them.
//!
//! Takes the position of a bare value; returns it and moves past it, if it is a number or a word for a literal, and what follows
//! shows that it is complete. An expression, a unit or a name is never a value.

use super::super::liberties;
use super::{NoReading, TolerantReader, TolerantResult, escaped_blank};
use crate::json::{Number, Path, Value, overflows};

impl TolerantReader<'_> {
    pub(super) fn number(&mut self) -> TolerantResult<Value<'static>> {
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
    pub(super) fn word(&mut self, path: &Path) -> TolerantResult<Value<'static>> {
        let rest = self.rest();
        let length = rest
            .find(|c: char| !(c.is_alphanumeric() || c == '_'))
            .ok_or(NoReading::CutOff)?;
        let word = rest[..length].to_owned();
        let (value, json) = literal(&word).ok_or(NoReading::Unclear)?;
        self.end_scalar(length, true)?;
        if word != json {
            self.note(&liberties::LITERAL, path, &word, json);
        }
        Ok(value)
    }

    /// Moves past a value of this many bytes, if it is one and what follows shows that it is complete.
    fn end_scalar(&mut self, length: usize, is_value: bool) -> TolerantResult<()> {
        let after = &self.rest()[length..];
        let mut next = after.trim_start();
        while let Some(escape) = escaped_blank(next) {
            next = next[escape.len()..].trim_start();
        }
        let blank = &after[..after.len() - next.len()];
        match next.chars().next() {
            None => return Err(NoReading::CutOff),
            Some(',' | '，' | '}' | ']') if is_value => {}
            Some('"') if is_value && !self.in_list && blank.contains('\n') => {}
            Some(_) => return Err(NoReading::Unclear),
        }
        self.at += length;
        Ok(())
    }
}

/// The value that a word stands for in JSON, Python or Ruby, and its name in JSON.
pub(in super::super) fn literal(word: &str) -> Option<(Value<'static>, &'static str)> {
    match word {
        "true" | "True" | "TRUE" => Some((Value::Bool(true), "true")),
        "false" | "False" | "FALSE" => Some((Value::Bool(false), "false")),
        "null" | "None" | "NULL" | "nil" => Some((Value::Null, "null")),
        _ => None,
    }
}

/// Whether a text is a JSON number within the range of a double.
pub(in super::super) fn is_number(text: &str) -> bool {
    !text.contains(char::is_whitespace)
        && matches!(crate::json::read_value(text), Ok(Value::Number(_)))
        && !overflows(text, true)
}
