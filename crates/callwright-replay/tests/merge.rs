//! Summaries of parts merge in any order and any grouping, and survive serialisation.

use callwright_replay::summary::{
    Bounded, Cluster, ClusterKey, Combination, Distinct, Example, Examples, FieldUse, LedTo, Merge,
    Merged, Parameter, Side, Stopped, Summary, Tally, Timeline, ToolSummary, Trouble, Version,
};
use proptest::collection::vec;
use proptest::prelude::*;

/// One call, as far as a summary is concerned.
#[derive(Debug, Clone)]
struct Seen {
    tool: u8,
    model: u8,
    session: u16,
    /// In minutes.
    time: i64,
    place: u16,
    fault: Option<u8>,
    stopped: bool,
    trouble: bool,
}

fn seen() -> impl Strategy<Value = Seen> {
    let time = prop_oneof![
        20 => 0_i64..2_000,
        // A clock that jumped.
        1 => prop_oneof![Just(-9_000_000_i64), Just(90_000_000_i64)],
    ];
    let what = (0_u8..4, 0_u8..3, 0_u16..600, time, any::<u16>());
    let flags = (proptest::option::of(0_u8..6), any::<bool>(), any::<bool>());
    (what, flags).prop_map(
        |((tool, model, session, time, place), (fault, stopped, trouble))| Seen {
            tool,
            model,
            session,
            time,
            place,
            fault,
            stopped,
            trouble,
        },
    )
}

