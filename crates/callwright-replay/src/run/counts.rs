//! The counts of one worker. The counts of all workers together are the summary.
//!
//! Nearly all calls are valid, and everything done for a valid one is here: the speed of a replay depends on it.

use std::sync::Arc;

use ahash::AHashMap;
use callwright::Verdict;
use callwright::json::{Path, Value};
use callwright::secrecy::Secrecy;
use callwright::tool::Tool;
use xxhash_rust::xxh3::xxh3_64;

use super::sighting::Spot;
use super::tools::KnownTool;
use crate::conversation::Effect;
use crate::judge::{Fault, JudgedCall, JudgedResult, measure};
use crate::seen::{At, short};
use crate::summary::{
    Bounded, Cluster, Combination, Example, MODELS, Merge, Parameter, Stopped, Summary, Tally,
    ToolSummary, Version, earliest, larger,
};

/// One valid call in this many is sampled, to see which values are in use. Fewer would miss rare parameters, more would
/// slow the run down.
const SAMPLED: u64 = 32;

/// How many clusters, combinations and parameters a worker keeps for itself.
const MOST_KEPT: usize = 2_000;

/// How many bytes its clusters may take.
const MOST_BYTES: usize = 2 * 1024 * 1024;

/// How many tools: a few kilobytes each. A fleet has a few dozen in use.
const MOST_TOOLS: usize = 256;

/// Values of parameters up to this many bytes of JSON are kept.
const LONGEST_VALUE: usize = 100;

/// What is counted for a judged and admitted call.
pub(super) struct CallFacts<'c> {
    pub(super) spot: Spot<'c>,
    pub(super) at: &'c At<'c>,
    pub(super) session: Option<u64>,
    pub(super) tally: Tally,
    pub(super) latency_us: u64,
    /// The arguments in displayable form, only produced for examples that are kept.
    pub(super) arguments: &'c dyn Fn() -> String,
}

impl CallFacts<'_> {
    pub(super) fn example(&self, value: String, whole: bool) -> Example {
        Example {
            arguments: Some((self.arguments)())
                .filter(|all| *all != value)
                .unwrap_or_default(),
            value,
            whole,
            place: format!("{}:{}", self.spot.file, self.spot.line),
            time: self.at.time,
            session: self.at.session.as_deref().map(|it| short(it).to_owned()),
            model: self.model().map(str::to_owned),
        }
    }

    fn model(&self) -> Option<&str> {
        self.at.model.as_deref().map(short)
    }
}

/// Counts per tool.
struct ToolCounts {
    tool: Arc<KnownTool>,
    summary: ToolSummary,
    version: Version,
    /// Added to those of the tool and to those of all calls in the end.
    models: Bounded<String, Tally, MODELS>,
}

/// See the module.
#[derive(Default)]
pub(super) struct Counts {
    pub(super) summary: Summary,
    /// By the address of the tool, which its counts keep alive.
    tools: AHashMap<usize, ToolCounts>,
}

impl Counts {
    /// How many calls were counted.
    pub(super) fn calls(&self) -> u64 {
        self.summary.calls.calls
    }

    /// Whether it is time to add them to those of the others: each worker keeps only so much for itself.
    pub(super) fn is_large(&self) -> bool {
        let summary = &self.summary;
        let kept = summary.clusters.len() + summary.combinations.len() + summary.parameters.len();
        kept > MOST_KEPT || summary.clusters.bytes() > MOST_BYTES || self.tools.len() > MOST_TOOLS
    }

