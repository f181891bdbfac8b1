//! Results at the limit of what can be shown, and histories in which every call has one answer.
#![allow(
    clippy::expect_used,
    reason = "a test may panic, and its steps belong together"
)]

use std::sync::mpsc;
use std::time::Duration;

use callwright::check::{Output, ToolFailure};
use callwright::event::{JsonLines, On};
use callwright::failure::Code;
use callwright::feedback::{Feedback, Style};
use callwright::json::Value;
use callwright::parse::read_value;
use callwright::policy::OutputSettings;
use callwright::toolbox::{ToolDef, ToolResult, Toolbox};
use callwright::wire::{Provider, render_round, unanswered};
use callwright::{Call, Settled, ToolSpec};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize, Serializer};

#[derive(Debug, Deserialize, JsonSchema)]
struct Nothing {}

const NO_CAUSE: &str = "The arguments are not the cause: use another tool or tell the user.";

fn text(toolbox: &Toolbox, settled: &Settled<'_>) -> String {
    settled.text(toolbox.feedback()).into_owned()
}

/// What the model and the operator see of a tool's result.
async fn told<A, O>(tool: ToolDef<A, O>, arguments: &str) -> (String, Option<String>)
where
    A: Send + 'static,
    O: Send + 'static,
{
    let name = tool.spec().name.clone();
    let (tell, events) = mpsc::channel();
    let toolbox = Toolbox::builder()
        .tool(tool)
        .on(On::Any, move |event| {
            let _ = tell.send(event.operator_detail.clone());
        })
        .build()
        .expect("a good tool");
    let call = Call::from_text(name.as_str(), arguments);
    let settled = toolbox.invoke(&call, None).await;
    let event = events.recv_timeout(Duration::from_secs(30));
    (text(&toolbox, &settled), event.expect("an event"))
}

#[derive(Serialize, JsonSchema)]
struct Nested {
    inner: Option<Box<Nested>>,
}

#[derive(JsonSchema)]
struct Stubborn;

impl Serialize for Stubborn {
    fn serialize<S: Serializer>(&self, _: S) -> Result<S::Ok, S::Error> {
        Err(serde::ser::Error::custom("the key hunter2 is no text"))
    }
}

#[derive(Serialize, JsonSchema)]
struct Report {
    why: Stubborn,
}

fn deep(levels: usize) -> Value<'static> {
    (0..levels).fold(Value::Null, |inner, _| Value::Array(vec![inner]))
}

#[tokio::test]
async fn values_without_a_json_form_are_reported_as_such() {
    let nested = ToolDef::new("nested", |_: Nothing| async {
        let start = Nested { inner: None };
        let grow = |inner, _| Nested {
            inner: Some(Box::new(inner)),
        };
        ToolResult::Ok((0..10_000).fold(start, grow))
    });
    let (model, operator) = told(nested, "{}").await;
    assert!(
        model.starts_with("The result does not fit its schema: …inner.inner."),
        "{model}"
    );
    assert!(model.ends_with(NO_CAUSE) && model.len() < 400, "{model}");
    assert!(operator.is_some_and(|told| told.contains("nested deeper than 100 levels")));

    let stubborn = ToolDef::new("stubborn", |_: Nothing| async {
        ToolResult::Ok(Report { why: Stubborn })
    });
    let (model, operator) = told(stubborn, "{}").await;
    assert_eq!(
        model,
        format!(
            "The result does not fit its schema: why: received a value that JSON cannot hold. {NO_CAUSE}"
        )
    );
    assert!(operator.is_some_and(|told| told.contains("hunter2")));
}

#[tokio::test]
async fn values_that_would_overflow_the_stack_are_not_inspected() {
    let tool = |levels| {
        ToolDef::dynamic(
            ToolSpec::without_schema("deep"),
            move |_: Value<'static>| async move { ToolResult::Ok(deep(levels)) },
        )
    };
    let (model, _) = told(tool(1_000), "{}").await;
    assert_eq!(model.len(), 2_000 + "null".len());
    for levels in [1_001, 10_000] {
        let (model, _) = told(tool(levels), "{}").await;
        assert_eq!(
            model,
            format!("The result is nested too deeply to be read. {NO_CAUSE}")
        );
    }
}

