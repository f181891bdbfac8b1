//! Mistakes in the second family: foreign units, decimals and dates, words for times, scalars for lists and lists for
//! objects, names for ids, several at once. Some are in exactly the same place as an edge case.

use serde_json::{Value, json};

use super::super::make::{HUGE, IN_QUOTES, IN_WORDS, NULL, made_up};
use super::super::pattern::{Burst, Damage, Make, Pattern};
use super::super::random::Random;
use super::super::words;

use Damage::{Add, All, Cut, CutResult, Leave, Rename, Set, SetResult};

const YES_OR_NO: Make = |random, _| json!(random.pick(&["yes", "no", "Yes", "No"]));

/// A date as it is written in Austria or in the United States, or with the month as a word.
const DATE_OF_ANOTHER_COUNTRY: Make = |random, _| {
    let (day, month) = (random.between(1, 28), random.between(4, 9));
    json!(match random.below(3) {
        0 => format!("{day}.{month}.2026"),
        1 => format!("{month:02}/{day:02}/2026"),
        _ => format!("{day} May 2026"),
    })
};

/// An amount in a notation of another country.
fn amount(random: &mut Random) -> Value {
    let (whole, cents) = (random.between(2, 900), random.between(10, 99));
    json!(match random.below(3) {
        0 => format!("{whole},{cents}"),
        1 => format!("€{whole}.{cents}"),
        _ => format!("{whole}.{cents} EUR"),
    })
}

/// Both coordinates of a place as texts.
const PLACE_IN_QUOTES: Damage = Set(
    "/waypoints",
    |random, _| json!([{"lat": format!("48.{}", random.below(99)), "lng": format!("16.{}", random.below(99))}]),
);

/// A number instead of the text, and the currency in lower case.
const AMOUNT_TWICE_WRONG: Damage = All(&[
    Set("/amount/value", |random, _| {
        json!(random.between(2, 900) as f64 + 0.5)
    }),
    Set("/amount/currency", |_, _| json!("eur")),
]);

/// All bugs, not numbered yet.
pub(crate) fn bugs() -> Vec<Pattern> {
    let mut all = at_home_and_at_work();
    all.extend(of_money_and_code());
    all.extend(of_files_and_ways());
    all
}

