//! Numbers and words as models write them.
//!
//! Takes the position of a bare value; returns it and moves past it, if it is a number or a word for a literal, and what follows
//! shows that it is complete. An expression, a unit or a name is never a value.

use std::borrow::Cow;

use super::super::liberties;
use super::{NoReading, TolerantReader, TolerantResult, escaped_blank};
use crate::json::{Number, Path, Value, overflows};

impl TolerantReader<'_> {
    pub(super) fn number(&mut self, path: &Path) -> TolerantResult<Value<'static>> {
        let rest = self.rest();
        let length = rest
            .find(|c: char| !matches!(c, '0'..='9' | '-' | '+' | '.' | 'e' | 'E' | '_'))
            .ok_or(NoReading::CutOff)?;
        let written = &rest[..length];
        let literal = as_json(written).ok_or(NoReading::Unclear)?;
        // `5 * 2800`, `1/2`, `5 apples`: not a number.
        self.end_scalar(length, is_number(&literal), |blank| blank.contains('\n'))?;
        if literal != written {
            self.note(&liberties::NUMBER, path, written, &literal);
        }
        Ok(Value::Number(Number::from_literal(literal.into_owned())))
    }

    /// `true`, `None` and similar words. Any other bare word is an expression or a name.
    pub(super) fn word(&mut self, path: &Path) -> TolerantResult<Value<'static>> {
        let rest = self.rest();
        let length = rest
            .find(|c: char| !(c.is_alphanumeric() || c == '_'))
            .ok_or(NoReading::CutOff)?;
        let word = rest[..length].to_owned();
        let (value, json) = literal(&word).ok_or(NoReading::Unclear)?;
        self.end_scalar(length, true, |blank| !blank.is_empty())?;
        if word != json {
            self.note(&liberties::LITERAL, path, &word, json);
        }
        Ok(value)
    }

    /// Moves past a value of this many bytes, if it is one and what follows shows that it is complete. `parts` tells whether a
    /// blank parts it from the next key.
    fn end_scalar(
        &mut self,
        length: usize,
        is_value: bool,
        parts: fn(&str) -> bool,
    ) -> TolerantResult<()> {
        let after = &self.rest()[length..];
        let mut next = after.trim_start();
        while let Some(escape) = escaped_blank(next) {
            next = next[escape.len()..].trim_start();
        }
        let blank = &after[..after.len() - next.len()];
        match next.chars().next() {
            None => return Err(NoReading::CutOff),
            Some(',' | '，' | '}' | '｝' | ']') if is_value => {}
            Some('"') if is_value && !self.in_list && parts(blank) => {}
            Some(_) => return Err(NoReading::Unclear),
        }
        self.at += length;
        Ok(())
    }
}

/// The value of a literal of JSON, Python or Ruby, and how JSON writes it.
pub(in super::super) fn literal(word: &str) -> Option<(Value<'static>, &'static str)> {
    match word {
        "true" | "True" | "TRUE" => Some((Value::Bool(true), "true")),
        "false" | "False" | "FALSE" => Some((Value::Bool(false), "false")),
        "null" | "None" | "NULL" | "nil" => Some((Value::Null, "null")),
        _ => None,
    }
}

/// A number as JSON writes it: without a plus, with a digit before the point, and without `_` between thousands. With a plus, a
/// long one may be that of a telephone.
fn as_json(written: &str) -> Option<Cow<'_, str>> {
    const LONGEST_WITH_PLUS: usize = 6;
    let without_plus = written
        .strip_prefix('+')
        .filter(|rest| !rest.starts_with('-'));
    let signed = without_plus.unwrap_or(written);
    let (minus, digits) = signed.split_at(usize::from(signed.starts_with('-')));
    let (whole, rest) = digits.split_at(digits.find(['.', 'e', 'E']).unwrap_or(digits.len()));
    if without_plus.is_some() && whole.len() > LONGEST_WITH_PLUS {
        return None;
    }
    let mut groups = whole.split('_');
    let first = groups.next().map_or(0, str::len);
    let has_groups = first < whole.len();
    if has_groups && !(matches!(first, 1..=3) && groups.all(|group| group.len() == 3)) {
        return None;
    }
    let zero = if digits.starts_with('.') { "0" } else { "" };
    if without_plus.is_none() && !has_groups && zero.is_empty() {
        return Some(written.into());
    }
    Some(format!("{minus}{zero}{}{rest}", whole.replace('_', "")).into())
}

/// Whether a text is a JSON number within the range of a double.
pub(in super::super) fn is_number(text: &str) -> bool {
    !text.contains(char::is_whitespace)
        && matches!(crate::json::read_value(text), Ok(Value::Number(_)))
        && !overflows(text, true)
}
