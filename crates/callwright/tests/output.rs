//! Runs `corpus/output`: takes a call and its outcome, compares what the model gets. `corpus/README.md` describes the
//! cases.
#![allow(clippy::expect_used, reason = "a test may panic")]

mod cases;

use std::io;
use std::time::Duration;

use callwright::check::{Detector, Finding, FindingKind, Output, Ran, ToolFailure};
use callwright::failure::{Class, Code, Next};
use callwright::feedback::Feedback;
use callwright::json::Path;
use callwright::policy::{Policy, Validation};
use callwright::wire;
use callwright::wire::read_tools;
use callwright::{Call, Gate, Opened, Settled, ToolSpec, Verdict};
use cases::{agrees, only_known_keys, run, style};
use serde_json::Value;

/// What the model gets, as a text, and the line for programs.
struct Answer {
    line: String,
    shown: String,
    is_error: bool,
}

fn check(file: &Value, case: &Value) -> Result<(), String> {
    let known = [
        "name", "tools", "call", "policy", "style", "failed", "finding", "advice", "expect",
        "shown", "is_error",
    ];
    only_known_keys(case, &known)?;
    let answer = answer(file, case)?;
    let actual: Value = serde_json::from_str(&answer.line).expect("a verdict line is JSON");
    agrees(&case["expect"], &actual, "")?;
    if let Some(shown) = case["shown"].as_str()
        && shown != answer.shown
    {
        return Err(format!(
            "expected to show {shown:?}\n    got {:?}",
            answer.shown
        ));
    }
    if let Some(is_error) = case["is_error"].as_bool()
        && is_error != answer.is_error
    {
        return Err(format!("expected is_error to be {is_error}"));
    }
    match case["failed"]["for_operator"].as_str() {
        Some(secret) if answer.shown.contains(secret) || answer.line.contains(secret) => Err(
            format!("a detail for the operator is shown: {}", answer.line),
        ),
        _ => Ok(()),
    }
}

fn answer(file: &Value, case: &Value) -> Result<Answer, String> {
    let tools = case.get("tools").unwrap_or(&file["tools"]);
    let specs = read_tools(&tools.to_string()).map_err(|error| error.to_string())?;
    let builder = Gate::builder().tools(specs).policy(policy(case)?);
    let gate = builder.build().map_err(|error| error.to_string())?;
    let line = case["call"].to_string();
    let recorded = wire::read_recorded(&line).map_err(|error| error.to_string())?;
    let ran = match &case["failed"] {
        Value::Null => recorded.ran().ok_or("the call has no outcome")?,
        failed => Ran::failed(tool_failure(failed)?),
    };
    let ran = ran.with_finding(finding(&case["finding"])?);
    let settled: Settled<'_> = match gate.open(&recorded.call, recorded.place()) {
        Opened::Admitted(ticket) => gate.close(ticket, ran),
        Opened::Refused(refused) => Verdict::Refused(refused).into(),
    };
    let feedback = Feedback::new(style(case));
    Ok(Answer {
        line: settled.line(&recorded.call, &feedback).to_string(),
        shown: settled.text(&feedback).into_owned(),
        is_error: settled.is_error(),
    })
}

fn policy(case: &Value) -> Result<Policy, String> {
    let mut policy = Policy::default();
    let settings = &case["policy"];
    for key in settings.as_object().into_iter().flat_map(|all| all.keys()) {
        if !["mode", "detect", "max_bytes"].contains(&key.as_str()) {
            return Err(format!("no setting {key}"));
        }
    }
    policy.output.mode = match settings["mode"].as_str() {
        None => None,
        Some("strict") => Some(Validation::Strict),
        Some("warn") => Some(Validation::Warn),
        Some("off") => Some(Validation::Off),
        Some(other) => return Err(format!("no mode {other}")),
    };
    let max_bytes = settings["max_bytes"].as_u64();
    policy.output.max_bytes = max_bytes.map(|bytes| usize::try_from(bytes).expect("small"));
    if let Some(names) = settings["detect"].as_array() {
        let detectors = names.iter().map(|name| {
            let known = Detector::ALL.iter().find(|(known, _)| name == known);
            known
                .map(|(_, detector)| *detector)
                .ok_or(format!("no detector {name}"))
        });
        policy.output.detect = Some(detectors.collect::<Result<_, _>>()?);
    }
    for (subject, lines) in case["advice"].as_object().into_iter().flatten() {
        let lines = lines.as_array().ok_or("advice is a list of texts")?.iter();
        let lines: Vec<&str> = lines.filter_map(Value::as_str).collect();
        let class = Class::from_name(subject);
        let advice = std::mem::take(&mut policy.advice);
        policy.advice = match (class, Code::from_name(subject)) {
            (Some(class), _) => advice.for_class(class, lines),
            (None, Some(code)) => advice.for_code(code, lines),
            (None, None) => return Err(format!("no class and no code {subject}")),
        };
    }
    Ok(policy)
}

