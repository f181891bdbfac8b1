//! Counts over time → bars.
//!
//! A chart covers the time in which nearly all calls lie. What a clock that jumped put far away is counted and told, and
//! not drawn: it would press everything else into one bar.

use serde::Serialize;

use crate::summary::{Tally, Timeline};

use super::super::number::{count, duration, percent, share, thousands};
use super::super::window::{Window, window};
use super::super::{Report, date};
use super::ticks;

/// How many bars there are at most: about one for every eight pixels.
const BARS: i64 = 120;

/// How many bars the small charts of clusters have at most.
const SMALL_BARS: i64 = 60;

/// A bar with fewer calls than this part of the busiest one does not set the scale: one broken call of two is no rate.
const ENOUGH: f64 = 0.05;

/// The chart of all calls.
#[derive(Serialize)]
pub(super) struct Chart {
    bars: Vec<Bar>,
    /// How many bars there is room for, which is the width of the picture.
    slots: i64,
    /// The grid of rates: from the bottom, between 0 and 100, and what to write there.
    rates: Vec<(f64, String)>,
    /// The same for the numbers of calls: only the largest.
    busiest: String,
    /// From the left, between 0 and 100, and what to write there.
    times: Vec<(f64, String)>,
    /// How long one bar is.
    each: String,
    from: String,
    to: String,
    /// What the chart shows in a sentence, for whoever does not see it.
    description: String,
    /// What is not drawn, if anything is not.
    note: String,
}

/// One bar. Heights are between 0 and 100.
#[derive(Serialize)]
struct Bar {
    slot: i64,
    repaired: f64,
    refused: f64,
    calls: f64,
    from: String,
    begin: i64,
    number: u64,
    calls_text: String,
    repaired_number: u64,
    refused_number: u64,
    repaired_text: String,
    refused_text: String,
    rate: String,
    /// In millionths, to sort by.
    rate_number: u64,
}

/// The chart of all calls. `None` if no times are known.
pub(super) fn chart(report: &Report) -> Option<Chart> {
    let time = &report.summary.time;
    let window = window(time)?;
    let (each, slots) = window.fit(BARS);
    let mut tallies: std::collections::BTreeMap<i64, Tally> = std::collections::BTreeMap::new();
    for (from, tally) in time.iter() {
        if let Some(slot) = window.slot(from, each) {
            crate::summary::Merge::absorb(tallies.entry(slot).or_default(), *tally);
        }
    }
    let busiest = tallies.values().map(|tally| tally.calls).max().unwrap_or(0);
    let rate = |tally: &Tally| share(tally.violations(), tally.calls);
    let largest = tallies
        .values()
        .filter(|tally| share(tally.calls, busiest) >= ENOUGH)
        .map(rate)
        .fold(0.0, f64::max);
    let top = ticks::top(largest);
    let cut_off = tallies.values().filter(|tally| rate(tally) > top).count();
    let bars: Vec<Bar> = tallies
        .iter()
        .map(|(slot, tally)| {
            let begin = window.from.saturating_add(slot.saturating_mul(each));
            bar(*slot, begin, tally, top, busiest)
        })
        .collect();
    let drawn = each.saturating_mul(slots);
    let description = describe(report, &tallies, &window, each);
    Some(Chart {
        bars,
        slots,
        rates: [1.0, 0.5]
            .into_iter()
            .map(|part| (part * 100.0, ticks::share_label(part * top)))
            .collect(),
        busiest: thousands(busiest),
        times: ticks::times(window.from, window.from.saturating_add(drawn))
            .into_iter()
            .map(|(at, label)| (window.left_of(at, drawn), label))
            // A label at the very end would hang over it.
            .filter(|(left, _)| *left < 94.0)
            .collect(),
        each: duration(each.unsigned_abs()),
        from: date::to_the_minute(window.from),
        to: date::to_the_minute(window.to),
        description,
        note: note(window.far(time), cut_off),
    })
}

