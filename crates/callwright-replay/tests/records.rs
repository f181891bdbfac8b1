//! Records that the caller already has in memory, and parts of a log that are counted separately.
#![allow(clippy::expect_used, reason = "a test may panic")]

#[path = "support/traffic/mod.rs"]
mod traffic;

use std::collections::BTreeMap;
use std::num::NonZero;

use callwright::wire::read_tools;
use callwright_replay::read::{Reader, Reading, RecordPlace};
use callwright_replay::report::{self, PageHeader, Report, WrittenFiles};
use callwright_replay::run::{ReplaySettings, Run, replay_records};
use callwright_replay::seen::Seen;
use callwright_replay::source::find;
use callwright_replay::summary::{MergeError, Merged, Summary};
use proptest::collection::vec;
use proptest::prelude::*;
use serde_json::Value as Json;
use traffic::{Family, Format, Settings, World};

fn settings(world: &World) -> ReplaySettings {
    ReplaySettings {
        tools: Some(read_tools(&world.tools_file).expect("tools").into()),
        ..ReplaySettings::default()
    }
}

fn lines(world: &World, format: Format, seed: u64, calls: usize) -> Vec<String> {
    let mut lines = Vec::new();
    let settings = Settings {
        calls,
        seed,
        format,
    };
    world.write(settings, |line| lines.push(line.to_owned()));
    lines
}

/// The conversation that a record belongs to.
fn session(line: &str) -> String {
    let (mut reader, mut reading) = (Reader::new(), Reading::default());
    let place = RecordPlace { file: "", line: 0 };
    reader.read(line, place, &mut reading);
    let mut sessions = reading.seen.iter().filter_map(|seen| match seen {
        Seen::Call(call) => call.at.session.as_deref(),
        Seen::Result(result) => result.at.session.as_deref(),
        Seen::Tools(_) => None,
    });
    sessions.next().unwrap_or_default().to_owned()
}

/// A report as JSON, without the places in files.
fn report(summary: Summary) -> Json {
    let mut json = report::json(&Report::new(summary)).expect("a report");
    remove_places(&mut json);
    json
}

fn remove_places(json: &mut Json) {
    match json {
        Json::Object(members) => {
            members.retain(|key, _| !["place", "places", "files"].contains(&key.as_str()));
            members.values_mut().for_each(remove_places);
        }
        Json::Array(items) => items.iter_mut().for_each(remove_places),
        _ => {}
    }
}

/// Merges two parts at a time, in an order given by the numbers, and serialises parts on the way.
fn merge_all(mut parts: Vec<Summary>, order: &[usize]) -> Summary {
    let mut picks = order.iter().cycle();
    let mut pick = |count: usize| picks.next().map_or(0, |number| number % count);
    while parts.len() > 1 {
        let mut one = parts.swap_remove(pick(parts.len()));
        let other = parts.swap_remove(pick(parts.len()));
        let other = Summary::from_bytes(&other.to_bytes().expect("bytes")).expect("a summary");
        assert_eq!(one.merge(other), Ok(Merged::Added));
        parts.push(one);
    }
    parts.pop().unwrap_or_default()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(8))]

    #[test]
    fn any_partition_by_session_gives_the_report_of_one_machine(
        seed in any::<u64>(), format in 0_usize..4, parts in 1_u64..6, workers in 1_usize..4,
        order in vec(any::<usize>(), 1..12), named in any::<bool>(),
    ) {
        let world = World::of(&[Family::First]);
        let lines = lines(&world, Format::ALL[format].1, seed, 200);
        let settings = settings(&world);
        let whole = replay_records("log", &lines, settings.clone()).expect("a run");
        let mut cut: BTreeMap<u64, Vec<&String>> = BTreeMap::new();
        for line in &lines {
            let hash = xxhash_rust::xxh3::xxh3_64_with_seed(session(line).as_bytes(), seed);
            cut.entry(hash % parts).or_default().push(line);
        }
        let counted = cut.into_iter().map(|(part, lines)| {
            let settings = ReplaySettings {
                workers: NonZero::new(workers),
                part: named.then(|| part.to_string()),
                ..settings.clone()
            };
            replay_records("part", lines, settings).expect("a run")
        });
        let merged = merge_all(counted.collect(), &order);
        prop_assert_eq!(report(merged), report(whole));
    }
}

#[test]
fn records_count_like_the_lines_of_a_file() {
    let world = World::of(&[Family::First]);
    let lines = lines(&world, Format::Events, 1, 2_000);
    let path = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("records.jsonl");
    std::fs::write(&path, lines.join("\n")).expect("a file");
    let inputs = find(&[path.to_string_lossy()]).expect("a file");
    let mut run = Run::new(inputs, settings(&world)).expect("a run");
    while !run.leg(&false.into()).expect("no worker dies") {}
    let mut of_file = run.finish();
    let of_records = replay_records("records", &lines, settings(&world)).expect("a run");
    // Line endings are not part of a record.
    of_file.input.bytes = of_records.input.bytes;
    assert_eq!(report(of_records), report(of_file));
}

