//! Runs `corpus/policy`: a policy file in, settings, verdicts or mistakes out. And holds `docs/policy.md` to what is
//! read.
#![allow(clippy::expect_used, reason = "a test may panic")]

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use callwright::feedback::Feedback;
use callwright::policy::known_keys;
use callwright::tool::read_tools;
use callwright::{Gate, Opened, Policy, ToolSpec, Verdict, wire};
use proptest::prelude::*;
use serde_json::{Value, json};

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// `actual` agrees with everything that `expected` says; `null` means absent or null.
fn agrees(expected: &Value, actual: &Value, place: &str) -> Result<(), String> {
    match (expected, actual) {
        (Value::Object(wanted), Value::Object(_)) => wanted.iter().try_for_each(|(key, wanted)| {
            let got = actual.get(key).unwrap_or(&Value::Null);
            agrees(wanted, got, &format!("{place}/{key}"))
        }),
        _ if expected == actual => Ok(()),
        _ => Err(format!("at {place}: expected {expected}\n    got {actual}")),
    }
}

/// A text, or the lines of one.
fn text(lines: &Value) -> String {
    match lines {
        Value::Array(lines) => {
            let lines: Vec<&str> = lines.iter().filter_map(Value::as_str).collect();
            lines.join("\n")
        }
        text => text.as_str().expect("a text or lines").to_owned(),
    }
}

fn check(file: &Value, case: &Value) -> Result<(), String> {
    const KNOWN: [&str; 7] = [
        "name",
        "policy",
        "error",
        "settings",
        "admission",
        "warnings",
        "calls",
    ];
    let keys = case.as_object().expect("a case").keys();
    if let Some(key) = keys.clone().find(|key| !KNOWN.contains(&key.as_str())) {
        return Err(format!("unknown key {key}"));
    }
    if keys.len() < 3 {
        return Err("expects nothing".to_owned());
    }
    let policy = match (Policy::from_toml(&text(&case["policy"])), &case["error"]) {
        (Ok(policy), Value::Null) => policy,
        (Ok(_), error) => return Err(format!("read, but expected {error}")),
        (Err(error), Value::Null) => return Err(error.to_string()),
        (Err(error), wanted) => {
            // Lines are the whole message.
            let (error, part) = (error.to_string(), text(wanted));
            let fits = if wanted.is_array() {
                error == part
            } else {
                error.contains(&part)
            };
            return fits
                .then_some(())
                .ok_or_else(|| format!("expected\n{part}\n    got\n{error}"));
        }
    };
    let specs = match file.get("tools") {
        Some(tools) => read_tools(&tools.to_string()).map_err(|error| error.to_string())?,
        None => Vec::new(),
    };
    for (name, wanted) in case["settings"].as_object().into_iter().flatten() {
        let spec = specs.iter().find(|spec| spec.name == *name);
        let settings = policy.settings(spec.ok_or("no such tool")?);
        agrees(wanted, &json!(settings), &format!("/{name}"))?;
    }
    if let Some(wanted) = case.get("admission") {
        agrees(wanted, &json!(policy.admission), "")?;
    }
    if let Some(wanted) = case.get("warnings") {
        let warnings = policy.warnings(specs.iter().map(|spec| spec.name.as_str()));
        agrees(wanted, &json!(warnings), "")?;
    }
    converse(&case["calls"], specs, policy)
}

fn converse(calls: &Value, specs: Vec<ToolSpec>, policy: Policy) -> Result<(), String> {
    let gate = Gate::builder().tools(specs).policy(policy).build();
    let gate = gate.map_err(|error| error.to_string())?;
    for (at, step) in calls.as_array().into_iter().flatten().enumerate() {
        let mut line = step["call"].clone();
        line["session"] = json!("s");
        let line = line.to_string();
        let recorded = wire::read_recorded(&line).map_err(|error| error.to_string())?;
        let place = recorded.place().ok_or("no session")?;
        let settled = match (gate.open(&recorded.call, place), recorded.ran()) {
            (Opened::Refused(refused), _) => Verdict::Refused(refused).into(),
            (Opened::Admitted(ticket), Some(ran)) => gate.close(ticket, ran),
            (Opened::Admitted(ticket), None) => ticket.into(),
        };
        let verdict = settled
            .line(&recorded.call, &Feedback::default())
            .to_string();
        let verdict = serde_json::from_str(&verdict).expect("JSON");
        agrees(&step["expect"], &verdict, "").map_err(|why| format!("call {at}: {why}"))?;
    }
    Ok(())
}

#[test]
fn every_case_holds() {
    let folder = repository().join("corpus/policy");
    let (mut count, mut failures) = (0, Vec::new());
    for entry in fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("readable").path();
        let file: Value = serde_json::from_str(&fs::read_to_string(&path).expect("readable"))
            .unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        for case in file["cases"].as_array().expect("`cases` is a list") {
            count += 1;
            if let Err(why) = check(&file, case) {
                failures.push(format!("{}\n    {why}", case["name"]));
            }
        }
    }
    assert!(
        failures.is_empty(),
        "{} fail:\n{}",
        failures.len(),
        failures.join("\n")
    );
    assert!(count >= 130, "the cases have shrunk to {count}");
}

