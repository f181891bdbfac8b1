//! Runs `corpus/`, the specification as cases that any language can run. `corpus/README.md` describes the format of a
//! case.
#![allow(clippy::expect_used, reason = "a test may panic")]

mod cases;

use std::collections::BTreeSet;
use std::sync::Arc;

use callwright::admit::ledger::{Ask, LedgerAway, Noted, Report, Ruling};
use callwright::admit::{AdmissionPolicy, Ledger, Reply, Session};
use callwright::call::{Arguments, Completeness};
use callwright::failure::{Cause, TABLE};
use callwright::feedback::Feedback;
use callwright::repair::{Grade, RepairPolicy};
use callwright::tool::{Effect, Tool};
use callwright::wire::read_tools;
use callwright::wire::{self, HistoryEntry, Provider, RecordedLine, WholeAnswer};
use callwright::{Gate, Opened, Verdict, json};
use cases::{agrees, files, only_known_keys, run, style};
use serde_json::{Value, json};

fn gate(file: &Value, case: &Value) -> Gate {
    let tools = case.get("tools").unwrap_or(&file["tools"]);
    let mut specs = read_tools(&tools.to_string()).expect("tools");
    if let Some(effect) = case["effect"].as_str() {
        specs = specs
            .into_iter()
            .map(|spec| spec.with_effect(effect_named(effect)))
            .collect();
    }
    let builder = Gate::builder().tools(specs).repair(policy(case));
    builder.build().expect("tools")
}

fn policy(case: &Value) -> RepairPolicy {
    match case["repair"].as_str() {
        None | Some("none") => RepairPolicy::Never,
        Some("by_effect") => RepairPolicy::ByEffect,
        Some("lossless") => RepairPolicy::UpTo(Grade::Lossless),
        Some("lossy") => RepairPolicy::UpTo(Grade::Lossy),
        Some("guess") => RepairPolicy::UpTo(Grade::Guess),
        Some(other) => panic!("no grade {other}"),
    }
}

fn effect_named(name: &str) -> Effect {
    match name {
        "unknown" => Effect::Unknown,
        "read" => Effect::Read,
        "write" => Effect::Write,
        "destructive" => Effect::Destructive,
        other => panic!("no effect {other}"),
    }
}

fn judge(file: &Value, case: &Value) -> Result<(), String> {
    let known = [
        "name", "call", "line", "tools", "effect", "style", "expect", "contains", "renders",
        "error", "repair",
    ];
    only_known_keys(case, &known)?;
    let gate = gate(file, case);
    let feedback = Feedback::new(style(case));
    let line = match case["line"].as_str() {
        Some(line) => line.to_owned(),
        None => case["call"].to_string(),
    };
    let call = match (wire::read_line(&line), case["error"].as_str()) {
        (Ok(call), None) => call,
        (Err(error), Some(text)) if error.to_string().contains(text) => return Ok(()),
        (Err(error), _) => return Err(format!("not a call: {error}")),
        (Ok(_), Some(text)) => return Err(format!("a call, but expected the error {text}")),
    };
    let verdict = gate.judge(&call);
    let text = verdict.line(&call, &feedback).to_string();
    let actual: Value = serde_json::from_str(&text).expect("a verdict line is JSON");
    agrees(&case["expect"], &actual, "")?;
    for part in case["contains"].as_array().into_iter().flatten() {
        let part = part.as_str().expect("`contains` lists texts");
        // Valid arguments are printed as they were sent, with their spaces.
        if !text.replace(' ', "").contains(&part.replace(' ', "")) {
            return Err(format!("{part} is not in {text}"));
        }
    }
    for (name, expected) in case["renders"].as_object().into_iter().flatten() {
        let known = Provider::ALL.iter().find(|(known, _)| known == name);
        let (_, provider) = known.unwrap_or_else(|| panic!("no provider {name}"));
        let rendered = wire::render(*provider, &call, &verdict, &feedback).to_string();
        let rendered: Value = serde_json::from_str(&rendered).expect("JSON");
        if rendered != *expected {
            return Err(format!("{name}: expected {expected}\n    got {rendered}"));
        }
    }
    Ok(())
}

