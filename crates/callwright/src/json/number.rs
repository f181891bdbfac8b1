//! Numbers that keep their digits.
//!
//! A `serde_json::Number` holds a `u64`, an `i64` or an `f64`; an id of 23 digits becomes a float
//! there and loses its end. Here a number is the text that was sent, and is only interpreted when
//! somebody asks.

use std::borrow::Cow;

/// A JSON number as its digits. Always a literal of the JSON grammar within the range of `f64`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Number<'a>(Cow<'a, str>);

impl<'a> Number<'a> {
    /// Only for text that is a JSON number: the parser has just read it, or we have just printed it.
    pub(crate) fn from_literal(literal: impl Into<Cow<'a, str>>) -> Self {
        Number(literal.into())
    }

    /// The digits as they were written.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The value as `u64`, if the literal is a non-negative integer that fits.
    pub fn as_u64(&self) -> Option<u64> {
        self.0.parse().ok()
    }

    /// The value as `i64`, if the literal is an integer that fits.
    pub fn as_i64(&self) -> Option<i64> {
        self.0.parse().ok()
    }

    /// The nearest `f64`.
    pub fn as_f64(&self) -> f64 {
        // A JSON number is always a Rust float literal, so the fallback is never taken.
        self.0.parse().unwrap_or(f64::NAN)
    }

    /// Whether it is written without a fraction and without an exponent.
    pub fn is_written_as_integer(&self) -> bool {
        !self
            .0
            .bytes()
            .any(|byte| matches!(byte, b'.' | b'e' | b'E'))
    }

    /// Whether the value is an integer; `5.0` and `1e3` are.
    pub fn is_integer(&self) -> bool {
        self.is_written_as_integer() || self.as_f64().fract() == 0.0
    }

    /// The same number, borrowing from nothing.
    pub fn into_owned(self) -> Number<'static> {
        Number(Cow::Owned(self.0.into_owned()))
    }
}

impl From<u64> for Number<'_> {
    fn from(number: u64) -> Self {
        Number(Cow::Owned(number.to_string()))
    }
}

impl From<i64> for Number<'_> {
    fn from(number: i64) -> Self {
        Number(Cow::Owned(number.to_string()))
    }
}

/// Whether a literal is outside the range of `f64`, which no JSON reader we know of takes.
///
/// Only a literal with an exponent or with more than 300 characters can be (`f64::MAX` has 309
/// digits), so the usual number is not parsed for this.
pub(crate) fn overflows(literal: &str, has_exponent: bool) -> bool {
    (has_exponent || literal.len() > 300)
        && literal
            .parse::<f64>()
            .is_ok_and(|number| !number.is_finite())
}
