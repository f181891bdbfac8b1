//! Tools that misbehave: every call is still answered, and the other tools continue.
#![allow(
    clippy::expect_used,
    clippy::items_after_statements,
    clippy::panic,
    reason = "a test may panic, and its steps belong together"
)]

use std::fmt;
use std::future::{Future, pending};
use std::panic::panic_any;
use std::pin::Pin;
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock, mpsc};
use std::task::{Context, Poll};
use std::time::Duration;

use callwright::admit::{MemoryLedger, Place};
use callwright::check::ToolFailure;
use callwright::event::On;
use callwright::failure::Code;
use callwright::tool::Effect;
use callwright::toolbox::{ToolDef, ToolResult, Toolbox};
use callwright::{Call, Settled};
use futures_util::FutureExt as _;
use futures_util::future::ready;
use schemars::JsonSchema;
use serde::Deserialize;

#[derive(Debug, Deserialize, JsonSchema)]
struct Nothing {}

const A_WHILE: Duration = Duration::from_secs(30);

fn code(settled: &Settled<'_>) -> Option<Code> {
    settled.failure().map(|failure| failure.code)
}

fn text(toolbox: &Toolbox, settled: &Settled<'_>) -> String {
    settled.text(toolbox.feedback()).into_owned()
}

/// Panics with another `Bomb` when dropped.
struct Bomb;

impl Drop for Bomb {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            panic_any(Bomb);
        }
    }
}

/// Never ready, and panics when it is dropped.
struct BadEnd;

