//! Whatever a lenient server accepts as a call, `callwright mcp` has judged and recorded: thousands of odd lines, read
//! by Python's and Node's own JSON parsers.
//!
//! If one of them is missing, its test says so and passes.
#![cfg(unix)]
#![allow(
    clippy::expect_used,
    clippy::print_stderr,
    reason = "a test may panic, and says what it skips"
)]

mod support;

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

use serde_json::Value;
use support::Folder;
use support::mcp::{Client, script};

/// Pseudorandom numbers with a fixed seed.
struct Dice(u64);

impl Dice {
    fn up_to(&mut self, most: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % (most as u64 + 1)).expect("small")
    }

    fn one<'a, T: ?Sized>(&mut self, of: &[&'a T]) -> &'a T {
        of[self.up_to(of.len() - 1)]
    }
}

/// A line that some server may accept as a call with this number.
fn line(number: usize, dice: &mut Dice) -> Vec<u8> {
    let call = |tool: &str| {
        format!(
            r#"{{"jsonrpc":"2.0","id":{number},"method":"tools/call","params":{{"name":"{tool}","arguments":{{"n":{number}}}}}}}"#
        )
    };
    let other = call("delete");
    let mut text = call(dice.one(&["get", "delete"])).into_bytes();
    for _ in 0..dice.up_to(2) {
        let at = dice.up_to(text.len());
        match dice.up_to(11) {
            // A duplicate member, or a member under another name.
            0 => {
                let member = dice.one(&[
                    r#""method":"ping","#,
                    r#""method":"tools/call","#,
                    r#""Method":"tools/call","#,
                    r#""name":"delete","#,
                    r#""NAME":"delete","#,
                    r#""params":{"name":"delete"},"#,
                    r#""arguments":{"n":-1},"#,
                    r#""id":null,"#,
                ]);
                let braces: Vec<usize> = (0..text.len()).filter(|at| text[*at] == b'{').collect();
                if let Some(at) = braces.get(dice.up_to(3)) {
                    let at = at + 1;
                    text.splice(at..at, member.bytes());
                }
            }
            1..=5 => {
                let id = format!(r#""id":{number}"#);
                let others: [(&str, [&str; 3]); 5] = [
                    ("tools/call", ["tools\\/call", "tools\\u002fcall", "ping"]),
                    ("method", ["METHOD", "m\\u0065thod", "method "]),
                    ("params", ["Params", "param\u{17f}", "p\\u0061rams"]),
                    ("name", ["Name", "n\\u0061me", "name\\u0000"]),
                    (&id, [r#""id":null"#, r#""id":{}"#, r#""i":1"#]),
                ];
                let (from, to) = others[dice.up_to(4)];
                text = replaced(&text, from, dice.one(&to));
            }
            6 => text = [b"[".as_slice(), &text, b"]"].concat(),
            7 => {
                text = [
                    &text,
                    dice.one(&["", " ", ",", "\r", "\u{2028}", "//"]).as_bytes(),
                    other.as_bytes(),
                ]
                .concat();
            }
            8 => {
                let odd = dice.one(&[
                    "\r", "\u{feff}", "\0", "\u{c}", "\u{85}", " ", "\\ud800", "\u{2028}",
                ]);
                text.splice(at..at, odd.bytes());
            }
            9 => {
                text.splice(at..at, [0xff, 0xfe]);
            }
            10 => text.truncate(at),
            _ => {
                let within = format!(
                    r#"{{"id":{number},"method":"ping","params":[{}{other}"#,
                    dice.one(&["", "\r"])
                );
                text = [within.as_bytes(), dice.one(&["\r]}", "]}", ""]).as_bytes()].concat();
            }
        }
    }
    text.retain(|byte| *byte != b'\n');
    text.push(b'\n');
    text
}

fn replaced(text: &[u8], from: &str, to: &str) -> Vec<u8> {
    match std::str::from_utf8(text) {
        Ok(text) => text.replacen(from, to, 1).into_bytes(),
        Err(_) => text.to_vec(),
    }
}

type Calls = BTreeMap<(String, String), usize>;

/// The calls in a file, each with the number of times it occurs.
fn calls(file: &Path, read: impl Fn(&Value) -> Option<(Value, Value)>) -> Calls {
    let mut calls = Calls::new();
    for line in std::fs::read_to_string(file).expect("a file").lines() {
        let value: Value = serde_json::from_str(line).expect("JSON");
        if let Some((tool, number)) = read(&value) {
            *calls
                .entry((tool.to_string(), number.to_string()))
                .or_default() += 1;
        }
    }
    calls
}

fn no_call_bypasses_the_guard(server: &[&str]) {
    let folder = Folder::new();
    let (seen, record) = (folder.path().join("seen"), folder.path().join("record"));
    let policy = folder.file(
        "policy.toml",
        "[loops]\ntool_calls = false\nturn_calls = { notice = 9999, refuse = 10000 }\n",
    );
    let utf8 = |path: &Path| path.to_str().expect("UTF-8").to_owned();
    let (seen_at, record_at, policy) = (utf8(&seen), utf8(&record), utf8(&policy));
    let options = ["--record", &record_at, "--policy", &policy];
    let mut client = Client::new(&options, &[server, &[&seen_at]].concat());
    client.send(b"{\"jsonrpc\":\"2.0\",\"id\":\"l\",\"method\":\"tools/list\"}\n");
    client.receive();
    let mut dice = Dice(0x9e37_79b9_7f4a_7c15);
    let lines = (0..4_000).flat_map(|number| line(number, &mut dice));
    let sent = client.send_last(lines.collect());
    let (_, _, said) = client.end();
    sent.join().expect("all is sent");
    let taken = calls(&seen, |call| Some((call[0].clone(), call[1].clone())));
    let judged = calls(&record, |event| {
        let passed = matches!(
            event["verdict"].as_str(),
            Some("valid" | "repaired" | "unjudged")
        );
        passed.then(|| (event["tool"].clone(), event["arguments"]["n"].clone()))
    });
    assert!(taken.len() > 500, "{} {said}", taken.len());
    for (call, times) in &taken {
        let judged = judged.get(call).copied().unwrap_or_default();
        assert!(
            *times <= judged,
            "{call:?} ran {times} times and was judged {judged} times\n{said}"
        );
    }
    assert!(said.contains(" unreadable"), "{said}");
}

#[test]
fn python_takes_nothing_for_a_call_that_was_not_judged() {
    let python = std::env::var("CALLWRIGHT_TEST_PYTHON").unwrap_or_else(|_| "python3".to_owned());
    if !Command::new(&python)
        .arg("--version")
        .output()
        .is_ok_and(|run| run.status.success())
    {
        eprintln!("skipped: no Python");
        return;
    }
    no_call_bypasses_the_guard(&[&python, script("mcp_lenient.py").to_str().expect("UTF-8")]);
}

#[test]
fn node_takes_nothing_for_a_call_that_was_not_judged() {
    if !Command::new("node")
        .arg("--version")
        .output()
        .is_ok_and(|run| run.status.success())
    {
        eprintln!("skipped: no Node");
        return;
    }
    no_call_bypasses_the_guard(&["node", script("mcp_lenient.mjs").to_str().expect("UTF-8")]);
}