#[tokio::test]
async fn results_are_cut_where_they_are_too_long_and_only_there() {
    let tool = |said: &'static str| {
        let mut output = OutputSettings::default();
        output.max_bytes = Some(10);
        ToolDef::dynamic(
            ToolSpec::without_schema("say"),
            move |_: Value<'static>| async move { ToolResult::Ok(said) },
        )
        .output(output)
    };
    for whole in ["0123456789", "01234567é", ""] {
        assert_eq!(told(tool(whole), "{}").await.0, whole);
    }
    for (long, shown) in [("01234567890", 10), ("012345678é0", 9), ("🦀🦀🦀", 8)] {
        let (model, _) = told(tool(long), "{}").await;
        let expected = format!(
            "{}\n\n[The result has {} bytes; these are the first {shown}. Continue with what you have, or ask for less at once.]",
            &long[..shown],
            long.len(),
        );
        assert_eq!(model, expected);
    }
}

#[tokio::test]
async fn failures_of_any_size_fit_in_a_line() {
    let long = || "No such\ncustomer.\u{1b}[31m ".repeat(100_000);
    let tool = ToolDef::new("find", move |_: Nothing| {
        let failure = ToolFailure::new(long(), long())
            .with_hint(long())
            .with_recommendation(long());
        async { ToolResult::<()>::Err(failure) }
    });
    let toolbox = Toolbox::builder().tool(tool).build().expect("a good tool");
    let call = Call::from_text("find", "{}");
    let settled = toolbox.invoke(&call, None).await;
    for (name, style) in Style::ALL {
        let told = settled.text(&Feedback::new(style));
        assert!(told.len() < 3_000, "{name}: {} bytes", told.len());
        assert!(!told.contains('\u{1b}'), "{name}: {told}");
    }
}

