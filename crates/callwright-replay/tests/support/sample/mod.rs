//! A hand-made report of a busy month: several tools, clusters of all kinds, loops, troubles.
//!
//! Every text that would come from the log goes through `say`, so that a test can make all of them hostile at once.

pub(crate) mod compared;
mod plans;
mod proposals;

use std::collections::BTreeMap;

use callwright_replay::decide::{ClusterJudgement, ScoredReason};
use callwright_replay::propose::Proposals;
use callwright_replay::report::Report;
use callwright_replay::summary::{
    Bounded, Cluster, ClusterKey, Combination, Distinct, Example, Examples, LedTo, Side, Stopped,
    Summary, Tally, Timeline, ToolSummary, Trouble, Version,
};
use plans::{Plan, plans};
use serde_json::json;

/// 1 November 2026.
pub(crate) const START: i64 = 1_793_491_200_000_000;
const HOUR: i64 = 3_600_000_000;
const DAY: i64 = 24 * HOUR;

/// How busy each of the twelve parts of a day is.
const WAVE: [u64; 12] = [2, 1, 1, 3, 6, 9, 11, 12, 11, 8, 6, 4];

const MODELS: [(&str, u64); 3] = [
    ("granite-7-large", 620_000),
    ("granite-7-small", 310_000),
    ("osprey-2", 70_000),
];

const TOOLS: [(&str, u64); 7] = [
    ("create_ticket", 212_480),
    ("search_orders", 401_200),
    ("send_email", 96_310),
    ("book_room", 58_020),
    ("get_weather", 180_440),
    ("run_query", 51_350),
    ("legacy_export", 200),
];

/// The report, with all texts from the log passed through `say`.
pub(crate) fn report(say: &dyn Fn(&str) -> String) -> Report {
    let mut summary = Summary::default();
    let mut judgements = Vec::new();
    for plan in plans() {
        let key = key_of(&plan, say);
        judgements.push(ClusterJudgement {
            cluster: key.clone(),
            kind: plan.kind,
            score: plan.reasons.iter().map(|(points, _)| points).sum(),
            reasons: plan
                .reasons
                .iter()
                .map(|(points, why)| ScoredReason {
                    points: *points,
                    why: say(why),
                })
                .collect(),
        });
        if key.side == Side::Input {
            let combination = Combination {
                tool: key.tool.clone(),
                clusters: vec![key.hash()],
            };
            summary.combinations.add(combination, plan.calls);
        }
        summary.clusters.add(key, cluster(&plan, say));
    }
    tallies(&mut summary, say);
    time(&mut summary);
    input(&mut summary, say);
    for (rule, times) in [
        ("number_from_string", 1_212),
        ("date_separators", 320),
        ("enum_spelling", 88),
    ] {
        summary.repairs.insert(say(rule), times);
    }
    loops(&mut summary, say);
    Report {
        proposals: proposals::proposals(&judgements, say),
        summary,
        judgements,
    }
}

fn key_of(plan: &Plan, say: &dyn Fn(&str) -> String) -> ClusterKey {
    let (tool, side, path, issue, shape) = plan.key;
    let some = |text: &str| match text {
        "" => String::new(),
        text => say(text),
    };
    ClusterKey {
        tool: say(tool),
        side,
        path: some(path),
        issue: issue.into(),
        shape: some(shape).into(),
    }
}

