//! Generated traffic of tools, with the truth about every violation.
//!
//! Takes a seed and a number of calls; returns the declarations of 36 tools (or of another [`Family`] of tools), a log
//! of fourteen days and a label for every planted pattern. The same seed gives the same log. Nothing here knows how a
//! replay decides: whether a pattern is a bug or an edge case depends only on what it represents in the real world,
//! which is written next to each in [`edge_cases`] and [`bugs`].
//!
//! What the world looks like:
//!
//! - Five models with different habits. The one that runs locally makes nine times as many mistakes as the best. Two of
//!   them send arguments as values, three as texts.
//! - Most conversations are short: half have fewer than four calls, a few have three hundred. Each uses two to six of
//!   the tools; some tools are ten times as popular as others. Nights and weekends are quiet.
//! - About 95% of the calls fit their schema. Of these, 2% to 13% fail anyway, depending on the tool: what they ask for
//!   does not exist, or a server is down. Most errors of agents are of this kind.
//! - After a refusal, 44% of the calls are corrected, 7% repeated unchanged, 28% given up. Some are repeated many
//!   times.
//! - Two tools hand off their work, and their results are not recorded; one tool reports errors as if they were
//!   results; of the others, three results in a hundred are lost.
//! - Three in a hundred of the violating calls violate twice; a mistake together with an edge case is a mistake.
//!
//! A call's id names the patterns in it: `c123-p7` has pattern seven, `c124` is fine.
#![allow(
    dead_code,
    reason = "tests, the example and the bench each use a part of it"
)]
#![allow(
    clippy::cast_possible_truncation,
    clippy::cast_possible_wrap,
    clippy::cast_precision_loss,
    clippy::cast_sign_loss,
    reason = "numbers that are made up need not be exact"
)]

mod bugs;
mod edge_cases;
mod kept;
mod lines;
mod make;
mod offered;
mod pattern;
mod random;
mod second;
mod session;
mod values;
mod words;
mod world;

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use serde_json::{Value, json};

pub(crate) use lines::Format;
use offered::Offered;
pub(crate) use pattern::{Label, Pattern};
use random::Random;
use session::{Record, Session};

/// The tools, in all formats in which people declare them.
pub(crate) const TOOLS: &str = include_str!("tools.json");

/// Tools that belong together, and the patterns in their calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Family {
    /// The family that existed when the rule was written.
    First,
    /// Written without looking at the rule.
    Second,
    /// A few tools that are not looked at while the rule is being changed.
    Kept,
}

impl Family {
    pub(crate) const ALL: [(&'static str, Family); 3] = [
        ("first", Family::First),
        ("second", Family::Second),
        ("kept", Family::Kept),
    ];

    fn tools(self) -> &'static str {
        match self {
            Family::First => TOOLS,
            Family::Second => second::TOOLS,
            Family::Kept => kept::TOOLS,
        }
    }

    fn patterns(self) -> Vec<Pattern> {
        match self {
            Family::First => {
                let mut all = edge_cases::edge_cases();
                all.extend(bugs::bugs());
                all
            }
            Family::Second => second::patterns(),
            Family::Kept => kept::patterns(),
        }
    }
}

/// What to generate.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Settings {
    pub(crate) calls: usize,
    pub(crate) seed: u64,
    pub(crate) format: Format,
}

/// All tools and patterns.
pub(crate) struct World {
    tools: Vec<Offered>,
    declared: Vec<Value>,
    /// The file with all tools.
    pub(crate) tools_file: String,
    popularity: Vec<f64>,
    pub(crate) patterns: Vec<Pattern>,
}

impl World {
    /// The first family.
    pub(crate) fn new() -> Self {
        World::of(&[Family::First])
    }

    /// Reads the tools of some families and numbers their patterns.
    pub(crate) fn of(families: &[Family]) -> Self {
        let mut declared: Vec<Value> = Vec::new();
        let mut patterns = Vec::new();
        for family in families {
            let tools: Vec<Value> =
                serde_json::from_str(family.tools()).expect("the tools are JSON");
            declared.extend(tools);
            patterns.extend(family.patterns());
        }
        let tools_file = match families {
            [only] => only.tools().to_owned(),
            _ => Value::from(declared.clone()).to_string(),
        };
        let specs = callwright::wire::read_tools(&tools_file).expect("the tools can be read");
        for (at, pattern) in patterns.iter_mut().enumerate() {
            pattern.number = at + 1;
        }
        let of_tool = |name: &str| {
            let all = patterns.iter().enumerate();
            let own = all.filter(|(_, pattern)| pattern.tool == name || pattern.tool == "*");
            own.map(|(at, _)| at).collect()
        };
        let tools: Vec<Offered> = specs
            .into_iter()
            .map(|spec| Offered {
                patterns: of_tool(&spec.name),
                spec,
            })
            .collect();
        // The first tool of the first family is called ten times as often as its last.
        let popularity = (0..tools.len())
            .map(|rank| 1.0 / (rank + 4) as f64)
            .collect();
        World {
            tools,
            declared,
            tools_file,
            popularity,
            patterns,
        }
    }

