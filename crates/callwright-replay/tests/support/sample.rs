//! A report as a busy month would give it, made by hand: several tools, clusters of all kinds, loops, troubles.
//!
//! Every text that would come from the log goes through `say`, so that a test can make all of them hostile at once.

use std::collections::BTreeMap;

use callwright_replay::decide::{Judgement, Kind, Reason};
use callwright_replay::propose::{Advice, Change, Proof, Proposal, Proposals};
use callwright_replay::report::Report;
use callwright_replay::summary::{
    Bounded, Cluster, ClusterKey, Combination, Distinct, Example, Examples, LedTo, Side, Stopped,
    Summary, Tally, Timeline, ToolSummary, Trouble, Version,
};
use serde_json::{Value as Json, json};

/// 1 November 2026.
pub(crate) const START: i64 = 1_793_491_200_000_000;
const HOUR: i64 = 3_600_000_000;
const DAY: i64 = 24 * HOUR;

/// How busy the twelve parts of a day are.
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

/// What a cluster is made of.
struct Plan {
    key: (&'static str, Side, &'static str, &'static str, &'static str),
    calls: u64,
    repaired: (u64, &'static str),
    kind: Kind,
    /// The first day, and on how many days.
    days: (i64, i64),
    led_to: [u64; 6],
    reasons: &'static [(i32, &'static str)],
    value: &'static str,
}

fn plans() -> Vec<Plan> {
    use Kind::{Bug, EdgeCase, Unclear};
    use Side::{Input, Output};
    vec![
        Plan {
            key: ("create_ticket", Input, "/priority", "enum", "\"urgent\""),
            calls: 5_310,
            repaired: (0, ""),
            kind: EdgeCase,
            days: (0, 30),
            led_to: [5_190, 60, 60, 41, 38, 41],
            reasons: &[
                (
                    4,
                    "the tool ran fine in 5,190 of 5,250 calls whose result is known",
                ),
                (2, "seen on 30 of 30 days, never more than 4% on one day"),
                (2, "3 models send it, in 4,100 conversations"),
                (1, "the description of `priority` says \"urgent\" too"),
            ],
            value: "\"urgent\"",
        },
        Plan {
            key: ("search_orders", Input, "/customer_id", "type", "null"),
            calls: 3_904,
            repaired: (0, ""),
            kind: EdgeCase,
            days: (0, 30),
            led_to: [3_811, 12, 81, 30, 3, 60],
            reasons: &[
                (
                    4,
                    "the tool ran fine in 3,811 of 3,823 calls whose result is known",
                ),
                (2, "seen on 30 of 30 days"),
                (1, "its default is `null`"),
            ],
            value: "null",
        },
        Plan {
            key: (
                "search_orders",
                Input,
                "/limit",
                "type",
                "integer in a string",
            ),
            calls: 1_212,
            repaired: (1_212, "number_from_string"),
            kind: Bug,
            days: (0, 30),
            led_to: [12, 1_140, 60, 1_020, 140, 40],
            reasons: &[
                (
                    -4,
                    "the tool refused 1,140 of 1,152 calls whose result is known",
                ),
                (-2, "a number in a string is a slip of the type"),
                (-1, "the model corrected it by itself 1,020 times"),
            ],
            value: "\"25\"",
        },
        Plan {
            key: (
                "book_room",
                Input,
                "/seats",
                "maximum",
                "integer of 3 digits",
            ),
            calls: 702,
            repaired: (0, ""),
            kind: EdgeCase,
            days: (3, 25),
            led_to: [640, 40, 22, 10, 12, 40],
            reasons: &[
                (
                    4,
                    "the tool ran fine in 640 of 680 calls whose result is known",
                ),
                (1, "seen on 25 of 30 days"),
                (-1, "only one model sends it"),
            ],
            value: "120",
        },
        Plan {
            key: ("create_ticket", Input, "/due", "format", "like 99.99.9999"),
            calls: 611,
            repaired: (320, "date_separators"),
            kind: Unclear,
            days: (12, 14),
            led_to: [280, 301, 30, 190, 60, 81],
            reasons: &[
                (
                    1,
                    "the tool ran fine in 280 of 581 calls whose result is known",
                ),
                (0, "seen on 14 of 30 days"),
                (-1, "the model corrected it by itself 190 times"),
            ],
            value: "\"24.12.2026\"",
        },
        Plan {
            key: (
                "send_email",
                Input,
                "/body",
                "truncated_call",
                "broken JSON in a string",
            ),
            calls: 402,
            repaired: (0, ""),
            kind: Bug,
            days: (17, 1),
            led_to: [0, 380, 22, 300, 51, 51],
            reasons: &[(-5, "the call is cut off"), (-2, "402 of 402 on one day")],
            value: "{\"to\":\"masked\",\"body\":\"Dear all, as you will have se",
        },
        Plan {
            key: ("send_email", Input, "/cc", "required", ""),
            calls: 212,
            repaired: (0, ""),
            kind: EdgeCase,
            days: (0, 30),
            led_to: [200, 2, 10, 1, 1, 10],
            reasons: &[(
                4,
                "the tool ran fine in 200 of 202 calls whose result is known",
            )],
            value: "",
        },
        Plan {
            key: (
                "get_weather",
                Output,
                "/alerts/*/severity",
                "enum",
                "\"extreme\"",
            ),
            calls: 180,
            repaired: (0, ""),
            kind: EdgeCase,
            days: (20, 4),
            led_to: [180, 0, 0, 0, 0, 0],
            reasons: &[
                (2, "the tool itself sends it"),
                (-1, "seen on 4 of 30 days"),
            ],
            value: "\"extreme\"",
        },
        Plan {
            key: ("legacy_export", Input, "", "unknown_tool", ""),
            calls: 50,
            repaired: (0, ""),
            kind: Bug,
            days: (28, 1),
            led_to: [0, 0, 50, 0, 45, 5],
            reasons: &[(-5, "no such tool is declared")],
            value: "{}",
        },
    ]
}