/// Reads a complete answer or a history of a provider; compares its calls, texts and results.
fn answer(_: &Value, case: &Value) -> Result<(), String> {
    let known = [
        "name",
        "body",
        "body_text",
        "history",
        "expect",
        "unanswered",
        "error",
    ];
    only_known_keys(case, &known)?;
    if let Some(history) = case.get("history") {
        let history = json::Value::from(history);
        let open = wire::unanswered(&history);
        let open: Vec<&str> = open.iter().map(|call| call.tool.as_ref()).collect();
        agrees(&case["unanswered"], &json!(open), "/unanswered")?;
        let entries = wire::read_history(history);
        let entries = entries.iter().map(|entry| match entry {
            HistoryEntry::User => json!("user"),
            HistoryEntry::Answer(answer) => told(answer),
            HistoryEntry::Result(result) => json!({
                "id": result.id.as_ref().map(plain),
                "tool": result.tool,
                "output": plain(&result.output),
                "is_error": result.is_error,
            }),
            HistoryEntry::Tools(tools) => {
                json!({"tools": tools.iter().map(plain).collect::<Value>()})
            }
            other => panic!("unknown: {other:?}"),
        });
        let entries: Value = entries.collect();
        return agrees(&case["expect"], &entries, "");
    }
    let text = match case["body_text"].as_str() {
        Some(text) => text.to_owned(),
        None => case["body"].to_string(),
    };
    let body = callwright::parse::read_value(&text).expect("JSON");
    match (wire::read_whole_answer(body), case["error"].as_str()) {
        (Ok(answers), None) => {
            let answers: Value = answers.iter().map(told).collect();
            agrees(&case["expect"], &answers, "")
        }
        (Err(error), Some(text)) if error.to_string().contains(text) => Ok(()),
        (answer, _) => Err(format!("not what was expected: {answer:?}")),
    }
}

fn plain(value: &json::Value<'_>) -> Value {
    serde_json::from_str(&value.to_string()).expect("JSON")
}

fn told(answer: &WholeAnswer<'_>) -> Value {
    let calls = answer.calls.iter().map(|call| match call {
        Ok(call) => json!({
            "id": call.id.as_ref().map(plain),
            "tool": call.tool,
            "arguments": match &call.arguments {
                Arguments::Absent => Value::Null,
                Arguments::Text(text) => json!(text),
                Arguments::Value(value) => plain(value),
            },
            "completeness": completeness(call.completeness),
        }),
        Err(error) => {
            // The cases only quote the reason.
            let reason = error.to_string();
            json!({"error": reason.split([':', ',']).nth(1).map(str::trim)})
        }
    });
    let hosted = answer.hosted.iter().map(|hosted| {
        json!({
            "tool": hosted.call.as_ref().map_or("", |call| &call.tool),
            "output": hosted.result.as_ref().map(|result| plain(&result.output)),
        })
    });
    json!({
        "calls": calls.collect::<Value>(),
        "hosted": hosted.collect::<Value>(),
        "text": answer.message.as_ref().map(|message| message.text.as_ref()),
        "message_id": answer.message.as_ref().and_then(|message| message.id.as_ref().map(plain)),
        "completeness": completeness(answer.completeness),
    })
}

fn completeness(of: Completeness) -> &'static str {
    match of {
        Completeness::Unknown => "unknown",
        Completeness::Complete => "complete",
        Completeness::Doubtful => "doubtful",
        Completeness::CutOff => "cut_off",
    }
}

/// Splits a call; compares the verdicts on the calls in it.
fn split(file: &Value, case: &Value) -> Result<(), String> {
    only_known_keys(case, &["name", "effect", "repair", "call", "expect"])?;
    let gate = gate(file, case);
    let line = case["call"].to_string();
    let call = wire::read_line(&line).map_err(|error| error.to_string())?;
    let calls = gate.split(&call).unwrap_or_default();
    let verdicts = calls.iter().map(|call| {
        let line = gate
            .judge(call)
            .line(call, &Feedback::default())
            .to_string();
        serde_json::from_str(&line).expect("JSON")
    });
    let actual = json!({"calls": verdicts.collect::<Vec<Value>>()});
    agrees(&case["expect"], &actual, "")
}

/// Rescues the calls in a message; compares them and the verdicts on them.
fn rescue(file: &Value, case: &Value) -> Result<(), String> {
    let known = ["name", "text", "line", "tools", "repair", "expect", "error"];
    only_known_keys(case, &known)?;
    let gate = gate(file, case);
    let line = match case["line"].as_str() {
        Some(line) => line.to_owned(),
        None => json!({"text": case["text"]}).to_string(),
    };
    let message = match (wire::read_recorded_line(&line), case["error"].as_str()) {
        (Ok(RecordedLine::Message(message)), None) => message,
        (Err(error), Some(text)) if error.to_string().contains(text) => return Ok(()),
        (other, _) => return Err(format!("not what was expected: {other:?}")),
    };
    let actual = match gate.rescue(&message) {
        Ok(rescued) => {
            let feedback = Feedback::default();
            let verdicts = rescued.calls.iter().map(|call| {
                let line = gate.judge(call).line(call, &feedback).to_string();
                serde_json::from_str(&line).expect("a verdict line is JSON")
            });
            json!({"calls": verdicts.collect::<Vec<Value>>(), "rest": rescued.rest})
        }
        Err(reason) => json!({"no_call": reason.name(), "why": reason.to_string()}),
    };
    agrees(&case["expect"], &actual, "")
}

