//! The clusters of the sample.

use callwright_replay::decide::ViolationKind;
use callwright_replay::summary::Side;

/// What a cluster is made of.
pub(super) struct Plan {
    pub(super) key: (&'static str, Side, &'static str, &'static str, &'static str),
    pub(super) calls: u64,
    pub(super) repaired: (u64, &'static str),
    pub(super) kind: ViolationKind,
    /// The first day, and the number of days.
    pub(super) days: (i64, i64),
    pub(super) led_to: [u64; 6],
    pub(super) reasons: &'static [(i32, &'static str)],
    pub(super) value: &'static str,
}

/// All clusters.
pub(super) fn plans() -> Vec<Plan> {
    let mut plans = frequent();
    plans.extend(rare());
    plans
}

fn frequent() -> Vec<Plan> {
    use Side::Input;
    use ViolationKind::{Bug, EdgeCase};
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
    ]
}

fn rare() -> Vec<Plan> {
    use Side::{Input, Output};
    use ViolationKind::{Bug, EdgeCase, Unclear};
    vec![
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
