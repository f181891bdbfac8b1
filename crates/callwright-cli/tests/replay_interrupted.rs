//! Resuming an interrupted replay, and an interrupted review on a terminal.
#![cfg(unix)]
#![allow(
    clippy::expect_used,
    clippy::print_stderr,
    reason = "a test may panic, and says what it skips"
)]

mod support;

use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use serde_json::Value as Json;
use support::replay::{TOOLS, log, replay};
use support::{Folder, Run, program};

/// How much is written before the interruption: several blocks of a log.
const BEFORE: usize = 3_000_000;

/// How much is written at most. A program that does not stop would read all of it.
const MOST: usize = 400_000_000;

fn start(tools: &Path, state: &Path, options: &[String]) -> Child {
    program()
        .args(["replay", "--format", "json", "--tools"])
        .arg(tools)
        .arg("--state")
        .arg(state)
        .args(options)
        .arg("-")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program runs")
}

fn end(child: Child) -> Run {
    let output = child.wait_with_output().expect("it ends");
    Run {
        code: output.status.code().expect("it ended by itself"),
        stdout: String::from_utf8(output.stdout).expect("UTF-8"),
        stderr: String::from_utf8(output.stderr).expect("UTF-8"),
    }
}

/// Calls without sessions, and so without loops, which are counted from zero after an interruption.
fn line(call: usize) -> String {
    let limit = if call % 9 == 4 {
        "\"many\"".to_owned()
    } else {
        call.to_string()
    };
    format!(
        "{{\"tool\":\"search\",\"arguments\":{{\"query\":\"tea {call}\",\"limit\":{limit}}},\"output\":\"{call:120}\"}}\n"
    )
}

/// Starts a replay of an endless log and interrupts it in the middle.
fn interrupted(tools: &Path, state: &Path, options: &[String]) -> Run {
    let mut child = start(tools, state, options);
    let mut stdin = child.stdin.take().expect("piped");
    let process = child.id().to_string();
    let (mut written, mut told) = (0, false);
    for call in 0.. {
        let line = line(call);
        if stdin.write_all(line.as_bytes()).is_err() {
            break;
        }
        written += line.len();
        if written > BEFORE && !told {
            // It has read the beginning, so its signal handler is installed.
            let kill = Command::new("kill").args(["-INT", &process]).status();
            assert!(kill.expect("kill runs").success());
            told = true;
        }
        assert!(written < MOST, "it does not stop");
    }
    drop(stdin);
    end(child)
}

#[test]
fn an_interrupted_run_can_be_continued() {
    let folder = Folder::new();
    let tools = folder.file("tools.json", TOOLS);
    let state = folder.path().join("replay.state");
    let interrupted = interrupted(&tools, &state, &[]);
    assert_eq!(interrupted.code, 130, "{}", interrupted.stderr);
    assert!(
        interrupted
            .stderr
            .contains("interrupted: the report covers what was done so far; run the same command again to continue"),
        "{}",
        interrupted.stderr
    );
    let report: Json = serde_json::from_str(&interrupted.stdout).expect("JSON");
    assert_eq!(report["read"]["interrupted"], true);
    let done = report["calls"]["calls"].as_u64().expect("a number");
    let done = usize::try_from(done).expect("small");
    assert!(done > 0);
    assert!(state.exists());

    // The same log again, this time with an end.
    let whole: String = (0..done + 5_000).map(line).collect();
    let finish = |state: &Path| {
        let mut child = start(&tools, state, &[]);
        let mut stdin = child.stdin.take().expect("piped");
        stdin.write_all(whole.as_bytes()).expect("it reads");
        drop(stdin);
        end(child)
    };
    let resumed = finish(&state);
    assert!(
        resumed.stderr.contains("resumed: the run continues from"),
        "{}",
        resumed.stderr
    );
    assert_eq!(resumed.code, 1);
    assert!(!state.exists(), "an end has no state");
    let at_once = finish(&folder.path().join("another.state"));
    let read = |run: &Run| serde_json::from_str::<Json>(&run.stdout).expect("JSON");
    let (resumed, at_once) = (read(&resumed), read(&at_once));
    assert_eq!(resumed["calls"], at_once["calls"]);
    assert_eq!(resumed["clusters"], at_once["clusters"]);
    assert_eq!(resumed, at_once);
}

