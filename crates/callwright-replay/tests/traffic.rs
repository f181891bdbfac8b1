//! The generator of labelled traffic is right: calls without a pattern are valid, and planted patterns are refused for
//! the reason on their label.
#![allow(
    clippy::cast_precision_loss,
    clippy::expect_used,
    reason = "shares are rounded anyway, and a test may panic"
)]

#[path = "support/objections.rs"]
mod objections;
#[path = "support/traffic/mod.rs"]
mod traffic;

use std::collections::{BTreeMap, BTreeSet};

use traffic::{Family, Format, Label, Settings, World, planted};

/// Takes a few seconds without optimisation.
const CALLS: usize = 10_000;

fn log(world: &World, settings: Settings) -> Vec<String> {
    let mut lines = Vec::new();
    world.write(settings, |line| lines.push(line.to_owned()));
    lines
}

fn settings(format: Format) -> Settings {
    Settings {
        calls: CALLS,
        seed: 7,
        format,
    }
}

/// All families.
fn all() -> World {
    World::of(&Family::ALL.map(|(_, family)| family))
}

/// Whether a path is the one that a label names.
fn is_at(path: &str, label: &str) -> bool {
    let mut segments = path.split('/');
    let same = label.split('/').all(|wanted| {
        let found = segments.next();
        found == Some(wanted) || (wanted == "*" && found.is_some())
    });
    same && segments.next().is_none()
}

#[test]
fn what_is_planted_is_refused_as_its_label_says() {
    let world = all();
    let gate = objections::gate(callwright::wire::read_tools(&world.tools_file).expect("tools"));
    assert!(gate.tools().all(|tool| tool.quarantined().is_none()));
    for pattern in &world.patterns {
        let format = [Format::Events, Format::Lines][pattern.number % 2];
        let settings = Settings {
            calls: 60,
            ..settings(format)
        };
        for line in world.samples(pattern.number, settings) {
            let recorded = objections::read(&line);
            assert_eq!(planted(objections::id(&recorded)), [pattern.number]);
            let found = if pattern.is_in_result() {
                objections::to_result(&gate, &recorded)
            } else {
                objections::to_arguments(&gate, &recorded)
            };
            let is_there = found
                .iter()
                .any(|(path, issue)| is_at(path, pattern.path) && issue == pattern.issue);
            assert!(is_there, "{pattern:?}\n{found:?}\n{line}");
        }
    }
}

#[test]
fn a_log_is_refused_where_something_is_planted_and_nowhere_else() {
    let world = all();
    let gate = objections::gate(callwright::wire::read_tools(&world.tools_file).expect("tools"));
    for line in log(&world, settings(Format::Lines)) {
        let recorded = objections::read(&line);
        let patterns = planted(objections::id(&recorded));
        let (in_result, in_arguments): (Vec<usize>, Vec<usize>) = patterns
            .into_iter()
            .partition(|number| world.patterns[number - 1].is_in_result());
        let found = objections::to_arguments(&gate, &recorded);
        assert_eq!(
            found.is_empty(),
            in_arguments.is_empty(),
            "{found:?}\n{line}"
        );
        let found = objections::to_result(&gate, &recorded);
        assert_eq!(found.is_empty(), in_result.is_empty(), "{found:?}\n{line}");
    }
}

#[test]
fn most_calls_are_fine_and_mistakes_are_of_the_usual_kinds() {
    let world = World::new();
    let mut calls = BTreeMap::<&str, usize>::new();
    let mut models = BTreeSet::new();
    let lines = log(&world, settings(Format::Lines));
    for line in &lines {
        let patterns = planted(objections::id(&objections::read(line)));
        let is_bug = |number: &usize| world.patterns[number - 1].label == Label::Bug;
        let kind = match patterns.as_slice() {
            [] => "fine",
            numbers if numbers.iter().any(is_bug) => "bug",
            _ => "edge case",
        };
        *calls.entry(kind).or_default() += 1;
        let model: serde_json::Value = serde_json::from_str(line).expect("JSON");
        models.insert(model["model"].to_string());
    }
    println!("{calls:?}");
    let share = |kind: &str| calls[kind] as f64 / lines.len() as f64;
    assert!((0.93..0.97).contains(&share("fine")), "{calls:?}");
    assert!((0.01..0.04).contains(&share("bug")), "{calls:?}");
    assert!((0.01..0.04).contains(&share("edge case")), "{calls:?}");
    assert_eq!(models.len(), 5);
    assert_eq!(lines.len(), CALLS);
}

#[test]
fn a_seed_gives_one_log_in_the_order_of_time() {
    let world = World::new();
    let settings = Settings {
        calls: 5_000,
        ..settings(Format::Lines)
    };
    let first = log(&world, settings);
    assert_eq!(first, log(&World::new(), settings));
    let other = Settings {
        seed: 8,
        ..settings
    };
    assert_ne!(first, log(&world, other));
    let time = |line: &String| {
        serde_json::from_str::<serde_json::Value>(line).expect("JSON")["time"].to_string()
    };
    assert!(first.is_sorted_by_key(time));
}

#[test]
fn every_format_shows_the_same_calls() {
    let world = World::new();
    let ids = |format| -> BTreeSet<String> {
        let settings = Settings {
            calls: 1_000,
            ..settings(format)
        };
        let mut ids = BTreeSet::new();
        for line in log(&world, settings) {
            let words =
                line.split(|letter: char| !(letter.is_ascii_alphanumeric() || letter == '-'));
            let is_id = |word: &&str| {
                let digits = word
                    .strip_prefix('c')
                    .and_then(|rest| rest.split('-').next());
                digits.is_some_and(|digits| {
                    !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())
                })
            };
            ids.extend(words.filter(is_id).map(str::to_owned));
        }
        ids
    };
    let events = ids(Format::Events);
    for (name, format) in Format::ALL {
        assert_eq!(ids(format), events, "{name}");
    }
}
