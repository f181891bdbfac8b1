//! Typed tools behind one `invoke`: what the model gets, whatever a tool does.
#![allow(
    clippy::expect_used,
    clippy::items_after_statements,
    clippy::struct_field_names,
    clippy::too_many_lines,
    reason = "a test may panic, and tells its story in one place"
)]

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use callwright::admit::Place;
use callwright::check::{Detector, Finding, Output, ToolFailure};
use callwright::classify::{Advice, Class, Code, Next};
use callwright::event::{JsonLines, On};
use callwright::feedback::{Feedback, Style};
use callwright::json::Value;
use callwright::policy::OutputSettings;
use callwright::tool::Effect;
use callwright::toolbox::{CallContext, ToolDef, ToolResult, Toolbox};
use callwright::wire::{self, Provider};
use callwright::{Call, Error, Settled, ToolSpec};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

/// Finds orders of a customer.
#[derive(Debug, Deserialize, JsonSchema)]
struct FindOrders {
    /// Such as C-1042
    customer_id: String,
    /// Counted from one
    #[serde(default = "first")]
    #[schemars(range(min = 1))]
    page: u32,
}

fn first() -> u32 {
    1
}

#[derive(Debug, Serialize, JsonSchema)]
struct Orders {
    orders: Vec<Order>,
    page: u32,
    has_more: bool,
}

#[derive(Debug, Serialize, JsonSchema)]
struct Order {
    id: String,
    #[schemars(range(min = 0))]
    total: f64,
}

async fn find_orders(args: FindOrders) -> ToolResult<Orders> {
    let order = Order {
        id: format!("O-{}", args.page),
        total: 12.5,
    };
    Ok(Orders {
        orders: vec![order],
        page: args.page,
        has_more: args.page < 3,
    })
}

#[derive(Debug, Deserialize, JsonSchema)]
struct Nothing {}

fn text(toolbox: &Toolbox, settled: &Settled<'_>) -> String {
    settled.text(toolbox.feedback()).into_owned()
}

/// Calls the only tool there is.
async fn said<A, O>(tool: ToolDef<A, O>, arguments: &str) -> (String, Option<Code>)
where
    A: Send + 'static,
    O: Send + 'static,
{
    let name = tool.spec().name.clone();
    let toolbox = Toolbox::builder().tool(tool).build().expect("a good tool");
    let call = Call::from_text(name.as_str(), arguments);
    let settled = toolbox.invoke(&call, None).await;
    let code = settled.failure().map(|failure| failure.code);
    (text(&toolbox, &settled), code)
}

