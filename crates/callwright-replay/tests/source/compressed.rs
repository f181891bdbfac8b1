//! gzip and zstd: complete, cut off and damaged.

use std::io::Write;

use flate2::Compression;
use flate2::write::GzEncoder;
use ruzstd::encoding::{CompressionLevel, compress_to_vec};

use crate::{read, texts};

const LINES: usize = 20_000;

fn log() -> String {
    (0..LINES)
        .map(|number| format!("{{\"tool\":\"search\",\"arguments\":{{\"page\":{number}}}}}\n"))
        .collect()
}

fn gzip(text: &str) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(text.as_bytes()).unwrap();
    encoder.finish().unwrap()
}

fn zstd(text: &str) -> Vec<u8> {
    compress_to_vec(text.as_bytes(), CompressionLevel::Fastest)
}

#[test]
fn several_members_and_frames_are_one_log() {
    let text = log();
    let (first, second) = text.split_at(text.len() / 2);
    let skippable = [0x50, 0x2A, 0x4D, 0x18, 3, 0, 0, 0, b'a', b'b', b'c'];
    let mut frames = skippable.to_vec();
    frames.extend(zstd(first));
    frames.extend(skippable);
    frames.extend(zstd(second));
    for packed in [[gzip(first), gzip(second)].concat(), frames] {
        let found = read(packed);
        assert!(found.troubles.is_empty(), "{:?}", found.troubles);
        assert_eq!(texts(&found), text.lines().collect::<Vec<_>>());
    }
}

/// All whole records before the cut are read, and one trouble reports it.
fn assert_read_up_to_the_cut(packed: &[u8], what: &str, least: usize) {
    let text = log();
    let lines: Vec<&str> = text.lines().collect();
    let found = read(packed);
    let kept = found.records.len();
    assert!(kept >= least && kept < LINES, "{kept} records");
    assert_eq!(texts(&found), lines[..kept]);
    assert_eq!(found.troubles.len(), 1, "{:?}", found.troubles);
    let (line, said) = &found.troubles[0];
    assert_eq!(*line, kept as u64 + 1);
    assert!(said.contains(what), "{said}");
}

#[test]
fn a_cut_off_file_is_read_up_to_the_cut() {
    let packed = gzip(&log());
    assert_read_up_to_the_cut(
        &packed[..packed.len() / 2],
        "the gzip data are truncated",
        LINES / 3,
    );
    let packed = zstd(&log());
    assert_read_up_to_the_cut(
        &packed[..packed.len() / 2],
        "the zstd data are truncated",
        LINES / 5,
    );
}

#[test]
fn only_the_end_is_missing() {
    for cut in 1..12 {
        for (packed, what) in [(gzip(&log()), "gzip"), (zstd(&log()), "zstd")] {
            let found = read(&packed[..packed.len() - cut]);
            assert!(found.records.len() > LINES / 5);
            // A missing checksum is reported, but costs no record.
            assert_eq!(found.troubles.len(), 1, "{what} without {cut}");
            assert!(found.troubles[0].1.contains(what));
        }
    }
}

#[test]
fn a_damaged_file_is_read_up_to_the_damage() {
    for (mut packed, what) in [(gzip(&log()), "gzip"), (zstd(&log()), "zstd")] {
        let middle = packed.len() / 2;
        for byte in &mut packed[middle..middle + 64] {
            *byte = 0xFF;
        }
        let found = read(packed);
        assert!(!found.records.is_empty(), "{what}");
        assert!(!found.troubles.is_empty(), "{what}");
    }
}

#[test]
fn every_beginning_of_a_packed_file_is_read_without_panic() {
    for packed in [
        gzip("{\"a\":1}\n{\"b\":2}\n"),
        zstd("{\"a\":1}\n{\"b\":2}\n"),
    ] {
        for end in 0..packed.len() {
            let reader = std::io::Cursor::new(packed[..end].to_vec());
            if let Ok(pieces) = callwright_replay::source::Pieces::of_reader("log", reader) {
                crate::collect(pieces);
            }
        }
    }
}
