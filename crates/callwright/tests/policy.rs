//! Runs `corpus/policy`: takes a policy file, compares settings, verdicts or mistakes. Also checks that
//! `docs/policy.md` matches the keys that are read.
#![allow(clippy::expect_used, reason = "a test may panic")]

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use callwright::admit::Place;
use callwright::check::Ran;
use callwright::feedback::Feedback;
use callwright::policy::known_keys;
use callwright::wire::read_tools;
use callwright::{Call, Gate, Opened, Policy, ToolSpec, Verdict, wire};
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
            // An array of lines is the whole message.
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
        if let Some(notes) = step.get("notes") {
            let told = settled.result.as_ref().map(|checked| &checked.notes);
            agrees(notes, &json!(told), "").map_err(|why| format!("notes {at}: {why}"))?;
        }
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
    assert!(count >= 220, "the cases have shrunk to {count}");
}

/// The rows of the tables in the documentation: the table of the policy file, the key, and the value next to it.
fn documented() -> Vec<(&'static str, String, String)> {
    let text = fs::read_to_string(repository().join("docs/policy.md")).expect("documentation");
    let mut section = None;
    let mut rows = Vec::new();
    for line in text.lines() {
        match line {
            "## At the top" => section = Some(""),
            "## In `[loops]`" => section = Some("loops"),
            "## In `[tool.\"name\"]`" => section = Some("tool"),
            "## In `output`" => section = Some("output"),
            "## In `advice`" => section = None,
            "## In `[[check]]`" => section = Some("check"),
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
            // The value there is an example that needs the other keys.
            "check" => continue,
            "tool" => "[tool.x]\n".to_owned(),
            table => format!("[{table}]\n"),
        };
        if value.is_empty() {
            continue;
        }
        let text = format!("{header}{key} = {value}");
        let read = Policy::from_toml(&text).unwrap_or_else(|error| panic!("{error}"));
        let settings = |policy: &Policy| policy.settings(&ToolSpec::without_schema("x"));
        let default = Policy::default();
        let same = settings(&read) == settings(&default) && read.admission == default.admission;
        // The settings in a tool's table always differ from the defaults.
        assert_eq!(same, table != "tool", "{text}");
    }
}

#[test]
fn documented_keys_of_a_check_make_one() {
    let rows = documented();
    let keys = rows.iter().filter(|row| row.0 == "check");
    let lines: String = keys
        .map(|(_, key, value)| format!("{key} = {value}\n"))
        .collect();
    let policy = Policy::from_toml(&format!("[[check]]\n{lines}"));
    let policy = policy.unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(policy.output.checks.len(), 1);
    assert_eq!(policy.output.checks[0].name(), "empty_first_page");
}

