//! Numbers that keep their digits.
//!
//! A `serde_json::Number` holds a `u64`, an `i64` or an `f64`; an id of 23 digits becomes a float there and loses its last
//! digits. Here a number is the text that was sent, and is only interpreted when needed.

use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

use super::Value;
use super::strict;

/// A JSON number as its digits. Always a JSON literal within the range of `f64`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Number<'a>(Cow<'a, str>);

impl<'a> Number<'a> {
    /// Only for text that is a JSON number: the parser has just read it, or we have just printed it.
    pub(crate) fn from_literal(literal: impl Into<Cow<'a, str>>) -> Self {
        Number(literal.into())
    }

    /// The digits as written.
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

    /// Whether the value is an integer; `5.0` and `1e3` are. Exact at any length.
    pub fn is_integer(&self) -> bool {
        self.is_written_as_integer() || Decimal::of(&self.0).power >= 0
    }

    /// The exact value, if it is an integer of at most 128 bits, however it is written.
    pub(crate) fn as_whole(&self) -> Option<Whole> {
        Decimal::of(&self.0).whole()
    }

    /// The same number without borrowed data.
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

/// The text is not a JSON number, or the number is outside the range of `f64`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NotANumber;

impl fmt::Display for NotANumber {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("not a JSON number within the range of a double")
    }
}

impl std::error::Error for NotANumber {}

/// From a JSON literal. Its digits are kept.
impl FromStr for Number<'static> {
    type Err = NotANumber;

    fn from_str(literal: &str) -> Result<Self, NotANumber> {
        match strict::parse(literal, 0).map(|document| document.value) {
            // The parser accepts blanks around a value; a literal has none.
            Ok(Value::Number(number)) if number.as_str().len() == literal.len() => {
                Ok(number.into_owned())
            }
            _ => Err(NotANumber),
        }
    }
}

/// From a float that is neither infinite nor `NaN`, with as many digits as distinguish it from its neighbours.
impl TryFrom<f64> for Number<'static> {
    type Error = NotANumber;

    fn try_from(number: f64) -> Result<Self, NotANumber> {
        if !number.is_finite() {
            return Err(NotANumber);
        }
        // Rust formats a finite float as a JSON number, the shortest that parses as the same float.
        Ok(Number::from_literal(format!("{number:?}")))
    }
}

/// An integer: its sign and its distance from zero.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Whole {
    pub(crate) negative: bool,
    pub(crate) magnitude: u128,
}

/// A literal taken apart: `120.50` is 1205 at the power of ten -1.
#[derive(Debug)]
pub(super) struct Decimal<'a> {
    pub(super) negative: bool,
    pub(super) whole: &'a str,
    pub(super) fraction: &'a str,
    /// How many digits of `whole` and `fraction` together are left without trailing zeros; none for zero.
    pub(super) significant: usize,
    /// The power of ten of the significant digits.
    pub(super) power: i64,
}

impl<'a> Decimal<'a> {
    pub(super) fn of(literal: &'a str) -> Self {
        let (negative, text) = match literal.strip_prefix('-') {
            Some(rest) => (true, rest),
            None => (false, literal),
        };
        let split = |text: &'a str, at: Option<usize>| {
            at.map_or((text, None), |at| (&text[..at], Some(&text[at + 1..])))
        };
        let e = text.bytes().position(|it| matches!(it, b'e' | b'E'));
        let (digits, exponent) = split(text, e);
        let point = digits.bytes().position(|it| it == b'.');
        let (whole, fraction) = split(digits, point);
        let fraction = fraction.unwrap_or_default();
        let zero = |byte: &u8| *byte == b'0';
        let digits = || whole.bytes().chain(fraction.bytes());
        let trailing = digits().rev().take_while(zero).count();
        let significant = whole.len() + fraction.len() - trailing;
        // A literal is in the range of `f64`, so an exponent that does not fit in an integer is far below zero, or belongs to
        // zero.
        let exponent = exponent.map_or(0, |it| it.parse::<i64>().unwrap_or(i64::MIN));
        let length = |count: usize| i64::try_from(count).unwrap_or(i64::MAX);
        let power = if significant == 0 {
            0
        } else {
            exponent
                .saturating_add(length(trailing))
                .saturating_sub(length(fraction.len()))
        };
        Decimal {
            negative,
            whole,
            fraction,
            significant,
            power,
        }
    }

    fn whole(&self) -> Option<Whole> {
        let factor = 10u128.checked_pow(u32::try_from(self.power).ok()?)?;
        let mut digits = self.whole.bytes().chain(self.fraction.bytes());
        let digits = digits.by_ref().take(self.significant);
        let mut magnitude = 0u128;
        for digit in digits {
            magnitude = magnitude
                .checked_mul(10)?
                .checked_add(u128::from(digit - b'0'))?;
        }
        Some(Whole {
            negative: self.negative,
            magnitude: magnitude.checked_mul(factor)?,
        })
    }
}

