//! What one worker counts by itself. All workers' counts together are the summary.
//!
//! Nearly all calls are valid, and all that is done for one of these is here: it is what the speed of a replay depends on.

use std::collections::HashMap;
use std::sync::Arc;

use callwright::Verdict;
use callwright::json::Value;
use callwright::secrecy::Secrecy;
use callwright::tool::Tool;

use super::by_address::ByAddress;
use super::faulty::{add_call, example};
use super::tools::ToolSet;
use crate::conversation::Effect;
use crate::judge::{Fault, Judged, JudgedResult, kind_name, measure};
use crate::seen::At;
use crate::summary::{
    ByMinute, Cluster, Combination, Distinct, FieldUse, Merge, Stopped, Summary, Tally,
    ToolSummary, Version,
};

/// Of how many valid calls one is looked at closely, to see which values are in use. Fewer would miss rare parameters,
/// more would be felt.
const SAMPLED: u64 = 32;

/// Values of parameters up to this many bytes of JSON are kept.
const LONGEST_VALUE: usize = 100;

/// How many models are counted in a plain list before they are handed on. Nobody uses more at once.
const FEW: usize = 64;

/// Where a record is.
#[derive(Debug, Clone, Copy)]
pub(super) struct Spot<'s> {
    pub(super) file: &'s str,
    pub(super) line: u64,
    /// A hash of the record: which examples are kept, and which calls are looked at closely, depends on it.
    pub(super) hash: u64,
}

/// A call that was judged and admitted.
pub(super) struct Counted<'c> {
    pub(super) at: &'c At<'c>,
    pub(super) session: Option<u64>,
    pub(super) tally: Tally,
    pub(super) latency_us: u64,
}

/// Counts per tool.
struct ToolCounts {
    /// The tool and how it was declared.
    set: Arc<ToolSet>,
    summary: ToolSummary,
    calls: u64,
    first: Option<i64>,
    last: Option<i64>,
    last_session: Option<u64>,
    time: ByMinute<u64>,
    models: Few,
}

/// Counts per name, for few names.
#[derive(Default)]
struct Few(Vec<(String, Tally)>);

impl Few {
    /// Whether there is no more room.
    fn add(&mut self, name: &str, tally: Tally) {
        match self.0.iter_mut().find(|(known, _)| known == name) {
            Some((_, known)) => known.absorb(tally),
            None => self.0.push((name.to_owned(), tally)),
        }
    }
}

/// See the module.
#[derive(Default)]
pub(super) struct Local {
    pub(super) summary: Summary,
    /// By the address of the tool, which lives as long as its set.
    tools: HashMap<usize, ToolCounts, std::hash::BuildHasherDefault<ByAddress>>,
    calls: Tally,
    time: ByMinute<Tally>,
    first: Option<i64>,
    last: Option<i64>,
    sessions: Distinct,
    last_session: Option<u64>,
    models: Few,
}

impl Local {
    /// How many calls were counted.
    pub(super) fn calls(&self) -> u64 {
        self.calls.calls
    }

    /// A call of a tool, or of none if there is none of that name.
    pub(super) fn call(&mut self, set: &Arc<ToolSet>, tool: Option<&Tool>, counted: &Counted<'_>) {
        let Counted {
            at, session, tally, ..
        } = counted;
        self.calls.absorb(*tally);
        if let Some(time) = at.time {
            self.time.add(time, *tally);
            self.first = Some(self.first.map_or(time, |first| first.min(time)));
            self.last = self.last.max(Some(time));
        }
        // Calls of one conversation stand together.
        if let Some(session) = session.filter(|_| *session != self.last_session) {
            self.sessions.add(session);
            self.last_session = Some(session);
        }
        if let Some(model) = &at.model {
            self.models.add(model, *tally);
            if self.models.0.len() > FEW {
                self.hand_on_models();
            }
        }
        let Some(tool) = tool else {
            return;
        };
        let counts = self
            .tools
            .entry(std::ptr::from_ref(tool).addr())
            .or_insert_with(|| ToolCounts::new(set));
        counts.calls += 1;
        counts.summary.tally.absorb(*tally);
        counts.summary.latency_us += counted.latency_us;
        if let Some(time) = at.time {
            counts.time.add(time, 1);
            counts.first = Some(counts.first.map_or(time, |first| first.min(time)));
            counts.last = counts.last.max(Some(time));
        }
        if let Some(session) = session.filter(|_| *session != counts.last_session) {
            counts.summary.sessions.add(session);
            counts.last_session = Some(session);
        }
        if let Some(model) = &at.model {
            counts.models.add(
                model,
                Tally {
                    calls: 1,
                    ..Tally::default()
                },
            );
            if counts.models.0.len() > FEW {
                counts.hand_on_models();
            }
        }
    }