#[test]
fn the_documented_example_is_read() {
    let text = fs::read_to_string(repository().join("docs/policy.md")).expect("documentation");
    let (_, example) = text.split_once("```toml\n").expect("an example");
    let (example, _) = example.split_once("```").expect("its end");
    let policy = Policy::from_toml(example).unwrap_or_else(|error| panic!("{error}"));
    let settings = policy.settings(&ToolSpec::without_schema("get_report"));
    let expected = json!({
        "effect": "read", "idempotent": false, "repair": "guess", "validate": "strict", "budget": 20, "poller": true,
        "calls": {"notice": 20, "refuse": 40}, "volatile": ["/meta/trace", "/request_id"],
        "output": "strict", "detect": ["error_in_disguise", "more_pages"], "checks": ["empty_first_page"],
        "max_bytes": 262_144, "transient": [], "advice": {"timeout": ["Ask for one month at a time."]}, "timeout": 120.0,
        "retries": null, "concurrency": null,
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

fn one_check(when: &str) -> Result<Policy, String> {
    let when = json!(when);
    let text =
        format!("[[check]]\nwhen = {when}\nclass = 'semantic_garbage'\ncode = 'a'\ndetail = 'A.'");
    Policy::from_toml(&text).map_err(|error| error.to_string())
}

/// Whether a check objects to a result, and what is reported to the operator.
fn asked(when: &str, output: &str) -> (bool, Vec<String>) {
    let policy = one_check(when).unwrap_or_else(|error| panic!("{error}"));
    let gate = Gate::builder().tool(ToolSpec::without_schema("t"));
    let gate = gate.policy(policy).build().expect("one tool");
    let call = Call::from_text("t", "{}");
    let Opened::Admitted(ticket) = gate.open(&call, Place::new("s", 1, 1)) else {
        panic!("a first call runs");
    };
    let settled = gate.close(ticket, Ran::ok(output));
    let result = settled.result.expect("a result");
    let held = result
        .failure
        .is_some_and(|failure| failure.code_name() == "a");
    (held, result.notes)
}

#[test]
fn hostile_conditions_are_refused() {
    let nested = |open: &str, close: &str, times: usize| {
        format!("{}true{}", open.repeat(times), close.repeat(times))
    };
    for when in [
        nested("(", ")", 2_000),
        nested("(", ")", 65),
        "(".repeat(64),
        "[".repeat(64),
        nested("[", "]", 64),
        nested("{1: ", "}", 64),
        nested("size(", ")", 64),
        nested("[1].all(a, ", ")", 32),
        "true ? true : ".repeat(200) + "true",
        format!("output{}", ".a".repeat(2_000)),
        format!("output{} == 1", "[0]".repeat(63)),
        format!("1{} == 1", "+1".repeat(2_000)),
        format!("1{}", "<1".repeat(2_000)),
        "\u{1f980}".repeat(1_000),
        "'\\x".repeat(1_000),
    ] {
        let error = one_check(&when).expect_err(&when);
        assert!(error.starts_with("line 2, column "), "{error}");
    }
    // These are accepted, since they are not as deep as they look.
    for when in [
        nested("(", ")", 64),
        nested("!!", "", 2_000),
        "true && ".repeat(500) + "true",
    ] {
        one_check(&when).unwrap_or_else(|error| panic!("{error}"));
    }
}

#[test]
fn conditions_as_deep_as_they_may_be_are_evaluated() {
    let times = (1..64).rev().find_map(|times| {
        let when = format!("{}true{}", "[1].all(a, ".repeat(times), ")".repeat(times));
        one_check(&when).ok().map(|_| when)
    });
    assert_eq!(asked(&times.expect("some depth"), "1"), (true, vec![]));
    let sums = (1..64).rev().find_map(|times| {
        let when = format!("1{} > 1", " + 1".repeat(times));
        one_check(&when).ok().map(|_| when)
    });
    assert_eq!(asked(&sums.expect("some depth"), "1"), (true, vec![]));
}

#[test]
fn iteration_in_conditions_is_bounded() {
    let list = |items: usize| format!("[{}0]", "0,".repeat(items - 1));
    let through = "output.all(x, x == 0)";
    assert_eq!(asked(through, &list(400_000)), (true, vec![]));
    let (held, notes) = asked(through, &list(600_000));
    assert!(!held);
    assert_eq!(
        notes,
        ["check \"a\": `output` is longer than 1048576 bytes"]
    );
    let expected = "check \"a\": it iterates over more than 1000000 items; use fewer nested lists";
    for when in [
        "output.all(x, output.all(y, x == y))",
        "output.all(x, x in output)",
        "output.map(x, output.filter(y, y != x)).size() == 1",
        "output.all(x, output.all(y, output.all(z, true))) || true",
    ] {
        let (held, notes) = asked(when, &list(5_000));
        assert!(!held, "{when}");
        assert_eq!(notes, [expected], "{when}");
    }
    // A map lookup is immediate.
    let members: Vec<String> = (0..2_000).map(|n| format!("\"k{n}\": 0")).collect();
    let map = format!("{{{}}}", members.join(","));
    assert_eq!(asked("output.all(k, k in output)", &map), (true, vec![]));
}

#[test]
fn copying_and_comparing_in_conditions_is_bounded() {
    let text = "x".repeat(600_000);
    let numbers = format!("[{}0]", "0,".repeat(1_999));
    let output = format!(r#"{{"text": "{text}", "list": {numbers}}}"#);
    for when in [
        "size(output.list.map(n, output.text + string(n))) > 0",
        "size(output.list.map(n, [output.text, output.text])) > 0",
        "size(output.list.map(n, {'a': output})) > 0",
        "output.list.all(n, output.text + 'a' != output.text)",
        "output.list.all(n, output.text == output.text)",
        "output.list.exists(n, output.text.contains('y'))",
        "output.list.exists(n, output.text.matches('y+$'))",
        "output.list.all(n, [output] == [output])",
    ] {
        let (held, notes) = asked(when, &output);
        assert!(!held, "{when}");
        assert!(
            notes[0].contains("compares or copies too much"),
            "{when}: {notes:?}"
        );
    }
    assert_eq!(
        asked(
            "output.text.endsWith('x') && size(output.text + 'y') > 1",
            &output
        ),
        (true, vec![])
    );
    let records: Vec<String> = (0..300)
        .map(|n| format!(r#"{{"id": {n}, "name": "a record"}}"#))
        .collect();
    let records = format!("[{}]", records.join(","));
    assert_eq!(
        asked(
            "output.filter(r, r.name == 'a record').size() == 300",
            &records
        ),
        (true, vec![])
    );
    let few = "output.all(a, output.exists(b, a.id == b.id))";
    assert_eq!(asked(few, &records), (true, vec![]));
}

#[test]
fn checks_are_counted() {
    let check = "[[check]]\nwhen = 'true'\nclass = 'partial_data'\ncode = 'a'\ndetail = 'A.'\n";
    let error = Policy::from_toml(&check.repeat(1_001)).expect_err("too many");
    assert!(
        error.to_string().contains("more than 1000 checks"),
        "{error}"
    );
}

proptest! {
    /// Any file is read or refused; every mistake has a position in it.
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

    /// Any condition is compiled or refused; a compiled one gives an answer or says why not.
    #[test]
    fn no_condition_panics(parts in prop::collection::vec(part(), 0..14)) {
        let when = parts.concat();
        match one_check(&when) {
            Ok(_) => {
                let (_, notes) = asked(&when, r#"{"a": [1, {"b": "x"}], "b": true, "c": 1.5}"#);
                prop_assert!(notes.iter().all(|note| !note.contains("panicked")), "{when}: {notes:?}");
            }
            Err(told) => prop_assert!(told.starts_with("line 2, column "), "{told}"),
        }
    }
}

/// Parts of conditions, many of which fit together.
fn part() -> impl Strategy<Value = String> {
    prop_oneof![
        6 => prop::sample::select(&[
            "output", "arguments", ".a", ".b", "[0]", "[1]", ".c", "1", "1u", "-1", "1.5", "'x'", "b'x'", "true", "null",
            " == ", " && ", " || ", " + ", " < ", " in ", " ? ", " : ", "!", "(", ")", "[", "]", "{", "}", ", ", "size(",
            "has(output.a)", ".all(x, ", ".map(x, x)", ".exists(x, x == 1)", ".matches('x')", "x", ".?a", ".orValue(1)",
            "type(", "int(", "string(", "[?0]", "optional.of(1)", ".size()", "/ 0", "% 0", "9223372036854775807",
        ][..]).prop_map(str::to_owned),
        1 => ".{0,5}",
    ]
}

fn piece() -> impl Strategy<Value = String> {
    prop_oneof![
        4 => prop::sample::select(&[
            "budget", "loops", "[loops]\n", "[tool.\"*\"]\n", "[tool.a]\n", "repair", "volatile", "calls", "cycle",
            "{ notice = ", "refuse = ", " = ", "false", "3", "-1", "\"guess\"", "'/a~'", "[", "]", "}", ", ", "\n",
            "[[check]]\n", "[output]\n", "[advice]\n", "when = ", "'output.a == 1'", "'(a'", "timeout", "detect", "\"all\"",
            "\r\n", ".", "\"", "'''", "\u{feff}", "é", "日本🦀", "\t", "1979-05-27", "0x", "nan", "#",
        ][..]).prop_map(str::to_owned),
        1 => ".{0,20}",
        1 => any::<u64>().prop_map(|number| number.to_string()),
    ]
}

#[test]
fn reading_stops_after_too_many_mistakes() {
    let keys =
        |count: usize| -> String { (0..count).map(|key| format!("kex{key} = 1\n")).collect() };
    let subjects = format!("[advice]\n{}", keys(50_000));
    let tools: String = (0..20_000)
        .map(|tool| format!("tool.t{tool}.x = 1\n"))
        .collect();
    for text in [keys(50_000), subjects, tools] {
        let error = Policy::from_toml(&text)
            .expect_err("nothing is known")
            .to_string();
        assert!(error.ends_with("\n990 more mistakes or more"), "{error}");
    }
    let error = Policy::from_toml(&keys(500))
        .expect_err("nothing is known")
        .to_string();
    assert!(error.ends_with("\n490 more mistakes"), "{error}");
}
