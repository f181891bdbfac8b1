//! Formats microseconds since 1970 as dates. Always UTC: a report looks the same wherever it is made.
//!
//! Does not use a calendar crate: clocks in logs are wrong by any amount, and such crates stop at the year 9999.

use callwright::event::calendar_date;

const DAY_US: i64 = 86_400_000_000;

const MONTHS: [&str; 12] = [
    "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
];

/// For people: `16 Nov 2026 06:15`.
pub(crate) fn to_the_minute(us: i64) -> String {
    format!("{} {}", to_the_day(us), clock(us))
}

/// For people: `16 Nov 2026`.
pub(crate) fn to_the_day(us: i64) -> String {
    let (year, _, _) = calendar_date(us.div_euclid(DAY_US));
    format!("{} {year}", day_and_month(us))
}

/// For an axis: `16 Nov`.
pub(crate) fn day_and_month(us: i64) -> String {
    let (_, month, day) = calendar_date(us.div_euclid(DAY_US));
    // From 1 to 12.
    let name = usize::try_from(month - 1)
        .ok()
        .and_then(|at| MONTHS.get(at));
    format!("{day} {}", name.copied().unwrap_or_default())
}

/// For an axis: `06:15`.
pub(crate) fn clock(us: i64) -> String {
    let minutes = us.rem_euclid(DAY_US) / 60_000_000;
    format!("{:02}:{:02}", minutes / 60, minutes % 60)
}

/// For programs: `2026-11-16T06:15:03.000250Z`.
pub(crate) fn rfc_3339(us: i64) -> String {
    let (year, month, day) = calendar_date(us.div_euclid(DAY_US));
    let second = us.rem_euclid(60_000_000) / 1_000_000;
    let time = format!("{year:04}-{month:02}-{day:02}T{}:{second:02}", clock(us));
    match us.rem_euclid(1_000_000) {
        0 => format!("{time}Z"),
        fraction => format!("{time}.{fraction:06}Z"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_those_of_the_calendar() {
        assert_eq!(rfc_3339(0), "1970-01-01T00:00:00Z");
        assert_eq!(rfc_3339(-1), "1969-12-31T23:59:59.999999Z");
        assert_eq!(rfc_3339(951_782_400_000_000), "2000-02-29T00:00:00Z");
        assert_eq!(rfc_3339(1_709_164_799_000_000), "2024-02-28T23:59:59Z");
        assert_eq!(
            rfc_3339(1_794_809_703_000_250),
            "2026-11-16T06:15:03.000250Z"
        );
        assert_eq!(rfc_3339(4_102_444_800_000_000), "2100-01-01T00:00:00Z");
    }

    #[test]
    fn people_see_less() {
        assert_eq!(to_the_minute(1_794_809_703_000_250), "16 Nov 2026 06:15");
        assert_eq!(day_and_month(1_794_809_703_000_250), "16 Nov");
        assert_eq!(clock(1_794_809_703_000_250), "06:15");
    }

    #[test]
    fn no_clock_is_too_wrong() {
        for us in [i64::MIN, i64::MAX, i64::MIN + 1] {
            assert!(!to_the_minute(us).is_empty());
        }
    }
}
