//! A toolbox in any runtime, on any thread, and without either.
#![allow(clippy::expect_used, reason = "a test may panic")]

use std::future::{Future, pending};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;

use callwright::admit::ledger::{Ask, LedgerAway, Noted, Report, Ruling};
use callwright::admit::{Ledger, MemoryLedger, Place, Reply, Session, Ticket};
use callwright::check::ToolFailure;
use callwright::failure::Code;
use callwright::tool::Effect;
use callwright::toolbox::{ToolDef, ToolResult, Toolbox};
use callwright::{Call, Gate, Settled};
use schemars::JsonSchema;
use serde::Deserialize;

#[derive(Debug, Deserialize, JsonSchema)]
struct Nothing {}

fn code(settled: &Settled<'_>) -> Option<Code> {
    settled.failure().map(|failure| failure.code)
}

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

/// Also works without Tokio, or with a Tokio runtime that has no clock.
fn everywhere() -> Toolbox {
    let tries = AtomicU32::new(0);
    Toolbox::builder()
        .tool(fine())
        .tool(hangs("hangs").timeout(Duration::from_millis(20)))
        .tool(
            ToolDef::new("flaky", move |_: Nothing| {
                let first = tries.fetch_add(1, Ordering::SeqCst) == 0;
                async move {
                    if first {
                        let failure = ToolFailure::transient("Busy.");
                        return Err(failure.with_retry_after(Duration::from_millis(5)));
                    }
                    Ok("found".to_owned())
                }
            })
            .effect(Effect::Read),
        )
        .tool(
            ToolDef::new("later", |_: Nothing| async {
                let (send, wait) = tokio::sync::oneshot::channel();
                std::thread::spawn(move || send.send("later".to_owned()));
                ToolResult::Ok(wait.await?)
            })
            .timeout(Duration::MAX),
        )
        .tool(ToolDef::blocking("blocks", |_: Nothing| {
            ToolResult::Ok("beside".to_owned())
        }))
        .build()
        .expect("good tools")
}

const EVERYWHERE: [&str; 5] = ["fine", "hangs", "flaky", "later", "blocks"];

#[test]
fn no_tokio_is_needed() {
    let toolbox = everywhere();
    let calls = EVERYWHERE.map(|name| Call::from_text(name, "{}"));
    let settled = futures_executor(toolbox.invoke_all(&calls, Place::new("chat", 0, 0)));
    let codes: Vec<Option<Code>> = settled.iter().map(code).collect();
    assert_eq!(codes, [None, Some(Code::Timeout), None, None, None]);
}

#[test]
fn no_clock_is_needed() {
    let toolbox = everywhere();
    let calls = EVERYWHERE.map(|name| Call::from_text(name, "{}"));
    let runtime = tokio::runtime::Builder::new_current_thread()
        .build()
        .expect("a runtime");
    let settled = runtime.block_on(toolbox.invoke_all(&calls, None));
    let codes: Vec<Option<Code>> = settled.iter().map(code).collect();
    assert_eq!(codes, [None, Some(Code::Timeout), None, None, None]);
}

/// Polls until there is an answer, and sleeps until it is woken.
fn futures_executor<F: Future>(future: F) -> F::Output {
    struct Unpark(std::thread::Thread);
    impl std::task::Wake for Unpark {
        fn wake(self: Arc<Self>) {
            self.0.unpark();
        }
    }
    let waker = Arc::new(Unpark(std::thread::current())).into();
    let mut future = std::pin::pin!(future);
    loop {
        if let Poll::Ready(output) = future.as_mut().poll(&mut Context::from_waker(&waker)) {
            return output;
        }
        std::thread::park();
    }
}

/// In memory, but claims that it may wait for a server.
#[derive(Debug, Default)]
struct Faraway(MemoryLedger);

impl Ledger for Faraway {
    fn waits(&self) -> bool {
        true
    }
    fn open(&self, session: &str, ask: &Ask<'_>) -> Result<Ruling, LedgerAway> {
        self.0.open(session, ask)
    }
    fn close(&self, session: &str, report: &Report<'_>) -> Result<Noted, LedgerAway> {
        self.0.close(session, report)
    }
    fn answer(&self, session: &str, reply: &Reply) -> Result<(), LedgerAway> {
        self.0.answer(session, reply)
    }
    fn save(&self, session: &str) -> Result<Option<Session>, LedgerAway> {
        self.0.save(session)
    }
    fn resume(&self, session: &str, saved: Session) -> Result<(), LedgerAway> {
        self.0.resume(session, saved)
    }
}

#[test]
fn a_ledger_may_wait_on_any_thread() {
    let toolbox = || {
        Toolbox::builder()
            .tool(fine())
            .ledger(Arc::new(Faraway::default()))
            .build()
            .expect("a good tool")
    };
    let all_good = async || {
        let toolbox = toolbox();
        let calls = [(); 3].map(|()| Call::from_text("fine", "{}"));
        let settled = toolbox.invoke_all(&calls, Place::new("chat", 0, 0)).await;
        settled.iter().all(|settled| !settled.is_error())
    };
    assert!(futures_executor(all_good()));
    let one = tokio::runtime::Builder::new_current_thread()
        .build()
        .expect("a runtime");
    assert!(one.block_on(all_good()));
    let many = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .build()
        .expect("a runtime");
    assert!(many.block_on(all_good()));
    let local = tokio::task::LocalSet::new();
    assert!(local.block_on(&many, all_good()));
}

/// One gate for all threads, and calls that move between them.
#[test]
fn gates_and_tickets_can_move_between_threads() {
    fn shared<T: Send + Sync>() {}
    fn sent<T: Send>(_: &T) {}
    shared::<Gate>();
    shared::<Toolbox>();
    shared::<Ticket<'_>>();
    shared::<Settled<'_>>();
    let toolbox = Toolbox::builder()
        .tool(fine())
        .build()
        .expect("a good tool");
    let calls = [Call::from_text("fine", "{}")];
    sent(&toolbox.invoke_all(&calls, Place::new("chat", 0, 0)));
    sent(&toolbox.invoke_until(&calls[0], None, pending()));
}
