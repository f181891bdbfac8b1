//! Feeds any bytes as a log: every record is read or reported, and the sizes in which the bytes arrive change nothing.
#![no_main]

use std::io::{self, Read};

use callwright_fuzz::{Bounds, bounded, cases, plant};
use callwright_replay::read::{Reader, Reading, RecordPlace};
use callwright_replay::source::Pieces;
use libfuzzer_sys::fuzz_target;

const BOUNDS: Bounds = Bounds {
    reads: (200_000, 500),
    allocated: (128 << 20, 256 << 10),
    held: (64 << 20, 16 << 10),
};

fn seeds() -> Vec<Vec<u8>> {
    let cases = cases(&["replay/read"]);
    let mut seeds: Vec<Vec<u8>> = Vec::new();
    for (_, case) in &cases {
        match case.get("record") {
            Some(record) => {
                seeds.push(record.to_string().into_bytes());
                seeds.push(format!("[\n{record:#},\n{record}\n]\n").into_bytes());
            }
            None => seeds.push(case["text"].as_str().expect("a text").as_bytes().to_vec()),
        }
    }
    seeds
}

/// Gives a few bytes at a time.
struct Dribble {
    bytes: Vec<u8>,
    at: usize,
}

impl Read for Dribble {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = (self.at % 5 + 1)
            .min(buffer.len())
            .min(self.bytes.len() - self.at);
        buffer[..count].copy_from_slice(&self.bytes[self.at..self.at + count]);
        self.at += count;
        Ok(count)
    }
}

fn records(pieces: Pieces) -> Vec<(u64, Option<String>)> {
    let mut found = Vec::new();
    let mut reader = Reader::new();
    for item in pieces {
        match item {
            Ok(piece) => {
                let mut reading = Reading::default();
                for record in piece.records() {
                    let text = record.text.ok();
                    if let Some(text) = text {
                        let place = RecordPlace {
                            file: &piece.file,
                            line: record.line,
                        };
                        reader.read(text, place, &mut reading);
                        assert!(reading.format.is_some() || !reading.troubles.is_empty());
                        let lines = reading
                            .troubles
                            .iter()
                            .any(|said| said.contains(char::is_control));
                        assert!(!lines, "{:?}", reading.troubles);
                    }
                    found.push((record.line, text.map(str::to_owned)));
                }
            }
            Err(trouble) => found.push((trouble.line, None)),
        }
    }
    found
}

fuzz_target!(
    init: plant(seeds()),
    |bytes: &[u8]| bounded(bytes, BOUNDS, || {
        let whole = Pieces::of_reader("log", io::Cursor::new(bytes.to_vec()));
        let parts = Pieces::of_reader("log", Dribble { bytes: bytes.to_vec(), at: 0 });
        if let (Ok(whole), Ok(parts)) = (whole, parts) {
            assert_eq!(records(whole), records(parts));
        }
    })
);
