//! Counts over time → bars.
//!
//! A chart covers the time in which nearly all calls lie. What a clock that jumped put far away is counted and told, and
//! not drawn: it would press everything else into one bar.

use serde::Serialize;

use crate::summary::{Tally, Timeline};

use super::super::number::{count, duration, percent, share, thousands};
use super::super::{Report, date};
use super::ticks;

/// How many bars there are at most: about one for every eight pixels.
const BARS: i64 = 120;

/// How many bars the small charts of clusters have at most.
const SMALL_BARS: i64 = 60;

/// A bar with fewer calls than this part of the busiest one does not set the scale: one broken call of two is no rate.
const ENOUGH: f64 = 0.05;

/// The time that charts cover.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Window {
    from: i64,
    /// The end of the last piece.
    to: i64,
    /// How wide the pieces are that were counted.
    width: i64,
}

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

/// When nearly all calls were. `None` if no times are known.
pub(super) fn window(time: &Timeline<Tally>) -> Option<Window> {
    let width = time.width_us();
    let pieces: Vec<(i64, u64)> = time
        .iter()
        .map(|(from, tally)| (from, tally.calls.max(1)))
        .collect();
    let all: u64 = pieces
        .iter()
        .fold(0, |sum, (_, calls)| calls.saturating_add(sum));
    // Half a percent at either end may lie anywhere.
    let outside = all / 200;
    let edge = |pieces: &mut dyn Iterator<Item = &(i64, u64)>| {
        let mut passed = 0u64;
        for (from, calls) in pieces {
            passed = passed.saturating_add(*calls);
            if passed > outside {
                return Some(*from);
            }
        }
        None
    };
    let first = edge(&mut pieces.iter())?;
    let last = edge(&mut pieces.iter().rev())?;
    // As much again on both sides still belongs to it.
    let reach = last.saturating_sub(first).saturating_add(width);
    let (low, high) = (first.saturating_sub(reach), last.saturating_add(reach));
    let mut inside = pieces
        .iter()
        .map(|(from, _)| *from)
        .filter(|from| (low..=high).contains(from));
    let from = inside.next()?;
    let last = inside.next_back().unwrap_or(from);
    Some(Window {
        from,
        to: last.saturating_add(width),
        width,
    })
}

impl Window {
    /// How wide a bar must be, and how many there are then.
    fn fit(&self, bars: i64) -> (i64, i64) {
        let span = self.to.saturating_sub(self.from).max(1);
        let mut each = self.width.max(1);
        while span.saturating_sub(1) / each + 1 > bars {
            each = each.saturating_mul(2);
        }
        (each, span.saturating_sub(1) / each + 1)
    }

    fn slot(&self, time: i64, each: i64) -> Option<i64> {
        (self.from..self.to)
            .contains(&time)
            .then(|| time.saturating_sub(self.from) / each)
    }

    #[expect(clippy::cast_precision_loss, reason = "only drawn")]
    fn left_of(&self, time: i64, drawn: i64) -> f64 {
        rounded(100.0 * time.saturating_sub(self.from) as f64 / drawn.max(1) as f64)
    }
}

/// The chart of all calls. `None` if no times are known.
pub(super) fn chart(report: &Report) -> Option<Chart> {
    let time = &report.summary.time;
    let window = window(time)?;
    let (each, slots) = window.fit(BARS);
    let mut tallies: std::collections::BTreeMap<i64, Tally> = std::collections::BTreeMap::new();
    let mut far = 0u64;
    for (from, tally) in time.iter() {
        match window.slot(from, each) {
            Some(slot) => crate::summary::Merge::absorb(tallies.entry(slot).or_default(), *tally),
            None => far = far.saturating_add(tally.calls),
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
        note: note(far, cut_off),
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
    fn a_clock_that_jumped_does_not_stretch_the_chart() {
        let mut time = Timeline::default();
        for day in 0..30 {
            time.add(START + day * DAY, tally(1_000));
        }
        let plain = window(&time).unwrap();
        time.add(0, tally(3));
        time.add(i64::MAX, tally(1));
        let jumped = window(&time).unwrap();
        assert!(jumped.from <= plain.from && plain.from - jumped.from < DAY);
        assert!(jumped.to - jumped.from < 32 * DAY);
        assert!(jumped.fit(BARS).1 <= BARS);
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
