//! Formats numbers for people.

/// With a comma between thousands: `12,403`.
pub(crate) fn thousands(number: u64) -> String {
    let digits = number.to_string();
    let mut out = String::with_capacity(digits.len() + digits.len() / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// The singular or the plural.
pub(crate) fn noun<'w>(number: u64, one: &'w str, many: &'w str) -> &'w str {
    if number == 1 { one } else { many }
}

/// A number and its noun: `1 call`, `2,000 calls`.
pub(crate) fn count(number: u64, one: &str, many: &str) -> String {
    format!("{} {}", thousands(number), noun(number, one, many))
}

/// The count of a [`Distinct`](crate::summary::Distinct): above 256 it is accurate to about six percent, so two
/// digits are shown.
pub(crate) fn about(number: u64) -> String {
    if number <= 256 {
        return thousands(number);
    }
    let mut unit = 1;
    while number / unit >= 100 {
        unit *= 10;
    }
    let rounded = (number / unit) * unit;
    format!("about {}", thousands(rounded))
}

/// Conversations, which are counted that way.
pub(crate) fn conversations(number: u64) -> String {
    let noun = noun(number, "conversation", "conversations");
    format!("{} {noun}", about(number))
}

/// A fraction of a whole, between zero and one.
#[expect(clippy::cast_precision_loss, reason = "only shown")]
pub(crate) fn share(part: u64, whole: u64) -> f64 {
    if whole == 0 {
        return 0.0;
    }
    (part as f64 / whole as f64).min(1.0)
}

/// A fraction of a whole as `3.4%`. Something is never `0%`, and less than everything is never `100%`.
pub(crate) fn percent(part: u64, whole: u64) -> String {
    let hundredths = share(part, whole) * 100.0;
    if part == 0 || whole == 0 {
        "0%".to_owned()
    } else if part >= whole {
        "100%".to_owned()
    } else if hundredths < 0.01 {
        "<0.01%".to_owned()
    } else if hundredths < 0.995 {
        format!("{hundredths:.2}%")
    } else {
        // Rounding must not turn it into the whole.
        format!("{:.1}%", hundredths.min(99.9))
    }
}

/// A share in hundredths, for drawing: two decimals are finer than any screen.
pub(crate) fn hundredths(share: f64) -> f64 {
    (share * 10_000.0).round() / 100.0
}

/// Bytes in units of a thousand: `1.2 GB`.
pub(crate) fn bytes(number: u64) -> String {
    const UNITS: [&str; 6] = ["kB", "MB", "GB", "TB", "PB", "EB"];
    if number < 1000 {
        return count(number, "byte", "bytes");
    }
    #[expect(clippy::cast_precision_loss, reason = "only shown")]
    let mut scaled = number as f64 / 1000.0;
    let mut unit = 0;
    // A value that would round to a thousand belongs to the next unit.
    while scaled >= 999.5 && unit + 1 < UNITS.len() {
        scaled /= 1000.0;
        unit += 1;
    }
    let digits = usize::from(scaled < 9.95);
    format!("{scaled:.digits$} {}", UNITS[unit])
}

/// A time span in its two largest units: `2 h 5 min`, `350 ms`.
pub(crate) fn duration(us: u64) -> String {
    const SECOND: u64 = 1_000_000;
    match us {
        0 => "0 s".to_owned(),
        1..1_000 => format!("{us} µs"),
        1_000..SECOND => format!("{} ms", us / 1_000),
        _ => {
            let seconds = us / SECOND;
            let (minutes, hours, days) = (seconds / 60, seconds / 3_600, seconds / 86_400);
            if days > 0 {
                two(days, "d", hours % 24, "h")
            } else if hours > 0 {
                two(hours, "h", minutes % 60, "min")
            } else if minutes > 0 {
                two(minutes, "min", seconds % 60, "s")
            } else {
                format!("{seconds} s")
            }
        }
    }
}

fn two(large: u64, large_unit: &str, small: u64, small_unit: &str) -> String {
    let large = thousands(large);
    if small == 0 {
        format!("{large} {large_unit}")
    } else {
        format!("{large} {large_unit} {small} {small_unit}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thousands_are_parted() {
        assert_eq!(thousands(0), "0");
        assert_eq!(thousands(999), "999");
        assert_eq!(thousands(12_403), "12,403");
        assert_eq!(thousands(u64::MAX), "18,446,744,073,709,551,615");
    }

    #[test]
    fn an_estimate_is_called_one() {
        assert_eq!(about(256), "256");
        assert_eq!(about(257), "about 250");
        assert_eq!(about(20_454), "about 20,000");
        assert_eq!(about(u64::MAX), "about 18,000,000,000,000,000,000");
    }

    #[test]
    fn something_is_not_nothing_and_not_all() {
        assert_eq!(percent(0, 10), "0%");
        assert_eq!(percent(0, 0), "0%");
        assert_eq!(percent(1, 1_000_000), "<0.01%");
        assert_eq!(percent(34, 10_000), "0.34%");
        assert_eq!(percent(999, 100_000), "1.0%");
        assert_eq!(percent(12_403, 1_000_000), "1.2%");
        assert_eq!(percent(999_999, 1_000_000), "99.9%");
        assert_eq!(percent(7, 7), "100%");
    }

    #[test]
    fn units_follow_the_size() {
        assert_eq!(bytes(1), "1 byte");
        assert_eq!(bytes(999), "999 bytes");
        assert_eq!(bytes(1_000), "1.0 kB");
        assert_eq!(bytes(999_700), "1.0 MB");
        assert_eq!(bytes(12_345_678), "12 MB");
        assert_eq!(bytes(u64::MAX), "18 EB");
        assert_eq!(duration(0), "0 s");
        assert_eq!(duration(999), "999 µs");
        assert_eq!(duration(350_000), "350 ms");
        assert_eq!(duration(7_500_000_000), "2 h 5 min");
        assert_eq!(duration(60_000_000), "1 min");
        assert_eq!(duration(u64::MAX), "213,503,982 d 8 h");
    }
}