#[tokio::test]
async fn repaired_arguments_that_the_type_rejects_are_the_tools_fault() {
    #[derive(Deserialize, JsonSchema)]
    #[serde(try_from = "u32")]
    #[schemars(with = "u32")]
    struct Even;
    impl TryFrom<u32> for Even {
        type Error = String;
        fn try_from(number: u32) -> Result<Self, String> {
            number
                .is_multiple_of(2)
                .then_some(Even)
                .ok_or_else(|| format!("{number} is odd"))
        }
    }
    #[derive(Deserialize, JsonSchema)]
    struct Takes {
        #[expect(dead_code, reason = "only read")]
        even: Even,
    }
    let tool = ToolDef::new("takes", |_: Takes| async { ToolResult::Ok(()) });
    let (model, operator) = told(tool, r#"{"even": "7"}"#).await;
    assert_eq!(
        model,
        "The tool \"takes\" does not accept even: 7 is odd. Correct it and call the tool again."
    );
    assert!(operator.is_some_and(|told| told.contains("7 is odd")));
}

#[tokio::test]
async fn secrets_stay_out_of_files_whatever_reports_them() {
    #[derive(Deserialize, JsonSchema)]
    struct Login {
        #[schemars(extend("writeOnly" = true))]
        password: String,
    }
    struct Lines(mpsc::Sender<Vec<u8>>);
    impl std::io::Write for Lines {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            let _ = self.0.send(bytes.to_vec());
            Ok(bytes.len())
        }
        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }
    let (send, lines) = mpsc::channel();
    let toolbox = Toolbox::builder()
        .tool(ToolDef::new("login", |args: Login| async move {
            let error = std::io::Error::other(format!("refused {}", args.password));
            let failure = ToolFailure::new("refused", format!("Not {}.", args.password));
            ToolResult::<()>::Err(failure.caused_by(&error))
        }))
        .sink("lines", JsonLines::new(Lines(send)))
        .build()
        .expect("a good tool");
    let call = Call::from_text("login", r#"{"password": "correct horse"}"#);
    assert!(toolbox.invoke(&call, None).await.is_error());
    assert!(toolbox.sinks().flush(Duration::from_secs(30)));
    let written: Vec<u8> = lines.try_iter().flatten().collect();
    let written = String::from_utf8(written).expect("text");
    assert!(written.contains("\"tool\":\"login\""), "{written}");
    assert!(!written.contains("horse"), "{written}");
}

#[tokio::test]
async fn rounds_with_repeated_or_missing_ids_are_answered_call_by_call() {
    let toolbox = Toolbox::builder()
        .tool(ToolDef::new("echo", |_: Nothing| async {
            ToolResult::Ok("here".to_owned())
        }))
        .build()
        .expect("a good tool");
    let twice = [
        Call::from_text("echo", "{}").with_id("a"),
        Call::from_text("echo", "{").with_id("a"),
        Call::from_text("nobody", "{}").with_id("a"),
    ];
    let without = [Call::from_text("echo", "{}"), Call::from_text("echo", "[]")];
    for (_, provider) in Provider::ALL {
        for calls in [&twice[..], &without[..]] {
            let settled = toolbox.invoke_all(calls, None).await;
            let round = render_round(provider, calls.iter().zip(&settled), toolbox.feedback());
            let answers = match (provider, &round[..]) {
                (Provider::Anthropic, [message]) => message
                    .get("content")
                    .and_then(Value::as_array)
                    .map_or(0, <[_]>::len),
                (Provider::Gemini, [message]) => message
                    .get("parts")
                    .and_then(Value::as_array)
                    .map_or(0, <[_]>::len),
                (_, each) => each.len(),
            };
            assert_eq!(answers, calls.len(), "{provider:?}");
        }
    }
}

#[test]
fn open_calls_are_found_in_histories_of_any_mixture() {
    let history = r#"[
        {"role": "assistant", "content": null, "tool_calls": [
            {"id": "a", "type": "function", "function": {"name": "one", "arguments": "{}"}},
            {"id": "a", "type": "function", "function": {"name": "two", "arguments": "{}"}}]},
        {"role": "tool", "tool_call_id": "a", "content": "1"},
        {"type": "function_call", "call_id": "b", "name": "three", "arguments": "{}"},
        {"type": "function_call_output", "call_id": "other", "output": "3"},
        {"role": "assistant", "content": [{"type": "text", "text": "tool_use"}, {"type": "tool_use", "id": "c", "name": "four", "input": {}}]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "c", "content": "4"}]},
        {"role": "model", "parts": [{"functionCall": {"name": "five", "args": {}}}, {"functionCall": {"id": "g", "name": "six", "args": {}}}, {"functionCall": {"name": "seven", "args": {}}}]},
        {"role": "user", "parts": [{"functionResponse": {"name": "five", "response": {}}}, {"functionResponse": {"name": "six", "response": {}}}]},
        "noise", null, {"role": "tool"}, {"tool_calls": 5, "content": {"type": "tool_use"}}
    ]"#;
    let history = read_value(history).expect("JSON");
    let open: Vec<String> = unanswered(&history)
        .iter()
        .map(|call| call.tool.to_string())
        .collect();
    assert_eq!(open, ["two", "three", "seven"]);
    assert!(unanswered(&Value::Null).is_empty());
}

#[tokio::test]
async fn unknown_errors_are_reported_without_their_causes() {
    let tool = ToolDef::new("load", |_: Nothing| async {
        let cause = std::io::Error::other("password=hunter2 at main.rs:7");
        ToolResult::<()>::Err(std::io::Error::new(std::io::ErrorKind::NotFound, cause).into())
    });
    let toolbox = Toolbox::builder().tool(tool).build().expect("a good tool");
    let call = Call::from_text("load", "{}");
    let settled = toolbox.invoke(&call, None).await;
    assert_eq!(settled.failure().map(|it| it.code), Some(Code::ToolError));
    for (_, style) in Style::ALL {
        assert!(!settled.text(&Feedback::new(style)).contains("hunter2"));
    }
    for (_, provider) in Provider::ALL {
        let round = render_round(provider, [(&call, &settled)], toolbox.feedback());
        assert!(!format!("{round:?}").contains("hunter2"));
    }
    assert!(matches!(
        settled.result.as_ref().map(|result| &result.output),
        Some(None::<Output<'_>>)
    ));
}