/// How a tool without a result failed.
fn tool_failure(failed: &Value) -> Result<ToolFailure, String> {
    let text = |key: &str| failed[key].as_str().map(str::to_owned);
    let operator = || text("for_operator").unwrap_or_default();
    let detail = || text("detail").ok_or("a detail is missing");
    let mut failure = match failed["kind"].as_str() {
        Some("reported") => ToolFailure::new(text("code").ok_or("a code is missing")?, detail()?),
        Some("transient") => ToolFailure::transient(detail()?),
        Some("internal") => ToolFailure::internal(operator()),
        Some("panicked") => ToolFailure::panicked(operator()),
        Some("defect") => ToolFailure::defect(operator()),
        Some("cancelled") => ToolFailure::cancelled(),
        Some("timed_out") => {
            let after = failed["after_ms"].as_u64().unwrap_or(30_000);
            ToolFailure::timed_out(Duration::from_millis(after))
        }
        _ => return Err(format!("no kind of failure {}", failed["kind"])),
    };
    if let Some(code) = text("code") {
        failure = failure.with_code(code);
    }
    if let Some(hint) = text("hint") {
        failure = failure.with_hint(hint);
    }
    if let Some(why) = text("for_operator") {
        failure = failure.caused_by(&io::Error::other(why));
    }
    if let Some(next) = next(&failed["next"])? {
        failure = failure.with_next(next);
    }
    for line in failed["recommendations"].as_array().into_iter().flatten() {
        failure = failure.with_recommendation(line.as_str().ok_or("a list of texts")?);
    }
    Ok(failure)
}

/// What the caller's check found.
fn finding(found: &Value) -> Result<Option<Finding>, String> {
    if found.is_null() {
        return Ok(None);
    }
    let text = |key: &str| {
        found[key]
            .as_str()
            .map(str::to_owned)
            .ok_or(format!("no {key}"))
    };
    let class = text("class")?;
    let kind = FindingKind::ALL.iter().find(|(name, _)| *name == class);
    let (_, kind) = kind.ok_or(format!("no class {class}"))?;
    let mut finding = Finding::new(*kind, text("code")?, text("detail")?);
    if let Ok(hint) = text("hint") {
        finding = finding.with_hint(hint);
    }
    if let Some(next) = next(&found["next"])? {
        finding = finding.with_next(next);
    }
    Ok(Some(finding))
}

fn next(name: &Value) -> Result<Option<Next>, String> {
    let Some(name) = name.as_str() else {
        return Ok(None);
    };
    let known = Next::from_name(name).map(Some);
    known.ok_or(format!("no next step {name}"))
}

#[test]
fn every_case_holds() {
    let count = run(&["output"], check);
    assert!(count >= 180, "the corpus has shrunk to {count}");
}

/// A value that JSON cannot represent has no text to show, so no policy lets it through.
#[test]
fn unwritable_results_are_refused_in_every_mode() {
    for mode in [Validation::Strict, Validation::Warn, Validation::Off] {
        let mut policy = Policy::default();
        policy.output.mode = Some(mode);
        let builder = Gate::builder().tool(ToolSpec::without_schema("measure"));
        let gate = builder.policy(policy).build().expect("one tool");
        let call = Call::from_text("measure", "{}");
        let Opened::Admitted(ticket) = gate.open(&call, None) else {
            panic!("a good call");
        };
        let output = Output::Unwritable {
            path: Path::root().key("mean"),
            why: "NaN".to_owned(),
        };
        let settled = gate.close(ticket, Ran::ok(output));
        let expected = "The result does not fit its schema: mean: received a value that JSON cannot hold. \
                        The arguments are not the cause: use another tool or tell the user.";
        assert_eq!(settled.text(&Feedback::default()), expected);
        assert!(settled.is_error());
    }
}

/// Bytes that are not text are never guessed at.
#[test]
fn bytes_that_are_not_text_are_refused() {
    let builder = Gate::builder().tool(ToolSpec::without_schema("measure"));
    let gate = builder.build().expect("one tool");
    let call = Call::from_text("measure", "{}");
    let Opened::Admitted(ticket) = gate.open(&call, None) else {
        panic!("a good call");
    };
    let settled = gate.close(ticket, Ran::ok(Output::from_bytes(&b"ab\xff"[..])));
    let expected = "The result is not text: byte 2 is not UTF-8. The arguments are not the cause: use another tool or \
                    tell the user.";
    assert_eq!(settled.text(&Feedback::default()), expected);
}