fn effect(tool: &Tool) -> &'static str {
    match tool.spec().effect {
        Effect::Unknown => "unknown",
        Effect::Read => "read",
        Effect::Write => "write",
        Effect::Destructive => "destructive",
    }
}

fn read(_: &Value, case: &Value) -> Result<(), String> {
    only_known_keys(case, &["name", "file", "text", "expect", "error"])?;
    let text = match case["text"].as_str() {
        Some(text) => text.to_owned(),
        None => case["file"].to_string(),
    };
    let built = read_tools(&text).and_then(|specs| {
        let names: Vec<String> = specs.iter().map(|spec| spec.name.clone()).collect();
        Ok((names, Gate::builder().tools(specs).build()?))
    });
    let (names, gate) = match (built, case["error"].as_str()) {
        (Ok(built), None) => built,
        (Err(error), Some(text)) if error.to_string().contains(text) => return Ok(()),
        (Err(error), _) => return Err(error.to_string()),
        (Ok(_), Some(text)) => return Err(format!("read, but expected the error {text}")),
    };
    let expected = case["expect"].as_array().expect("`expect` is a list");
    if names.len() != expected.len() {
        return Err(format!("expected {} tools, got {names:?}", expected.len()));
    }
    for (name, expected) in names.iter().zip(expected) {
        let tool = gate.tool(name).expect("every name is there");
        let mut expected = expected.clone();
        if let Some(reason) = expected["quarantined"].as_str().map(str::to_owned) {
            match tool.quarantined() {
                Some(why) if why.contains(&reason) => {}
                other => {
                    return Err(format!(
                        "{name}: expected quarantine {reason}, got {other:?}"
                    ));
                }
            }
            expected["quarantined"] = json!(tool.quarantined());
        }
        let actual = json!({
            "name": tool.name(),
            "description": tool.spec().description,
            "effect": effect(tool),
            "idempotent": tool.spec().idempotent,
            "quarantined": tool.quarantined(),
            "misplaced_enums": tool.misplaced_enums(),
            "input_schema": tool.spec().input_schema.as_deref(),
            "output_schema": tool.spec().output_schema.as_deref(),
        });
        agrees(&expected, &actual, &format!("/{name}"))?;
    }
    Ok(())
}

/// A ledger that cannot be reached.
#[derive(Debug)]
struct Away;

impl Ledger for Away {
    fn open(&self, _: &str, _: &Ask<'_>) -> Result<Ruling, LedgerAway> {
        Err(LedgerAway("no answer".to_owned()))
    }

    fn close(&self, _: &str, _: &Report<'_>) -> Result<Noted, LedgerAway> {
        Err(LedgerAway("no answer".to_owned()))
    }

    fn answer(&self, _: &str, _: &Reply) -> Result<(), LedgerAway> {
        Err(LedgerAway("no answer".to_owned()))
    }

    fn save(&self, _: &str) -> Result<Option<Session>, LedgerAway> {
        Err(LedgerAway("no answer".to_owned()))
    }

    fn resume(&self, _: &str, _: Session) -> Result<(), LedgerAway> {
        Err(LedgerAway("no answer".to_owned()))
    }
}