const POLICY: &str = r#"
[loops]
repeated_result = { notice = 2, refuse = 4 }

[advice]
timeout = "Ask for one month at a time."

[[tool.search.check]]
when = "size(output) == 0"
class = "semantic_garbage"
code = "nothing_found"
detail = "nothing was found"
hint = "Search for something else."
"#;

/// Counts made with different settings cannot be added. The names of settings are the only protection against mixing up
/// states, so every way to change one is tried, with everything else unchanged.
#[test]
fn a_state_of_other_settings_is_refused_by_name() {
    let folder = Folder::new();
    let tools = folder.file("tools.json", TOOLS);
    let policy = folder.file("policy.toml", POLICY);
    let other_tools = folder.file("other.json", TOOLS.replace("up", "left"));
    let against = folder.file("against.json", TOOLS);
    let state = folder.path().join("replay.state");
    let with = |policy: &Path, more: &[&str]| -> Vec<String> {
        let mut options = vec!["--policy".to_owned(), policy.display().to_string()];
        options.extend(more.iter().map(|option| (*option).to_owned()));
        options
    };
    let first = with(&policy, &["--repair", "lossless"]);
    assert_eq!(interrupted(&tools, &state, &first).code, 130);
    let saved = fs::read_to_string(&state).expect("a state");
    let changed = |name: &str, from: &str, to: &str| {
        assert!(POLICY.contains(from), "{from}");
        let file = folder.file(name, POLICY.replace(from, to));
        with(&file, &["--repair", "lossless"])
    };
    let against = against.display().to_string();
    let cases = [
        (&other_tools, first.clone(), "--tools changed"),
        (
            &tools,
            changed("cel.toml", "size(output) == 0", "size(output) == 1"),
            "--policy changed",
        ),
        (
            &tools,
            changed("hint.toml", "something else", "less"),
            "--policy changed",
        ),
        (
            &tools,
            changed("threshold.toml", "refuse = 4", "refuse = 5"),
            "--policy changed",
        ),
        (
            &tools,
            changed("advice.toml", "one month", "one week"),
            "--policy changed",
        ),
        (&tools, first[2..].to_vec(), "--policy changed"),
        (
            &tools,
            with(&policy, &["--repair", "guess"]),
            "--repair changed",
        ),
        (&tools, with(&policy, &[]), "--repair changed"),
        (
            &tools,
            with(&policy, &["--repair", "lossless", "--against", &against]),
            "--against changed",
        ),
        (
            &other_tools,
            with(&policy, &[]),
            "--repair and --tools changed",
        ),
    ];
    for (tools, options, part) in cases {
        let mut child = start(tools, &state, &options);
        drop(child.stdin.take());
        let refused = end(child);
        assert_eq!(refused.code, 2, "{part}: {}", refused.stderr);
        let told = format!(": {part} since the run was interrupted");
        assert!(
            refused.stderr.contains(&told),
            "{told} in {}",
            refused.stderr
        );
        assert!(
            refused
                .stderr
                .contains("delete the state file to start over")
        );
        assert_eq!(fs::read_to_string(&state).expect("a state"), saved);
    }
    // A copy of the same files counts as the same settings.
    let copy = folder.file("copy.toml", POLICY);
    let mut child = start(&tools, &state, &with(&copy, &["--repair", "lossless"]));
    drop(child.stdin.take());
    assert!(
        end(child)
            .stderr
            .contains("resumed: the run continues from")
    );
}

#[test]
fn a_state_of_an_earlier_version_is_refused() {
    let folder = Folder::new();
    let tools = folder.file("tools.json", TOOLS);
    let state = folder.path().join("replay.state");
    assert_eq!(interrupted(&tools, &state, &[]).code, 130);
    let saved = fs::read_to_string(&state).expect("a state");
    let mut saved: Json = serde_json::from_str(&saved).expect("JSON");
    let members = saved.as_object_mut().expect("an object");
    members.remove("settings").expect("the settings");
    members.insert("identity".to_owned(), 7.into());
    fs::write(&state, saved.to_string()).expect("writable");
    let mut child = start(&tools, &state, &[]);
    drop(child.stdin.take());
    let refused = end(child);
    assert_eq!(refused.code, 2);
    assert!(
        refused
            .stderr
            .contains("an earlier version wrote the state"),
        "{}",
        refused.stderr
    );
}

