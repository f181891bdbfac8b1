//! Legitimate calls that their schema forbids.
//!
//! Each represents something that happens to schemas in the field: they are written once, from memory, by a person who
//! does not run the tool; then the tool learns something and the schema does not. Most are steady: every model, every
//! day. Some are hard: one call in five thousand, only two models, only since the ninth day, with errors from other
//! causes, or in a tool whose results are not recorded.

use serde_json::json;

use super::make::{DATE, NULL, list, one_of, texts, whole};
use super::pattern::{Damage, Pattern};
use super::words;

use Damage::{Add, Leave, Set, SetResult};

/// All edge cases, not numbered yet.
#[allow(clippy::too_many_lines, reason = "a table")]
pub(crate) fn edge_cases() -> Vec<Pattern> {
    let edge = Pattern::edge_case;
    vec![
        edge(
            "read_file",
            0.015,
            ("/encoding", "unknown_key"),
            Add("", &["encoding"], |random, _| {
                one_of(random, &["latin-1", "windows-1252", "utf-16"])
            }),
            "the description names a parameter that the schema forgot",
        ),
        edge(
            "read_file",
            0.0002,
            ("/limit", "maximum"),
            Set("/limit", |random, _| whole(random, 2_001, 9_000)),
            "a bound that is a recommendation, in one call of five thousand",
        ),
        edge(
            "web_search",
            0.008,
            ("/query", "min_length"),
            Set("/query", |random, _| {
                one_of(random, &["AI", "C#", "Go", "UK", "5G", "R"])
            }),
            "real words that are shorter than anybody thought",
        ),
        edge(
            "web_search",
            0.02,
            ("/recency", "enum"),
            Set("/recency", |_, _| json!("hour")),
            "a feature that shipped during the log; the prompt tells of it, the schema does not",
        )
        .since_day(9),
        edge(
            "search_orders",
            0.05,
            ("/cursor", "type"),
            Set("/cursor", NULL),
            "null where the default is null: what a generator makes of an optional text",
        ),
        edge(
            "search_orders",
            0.02,
            ("/from", "format"),
            Set("/from", DATE),
            "a date where a date with a time is asked for; the server reads both",
        ),
        edge(
            "create_ticket",
            0.03,
            ("/priority", "enum"),
            Set("/priority", |_, _| json!("urgent")),
            "a value that the server has had for years and the schema lacks",
        ),
        edge(
            "create_ticket",
            0.02,
            ("/title", "max_length"),
            Set("/title", |random, _| texts(random, 81, 140)),
            "a length that only the old database had",
        ),
        edge(
            "create_ticket",
            0.01,
            ("/labels", "max_items"),
            Set("/labels", |random, _| list(random, 6, 8)),
            "more items than the form on the page allows; the API takes them",
        ),
        edge(
            "create_ticket",
            0.015,
            ("/due", "format"),
            Set("/due", DATE),
            "a due date has no time of day",
        ),
        edge(
            "list_tickets",
            0.02,
            ("/limit", "maximum"),
            Set("/limit", |random, _| whole(random, 110, 200)),
            "the server allows twice as many as its schema says",
        ),
        edge(
            "list_tickets",
            0.02,
            ("/tickets/*/state", "enum"),
            SetResult("/tickets/*/state", |_, _| json!("blocked")),
            "a state of which the schema of results does not know",
        ),
        edge(
            "update_ticket",
            0.03,
            ("/fields/status", "enum"),
            Set("/fields/status", |_, _| json!("archived")),
            "a state that was introduced on the ninth day",
        )
        .since_day(9),
        edge(
            "update_ticket",
            0.02,
            ("/ticket_id", "type"),
            Set("/ticket_id", |random, _| whole(random, 100, 9_000)),
            "an id that is a text or a number; the server takes both",
        ),
        edge(
            "update_ticket",
            0.01,
            ("/fields/estimate_hours", "type"),
            Set("/fields/estimate_hours", |random, _| {
                json!(random.between(0, 9) as f64 + 0.5)
            }),
            "half an hour where whole hours are declared",
        ),
        edge(
            "send_email",
            0.04,
            ("/cc", "type"),
            Set("/cc", NULL),
            "null where the default is null, and the default contradicts its own type",
        ),
        edge(
            "send_email",
            0.008,
            ("/subject", "max_length"),
            Set("/subject", |random, _| texts(random, 121, 190)),
            "a length that mail does not have",
        ),
        edge(
            "fetch_url",
            0.012,
            ("/url", "format"),
            Set("/url", |random, _| {
                let page = random.pick(&["Köln", "Zürich", "Łódź", "東京", "São_Paulo"]);
                json!(format!("https://wiki.example/wiki/{page}"))
            }),
            "addresses with letters beyond ASCII, which every client encodes",
        ),
        edge(
            "get_customer",
            0.05,
            ("/phone", "type"),
            SetResult("/phone", NULL),
            "a field of the result that is empty for some customers",
        ),
        edge(
            "run_sql",
            0.05,
            ("/params", "required"),
            Leave("/params"),
            "a parameter that is required by the schema and optional for the tool, as its description says",
        ),
        edge(
            "search_products",
            0.015,
            ("/filters", "type"),
            Set("/filters", NULL),
            "two models give null for what they leave out; the server takes it as absent",
        )
        .only_from(&[2, 4]),
        edge(
            "schedule_meeting",
            0.06,
            ("/duration_hours", "type"),
            Set("/duration_hours", |random, _| {
                json!(random.between(0, 3) as f64 + [0.25, 0.5, 0.75][random.below(3)])
            }),
            "a fraction where whole numbers are declared",
        ),
        edge(
            "get_weather",
            0.05,
            ("/days", "maximum"),
            Set("/days", |random, _| whole(random, 8, 14)),
            "the service has had a forecast of two weeks for long; two models know",
        )
        .only_from(&[1, 4]),
        edge(
            "convert_currency",
            0.015,
            ("/from", "pattern"),
            Set("/from", |random, _| {
                one_of(random, &["USDC", "USDT", "DOGE", "EURC"])
            }),
            "codes of four letters, which the pattern's author had never seen",
        ),
        edge(
            "convert_currency",
            0.006,
            ("/amount", "minimum"),
            Set("/amount", |random, _| {
                json!(random.between(1, 9) as f64 / 1_000.0)
            }),
            "amounts below a cent",
        ),
        edge(
            "track_shipment",
            0.03,
            ("/tracking_number", "pattern"),
            Set("/tracking_number", |random, _| {
                json!(format!(
                    "1Z{:06}AA{:08}",
                    random.below(999_999),
                    random.below(99_999_999)
                ))
            }),
            "numbers of another carrier, with letters",
        ),
        edge(
            "get_shipment_status",
            0.02,
            ("/status", "enum"),
            SetResult("/status", |_, _| json!("held_at_customs")),
            "an undocumented status",
        ),
        edge(
            "get_shipment_status",
            0.05,
            ("/eta", "type"),
            SetResult("/eta", NULL),
            "a date of the result that is not known yet",
        ),
        edge(
            "create_invoice",
            0.03,
            ("/lines/*/quantity", "type"),
            Set("/lines/*/quantity", |random, _| {
                json!(random.between(0, 6) as f64 + 0.5)
            }),
            "two and a half hours of work on an invoice",
        ),
        edge(
            "create_invoice",
            0.02,
            ("/customer/address/state", "type"),
            Set("/customer/address/state", NULL),
            "most countries have no states",
        ),
        edge(
            "refund_payment",
            0.05,
            ("/amount_cents", "required"),
            Leave("/amount_cents"),
            "no amount means all of it, as the description says",
        ),
        edge(
            "update_account",
            0.04,
            ("/account_id", "type"),
            Set("/account_id", |random, _| {
                json!(format!("acct_{:06x}", random.below(0xff_ffff)))
            }),
            "a new kind of id since the ninth day; the old numbers go on",
        )
        .since_day(9),
        edge(
            "book_flight",
            0.012,
            ("/cabin", "enum"),
            Set("/cabin", |_, _| json!("premium_economy")),
            "a class that newer airlines sell",
        ),
        edge(
            "find_hotels",
            0.012,
            ("/guests", "maximum"),
            Set("/guests", |random, _| whole(random, 9, 12)),
            "groups; now and then there are no rooms, which is no fault of the call",
        )
        .with_errors(0.08),
        edge(
            "translate_text",
            0.015,
            ("/target", "enum"),
            Set("/target", |_, _| json!("pt-BR")),
            "a regional language that the service has",
        ),
        edge(
            "translate_text",
            0.02,
            ("/target", "enum"),
            Set("/target", |random, _| one_of(random, &["nl", "ko", "pl"])),
            "languages that were added one by one, and not to the schema",
        ),
        edge(
            "set_reminder",
            0.05,
            ("/at", "format"),
            Set("/at", |random, _| json!(words::date_time(random)[..16])),
            "a time without a zone, which the description even speaks of",
        ),
        edge(
            "create_chart",
            0.02,
            ("/series/*/points/*", "type"),
            Set("/series/*/points/*", NULL),
            "a gap in a series",
        ),
        edge(
            "send_message",
            0.025,
            ("/channel", "pattern"),
            Set("/channel", |random, _| {
                json!(format!("@{}", words::person(random)))
            }),
            "a message to a person instead of a channel; results are not recorded",
        ),
        edge(
            "send_message",
            0.012,
            ("/text", "max_length"),
            Set("/text", |random, _| texts(random, 401, 900)),
            "a limit that was lifted; results are not recorded",
        ),
        edge(
            "enqueue_job",
            0.03,
            ("/delay_s", "maximum"),
            Set("/delay_s", |random, _| json!(3_600 * random.between(2, 24))),
            "tonight instead of now; results are not recorded",
        ),
        edge(
            "vector_search",
            0.025,
            ("/top_k", "maximum"),
            Set("/top_k", |random, _| whole(random, 60, 200)),
            "more than usual, and slower: some run into a time-out",
        )
        .with_errors(0.06),
        edge(
            "deploy_service",
            0.03,
            ("/version", "pattern"),
            Set("/version", |random, _| {
                json!(format!(
                    "v2.{}.0-rc.{}",
                    random.below(9),
                    random.between(1, 4)
                ))
            }),
            "release candidates, which the pattern forgot",
        ),
        edge(
            "list_events",
            0.04,
            ("/time_min", "format"),
            Set("/time_min", DATE),
            "whole days in a calendar",
        ),
        edge(
            "list_directory",
            0.012,
            ("/depth", "minimum"),
            Set("/depth", |_, _| json!(0)),
            "zero means the folder itself",
        ),
        edge(
            "add_note",
            0.01,
            ("/tags", "max_items"),
            Set("/tags", |random, _| list(random, 9, 12)),
            "more tags than once thought sensible",
        ),
    ]
}