    /// A call of a tool, or of none if no tool has that name.
    pub(super) fn call(&mut self, tool: Option<&Arc<KnownTool>>, facts: &CallFacts<'_>) {
        let CallFacts {
            at, session, tally, ..
        } = facts;
        self.tally(tool, facts);
        if let Some(time) = at.time {
            let input = &mut self.summary.input;
            input.first = earliest(input.first, Some(time));
            input.last = input.last.max(Some(time));
        }
        let Some(tool) = tool else {
            // Those of known tools are added to these in the end.
            if let Some(session) = session {
                self.summary.sessions.add(*session);
            }
            return;
        };
        let counts = self.tool(tool);
        counts.version.calls += 1;
        counts.summary.tally.absorb(*tally);
        counts.summary.latency_us += facts.latency_us;
        if let Some(time) = at.time {
            counts.summary.time.add(time, 1);
            counts.version.first = earliest(counts.version.first, Some(time));
            counts.version.last = counts.version.last.max(Some(time));
        }
        if let Some(session) = session {
            counts.summary.sessions.add(*session);
        }
    }

    /// Adds to the counts of all calls, over time and by model.
    fn tally(&mut self, tool: Option<&Arc<KnownTool>>, facts: &CallFacts<'_>) {
        let tally = facts.tally;
        self.summary.calls.absorb(tally);
        if let Some(time) = facts.at.time {
            self.summary.time.add(time, tally);
        }
        if let Some(model) = facts.model() {
            let models = match tool {
                Some(tool) => &mut self.tool(tool).models,
                None => &mut self.summary.models,
            };
            models.update(model, |known: &mut Tally| known.absorb(tally));
        }
    }

    fn tool(&mut self, tool: &Arc<KnownTool>) -> &mut ToolCounts {
        let counts = self.tools.entry(Arc::as_ptr(tool).addr());
        counts.or_insert_with(|| ToolCounts {
            tool: Arc::clone(tool),
            summary: ToolSummary::default(),
            version: Version::default(),
            models: Bounded::default(),
        })
    }

    /// A result that came after its call was counted.
    pub(super) fn late_result(&mut self, tool: &Arc<KnownTool>, tally: Tally) {
        self.summary.calls.absorb(tally);
        self.tool(tool).summary.tally.absorb(tally);
    }

    /// Records the values of a valid call, if it is sampled.
    pub(super) fn sample(
        &mut self,
        (tool, known): (&Tool, &Arc<KnownTool>),
        arguments: &Value<'_>,
        hash: u64,
    ) {
        if !hash.is_multiple_of(SAMPLED) {
            return;
        }
        self.tool(known).summary.sampled += 1;
        let secrecy = Secrecy::of_arguments(tool, arguments);
        for (name, value) in arguments.as_object().unwrap_or_default() {
            let at = Path::root().key(name);
            let shown = secrecy.value(value, &at);
            let json = match value {
                Value::Array(_) | Value::Object(_) => None,
                leaf if *shown != *leaf => None,
                Value::String(text) if text.len() > LONGEST_VALUE => None,
                leaf => Some(leaf.to_string()).filter(|json| json.len() <= LONGEST_VALUE),
            };
            let parameter = Parameter {
                tool: tool.name().to_owned(),
                name: secrecy.path(&at).last().unwrap_or_default().into_owned(),
            };
            self.summary.parameters.update(&parameter, |usage| {
                usage.present += 1;
                usage.largest = larger(usage.largest, measure(&shown));
                usage.values.add(json);
            });
        }
    }

    /// The faults of a call: each goes into its cluster.
    #[cold]
    pub(super) fn faults(&mut self, judged: &JudgedCall<'_>, facts: &CallFacts<'_>) {
        let repaired = matches!(judged.verdict, Verdict::Repaired(_));
        let edits = judged.verdict.edits();
        for edit in edits {
            let repairs = &mut self.summary.repairs;
            repairs.entry(edit.rule.to_string()).or_default().absorb(1);
        }
        for fault in &judged.faults {
            self.summary.clusters.update(&fault.key, |cluster| {
                add_call(cluster, fault, facts);
                cluster.repaired += u64::from(repaired);
                cluster.alone += u64::from(judged.faults.len() == 1);
                for (at, edit) in edits.iter().enumerate() {
                    // A rule counts once per call.
                    if !edits[..at].iter().any(|earlier| earlier.rule == edit.rule) {
                        *cluster.rules.entry(edit.rule.to_string()).or_default() += 1;
                    }
                }
            });
        }
        self.combination(&judged.faults);
    }