fn cluster(plan: &Plan, say: &dyn Fn(&str) -> String) -> Cluster {
    let (first, days) = plan.days;
    let mut cluster = Cluster {
        calls: plan.calls,
        repaired: plan.repaired.0,
        alone: plan.calls,
        first: Some(START + first * DAY + 9 * HOUR),
        last: Some(START + (first + days - 1) * DAY + 15 * HOUR),
        led_to: led_to(plan.led_to),
        ..Cluster::default()
    };
    if plan.repaired.0 > 0 {
        cluster.rules.insert(say(plan.repaired.1), plan.repaired.0);
    }
    for day in first..first + days {
        let part = plan.calls / days.unsigned_abs();
        for hour in [9, 11, 13, 15] {
            cluster.time.add(START + day * DAY + hour * HOUR, part / 4);
        }
    }
    for session in 0..plan.calls / 3 {
        cluster.sessions.add_text(&format!("session {session}"));
    }
    for (model, share) in MODELS {
        cluster
            .models
            .add(say(model), plan.calls * share / 1_000_000);
    }
    if !plan.value.is_empty() {
        cluster.values.add(say(plan.value), plan.calls);
    }
    if plan.key.3 == "maximum" {
        (cluster.smallest, cluster.largest) = (Some(101.0), Some(480.0));
    }
    for number in 0..3 {
        let some = !plan.value.is_empty();
        cluster.examples.add(
            number,
            Example {
                value: if some { say(plan.value) } else { String::new() },
                whole: plan.key.3 != "truncated_call",
                arguments: if some {
                    say(r#"{"all": "of them"}"#)
                } else {
                    String::new()
                },
                place: say(&format!(
                    "logs/november/{:02}.jsonl.gz:{}",
                    number + 3,
                    418 + number
                )),
                time: cluster.first.map(|first| first + 86 * 60_000_000),
                session: Some(say(&format!("c-{number}8f2"))),
                model: Some(say(MODELS[0].0)),
            },
        );
    }
    cluster
}

fn led_to(counts: [u64; 6]) -> LedTo {
    let [
        ran_fine,
        tool_refused,
        unknown,
        corrected,
        repeated,
        gave_up,
    ] = counts;
    LedTo {
        ran_fine,
        tool_refused,
        unknown,
        corrected,
        repeated,
        gave_up,
    }
}

fn tallies(summary: &mut Summary, say: &dyn Fn(&str) -> String) {
    let plans = plans();
    for (name, calls) in TOOLS {
        let of = |side: Side| {
            plans
                .iter()
                .filter(move |plan| plan.key.0 == name && plan.key.1 == side)
        };
        let broken: u64 = of(Side::Input).map(|plan| plan.calls).sum();
        let repaired: u64 = of(Side::Input).map(|plan| plan.repaired.0).sum();
        let results_refused = of(Side::Output).map(|plan| plan.calls).sum();
        let unjudged = if name == "legacy_export" {
            calls - broken
        } else {
            0
        };
        let tally = Tally {
            warned: 0,
            calls,
            valid: calls - broken - unjudged,
            unjudged,
            repaired,
            refused: broken - repaired,
            stopped: calls / 2_500,
            results: calls - calls / 50,
            results_refused,
            tool_errors: calls / 90,
        };
        callwright_replay::summary::Merge::absorb(&mut summary.calls, tally);
        let mut tool = ToolSummary {
            tally,
            latency_us: calls * 41_000,
            sampled: calls - broken,
            ..ToolSummary::default()
        };
        if name != "legacy_export" {
            let version = Version {
                declared: json!({"name": name, "inputSchema": {"type": "object"}}).to_string(),
                calls,
                first: Some(START),
                last: Some(START + 30 * DAY),
                quarantined: (name == "run_query").then(|| say("unknown `$ref` in /properties/q")),
            };
            tool.versions.add("v1".to_owned(), version);
        }
        summary.tools.add(say(name), tool);
    }
    let all = summary.calls;
    for (model, share) in MODELS {
        let part = |number: u64| number * share / 1_000_000;
        let tally = Tally {
            warned: 0,
            calls: part(all.calls),
            valid: part(all.valid),
            unjudged: 0,
            repaired: part(all.repaired),
            refused: part(all.refused),
            stopped: part(all.stopped),
            results: part(all.results),
            results_refused: part(all.results_refused),
            tool_errors: part(all.tool_errors),
        };
        summary.models.add(say(model), tally);
    }
    for session in 0..20_000 {
        summary.sessions.add_text(&format!("session {session}"));
    }
}

fn time(summary: &mut Summary) {
    let mut time = Timeline::default();
    for day in 0..30i64 {
        let weekend = day % 7 == 0 || day % 7 == 6;
        for (part, weight) in (0u32..).zip(WAVE) {
            let calls = weight * if weekend { 220 } else { 545 };
            let burst = if day == 17 && part == 6 { 400 } else { 0 };
            let refused =
                calls * (9 + (day.unsigned_abs() * 7 + u64::from(part) * 5) % 5) / 1_000 + burst;
            let repaired = calls * (2 + (day.unsigned_abs() + u64::from(part)) % 3) / 1_500;
            let tally = Tally {
                warned: 0,
                calls: calls + burst,
                valid: (calls + burst).saturating_sub(refused + repaired),
                repaired,
                refused,
                ..Tally::default()
            };
            time.add(START + day * DAY + i64::from(part) * 2 * HOUR, tally);
        }
    }
    // A clock that was never set.
    time.add(
        0,
        Tally {
            calls: 3,
            valid: 3,
            ..Tally::default()
        },
    );
    summary.time = time;
}

fn input(summary: &mut Summary, say: &dyn Fn(&str) -> String) {
    let input = &mut summary.input;
    input.files = 30;
    input.bytes = 1_284_331_902;
    input.records = 1_004_218;
    for (format, records) in [
        ("callwright", 203_981),
        ("openai_chat", 800_010),
        ("mcp", 13),
    ] {
        input.formats.insert(say(format), records);
    }
    input.without_calls = 4_004;
    input.shown_again = 218_400;
    input.results_without_call = 17;
    input.first = Some(START);
    input.last = Some(START + 30 * DAY - 1);
    let mut bad_line = Trouble::at(&say("logs/november/07.jsonl.gz"), 991);
    bad_line.records = 213;
    input.troubles.add(say("no JSON"), bad_line);
    let cut = Trouble::at(&say("logs/november/30.jsonl.gz"), 0);
    input
        .troubles
        .add(say("the file ends within its compressed data"), cut);
}

fn loops(summary: &mut Summary, say: &dyn Fn(&str) -> String) {
    for (code, calls, tool) in [
        ("repeated_call", 301, "search_orders"),
        ("error_streak", 84, "create_ticket"),
        ("cycle", 13, "get_weather"),
    ] {
        let mut tools = Bounded::default();
        tools.add(say(tool), calls);
        let mut sessions = Distinct::default();
        for session in 0..calls / 4 {
            sessions.add_text(&format!("session {session}"));
        }
        let mut examples = Examples::default();
        examples.add(
            1,
            Example {
                arguments: String::new(),
                value: say("{\"customer_id\":null,\"limit\":5}"),
                whole: true,
                place: say("logs/november/11.jsonl.gz:7120"),
                time: Some(START + 10 * DAY),
                session: Some(say("c-77a")),
                model: Some(say("osprey-2")),
            },
        );
        let stopped = Stopped {
            calls,
            sessions,
            latency_us: calls * 1_900_000,
            result_bytes: calls * 14_220,
            tools,
            examples,
        };
        summary.loops.insert(code.to_owned(), stopped);
    }
}

/// The texts as they are in the log.
pub(crate) fn plain() -> Report {
    report(&|text: &str| text.to_owned())
}

/// A report without any calls.
pub(crate) fn empty() -> Report {
    Report {
        summary: Summary::default(),
        judgements: Vec::new(),
        proposals: Proposals::default(),
    }
}

/// All calls are fine, and their times are unknown.
pub(crate) fn spotless() -> Report {
    let mut report = empty();
    report.summary.calls = Tally {
        calls: 12,
        valid: 12,
        ..Tally::default()
    };
    report.summary.input.files = 1;
    report.summary.input.records = 12;
    report.summary.input.bytes = 4_096;
    report.summary.input.formats = BTreeMap::from([("calls".to_owned(), 12)]);
    report
}