    /// A result that came after its call was counted.
    pub(super) fn late_result(&mut self, set: &Arc<ToolSet>, tool: &Tool, tally: Tally) {
        self.calls.absorb(tally);
        self.tools
            .entry(std::ptr::from_ref(tool).addr())
            .or_insert_with(|| ToolCounts::new(set))
            .summary
            .tally
            .absorb(tally);
    }

    /// Looks at the values of a valid call, if it is one of those that are looked at.
    pub(super) fn sample(&mut self, tool: &Tool, arguments: &Value<'_>, hash: u64) {
        if !hash.is_multiple_of(SAMPLED) {
            return;
        }
        let Some(counts) = self.tools.get_mut(&std::ptr::from_ref(tool).addr()) else {
            return;
        };
        counts.summary.sampled += 1;
        let secrecy = Secrecy::of_arguments(tool, arguments);
        for (name, value) in arguments.as_object().unwrap_or_default() {
            let at = callwright::json::Path::root().key(name);
            let shown = secrecy.value(value, &at);
            let name = secrecy.path(&at).last().unwrap_or_default().into_owned();
            let json = match value {
                Value::Array(_) | Value::Object(_) => None,
                leaf if *shown != *leaf => None,
                Value::String(text) if text.len() > LONGEST_VALUE => None,
                leaf => Some(leaf.to_string()).filter(|json| json.len() <= LONGEST_VALUE),
            };
            let measure = measure(&shown);
            counts
                .summary
                .fields
                .update(name.as_str(), |usage: &mut FieldUse| {
                    usage.present += 1;
                    let kind = kind_name(value.kind());
                    match usage.types.get_mut(kind) {
                        Some(count) => *count += 1,
                        None => {
                            usage.types.insert(kind.to_owned(), 1);
                        }
                    }
                    usage.measured(measure);
                    if let Some(json) = &json {
                        usage
                            .values
                            .update(json.as_str(), |count: &mut u64| *count += 1);
                    }
                });
        }
    }

    /// The faults of a call: each goes into its cluster.
    #[cold]
    pub(super) fn faults(&mut self, judged: &Judged<'_>, counted: &Counted<'_>, spot: Spot<'_>) {
        let repaired = matches!(judged.verdict, Verdict::Repaired(_));
        for edit in judged.verdict.edits() {
            self.summary
                .repairs
                .entry(edit.rule.to_string())
                .or_default()
                .absorb(1);
        }
        for fault in &judged.faults {
            self.summary.clusters.update(&fault.key, |cluster| {
                add_call(cluster, fault, counted, spot);
                cluster.repaired += u64::from(repaired);
                cluster.alone += u64::from(judged.faults.len() == 1);
                let edits = judged.verdict.edits();
                for (at, edit) in edits.iter().enumerate() {
                    // A rule counts once in a call.
                    if !edits[..at].iter().any(|earlier| earlier.rule == edit.rule) {
                        *cluster.rules.entry(edit.rule.to_string()).or_default() += 1;
                    }
                }
            });
        }
        self.combination(&judged.faults);
    }

    /// Faults that stand together.
    fn combination(&mut self, faults: &[Fault]) {
        let Some(first) = faults.first() else {
            return;
        };
        let mut clusters: Vec<u64> = faults.iter().map(|fault| fault.key.hash()).collect();
        clusters.sort_unstable();
        let tool = first.key.tool.clone();
        self.summary
            .combinations
            .add(Combination { tool, clusters }, 1);
    }

