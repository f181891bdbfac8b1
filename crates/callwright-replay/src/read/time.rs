//! Converts times in logs to microseconds since 1970.
//!
//! Accepts RFC 3339 text, also with a space instead of the `T` or without a zone, which counts as UTC; and numbers of
//! seconds, milliseconds, microseconds or nanoseconds since 1970, distinguished by their size.

use callwright::json::Value;

const MICROS: i64 = 1_000_000;

/// From here on, a number counts smaller units. As seconds it is the year 5138, as milliseconds 1973.
const NOT_SECONDS: f64 = 1e11;

/// An instant in any known spelling; `None` if it is something else.
pub(super) fn read(value: &Value<'_>) -> Option<i64> {
    match value {
        Value::Number(number) => number
            .as_i64()
            .map_or_else(|| of_fraction(number.as_f64()), of_number),
        Value::String(text) => of_text(text),
        _ => None,
    }
}

/// A whole number: its size shows which unit it counts.
fn of_number(number: i64) -> Option<i64> {
    match number.unsigned_abs() {
        0..100_000_000_000 => number.checked_mul(MICROS),
        100_000_000_000..100_000_000_000_000 => number.checked_mul(1_000),
        100_000_000_000_000..100_000_000_000_000_000 => Some(number),
        _ => Some(number.div_euclid(1_000)),
    }
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "bounded by the comparison before it"
)]
fn of_fraction(number: f64) -> Option<i64> {
    if number.abs() < NOT_SECONDS {
        Some((number * 1e6).round() as i64)
    } else if number.abs() < 1e18 {
        of_number(number as i64)
    } else {
        None
    }
}

/// Nanoseconds since 1970, as OTLP writes them: a string, or a number.
pub(super) fn of_nanos(value: &Value<'_>) -> Option<i64> {
    let nanos: i64 = match value {
        Value::String(text) => text.parse().ok()?,
        Value::Number(number) => number.as_i64()?,
        _ => return None,
    };
    // Zero means unknown.
    (nanos != 0).then(|| nanos.div_euclid(1_000))
}

/// `2026-01-31T10:00:00.25+01:00` and similar, or a number in a string.
pub(super) fn of_text(text: &str) -> Option<i64> {
    let bytes = text.trim_ascii().as_bytes();
    if bytes.len() < 19 {
        return text.trim_ascii().parse().ok().and_then(of_fraction);
    }
    if bytes.iter().all(u8::is_ascii_digit) {
        return text.trim_ascii().parse().ok().and_then(of_number);
    }
    let number = |from: usize, to: usize| {
        bytes[from..to].iter().try_fold(0_i64, |sum, byte| {
            byte.is_ascii_digit()
                .then(|| sum * 10 + i64::from(byte - b'0'))
        })
    };
    let separators = [bytes[4], bytes[7], bytes[13], bytes[16]];
    if separators != [b'-', b'-', b':', b':'] || !matches!(bytes[10], b'T' | b't' | b' ') {
        return None;
    }
    let (year, month, day) = (number(0, 4)?, number(5, 7)?, number(8, 10)?);
    let (hour, minute, second) = (number(11, 13)?, number(14, 16)?, number(17, 19)?);
    // Leap seconds are written as second 60.
    let possible = (1..=12).contains(&month)
        && (1..=31).contains(&day)
        && hour < 24
        && minute < 60
        && second <= 60;
    if !possible {
        return None;
    }
    let mut at = 19;
    let mut micros = 0;
    if matches!(bytes.get(at), Some(b'.' | b',')) {
        let mut unit = MICROS / 10;
        at += 1;
        while let Some(digit @ b'0'..=b'9') = bytes.get(at) {
            micros += i64::from(digit - b'0') * unit;
            unit /= 10;
            at += 1;
        }
    }
    let seconds = ((days(year, month, day) * 24 + hour) * 60 + minute) * 60 + second;
    Some((seconds - zone(&bytes[at..])?) * MICROS + micros)
}

/// Seconds ahead of UTC.
fn zone(text: &[u8]) -> Option<i64> {
    let (sign, rest) = match text.trim_ascii_start() {
        [] | [b'Z' | b'z'] | b"UTC" => return Some(0),
        [b'+', rest @ ..] => (1, rest),
        [b'-', rest @ ..] => (-1, rest),
        _ => return None,
    };
    let digit = |byte: &u8| byte.is_ascii_digit().then(|| i64::from(byte - b'0'));
    let pair = |tens: &u8, ones: &u8| Some(digit(tens)? * 10 + digit(ones)?);
    let (hours, minutes) = match rest {
        [a, b] => (pair(a, b)?, 0),
        [a, b, c, d] | [a, b, b':', c, d] => (pair(a, b)?, pair(c, d)?),
        _ => return None,
    };
    Some(sign * (hours * 60 + minutes) * 60)
}

/// Days since 1970. Years are counted from March here, so that a leap day is the last of its year; 400 years always
/// have 146,097 days.
fn days(year: i64, month: i64, day: i64) -> i64 {
    let year = year - i64::from(month <= 2);
    let era = year.div_euclid(400);
    let year_of_era = year.rem_euclid(400);
    let month_from_march = (month + 9) % 12;
    let day_of_year = (153 * month_from_march + 2) / 5 + day - 1;
    let day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
    era * 146_097 + day_of_era - 719_468
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_instants() {
        // As `date -u -d TEXT +%s` prints them.
        for (text, seconds) in [
            ("1970-01-01T00:00:00Z", 0),
            ("1969-12-31T23:59:59Z", -1),
            ("2000-02-29T00:00:00Z", 951_782_400),
            ("2026-12-31T23:59:59Z", 1_798_761_599),
            ("2026-12-31 23:59:59", 1_798_761_599),
            ("2027-01-01T00:59:59+01:00", 1_798_761_599),
            ("2026-12-31T18:29:59-0530", 1_798_761_599),
            ("2100-03-01T00:00:00z", 4_107_542_400),
            ("1798761599", 1_798_761_599),
        ] {
            assert_eq!(of_text(text), Some(seconds * MICROS), "{text}");
        }
        assert_eq!(
            of_text("2026-12-31T23:59:59.1234567Z"),
            Some(1_798_761_599_123_456)
        );
        for text in [
            "",
            "now",
            "2026-13-01T00:00:00Z",
            "2026-12-31T23:59:59 CET",
            "31/12/2026 23:59:59",
        ] {
            assert_eq!(of_text(text), None, "{text}");
        }
    }

    #[test]
    fn numbers_show_their_unit() {
        let micros = 1_798_761_599_000_000_i64;
        for literal in [
            "1798761599",
            "1798761599.0",
            "1798761599000",
            "1798761599000000",
            "1798761599000000000",
        ] {
            let value = callwright::parse::read_value(literal).expect("a number");
            assert_eq!(read(&value), Some(micros), "{literal}");
        }
        let nanos = Value::String("1798761599000000123".into());
        assert_eq!(of_nanos(&nanos), Some(micros));
    }
}