/// The report, with all texts from the log as `say` says them.
pub(crate) fn report(say: &dyn Fn(&str) -> String) -> Report {
    let mut summary = Summary::default();
    let mut judgements = Vec::new();
    for plan in plans() {
        let key = key_of(&plan, say);
        judgements.push(Judgement {
            cluster: key.clone(),
            kind: plan.kind,
            score: plan.reasons.iter().map(|(points, _)| points).sum(),
            reasons: plan
                .reasons
                .iter()
                .map(|(points, why)| Reason {
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
        proposals: proposals(&judgements, say),
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
        issue: issue.to_owned(),
        shape: some(shape),
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
        let tally = Tally {
            calls,
            valid: calls - broken,
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
            calls: part(all.calls),
            valid: part(all.valid),
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
        for (part, weight) in WAVE.iter().enumerate() {
            let calls = weight * if weekend { 220 } else { 545 };
            let burst = if day == 17 && part == 6 { 400 } else { 0 };
            let refused =
                calls * (9 + (day.unsigned_abs() * 7 + part as u64 * 5) % 5) / 1_000 + burst;
            let repaired = calls * (2 + (day.unsigned_abs() + part as u64) % 3) / 1_500;
            let tally = Tally {
                calls: calls + burst,
                valid: (calls + burst).saturating_sub(refused + repaired),
                repaired,
                refused,
                ..Tally::default()
            };
            time.add(START + day * DAY + part as i64 * 2 * HOUR, tally);
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

fn proposals(judgements: &[Judgement], say: &dyn Fn(&str) -> String) -> Proposals {
    let key = |index: usize| judgements[index].cluster.clone();
    let proposal =
        |number, cluster: usize, change, title: &str, before: Json, after: Json, calls| {
            let key = key(cluster);
            let pointer = format!(
                "/properties/{}",
                key.path.trim_start_matches('/').replace('~', "~0")
            );
            let patch = json!([{"op": "replace", "path": pointer, "value": after}]);
            Proposal {
                number,
                tool: key.tool.clone(),
                side: key.side,
                change,
                title: say(title),
                kind: judgements[cluster].kind,
                clusters: vec![key],
                patch: serde_json::from_value(patch).expect("a patch"),
                before,
                after,
                pointer,
                accepts: calls,
                touches: calls,
                accepts_bugs: 0,
                proof: Proof::Proved(say(
                    "nothing that the old schema accepts is missing from the new one",
                )),
            }
        };
    let mut changes = vec![
        proposal(
            1,
            0,
            Change::WiderEnum,
            "`priority` may also be \"urgent\"",
            json!({"type": "string", "description": "How soon: low, normal, high or urgent.", "enum": ["low", "normal", "high"]}),
            json!({"type": "string", "description": "How soon: low, normal, high or urgent.", "enum": ["low", "normal", "high", "urgent"]}),
            5_310,
        ),
        proposal(
            2,
            1,
            Change::Nullable,
            "`customer_id` may be `null`",
            json!({"type": "string", "default": null}),
            json!({"type": ["string", "null"], "default": null}),
            3_904,
        ),
        proposal(
            3,
            3,
            Change::WiderRange,
            "`seats` may be up to 480",
            json!({"type": "integer", "minimum": 1, "maximum": 100}),
            json!({"type": "integer", "minimum": 1, "maximum": 480}),
            702,
        ),
        proposal(
            4,
            6,
            Change::Optional,
            "`cc` need not be there",
            json!({"type": "object", "required": ["to", "cc", "subject"], "additionalProperties": {say("any"): say("thing")}}),
            json!({"type": "object", "required": ["to", "subject"], "additionalProperties": {say("any"): say("thing")}}),
            212,
        ),
        proposal(
            5,
            4,
            Change::NoFormat,
            "`due` need not be a date",
            json!({"type": "string", "format": "date"}),
            json!({"type": "string"}),
            611,
        ),
    ];
    changes[4].accepts_bugs = 301;
    changes[4].proof = Proof::NotProved(say("formats are not compared"));
    let advice = [
        (
            "search_orders",
            "/limit",
            "Say in the description that `limit` is a number: 1,212 calls send a text.",
        ),
        (
            "get_weather",
            "/units",
            "All 180,440 calls send \"metric\" or \"imperial\": the schema allows any text.",
        ),
    ];
    Proposals {
        changes,
        advice: advice
            .into_iter()
            .map(|(tool, path, text)| Advice {
                tool: say(tool),
                path: say(path),
                text: say(text),
            })
            .collect(),
    }
}

/// As the log has it.
pub(crate) fn plain() -> Report {
    report(&|text: &str| text.to_owned())
}

/// Nothing at all.
pub(crate) fn empty() -> Report {
    Report {
        summary: Summary::default(),
        judgements: Vec::new(),
        proposals: Proposals::default(),
    }
}

/// All calls are fine, and nobody knows when they were.
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
