//! An instant as RFC 3339 text in UTC, to the microsecond: `2026-01-31T10:00:00.000001Z`.
//!
//! The calendar is the proleptic Gregorian one, as RFC 3339 requires. Texts of equal length sort like their instants.

use std::fmt::Write as _;
use std::time::{SystemTime, UNIX_EPOCH};

const MICROS_PER_SECOND: i128 = 1_000_000;
const SECONDS_PER_DAY: i128 = 86_400;

/// RFC 3339 has four digits for a year. Instants outside are clamped: to the start of the year 0 or the end of the year 9999,
/// in microseconds since 1970.
const FIRST: i128 = -62_167_219_200 * MICROS_PER_SECOND;
const LAST: i128 = 253_402_300_800 * MICROS_PER_SECOND - 1;

/// Appends an instant, in quotes.
pub(super) fn write_rfc3339(time: SystemTime, out: &mut String) {
    let micros = micros_since_1970(time).clamp(FIRST, LAST);
    let seconds = micros.div_euclid(MICROS_PER_SECOND);
    // The year has four digits, so this always fits.
    let day = i64::try_from(seconds.div_euclid(SECONDS_PER_DAY)).unwrap_or_default();
    let (year, month, day) = calendar_date(day);
    let second = seconds.rem_euclid(SECONDS_PER_DAY);
    let (hour, minute, second) = (second / 3_600, second / 60 % 60, second % 60);
    let fraction = micros.rem_euclid(MICROS_PER_SECOND);
    // Writing to a `String` cannot fail.
    let _ = write!(
        out,
        "\"{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{fraction:06}Z\""
    );
}

/// Rounded down, which preserves the order of instants.
fn micros_since_1970(time: SystemTime) -> i128 {
    let signed = |nanos: u128| i128::try_from(nanos).unwrap_or(i128::MAX);
    match time.duration_since(UNIX_EPOCH) {
        Ok(after) => signed(after.as_micros()),
        Err(before) => (-signed(before.duration().as_nanos())).div_euclid(1_000),
    }
}

/// Year, month and day of a day since 1970. Years start in March here, so that a leap day is the last of its year; 400 years
/// always have 146,097 days.
pub fn calendar_date(day: i64) -> (i64, i64, i64) {
    // Counted from 1 March of the year 0.
    let day = day.saturating_add(719_468);
    let era = day.div_euclid(146_097);
    let day_of_era = day.rem_euclid(146_097);
    let year_of_era =
        (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    // Starting with March, every five months have 153 days.
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = (month_from_march + 2) % 12 + 1;
    let year = era * 400 + year_of_era + i64::from(month <= 2);
    (year, month, day)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn text(time: SystemTime) -> String {
        let mut out = String::new();
        write_rfc3339(time, &mut out);
        out.trim_matches('"').to_owned()
    }

    fn after(seconds: u64, nanos: u32) -> String {
        text(UNIX_EPOCH + Duration::new(seconds, nanos))
    }

    #[test]
    fn known_instants() {
        // As `date -u -d @SECONDS` prints them.
        for (seconds, expected) in [
            (0, "1970-01-01T00:00:00.000000Z"),
            (68_169_599, "1972-02-28T23:59:59.000000Z"),
            (68_169_600, "1972-02-29T00:00:00.000000Z"),
            (951_782_400, "2000-02-29T00:00:00.000000Z"),
            (951_868_800, "2000-03-01T00:00:00.000000Z"),
            (1_000_000_000, "2001-09-09T01:46:40.000000Z"),
            (1_798_761_599, "2026-12-31T23:59:59.000000Z"),
            (4_107_542_400, "2100-03-01T00:00:00.000000Z"),
            (253_402_300_799, "9999-12-31T23:59:59.000000Z"),
        ] {
            assert_eq!(after(seconds, 0), expected);
        }
    }

    #[test]
    fn fractions_are_rounded_down_on_both_sides_of_1970() {
        assert_eq!(after(1, 1_999), "1970-01-01T00:00:01.000001Z");
        assert_eq!(after(1, 999_999_999), "1970-01-01T00:00:01.999999Z");
        let before = |nanos| text(UNIX_EPOCH - Duration::from_nanos(nanos));
        assert_eq!(before(1_000), "1969-12-31T23:59:59.999999Z");
        assert_eq!(before(1_001), "1969-12-31T23:59:59.999998Z");
        assert_eq!(
            text(UNIX_EPOCH - Duration::from_secs(86_400)),
            "1969-12-31T00:00:00.000000Z"
        );
    }

    #[test]
    fn an_instant_without_a_four_digit_year_is_written_as_the_nearest_with_one() {
        let late = UNIX_EPOCH + Duration::from_secs(300_000_000_000);
        assert_eq!(text(late), "9999-12-31T23:59:59.999999Z");
        let early = UNIX_EPOCH - Duration::from_secs(70_000_000_000);
        assert_eq!(text(early), "0000-01-01T00:00:00.000000Z");
    }

    #[test]
    fn every_day_follows_the_one_before_it() {
        let lengths = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
        let (mut year, mut month, mut day) = (1970, 1, 1);
        // Past 2400, which is a leap year again.
        for number in 0..160_000 {
            assert_eq!(calendar_date(number), (year, month, day));
            let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
            let length =
                lengths[usize::try_from(month).expect("small") - 1] + i64::from(leap && month == 2);
            day += 1;
            if day > length {
                (month, day) = (month + 1, 1);
            }
            if month > 12 {
                (year, month) = (year + 1, 1);
            }
        }
    }
}
