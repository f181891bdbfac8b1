//! Compares the output of the examples with the files in the repository. With `BLESS=1` the files are rewritten
//! instead.
#![allow(clippy::expect_used, reason = "a test may panic")]

mod support;

use std::fs;
use std::path::Path;

use support::{example, run};

fn folder() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

#[track_caller]
fn prints(name: &str, file: &str) {
    let output = run(example(name));
    let printed = String::from_utf8(output.stdout).expect("text");
    let complaints = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{name}: {printed}{complaints}");
    assert_eq!(complaints, "", "{name}");
    let file = folder().join(file);
    if std::env::var_os("BLESS").is_some() {
        fs::write(&file, printed).expect("the folder can be written");
        return;
    }
    let expected = fs::read_to_string(&file).unwrap_or_default();
    assert_eq!(
        printed.replace("\r\n", "\n"),
        expected.replace("\r\n", "\n"),
        "{name} prints something else than {}; if that is meant, run with BLESS=1",
        file.display()
    );
}

#[test]
fn typed_tool() {
    prints("typed_tool", "output/typed_tool.txt");
}

#[test]
fn dynamic_tool() {
    prints("dynamic_tool", "output/dynamic_tool.txt");
}

#[test]
fn semantic_rule() {
    prints("semantic_rule", "output/semantic_rule.txt");
}

#[test]
fn custom_recommendations() {
    prints(
        "custom_recommendations",
        "output/custom_recommendations.txt",
    );
}

#[test]
fn events() {
    prints("events", "output/events.txt");
}

#[test]
fn self_correction() {
    prints("self_correction", "self_correction/transcript.txt");
}

#[test]
fn mcp() {
    prints("mcp", "output/mcp.txt");
}

#[test]
fn gateway() {
    prints("gateway", "gateway/transcript.txt");
}

#[test]
fn the_guide_shows_the_transcript() {
    let guide = fs::read_to_string(folder().join("../docs/library.md")).expect("a guide");
    let transcript =
        fs::read_to_string(folder().join("self_correction/transcript.txt")).expect("a transcript");
    assert!(
        guide.contains(&transcript),
        "put self_correction/transcript.txt into docs/library.md as it is"
    );
}