#[tokio::test]
async fn one_type_is_schema_validator_value_and_documentation() {
    let tool = ToolDef::new("find_orders", find_orders);
    let spec = tool.spec();
    assert_eq!(
        spec.description.as_deref(),
        Some("Finds orders of a customer.")
    );
    assert_eq!(
        spec.input_schema.as_deref(),
        Some(&json!({
            "type": "object",
            "properties": {
                "customer_id": {"type": "string", "description": "Such as C-1042"},
                "page": {
                    "type": "integer", "description": "Counted from one",
                    "minimum": 1, "maximum": 4_294_967_295_u32, "default": 1,
                },
            },
            "required": ["customer_id"],
        }))
    );
    let toolbox = Toolbox::builder().tool(tool).build().expect("a good tool");
    let good = Call::from_text("find_orders", r#"{"customer_id": "C-1"}"#);
    let settled = toolbox.invoke(&good, None).await;
    assert_eq!(
        text(&toolbox, &settled),
        r#"{"orders":[{"id":"O-1","total":12.5}],"page":1,"has_more":true}"#
    );
    let bad = Call::from_text("find_orders", r#"{"customer": "C-1", "page": 0}"#);
    let settled = toolbox.invoke(&bad, None).await;
    assert!(settled.is_error());
    assert_eq!(
        text(&toolbox, &settled),
        "Please rewrite the input with valid arguments. Errors: \
         customer_id: Required, received as unknown key \"customer\"; \
         page: expected at least 1, received number 0"
    );
}

#[tokio::test]
async fn a_page_of_several_is_kept_and_says_how_to_go_on() {
    let mut output = OutputSettings::default();
    output.detect = Some(vec![Detector::MorePages]);
    let tool = ToolDef::new("find_orders", find_orders).output(output);
    let (said, code) = said(tool, r#"{"customer_id": "C-1"}"#).await;
    assert_eq!(
        said,
        "{\"orders\":[{\"id\":\"O-1\",\"total\":12.5}],\"page\":1,\"has_more\":true}\n\n\
         [There is more. Call again with page=2 to continue.]"
    );
    assert_eq!(code, Some(Code::MorePagesAvailable));
}

#[tokio::test]
async fn checks_see_the_types() {
    let tool = || ToolDef::new("find_orders", find_orders);
    let over_output = tool().check(|orders| {
        (orders.orders.len() == 1)
            .then(|| Finding::garbage("only_one", "Only one order came.").with_hint("Ask again."))
    });
    let (told, code) = said(over_output, r#"{"customer_id": "C-1"}"#).await;
    assert_eq!(told, "Only one order came. Ask again.");
    assert_eq!(code, Some(Code::ImplausibleResult));

    let over_both = tool().check_with(|arguments, orders| {
        (arguments.customer_id == "C-1" && orders.page == 1)
            .then(|| Finding::partial("first_page", "This is the first page."))
    });
    let (told, _) = said(over_both, r#"{"customer_id": "C-1"}"#).await;
    assert!(
        told.ends_with(
            "\n\n[This is the first page. Go on with what came, or ask for the part that is missing.]"
        ),
        "{told}"
    );

    let panicking = tool().check(|_| panic!("no idea"));
    let (told, code) = said(panicking, r#"{"customer_id": "C-1"}"#).await;
    assert!(told.starts_with(r#"{"orders""#), "{told}");
    assert_eq!(code, None);
}

#[tokio::test]
async fn what_a_tool_says_goes_to_the_model_and_what_breaks_does_not() {
    let reports = ToolDef::new("pay", |_: Nothing| async {
        let failure = ToolFailure::new("no_funds", "The account has 3 EUR.")
            .with_hint("Ask the user for another account.")
            .with_next(Next::AskUser);
        ToolResult::<()>::Err(failure)
    });
    let (told, code) = said(reports, "{}").await;
    assert_eq!(
        told,
        "The account has 3 EUR. Ask the user for another account."
    );
    assert_eq!(code, Some(Code::ToolReportedFailure));

    let breaks = ToolDef::new("load", |_: Nothing| async {
        ToolResult::Ok(std::fs::read_to_string("/no/such/secret-path")?)
    });
    let (told, code) = said(breaks, "{}").await;
    assert_eq!(
        told,
        "The tool \"load\" failed with an internal error. The arguments are not known to be the cause: \
         try another way or tell the user."
    );
    assert_eq!(code, Some(Code::ToolError));
}

#[tokio::test(start_paused = true)]
async fn a_tool_that_panics_hangs_or_lies_leaves_the_others_alone() {
    #[derive(Serialize, JsonSchema)]
    struct Price {
        price: f64,
    }
    let toolbox = Toolbox::builder()
        .tool(ToolDef::new("panics", |_: Nothing| async {
            let broken = std::hint::black_box(true);
            assert!(!broken, "boom");
            ToolResult::Ok(())
        }))
        .tool(ToolDef::new("panics_at_once", |_: Nothing| {
            let broken = std::hint::black_box(true);
            assert!(!broken, "at once");
            async { ToolResult::Ok(()) }
        }))
        .tool(
            ToolDef::new("hangs", |_: Nothing| async {
                std::future::pending::<()>().await;
                ToolResult::Ok(())
            })
            .timeout(Duration::from_secs(3)),
        )
        .tool(
            ToolDef::new("hangs_and_pays", |_: Nothing| async {
                std::future::pending::<()>().await;
                ToolResult::Ok(())
            })
            .effect(Effect::Write)
            .timeout(Duration::from_millis(1_500)),
        )
        .tool(ToolDef::new("no_number", |_: Nothing| async {
            ToolResult::Ok(Price { price: f64::NAN })
        }))
        .tool(ToolDef::dynamic(
            ToolSpec::without_schema("no_text"),
            |_: serde_json::Value| async { ToolResult::Ok(vec![b'a', 0xff, 0xfe]) },
        ))
        .tool(ToolDef::dynamic(
            ToolSpec::without_schema("huge"),
            |_: serde_json::Value| async { ToolResult::Ok("x".repeat(200_000_000)) },
        ))
        .tool(ToolDef::new("fine", |_: Nothing| async {
            ToolResult::Ok("fine".to_owned())
        }))
        .build()
        .expect("good tools");
    let names = [
        "panics",
        "panics_at_once",
        "hangs",
        "hangs_and_pays",
        "no_number",
        "no_text",
        "huge",
        "fine",
        "missing",
    ];
    let calls: Vec<Call<'_>> = names
        .iter()
        .map(|name| Call::from_text(*name, "{}").with_id(*name))
        .collect();
    let settled = toolbox.invoke_all(&calls, Place::new("chat", 0, 0)).await;
    let told: Vec<String> = settled
        .iter()
        .map(|settled| text(&toolbox, settled))
        .collect();
    assert_eq!(told.len(), names.len());
    let crashed = "Do not send the same call again: try another way or tell the user.";
    assert_eq!(told[0], format!("The tool \"panics\" crashed. {crashed}"));
    assert_eq!(
        told[1],
        format!("The tool \"panics_at_once\" crashed. {crashed}")
    );
    assert_eq!(
        told[2],
        "The tool \"hangs\" did not answer within 3 seconds. Ask for less at once, or try again later."
    );
    assert_eq!(
        told[3],
        "The tool \"hangs_and_pays\" did not answer within 1.5 seconds. \
         It may have taken effect: check that before you call it again."
    );
    assert_eq!(
        told[4],
        "The result does not fit its schema: price: received a value that JSON cannot hold. \
         The arguments are not the cause: use another tool or tell the user."
    );
    assert_eq!(
        told[5],
        "The result is not text: byte 1 is no UTF-8. The arguments are not the cause: use another tool or tell the user."
    );
    assert!(told[6].len() < 300_000, "{}", told[6].len());
    assert!(
        told[6].ends_with(
            "\n\n[The result has 200000000 bytes; these are the first 262144. \
             Go on with what came, or ask for less at once.]"
        ),
        "{}",
        &told[6][told[6].len() - 200..]
    );
    assert_eq!(told[7], "fine");
    assert!(told[8].starts_with("There is no tool named \"missing\"."));

    // Every call is answered once, in every shape.
    for (_, provider) in Provider::ALL {
        let round = wire::render_round(provider, calls.iter().zip(&settled), toolbox.feedback());
        let whole = serde_json::to_string(&round).expect("JSON");
        if provider != Provider::Mcp {
            let key = match provider {
                Provider::OpenAiChat => "\"tool_call_id\":",
                Provider::OpenAiResponses => "\"call_id\":",
                Provider::Anthropic => "\"tool_use_id\":",
                _ => "\"id\":",
            };
            for name in names {
                let count = whole.matches(&format!("{key}\"{name}\"")).count();
                assert_eq!(count, 1, "{provider:?} {name}");
            }
        }
    }
}

#[tokio::test(start_paused = true)]
async fn what_passes_is_tried_again_only_where_that_does_no_harm() {
    let tool = |effect: Effect| {
        let runs = Arc::new(AtomicU32::new(0));
        let seen = Arc::clone(&runs);
        let tool = ToolDef::new("flaky", move |_: Nothing| {
            let run = seen.fetch_add(1, Ordering::SeqCst);
            async move {
                match run {
                    0 | 1 => Err(ToolFailure::transient("The index is being rebuilt.")),
                    _ => Ok("found".to_owned()),
                }
            }
        });
        (tool.effect(effect), runs)
    };
    let (reads, runs) = tool(Effect::Read);
    assert_eq!(said(reads, "{}").await.0, "found");
    assert_eq!(runs.load(Ordering::SeqCst), 3);

    for effect in [Effect::Write, Effect::Destructive, Effect::Unknown] {
        let (changes, runs) = tool(effect);
        let (told, code) = said(changes, "{}").await;
        assert_eq!(
            told,
            "The index is being rebuilt. Wait, then send the same call again."
        );
        assert_eq!(code, Some(Code::Transient));
        assert_eq!(runs.load(Ordering::SeqCst), 1, "{effect:?}");
    }
    let (idempotent, runs) = tool(Effect::Write);
    assert_eq!(said(idempotent.idempotent(), "{}").await.0, "found");
    assert_eq!(runs.load(Ordering::SeqCst), 3);

    let (only_once, runs) = tool(Effect::Read);
    let (told, _) = said(only_once.retries(0), "{}").await;
    assert!(told.starts_with("The index"), "{told}");
    assert_eq!(runs.load(Ordering::SeqCst), 1);
}

#[tokio::test]
async fn blocking_functions_run_beside() {
    let tool = ToolDef::blocking("add", |args: FindOrders| {
        std::thread::sleep(Duration::from_millis(2));
        ToolResult::Ok(args.page + 1)
    });
    let (told, _) = said(tool, r#"{"customer_id": "C-1", "page": 4}"#).await;
    assert_eq!(told, "5");
    let panics = ToolDef::blocking("panics", |_: Nothing| -> ToolResult<()> {
        let broken = std::hint::black_box(true);
        assert!(!broken, "in a thread");
        Ok(())
    });
    assert_eq!(said(panics, "{}").await.1, Some(Code::Panic));
}

#[tokio::test]
async fn functions_may_know_which_call_they_serve() {
    let tool = ToolDef::with_context("who", |_: Nothing, context: CallContext| async move {
        let CallContext {
            tool,
            id,
            session,
            turn,
            round,
            attempt,
            ..
        } = context;
        ToolResult::Ok(format!(
            "{tool} {id:?} {session:?} {turn:?} {round:?} {attempt}"
        ))
    });
    let toolbox = Toolbox::builder().tool(tool).build().expect("a good tool");
    let call = Call::from_text("who", "{}").with_id("call_7");
    let settled = toolbox.invoke(&call, Place::new("chat", 3, 4)).await;
    assert_eq!(
        text(&toolbox, &settled),
        r#"who Some("call_7") Some("chat") Some(3) Some(4) 0"#
    );
}

#[tokio::test]
async fn dynamic_tools_are_equal_citizens() {
    let schema = json!({
        "type": "object",
        "properties": {"n": {"type": "integer"}},
        "required": ["n"],
    });
    let spec = ToolSpec::new("double", schema)
        .with_output_schema(json!({"type": "object", "required": ["doubled"]}));
    let as_json = ToolDef::dynamic(spec.clone(), |arguments: serde_json::Value| async move {
        ToolResult::Ok(json!({"doubled": arguments["n"].as_i64().unwrap_or(0) * 2}))
    });
    assert_eq!(said(as_json, r#"{"n": 4}"#).await.0, r#"{"doubled":8}"#);
    let digits = ToolDef::dynamic(spec.clone(), |arguments: Value<'static>| async move {
        ToolResult::Ok(Output::Value(Value::Object(vec![(
            "doubled".into(),
            arguments.get("n").cloned().unwrap_or_default(),
        )])))
    });
    assert_eq!(
        said(digits, r#"{"n": 12345678901234567890123}"#).await.0,
        r#"{"doubled":12345678901234567890123}"#
    );
    let cut = ToolDef::dynamic(spec.clone(), |_: String| async {
        ToolResult::Ok(r#"{"doubled": {"total""#.to_owned())
    });
    let (told, code) = said(cut, r#"{"n": 4}"#).await;
    assert_eq!(
        told,
        "The result was cut off at doubled.total. Repeating the call will not help: ask for less at once."
    );
    assert_eq!(code, Some(Code::TruncatedResponse));
    let lacks = ToolDef::dynamic(spec, |_: String| async {
        ToolResult::Ok(json!({"sum": 8}))
    });
    let (told, code) = said(lacks, r#"{"n": 4}"#).await;
    assert_eq!(
        told,
        "The result does not fit its schema: doubled: Required, received keys \"sum\". \
         The arguments are not the cause: use another tool or tell the user."
    );
    assert_eq!(code, Some(Code::SchemaViolation));
}

#[tokio::test]
async fn a_schema_that_disagrees_with_its_type_is_found() {
    #[derive(Deserialize, JsonSchema)]
    struct Lies {
        #[schemars(with = "String")]
        #[expect(dead_code, reason = "only read")]
        count: u8,
    }
    let tool = ToolDef::new("lies", |_: Lies| async { ToolResult::Ok(()) });
    let error = Toolbox::builder()
        .tool(tool)
        .build()
        .expect_err("schema and type disagree");
    let error = error.to_string();
    assert!(error.starts_with("tool `lies`: "), "{error}");
    assert!(error.contains("count"), "{error}");

    // What only shows when the call comes is nobody's fault but the tool's.
    #[derive(Deserialize, JsonSchema)]
    #[serde(try_from = "String")]
    #[schemars(with = "String")]
    struct Even;
    impl TryFrom<String> for Even {
        type Error = String;
        fn try_from(text: String) -> Result<Self, String> {
            match text.len() % 2 {
                0 => Ok(Even),
                _ => Err("odd".to_owned()),
            }
        }
    }
    #[derive(Deserialize, JsonSchema)]
    struct Takes {
        #[expect(dead_code, reason = "only read")]
        even: Even,
    }
    let tool = ToolDef::new("takes", |_: Takes| async { ToolResult::Ok(()) });
    let (told, code) = said(tool, r#"{"even": "abc"}"#).await;
    assert_eq!(
        told,
        "The tool \"takes\" does not take even: odd. Correct it and call the tool again."
    );
    assert_eq!(code, Some(Code::ToolDefect));
}

#[test]
fn arguments_are_objects() -> Result<(), Error> {
    let number = ToolDef::new("number", |_: u8| async { ToolResult::Ok(()) });
    let error = Toolbox::builder()
        .tool(number)
        .build()
        .expect_err("a number is no object");
    assert!(error.to_string().contains("wrap it in a struct"), "{error}");
    let nothing = ToolDef::new("nothing", |(): ()| async { ToolResult::Ok(()) });
    Toolbox::builder().tool(nothing).build()?;
    Ok(())
}

#[tokio::test]
async fn cancelled_calls_are_answered_and_counted_as_unknown() {
    let (send, wait) = tokio::sync::oneshot::channel::<()>();
    let toolbox = Toolbox::builder()
        .tool(ToolDef::new("quick", |_: Nothing| async {
            ToolResult::Ok("done".to_owned())
        }))
        .tool(ToolDef::new("slow", |_: Nothing| async {
            std::future::pending::<()>().await;
            ToolResult::Ok(())
        }))
        .build()
        .expect("good tools");
    let calls = [
        Call::from_text("quick", "{}").with_id("1"),
        Call::from_text("slow", "{}").with_id("2"),
        Call::from_text("quick", "{").with_id("3"),
    ];
    let running = toolbox.invoke_all_until(&calls, Place::new("chat", 0, 0), async {
        let _ = wait.await;
    });
    let cancel = async {
        tokio::task::yield_now().await;
        send.send(()).expect("somebody waits");
    };
    let (settled, ()) = tokio::join!(running, cancel);
    let codes: Vec<Option<Code>> = settled
        .iter()
        .map(|settled| settled.failure().map(|failure| failure.code))
        .collect();
    assert_eq!(
        codes,
        [None, Some(Code::Cancelled), Some(Code::TruncatedCall)]
    );
    assert_eq!(
        text(&toolbox, &settled[1]),
        "The call of \"slow\" was cancelled before it had ended. Ask the user before you call it again."
    );
}

/// Nothing is started that nobody waits for: neither a call that is cancelled already, nor one that stands in a queue.
#[tokio::test]
async fn what_is_cancelled_before_its_turn_does_not_run() {
    let runs = Arc::new(AtomicU32::new(0));
    let seen = Arc::clone(&runs);
    let (counted, attempts) = std::sync::mpsc::channel();
    let tool = ToolDef::new("slow", move |_: Nothing| {
        seen.fetch_add(1, Ordering::SeqCst);
        async {
            std::future::pending::<()>().await;
            ToolResult::Ok(())
        }
    });
    let toolbox = Toolbox::builder()
        .tool(tool.concurrency(1))
        .on(On::Any, move |event| {
            let _ = counted.send((event.attempts, event.latency.is_some()));
        })
        .build()
        .expect("a good tool");
    let call = Call::from_text("slow", "{}");
    let settled = toolbox
        .invoke_until(&call, None, std::future::ready(()))
        .await;
    assert!(settled.is_error());
    assert_eq!(runs.load(Ordering::SeqCst), 0);

    let calls = [call.clone(), call.clone(), call.clone()];
    let settled = toolbox
        .invoke_all_until(&calls, None, tokio::task::yield_now())
        .await;
    assert!(settled.iter().all(Settled::is_error));
    assert_eq!(runs.load(Ordering::SeqCst), 1);
    assert!(toolbox.sinks().flush(Duration::from_secs(30)));
    let mut attempts: Vec<_> = attempts.try_iter().collect();
    attempts.sort_unstable();
    assert_eq!(attempts, [(0, false), (0, false), (0, false), (1, true)]);
}

/// A payment that timed out may have been made: it is not made again unasked.
#[tokio::test(start_paused = true)]
async fn what_may_have_taken_effect_is_not_run_again() {
    let runs = Arc::new(AtomicU32::new(0));
    let seen = Arc::clone(&runs);
    let tool = ToolDef::new("pay", move |_: Nothing| {
        seen.fetch_add(1, Ordering::SeqCst);
        async {
            std::future::pending::<()>().await;
            ToolResult::Ok(())
        }
    });
    let toolbox = Toolbox::builder()
        .tool(tool.effect(Effect::Destructive))
        .build()
        .expect("a good tool");
    let call = Call::from_text("pay", "{}");
    for round in 0..5 {
        let settled = toolbox.invoke(&call, Place::new("chat", 0, round)).await;
        let failure = settled.failure().expect("it never works");
        if round == 0 {
            assert_eq!(failure.code, Code::Timeout);
        } else {
            assert_eq!(failure.code, Code::RetryBudgetExceeded);
            assert_eq!(failure.next(), Next::AskUser);
        }
    }
    assert_eq!(runs.load(Ordering::SeqCst), 1);
}

#[tokio::test]
async fn a_server_that_wants_time_gets_it() {
    let tool = ToolDef::new("busy", |_: Nothing| async {
        let failure = ToolFailure::transient("The index is being rebuilt.")
            .with_retry_after(Duration::from_secs(90));
        ToolResult::<()>::Err(failure)
    });
    let tool = tool.effect(Effect::Read);
    let toolbox = Toolbox::builder().tool(tool).build().expect("a good tool");
    let call = Call::from_text("busy", "{}");
    let settled = toolbox.invoke(&call, Place::new("chat", 0, 0)).await;
    assert_eq!(
        toolbox.text(&settled),
        "The index is being rebuilt. Wait 90 seconds, then send the same call again."
    );
}

#[test]
fn what_is_worth_a_look_is_told() {
    let spec = ToolSpec::new("odd", json!({"type": "strange"}));
    let toolbox = Toolbox::builder()
        .tool(ToolDef::dynamic(spec, |_: String| async {
            ToolResult::Ok("")
        }))
        .build()
        .expect("a tool in quarantine");
    let warnings = toolbox.warnings();
    assert_eq!(warnings.len(), 1, "{warnings:?}");
    assert!(
        warnings[0].starts_with("tool `odd`: its calls pass unvalidated: "),
        "{warnings:?}"
    );
}

#[tokio::test]
async fn a_dropped_call_has_an_event_all_the_same() {
    let (seen, events) = std::sync::mpsc::channel();
    let toolbox = Toolbox::builder()
        .tool(ToolDef::new("slow", |_: Nothing| async {
            std::future::pending::<()>().await;
            ToolResult::Ok(())
        }))
        .on(On::Any, move |event| {
            let code = event.output_failure.as_ref().map(|failure| failure.code);
            let _ = seen.send((event.tool.clone(), code, event.attempts));
        })
        .build()
        .expect("a good tool");
    let call = Call::from_text("slow", "{}");
    {
        let invoked = std::pin::pin!(toolbox.invoke(&call, Place::new("chat", 0, 0)));
        let now = std::pin::pin!(std::future::ready(()));
        let _ = futures_util::future::select(invoked, now).await;
    }
    let event = events
        .recv_timeout(Duration::from_secs(30))
        .expect("an event");
    assert_eq!(event, ("slow".to_owned(), Some(Code::Cancelled), 1));
}

#[tokio::test]
async fn recommendations_can_be_replaced() {
    let tool = ToolDef::new("load", |_: Nothing| async {
        ToolResult::<()>::Err(ToolFailure::internal("disk on fire"))
    })
    .advice(Advice::default().for_class(Class::Runtime, ["Call `status` first.", "Then wait."]));
    let toolbox = Toolbox::builder()
        .tool(tool)
        .feedback(Feedback::new(Style::Json))
        .build()
        .expect("a good tool");
    let call = Call::from_text("load", "{}");
    let settled = toolbox.invoke(&call, None).await;
    let told: serde_json::Value =
        serde_json::from_str(&text(&toolbox, &settled)).expect("JSON style");
    assert_eq!(
        told,
        json!({
            "ok": false,
            "error": "The tool \"load\" failed with an internal error.",
            "error_type": "runtime",
            "retryable": false,
            "recommendations": ["Call `status` first.", "Then wait."],
            "next": "change_approach",
        })
    );
    let failure = settled.failure().expect("it failed");
    assert_eq!(failure.for_operator(), Some("disk on fire"));
}

#[tokio::test]
async fn only_so_many_run_at_once() {
    let now = Arc::new(AtomicU32::new(0));
    let most = Arc::new(AtomicU32::new(0));
    let (running, seen) = (Arc::clone(&now), Arc::clone(&most));
    let tool = ToolDef::new("narrow", move |_: Nothing| {
        let (running, seen) = (Arc::clone(&running), Arc::clone(&seen));
        async move {
            seen.fetch_max(running.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
            for _ in 0..10 {
                tokio::task::yield_now().await;
            }
            running.fetch_sub(1, Ordering::SeqCst);
            ToolResult::Ok(())
        }
    })
    .concurrency(3);
    let toolbox = Toolbox::builder().tool(tool).build().expect("a good tool");
    let calls: Vec<Call<'_>> = (0..40).map(|_| Call::from_text("narrow", "{}")).collect();
    let settled = toolbox.invoke_all(&calls, None).await;
    assert!(settled.iter().all(|settled| !settled.is_error()));
    assert_eq!(most.load(Ordering::SeqCst), 3);
}

/// Many calls of many sessions at once: none is lost, and nobody waits for ever.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn ten_thousand_calls_in_two_hundred_sessions() {
    const SESSIONS: u64 = 200;
    const CALLS: u64 = 50;
    let lines: Arc<std::sync::Mutex<Vec<u8>>> = Arc::default();
    #[derive(Clone)]
    struct Shared(Arc<std::sync::Mutex<Vec<u8>>>);
    impl std::io::Write for Shared {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.0.lock().expect("nobody panicked").write(bytes)
        }
        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }
    let toolbox = Arc::new(
        Toolbox::builder()
            .tool(ToolDef::new("find_orders", |args: FindOrders| async move {
                tokio::task::yield_now().await;
                find_orders(args).await
            }))
            .sink("lines", JsonLines::new(Shared(Arc::clone(&lines))))
            .concurrency(64)
            .build()
            .expect("a good tool"),
    );
    let sessions = (0..SESSIONS).map(|session| {
        let toolbox = Arc::clone(&toolbox);
        tokio::spawn(async move {
            let session = format!("chat-{session}");
            let calls: Vec<Call<'_>> = (1..=CALLS)
                .map(|page| {
                    let text = format!("{{\"customer_id\": \"{session}\", \"page\": {page}}}");
                    Call::from_text("find_orders", text)
                })
                .collect();
            let settled = toolbox.invoke_all(&calls, Place::new(&session, 0, 0)).await;
            settled.iter().filter(|settled| !settled.is_error()).count()
        })
    });
    let mut good = 0;
    for session in sessions.collect::<Vec<_>>() {
        good += session.await.expect("no panic");
    }
    assert_eq!(good as u64, SESSIONS * CALLS);
    assert!(toolbox.sinks().flush(Duration::from_secs(60)));
    let lines = lines.lock().expect("nobody panicked");
    let count = lines.split(|byte| *byte == b'\n').count() - 1;
    assert_eq!(count as u64, SESSIONS * CALLS);
}