    /// The index of a tool; any tool will do for a pattern of all tools.
    fn tool(&self, name: &str) -> usize {
        let is_meant = |tool: &Offered| tool.name() == name || name == "*";
        let found = self.tools.iter().position(is_meant);
        found.expect("patterns name tools that there are")
    }

    /// Writes a log in chronological order. Returns the number of calls of each pattern, in the order of the patterns.
    pub(crate) fn write(&self, settings: Settings, mut write: impl FnMut(&str)) -> Vec<u64> {
        let mut counts = vec![0; self.patterns.len()];
        let mut waiting: BinaryHeap<Reverse<(i64, u64, String)>> = BinaryHeap::new();
        let mut lines = 0;
        for (start, records) in self.sessions(settings) {
            while waiting
                .peek()
                .is_some_and(|Reverse((time, ..))| *time < start)
            {
                if let Some(Reverse((.., line))) = waiting.pop() {
                    write(&line);
                }
            }
            for at in records.iter().flat_map(|record| &record.planted) {
                counts[*at] += 1;
            }
            for (time, line) in settings.format.lines(&records, &self.declared) {
                lines += 1;
                waiting.push(Reverse((time, lines, line)));
            }
        }
        while let Some(Reverse((.., line))) = waiting.pop() {
            write(&line);
        }
        counts
    }

    /// Conversations in the order of their start.
    fn sessions(&self, settings: Settings) -> impl Iterator<Item = (i64, Vec<Record>)> {
        let mut random = Random::new(settings.seed);
        let mut planned = self.bursts(settings.calls);
        let mut calls: usize = planned.iter().map(|session| session.length).sum();
        while calls < settings.calls {
            let length = length(&mut random).min(settings.calls - calls);
            calls += length;
            planned.push(Planned {
                start: world::start(&mut random),
                length,
                burst: None,
            });
        }
        planned.sort_by_key(|session| session.start);
        let (mut number, mut next_id) = (0, 1);
        planned.into_iter().flat_map(move |session| {
            let mut records = Vec::new();
            // If a conversation ends early, another one takes over.
            while records.len() < session.length {
                number += 1;
                let own = Random::new(random.next());
                let begun = Session::new(self, own, format!("s{number}"), session.start, next_id);
                let left = session.length - records.len();
                let talk = match session.burst {
                    Some(pattern) => begun.burst(pattern, left),
                    None => begun.talk(left),
                };
                next_id += talk.len() as u64;
                records.extend(talk);
            }
            let talks = records.chunk_by(|one, other| one.session == other.session);
            let talks: Vec<_> = talks.map(|talk| (session.start, talk.to_vec())).collect();
            talks
        })
    }

    fn bursts(&self, calls: usize) -> Vec<Planned> {
        let mut planned = Vec::new();
        for (at, pattern) in self.patterns.iter().enumerate() {
            if let Some(burst) = pattern.burst {
                let length = (calls as f64 * burst.share) as usize / burst.sessions;
                let start = world::at(burst.day, burst.hour);
                planned.extend((0..burst.sessions).map(|_| Planned {
                    start,
                    length,
                    burst: Some(at),
                }));
            }
        }
        planned
    }

    /// Only calls with one pattern, given by its number.
    pub(crate) fn samples(&self, number: usize, settings: Settings) -> Vec<String> {
        let random = Random::new(settings.seed ^ number as u64);
        let session = Session::new(self, random, "samples".to_owned(), world::at(0, 0), 1);
        let records = session.burst(number - 1, settings.calls);
        let lines = settings.format.lines(&records, &self.declared);
        lines.into_iter().map(|(_, line)| line).collect()
    }

    /// One label per pattern.
    pub(crate) fn labels(&self, counts: &[u64]) -> Vec<Value> {
        let all = self.patterns.iter().zip(counts);
        all.map(|(pattern, calls)| {
            json!({
                "pattern": pattern.number,
                "label": match pattern.label { Label::EdgeCase => "edge_case", Label::Bug => "bug" },
                "tool": pattern.tool,
                "side": if pattern.is_in_result() { "output" } else { "input" },
                "path": pattern.path,
                "issue": pattern.issue,
                "refused_by_the_tool": pattern.refused,
                "stands_for": pattern.stands_for,
                "calls": calls,
            })
        })
        .collect()
    }
}

/// A conversation that is to be generated.
struct Planned {
    start: i64,
    length: usize,
    burst: Option<usize>,
}

/// How many calls a conversation has: usually few, sometimes many.
fn length(random: &mut Random) -> usize {
    let share = random.share().max(1e-9);
    ((2.0 / share.powf(0.8)) as usize).clamp(1, 300)
}

/// The numbers of the patterns in a call, from its id.
pub(crate) fn planted(id: &str) -> Vec<usize> {
    let parts = id.split("-p").skip(1);
    parts.filter_map(|number| number.parse().ok()).collect()
}
