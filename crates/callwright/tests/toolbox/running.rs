//! Whatever a tool does while it runs: the other tools continue, and nothing runs that should not.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use callwright::admit::Place;
use callwright::check::ToolFailure;
use callwright::event::{JsonLines, On, Sinks};
use callwright::failure::{Code, Next};
use callwright::tool::Effect;
use callwright::toolbox::{CallContext, ToolDef, ToolResult, Toolbox};
use callwright::wire::{self, Provider};
use callwright::{Call, Settled, ToolSpec};
use schemars::JsonSchema;
use serde::Serialize;

use super::{FindOrders, Nothing, find_orders, said, text};

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
        "The result is not text: byte 1 is not UTF-8. The arguments are not the cause: use another tool or tell the user."
    );
    assert!(told[6].len() < 300_000, "{}", told[6].len());
    assert!(
        told[6].ends_with(
            "\n\n[The result has 200000000 bytes; these are the first 262144. \
             Continue with what you have, or ask for less at once.]"
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
async fn transient_failures_are_retried_only_if_that_is_safe() {
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
async fn blocking_functions_run_on_other_threads() {
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
async fn functions_can_get_the_call_context() {
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
        send.send(()).expect("a receiver waits");
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
        "The call to \"slow\" was cancelled before it finished. Ask the user before you call it again."
    );
}

/// Nothing is started without a waiting caller: neither a call that is already cancelled, nor one in a queue.
#[tokio::test]
async fn a_call_cancelled_before_its_turn_does_not_run() {
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

/// A payment that timed out may have been made: it is not repeated without asking.
#[tokio::test(start_paused = true)]
async fn a_call_that_may_have_taken_effect_is_not_repeated() {
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
async fn a_retry_waits_as_long_as_the_server_asks() {
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

#[tokio::test]
async fn a_dropped_call_still_has_an_event() {
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

/// Many calls of many sessions at once: none is lost, and none waits forever.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn ten_thousand_calls_in_two_hundred_sessions() {
    const SESSIONS: u64 = 200;
    const CALLS: u64 = 50;
    let lines: Arc<std::sync::Mutex<Vec<u8>>> = Arc::default();
    #[derive(Clone)]
    struct Shared(Arc<std::sync::Mutex<Vec<u8>>>);
    impl std::io::Write for Shared {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.0.lock().expect("not poisoned").write(bytes)
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
    let lines = lines.lock().expect("not poisoned");
    let count = lines.split(|byte| *byte == b'\n').count() - 1;
    assert_eq!(count as u64, SESSIONS * CALLS);
}

/// Calls that wait for a rate limit hold no slot: the other tools continue.
#[tokio::test(start_paused = true)]
async fn a_call_that_waits_before_a_retry_leaves_its_slot_to_others() {
    let limited = ToolDef::new("limited", |_: Nothing| async {
        let failure = ToolFailure::transient("slow down");
        ToolResult::<()>::Err(failure.with_retry_after(Duration::from_secs(5)))
    });
    let toolbox = Toolbox::builder()
        .tool(limited.effect(Effect::Read).retries(3))
        .tool(ToolDef::new("fine", |_: Nothing| async {
            ToolResult::Ok("fine".to_owned())
        }))
        .concurrency(1)
        .build()
        .expect("good tools");
    let limited = [
        Call::from_text("limited", "{}"),
        Call::from_text("limited", "{}"),
    ];
    let fine = Call::from_text("fine", "{}");
    let other = async {
        tokio::time::sleep(Duration::from_millis(1)).await;
        let start = tokio::time::Instant::now();
        let settled = toolbox.invoke(&fine, None).await;
        (text(&toolbox, &settled), start.elapsed())
    };
    let (_, (told, waited)) = tokio::join!(toolbox.invoke_all(&limited, None), other);
    assert_eq!(told, "fine");
    assert!(waited < Duration::from_millis(1), "{waited:?}");
}

#[test]
fn two_ways_to_set_sinks_exclude_each_other() {
    let running = || {
        let sinks = Sinks::builder().on(On::Any, |_| {});
        sinks.start().expect("a thread")
    };
    let both = Toolbox::builder().on(On::Any, |_| {}).sinks(running());
    let error = both.build().expect_err("the first sink would get nothing");
    assert!(
        error.to_string().contains("`sinks` takes all sinks"),
        "{error}"
    );
    assert!(Toolbox::builder().sinks(running()).build().is_ok());
}