fn note(far: u64, cut_off: usize) -> String {
    let mut parts = Vec::new();
    if far > 0 {
        let calls = count(far, "call", "calls");
        parts.push(format!(
            "{calls} with times far from all others are counted and not drawn."
        ));
    }
    if cut_off > 0 {
        let bars = count(cut_off as u64, "bar", "bars");
        parts.push(format!(
            "{bars} of few calls would be higher than the chart; the table has the numbers."
        ));
    }
    parts.join(" ")
}

fn bar(slot: i64, begin: i64, tally: &Tally, top: f64, busiest: u64) -> Bar {
    let height = |part: u64| 100.0 * share(part, tally.calls) / top;
    let repaired = height(tally.repaired).min(100.0);
    let refused = height(tally.refused).min(100.0 - repaired);
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "at most a million"
    )]
    let rate_number = (share(tally.violations(), tally.calls) * 1e6) as u64;
    Bar {
        slot,
        repaired: rounded(repaired),
        refused: rounded(refused),
        calls: rounded(100.0 * share(tally.calls, busiest)),
        from: date::to_the_minute(begin),
        begin,
        number: tally.calls,
        calls_text: thousands(tally.calls),
        repaired_number: tally.repaired,
        refused_number: tally.refused,
        repaired_text: thousands(tally.repaired),
        refused_text: thousands(tally.refused),
        rate: percent(tally.violations(), tally.calls),
        rate_number,
    }
}

fn describe(
    report: &Report,
    tallies: &std::collections::BTreeMap<i64, Tally>,
    window: &Window,
    each: i64,
) -> String {
    let all = &report.summary.calls;
    let worst = tallies
        .iter()
        .max_by_key(|(slot, tally)| (tally.violations(), std::cmp::Reverse(**slot)));
    let worst = worst.map_or_else(String::new, |(slot, tally)| {
        let begin = window.from.saturating_add(slot.saturating_mul(each));
        format!(
            " Most calls broke their schema from {}: {} of {}.",
            date::to_the_minute(begin),
            thousands(tally.violations()),
            thousands(tally.calls)
        )
    });
    format!(
        "From {} to {} UTC, {} of all calls break their schema.{worst}",
        date::to_the_minute(window.from),
        date::to_the_minute(window.to),
        percent(all.violations(), all.calls)
    )
}

/// A small chart as the path of a picture `slots` wide and 20 high, and its width.
pub(super) fn small(time: &Timeline<u64>, window: Option<Window>) -> Option<(String, i64)> {
    let window = window?;
    let (each, slots) = window.fit(SMALL_BARS);
    let mut calls: std::collections::BTreeMap<i64, u64> = std::collections::BTreeMap::new();
    for (from, number) in time.iter() {
        // A piece of the cluster may be wider than those of the window, and begin before it.
        let overlaps = from.saturating_add(time.width_us()) > window.from;
        let from = if overlaps {
            from.max(window.from)
        } else {
            from
        };
        if let Some(slot) = window.slot(from, each) {
            let known = calls.entry(slot).or_default();
            *known = known.saturating_add(*number);
        }
    }
    let most = calls.values().copied().max()?;
    let path = calls
        .iter()
        .map(|(slot, number)| {
            // Something is never nothing: at least one of the twenty.
            let height = (20.0 * share(*number, most)).max(1.0);
            format!("M{slot} 20v-{height:.1}h.8V20z")
        })
        .collect();
    Some((path, slots))
}

/// Two digits behind the point are finer than any screen.
fn rounded(number: f64) -> f64 {
    (number * 100.0).round() / 100.0
}

#[cfg(test)]
mod tests {
    use super::*;

    const DAY: i64 = 86_400_000_000;
    const START: i64 = 20_000 * DAY;

    fn tally(calls: u64) -> Tally {
        Tally {
            calls,
            valid: calls,
            ..Tally::default()
        }
    }

    #[test]
    fn no_times_no_chart() {
        assert_eq!(window(&Timeline::default()), None);
        assert_eq!(small(&Timeline::default(), None), None);
    }

    #[test]
    fn one_piece_is_a_chart() {
        let mut time = Timeline::default();
        time.add(START, tally(5));
        let window = window(&time).unwrap();
        assert_eq!(window.fit(BARS).1, 1);
    }
}
