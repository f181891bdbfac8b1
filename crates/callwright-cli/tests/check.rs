//! `callwright check`, as a user runs it.
#![allow(clippy::expect_used, reason = "a test may panic")]

mod support;

use std::fmt::Write as _;
use std::io::{BufRead as _, BufReader};
use std::process::Stdio;

use support::{Folder, check, check_stdin, program, repository, run};

const TOOLS: &str = r#"[{"name": "add", "inputSchema": {
    "type": "object", "properties": {"x": {"type": "integer"}}, "required": ["x"]}}]"#;

/// Checks that a document shows what `check` prints with these arguments, including a refusal.
#[track_caller]
fn shows(document: &str, arguments: &[&str]) {
    let text = std::fs::read_to_string(repository().join(document)).expect("a document");
    let mut check = program();
    check.current_dir(repository());
    let shown = run(check
        .args(["check", "--tools", "examples/tools.json"])
        .args(arguments));
    assert_eq!(shown.code, 1);
    let whole = format!("{}{}", shown.stdout, shown.stderr);
    assert!(
        text.contains(&whole),
        "{document} should show this:\n{whole}"
    );
}

#[test]
fn the_readme_shows_what_is_printed() {
    shows("README.md", &["examples/calls.jsonl"]);
}

#[test]
fn the_guide_shows_a_conversation() {
    let policy = ["--policy", "examples/callwright.toml"];
    shows(
        "docs/check.md",
        &[policy[0], policy[1], "examples/conversation.jsonl"],
    );
}

#[test]
fn the_guide_shows_results() {
    let policy = ["--policy", "examples/callwright.toml"];
    shows(
        "docs/results.md",
        &[policy[0], policy[1], "examples/results.jsonl"],
    );
}