/// A conversation: call by call, with the verdict on each.
fn converse(file: &Value, case: &Value) -> Result<(), String> {
    let policy: AdmissionPolicy = match &case["policy"] {
        Value::Null => AdmissionPolicy::default(),
        policy => serde_json::from_value(policy.clone()).map_err(|error| error.to_string())?,
    };
    only_known_keys(
        case,
        &["name", "policy", "tools", "effects", "ledger", "calls"],
    )?;
    let tools = case.get("tools").unwrap_or(&file["tools"]);
    let mut specs = read_tools(&tools.to_string()).map_err(|error| error.to_string())?;
    for spec in &mut specs {
        let effects = case.get("effects").unwrap_or(&file["effects"]);
        let effect = match effects[&spec.name].as_str() {
            None => continue,
            Some("read") => Effect::Read,
            Some("write") => Effect::Write,
            Some("destructive") => Effect::Destructive,
            Some(other) => return Err(format!("no effect {other}")),
        };
        *spec = spec.clone().with_effect(effect);
    }
    let mut builder = Gate::builder().tools(specs).admission(policy);
    if case["ledger"] == "away" {
        builder = builder.ledger(Arc::new(Away));
    }
    let gate = builder.build().map_err(|error| error.to_string())?;
    let mut last_refused = None;
    for (at, step) in case["calls"]
        .as_array()
        .expect("`calls`")
        .iter()
        .enumerate()
    {
        if let Some(reply) = step.get("reply") {
            let reply = match reply.as_str() {
                Some("allow_once") => Reply::AllowOnce(last_refused.ok_or("nothing was refused")?),
                Some("stop") => Reply::Stop,
                _ => Reply::AllowTool(reply["allow_tool"].as_str().ok_or("no reply")?.to_owned()),
            };
            gate.ledger()
                .answer("s", &reply)
                .map_err(|error| error.to_string())?;
            continue;
        }
        only_known_keys(step, &["call", "times", "expect"])?;
        let mut line = step["call"].clone();
        if line.get("session").is_none() {
            line["session"] = json!("s");
        }
        let line = line.to_string();
        for time in 1..=step["times"].as_u64().unwrap_or(1) {
            let recorded = wire::read_recorded(&line).map_err(|error| error.to_string())?;
            let place = recorded.place().ok_or("no session")?;
            let settled = match (gate.open(&recorded.call, place), recorded.ran()) {
                (Opened::Refused(refused), _) => {
                    if let Cause::Objection(objection) = &refused.failure.cause {
                        last_refused = Some(objection.fingerprint);
                    }
                    Verdict::Refused(refused).into()
                }
                (Opened::Admitted(ticket), Some(ran)) => gate.close(ticket, ran),
                (Opened::Admitted(ticket), None) => ticket.into(),
            };
            let line = settled
                .line(&recorded.call, &Feedback::default())
                .to_string();
            let actual = serde_json::from_str(&line).map_err(|error| error.to_string())?;
            agrees(&step["expect"], &actual, "")
                .map_err(|why| format!("call {at}, time {time}: {why}\n    {line}"))?;
        }
    }
    Ok(())
}

#[test]
fn every_case_holds() {
    let judged = run(&["parse", "validate", "repair", "feedback", "wire"], judge);
    let read = run(&["tools"], read);
    let rescued = run(&["rescue"], rescue);
    let split = run(&["split"], split);
    assert!(split >= 20, "only {split} calls that may hold several");
    let answers = run(&["answers"], answer);
    assert!(answers >= 25, "only {answers} answers and histories");
    let conversations = run(&["loops"], converse);
    assert!(conversations >= 200, "only {conversations} conversations");
    let all = judged + read + rescued + conversations;
    assert!(all >= 1_500, "the corpus has shrunk to {all}");
}

#[test]
fn every_code_has_a_case() {
    let mut codes = BTreeSet::new();
    let mut issues = BTreeSet::new();
    for stage in ["parse", "validate", "repair", "feedback", "wire"] {
        for (_, file) in files(stage) {
            for case in file["cases"].as_array().expect("cases") {
                let failure = &case["expect"]["failure"];
                codes.extend(failure["code"].as_str().map(str::to_owned));
                for issue in failure["issues"].as_array().into_iter().flatten() {
                    issues.extend(issue["code"].as_str().map(str::to_owned));
                }
            }
        }
    }
    for (_, file) in files("loops") {
        for case in file["cases"].as_array().expect("cases") {
            for step in case["calls"].as_array().expect("calls") {
                for verdict in [&step["expect"]["failure"], &step["expect"]["notice"]] {
                    codes.extend(verdict["code"].as_str().map(str::to_owned));
                }
            }
        }
    }
    for (_, file) in files("output") {
        for case in file["cases"].as_array().expect("cases") {
            let failure = &case["expect"]["output_failure"];
            codes.extend(failure["code"].as_str().map(str::to_owned));
        }
    }
    for row in TABLE {
        assert!(
            codes.contains(row.name),
            "no case expects the code {}",
            row.name
        );
        assert!(!row.hint.is_empty() && !row.meaning.is_empty() && !row.example.is_empty());
    }
    for (name, _) in callwright::validate::IssueCode::ALL {
        assert!(issues.contains(name), "no case expects an issue {name}");
    }
}

/// A parsed value prints its numbers as written, so a case in JSON means what it says.
#[test]
fn the_tree_prints_what_it_read() {
    let text = r#"{"a":[1,1.50,-0,1e5,12345678901234567890123],"b":{"c":null,"d":"\u00e9\n"}}"#;
    let value = callwright::parse::read_value(text).expect("JSON");
    let printed = r#"{"a":[1,1.50,-0,1e5,12345678901234567890123],"b":{"c":null,"d":"é\n"}}"#;
    assert_eq!(value.to_string(), printed);
    assert!(matches!(value, json::Value::Object(_)));
}
