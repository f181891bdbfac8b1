//! Runs the built program in a temporary folder.
#![allow(
    dead_code,
    clippy::expect_used,
    clippy::print_stderr,
    reason = "each test file uses a part, and says what it skips"
)]

pub(crate) mod http;
pub(crate) mod mcp;
pub(crate) mod replay;

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};

/// A folder that is removed when dropped.
pub(crate) struct Folder(PathBuf);

impl Folder {
    pub(crate) fn new() -> Self {
        static NEXT: AtomicUsize = AtomicUsize::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let name = format!("callwright-test-{}-{number}", std::process::id());
        let folder = std::env::temp_dir().join(name);
        fs::create_dir_all(&folder).expect("a folder");
        Folder(folder)
    }

    pub(crate) fn path(&self) -> &Path {
        &self.0
    }

    pub(crate) fn file(&self, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.0.join(name);
        fs::write(&path, content).expect("writable");
        path
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// What a run printed, and its exit code.
#[derive(Debug)]
pub(crate) struct Run {
    pub(crate) code: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Run {
    /// The verdict lines.
    pub(crate) fn lines(&self) -> Vec<serde_json::Value> {
        assert!(
            self.stdout.is_empty() || self.stdout.ends_with('\n'),
            "no partial line"
        );
        let lines = self.stdout.lines();
        lines
            .map(|line| serde_json::from_str(line).expect("every line is JSON"))
            .collect()
    }
}

pub(crate) fn program() -> Command {
    Command::new(env!("CARGO_BIN_EXE_callwright"))
}

/// The root of the repository.
pub(crate) fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

pub(crate) fn run(command: &mut Command) -> Run {
    let output = command
        .stdin(Stdio::null())
        .output()
        .expect("the program runs");
    Run {
        code: output.status.code().expect("it ended by itself"),
        stdout: String::from_utf8(output.stdout).expect("UTF-8"),
        stderr: String::from_utf8(output.stderr).expect("UTF-8"),
    }
}

/// `check --format json` with these tools and calls.
pub(crate) fn check(tools: impl AsRef<[u8]>, calls: impl AsRef<[u8]>) -> Run {
    let folder = Folder::new();
    let (tools, calls) = (
        folder.file("tools.json", tools),
        folder.file("calls.jsonl", calls),
    );
    run(program()
        .args(["check", "--format", "json", "--tools"])
        .args([tools, calls]))
}

/// `check` that reads calls from standard input.
pub(crate) fn check_stdin(tools: &Path, calls: &[u8]) -> Run {
    let mut child = program()
        .args(["check", "--format", "json", "--tools"])
        .arg(tools)
        .arg("-")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program runs");
    let mut stdin = child.stdin.take().expect("piped");
    stdin.write_all(calls).expect("it reads");
    drop(stdin);
    let output = child.wait_with_output().expect("it ends");
    Run {
        code: output.status.code().expect("it ended by itself"),
        stdout: String::from_utf8(output.stdout).expect("UTF-8"),
        stderr: String::from_utf8(output.stderr).expect("UTF-8"),
    }
}
