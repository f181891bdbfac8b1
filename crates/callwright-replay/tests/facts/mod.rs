//! Builds a summary from hand-written facts about tools and clusters.
#![allow(
    dead_code,
    clippy::cast_possible_wrap,
    clippy::expect_used,
    reason = "each test uses a part of it; facts are small and well-formed"
)]

use callwright_replay::summary::{
    Cluster, ClusterKey, Combination, Example, Side, Summary, Tally, ToolSummary, Version,
};
use serde::Deserialize;
use serde_json::Value as Json;
use std::collections::BTreeMap;

const DAY_US: i64 = 86_400_000_000;
const MINUTE_US: i64 = 60_000_000;

/// 1 January 2026.
const BEGIN_US: i64 = 1_767_225_600_000_000;

/// Facts about a tool.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ToolFacts {
    pub(crate) calls: u64,
    #[serde(default)]
    pub(crate) results: u64,
    #[serde(default)]
    pub(crate) tool_errors: u64,
    #[serde(default)]
    pub(crate) sessions: u64,
    #[serde(default)]
    pub(crate) models: BTreeMap<String, u64>,
    /// How many days it was called on, with the same number of calls each day.
    #[serde(default)]
    pub(crate) days: u64,
}

/// Facts about a cluster.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ClusterFacts {
    pub(crate) path: String,
    pub(crate) issue: String,
    #[serde(default)]
    pub(crate) shape: String,
    #[serde(default)]
    pub(crate) side: Option<Side>,
    pub(crate) calls: u64,
    /// All calls, if absent.
    pub(crate) alone: Option<u64>,
    #[serde(default)]
    pub(crate) ran_fine: u64,
    #[serde(default)]
    pub(crate) tool_refused: u64,
    #[serde(default)]
    pub(crate) corrected: u64,
    #[serde(default)]
    pub(crate) repeated: u64,
    #[serde(default)]
    pub(crate) gave_up: u64,
    #[serde(default)]
    pub(crate) sessions: u64,
    #[serde(default)]
    pub(crate) models: BTreeMap<String, u64>,
    /// How many of the tool's days it was seen on, counted from the first day.
    #[serde(default)]
    pub(crate) days: u64,
    /// How many of its days had no call that ran fine, counted from the first day; the calls that did run fine are
    /// spread over the other days.
    #[serde(default)]
    pub(crate) days_without_success: u64,
    #[serde(default)]
    pub(crate) values: Vec<Json>,
    #[serde(default)]
    pub(crate) rules: BTreeMap<String, u64>,
    pub(crate) smallest: Option<f64>,
    pub(crate) largest: Option<f64>,
}

impl ClusterFacts {
    pub(crate) fn key(&self, tool: &str) -> ClusterKey {
        ClusterKey {
            tool: tool.to_owned(),
            side: self.side.unwrap_or(Side::Input),
            path: self.path.clone(),
            issue: self.issue.as_str().into(),
            shape: self.shape.as_str().into(),
        }
    }

    fn cluster(&self) -> Cluster {
        let mut cluster = Cluster {
            calls: self.calls,
            alone: self.alone.unwrap_or(self.calls),
            rules: self.rules.clone(),
            smallest: self.smallest,
            largest: self.largest,
            ..Cluster::default()
        };
        cluster.led_to.ran_fine = self.ran_fine;
        cluster.led_to.tool_refused = self.tool_refused;
        cluster.led_to.unknown = self.calls - self.ran_fine - self.tool_refused;
        cluster.led_to.corrected = self.corrected;
        cluster.led_to.repeated = self.repeated;
        cluster.led_to.gave_up = self.gave_up;
        for session in 0..self.sessions {
            cluster.sessions.add_text(&format!("session {session}"));
        }
        for (model, calls) in &self.models {
            cluster.models.add(model.clone(), *calls);
        }
        for at in 0..self.calls {
            if self.days > 0 {
                cluster.time.add(time(at, self.days), 1);
            }
        }
        let days_with = self.days.saturating_sub(self.days_without_success);
        for at in 0..self.ran_fine {
            if days_with > 0 {
                let day = self.days_without_success + at % days_with;
                cluster.add_fine(time(day, self.days), 1);
            }
        }
        for (at, value) in self.values.iter().enumerate() {
            let text = value.to_string();
            let share = self.calls / self.values.len() as u64;
            cluster.values.add(text.clone(), share.max(1));
            let example = Example {
                value: text,
                whole: true,
                arguments: String::new(),
                place: format!("log.jsonl:{}", at + 1),
                time: None,
                session: None,
                model: None,
            };
            cluster.examples.add(at as u64, example);
        }
        cluster
    }
}

fn time(at: u64, days: u64) -> i64 {
    let (day, minute) = ((at % days) as i64, (at / days % 1_000) as i64);
    BEGIN_US + day * DAY_US + minute * MINUTE_US
}

/// A summary of one tool, declared in MCP's format.
pub(crate) fn summary(declared: &Json, tool: &ToolFacts, clusters: &[ClusterFacts]) -> Summary {
    let name = declared["name"].as_str().expect("a name");
    let mut known = ToolSummary {
        tally: Tally {
            calls: tool.calls,
            results: tool.results,
            tool_errors: tool.tool_errors,
            ..Tally::default()
        },
        ..ToolSummary::default()
    };
    let version = Version {
        declared: declared.to_string(),
        calls: tool.calls,
        ..Version::default()
    };
    known.versions.add("1".to_owned(), version);
    for session in 0..tool.sessions {
        known.sessions.add_text(&format!("session {session}"));
    }
    for (model, calls) in &tool.models {
        known.models.add(model.clone(), *calls);
    }
    for at in 0..tool.calls.min(10_000) {
        if tool.days > 0 {
            known.time.add(time(at, tool.days), 1);
        }
    }
    let mut summary = Summary::default();
    summary.tools.add(name.to_owned(), known);
    for facts in clusters {
        let key = facts.key(name);
        let combination = Combination {
            tool: name.to_owned(),
            clusters: vec![key.hash()],
        };
        summary.combinations.add(combination, facts.calls);
        summary.clusters.add(key, facts.cluster());
    }
    summary
}
