//! Microseconds since 1970 as dates. Always UTC: a report looks the same wherever it is made.

use callwright::event::calendar_date;

const DAY_US: i64 = 86_400_000_000;

/// A moment in the calendar.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Moment {
    pub(crate) year: i64,
    /// From 1 to 12.
    pub(crate) month: u32,
    /// From 1 to 31.
    pub(crate) day: u32,
    pub(crate) hour: u32,
    pub(crate) minute: u32,
    pub(crate) second: u32,
}

const MONTHS: [&str; 12] = [
    "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
];

impl Moment {
    /// The moment so many microseconds after the beginning of 1970.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "remainders of small numbers"
    )]
    pub(crate) fn from_us(us: i64) -> Self {
        let (days, rest) = (us.div_euclid(DAY_US), us.rem_euclid(DAY_US) / 1_000_000);
        let (year, month, day) = calendar_date(days);
        Moment {
            year,
            month: month as u32,
            day: day as u32,
            hour: (rest / 3_600) as u32,
            minute: (rest / 60 % 60) as u32,
            second: (rest % 60) as u32,
        }
    }

    fn month_name(self) -> &'static str {
        let index = (self.month as usize).saturating_sub(1);
        MONTHS.get(index).copied().unwrap_or_default()
    }
}

/// For people: `16 Nov 2026 06:15`.
pub(crate) fn to_the_minute(us: i64) -> String {
    let moment = Moment::from_us(us);
    let Moment { hour, minute, .. } = moment;
    format!("{} {hour:02}:{minute:02}", to_the_day(us))
}

/// For people: `16 Nov 2026`.
pub(crate) fn to_the_day(us: i64) -> String {
    let moment = Moment::from_us(us);
    format!("{} {} {}", moment.day, moment.month_name(), moment.year)
}

/// For an axis: `16 Nov`.
pub(crate) fn day_and_month(us: i64) -> String {
    let moment = Moment::from_us(us);
    format!("{} {}", moment.day, moment.month_name())
}

/// For an axis: `06:15`.
pub(crate) fn clock(us: i64) -> String {
    let Moment { hour, minute, .. } = Moment::from_us(us);
    format!("{hour:02}:{minute:02}")
}

/// For programs: `2026-11-16T06:15:03.000250Z`.
pub(crate) fn rfc_3339(us: i64) -> String {
    let Moment {
        year,
        month,
        day,
        hour,
        minute,
        second,
    } = Moment::from_us(us);
    let date = format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}");
    match us.rem_euclid(1_000_000) {
        0 => format!("{date}Z"),
        fraction => format!("{date}.{fraction:06}Z"),
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
