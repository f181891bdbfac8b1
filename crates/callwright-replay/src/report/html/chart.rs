//! Draws counts over time as bars.
//!
//! A chart covers the time range of nearly all calls. Calls that a wrong clock put far away are counted and reported,
//! but not drawn: they would squeeze everything else into one bar.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::summary::{Merge as _, Summary, Tally, Timeline};

use super::super::window::Window;
use super::ticks;
use crate::number::{hundredths, share};

/// The most bars: about one for every eight pixels.
const BARS: i64 = 120;

/// The most bars of a sparkline.
const SPARKLINE_BARS: i64 = 60;

/// A bar with fewer calls than this fraction of the busiest one does not set the scale: one invalid call of two is
/// not a rate.
const ENOUGH: f64 = 0.05;

/// The chart of all calls. Times are in microseconds, lengths between 0 and 100.
#[derive(Serialize)]
pub(super) struct Chart {
    bars: Vec<Bar>,
    /// How many bars there is room for, which is the width of the picture.
    slots: i64,
    /// The grid of rates: from the bottom, with labels.
    rates: Vec<(f64, String)>,
    /// The most calls of a bar: the only label of their axis.
    busiest: u64,
    /// From the left, with labels.
    times: Vec<(f64, String)>,
    /// How long one bar is.
    each: u64,
    from: i64,
    to: i64,
    /// The bar with the most violations.
    worst: Option<Bar>,
    /// Calls that are not drawn, because their times are far from all others.
    far: u64,
    /// Bars that would be higher than the chart.
    cut_off: usize,
}

#[derive(Clone, Serialize)]
struct Bar {
    slot: i64,
    begin: i64,
    calls: u64,
    repaired: u64,
    refused: u64,
    violations: u64,
    calls_height: f64,
    repaired_height: f64,
    refused_height: f64,
}

/// The chart of all calls.
pub(super) fn chart(summary: &Summary, window: Window) -> Chart {
    let (each, slots) = window.fit(BARS);
    let mut tallies: BTreeMap<i64, Tally> = BTreeMap::new();
    for (from, tally) in summary.time.iter() {
        if let Some(slot) = window.slot(from, each) {
            tallies.entry(slot).or_default().absorb(*tally);
        }
    }
    let busiest = tallies.values().map(|tally| tally.calls).max().unwrap_or(0);
    let rate = |tally: &Tally| share(tally.violations(), tally.calls);
    let largest = (tallies.values())
        .filter(|tally| share(tally.calls, busiest) >= ENOUGH)
        .map(rate)
        .fold(0.0, f64::max);
    let top = ticks::top(largest);
    let bar = |(slot, tally): (&i64, &Tally)| {
        let height = |part: u64| share(part, tally.calls) / top;
        let repaired = height(tally.repaired).min(1.0);
        Bar {
            slot: *slot,
            begin: window.from.saturating_add(slot.saturating_mul(each)),
            calls: tally.calls,
            repaired: tally.repaired,
            refused: tally.refused,
            violations: tally.violations(),
            calls_height: hundredths(share(tally.calls, busiest)),
            repaired_height: hundredths(repaired),
            refused_height: hundredths(height(tally.refused).min(1.0 - repaired)),
        }
    };
    let bars: Vec<Bar> = tallies.iter().map(bar).collect();
    let drawn = each.saturating_mul(slots);
    Chart {
        worst: (bars.iter())
            .max_by_key(|bar| (bar.violations, std::cmp::Reverse(bar.slot)))
            .cloned(),
        cut_off: tallies.values().filter(|tally| rate(tally) > top).count(),
        bars,
        slots,
        rates: [1.0, 0.5]
            .map(|part| (part * 100.0, ticks::share_label(part * top)))
            .into(),
        busiest,
        times: ticks::times(window.from, window.from.saturating_add(drawn))
            .into_iter()
            .map(|(at, label)| (window.left_of(at, drawn), label))
            // A label at the very end would stick out.
            .filter(|(left, _)| *left < 94.0)
            .collect(),
        each: each.unsigned_abs(),
        from: window.from,
        to: window.to,
        far: window.far(&summary.time),
    }
}

/// A small chart as the path of a picture 20 units high, and its width.
pub(super) fn sparkline(time: &Timeline<u64>, window: Window) -> Option<(String, i64)> {
    let (each, slots) = window.fit(SPARKLINE_BARS);
    let mut calls: BTreeMap<i64, u64> = BTreeMap::new();
    for (from, number) in time.iter() {
        // A piece of the cluster may be wider than those of the window, and begin before it.
        let overlaps = from.saturating_add(time.width_us()) > window.from;
        let from = if overlaps {
            from.max(window.from)
        } else {
            from
        };
        if let Some(slot) = window.slot(from, each) {
            calls.entry(slot).or_default().absorb(*number);
        }
    }
    let most = calls.values().copied().max()?;
    let path = calls.iter().map(|(slot, number)| {
        // A non-zero value is never drawn as nothing: at least one of the twenty.
        let height = (20.0 * share(*number, most)).max(1.0);
        format!("M{slot} 20v-{height:.1}h.8V20z")
    });
    Some((path.collect(), slots))
}
