//! Mistakes in calls of less popular tools: meetings, money, parcels, travel, chats, operations.

use serde_json::json;

use super::super::make::{HUGE, IN_QUOTES, IN_WORDS, NULL, made_up};
use super::super::pattern::{Damage, Pattern};
use super::super::words;

use Damage::{Add, Leave, Rename, Set};

#[allow(clippy::too_many_lines, reason = "a table")]
pub(crate) fn rare() -> Vec<Pattern> {
    let bug = Pattern::bug;
    vec![
        bug(
            "schedule_meeting",
            0.006,
            1.0,
            ("/duration_hours", "type"),
            Set("/duration_hours", |random, _| {
                json!(format!("{} hours", random.between(1, 4)))
            }),
            "a number with its unit",
        ),
        bug(
            "schedule_meeting",
            0.008,
            1.0,
            ("/start", "format"),
            Set("/start", IN_WORDS),
            "a time in words",
        ),
        bug(
            "get_weather",
            0.008,
            0.7,
            ("/units", "enum"),
            Set("/units", |random, _| {
                made_up(
                    random,
                    &["metric", "imperial"],
                    &[
                        "celsius",
                        "fahrenheit",
                        "C",
                        "F",
                        "kelvin",
                        "si",
                        "standard",
                    ],
                )
            }),
            "units as another service calls them",
        ),
        bug(
            "convert_currency",
            0.008,
            1.0,
            ("/amount", "type"),
            Set("/amount", |random, _| {
                json!(format!("${}", random.between(1, 900)))
            }),
            "an amount with its sign",
        ),
        bug(
            "convert_currency",
            0.006,
            0.5,
            ("/to", "pattern"),
            Set("/to", |random, _| {
                json!(random.pick(&["usd", "euro", "€", "eur", "Dollar", "yen"]))
            }),
            "names of currencies for their codes",
        ),
        bug(
            "track_shipment",
            0.008,
            0.9,
            ("/carrier", "enum"),
            Set("/carrier", |random, _| {
                made_up(
                    random,
                    &["dhl", "fedex", "ups"],
                    &["Deutsche Post", "UPS Express", "auto", "unknown", "USPS?"],
                )
            }),
            "carriers by other names; the tool answers with an error that is not marked as one",
        ),
        bug(
            "create_invoice",
            0.009,
            1.0,
            ("/lines", "type"),
            Set("/lines", IN_QUOTES),
            "a list as JSON in a text",
        ),
        bug(
            "create_invoice",
            0.006,
            0.0,
            ("/lines/*/*", "unknown_key"),
            Add(
                "/lines/*",
                &[
                    "tax_rate",
                    "discount",
                    "description",
                    "vat",
                    "total",
                    "unit",
                    "tax",
                ],
                |random, _| json!(random.between(1, 20)),
            ),
            "keys that the server ignores: an invoice without the tax that was asked for",
        ),
        bug(
            "refund_payment",
            0.05,
            1.0,
            ("/reason", "enum"),
            Set("/reason", |_, _| json!("customer_request")),
            "the same wrong word every time, from every model: frequent, and always refused",
        ),
        bug(
            "update_account",
            0.015,
            1.0,
            ("/settings", "type"),
            Set("/settings", NULL),
            "nothing to change",
        ),
        bug(
            "book_flight",
            0.008,
            1.0,
            ("/passengers", "type"),
            Set("/passengers", |random, _| json!(random.between(1, 4))),
            "how many, where it is asked who",
        ),
        bug(
            "book_flight",
            0.005,
            0.9,
            ("/cabin", "enum"),
            Set("/cabin", |random, _| {
                made_up(
                    random,
                    &["economy", "business"],
                    &["premium", "coach", "any", "cheapest", "eco"],
                )
            }),
            "classes that no airline has",
        ),
        bug(
            "find_hotels",
            0.007,
            1.0,
            ("/check_in", "format"),
            Set("/check_in", IN_WORDS),
            "a date in words",
        ),
        bug(
            "find_hotels",
            0.006,
            0.5,
            ("/nights", "type"),
            Set("/nights", |random, _| {
                json!(random.between(1, 9).to_string())
            }),
            "a number in quotes",
        ),
        bug(
            "translate_text",
            0.01,
            0.9,
            ("/target", "enum"),
            Set("/target", |random, _| {
                made_up(
                    random,
                    &["de", "en", "fr", "es"],
                    &[
                        "German",
                        "french",
                        "Spanish",
                        "english",
                        "Deutsch",
                        "ger",
                        "jp",
                        "Chinese (simplified)",
                    ],
                )
            }),
            "names of languages where codes are asked for",
        ),
        bug(
            "set_reminder",
            0.012,
            1.0,
            ("/at", "format"),
            Set("/at", IN_WORDS),
            "a time in words where one without a zone is fine",
        ),
        bug(
            "create_chart",
            0.009,
            0.9,
            ("/series", "type"),
            Set("/series", IN_QUOTES),
            "a list as JSON in a text",
        ),
        bug(
            "send_message",
            0.008,
            1.0,
            ("/message", "unknown_key"),
            Rename("text", "message"),
            "a key by another name; results are not recorded",
        ),
        bug(
            "enqueue_job",
            0.008,
            1.0,
            ("/priority", "type"),
            Set("/priority", |random, _| {
                json!(random.pick(&["high", "low", "urgent"]))
            }),
            "a word where a number is declared; results are not recorded",
        ),
        bug(
            "enqueue_job",
            0.007,
            0.9,
            ("/payload", "type"),
            Set("/payload", IN_QUOTES),
            "an object as JSON in a text; results are not recorded",
        ),
        bug(
            "vector_search",
            0.003,
            1.0,
            ("/top_k", "maximum"),
            Set("/top_k", HUGE),
            "\"all of them\" as a number",
        ),
        bug(
            "vector_search",
            0.006,
            1.0,
            ("/filter", "type"),
            Set("/filter", |random, _| {
                json!(format!("type = '{}'", words::person(random)))
            }),
            "a condition as a text",
        ),
        bug(
            "list_events",
            0.005,
            0.9,
            ("/max_results", "minimum"),
            Set("/max_results", |random, _| json!(-random.between(0, 1))),
            "\"no limit\" as a number",
        ),
        bug(
            "analyze_image",
            0.012,
            0.8,
            ("/image", "type"),
            Set("/image", |random, _| json!(words::url(random))),
            "the address itself instead of the object around it",
        ),
        bug(
            "calculate",
            0.005,
            0.3,
            ("/digits", "type"),
            Set("/digits", |random, _| {
                json!(random.between(0, 6).to_string())
            }),
            "a number in quotes",
        ),
        bug(
            "calculate",
            0.01,
            1.0,
            ("/expression", "required"),
            Rename("expression", "expr"),
            "a key by another name",
        ),
        bug(
            "list_directory",
            0.01,
            1.0,
            ("/path", "required"),
            Leave("/path"),
            "a call without arguments",
        ),
        bug(
            "add_note",
            0.007,
            0.6,
            ("/tags", "type"),
            Set("/tags", |random, _| {
                json!(format!(
                    "{}, {}",
                    words::person(random),
                    words::person(random)
                ))
            }),
            "a list as words with commas",
        ),
        bug(
            "get_shipment_status",
            0.008,
            1.0,
            ("/shipment_id", "type"),
            Set("/shipment_id", |random, _| {
                json!(format!("shipment {}", random.below(999)))
            }),
            "a number with words around it",
        ),
    ]
}
