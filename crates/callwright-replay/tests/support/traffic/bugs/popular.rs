//! Mistakes in calls of the most popular tools: files, the web, orders, tickets, mail, the warehouse.

use serde_json::json;

use super::super::make::{HUGE, IN_QUOTES, IN_WORDS, NULL, YES_IN_QUOTES, made_up};
use super::super::pattern::{Damage, Pattern};
use super::super::words;

use Damage::{Add, Cut, Leave, Rename, Set};

#[allow(clippy::too_many_lines, reason = "a table")]
pub(crate) fn popular() -> Vec<Pattern> {
    let bug = Pattern::bug;
    vec![
        bug(
            "read_file",
            0.004,
            1.0,
            ("/path", "required"),
            Rename("path", "file_path"),
            "the name that another agent's tool has for it",
        ),
        bug(
            "read_file",
            0.005,
            0.6,
            ("/offset", "type"),
            Set("/offset", IN_QUOTES),
            "a number in quotes",
        ),
        bug(
            "web_search",
            0.006,
            0.5,
            ("/max_results", "type"),
            Set("/max_results", |random, _| {
                json!(random.between(3, 20).to_string())
            }),
            "a number in quotes, which half of the servers' versions take",
        ),
        bug(
            "web_search",
            0.004,
            0.9,
            ("/domains", "type"),
            Set("/domains", |random, _| {
                json!(format!("[\"{}.example\"]", words::person(random)))
            }),
            "a list as JSON in a text",
        ),
        bug(
            "web_search",
            0.006,
            1.0,
            ("/query", "required"),
            Leave("/query"),
            "the one thing that is needed is not there",
        ),
        bug(
            "search_orders",
            0.008,
            1.0,
            ("/customer_id", "pattern"),
            Set("/customer_id", |random, _| {
                json!(format!(
                    "{}{}",
                    random.pick(&["customer_", "", "cust-", "#"]),
                    random.below(99_999)
                ))
            }),
            "an id that the model made up",
        ),
        bug(
            "search_orders",
            0.005,
            1.0,
            ("/from", "format"),
            Set("/from", IN_WORDS),
            "a date in words",
        ),
        bug(
            "search_orders",
            0.004,
            0.9,
            ("/status", "enum"),
            Set("/status", |random, _| {
                made_up(
                    random,
                    &["pending", "shipped", "delivered"],
                    &[
                        "open",
                        "complete",
                        "all",
                        "done",
                        "any",
                        "in transit",
                        "cancelled?",
                    ],
                )
            }),
            "values that no schema ever had",
        ),
        bug(
            "create_ticket",
            0.009,
            0.85,
            ("/priority", "enum"),
            Set("/priority", |random, _| {
                made_up(
                    random,
                    &["low", "medium", "high"],
                    &[
                        "hgih",
                        "critical",
                        "P1",
                        "P2",
                        "1",
                        "normal",
                        "very high",
                        "asap",
                        "blocker",
                        "sev1",
                    ],
                )
            }),
            "made-up values where \"urgent\" is a real one",
        ),
        bug(
            "create_ticket",
            0.008,
            1.0,
            ("/body", "required"),
            Leave("/body"),
            "the text of the ticket is not there",
        ),
        bug(
            "create_ticket",
            0.006,
            1.0,
            ("/due", "format"),
            Set("/due", IN_WORDS),
            "a date in words where a bare date is fine",
        ),
        bug(
            "create_ticket",
            0.007,
            1.0,
            ("", "truncated_call"),
            Cut,
            "the answer was cut off",
        ),
        bug(
            "list_tickets",
            0.004,
            0.0,
            ("/limit", "maximum"),
            Set("/limit", HUGE),
            "\"all of them\" as a number; the server clamps it without a word",
        ),
        bug(
            "list_tickets",
            0.006,
            0.3,
            ("/include_closed", "type"),
            Set("/include_closed", YES_IN_QUOTES),
            "a boolean in quotes",
        ),
        bug(
            "update_ticket",
            0.008,
            0.95,
            ("/fields", "type"),
            Set("/fields", IN_QUOTES),
            "an object as JSON in a text",
        ),
        bug(
            "update_ticket",
            0.009,
            1.0,
            ("/ticket_id", "type"),
            Set("/ticket_id", NULL),
            "nothing where the ticket is named",
        ),
        bug(
            "send_email",
            0.008,
            0.9,
            ("/to", "type"),
            Set("/to", |random, _| json!(words::email(random))),
            "one address where a list is declared",
        ),
        bug(
            "send_email",
            0.006,
            1.0,
            ("/body", "required"),
            Leave("/body"),
            "a mail without a text",
        ),
        bug(
            "fetch_url",
            0.008,
            0.6,
            ("/url", "format"),
            Set("/url", |random, _| {
                json!(format!(
                    "www.{}.example/{}",
                    words::person(random),
                    random.below(99)
                ))
            }),
            "an address without a scheme; four in ten are guessed right by the server",
        ),
        bug(
            "get_customer",
            0.009,
            1.0,
            ("/customer_id", "type"),
            Set("/customer_id", NULL),
            "data without an owner",
        ),
        bug(
            "run_sql",
            0.014,
            1.0,
            ("", "truncated_call"),
            Cut,
            "a long statement that was cut off",
        ),
        bug(
            "run_sql",
            0.005,
            0.2,
            ("/read_only", "type"),
            Set("/read_only", YES_IN_QUOTES),
            "a boolean in quotes that is true whatever it says: the dangerous kind",
        ),
        bug(
            "write_file",
            0.02,
            1.0,
            ("", "truncated_call"),
            Cut,
            "a long file that was cut off",
        ),
        bug(
            "write_file",
            0.009,
            1.0,
            ("/content", "required"),
            Leave("/content"),
            "a file without content",
        ),
        bug(
            "search_products",
            0.007,
            0.7,
            ("/page", "type"),
            Set("/page", |random, _| json!(random.between(1, 9).to_string())),
            "a number in quotes",
        ),
        bug(
            "search_products",
            0.005,
            0.4,
            ("/filters/in_stock", "type"),
            Set("/filters/in_stock", YES_IN_QUOTES),
            "a boolean in quotes",
        ),
        bug(
            "search_products",
            0.008,
            0.0,
            ("/*", "unknown_key"),
            Add(
                "",
                &[
                    "sort_by",
                    "brand",
                    "color",
                    "max_price",
                    "order",
                    "category",
                    "size",
                    "rating_min",
                    "sort",
                    "brand_name",
                ],
                |random, _| json!(words::person(random)),
            ),
            "keys that the model makes up and the server silently ignores: the answer is about something else",
        ),
    ]
}
