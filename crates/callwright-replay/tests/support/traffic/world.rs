//! Who calls tools, when, and how often something else goes wrong.

use super::random::Random;

/// A model, with its habits.
#[derive(Debug)]
pub(crate) struct Model {
    pub(crate) name: &'static str,
    /// Its share of the conversations.
    pub(crate) share: f64,
    /// How many mistakes it makes, relative to the others. The average is about one.
    pub(crate) mistakes: f64,
    /// Whether its provider sends arguments as a text, or as a value.
    pub(crate) sends_text: bool,
}

/// A strong model, its small sibling, two from other vendors, and one that runs locally.
pub(crate) const MODELS: &[Model] = &[
    Model {
        name: "atlas-4",
        share: 0.34,
        mistakes: 0.4,
        sends_text: true,
    },
    Model {
        name: "atlas-4-mini",
        share: 0.26,
        mistakes: 1.0,
        sends_text: true,
    },
    Model {
        name: "corvid-large",
        share: 0.18,
        mistakes: 0.7,
        sends_text: false,
    },
    Model {
        name: "quill-7b",
        share: 0.08,
        mistakes: 3.5,
        sends_text: true,
    },
    Model {
        name: "heron-2",
        share: 0.14,
        mistakes: 1.3,
        sends_text: false,
    },
];

/// Monday, 6 April 2026, midnight, in microseconds since 1970.
const START_US: i64 = 1_775_433_600_000_000;
const SECOND_US: i64 = 1_000_000;
const HOUR_US: i64 = 3_600 * SECOND_US;
const DAY_US: i64 = 24 * HOUR_US;

/// The length of the log.
pub(crate) const DAYS: i64 = 14;

/// How busy each hour is, mostly for offices in Europe.
const HOURS: [f64; 24] = [
    1.0, 0.7, 0.5, 0.4, 0.4, 0.6, 1.5, 3.0, 6.0, 9.0, 10.0, 10.0, 8.0, 9.0, 10.0, 10.0, 9.0, 7.5,
    6.0, 5.0, 4.5, 4.0, 3.0, 2.0,
];

/// The start of a conversation: fewer start at night and on weekends.
pub(crate) fn start(random: &mut Random) -> i64 {
    let days: [f64; DAYS as usize] =
        std::array::from_fn(|day| if day % 7 < 5 { 1.0 } else { 0.45 });
    let (day, hour) = (
        random.weighted(&days) as i64,
        random.weighted(&HOURS) as i64,
    );
    at(day, hour) + random.between(0, HOUR_US - 1)
}

/// The beginning of an hour on a day.
pub(crate) fn at(day: i64, hour: i64) -> i64 {
    START_US + day * DAY_US + hour * HOUR_US
}

pub(crate) fn day(time: i64) -> i64 {
    (time - START_US) / DAY_US
}

pub(crate) fn seconds(random: &mut Random, low: i64, high: i64) -> i64 {
    random.between(low * SECOND_US, high * SECOND_US)
}

/// How often a valid call fails anyway: what it asks for does not exist, or a server is down. Four fifths of the errors
/// in recorded agents come from calls that fit their schema, so these are common.
pub(crate) fn error_rate(tool: &str) -> f64 {
    let sum: usize = tool.bytes().map(usize::from).sum();
    [0.02, 0.04, 0.07, 0.1, 0.13][sum % 5]
}

/// False for tools that hand off their work: their results are not recorded.
pub(crate) fn is_recorded(tool: &str) -> bool {
    !matches!(tool, "send_message" | "enqueue_job" | "run_pipeline")
}

/// False for the tool that reports errors as if they were results.
pub(crate) fn marks_errors(tool: &str) -> bool {
    tool != "track_shipment"
}

/// Tools that are called again and again until something has changed.
pub(crate) fn is_polled(tool: &str) -> bool {
    matches!(tool, "get_shipment_status" | "get_metrics" | "get_time")
}

/// Error messages of servers.
pub(crate) fn error_of_another_cause(random: &mut Random) -> &'static str {
    random.pick_early::<&str>(&[
        "404 not found",
        "no such file or entry",
        "timed out after 30 s",
        "429 too many requests",
        "permission denied",
        "upstream connect error",
    ])
}

/// RFC 3339, UTC, microseconds.
pub(crate) fn rfc3339(time: i64) -> String {
    let (days, in_day) = (time.div_euclid(DAY_US), time.rem_euclid(DAY_US));
    let (year, month, day) = callwright::event::calendar_date(days);
    let (seconds, micros) = (in_day / SECOND_US, in_day % SECOND_US);
    let (hour, minute, second) = (seconds / 3_600, seconds / 60 % 60, seconds % 60);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{micros:06}Z")
}