/// The README quotes what the model gets back for its first call.
#[test]
fn the_readme_quotes_the_instruction() {
    let text = std::fs::read_to_string(repository().join("README.md")).expect("a README");
    let begin = text.find("The model sends `").expect("a call") + "The model sends `".len();
    let call = &text[begin..begin + text[begin..].find("`.").expect("its end")];
    let line = format!(r#"{{"tool": "search_orders", "arguments": {call}}}"#);
    let checked = check_stdin(&repository().join("examples/tools.json"), line.as_bytes());
    let feedback = checked.lines()[0]["feedback"]
        .as_str()
        .expect("refused")
        .to_owned();
    assert!(
        text.contains(&format!("| **callwright** | {feedback} |")),
        "{feedback}"
    );
}

/// A conversation is processed in order, although its lines are judged on all cores.
#[test]
fn conversations_are_judged_in_order_across_chunks() {
    let mut calls = String::new();
    for round in 0..4 {
        for session in 0..3_000 {
            let _ = writeln!(
                calls,
                r#"{{"session": {session}, "turn": 0, "round": {round}, "tool": "add", "arguments": {{"x": 1}}, "output": "{session:90}"}}"#
            );
        }
    }
    let shown = check(TOOLS, calls);
    let verdicts: Vec<bool> = shown
        .stdout
        .lines()
        .map(|line| line.contains("\"code\":\"repeated_result\",\"next\""))
        .collect();
    assert_eq!(verdicts.len(), 12_000);
    assert!(verdicts[..9_000].iter().all(|refused| !refused));
    assert!(verdicts[9_000..].iter().all(|refused| *refused));
}

#[test]
fn fields_beside_a_call_are_checked() {
    for (field, wrong) in [
        ("session", "[]"),
        ("turn", "true"),
        ("round", "{}"),
        ("is_error", "1"),
    ] {
        let line = format!(r#"{{"tool": "add", "arguments": {{"x": 1}}, "{field}": {wrong}}}"#);
        let shown = check(TOOLS, line);
        assert_eq!(shown.code, 2);
        assert!(
            shown.stderr.contains(&format!("`{field}` must be")),
            "{}",
            shown.stderr
        );
    }
}

#[test]
fn all_valid_is_zero_and_refused_is_one() {
    let good = r#"{"tool": "add", "arguments": {"x": 1}}"#;
    let mended = r#"{"tool": "add", "arguments": {"x": "1"}}"#;
    let bad = r#"{"tool": "add", "arguments": {"x": "one"}}"#;
    assert_eq!(check(TOOLS, good).code, 0);
    assert_eq!(check(TOOLS, format!("{good}\n{mended}\n")).code, 0);
    assert_eq!(check(TOOLS, format!("{good}\n{bad}\n")).code, 1);
    assert_eq!(check(TOOLS, "").code, 0);
}

#[test]
fn verdicts_keep_the_order_of_the_calls() {
    let mut calls = String::new();
    for n in 0..20_000 {
        let x = if n % 3 == 0 {
            "\"no\"".to_owned()
        } else {
            n.to_string()
        };
        let _ = writeln!(
            calls,
            r#"{{"id": "{n}", "tool": "add", "arguments": "{{\"x\": {}}}"}}"#,
            x.replace('"', "\\\"")
        );
    }
    let run = check(TOOLS, calls);
    let lines = run.lines();
    assert_eq!(lines.len(), 20_000);
    for (n, line) in lines.iter().enumerate() {
        assert_eq!(line["id"], n.to_string());
        assert_eq!(
            line["verdict"],
            if n % 3 == 0 { "refused" } else { "valid" }
        );
    }
}

#[test]
fn standard_input_is_read() {
    let folder = Folder::new();
    let tools = folder.file("tools.json", TOOLS);
    let run = check_stdin(
        &tools,
        br#"{"tool": "add", "arguments": {"x": 12345678901234567890123}}"#,
    );
    assert_eq!(run.code, 0);
    assert!(
        run.stdout
            .contains(r#""arguments":{"x":12345678901234567890123}"#),
        "{}",
        run.stdout
    );
}

#[test]
fn a_line_that_is_not_a_call_is_named_and_the_rest_is_judged() {
    let calls = b"{\"tool\": \"add\", \"arguments\": {\"x\": 1}}\n\
        not json\n\
        \n\
        {\"tool\": \"add\", \"arguments\": {\"x\": 2}}\r\n\
        {\"tool\": \"add\xff\"}\n\
        {\"tool\": \"a\0dd\"}\n\
        [1]\n\
        {\"tool\": \"add\", \"arguments\": {\"x\": 3}}";
    let run = check(TOOLS, calls);
    assert_eq!(run.code, 2);
    assert_eq!(run.lines().len(), 3, "{run:?}");
    for place in [
        "line 2: not JSON",
        "line 5: not UTF-8",
        "line 6: not JSON",
        "line 7: not a call",
    ] {
        assert!(run.stderr.contains(place), "{place} in {}", run.stderr);
    }
    assert!(run.stderr.contains("calls.jsonl"));
}

#[test]
fn many_bad_lines_are_counted_not_listed() {
    let run = check(TOOLS, "x\n".repeat(1_000));
    assert_eq!(run.code, 2);
    assert_eq!(run.stderr.lines().count(), 21, "{}", run.stderr);
    assert!(run.stderr.contains("980 more lines are not calls"));
}

#[test]
fn a_byte_order_mark_is_not_an_error() {
    let tools = format!("\u{feff}{TOOLS}");
    let run = check(
        tools,
        "\u{feff}{\"tool\": \"add\", \"arguments\": {\"x\": 1}}",
    );
    assert_eq!(run.code, 0, "{run:?}");
}

#[test]
fn bad_tool_files_say_what_to_do() {
    let call = r#"{"tool": "add", "arguments": {}}"#;
    for (tools, part) in [
        (&b"{"[..], "not JSON"),
        (
            b"[{\"inputSchema\": {}}]",
            "tools[0]: the tool has no `name`",
        ),
        (
            b"[{\"name\": \"a\"}, {\"name\": \"a\"}]",
            "two tools are named \"a\"",
        ),
        (b"[7]", "tools[0]: expected a tool"),
        (
            b"[{\"name\": \"\xff\"}]",
            "not UTF-8: invalid byte at offset 11",
        ),
        (b"[{\"name\": \"a\0\"}]", "not JSON"),
    ] {
        let run = check(tools, call);
        assert_eq!(run.code, 2, "{run:?}");
        assert_eq!(run.stdout, "");
        assert!(run.stderr.contains(part), "{part} in {}", run.stderr);
        assert!(run.stderr.contains("tools.json"), "{}", run.stderr);
    }
}

#[test]
fn odd_schemas_do_not_stop_the_others() {
    let tools = r##"[
        {"name": "anything", "inputSchema": true},
        {"name": "list", "inputSchema": []},
        {"name": "dangling", "inputSchema": {"$ref": "#/$defs/none"}},
        {"name": "remote", "inputSchema": {"$ref": "https://example.com/schema.json"}},
        {"name": "add", "inputSchema": {"required": ["x"]}}]"##;
    let calls = ["anything", "list", "dangling", "remote", "add"]
        .map(|tool| format!(r#"{{"tool": "{tool}", "arguments": {{"y": 1}}}}"#))
        .join("\n");
    let run = check(tools, calls);
    assert_eq!(run.code, 1);
    let verdicts: Vec<_> = run
        .lines()
        .iter()
        .map(|line| line["verdict"].clone())
        .collect();
    assert_eq!(
        verdicts,
        ["valid", "unjudged", "unjudged", "unjudged", "refused"]
    );
    for tool in ["list", "dangling", "remote"] {
        let warning = format!("warning: tool \"{tool}\": its calls pass unvalidated: ");
        assert!(run.stderr.contains(&warning), "{}", run.stderr);
    }
}

#[test]
fn a_schema_of_forty_megabytes_is_quarantined() {
    let filler = "x".repeat(40 * 1024 * 1024);
    let tools = format!(r#"[{{"name": "add", "inputSchema": {{"description": "{filler}"}}}}]"#);
    let run = check(tools, r#"{"tool": "add", "arguments": {}}"#);
    assert_eq!(run.code, 1, "a call that could not be judged is a finding");
    assert_eq!(run.lines()[0]["verdict"], "unjudged");
    assert!(
        run.stderr.contains("more than the limit of 4 MB"),
        "{}",
        run.stderr
    );
}

#[test]
fn paths_that_cannot_be_read_are_named() {
    let folder = Folder::new();
    let tools = folder.file("tools.json", TOOLS);
    let missing = folder.path().join("missing.jsonl");
    for (tools, calls, part) in [
        (
            tools.as_path(),
            missing.as_path(),
            "missing.jsonl; check the path and its permissions: No such file",
        ),
        (
            tools.as_path(),
            folder.path(),
            "is a directory; give a file",
        ),
        (
            folder.path(),
            missing.as_path(),
            "is a directory; give a file",
        ),
        (
            missing.as_path(),
            missing.as_path(),
            "cannot open the tool file",
        ),
    ] {
        let run = run(program().args(["check", "--tools"]).args([tools, calls]));
        assert_eq!(run.code, 2);
        assert!(run.stderr.contains(part), "{part} in {}", run.stderr);
    }
}

#[test]
fn usage_errors_are_two() {
    for arguments in [
        &["check"][..],
        &["check", "--tools", "x", "--style", "loud"],
        &["nonsense"],
    ] {
        assert_eq!(run(program().args(arguments)).code, 2);
    }
}

#[test]
fn a_closed_pipe_ends_quietly() {
    let folder = Folder::new();
    let tools = folder.file("tools.json", TOOLS);
    let line = r#"{"tool": "add", "arguments": {"x": 1}}"#;
    let calls = folder.file("calls.jsonl", format!("{line}\n").repeat(200_000));
    let mut child = program()
        .args(["check", "--format", "json", "--tools"])
        .args([tools, calls])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program runs");
    let mut first = String::new();
    let mut stdout = BufReader::new(child.stdout.take().expect("piped"));
    stdout.read_line(&mut first).expect("a line");
    drop(stdout);
    let output = child.wait_with_output().expect("it ends");
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
    assert!(first.contains("\"verdict\":\"valid\""));
}

#[test]
fn hostile_text_cannot_move_the_cursor() {
    let folder = Folder::new();
    let tools = folder.file("tools.json", TOOLS);
    let calls = folder.file(
        "calls.jsonl",
        r#"{"tool": "\u001b[2J\u0007", "arguments": {}}
{"tool": "add", "arguments": {"\u001b[31m\n": 1, "x": "\u001b]0;title\u0007"}}
{"tool": "add", "arguments": "{\u001b[2J"}"#,
    );
    for style in ["instruction", "numbered", "json", "tool_error"] {
        let run = run(program()
            .args(["check", "--style", style, "--tools"])
            .args([&tools, &calls]));
        assert!(!run.stdout.contains(['\u{1b}', '\u{7}']), "{}", run.stdout);
    }
}

#[test]
fn explain_shows_every_trial() {
    let folder = Folder::new();
    let tools = folder.file("tools.json", TOOLS);
    let calls = folder.file(
        "calls.jsonl",
        r#"{"tool": "add", "arguments": "{'x': '5'}"}"#,
    );
    let run = run(program()
        .args(["check", "--explain", "--tools"])
        .args([tools, calls]));
    assert_eq!(run.code, 0, "{run:?}");
    for part in [
        "tried single_quotes (lossless, cost 0)",
        "tried number_from_string (lossless, cost 1): x was \"5\"; sent on as 5: helps",
    ] {
        assert!(run.stdout.contains(part), "{part} in {}", run.stdout);
    }
}

/// In quotes, `null` would look like the text "null".
#[test]
fn edits_of_a_text_say_how_it_was_read() {
    let folder = Folder::new();
    let tools = folder.file(
        "tools.json",
        r#"[{"name": "find", "inputSchema": {"type": "object", "properties": {"where": {"type": ["string", "null"]}}}}]"#,
    );
    for (arguments, edit) in [
        (r#"{"where": None}"#, "where: None was read as null\n"),
        (
            "{where: null}",
            "unquoted_key: where was read as \"where\"\n",
        ),
        (r#"{"where": "C:\d"}"#, "where: \\ was read as \\\\\n"),
        (
            "{\"where\": \"a\nb\"}",
            "where: a raw \\n was read as its escape\n",
        ),
    ] {
        let call = serde_json::json!({"tool": "find", "arguments": arguments});
        let calls = folder.file("calls.jsonl", call.to_string());
        let run = run(program().args(["check", "--tools"]).args([&tools, &calls]));
        assert!(run.stdout.contains(edit), "{edit} in {}", run.stdout);
    }
}

#[test]
fn the_grade_of_repair_is_respected() {
    let call = r#"{"tool": "add", "arguments": {"x": "5"}}"#;
    let folder = Folder::new();
    let tools = folder.file("tools.json", TOOLS);
    let calls = folder.file("calls.jsonl", call);
    for (grade, code) in [("none", 1), ("lossless", 0), ("lossy", 0), ("guess", 0)] {
        let run = run(program()
            .args(["check", "--repair", grade, "--tools"])
            .args([&tools, &calls]));
        assert_eq!(run.code, code, "{grade}");
    }
}

/// The same truncated call in the complete response of each provider.
const ANSWERS: [&str; 6] = [
    r#"{"id": "c", "object": "chat.completion", "choices": [{"index": 0, "message": {"role": "assistant", "content": null,
        "tool_calls": [{"id": "a", "type": "function", "function": {"name": "add", "arguments": "{\"x\": 1}"}}]},
        "finish_reason": "length"}]}"#,
    r#"{"id": "m", "type": "message", "role": "assistant", "content": [{"type": "text", "text": "Adding."},
        {"type": "tool_use", "id": "a", "name": "add", "input": {"x": 1}}], "stop_reason": "max_tokens"}"#,
    r#"{"id": "r", "object": "response", "status": "incomplete", "output": [
        {"type": "function_call", "call_id": "a", "name": "add", "arguments": "{\"x\": 1}"}]}"#,
    r#"{"candidates": [{"content": {"role": "model", "parts": [
        {"functionCall": {"id": "a", "name": "add", "args": {"x": 1}}}]}, "finishReason": "MAX_TOKENS"}]}"#,
    r#"{"content": {"role": "model", "parts": [
        {"functionCall": {"id": "a", "name": "add", "args": {"x": 1}}}]}, "finishReason": "MAX_TOKENS"}"#,
    r#"{"model": "local", "message": {"role": "assistant", "content": "", "tool_calls": [
        {"id": "a", "function": {"name": "add", "arguments": {"x": 1}}}]}, "done": true, "done_reason": "length"}"#,
];

