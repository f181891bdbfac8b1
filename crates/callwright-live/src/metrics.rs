//! Counters and histograms in the text format of Prometheus.
//!
//! Labels chosen by clients (tools, models) have a bounded number of values; the rest are counted as `other`, with
//! their own verdict. Counting an existing row allocates nothing, since it happens for every call.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::time::Duration;

use callwright::internal::first_bytes;
use parking_lot::Mutex;

use crate::LONGEST_NAME;

/// How many rows a counter may have for values from outside: a hundred tools, each with every verdict, and some
/// models.
const MOST_ROWS: usize = 1_000;

/// The labels whose values come from outside.
const FROM_OUTSIDE: [&str; 3] = ["tool", "model", "status"];

/// The upper bounds of the time buckets, in seconds: from a lookup to a call that takes minutes to write.
const BUCKETS: [f64; 10] = [
    0.000_01, 0.000_1, 0.001, 0.01, 0.1, 1.0, 5.0, 20.0, 60.0, 300.0,
];

// Each counter: its name, its labels, and its help text.
macro_rules! counters {
    ($($counter:ident, $name:literal, [$($label:literal),*], $help:literal;)+) => {
        /// A counter.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
        #[non_exhaustive]
        pub enum Counter {
            $(#[doc = $help] $counter,)+
        }

        impl Counter {
            const ALL: [Counter; [$($name),+].len()] = [$(Counter::$counter),+];

            fn described(self) -> (&'static str, &'static [&'static str], &'static str) {
                match self {
                    $(Counter::$counter => ($name, &[$($label),*], $help),)+
                }
            }
        }
    };
}

counters! {
    Requests, "callwright_requests_total", ["api", "status"], "Client requests.";
    Calls, "callwright_calls_total", ["api", "verdict", "tool", "model"], "Tool calls, by verdict.";
    Edits, "callwright_edits_total", ["rule", "grade"], "Edits made to calls.";
    Failures, "callwright_failures_total", ["code"], "Failures of calls and results, by code.";
    Rescued, "callwright_rescued_total", ["notation"], "Calls rescued from text.";
    Reasks, "callwright_reasks_total", ["outcome"], "Attempts to ask the model again, by outcome.";
    ReaskTokens, "callwright_reask_tokens_total", [], "Tokens spent on asking the model again.";
    Released, "callwright_released_total", [], "Calls that were held for too long and passed unchanged.";
    Unjudged, "callwright_unjudged_total", ["reason"], "Answers and calls that were not judged.";
    Mended, "callwright_history_mended_total", ["defect"], "Conversations mended, by defect.";
    Dropped, "callwright_events_dropped_total", [], "Events that no sink accepted.";
}

/// A histogram of durations.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Timer {
    /// Judging a call.
    Gate,
    /// Holding a call until it is complete.
    Hold,
}

/// Separates labels in a key. Inside a label it is replaced with a space.
const BETWEEN: char = '\u{1f}';

/// All counters of a gateway.
#[derive(Debug, Default)]
pub(crate) struct Metrics {
    counts: Mutex<CountTable>,
    times: Mutex<[Histogram; 2]>,
}

#[derive(Debug, Default)]
struct CountTable {
    /// By counter, and by its joined labels.
    counts: [HashMap<String, u64>; Counter::ALL.len()],
    /// A buffer for building keys.
    key: String,
}

#[derive(Debug, Default, Clone, Copy)]
struct Histogram {
    buckets: [u64; BUCKETS.len()],
    count: u64,
    seconds: f64,
}

impl Metrics {
    /// Adds several.
    pub(crate) fn add(&self, counter: Counter, labels: &[&str], number: u64) {
        let table = &mut *self.counts.lock();
        table.key.clear();
        for label in labels {
            let label = first_bytes(label, LONGEST_NAME);
            if label.contains(BETWEEN) {
                table.key.push_str(&label.replace(BETWEEN, " "));
            } else {
                table.key.push_str(label);
            }
            table.key.push(BETWEEN);
        }
        let counts = &mut table.counts[counter as usize];
        if let Some(count) = counts.get_mut(&table.key) {
            *count += number;
            return;
        }
        let key = if counts.len() < MOST_ROWS {
            table.key.clone()
        } else {
            let (_, names, _) = counter.described();
            let mut values = table.key.split_terminator(BETWEEN);
            let values = names.iter().flat_map(|name| {
                let value = values.next().unwrap_or_default();
                let is_ours = !FROM_OUTSIDE.contains(name);
                [if is_ours { value } else { "other" }, "\u{1f}"]
            });
            values.collect()
        };
        *counts.entry(key).or_default() += number;
    }

    /// Records how long something took.
    pub(crate) fn time(&self, timer: Timer, took: Duration) {
        let mut histograms = self.times.lock();
        let histogram = match timer {
            Timer::Gate => &mut histograms[0],
            Timer::Hold => &mut histograms[1],
        };
        let seconds = took.as_secs_f64();
        for (bucket, bound) in histogram.buckets.iter_mut().zip(BUCKETS) {
            *bucket += u64::from(seconds <= bound);
        }
        histogram.count += 1;
        histogram.seconds += seconds;
    }

    /// The text for Prometheus. `dropped` is how many events could not be recorded.
    pub(crate) fn text(&self, dropped: u64) -> String {
        let mut text = String::new();
        let table = self.counts.lock();
        for counter in Counter::ALL {
            let (name, labels, help) = counter.described();
            let _ = writeln!(text, "# HELP {name} {help}\n# TYPE {name} counter");
            let counts = &table.counts[counter as usize];
            if counter == Counter::Dropped {
                let _ = writeln!(text, "{name} {dropped}");
            } else if labels.is_empty() && counts.is_empty() {
                let _ = writeln!(text, "{name} 0");
            }
            let mut rows: Vec<_> = counts.iter().collect();
            rows.sort_unstable();
            for (key, count) in rows {
                let values: Vec<&str> = key.split_terminator(BETWEEN).collect();
                let _ = writeln!(text, "{name}{} {count}", label_text(labels, &values));
            }
        }
        drop(table);
        let [gate, hold] = *self.times.lock();
        gate.write(
            &mut text,
            "callwright_gate_seconds",
            "Time taken to judge a call.",
        );
        hold.write(
            &mut text,
            "callwright_hold_seconds",
            "Time for which a call was held until it was complete.",
        );
        text
    }
}

impl Histogram {
    fn write(&self, text: &mut String, name: &str, help: &str) {
        let _ = writeln!(text, "# HELP {name} {help}\n# TYPE {name} histogram");
        for (count, bound) in self.buckets.iter().zip(BUCKETS) {
            let _ = writeln!(text, "{name}_bucket{{le=\"{bound}\"}} {count}");
        }
        let Histogram { count, seconds, .. } = self;
        let _ = writeln!(
            text,
            "{name}_bucket{{le=\"+Inf\"}} {count}\n{name}_sum {seconds}\n{name}_count {count}"
        );
    }
}

fn label_text(labels: &[&str], values: &[&str]) -> String {
    if labels.is_empty() {
        return String::new();
    }
    let pairs: Vec<String> = labels
        .iter()
        .zip(values)
        .map(|(label, value)| {
            let value = value
                .replace('\\', "\\\\")
                .replace('"', "\\\"")
                .replace('\n', "\\n");
            format!("{label}=\"{value}\"")
        })
        .collect();
    format!("{{{}}}", pairs.join(","))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_from_outside_are_bounded_and_escaped() {
        let metrics = Metrics::default();
        for at in 0..1_500 {
            let verdict = ["valid", "refused"][at % 2];
            let labels = ["chat", verdict, &format!("tool \"{at}\"\n"), "m"];
            metrics.add(Counter::Calls, &labels, 1);
        }
        let text = metrics.text(0);
        let has =
            |row: &str| text.contains(&format!("callwright_calls_total{{api=\"chat\",{row}\n"));
        assert!(has(r#"verdict="refused",tool="tool \"7\"\n",model="m"} 1"#));
        for verdict in ["valid", "refused"] {
            let row = format!(r#"verdict="{verdict}",tool="other",model="other"}} 250"#);
            assert!(has(&row), "{text}");
        }
        let rows = text.matches("callwright_calls_total{").count();
        assert_eq!(rows, MOST_ROWS + 2);
        assert!(text.contains("callwright_released_total 0\n"));
    }

    #[test]
    fn long_names_are_cut() {
        let metrics = Metrics::default();
        let model = "ü".repeat(1_000_000);
        metrics.add(Counter::Calls, &["chat", "valid", "t", &model], 1);
        assert!(metrics.text(0).len() < 10_000);
    }

    #[test]
    fn times_fall_into_buckets() {
        let metrics = Metrics::default();
        metrics.time(Timer::Hold, Duration::from_millis(50));
        let text = metrics.text(0);
        assert!(text.contains("callwright_hold_seconds_bucket{le=\"0.01\"} 0\n"));
        assert!(text.contains("callwright_hold_seconds_bucket{le=\"0.1\"} 1\n"));
        assert!(
            text.contains("callwright_hold_seconds_sum 0.05\ncallwright_hold_seconds_count 1\n")
        );
    }
}
