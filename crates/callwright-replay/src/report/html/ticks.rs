//! Round numbers for the axes of a chart.

use super::super::date;

const MINUTE: i64 = 60_000_000;
const HOUR: i64 = 60 * MINUTE;
const DAY: i64 = 24 * HOUR;

/// Steps in which people count time, in minutes: up to half a day, then in days from one to ten years.
const STEPS: [i64; 16] = [
    1, 5, 15, 30, 60, 180, 360, 720, 1_440, 2_880, 10_080, 20_160, 43_200, 129_600, 525_600,
    5_256_000,
];

/// How many labels fit under a chart.
const LABELS: i64 = 7;

/// Moments between two others, with their labels.
pub(super) fn times(from: i64, to: i64) -> Vec<(i64, String)> {
    let span = to.saturating_sub(from).max(1);
    let step = STEPS
        .into_iter()
        .map(|minutes| minutes * MINUTE)
        .find(|step| span / step <= LABELS)
        // Beyond seventy years, only a wrong clock is visible.
        .unwrap_or(span / LABELS);
    // Days are counted from a Thursday; weeks begin on Monday.
    let offset = if step % (7 * DAY) == 0 { 4 * DAY } else { 0 };
    let first = from
        .saturating_sub(offset)
        .div_euclid(step)
        .saturating_mul(step)
        .saturating_add(offset);
    let mut ticks = Vec::new();
    let mut at = first;
    // One more than fits, because the first may be before the beginning.
    for _ in 0..=LABELS + 1 {
        if at >= from && at <= to {
            ticks.push((at, label(at, step)));
        }
        at = at.saturating_add(step);
    }
    ticks
}

fn label(at: i64, step: i64) -> String {
    if step >= 90 * DAY {
        date::to_the_day(at)
    } else if step >= DAY || at.rem_euclid(DAY) == 0 {
        date::day_and_month(at)
    } else {
        date::clock(at)
    }
}

/// The end of an axis of shares with room for a value: a round number between zero and one.
pub(super) fn top(largest: f64) -> f64 {
    const ROUND: [f64; 16] = [
        0.0001, 0.0002, 0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.04, 0.06, 0.1, 0.2, 0.4, 0.6,
        0.8, 1.0,
    ];
    ROUND
        .into_iter()
        .find(|round| *round >= largest)
        .unwrap_or(1.0)
}

/// A share on an axis: `2%`, `0.05%`.
pub(super) fn share_label(share: f64) -> String {
    let text = format!("{:.3}", share * 100.0);
    let text = text.trim_end_matches('0').trim_end_matches('.');
    format!("{text}%")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_are_few_and_round() {
        let from = 1_793_491_200_000_000;
        for (span, first) in [
            (HOUR, "1 Nov"),
            (DAY, "1 Nov"),
            (30 * DAY, "2 Nov"),
            (400 * DAY, "3 Dec 2026"),
        ] {
            let ticks = times(from, from + span);
            assert!((2..=9).contains(&ticks.len()), "{ticks:?}");
            assert_eq!(ticks[0].1, first, "{ticks:?}");
        }
        assert!(times(i64::MIN, i64::MAX).len() < 10);
        assert_eq!(times(5, 5).len(), 0);
    }

    #[test]
    fn shares_end_at_a_round_number() {
        assert_eq!(share_label(top(0.0124)), "2%");
        assert_eq!(share_label(top(0.000_15)), "0.02%");
        assert_eq!(share_label(top(0.9)), "100%");
        assert_eq!(share_label(0.015), "1.5%");
    }
}