/// A good hash of a number.
fn hash(number: u64) -> u64 {
    let mut distinct = number.wrapping_add(0x9E37_79B9_7F4A_7C15);
    distinct = (distinct ^ (distinct >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    distinct = (distinct ^ (distinct >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    distinct ^ (distinct >> 31)
}

fn summary_of(calls: &[Seen]) -> Summary {
    let mut summary = Summary::default();
    for call in calls {
        summary = merged(summary, one(call));
    }
    summary
}

/// What the call says about a parameter.
fn limit(call: &Seen, tool: &str) -> (Parameter, FieldUse) {
    let mut usage = FieldUse {
        present: 1,
        largest: Some(f64::from(call.place)),
        ..FieldUse::default()
    };
    usage.values.add(Some((call.place % 12).to_string()));
    let parameter = Parameter {
        tool: tool.to_owned(),
        name: "limit".to_owned(),
    };
    (parameter, usage)
}

fn one(call: &Seen) -> Summary {
    let mut summary = Summary::default();
    let time = call.time * 60_000_000;
    let tally = Tally {
        calls: 1,
        refused: u64::from(call.fault.is_some()),
        stopped: u64::from(call.stopped),
        ..Tally::default()
    };
    let (tool, model) = (format!("tool {}", call.tool), format!("m{}", call.model));
    summary.input.records = 1;
    summary.input.formats.insert("call".to_owned(), 1);
    (summary.input.first, summary.input.last) = (Some(time), Some(time));
    if call.trouble {
        let at = Trouble::at("log", u64::from(call.place));
        summary.input.troubles.add(format!("odd {}", call.tool), at);
    }
    summary.calls = tally;
    summary.models.add(model.clone(), tally);
    summary.time.add(time, tally);
    summary.sessions.add(hash(u64::from(call.session)));
    let mut counts = ToolSummary {
        tally,
        sampled: 1,
        ..ToolSummary::default()
    };
    counts.time.add(time, 1);
    counts.sessions.add(hash(u64::from(call.session)));
    counts.models.add(model.clone(), 1);
    let version = Version {
        declared: "{}".to_owned(),
        calls: 1,
        first: Some(time),
        last: Some(time),
        quarantined: None,
    };
    counts.versions.add(format!("v{}", call.model), version);
    let (parameter, usage) = limit(call, &tool);
    summary.parameters.add(parameter, usage);
    summary.tools.add(tool.clone(), counts);
    let example = Example {
        value: call.place.to_string(),
        whole: true,
        arguments: String::new(),
        place: format!("log:{}", call.place),
        time: Some(time),
        session: None,
        model: None,
    };
    let mut examples = Examples::default();
    // Two calls at the same place are one call.
    let at = (u64::from(call.place) << 40) ^ time.unsigned_abs();
    examples.add(hash(at), example);
    if let Some(fault) = call.fault {
        let key = ClusterKey {
            tool: tool.clone(),
            side: Side::Input,
            path: format!("/{fault}"),
            issue: "type".into(),
            shape: "string".into(),
        };
        summary.combinations.add(
            Combination {
                tool: tool.clone(),
                clusters: vec![key.hash()],
            },
            1,
        );
        let mut cluster = Cluster {
            calls: 1,
            first: Some(time),
            last: Some(time),
            led_to: LedTo {
                ran_fine: 1,
                ..LedTo::default()
            },
            examples: examples.clone(),
            ..Cluster::default()
        };
        cluster.time.add(time, 1);
        cluster.sessions.add(hash(u64::from(call.session)));
        cluster.models.add(model, 1);
        cluster.values.add(call.place.to_string(), 1);
        summary.clusters.add(key, cluster);
        summary.repairs.insert("a rule".to_owned(), 1);
    }
    if call.stopped {
        let mut stopped = Stopped {
            calls: 1,
            examples,
            ..Stopped::default()
        };
        stopped.tools.add(tool, 1);
        summary.loops.insert("cycle".to_owned(), stopped);
    }
    summary
}

/// A count that takes up that many bytes.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
struct Heavy(u64);

impl Merge for Heavy {
    fn absorb(&mut self, other: Self) {
        self.0 += other.0;
    }

    fn bytes(&self) -> usize {
        usize::try_from(self.0).unwrap_or(usize::MAX)
    }
}

fn merged(mut one: Summary, other: Summary) -> Summary {
    assert_eq!(one.merge(other), Ok(Merged::Added));
    one
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn summaries_merge_in_any_order_and_grouping(
        a in vec(seen(), 0..120), b in vec(seen(), 0..120), c in vec(seen(), 0..120),
    ) {
        let all: Vec<Seen> = [a.clone(), b.clone(), c.clone()].concat();
        let [a, b, c] = [a, b, c].map(|part| summary_of(&part));
        let left = merged(merged(a.clone(), b.clone()), c.clone());
        let right = merged(a.clone(), merged(b.clone(), c.clone()));
        prop_assert!(left == right, "associative");
        prop_assert!(merged(merged(c, a), b) == left, "commutative");
        prop_assert!(summary_of(&all) == left, "the same as in one run");
        prop_assert!(merged(left.clone(), Summary::default()) == left, "nothing adds nothing");
    }

    #[test]
    fn summaries_survive_being_written_down(calls in vec(seen(), 0..200)) {
        let summary = summary_of(&calls);
        for bytes in [summary.to_json().expect("JSON").into_bytes(), summary.to_bytes().expect("bytes")] {
            let read = Summary::from_bytes(&bytes).expect("a summary");
            prop_assert!(read == summary);
        }
    }

    #[test]
    fn a_bounded_map_keeps_the_same_keys_in_any_order(mut keys in vec(0_u16..400, 0..300)) {
        let map_of = |keys: &[u16]| {
            let mut map: Bounded<u16, u64, 16> = Bounded::default();
            for key in keys {
                map.add(*key, 1);
            }
            map
        };
        let forward = map_of(&keys);
        let (left, right) = keys.split_at(keys.len() / 3);
        let mut backward = map_of(right);
        backward.absorb(map_of(left));
        prop_assert_eq!(&backward, &forward);
        for (key, count) in forward.iter() {
            let truly = keys.iter().filter(|other| *other == key).count() as u64;
            prop_assert_eq!(*count, truly, "what is kept has counted everything");
        }
        keys.reverse();
        prop_assert_eq!(map_of(&keys), forward);
    }

    #[test]
    fn a_map_that_is_bounded_in_bytes_keeps_the_same_keys_in_any_order(
        entries in vec((0_u16..40, 0_u64..30), 0..120), cut in 0_usize..120,
    ) {
        let map_of = |entries: &[(u16, u64)]| {
            let mut map: Bounded<u16, Heavy, 1_000, 200> = Bounded::default();
            for (key, count) in entries {
                map.add(*key, Heavy(*count));
            }
            map
        };
        let (left, right) = entries.split_at(cut.min(entries.len()));
        let (forward, mut merged) = (map_of(&entries), map_of(right));
        let written = serde_json::to_string(&map_of(left)).expect("JSON");
        merged.absorb(serde_json::from_str(&written).expect("a map"));
        prop_assert_eq!(&merged, &forward);
        let backward: Vec<(u16, u64)> = entries.iter().rev().copied().collect();
        prop_assert_eq!(&map_of(&backward), &forward);
        prop_assert!(forward.bytes() <= 200 || forward.len() == 1);
        for (key, Heavy(count)) in forward.iter() {
            let all = entries.iter().filter(|(other, _)| other == key);
            prop_assert_eq!(*count, all.map(|(_, count)| count).sum::<u64>());
        }
    }

    #[test]
    fn different_things_are_counted_exactly_or_nearly(count in 0_u64..5_000) {
        let mut distinct = Distinct::default();
        for number in (0..count).chain(0..count / 2) {
            distinct.add(hash(number));
        }
        if count < 256 {
            prop_assert_eq!(distinct.count(), count);
        } else {
            let off = distinct.count().abs_diff(count);
            prop_assert!(off * 3 < count, "{} instead of {count}", distinct.count());
        }
    }

    #[test]
    fn time_is_cut_into_few_pieces_and_nothing_is_lost(times in vec(any::<i64>(), 0..2_000)) {
        let mut timeline: Timeline<u64> = Timeline::default();
        for time in &times {
            timeline.add(*time, 1);
        }
        prop_assert!(timeline.len() <= 512);
        prop_assert_eq!(timeline.iter().map(|(_, count)| *count).sum::<u64>(), times.len() as u64);
        prop_assert!(timeline.width_us() > 0);
    }
}

#[test]
fn what_is_not_a_summary_is_refused_with_a_reason() {
    let error = Summary::from_bytes(b"{}").expect_err("not a summary");
    assert!(
        error.to_string().starts_with("not a replay summary"),
        "{error}"
    );
    let mut json = serde_json::to_value(Summary::default()).expect("JSON");
    json["v"] = 1.into();
    let error = Summary::from_bytes(json.to_string().as_bytes()).expect_err("another version");
    assert!(error.to_string().contains("another version"), "{error}");
    json["v"] = callwright_replay::summary::VERSION.into();
    json["time"]["doublings"] = 4_000.into();
    assert!(Summary::from_bytes(json.to_string().as_bytes()).is_err());
}

#[test]
fn clusters_with_all_that_they_keep_take_bounded_memory() {
    let mut full = Cluster::default();
    for number in 0..512 {
        full.time.add(number * 60_000_000, 1);
        full.sessions.add(hash(number.unsigned_abs()));
        full.values.add(format!("{number} {}", "x".repeat(190)), 1);
    }
    let mut summary = Summary::default();
    for number in 0..2_000 {
        let key = ClusterKey {
            tool: format!("tool {number}"),
            side: Side::Input,
            path: "/a".to_owned(),
            issue: "type".into(),
            shape: "string".into(),
        };
        summary.clusters.add(key, full.clone());
    }
    assert!(summary.clusters.bytes() <= callwright_replay::summary::CLUSTER_BYTES);
    let (kept, dropped) = (summary.clusters.len() as u64, summary.clusters.dropped());
    assert!(kept > 500, "{kept}");
    assert!(
        (kept + dropped).abs_diff(2_000) < 300,
        "{kept} and {dropped}"
    );
}
