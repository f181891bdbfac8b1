//! Resolves the paths on the command line to a list of inputs.
//!
//! Folders are walked in name order, so that two runs read the same files in the same order. Nothing is opened here.

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use callwright::internal::visible;

/// A path that cannot be used. Nothing has been read then.
#[derive(Debug, thiserror::Error)]
pub enum SourceError {
    /// Nothing is there.
    #[error(
        "{}: no such file or directory; give files, directories, patterns such as 'logs/*.jsonl', or - for standard input", visible(.0)
    )]
    NotFound(String),
    /// A pattern that nothing matches.
    #[error("{}: no file matches this pattern; `*` stays within a directory, `**` does not", visible(.0))]
    NothingMatches(String),
    /// A pattern with a mistake in it, and what the mistake is.
    #[error("{}: not a valid pattern: {}", visible(.0), .1)]
    BadPattern(String, String),
    /// A folder without logs.
    #[error(
        "{}: no log in this directory; only files that end in .jsonl, .ndjson, .json, .log or .txt, optionally followed by .gz or .zst, are read from a directory. Give other files one by one", visible(.0)
    )]
    EmptyFolder(String),
    /// Something that may not be read, and what the system says.
    #[error("{}: cannot be read: {}", visible(.0), .1)]
    Unreadable(String, std::io::Error),
    /// Standard input named twice.
    #[error("standard input (-) is given twice; it can only be read once")]
    StandardInputTwice,
    /// A run that cannot be resumed, because this file is not among its inputs.
    #[error(
        "{}: the run stopped in this file, which is not among the files given now; give the same files, or start over", visible(.0)
    )]
    NotTheSameFiles(String),
}

/// The name of standard input on the command line.
pub const STANDARD_INPUT: &str = "-";

/// File name endings of logs. `.parquet` is included so that a user who only has such files is told what to do.
const LOGS: [&str; 6] = ["jsonl", "ndjson", "json", "log", "txt", "parquet"];

/// Endings of compressed files.
const COMPRESSED: [&str; 3] = ["gz", "zst", "zstd"];

/// How deep folders are walked. Deeper ones are most likely a link loop.
const DEEPEST_FOLDER: usize = 64;

/// One file, or standard input.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Input {
    /// Its name in reports.
    pub name: Arc<str>,
    /// The file; `None` for standard input.
    pub path: Option<PathBuf>,
    /// Its size on disk, if known.
    pub bytes: Option<u64>,
}

impl Input {
    fn standard_input() -> Self {
        Input {
            name: Arc::from("standard input"),
            path: None,
            bytes: None,
        }
    }

    fn file(path: PathBuf, metadata: &fs::Metadata) -> Self {
        Input {
            name: Arc::from(path.to_string_lossy().into_owned()),
            path: Some(path),
            // A pipe has no size.
            bytes: metadata.is_file().then_some(metadata.len()),
        }
    }
}

/// The inputs that some paths refer to: files, folders with all logs in them, patterns with `*`, `?` and `[…]`, and
/// `-` for standard input. A file that is named twice is read once.
///
/// # Errors
/// Fails if a path does not exist or cannot be read; the error names it.
pub fn find<S: AsRef<str>>(paths: &[S]) -> Result<Vec<Input>, SourceError> {
    let mut found = Vec::new();
    let mut known = HashSet::new();
    for path in paths.iter().map(AsRef::as_ref) {
        if path == STANDARD_INPUT {
            if found.iter().any(|input: &Input| input.path.is_none()) {
                return Err(SourceError::StandardInputTwice);
            }
            found.push(Input::standard_input());
            continue;
        }
        let mut here = Vec::new();
        named(path, &mut here)?;
        for (path, metadata) in here {
            if known.insert(path.clone()) {
                found.push(Input::file(path, &metadata));
            }
        }
    }
    Ok(found)
}

type FoundInputs = Vec<(PathBuf, fs::Metadata)>;

