//! The figures behind the status page: minutes, tools, models, edits and refusals, each bounded in number.

use std::collections::{HashMap, VecDeque};
use std::time::{Duration, SystemTime};

use callwright::check::OutputVerdict;
use callwright::event::{Event, Judgement};
use callwright::failure::Failure;
use callwright::internal::first_bytes;
use serde::Serialize;

use crate::metrics::Counter;
use crate::{Guards, LONGEST_NAME};

/// How many minutes are kept: enough to show the course of a morning.
const MINUTES: usize = 180;

/// How many tools, models, edits and kinds of refusals are kept separately; the rest are counted as `other`.
const MOST_ROWS: usize = 200;

/// How many bytes of an example are kept.
const EXAMPLE_BYTES: usize = 2_048;

/// What has happened since the start.
#[derive(Debug, Serialize)]
pub(crate) struct Figures {
    guards: Guards,
    guarded: String,
    /// Seconds since 1970.
    started: u64,
    now: u64,
    calls: VerdictCounts,
    /// Results withheld from the model, and tools that failed.
    results_refused: u64,
    tools_failed: u64,
    /// Calls that were held until they were complete, and for how long in total.
    held: u64,
    held_seconds: f64,
    released: u64,
    unjudged: HashMap<String, u64>,
    reasks: HashMap<String, u64>,
    /// The tokens spent on asking again.
    reask_tokens: u64,
    /// The last minutes, newest last.
    minutes: VecDeque<Minute>,
    tools: HashMap<String, VerdictCounts>,
    models: HashMap<String, VerdictCounts>,
    edits: HashMap<String, Row>,
    refusals: HashMap<String, Row>,
}

#[derive(Debug, Default, Clone, Copy, Serialize)]
struct VerdictCounts {
    valid: u64,
    repaired: u64,
    refused: u64,
    unjudged: u64,
    rescued: u64,
}

#[derive(Debug, Serialize)]
struct Minute {
    /// Minutes since 1970.
    at: u64,
    #[serde(flatten)]
    calls: VerdictCounts,
}

/// One kind of edit or refusal, with its newest example.
#[derive(Debug, Default, Serialize)]
struct Row {
    count: u64,
    tool: String,
    name: String,
    /// The call, with secrets masked.
    example: String,
    /// The feedback for the model.
    instruction: Option<String>,
}

impl VerdictCounts {
    fn add(&mut self, event: &Event) {
        match event.verdict {
            Judgement::Valid => self.valid += 1,
            Judgement::Repaired => self.repaired += 1,
            Judgement::Refused => self.refused += 1,
            Judgement::Unjudged => self.unjudged += 1,
        }
        self.rescued += u64::from(event.rescued.is_some());
    }
}

impl Figures {
    pub(crate) fn new(guards: Guards, guarded: String, started: SystemTime) -> Self {
        Figures {
            guards,
            guarded,
            started: seconds(started),
            now: 0,
            calls: VerdictCounts::default(),
            results_refused: 0,
            tools_failed: 0,
            held: 0,
            held_seconds: 0.0,
            released: 0,
            unjudged: HashMap::new(),
            reasks: HashMap::new(),
            reask_tokens: 0,
            minutes: VecDeque::new(),
            tools: HashMap::new(),
            models: HashMap::new(),
            edits: HashMap::new(),
            refusals: HashMap::new(),
        }
    }

    /// Counts anything but calls.
    pub(crate) fn count(&mut self, counter: Counter, labels: &[&str], number: u64) {
        let label = labels.first().copied().unwrap_or_default();
        match counter {
            Counter::Released => self.released += number,
            Counter::Unjudged => update(&mut self.unjudged, label, |count| *count += number),
            Counter::Reasks => update(&mut self.reasks, label, |count| *count += number),
            Counter::ReaskTokens => self.reask_tokens += number,
            // Edits around calls; those of calls come with their events.
            Counter::Edits => update(&mut self.edits, label, |row| {
                row.count += number;
                label.clone_into(&mut row.name);
            }),
            _ => {}
        }
    }

    /// Records how long a call was held.
    pub(crate) fn held(&mut self, took: Duration) {
        self.held += 1;
        self.held_seconds += took.as_secs_f64();
    }

    /// Counts a call. `failures` is what was wrong with it or its result, with the feedback for the model.
    pub(crate) fn judged(
        &mut self,
        event: &Event,
        model: &str,
        failures: Vec<(&Failure, Option<String>)>,
    ) {
        match event.output_verdict {
            Some(OutputVerdict::Refused) => self.results_refused += 1,
            Some(OutputVerdict::Failed) => self.tools_failed += 1,
            _ => {}
        }
        let at = seconds(event.time) / 60;
        self.calls.add(event);
        self.minute(at).add(event);
        let tool = first_bytes(&event.tool, LONGEST_NAME);
        update(&mut self.tools, tool, |counts| counts.add(event));
        if !model.is_empty() {
            let model = first_bytes(model, LONGEST_NAME);
            update(&mut self.models, model, |counts| counts.add(event));
        }
        for edit in &event.edits {
            let key = format!("{tool} {}", edit.rule);
            update(&mut self.edits, &key, |row| {
                row.note(event, edit.rule, None);
            });
        }
        for (failure, instruction) in failures {
            let key = format!("{tool} {}", failure.code.name());
            update(&mut self.refusals, &key, |row| {
                row.note(event, failure.code.name(), instruction);
            });
        }
    }

    /// The minute of a call. A call older than the newest minute is counted there: clocks are set back now and then.
    fn minute(&mut self, at: u64) -> &mut VerdictCounts {
        if self.minutes.back().is_none_or(|newest| newest.at < at) {
            self.minutes.push_back(Minute {
                at,
                calls: VerdictCounts::default(),
            });
        }
        if self.minutes.len() > MINUTES {
            self.minutes.pop_front();
        }
        // Never empty: an entry was just added, or was already there.
        let newest = self.minutes.len() - 1;
        &mut self.minutes[newest].calls
    }

    pub(crate) fn json(&mut self, now: SystemTime) -> String {
        self.now = seconds(now);
        serde_json::to_string(self).unwrap_or_default()
    }
}

impl Row {
    fn note(&mut self, event: &Event, name: &str, instruction: Option<String>) {
        self.count += 1;
        first_bytes(&event.tool, LONGEST_NAME).clone_into(&mut self.tool);
        name.clone_into(&mut self.name);
        self.example = event.line().to_string();
        if self.example.len() > EXAMPLE_BYTES {
            self.example = format!("{}…", first_bytes(&self.example, EXAMPLE_BYTES));
        }
        self.instruction = instruction;
    }
}

/// Updates the entry with this name, or `other` if there are too many names.
fn update<T: Default>(map: &mut HashMap<String, T>, name: &str, change: impl FnOnce(&mut T)) {
    if let Some(entry) = map.get_mut(name) {
        return change(entry);
    }
    let name = if map.len() < MOST_ROWS { name } else { "other" };
    change(map.entry(name.to_owned()).or_default());
}

fn seconds(time: SystemTime) -> u64 {
    let since = time.duration_since(SystemTime::UNIX_EPOCH);
    since.map(|since| since.as_secs()).unwrap_or_default()
}
