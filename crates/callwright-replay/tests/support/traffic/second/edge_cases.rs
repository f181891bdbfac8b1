//! Legitimate calls that their schema forbids, in the second family.
//!
//! In other places than in the first family: in items of lists, in maps, in unions and below `$ref`; old names that
//! still work; a value that only occurs for four days; a version that is rolled out in the middle of the log, so that
//! the same call is refused first and accepted later; servers that often fail for other reasons; only one model.

use serde_json::json;

use super::super::make::{DATE, NULL, list, one_of, whole};
use super::super::pattern::{Damage, Pattern};
use super::super::words;

use Damage::{AddResult, All, Leave, Set, SetResult};

/// Whole amounts come together with the currency that has no decimals.
const YEN: Damage = All(&[
    Set("/amount/currency", |_, _| json!("JPY")),
    Set("/amount/value", |random, _| {
        json!((100 * random.between(5, 900)).to_string())
    }),
]);

/// All edge cases, not numbered yet.
#[rustfmt::skip] // a table
pub(crate) fn edge_cases() -> Vec<Pattern> {
    let mut all = at_home_and_at_work();
    all.extend(of_money_and_code());
    all.extend(of_results());
    all
}

#[rustfmt::skip] // a table
fn at_home_and_at_work() -> Vec<Pattern> {
    let edge = Pattern::edge_case;
    vec![
        edge("create_event", 0.02, ("/start/dateTime", "format"),
            Set("/start", |random, _| json!({"dateTime": words::date_time(random)[..19], "timeZone": "Europe/Vienna"})),
            "a local time with its zone beside it, in a branch of a union"),
        edge("create_event", 0.012, ("/reminders/*/minutes", "maximum"),
            Set("/reminders", |random, _| json!([{"method": "email", "minutes": *random.pick(&[2_880, 4_320, 10_080])}])),
            "a reminder days before; the calendar takes four weeks"),
        edge("create_event", 0.004, ("/attendees/*/role", "enum"),
            Set("/attendees", |random, _| json!([{"email": words::email(random), "role": "chair"}])),
            "a role that the standard has and the schema lacks, rarely used"),
        edge("create_event", 0.03, ("/description", "type"), Set("/description", NULL),
            "null for no description, from two models; the server takes it as absent").only_from(&[0, 2]),
        edge("upsert_contact", 0.025, ("/phones/*", "pattern"),
            Set("/phones", |random, _| json!({*random.pick(&["work", "mobile", "home"]): format!("+43 1 {:07}", random.below(9_999_999))})),
            "numbers with spaces, in a map; the server takes the spaces out"),
        edge("upsert_contact", 0.015, ("/lifecycle", "enum"), Set("/lifecycle", |random, _| one_of(random, &["prospect", "opportunity"])),
            "old names of stages, which still work as the description says"),
        edge("upsert_contact", 0.02, ("/company/address/region", "type"),
            Set("/company", |random, _| json!({"name": words::person(random), "address": {"city": "Wien", "region": null}})),
            "countries without regions, below a reference"),
        edge("set_device_state", 0.02, ("/device_id", "pattern"),
            Set("/device_id", |random, _| json!(format!("dev-{:05X}A", random.below(0xf_ffff)))),
            "ids in capitals as the label on the device has them; the hub does not care"),
        edge("set_device_state", 0.012, ("/state/color/h", "type"),
            Set("/state/color", |random, _| json!({"h": random.between(0, 359) as f64 + 0.5})),
            "half a degree of hue"),
        edge("set_device_state", 0.015, ("/schedule/*/at", "pattern"),
            Set("/schedule", |random, _| json!([{"at": *random.pick(&["sunset", "sunrise"])}])),
            "two words that every hub knows, in a list of objects"),
        edge("request_leave", 0.06, ("/kind", "enum"), Set("/kind", |_, _| json!("easter_swap")),
            "a kind of leave that is there around Easter only").since_day(4).until_day(7),
        edge("request_leave", 0.02, ("/hours_per_day", "type"), Set("/hours_per_day", |random, _| json!(random.between(2, 7) as f64 + 0.5)),
            "half days with half hours"),
        edge("submit_timesheet", 0.05, ("/entries/*/rate", "type"), Set("/entries/*/rate", NULL),
            "null where the default is null, in the items of a list"),
        edge("submit_timesheet", 0.004, ("/entries/*/hours", "maximum"), Set("/entries/*/hours", |random, _| whole(random, 25, 60)),
            "a week in one entry, which accounting takes"),
        edge("plan_route", 0.04, ("/waypoints", "max_items"),
            Set("/waypoints", |random, _| (0..random.between(9, 14)).map(|at| json!({"lat": 48.0 + at as f64 / 50.0, "lng": 16.25})).collect()),
            "a tour of a courier: one model is used for it; the service takes 25").only_from(&[0]),
        edge("plan_route", 0.03, ("/mode", "enum"), Set("/mode", |_, _| json!("transit")),
            "trains and buses; timetables are often not there").with_errors(0.2),
        edge("geocode", 0.02, ("/country", "pattern"), Set("/country", |random, _| one_of(random, &["AUT", "DEU", "CHE", "GBR"])),
            "the other ISO code of a country, which the service takes"),
    ]
}