#[rustfmt::skip] // a table
fn at_home_and_at_work() -> Vec<Pattern> {
    let bug = Pattern::bug;
    vec![
        bug("create_event", 0.008, 1.0, ("/start", "type"), Set("/start", IN_WORDS), "a time in words where an object is asked for"),
        bug("create_event", 0.006, 1.0, ("/start/dateTime", "format"), Set("/start", |random, _| json!({"dateTime": *random.pick(&["tomorrow 10:00", "next Monday", "today at noon"])})),
            "a time in words, beside a local time that is fine"),
        bug("create_event", 0.009, 0.9, ("/attendees/*", "type"), Set("/attendees", |random, _| json!([words::email(random), words::email(random)])), "addresses instead of objects with addresses"),
        bug("create_event", 0.005, 1.0, ("/reminders/*/minutes", "type"), Set("/reminders", |random, _| json!([{"method": "popup", "minutes": format!("{} minutes", random.between(1, 6) * 5)}])), "a number with its unit, in a list"),
        bug("create_event", 0.006, 0.5, ("/recurrence", "type"), Set("/recurrence", |_, _| json!("RRULE:FREQ=WEEKLY")), "one where a list is declared"),
        bug("create_event", 0.005, 0.8, ("/attendees/*/email", "format"), Set("/attendees", |random, _| json!([{"email": words::person(random)}])), "a name where an address is asked for"),
        bug("upsert_contact", 0.006, 1.0, ("/phones", "type"), Set("/phones", |random, _| json!([format!("+43{:08}", random.below(99_999_999))])), "a list where a map is declared"),
        bug("upsert_contact", 0.004, 0.9, ("/phones/*", "pattern"), Set("/phones", |random, _| json!({"work": *random.pick(&["unknown", "n/a", "see website", "ext. 12", "TBD"])})), "no number where numbers with spaces are fine"),
        bug("upsert_contact", 0.008, 0.9, ("/company/size", "type"), Set("/company", |random, _| json!({"name": words::person(random), "size": *random.pick(&["50-100", "200+", "~40", "11-50"])})), "a range where a number is declared"),
        bug("upsert_contact", 0.007, 1.0, ("/lifecycle", "enum"), Set("/lifecycle", |random, _| made_up(random, &["lead", "customer"], &["active", "new", "hot", "warm lead", "vip", "client"])), "capitals and inventions, where two old names work"),
        bug("upsert_contact", 0.006, 0.2, ("/email", "format"), Set("/email", |random, _| json!(*random.pick(&["unknown", "N/A", "none", "not provided"]))), "filler, which the server mostly keeps: worse than a refusal"),
        bug("upsert_contact", 0.006, 1.0, ("/owner_id", "type"), Set("/owner_id", |random, _| json!(words::person(random))), "a name where a number is declared"),
        bug("set_device_state", 0.008, 0.7, ("/state/brightness", "type"), Set("/state/brightness", |random, _| json!(format!("{}%", random.between(1, 10) * 10))), "percent with the sign"),
        bug("set_device_state", 0.006, 0.5, ("/state/power", "enum"), Set("/state/power", |random, _| json!(random.chance(0.5))), "true for on"),
        bug("set_device_state", 0.006, 0.4, ("/state/temperature_c", "maximum"), Set("/state/temperature_c", |random, _| json!(random.between(64, 76))), "Fahrenheit; most heaters stop at their own limit without a word"),
        bug("set_device_state", 0.008, 1.0, ("/device_id", "pattern"), Set("/device_id", |random, _| json!(*random.pick(&["living room lamp", "heater", "lamp-1", "bedroom_light", "kitchen"]))), "names of things for their ids"),
        bug("set_device_state", 0.005, 0.8, ("/transition_ms", "type"), Set("/transition_ms", |random, _| json!(format!("{}s", random.between(1, 5)))), "seconds with their letter"),
        bug("set_device_state", 0.0, 0.0, ("/transition_ms", "minimum"), Set("/transition_ms", |_, _| json!(-1)), "a script with a mistake, for an hour; the hub shrugs")
            .in_a_burst(Burst { share: 0.004, day: 3, hour: 20, sessions: 3 }),
        bug("read_sensor", 0.012, 1.0, ("/window", "enum"), Set("/window", |random, _| json!(*random.pick(&["24h", "last 24 hours", "1d", "month", "7d", "today"]))), "other words for a window"),
        bug("read_sensor", 0.008, 0.0, ("", "truncated_response"), CutResult, "a long result that was cut off").noticed(0.4),
        bug("request_leave", 0.009, 0.95, ("/from", "format"), Set("/from", DATE_OF_ANOTHER_COUNTRY), "dates as people write them"),
        bug("request_leave", 0.006, 1.0, ("/employee_id", "type"), Set("/employee_id", |random, _| json!(*random.pick(&["me", "current_user", "self"]))), "whoever asks, in words"),
        bug("request_leave", 0.006, 0.6, ("/hours_per_day", "type"), Set("/hours_per_day", |random, _| json!(format!("{}h", random.between(2, 8)))), "hours with their letter, beside half hours that are fine"),
        bug("get_employee", 0.012, 0.25, ("/employee_id", "type"), Set("/employee_id", IN_QUOTES), "a number in quotes; the database mostly converts it"),
        bug("get_employee", 0.008, 0.0, ("/employee_id", "required"), SetResult("", |_, _| json!({})), "no such number: an empty answer").noticed(0.8),
        bug("submit_timesheet", 0.009, 0.7, ("/entries", "type"), Set("/entries", |random, _| json!({"date": words::date(random), "hours": 8})), "one where a list is declared"),
        bug("submit_timesheet", 0.006, 0.6, ("/entries/*/date", "format"), Set("/entries/*/date", |_, _| json!("")), "an empty text for a day"),
        bug("submit_timesheet", 0.006, 0.3, ("/entries/*/billable", "type"), Set("/entries/*/billable", YES_OR_NO), "yes and no in words; no is read as yes"),
        bug("submit_timesheet", 0.006, 0.9, ("/entries/*/hours", "type"), Set("/entries/*/hours", |random, _| json!(format!("{},5", random.between(1, 8)))), "decimals of another country in a text"),
    ]
}