/// Types these keys into `callwright replay review` on a terminal. `None` if there is no `script` program.
fn review(suggestions: &Path, keys: &str) -> Option<String> {
    let command = format!(
        "'{}' replay review '{}'",
        env!("CARGO_BIN_EXE_callwright"),
        suggestions.display()
    );
    let child = Command::new("script")
        .args(["-qec", &command, "/dev/null"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn();
    let Ok(mut child) = child else {
        eprintln!("skipped: no `script`, which makes a terminal");
        return None;
    };
    // Standard input stays open until the end.
    let mut keyboard = child.stdin.take().expect("piped");
    keyboard.write_all(keys.as_bytes()).expect("typed");
    let mut shown = String::new();
    let mut stdout = child.stdout.take().expect("piped");
    std::io::Read::read_to_string(&mut stdout, &mut shown).expect("text");
    drop(keyboard);
    assert!(child.wait().expect("it ends").success(), "{shown}");
    Some(shown)
}

fn decisions(suggestions: &Path) -> Vec<Json> {
    let text = fs::read_to_string(suggestions).expect("suggestions");
    let file: Json = serde_json::from_str(&text).expect("JSON");
    let tools = file["tools"].as_array().expect("tools");
    let mut all: Vec<(u64, Json)> = tools
        .iter()
        .flat_map(|tool| tool["proposals"].as_array().expect("proposals"))
        .map(|proposal| {
            (
                proposal["number"].as_u64().expect("a number"),
                proposal["decision"].clone(),
            )
        })
        .collect();
    all.sort_by_key(|(number, _)| *number);
    all.into_iter().map(|(_, decision)| decision).collect()
}

#[test]
fn a_review_continues_where_it_was_interrupted() {
    let folder = Folder::new();
    let tools = support::repository().join("examples/replay/tools.json");
    let log = support::repository().join("examples/replay/log.jsonl");
    let suggestions = folder.path().join("changes.json");
    replay(&[
        "--tools".as_ref(),
        tools.as_os_str(),
        "--suggest".as_ref(),
        suggestions.as_os_str(),
        log.as_os_str(),
    ]);
    assert_eq!(decisions(&suggestions), [Json::Null, Json::Null]);
    let Some(shown) = review(&suggestions, "yq") else {
        return;
    };
    assert!(
        shown.contains("1 of 2") && shown.contains("2 of 2"),
        "{shown}"
    );
    assert!(shown.contains("1 accepted, 1 open"), "{shown}");
    assert_eq!(
        decisions(&suggestions),
        [Json::from("accepted"), Json::Null]
    );
    let shown = review(&suggestions, "n").expect("a terminal");
    assert!(!shown.contains("1 of 2"), "the first is decided: {shown}");
    assert!(shown.contains("1 accepted, 0 open"), "{shown}");
    assert_eq!(decisions(&suggestions), ["accepted", "rejected"]);
    // `apply` takes what was accepted.
    let applied = support::run(
        program()
            .args(["replay", "apply", "--tools"])
            .arg(&tools)
            .arg("--suggestions")
            .arg(&suggestions),
    );
    assert_eq!(
        (applied.code, applied.stderr.as_str()),
        (0, "applied: 1 proposal\n")
    );
    assert!(applied.stdout.contains("\"urgent\"") && !applied.stdout.contains("\"null\""));
}

#[test]
fn a_review_without_a_terminal_says_what_to_do() {
    let folder = Folder::new();
    let (tools, log) = (
        folder.file("tools.json", TOOLS),
        folder.file("log.jsonl", log(400)),
    );
    let suggestions = folder.path().join("changes.json");
    let shown = replay(&[
        "--tools".as_ref(),
        tools.as_os_str(),
        "--review".as_ref(),
        "--suggest".as_ref(),
        suggestions.as_os_str(),
        log.as_os_str(),
    ]);
    assert_eq!(shown.code, 2);
    assert!(shown.stderr.contains(
        "a review needs a terminal; decide with `callwright replay apply --accept` instead"
    ));
    assert!(suggestions.exists(), "what was done is kept");
    assert!(shown.stdout.contains("of 400 calls break their schema."));
}
