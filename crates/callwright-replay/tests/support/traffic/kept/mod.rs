//! A few tools and patterns that must not be looked at while the rule is being changed.
//!
//! They were written together with the second family, before the rule was read. Only their numbers are looked at, when
//! the change is finished. Tuning the rule to them would defeat their purpose.

use serde_json::json;

use super::make::{NULL, list, one_of, whole};
use super::pattern::{Damage, Pattern};

use Damage::{Set, SetResult};

pub(crate) const TOOLS: &str = include_str!("tools.json");

#[rustfmt::skip] // a table
pub(crate) fn patterns() -> Vec<Pattern> {
    let (edge, bug) = (Pattern::edge_case, Pattern::bug);
    vec![
        edge("book_table", 0.015, ("/party/size", "maximum"), Set("/party/size", |random, _| whole(random, 11, 16)),
            "groups; sometimes no table is that big").with_errors(0.1),
        edge("book_table", 0.008, ("/requests/*/kind", "enum"), Set("/requests", |_, _| json!([{"kind": "accessibility", "text": "a ramp"}])),
            "a kind of request that came later"),
        edge("query_logs", 0.02, ("/filter/op", "enum"), Set("/filter/op", |random, _| one_of(random, &["contains", "starts_with"])),
            "operators that the server has had for long"),
        edge("query_logs", 0.02, ("/lines/*/level", "enum"), SetResult("/lines/*/level", |random, _| one_of(random, &["fatal", "trace"])),
            "levels of other libraries"),
        edge("adjust_stock", 0.03, ("/items/*/location", "type"), Set("/items/*/location", NULL),
            "null where the default is null"),
        edge("adjust_stock", 0.012, ("/items/*/delta", "type"), Set("/items/*/delta", |random, _| json!(random.between(-20, 20) as f64 + 0.25)),
            "goods by weight"),
        edge("transcribe_audio", 0.015, ("/spoken", "pattern"), Set("/spoken", |random, _| one_of(random, &["pt-BR", "zh-Hant", "en-GB"])),
            "a language with its region"),
        edge("transcribe_audio", 0.04, ("/segments/*/confidence", "type"), SetResult("/segments/*/confidence", NULL),
            "the new version does not always know").since_day(5),
        bug("book_table", 0.008, 1.0, ("/at", "format"), Set("/at", |random, _| one_of(random, &["tonight at 8", "Friday 19:00", "7pm", "this evening"])),
            "a time in words"),
        bug("book_table", 0.007, 0.9, ("/party", "type"), Set("/party", |random, _| json!(random.between(1, 8))),
            "a number where an object is declared"),
        bug("query_logs", 0.007, 0.7, ("/filter/op", "enum"), Set("/filter/op", |random, _| one_of(random, &["==", "=", ">", "LIKE", "equals", "!="])),
            "operators of other languages"),
        bug("query_logs", 0.006, 0.9, ("/from", "format"), Set("/from", |random, _| one_of(random, &["-1h", "now-15m", "1 hour ago", "last night"])),
            "a time that is counted from now"),
        bug("adjust_stock", 0.007, 0.5, ("/items/*/delta", "type"), Set("/items/*/delta", |random, _| json!(format!("+{}", random.between(1, 40)))),
            "a number in quotes, with its sign"),
        bug("adjust_stock", 0.006, 0.8, ("/items/*/reason", "enum"), Set("/items/*/reason", |random, _| one_of(random, &["broken", "lost", "theft", "Damage", "other", "inventory"])),
            "reasons that are never booked"),
        bug("transcribe_audio", 0.007, 0.7, ("/spoken", "pattern"), Set("/spoken", |random, _| one_of(random, &["english", "German", "auto-detect", "Spanish", "???"])),
            "names of languages"),
        bug("transcribe_audio", 0.006, 0.4, ("/speakers", "type"), Set("/speakers", |random, _| one_of(random, &["two", "2", "3", "unknown"])),
            "a number as a text"),
        bug("transcribe_audio", 0.004, 0.3, ("/url", "type"), Set("/url", |random, _| list(random, 1, 2)),
            "a list where one is declared"),
    ]
}