impl Future for BadEnd {
    type Output = ToolResult<()>;
    fn poll(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Self::Output> {
        Poll::Pending
    }
}

impl Drop for BadEnd {
    fn drop(&mut self) {
        panic_any(Bomb);
    }
}

/// An error that cannot be displayed.
#[derive(Debug)]
struct Unspeakable;

impl fmt::Display for Unspeakable {
    fn fmt(&self, _: &mut fmt::Formatter<'_>) -> fmt::Result {
        panic!("no words for it")
    }
}

impl std::error::Error for Unspeakable {}

fn fine() -> ToolDef<Nothing, String> {
    ToolDef::new("fine", |_: Nothing| async {
        ToolResult::Ok("fine".to_owned())
    })
}

fn hangs(name: &str) -> ToolDef<Nothing, ()> {
    ToolDef::new(name, |_: Nothing| async {
        pending::<()>().await;
        ToolResult::Ok(())
    })
}

#[tokio::test(start_paused = true)]
async fn panics_of_every_kind_stay_inside() {
    let toolbox = Toolbox::builder()
        .tool(ToolDef::new("thrown", |_: Nothing| async {
            if std::hint::black_box(true) {
                panic_any(Bomb);
            }
            ToolResult::Ok(())
        }))
        .tool(ToolDef::new("bad_end", |_: Nothing| BadEnd).timeout(Duration::from_secs(1)))
        .tool(ToolDef::new("unspeakable", |_: Nothing| async {
            Result::<(), _>::Err(Unspeakable)
        }))
        .tool(
            ToolDef::new("checked", |_: Nothing| async {
                ToolResult::Ok("good".to_owned())
            })
            .check(|_| panic_any(Bomb)),
        )
        .tool(fine())
        .build()
        .expect("good tools");
    let names = ["thrown", "bad_end", "unspeakable", "checked", "fine"];
    let calls = names.map(|name| Call::from_text(name, "{}"));
    let settled = toolbox.invoke_all(&calls, None).await;
    let codes: Vec<Option<Code>> = settled.iter().map(code).collect();
    let panic = Some(Code::Panic);
    let expected = [panic, Some(Code::Timeout), panic, None, None];
    assert_eq!(codes, expected);
    assert_eq!(
        text(&toolbox, &settled[2]),
        "The tool \"unspeakable\" crashed. Do not send the same call again: try another way or tell the user."
    );
    assert_eq!(
        settled[2].failure().and_then(|it| it.for_operator()),
        Some("no words for it")
    );
}

/// Not in paused time, which does not wait for threads.
#[tokio::test]
async fn a_panic_in_a_blocking_function_stays_inside() {
    let bomb = ToolDef::blocking("beside", |_: Nothing| -> ToolResult<()> { panic_any(Bomb) });
    let toolbox = Toolbox::builder().tool(bomb).build().expect("a good tool");
    let call = Call::from_text("beside", "{}");
    assert_eq!(code(&toolbox.invoke(&call, None).await), Some(Code::Panic));
}

/// More calls hang than a tool has threads, and than Tokio's pool has here.
#[tokio::test]
async fn blocking_functions_that_hang_hold_up_no_other_tool() {
    let (release, gate) = std::sync::mpsc::channel::<()>();
    let gate = Arc::new(std::sync::Mutex::new(gate));
    let running = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&running);
    let hangs = ToolDef::blocking("hangs", move |_: Nothing| {
        count.fetch_add(1, Ordering::SeqCst);
        // Until the end of the test.
        let _ = gate.lock().map(|gate| gate.recv());
        ToolResult::Ok(())
    });
    let quick = ToolDef::blocking("quick", |_: Nothing| ToolResult::Ok("done".to_owned()));
    let toolbox = Toolbox::builder()
        .tool(hangs.timeout(Duration::from_millis(50)))
        .tool(quick.timeout(Duration::from_secs(30)))
        .build()
        .expect("good tools");
    let calls: Vec<Call<'_>> = (0..600).map(|_| Call::from_text("hangs", "{}")).collect();
    let settled = toolbox.invoke_all(&calls, None).await;
    assert!(settled.iter().all(|it| code(it) == Some(Code::Timeout)));
    // On a busy machine a thread may start after its call has timed out.
    for _ in 0..1_000 {
        if running.load(Ordering::SeqCst) < 64 {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    }
    assert_eq!(running.load(Ordering::SeqCst), 64, "threads are counted");
    let call = Call::from_text("quick", "{}");
    assert_eq!(text(&toolbox, &toolbox.invoke(&call, None).await), "done");
    // Tokio's own pool is not affected.
    let beside = tokio::task::spawn_blocking(|| 7).await;
    assert_eq!(beside.expect("it runs"), 7);
    drop(release);
}

/// What an event finally reports: the code, and how often the tool was run.
type Told = (Option<Code>, u32);

fn watched(tool: ToolDef<Nothing, ()>) -> (Toolbox, mpsc::Receiver<Told>) {
    let (tell, told) = mpsc::channel();
    let toolbox = Toolbox::builder()
        .tool(tool)
        .on(On::Any, move |event| {
            let code = event.output_failure.as_ref().map(|failure| failure.code);
            let _ = tell.send((code, event.attempts));
        })
        .build()
        .expect("a good tool");
    (toolbox, told)
}

#[tokio::test]
async fn a_call_cancelled_before_its_turn_never_starts() {
    let begun = Arc::new(AtomicU32::new(0));
    let count = Arc::clone(&begun);
    let tool = ToolDef::new("pay", move |_: Nothing| {
        count.fetch_add(1, Ordering::SeqCst);
        pending::<ToolResult<()>>()
    });
    let (toolbox, told) = watched(tool.effect(Effect::Write).concurrency(1));
    let calls: Vec<Call<'_>> = (0..3).map(|_| Call::from_text("pay", "{}")).collect();
    let (send, wait) = tokio::sync::oneshot::channel::<()>();
    let running = toolbox.invoke_all_until(&calls, None, wait.map(drop));
    let cancel = async {
        tokio::task::yield_now().await;
        send.send(()).expect("a receiver waits");
    };
    let (settled, ()) = tokio::join!(running, cancel);
    assert_eq!(begun.load(Ordering::SeqCst), 1);
    let texts: Vec<String> = settled
        .iter()
        .map(|settled| text(&toolbox, settled))
        .collect();
    assert_eq!(
        texts[0],
        "The call to \"pay\" was cancelled before it finished. It may have taken effect: check that before you call it again."
    );
    let not_begun = "The call to \"pay\" was cancelled before it started. Ask the user before you call it again.";
    assert_eq!(texts[1..], [not_begun, not_begun]);
    let mut events: Vec<Told> = (0..3)
        .map(|_| told.recv_timeout(A_WHILE).expect("an event"))
        .collect();
    events.sort_by_key(|(_, runs)| *runs);
    let cancelled = Some(Code::Cancelled);
    assert_eq!(events, [(cancelled, 0), (cancelled, 0), (cancelled, 1)]);

    // One call that is cancelled before all others.
    let settled = toolbox.invoke_until(&calls[0], None, ready(())).await;
    assert_eq!(text(&toolbox, &settled), not_begun);
    assert_eq!(begun.load(Ordering::SeqCst), 1);
}

#[tokio::test(start_paused = true)]
async fn cancelled_and_dropped_between_two_runs() {
    let tool = || {
        ToolDef::new("busy", |_: Nothing| async {
            ToolResult::<()>::Err(
                ToolFailure::transient("Busy.").with_retry_after(Duration::from_secs(2)),
            )
        })
        .effect(Effect::Read)
    };
    let call = Call::from_text("busy", "{}");
    let soon = || tokio::time::sleep(Duration::from_secs(3));

    let (toolbox, told) = watched(tool());
    let settled = toolbox
        .invoke_until(&call, Place::new("chat", 0, 0), soon())
        .await;
    assert_eq!(code(&settled), Some(Code::Cancelled));
    assert_eq!(told.recv_timeout(A_WHILE), Ok((Some(Code::Cancelled), 2)));

    let dropped = tokio::time::timeout(Duration::from_secs(1), toolbox.invoke(&call, None)).await;
    assert!(dropped.is_err());
    assert_eq!(told.recv_timeout(A_WHILE), Ok((Some(Code::Cancelled), 1)));
}

#[tokio::test(start_paused = true)]
async fn a_server_that_asks_for_too_long_a_wait_is_not_retried() {
    let (toolbox, told) = watched(
        ToolDef::new("busy", |_: Nothing| async {
            let failure =
                ToolFailure::transient("Busy.").with_retry_after(Duration::from_secs(600));
            ToolResult::<()>::Err(failure)
        })
        .effect(Effect::Read),
    );
    let call = Call::from_text("busy", "{}");
    let settled = toolbox.invoke(&call, None).await;
    assert_eq!(
        text(&toolbox, &settled),
        "Busy. Wait 600 seconds, then send the same call again."
    );
    assert_eq!(told.recv_timeout(A_WHILE), Ok((Some(Code::Transient), 1)));
    let counted = toolbox.invoke(&call, Place::new("chat", 0, 0)).await;
    assert_eq!(text(&toolbox, &counted), text(&toolbox, &settled));
}

#[tokio::test(start_paused = true)]
async fn limits_of_any_size_are_taken() {
    for most in [0, 1, usize::MAX] {
        let toolbox = Toolbox::builder()
            .tool(
                fine()
                    .concurrency(most)
                    .timeout(Duration::ZERO)
                    .retries(u32::MAX),
            )
            .tool(hangs("hangs").timeout(Duration::ZERO))
            .concurrency(most)
            .build()
            .expect("good tools");
        let calls = ["fine", "hangs", "fine"].map(|name| Call::from_text(name, "{}"));
        let settled = toolbox.invoke_all(&calls, None).await;
        let codes: Vec<Option<Code>> = settled.iter().map(code).collect();
        // A tool that answers at once needs no time.
        assert_eq!(codes, [None, Some(Code::Timeout), None]);
        assert!(text(&toolbox, &settled[1]).contains("did not answer within 0 ms"));
    }
}

#[tokio::test]
async fn a_tool_that_never_yields_times_out_too() {
    let tool = ToolDef::new("busy", |_: Nothing| async {
        loop {
            tokio::task::consume_budget().await;
        }
        #[expect(unreachable_code, reason = "it shows the type of the answer")]
        ToolResult::Ok(())
    });
    let (toolbox, told) = watched(tool.timeout(Duration::from_millis(20)));
    let call = Call::from_text("busy", "{}");
    assert_eq!(
        code(&toolbox.invoke(&call, None).await),
        Some(Code::Timeout)
    );
    assert_eq!(told.recv_timeout(A_WHILE), Ok((Some(Code::Timeout), 1)));
}

#[tokio::test(start_paused = true)]
async fn tools_may_call_tools() {
    for (turns, expected) in [(2, None), (1, Some(Code::Timeout))] {
        let own: Arc<OnceLock<Toolbox>> = Arc::default();
        let inner = Arc::clone(&own);
        let outer = ToolDef::new("outer", move |_: Nothing| {
            let inner = Arc::clone(&inner);
            async move {
                let toolbox = inner
                    .get()
                    .ok_or_else(|| ToolFailure::internal("too early"))?;
                let call = Call::from_text("fine", "{}");
                let settled = toolbox.invoke(&call, None).await;
                ToolResult::Ok(text(toolbox, &settled))
            }
        });
        let toolbox = Toolbox::builder()
            .tool(outer)
            .tool(fine())
            .concurrency(turns)
            .build();
        let toolbox = own.get_or_init(|| toolbox.expect("good tools"));
        let call = Call::from_text("outer", "{}");
        assert_eq!(code(&toolbox.invoke(&call, None).await), expected);
    }
}

#[tokio::test]
async fn toolboxes_with_one_ledger_share_their_budgets() {
    let ledger: Arc<MemoryLedger> = Arc::default();
    let toolbox = || {
        Toolbox::builder()
            .tool(fine().effect(Effect::Write))
            .ledger(ledger.clone())
            .build()
            .expect("a good tool")
    };
    let (first, second) = (toolbox(), toolbox());
    let call = Call::from_text("fine", "{}");
    assert_eq!(
        code(&first.invoke(&call, Place::new("chat", 0, 0)).await),
        None
    );
    let again = second.invoke(&call, Place::new("chat", 0, 1)).await;
    assert!(again.is_error(), "{again:?}");
    assert_eq!(
        code(&second.invoke(&call, Place::new("other", 0, 0)).await),
        None
    );
}

#[tokio::test]
async fn similar_names_are_not_guessed() {
    let tool = |name: &str| ToolDef::new(name, |_: Nothing| async { ToolResult::Ok(()) });
    let toolbox = Toolbox::builder()
        .tool(tool("get_user"))
        .tool(tool("getUser"))
        .build()
        .expect("good tools");
    let call = Call::from_text("GET-USER", "{}");
    let settled = toolbox.invoke(&call, None).await;
    assert_eq!(code(&settled), Some(Code::UnknownTool));
    let twice = Toolbox::builder().tool(fine()).tool(fine()).build();
    assert!(twice.is_err());
}