#[rustfmt::skip] // a table
fn of_money_and_code() -> Vec<Pattern> {
    let bug = Pattern::bug;
    vec![
        bug("create_payout", 0.009, 0.9, ("/amount/value", "pattern"), Set("/amount/value", |random, _| amount(random)), "amounts as people write them, where whole yen are fine"),
        bug("create_payout", 0.006, 1.0, ("/amount", "type"), Set("/amount", |random, _| json!(random.between(2, 900))), "a number where an object is declared"),
        bug("create_payout", 0.006, 1.0, ("/destination", "union"), Set("/destination", |random, _| json!({"name": words::person(random)})), "a name where an account is asked for"),
        bug("create_payout", 0.005, 0.8, ("/scheduled_for", "format"), Set("/scheduled_for", IN_WORDS), "a day in words"),
        bug("create_payout", 0.006, 0.95, ("/amount/value", "type"), AMOUNT_TWICE_WRONG, "two faults that come together"),
        bug("create_payout", 0.005, 0.9, ("/metadata", "type"), Set("/metadata", |random, _| json!(format!("order={}", random.below(9_000)))), "a text where a map is declared"),
        bug("list_charges", 0.008, 0.3, ("/limit", "type"), Set("/limit", |random, _| json!(random.between(3, 90).to_string())), "a number in quotes, mostly taken"),
        bug("list_charges", 0.006, 1.0, ("/created/gte", "type"), Set("/created/gte", IN_WORDS), "a day in words, where dates are taken since the sixth day"),
        bug("list_charges", 0.006, 0.0, ("", "truncated_response"), CutResult, "a long result that was cut off").noticed(0.4),
        bug("list_charges", 0.004, 0.0, ("/*", "unknown_key"), Add("", &["status", "page", "sort", "currency", "email", "order_by", "expand"], |random, _| json!(words::sentence(random))), "filters that there are not; ignored, so the answer is wrong"),
        bug("open_pull_request", 0.008, 0.3, ("/draft", "type"), Set("/draft", YES_OR_NO), "yes and no in words"),
        bug("open_pull_request", 0.007, 0.6, ("/repo", "pattern"), Set("/repo", |random, _| json!(format!("https://git.example/{}/app", words::person(random)))), "an address where a name is asked for"),
        bug("open_pull_request", 0.006, 0.7, ("/reviewers", "type"), Set("/reviewers", |random, _| json!(format!("{}, {}", words::person(random), words::person(random)))), "names with commas where a list is declared"),
        bug("open_pull_request", 0.006, 0.9, ("/reviewers/*", "pattern"), Set("/reviewers", |random, _| json!([format!("@{}", words::person(random))])), "people with a sign before them, where teams are fine"),
        bug("open_pull_request", 0.008, 1.0, ("/head", "required"), Rename("head", "branch"), "a key by another name"),
        bug("search_code", 0.006, 0.7, ("/language", "enum"), Set("/language", |random, _| json!(*random.pick(&["c plus plus", "js", "golang", "any", "py", "all", "*"]))), "languages by names that the service does not know, where capitals are fine"),
        bug("search_code", 0.006, 0.0, ("/per_page", "maximum"), Set("/per_page", HUGE), "\"all\" as a number; cut down without a word"),
        bug("run_pipeline", 0.008, 0.9, ("/variables", "type"), Set("/variables", |random, _| json!([format!("TARGET={}", words::person(random))])), "a list where a map is declared; nobody records results"),
        bug("run_pipeline", 0.006, 0.9, ("/timeout_min", "type"), Set("/timeout_min", |random, _| json!(format!("{}m", random.between(5, 90)))), "minutes with their letter; nobody records results"),
        bug("run_pipeline", 0.006, 0.9, ("/ref", "pattern"), Set("/ref", |random, _| json!(*random.pick(&["the main branch", "latest commit", "HEAD~1", "main (default)", "<branch>"]))), "words where tags are fine; nobody records results"),
    ]
}

#[rustfmt::skip] // a table
fn of_files_and_ways() -> Vec<Pattern> {
    let bug = Pattern::bug;
    vec![
        bug("plan_route", 0.007, 0.9, ("/origin", "type"), Set("/origin", |random, _| json!([48.0 + random.share(), 16.0 + random.share()])), "a pair where an object is declared"),
        bug("plan_route", 0.006, 0.6, ("/waypoints/*/lat", "type"), PLACE_IN_QUOTES, "both numbers of a place in quotes"),
        bug("plan_route", 0.007, 0.9, ("/mode", "enum"), Set("/mode", |random, _| made_up(random, &["driving", "walking"], &["car", "by foot", "bike", "fastest", "auto"])), "made-up ways, where trains are fine"),
        bug("plan_route", 0.005, 0.5, ("/depart_at", "format"), Set("/depart_at", |_, _| json!("")), "an empty text for what is left out; half of the servers mind"),
        bug("plan_route", 0.005, 0.9, ("/depart_at", "format"), Set("/depart_at", IN_WORDS), "a time in words"),
        bug("geocode", 0.009, 0.6, ("/country", "pattern"), Set("/country", |random, _| json!(*random.pick(&["Austria", "austria", "Germany", "de", "USA!", "United Kingdom"]))), "names of countries, where the longer codes are fine"),
        bug("geocode", 0.006, 1.0, ("/address", "required"), Rename("address", "query"), "a key by another name"),
        bug("geocode", 0.005, 0.7, ("/bounds", "type"), Set("/bounds", |_, _| json!("48.1,16.2,48.3,16.5")), "numbers with commas where a list is declared"),
        bug("upload_file", 0.007, 0.1, ("/overwrite", "type"), Set("/overwrite", YES_OR_NO), "\"no\" is read as true, and the file is gone"),
        bug("upload_file", 0.005, 0.4, ("/expires_in_s", "minimum"), Set("/expires_in_s", |random, _| json!(*random.pick(&[0, -1]))), "\"never\" as a number; some servers delete the file at once"),
        bug("upload_file", 0.006, 0.9, ("/acl", "type"), Set("/acl", |_, _| json!("{\"ana\":\"read\"}")), "an object as JSON in a text"),
        bug("upload_file", 0.006, 0.9, ("/acl/*", "enum"), Set("/acl", |random, _| json!({words::person(random): *random.pick(&["rw", "READ", "admin", "r", "all", "777"])})), "made-up rights, where one is real"),
        bug("upload_file", 0.012, 1.0, ("", "truncated_call"), Cut, "a long file that was cut off"),
        bug("list_objects", 0.006, 0.0, ("/max_keys", "maximum"), Set("/max_keys", HUGE), "\"all\" as a number; cut down without a word"),
        bug("list_objects", 0.007, 1.0, ("/bucket", "required"), Leave("/bucket"), "without a place"),
        bug("list_objects", 0.006, 1.0, ("/bucket", "type"), Set("/bucket", NULL), "without a place"),
    ]
}