#[test]
fn a_record_may_be_anything() {
    let call = r#"{"tool": "search_orders", "arguments": {}, "session": "a"}"#;
    let pretty = call.replace(", ", ",\n  ");
    let long = vec![b' '; 64 * 1024 * 1024 + 1];
    let records: [&[u8]; 8] = [
        b"",
        call.as_bytes(),
        b"{\"tool\": \"\xff\"}",
        pretty.as_bytes(),
        b"[1",
        &long,
        b"\xef\xbb\xbf{}",
        call.as_bytes(),
    ];
    let summary = replay_records("rows", records, ReplaySettings::default()).expect("a run");
    assert_eq!(summary.calls.calls, 3);
    let troubles: Vec<(String, u64)> = summary
        .input
        .troubles
        .iter()
        .flat_map(|(_, trouble)| trouble.places.iter().cloned())
        .collect();
    let mut places: Vec<u64> = troubles.iter().map(|(_, line)| *line).collect();
    places.sort_unstable();
    assert_eq!(places, [3, 5, 6, 7], "{troubles:?}");
    assert!(troubles.iter().all(|(file, _)| file == "rows"));
}

#[test]
fn the_report_of_a_summary_has_three_forms() {
    let world = World::of(&[Family::First]);
    let lines = lines(&world, Format::Lines, 3, 200);
    let summary = replay_records("log", &lines, settings(&world)).expect("a run");
    let report = Report::new(summary);
    let written = WrittenFiles::default();
    let text = report::text(&report, 80, false, written).expect("a text");
    assert!(text.contains("200 calls"), "{text}");
    let json = report::json(&report).expect("JSON");
    assert_eq!(json["calls"]["calls"], 200);
    let page = report::html(&report, &PageHeader::default()).expect("a page");
    assert!(page.starts_with("<!doctype html>"));
}

#[test]
fn conversations_that_lost_nothing_are_not_reported_as_forgotten() {
    let call = |session: usize, round: usize| {
        format!(r#"{{"tool":"t","arguments":{{}},"session":"s{session}","round":{round}}}"#)
    };
    // More conversations than are remembered, one after the other.
    let sorted = (0..6_000).flat_map(|session| (0..2).map(move |round| call(session, round)));
    let summary = replay_records("log", sorted, ReplaySettings::default()).expect("a run");
    assert_eq!(summary.input.forgotten_sessions, 0);
    // Every conversation continues after most have been forgotten.
    let mixed = (0..2).flat_map(|round| (0..6_000).map(move |session| call(session, round)));
    let summary = replay_records("log", mixed, ReplaySettings::default()).expect("a run");
    let forgotten = summary.input.forgotten_sessions;
    assert!((4_000..=6_000).contains(&forgotten), "{forgotten}");
}

/// The summary of one call, as a part with an optional id.
fn part(id: Option<&str>, tool: &str) -> Summary {
    let line = format!(r#"{{"tool":"{tool}","arguments":{{}},"session":"{tool}"}}"#);
    let settings = ReplaySettings {
        part: id.map(str::to_owned),
        ..ReplaySettings::default()
    };
    replay_records("log", [line], settings).expect("a run")
}

fn sum(parts: &[&Summary]) -> Summary {
    let mut sum = Summary::default();
    for part in parts {
        assert_eq!(sum.merge((*part).clone()), Ok(Merged::Added));
    }
    sum
}

#[test]
fn a_part_counts_once() {
    let [a, b, c] = ["a", "b", "c"].map(|id| part(Some(id), id));
    let unnamed = part(None, "d");
    let mut all = sum(&[&a, &b, &unnamed]);
    let before = all.clone();
    assert_eq!(all.merge(a.clone()), Ok(Merged::Known));
    assert_eq!(all.merge(sum(&[&b, &a])), Ok(Merged::Known));
    assert_eq!(all, before);
    assert_eq!(all.parts.ids().collect::<Vec<_>>(), ["a", "b"]);
    // A sum that contains another one, and more.
    let mut one = a.clone();
    assert_eq!(one.merge(before.clone()), Ok(Merged::Replaced));
    assert_eq!(one, before);
    // Without an id, a part cannot be recognised.
    assert_eq!(all.merge(unnamed), Ok(Merged::Added));
    assert_eq!(all.calls.calls, 4);
    // Neither contains the other: merging would count a part twice, or lose one.
    for (mut one, other) in [
        (sum(&[&a, &b]), sum(&[&b, &c])),
        (before.clone(), sum(&[&a, &c])),
        (before.clone(), before.clone()),
    ] {
        let unchanged = one.clone();
        assert!(matches!(one.merge(other), Err(MergeError::Overlap(_))));
        assert_eq!(one, unchanged);
    }
}

#[test]
fn a_part_that_was_counted_differently_is_not_taken_for_the_same() {
    let mut one = part(Some("monday"), "a");
    let error = one
        .merge(part(Some("monday"), "longer"))
        .expect_err("it differs");
    assert_eq!(error, MergeError::Differ("monday".to_owned()));
    assert!(error.to_string().contains("`monday`"), "{error}");
}

#[test]
fn a_packed_summary_that_is_damaged_is_refused() {
    let packed = part(Some("a"), "a").to_bytes().expect("bytes");
    assert_eq!(
        Summary::from_bytes(&packed).expect("a summary"),
        part(Some("a"), "a")
    );
    let cut = Summary::from_bytes(&packed[..packed.len() / 2]).expect_err("cut off");
    assert!(
        cut.to_string().starts_with("cannot decompress the summary"),
        "{cut}"
    );
    let mut flipped = packed.clone();
    flipped[packed.len() / 2] ^= 0x55;
    assert!(Summary::from_bytes(&flipped).is_err());
}