/// The rows of the tables in the documentation: in which table of the file, key, and what stands beside it.
fn documented() -> Vec<(&'static str, String, String)> {
    let text = fs::read_to_string(repository().join("docs/policy.md")).expect("documentation");
    let mut section = None;
    let mut rows = Vec::new();
    for line in text.lines() {
        match line {
            "## At the top" => section = Some(""),
            "## In `[loops]`" => section = Some("loops"),
            "## In `[tool.\"name\"]`" => section = Some("tool"),
            _ => {}
        }
        let mut cells = line.split('|').skip(1).map(str::trim);
        if let (Some(section), Some(key), Some(value)) = (section, cells.next(), cells.next())
            && let Some(key) = key.strip_prefix('`')
        {
            let bare = |cell: &str| cell.trim_matches('`').to_owned();
            rows.push((section, bare(key), bare(value)));
        }
    }
    rows
}

#[test]
fn every_key_is_documented_and_every_documented_key_is_known() {
    let documented: BTreeSet<(&str, String)> = documented()
        .into_iter()
        .map(|(table, key, _)| (table, key))
        .collect();
    let known: BTreeSet<(&str, String)> = known_keys()
        .map(|(table, key)| (table, key.to_owned()))
        .collect();
    assert_eq!(documented, known);
}

#[test]
fn documented_defaults_are_the_defaults() {
    for (table, key, value) in documented() {
        let header = match table {
            "" => String::new(),
            "tool" => "[tool.x]\n".to_owned(),
            table => format!("[{table}]\n"),
        };
        if value.is_empty() {
            continue;
        }
        let text = format!("{header}{key} = {value}");
        let read = Policy::from_toml(&text).unwrap_or_else(|error| panic!("{error}"));
        // A table for a tool is never what would hold without it.
        assert_eq!(read == Policy::default(), table != "tool", "{text}");
    }
}

#[test]
fn the_documented_example_is_read() {
    let text = fs::read_to_string(repository().join("docs/policy.md")).expect("documentation");
    let (_, example) = text.split_once("```toml\n").expect("an example");
    let (example, _) = example.split_once("```").expect("its end");
    let policy = Policy::from_toml(example).unwrap_or_else(|error| panic!("{error}"));
    let settings = policy.settings(&ToolSpec::without_schema("get_report"));
    let expected = json!({
        "effect": "read", "repair": "guess", "validate": "strict", "budget": 20, "poller": true,
        "calls": {"notice": 20, "refuse": 40}, "volatile": ["/meta/trace", "/request_id"],
    });
    assert_eq!(json!(settings), expected);
}

#[test]
fn sizes_are_bounded() {
    let too_long = "#".repeat(Policy::LONGEST_FILE + 1);
    let error = Policy::from_toml(&too_long).expect_err("too long");
    assert!(error.to_string().contains("1048576 bytes"), "{error}");
    let tools: String = (0..1_001).map(|n| format!("[tool.'a{n}*']\n")).collect();
    let error = Policy::from_toml(&tools).expect_err("too many");
    assert!(error.to_string().contains("1001 patterns"), "{error}");
    let list = format!("[loops]\npollers = [{}]", "'a',".repeat(1_001));
    let error = Policy::from_toml(&list).expect_err("too many");
    assert!(
        error.to_string().contains("`pollers` lists 1001"),
        "{error}"
    );
    for deep in [
        format!("{}b = 1", "a.".repeat(400_000)),
        format!("[{}b]", "tool.".repeat(100_000)),
        format!("tool = {}", "{a = ".repeat(200_000)),
        format!("tool = {}", "[".repeat(900_000)),
    ] {
        assert!(Policy::from_toml(&deep).is_err());
    }
}

proptest! {
    /// Whatever stands in a file, it is read or told; every mistake has a place in it.
    #[test]
    fn nothing_panics(pieces in prop::collection::vec(piece(), 0..12)) {
        let text = pieces.concat();
        if let Err(error) = Policy::from_toml(&text) {
            let told = error.to_string();
            prop_assert!(told.starts_with("line "), "{}", told);
            let line = told["line ".len()..].split(',').next().and_then(|line| line.parse().ok());
            let lines = text.matches('\n').count() + 1;
            prop_assert!(line.is_some_and(|line: usize| (1..=lines).contains(&line)), "{}", told);
        }
    }
}

fn piece() -> impl Strategy<Value = String> {
    prop_oneof![
        4 => prop::sample::select(&[
            "budget", "loops", "[loops]\n", "[tool.\"*\"]\n", "[tool.a]\n", "repair", "volatile", "calls", "cycle",
            "{ notice = ", "refuse = ", " = ", "false", "3", "-1", "\"guess\"", "'/a~'", "[", "]", "}", ", ", "\n",
            "\r\n", ".", "\"", "'''", "\u{feff}", "é", "日本🦀", "\t", "1979-05-27", "0x", "nan", "#",
        ][..]).prop_map(str::to_owned),
        1 => ".{0,20}",
        1 => any::<u64>().prop_map(|number| number.to_string()),
    ]
}