#[rustfmt::skip] // a table
fn of_money_and_code() -> Vec<Pattern> {
    let edge = Pattern::edge_case;
    vec![
        edge("create_payout", 0.015, ("/amount/value", "pattern"), YEN,
            "a currency without cents: value and currency go together"),
        edge("create_payout", 0.012, ("/metadata/*", "type"),
            Set("/metadata", |random, _| json!({*random.pick(&["order", "batch", "store"]): random.below(90_000)})),
            "numbers in a map of texts; the service keeps them as they are"),
        edge("create_payout", 0.003, ("/descriptor", "max_length"), Set("/descriptor", |random, _| json!(format!("INVOICE {:08} OF {}", random.below(9_999_999), words::person(random)))),
            "some banks print more, rarely asked for"),
        edge("list_charges", 0.04, ("/created/gte", "type"), Set("/created/gte", DATE),
            "dates are taken since the roll-out on the sixth day, and refused before").taken_since(6),
        edge("open_pull_request", 0.05, ("/milestone", "type"), Set("/milestone", NULL),
            "null where the default is null"),
        edge("open_pull_request", 0.02, ("/reviewers/*", "pattern"),
            Set("/reviewers", |random, _| json!([words::person(random), format!("acme/{}-team", words::person(random))])),
            "a team instead of a person, in a list"),
        edge("search_code", 0.03, ("/language", "enum"), Set("/language", |random, _| one_of(random, &["Rust", "Python", "TypeScript", "Go"])),
            "the names as people write them; the service does not look at case"),
        edge("upload_file", 0.015, ("/acl/*", "enum"),
            Set("/acl", |random, _| json!({words::person(random): "comment"})),
            "a right that came later, in a map"),
        edge("upload_file", 0.02, ("/mime", "pattern"), Set("/mime", |random, _| one_of(random, &["text/plain; charset=utf-8", "text/csv; charset=utf-8", "text/html; charset=iso-8859-1"])),
            "a type with its parameter, as the standard has it"),
        edge("upload_file", 0.01, ("/storage_class", "enum"), Set("/storage_class", |_, _| json!("nearline")),
            "what the class was called last year; it still works, and many fail for lack of room").with_errors(0.1),
        edge("list_objects", 0.03, ("/prefix", "min_length"), Set("/prefix", |_, _| json!("")),
            "everything in the bucket"),
        edge("list_objects", 0.02, ("/prefix", "required"), Leave("/prefix"),
            "everything in the bucket, said by saying nothing"),
        edge("run_pipeline", 0.025, ("/timeout_min", "maximum"), Set("/timeout_min", |random, _| whole(random, 70, 240)),
            "long builds; results are not recorded"),
        edge("run_pipeline", 0.02, ("/ref", "pattern"), Set("/ref", |random, _| json!(format!("v{}.{}.{}", random.below(5), random.below(20), random.below(9)))),
            "tags, which have dots; results are not recorded"),
        edge("create_event", 0.002, ("/reminders", "max_items"),
            Set("/reminders", |random, _| (0..random.between(6, 8)).map(|at| json!({"method": "popup", "minutes": 5 + at})).collect()),
            "more reminders than usual, very rarely"),
        edge("upsert_contact", 0.01, ("/custom/*", "type"),
            Set("/custom", |random, _| { let tags = list(random, 1, 3); json!({*random.pick(&["interests", "products"]): tags}) }),
            "fields with several values, in a map"),
    ]
}

#[rustfmt::skip] // a table
fn of_results() -> Vec<Pattern> {
    let edge = Pattern::edge_case;
    vec![
        edge("read_sensor", 0.03, ("/readings/*/value", "type"), SetResult("/readings/*/value", NULL),
            "a gap in the readings"),
        edge("read_sensor", 0.02, ("/readings/*/unit", "enum"), SetResult("/readings/*/unit", |random, _| one_of(random, &["ppm", "lux", "hPa"])),
            "sensors that are newer than the schema"),
        edge("read_sensor", 0.04, ("/battery", "type"), SetResult("/battery", NULL),
            "a sensor with a cable has no battery"),
        edge("list_charges", 0.03, ("/data/*/customer", "type"), SetResult("/data/*/customer", NULL),
            "guests pay too"),
        edge("list_charges", 0.008, ("/data/*/failure/code", "enum"), SetResult("/data/*/failure", |random, _| json!({"code": *random.pick(&["do_not_honor", "insufficient_funds"])})),
            "codes of banks, in a union in a list"),
        edge("plan_route", 0.025, ("/routes/*/distance_m", "type"), SetResult("/routes/*/distance_m", |random, _| json!(random.between(900, 90_000) as f64 + 0.4)),
            "fractions of a metre"),
        edge("get_employee", 0.02, ("/manager_id", "type"), SetResult("/manager_id", NULL),
            "one person has no manager"),
        edge("get_employee", 0.003, ("/part_time", "maximum"), SetResult("/part_time", |_, _| json!(1.1)),
            "rarely, more than full time"),
        edge("list_objects", 0.03, ("/objects/*/version_id", "unknown_key"), AddResult("/objects/*", "version_id", |random, _| json!(format!("{:016x}", random.next()))),
            "a new key in results whose schema is closed").since_day(5),
        edge("request_leave", 0.03, ("/state", "enum"), SetResult("/state", |_, _| json!("needs_approval")),
            "an undocumented state"),
    ]
}