/// Whether a literal is outside the range of `f64`, which no JSON parser we know of accepts.
///
/// Only a literal with an exponent or with more than 300 characters can be (`f64::MAX` has 309 digits), so the usual number is
/// not parsed for this.
pub(crate) fn overflows(literal: &str, has_exponent: bool) -> bool {
    (has_exponent || literal.len() > 300)
        && literal
            .parse::<f64>()
            .is_ok_and(|number| !number.is_finite())
}

#[cfg(test)]
mod tests {
    use super::{NotANumber, Number, Whole};

    fn whole(literal: &str) -> Option<i128> {
        let Whole {
            negative,
            magnitude,
        } = Number::from_literal(literal.to_owned()).as_whole()?;
        let magnitude = i128::try_from(magnitude).expect("small");
        Some(if negative { -magnitude } else { magnitude })
    }

    #[test]
    fn integers_are_found_however_they_are_written() {
        assert_eq!(whole("5.0"), Some(5));
        assert_eq!(whole("-5.00e0"), Some(-5));
        assert_eq!(whole("1e2"), Some(100));
        assert_eq!(whole("1.5E+1"), Some(15));
        assert_eq!(whole("1200e-2"), Some(12));
        assert_eq!(whole("-0.0"), Some(0));
        assert_eq!(whole("0e99999999999999999999"), Some(0));
        assert_eq!(
            whole("12345678901234567890123.0"),
            Some(12_345_678_901_234_567_890_123)
        );
    }

    #[test]
    fn only_literals_of_json_become_numbers() {
        for literal in ["0", "-0", "12345678901234567890123", "1.50", "1e3", "-2E-7"] {
            let number: Number<'_> = literal.parse().expect(literal);
            assert_eq!(number.as_str(), literal);
        }
        for text in [
            "", " 1", "1 ", "+1", "01", ".5", "1.", "1e", "1e999", "NaN", "\"1\"", "[1]", "١",
        ] {
            assert_eq!(text.parse::<Number<'_>>(), Err(NotANumber), "{text}");
        }
    }

    #[test]
    fn finite_floats_become_numbers() {
        for number in [0.0, -0.0, 0.1, 1e300, f64::MIN_POSITIVE, f64::MAX] {
            let read = Number::try_from(number).expect("finite");
            assert_eq!(read.as_f64().to_bits(), number.to_bits());
            assert_eq!(read.as_str().parse(), Ok(read.clone()));
        }
        for number in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            assert_eq!(Number::try_from(number), Err(NotANumber));
        }
    }

    #[test]
    fn fractions_are_not_integers() {
        for literal in [
            "5.5",
            "1e-1",
            "12345678901234567890.5",
            "1e-99999999999999999999",
        ] {
            assert_eq!(whole(literal), None, "{literal}");
            assert!(!Number::from_literal(literal).is_integer(), "{literal}");
        }
        assert!(Number::from_literal("1e300").is_integer());
        assert_eq!(whole("1e300"), None);
    }
}