#[test]
fn whole_answers_are_read_with_their_finish_reason() {
    for answer in ANSWERS {
        let run = check(TOOLS, answer);
        assert_eq!(run.code, 1, "{run:?}");
        let lines = run.lines();
        assert_eq!(lines.len(), 1, "{run:?}");
        assert_eq!(lines[0]["id"], "a");
        assert_eq!(lines[0]["failure"]["code"], "truncated_call", "{run:?}");
    }
}

#[test]
fn arrays_and_pretty_printed_files_are_read_element_by_element() {
    let call = |x: u32| format!(r#"{{"tool": "add", "arguments": {{"x": {x}}}, "id": {x}}}"#);
    let calls: Vec<serde_json::Value> = (0..5_000)
        .map(|x| serde_json::from_str(&call(x)).expect("JSON"))
        .collect();
    let pretty: String = calls.iter().map(|it| format!("{it:#}\n")).collect();
    let layouts = [
        format!("[{}]", (0..5_000).map(call).collect::<Vec<_>>().join(",")),
        format!("{:#}", serde_json::Value::Array(calls)),
        pretty,
        // One per line.
        (0..2_500).fold(String::new(), |lines, at| {
            lines + &format!("[{}, {}]\n", call(2 * at), call(2 * at + 1))
        }),
    ];
    for layout in layouts {
        let run = check(TOOLS, layout);
        assert_eq!(run.code, 0, "{}", run.stderr);
        let ids: Vec<_> = run.lines().iter().map(|line| line["id"].clone()).collect();
        assert_eq!(
            ids,
            (0..5_000).map(serde_json::Value::from).collect::<Vec<_>>()
        );
    }
}

#[test]
fn the_calls_of_a_conversation_are_read() {
    let messages = r#"[
        {"role": "user", "content": "Add one."},
        {"role": "assistant", "content": null, "tool_calls": [
            {"id": "a", "type": "function", "function": {"name": "add", "arguments": "{\"x\": 1}"}},
            {"id": "b", "type": "function", "function": {"name": "add", "arguments": "{}"}}]},
        {"role": "tool", "tool_call_id": "a", "content": "1"}]"#;
    let lines = check(TOOLS, messages).lines();
    let verdicts = lines.iter().map(|line| (&line["id"], &line["verdict"]));
    let verdicts: Vec<String> = verdicts
        .map(|(id, verdict)| format!("{id} {verdict}"))
        .collect();
    assert_eq!(verdicts, [r#""a" "valid""#, r#""b" "refused""#]);
}

#[test]
fn an_answer_without_a_call_is_not_a_finding() {
    let answer = r#"{"id": "m", "type": "message", "role": "assistant", "content": [{"type": "text", "text": "Hello."}],
        "stop_reason": "end_turn"}"#;
    let run = check(TOOLS, answer);
    assert_eq!(run.code, 0, "{run:?}");
    assert_eq!(
        run.stdout,
        "{\"id\":\"m\",\"verdict\":\"no_call\",\"reason\":\"only_text\"}\n"
    );
}

#[test]
fn an_unreadable_call_in_an_answer_is_named_and_the_rest_is_judged() {
    let answer = r#"{"type": "message", "role": "assistant", "stop_reason": "tool_use", "content": [
        {"type": "tool_use", "id": "a", "input": {"x": 1}},
        {"type": "tool_use", "id": "b", "name": "add", "input": {"x": 1}}]}"#;
    let run = check(TOOLS, answer);
    assert_eq!(run.code, 2, "{run:?}");
    assert_eq!(run.lines()[0]["id"], "b");
    assert!(
        run.stderr.contains("line 1: not a call: it has no `name`"),
        "{}",
        run.stderr
    );
}

#[test]
fn every_refused_call_is_explained() {
    let folder = Folder::new();
    let tools = folder.file("tools.json", TOOLS);
    let calls = [
        r#"{"tool": "add", "arguments": {"x": "one"}}"#,
        r#"{"tool": "add", "arguments": {}}"#,
        r#"{"tool": "add", "arguments": "{\"x\": ", "finish_reason": "length"}"#,
        r#"{"tool": "subtract", "arguments": {"x": 1}}"#,
        r#"{"tool": "add", "arguments": "x is one"}"#,
    ];
    let calls = folder.file("calls.jsonl", calls.join("\n"));
    let explained = run(program()
        .args(["check", "--explain", "--tools"])
        .args([tools, calls]));
    let mut lines = explained.stdout.lines().peekable();
    let mut refused = 0;
    while let Some(line) = lines.next() {
        assert!(line.contains("refused"), "{line}");
        let mut told = false;
        while let Some(line) = lines.next_if(|line| line.starts_with("        ")) {
            told |= line.contains("tried");
        }
        assert!(told, "nothing is said about repair after {line}");
        refused += 1;
    }
    assert_eq!(refused, 5, "{}", explained.stdout);
}
