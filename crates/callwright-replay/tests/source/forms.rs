//! Lines, documents and arrays, whatever the read sizes.

use std::io::{self, Read};

use callwright_replay::source::{LONGEST_RECORD, Pieces};
use proptest::prelude::*;

use crate::{Dribble, Found, collect, read, texts};

fn lines_of(found: &Found) -> Vec<u64> {
    found.records.iter().map(|(line, _)| *line).collect()
}

#[test]
fn lines_keep_their_numbers_and_blank_ones_are_skipped() {
    let found = read("{\"a\":1}\n\n  {\"b\":2}\r\n{\"c\":3}");
    assert_eq!(texts(&found), [r#"{"a":1}"#, r#"{"b":2}"#, r#"{"c":3}"#]);
    assert_eq!(lines_of(&found), [1, 3, 4]);
    assert!(found.troubles.is_empty());
}

#[test]
fn an_empty_log_has_no_records() {
    for text in ["", "\n", "  \n\t\n", "\u{feff}"] {
        assert_eq!(read(text), Found::default());
    }
}

#[test]
fn one_document_over_many_lines_is_one_record() {
    let text = "\n{\n  \"resourceSpans\": [\n    {\"a\": \"}\"}\n  ]\n}\n";
    let found = read(text);
    assert_eq!(texts(&found), [text.trim()]);
    assert_eq!(lines_of(&found), [2]);
}

#[test]
fn consecutive_documents_are_records() {
    let found = read("{\n\"a\": 1\n}\n{\n\"b\": [\n{}]\n}{\"c\": 3}\n");
    let expected = ["{\n\"a\": 1\n}", "{\n\"b\": [\n{}]\n}", "{\"c\": 3}"];
    assert_eq!(texts(&found), expected);
    assert_eq!(lines_of(&found), [1, 4, 7]);
}

#[test]
fn an_array_of_records_is_read_one_by_one() {
    let found = read("[\n  {\"tool\": \"a\"},\n  {\"tool\": \"b\",\n \"arguments\": {}}\n]\n");
    let expected = [
        "{\"tool\": \"a\"}",
        "{\"tool\": \"b\",\n \"arguments\": {}}",
    ];
    assert_eq!(texts(&found), expected);
    assert_eq!(lines_of(&found), [2, 3]);
}

#[test]
fn an_array_that_fills_one_long_line_is_read_one_by_one() {
    let record = format!("{{\"tool\":\"{}\"}}", "x".repeat(1_000));
    let text = format!("[{}]", vec![record.as_str(); 3_000].join(","));
    let found = read(text);
    assert_eq!(found.records.len(), 3_000);
    assert!(
        found
            .records
            .iter()
            .all(|(line, text)| *line == 1 && *text == record)
    );
}

#[test]
fn the_messages_of_a_conversation_are_one_record() {
    let text = "[\n  {\"role\": \"user\", \"content\": \"hi\"},\n  {\"role\": \"assistant\"}\n]";
    assert_eq!(texts(&read(text)), [text]);
}

#[test]
fn text_logs_are_lines() {
    let text = "[info] start\n2026-01-01T00:00:00Z [x] Message from client: {\"a\":1}\n";
    assert_eq!(texts(&read(text)).len(), 2);
}

#[test]
fn a_first_line_that_is_cut_off_does_not_hide_the_others() {
    for torn in [
        "{\"tool\":\"a\",\"argu",
        "{\"tool\":\"a\",",
        "{\"tool\":{\"a\":[",
        "ol\":\"a\"}",
    ] {
        let found = read(format!("{torn}\n{{\"tool\":\"b\"}}\n{{\"tool\":\"c\"}}\n"));
        let expected = [torn, r#"{"tool":"b"}"#, r#"{"tool":"c"}"#];
        assert_eq!(texts(&found), expected);
    }
}

#[test]
fn a_broken_document_does_not_swallow_the_next() {
    let found =
        read("{\n\"a\": 1\n}\n{\n\"b\": \"x\n}\n{\n\"c\": 3\n}\n{\n\"d\": {\n}\n{\n\"e\": 5\n}\n");
    assert!(texts(&found).contains(&"{\n\"a\": 1\n}"));
    assert!(texts(&found).contains(&"{\n\"c\": 3\n}"));
    assert!(texts(&found).contains(&"{\n\"e\": 5\n}"), "{found:?}");
}

#[test]
fn a_byte_order_mark_in_the_middle_is_skipped() {
    let found = read("\u{feff}{\"a\":1}\n\u{feff}{\"b\":2}\n");
    assert_eq!(texts(&found), [r#"{"a":1}"#, r#"{"b":2}"#]);
}

#[test]
fn utf16_is_read_and_bad_bytes_spoil_one_line() {
    let text = "{\"a\":\"ä\"}\r\n{\"b\":\"😀\"}\r\n";
    let mut little = vec![0xFF, 0xFE];
    little.extend(text.encode_utf16().flat_map(u16::to_le_bytes));
    let mut big = vec![0xFE, 0xFF];
    big.extend(text.encode_utf16().flat_map(u16::to_be_bytes));
    for bytes in [little, big] {
        assert_eq!(texts(&read(bytes)), [r#"{"a":"ä"}"#, r#"{"b":"😀"}"#]);
    }
    let found = read(&b"{\"a\":1}\n{\"b\":\"\xE4\"}\n{\"c\":3}\n"[..]);
    assert_eq!(texts(&found), [r#"{"a":1}"#, r#"{"c":3}"#]);
    assert_eq!(found.troubles.len(), 1);
    assert_eq!(found.troubles[0].0, 2);
    assert!(found.troubles[0].1.contains("not UTF-8"));
}

/// Bytes of a record that is too long to be kept, generated as they are read.
fn endless(bytes: u64) -> impl Read {
    io::repeat(b'x').take(bytes)
}

#[test]
fn a_line_of_two_gigabytes_costs_neither_memory_nor_the_run() {
    let reader = (&b"{\"a\":1}\n{\"b\":\""[..])
        .chain(endless(2 * 1024 * 1024 * 1024))
        .chain(&b"\"}\n{\"c\":3}\n"[..]);
    let pieces = Pieces::of_reader("log", reader).expect("readable");
    let mut largest = 0;
    let mut records = Vec::new();
    let mut troubles = Vec::new();
    for item in pieces {
        match item {
            Ok(piece) => {
                largest = largest.max(piece.bytes.len());
                let found = piece
                    .records()
                    .map(|record| (record.line, record.text.unwrap().to_owned()));
                records.extend(found);
            }
            Err(trouble) => troubles.push(trouble),
        }
    }
    assert_eq!(
        records,
        [(1, r#"{"a":1}"#.to_owned()), (3, r#"{"c":3}"#.to_owned())]
    );
    assert_eq!(troubles.len(), 1);
    assert_eq!((troubles[0].line, troubles[0].offset), (2, 8));
    assert!(
        troubles[0].kind.to_string().contains("64 MB"),
        "{troubles:?}"
    );
    assert!(largest < LONGEST_RECORD);
}

#[test]
fn a_document_that_is_too_long_is_skipped() {
    let long = LONGEST_RECORD as u64 + 1_000_000;
    let reader = (&b"{\n\"a\": 1\n}\n{\n\"b\": \""[..])
        .chain(endless(long))
        .chain(&b"\"\n}\n{\n\"c\": 3\n}\n"[..]);
    let found = collect(Pieces::of_reader("log", reader).expect("readable"));
    assert_eq!(texts(&found), ["{\n\"a\": 1\n}", "{\n\"c\": 3\n}"]);
    assert_eq!(lines_of(&found), [1, 7]);
    assert_eq!(found.troubles.len(), 1);
    assert_eq!(found.troubles[0].0, 4);
}

/// A record as JSON text, with strings that look like structure.
fn record() -> impl Strategy<Value = serde_json::Value> {
    let text = prop_oneof![
        Just("}{][\"\\".to_owned()),
        Just("\n".to_owned()),
        "[a-z{}\\[\\]\\\\\",: äß😀]{0,12}",
    ];
    let key = "[a-z\"{}]{1,5}";
    let leaf = prop_oneof![
        text.prop_map(serde_json::Value::from),
        any::<i32>().prop_map(serde_json::Value::from),
        Just(serde_json::Value::Null),
    ];
    let value = leaf.prop_recursive(4, 24, 4, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(serde_json::Value::from),
            prop::collection::btree_map("[a-z\"]{1,4}", inner, 0..4)
                .prop_map(|members| members.into_iter().collect()),
        ]
    });
    prop::collection::btree_map(key, value, 0..4).prop_map(|members| members.into_iter().collect())
}

/// Writes records in one of the ways they occur in files.
fn written(records: &[serde_json::Value], way: usize) -> String {
    let pretty = |record: &serde_json::Value| serde_json::to_string_pretty(record).unwrap();
    match way {
        0 => records.iter().map(|record| format!("{record}\n")).collect(),
        1 => records
            .iter()
            .map(|record| format!("{record}\r\n\r\n"))
            .collect(),
        2 => records
            .iter()
            .map(|record| format!("{}\n", pretty(record)))
            .collect(),
        3 => serde_json::to_string_pretty(records).unwrap(),
        4 => records.iter().map(pretty).collect(),
        _ => {
            let lines: Vec<String> = records.iter().map(ToString::to_string).collect();
            format!("[{}\n]\n", lines.join(",\n"))
        }
    }
}

proptest! {
    #[test]
    fn no_record_is_torn_or_lost(
        records in prop::collection::vec(record(), 0..12),
        way in 0_usize..6,
        sizes in prop::collection::vec(1_usize..40, 1..6),
    ) {
        let text = written(&records, way);
        // An empty array counts as one record with nothing in it.
        prop_assume!(!records.is_empty());
        let reader = Dribble::new(text.clone(), &sizes);
        let found = collect(Pieces::of_reader("log", reader).expect("readable"));
        prop_assert!(found.troubles.is_empty());
        let read: Vec<serde_json::Value> = texts(&found)
            .iter()
            .map(|text| serde_json::from_str(text).expect("a whole record"))
            .collect();
        prop_assert_eq!(&read, &records, "{}", text);
        // A record begins on the line that it reports.
        let starts: Vec<&str> = text.split('\n').collect();
        for (line, record) in &found.records {
            let first = record.lines().next().unwrap_or_default();
            let at = usize::try_from(*line).unwrap() - 1;
            prop_assert!(starts[at].contains(first.trim()));
        }
    }

    #[test]
    fn any_bytes_are_read_to_their_end(
        text in "([\\[\\]{}\",:\\\\\n a1]|\\PC){0,200}",
        sizes in prop::collection::vec(1_usize..40, 1..6),
    ) {
        let whole = read(text.clone());
        let reader = Dribble::new(text.clone(), &sizes);
        let dribbled = collect(Pieces::of_reader("log", reader).expect("readable"));
        prop_assert_eq!(&whole, &dribbled);
        // Everything but separators is in some record.
        let kept: usize = whole.records.iter().map(|(_, text)| letters(text)).sum();
        prop_assert_eq!(kept, letters(&text));
    }

}

proptest! {
    // Each case reads its file as often as it has pieces.
    #![proptest_config(ProptestConfig::with_cases(12))]

    #[test]
    fn reading_can_be_resumed_after_any_piece(
        few in prop::collection::vec(record(), 40..60),
        way in 0_usize..6,
    ) {
        // Enough records for several pieces.
        let records: Vec<_> = few.iter().cycle().take(6_000).cloned().collect();
        let text = written(&records, way);
        let folder = std::env::temp_dir().join(format!("callwright-resume-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let path = folder.join("log.json");
        std::fs::write(&path, &text).unwrap();
        let inputs = callwright_replay::source::find(&[path.to_str().unwrap()]).unwrap();
        let whole = collect(Pieces::new(inputs.clone()));
        let mut seen = Vec::new();
        for item in Pieces::new(inputs.clone()) {
            let Ok(piece) = item else { panic!("{item:?}") };
            for record in piece.records() {
                seen.push((record.line, record.text.unwrap().to_owned()));
            }
            let rest = collect(Pieces::resume(inputs.clone(), piece.end()).unwrap());
            let all: Vec<_> = seen.iter().cloned().chain(rest.records).collect();
            prop_assert_eq!(&all, &whole.records);
        }
    }
}

/// How many characters of a text are part of records.
fn letters(text: &str) -> usize {
    text.chars()
        .filter(|c| c.is_alphanumeric() || matches!(c, '{' | '}' | '"'))
        .count()
}
