//! Paths: which files are found, in which order, and what is reported if there are none.

use std::fs;
use std::path::PathBuf;

use callwright_replay::source::{Pieces, SourceError, find};

use crate::{collect, texts};

/// A folder for one test, removed at its end.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("callwright-{name}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&path);
        fs::create_dir_all(&path).unwrap();
        Folder(path)
    }

    fn write(&self, name: &str, bytes: impl AsRef<[u8]>) -> String {
        let path = self.0.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, bytes).unwrap();
        path.to_str().unwrap().to_owned()
    }

    fn path(&self) -> String {
        self.0.to_str().unwrap().to_owned()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn names(folder: &Folder, paths: &[String]) -> Vec<String> {
    let inputs = find(paths).unwrap();
    let short = |name: &str| {
        name.replace(&folder.path(), "")
            .trim_start_matches('/')
            .to_owned()
    };
    inputs.iter().map(|input| short(&input.name)).collect()
}

#[test]
fn folders_are_walked_in_order_and_files_are_taken_once() {
    let folder = Folder::new("walk");
    for name in [
        "b.jsonl",
        "a/z.log",
        "a/b.json",
        "c.txt",
        "notes.md",
        ".hidden.jsonl",
        ".git/x.json",
    ] {
        folder.write(name, "{}\n");
    }
    let named = folder.write("odd.name", "{}\n");
    assert_eq!(
        names(&folder, &[folder.path()]),
        ["a/b.json", "a/z.log", "b.jsonl", "c.txt"]
    );
    let pattern = format!("{}/*.jsonl", folder.path());
    let twice = [named, pattern, folder.path()];
    assert_eq!(
        names(&folder, &twice),
        ["odd.name", "b.jsonl", "a/b.json", "a/z.log", "c.txt"]
    );
}

#[test]
fn a_path_that_names_nothing_is_an_error_that_names_it() {
    let folder = Folder::new("nothing");
    folder.write("notes.md", "");
    let missing = format!("{}/missing.jsonl", folder.path());
    let error = find(&[&missing]).unwrap_err();
    assert!(matches!(error, SourceError::NotFound { .. }));
    assert!(error.to_string().starts_with(&missing));
    let pattern = format!("{}/*.jsonl", folder.path());
    assert!(matches!(
        find(&[pattern]),
        Err(SourceError::NothingMatches { .. })
    ));
    assert!(matches!(
        find(&[folder.path()]),
        Err(SourceError::EmptyFolder { .. })
    ));
    assert!(matches!(find(&["[x"]), Err(SourceError::BadPattern { .. })));
    assert!(matches!(
        find(&["-", "-"]),
        Err(SourceError::StandardInputTwice)
    ));
}

#[test]
fn an_unreadable_file_is_reported_and_the_rest_is_read() {
    let folder = Folder::new("trouble");
    folder.write("a.jsonl", "{\"a\":1}\n");
    folder.write("b.parquet", "PAR1....");
    folder.write("c.jsonl", "PK\u{3}\u{4}....");
    let gone = folder.write("d.jsonl", "{\"d\":1}\n");
    folder.write("e.jsonl", "{\"e\":1}\n");
    let inputs = find(&[folder.path()]).unwrap();
    fs::remove_file(gone).unwrap();
    let pieces = Pieces::new(inputs);
    let progress = pieces.progress();
    let found = collect(pieces);
    assert_eq!(texts(&found), [r#"{"a":1}"#, r#"{"e":1}"#]);
    let said: Vec<&str> = found
        .troubles
        .iter()
        .map(|(_, said)| said.as_str())
        .collect();
    assert_eq!(said.len(), 3);
    assert!(said[0].contains("Parquet") && said[0].contains("duckdb"));
    assert!(said[1].contains("zip archive"));
    assert!(said[2].contains("cannot be read"));
    assert_eq!(progress.files(), 5);
    assert_eq!(progress.text_bytes(), 16);
}

#[test]
fn a_run_is_resumed_in_the_middle_of_files() {
    let folder = Folder::new("resume");
    folder.write("a.jsonl", "{\"a\":1}\n{\"a\":2}\n");
    folder.write("b.jsonl", "\u{feff}{\"b\":1}\n{\"b\":2}\n");
    let inputs = find(&[folder.path()]).unwrap();
    let ends: Vec<_> = Pieces::new(inputs.clone())
        .map(|item| match item {
            Ok(piece) => piece.end(),
            Err(trouble) => panic!("{trouble:?}"),
        })
        .collect();
    // The first read stops after the bytes that identify the file type.
    let text = serde_json::to_string(&ends[0]).unwrap();
    let position = serde_json::from_str(&text).unwrap();
    let pieces = Pieces::resume(inputs.clone(), position).unwrap();
    let progress = pieces.progress();
    let found = collect(pieces);
    assert_eq!(texts(&found).last(), Some(&r#"{"b":2}"#));
    assert_eq!(Some(progress.bytes()), progress.total_bytes());
    let mut elsewhere = ends[0].clone();
    elsewhere.file = "gone.jsonl".to_owned();
    let error = Pieces::resume(inputs, elsewhere).unwrap_err();
    assert!(error.to_string().starts_with("gone.jsonl"));
}
