//! A file with records in all formats, read through source and reader.

use std::path::Path;

use callwright_replay::read::{Reader, Reading, RecordPlace};
use callwright_replay::seen::Seen;
use callwright_replay::source::Pieces;
use serde_json::Value;

/// Every record of the corpus in one file, one per line.
fn mixed() -> String {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpus/replay/read");
    let mut paths: Vec<_> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    paths.sort();
    let mut text = String::new();
    for path in paths {
        let file: Value = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
        for case in file["cases"].as_array().unwrap() {
            if let Some(record) = case.get("record") {
                text.push_str(&format!("{record}\n"));
            }
        }
    }
    text
}

#[test]
fn a_file_of_all_formats_is_read_record_by_record() {
    let text = mixed();
    let reader = std::io::Cursor::new(text.clone().into_bytes());
    let mut formats = std::collections::BTreeSet::new();
    let (mut records, mut calls) = (0, 0);
    let mut reader_of_records = Reader::new();
    for item in Pieces::of_reader("mixed.jsonl", reader).unwrap() {
        let Ok(piece) = item else { panic!("{item:?}") };
        let mut reading = Reading::default();
        for record in piece.records() {
            let place = RecordPlace {
                file: &piece.file,
                line: record.line,
            };
            reader_of_records.read(record.text.unwrap(), place, &mut reading);
            records += 1;
            formats.extend(reading.format.map(callwright_replay::read::Format::name));
            calls += reading
                .seen
                .iter()
                .filter(|seen| matches!(seen, Seen::Call(_)))
                .count();
            assert!(reading.format.is_some() || !reading.troubles.is_empty());
        }
    }
    assert_eq!(records, text.lines().count());
    assert_eq!(formats.len(), 8, "{formats:?}");
    assert!(calls > 50);
}