fn named(given: &str, found: &mut FoundInputs) -> Result<(), SourceError> {
    let path = Path::new(given);
    match fs::metadata(path) {
        Ok(metadata) if metadata.is_dir() => {
            let before = found.len();
            walk(path, DEEPEST_FOLDER, found).map_err(|why| unreadable(given, why))?;
            if found.len() == before {
                return Err(SourceError::EmptyFolder(given.to_owned()));
            }
            Ok(())
        }
        Ok(metadata) => {
            found.push((path.to_owned(), metadata));
            Ok(())
        }
        // A name with a star in it may be a file, but is usually a pattern.
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            if given.contains(['*', '?', '[']) {
                matching(given, found)
            } else {
                Err(SourceError::NotFound(given.to_owned()))
            }
        }
        Err(why) => Err(unreadable(given, why)),
    }
}

fn matching(pattern: &str, found: &mut FoundInputs) -> Result<(), SourceError> {
    // As in a shell, a star does not match hidden files.
    let options = glob::MatchOptions {
        require_literal_leading_dot: true,
        ..glob::MatchOptions::default()
    };
    let paths = glob::glob_with(pattern, options)
        .map_err(|error| SourceError::BadPattern(pattern.to_owned(), error.to_string()))?;
    let before = found.len();
    for path in paths {
        let path = path.map_err(|error| {
            let name = error.path().to_string_lossy().into_owned();
            SourceError::Unreadable(name, error.into())
        })?;
        let name = path.to_string_lossy().into_owned();
        let metadata = fs::metadata(&path).map_err(|why| unreadable(&name, why))?;
        if metadata.is_dir() {
            // A pattern may also match folders without logs.
            walk(&path, DEEPEST_FOLDER, found).map_err(|why| unreadable(&name, why))?;
        } else {
            found.push((path, metadata));
        }
    }
    if found.len() == before {
        return Err(SourceError::NothingMatches(pattern.to_owned()));
    }
    Ok(())
}

fn walk(folder: &Path, depth_left: usize, found: &mut FoundInputs) -> std::io::Result<()> {
    let Some(depth_left) = depth_left.checked_sub(1) else {
        return Ok(());
    };
    let mut paths = fs::read_dir(folder)?
        .map(|entry| entry.map(|entry| entry.path()))
        .collect::<Result<Vec<_>, _>>()?;
    paths.sort();
    for path in paths {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        if name.starts_with('.') {
            continue;
        }
        // A dangling link is not a log.
        let Ok(metadata) = fs::metadata(&path) else {
            continue;
        };
        if metadata.is_dir() {
            walk(&path, depth_left, found)?;
        } else if is_log(&name) && metadata.is_file() {
            found.push((path, metadata));
        }
    }
    Ok(())
}

/// Whether a file in a folder is read: by its ending, before those of compressed and rotated files
/// (`calls.jsonl.2.gz`, `calls.log-20260131`).
fn is_log(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    let mut parts: Vec<&str> = name.split(['.', '-']).skip(1).collect();
    if parts.last().is_some_and(|last| COMPRESSED.contains(last)) {
        parts.pop();
    }
    while parts
        .last()
        .is_some_and(|last| !last.is_empty() && last.bytes().all(|byte| byte.is_ascii_digit()))
    {
        parts.pop();
    }
    parts.last().is_some_and(|last| LOGS.contains(last))
}

fn unreadable(path: &str, why: std::io::Error) -> SourceError {
    SourceError::Unreadable(path.to_owned(), why)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn logs_are_recognised_by_their_endings() {
        for name in [
            "a.jsonl",
            "a.b.NDJSON",
            "calls.jsonl.gz",
            "calls.log.1",
            "calls.log.2.zst",
            "calls.log-20260131.gz",
            "a.json.zstd",
            "x.parquet",
        ] {
            assert!(is_log(name), "{name}");
        }
        for name in [
            "jsonl",
            "a.md",
            "a.gz",
            "a.jsonl.bak",
            "log",
            "a.tar.gz",
            "7",
        ] {
            assert!(!is_log(name), "{name}");
        }
    }
}
