//! The time range of nearly all calls.
//!
//! Calls that a wrong clock put far away are counted and reported: in a chart they would squeeze everything else into
//! one bar.

use crate::summary::{Tally, Timeline};

/// From the year 2000 to 2100: no model called a tool before, and a clock that says otherwise was never set.
const SANE: std::ops::Range<i64> = 946_684_800_000_000..4_102_444_800_000_000;

/// The time range of charts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Window {
    pub(crate) from: i64,
    /// The end of the last piece.
    pub(crate) to: i64,
    /// The width of the counted pieces.
    width: i64,
}

/// The time range of nearly all calls. `None` if no times are known.
pub(crate) fn window(time: &Timeline<Tally>) -> Option<Window> {
    let width = time.width_us();
    let pieces: Vec<(i64, u64)> = time
        .iter()
        .map(|(from, tally)| (from, tally.calls.max(1)))
        .collect();
    // If there are others, these do not count: in small logs one of them would be more than half a percent.
    let sane: Vec<(i64, u64)> = pieces
        .iter()
        .copied()
        .filter(|(from, _)| SANE.contains(from))
        .collect();
    let pieces = if sane.is_empty() { pieces } else { sane };
    let all: u64 = pieces
        .iter()
        .fold(0, |sum, (_, calls)| calls.saturating_add(sum));
    // Half a percent at either end may be anywhere.
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
    /// How many calls are outside of it.
    pub(crate) fn far(&self, time: &Timeline<Tally>) -> u64 {
        time.iter()
            .filter(|(from, _)| !(self.from..self.to).contains(from))
            .fold(0, |sum, (_, tally)| tally.calls.saturating_add(sum))
    }

    /// How wide a bar must be, and how many there are then.
    pub(crate) fn fit(&self, bars: i64) -> (i64, i64) {
        let span = self.to.saturating_sub(self.from).max(1);
        let mut each = self.width.max(1);
        while span.saturating_sub(1) / each + 1 > bars {
            each = each.saturating_mul(2);
        }
        (each, span.saturating_sub(1) / each + 1)
    }

    /// The bar that contains a time, if any.
    pub(crate) fn slot(&self, time: i64, each: i64) -> Option<i64> {
        (self.from..self.to)
            .contains(&time)
            .then(|| time.saturating_sub(self.from) / each)
    }

    /// Where a time is drawn: between 0 and 100.
    #[expect(clippy::cast_precision_loss, reason = "only drawn")]
    pub(crate) fn left_of(&self, time: i64, drawn: i64) -> f64 {
        let left = (100.0 * time.saturating_sub(self.from) as f64 / drawn.max(1) as f64) * 100.0;
        left.round() / 100.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DAY: i64 = 86_400_000_000;
    const START: i64 = 20_000 * DAY;
    const BARS: i64 = 120;

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
        assert_eq!((plain.far(&time), jumped.far(&time)), (4, 4));
    }

    #[test]
    fn an_unset_clock_is_reported_in_a_small_log() {
        let mut time = Timeline::default();
        time.add(3, tally(1));
        assert_eq!(window(&time).unwrap().far(&time), 0, "there is no other");
        time.add(START, tally(2));
        let window = window(&time).unwrap();
        assert_eq!(window.far(&time), 1);
    }
}