    /// The faults of one call or result.
    fn combination(&mut self, faults: &[Fault]) {
        let Some(first) = faults.first() else {
            return;
        };
        let mut clusters: Vec<u64> = faults.iter().map(|fault| fault.key.hash()).collect();
        clusters.sort_unstable();
        let tool = first.key.tool.clone();
        let combination = Combination { tool, clusters };
        self.summary.combinations.add(combination, 1);
    }

    /// The faults of a result.
    #[cold]
    pub(super) fn result_faults(&mut self, result: &JudgedResult<'_>, facts: &CallFacts<'_>) {
        for fault in &result.faults {
            self.summary.clusters.update(&fault.key, |cluster| {
                add_call(cluster, fault, facts);
                cluster.alone += u64::from(result.faults.len() == 1);
                cluster.led_to.absorb(result.end().led_to());
            });
        }
        self.combination(&result.faults);
    }

    /// A counted call that admission would have stopped. `shown` is the call in displayable form.
    #[cold]
    pub(super) fn stopped(
        &mut self,
        code: &str,
        (name, tool): (&str, Option<&Arc<KnownTool>>),
        facts: &CallFacts<'_>,
        result_bytes: u64,
        shown: String,
    ) {
        self.tally(tool, facts);
        if let Some(tool) = tool {
            self.tool(tool).summary.tally.absorb(facts.tally);
        }
        let stopped = self.summary.loops.entry(code.to_owned()).or_default();
        stopped.absorb(Stopped {
            calls: 1,
            latency_us: facts.latency_us,
            result_bytes,
            ..Stopped::default()
        });
        if let Some(session) = facts.session {
            stopped.sessions.add(session);
        }
        stopped.tools.add(name.to_owned(), 1);
        let examples = &mut stopped.examples;
        examples.add(facts.spot.hash, facts.example(shown, true));
    }

    /// What became known about calls.
    pub(super) fn effects(&mut self, effects: &mut Vec<Effect>) {
        for effect in effects.drain(..) {
            self.summary.clusters.update(&effect.cluster, |cluster| {
                cluster.led_to.absorb(effect.led_to);
                if let Some(at) = effect.at.filter(|_| effect.led_to.ran_fine > 0) {
                    cluster.add_fine(at, effect.led_to.ran_fine);
                }
            });
        }
    }

    /// Everything that was counted.
    pub(super) fn into_summary(mut self) -> Summary {
        for mut counts in self.tools.into_values() {
            let KnownTool { name, declared } = counts.tool.as_ref();
            if let Some(declared) = declared {
                let version = Version {
                    declared: declared.text.clone(),
                    quarantined: declared.quarantined.clone(),
                    ..counts.version
                };
                counts.summary.versions.add(declared.hash.clone(), version);
            }
            for (model, tally) in counts.models.iter() {
                counts.summary.models.add(model.clone(), tally.calls);
            }
            self.summary.models.absorb(counts.models);
            let sessions = counts.summary.sessions.clone();
            self.summary.sessions.absorb(sessions);
            self.summary.tools.add(name.clone(), counts.summary);
        }
        self.summary
    }
}

/// Counts a call with a fault in its cluster.
fn add_call(cluster: &mut Cluster, fault: &Fault, facts: &CallFacts<'_>) {
    cluster.calls += 1;
    cluster.measured(fault.measure);
    if let Some(time) = facts.at.time {
        cluster.seen_at(time);
    }
    if let Some(session) = facts.session {
        cluster.sessions.add(session);
    }
    let count = |count: &mut u64| *count += 1;
    if let Some(model) = facts.model() {
        cluster.models.update(model, count);
    }
    if fault.whole && !fault.value.is_empty() {
        cluster.values.update(fault.value.as_str(), count);
    }
    let hash = facts.spot.hash ^ xxh3_64(fault.value.as_bytes());
    if cluster.examples.wants(hash) {
        let example = facts.example(fault.value.clone(), fault.whole);
        cluster.examples.add(hash, example);
    }
}