    /// The faults of a result.
    #[cold]
    pub(super) fn result_faults(
        &mut self,
        result: &JudgedResult<'_>,
        counted: &Counted<'_>,
        spot: Spot<'_>,
    ) {
        for fault in &result.faults {
            self.summary.clusters.update(&fault.key, |cluster| {
                add_call(cluster, fault, counted, spot);
                cluster.alone += u64::from(result.faults.len() == 1);
                if result.failed {
                    cluster.led_to.tool_refused += 1;
                } else {
                    cluster.led_to.ran_fine += 1;
                }
            });
        }
        self.combination(&result.faults);
    }

    /// A call that was counted, and that admission would have stopped. `shown` is the call for people.
    #[cold]
    pub(super) fn stopped(
        &mut self,
        code: &str,
        tool: (&str, Option<&Tool>),
        counted: &Counted<'_>,
        result_bytes: u64,
        shown: String,
        spot: Spot<'_>,
    ) {
        let at = counted.at;
        self.calls.absorb(counted.tally);
        if let Some(time) = at.time {
            self.time.add(time, counted.tally);
        }
        if let Some(model) = &at.model {
            self.models.add(model, counted.tally);
        }
        let (name, tool) = tool;
        let address = tool.map(|tool| std::ptr::from_ref(tool).addr());
        if let Some(counts) = address.and_then(|address| self.tools.get_mut(&address)) {
            counts.summary.tally.absorb(counted.tally);
        }
        let mut stopped = Stopped {
            calls: 1,
            latency_us: counted.latency_us,
            result_bytes,
            ..Stopped::default()
        };
        if let Some(session) = counted.session {
            stopped.sessions.add(session);
        }
        stopped.tools.add(name.to_owned(), 1);
        stopped
            .examples
            .add(spot.hash, example(shown, true, at, spot));
        match self.summary.loops.get_mut(code) {
            Some(known) => known.absorb(stopped),
            None => {
                self.summary.loops.insert(code.to_owned(), stopped);
            }
        }
    }

    /// What became known of calls.
    pub(super) fn effects(&mut self, effects: &mut Vec<Effect>) {
        for effect in effects.drain(..) {
            let mut known = Cluster {
                led_to: effect.led_to,
                ..Cluster::default()
            };
            if let Some(at) = effect.at.filter(|_| effect.led_to.ran_fine > 0) {
                known.add_fine(at, effect.led_to.ran_fine);
            }
            let cluster = effect.cluster;
            self.summary.clusters.add(cluster, known);
        }
    }

    fn hand_on_models(&mut self) {
        for (name, tally) in self.models.0.drain(..) {
            self.summary.models.add(name, tally);
        }
    }

    /// Everything that was counted.
    pub(super) fn into_summary(mut self) -> Summary {
        self.hand_on_models();
        let mut tools: Vec<(usize, ToolCounts)> = self.tools.into_iter().collect();
        tools.sort_unstable_by_key(|(address, _)| *address);
        for (address, mut counts) in tools {
            counts.hand_on_models();
            let time = counts.time.into_timeline();
            counts.summary.time.absorb(time);
            let Some((name, declared)) = counts.set.declared(address) else {
                continue;
            };
            if let Ok(declared) = declared {
                let version = Version {
                    declared: declared.text.clone(),
                    calls: counts.calls,
                    first: counts.first,
                    last: counts.last,
                    quarantined: declared.quarantined.clone(),
                };
                counts.summary.versions.add(declared.hash.clone(), version);
            }
            self.summary.tools.add(name.to_owned(), counts.summary);
        }
        self.summary.calls.absorb(self.calls);
        (self.summary.input.first, self.summary.input.last) = (self.first, self.last);
        self.summary.time.absorb(self.time.into_timeline());
        self.summary.sessions.absorb(self.sessions);
        self.summary
    }
}

impl ToolCounts {
    fn new(set: &Arc<ToolSet>) -> Self {
        ToolCounts {
            set: Arc::clone(set),
            summary: ToolSummary::default(),
            calls: 0,
            first: None,
            last: None,
            last_session: None,
            time: ByMinute::default(),
            models: Few::default(),
        }
    }

    fn hand_on_models(&mut self) {
        for (name, tally) in self.models.0.drain(..) {
            self.summary.models.add(name, tally.calls);
        }
    }
}
