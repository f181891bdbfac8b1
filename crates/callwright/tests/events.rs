//! Events and their sinks: no sink delays or fails a call, and the events that it misses are counted.
#![allow(clippy::expect_used, reason = "a test may panic")]

use std::sync::mpsc::{Receiver, Sender, channel as unbounded, sync_channel};
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime};

use callwright::admit::Place;
use callwright::event::{
    Event, On, Sink, SinkError, SinkRegistration, SinkStats, Sinks, callback, channel,
};
use callwright::{Call, Gate, ToolSpec};
use serde_json::json;

/// Generous, since nothing is measured: it only ends a test that hangs.
const PATIENCE: Duration = Duration::from_secs(60);

fn gate() -> Gate {
    let tool = ToolSpec::new(
        "search",
        json!({"type": "object", "properties": {"number": {"type": "integer"}}}),
    );
    Gate::builder().tool(tool).build().expect("one tool")
}

fn event(gate: &Gate, number: usize) -> Event {
    let call = Call::from_text("search", format!(r#"{{"number":{number}}}"#));
    Event::of(gate, &call, &gate.judge(&call), SystemTime::UNIX_EPOCH)
}

fn number(event: &Event) -> usize {
    let arguments = event.arguments().expect("readable");
    let number = arguments
        .get("number")
        .and_then(|number| number.as_number());
    usize::try_from(number.expect("a number").as_u64().expect("a small one")).expect("small")
}

fn only(sinks: &Sinks) -> SinkStats {
    sinks.stats()[0].1.clone()
}

fn counts(stats: &SinkStats) -> (u64, u64, u64, u64) {
    (stats.delivered, stats.dropped, stats.failed, stats.waiting)
}

/// Takes an event, reports it, and waits until it is released.
struct Blocked {
    reached: Sender<()>,
    go_on: Receiver<()>,
}

impl Sink for Blocked {
    fn record(&mut self, _: &Arc<Event>) -> Result<(), SinkError> {
        // The test may have ended.
        let _ = self.reached.send(());
        let _ = self.go_on.recv();
        Ok(())
    }
}

fn blocked() -> (Blocked, Receiver<()>, Sender<()>) {
    let (reached, is_reached) = unbounded();
    let (go_on, goes_on) = unbounded();
    let sink = Blocked {
        reached,
        go_on: goes_on,
    };
    (sink, is_reached, go_on)
}

#[test]
fn a_blocking_sink_delays_no_call_and_missed_events_are_counted() {
    let gate = gate();
    let (sink, is_reached, go_on) = blocked();
    let (quick, seen) = sync_channel(20_000);
    let sinks = Sinks::builder()
        .register(SinkRegistration::new("blocked", sink).with_capacity(100))
        .sink(
            "quick",
            callback(move |event| quick.send(number(event)).expect("room")),
        )
        .start()
        .expect("threads");
    sinks.send(event(&gate, 0));
    is_reached
        .recv_timeout(PATIENCE)
        .expect("the sink is stuck now");

    // The sink is released only after all of these have been handed over. If that blocked, the test would hang.
    for number in 1..=10_000 {
        sinks.send(event(&gate, number));
    }
    let stats = only(&sinks);
    assert_eq!(
        counts(&stats),
        (0, 9_900, 0, 101),
        "one in its hands, a hundred waiting"
    );
    assert!(!sinks.flush(Duration::ZERO), "it is stuck");

    // The other sink gets everything, in order.
    for number in 0..=10_000 {
        assert_eq!(seen.recv_timeout(PATIENCE).expect("all come"), number);
    }
    drop(go_on);
    assert!(sinks.flush(PATIENCE));
    assert_eq!(counts(&only(&sinks)), (101, 9_900, 0, 0));
    assert_eq!(counts(&sinks.stats()[1].1), (10_001, 0, 0, 0));
}

#[test]
fn a_stuck_sink_does_not_keep_the_process_from_ending() {
    let gate = gate();
    let (sink, is_reached, go_on) = blocked();
    let sinks = Sinks::builder()
        .sink("stuck", sink)
        .start()
        .expect("threads");
    let clone = sinks.clone();
    for number in 0..10 {
        clone.send(event(&gate, number));
    }
    is_reached.recv_timeout(PATIENCE).expect("it is stuck now");
    drop(clone);
    // It is not released before this returns.
    drop(sinks);
    drop(go_on);
    assert!(
        is_reached.recv_timeout(PATIENCE).is_err(),
        "what was left is not handed over any more"
    );
}

#[test]
fn closing_says_how_many_events_are_lost() {
    let gate = gate();
    let (sink, is_reached, go_on) = blocked();
    let sinks = Sinks::builder()
        .sink("stuck", sink)
        .sink("quick", callback(|_| {}))
        .start()
        .expect("threads");
    let clone = sinks.clone();
    for number in 0..10 {
        sinks.send(event(&gate, number));
    }
    is_reached.recv_timeout(PATIENCE).expect("it is stuck now");
    assert_eq!(sinks.close(Duration::from_millis(500)), 10);
    clone.send(event(&gate, 10));
    let stats = clone.stats();
    assert_eq!(counts(&stats[0].1), (0, 10, 0, 1), "it still holds one");
    assert_eq!(counts(&stats[1].1), (10, 1, 0, 0), "one came too late");
    drop(go_on);
}

#[test]
fn an_event_that_is_not_flushed_is_not_known_to_be_written() {
    /// Takes events at once, and never finishes flushing them.
    struct Buffered(Receiver<()>);
    impl Sink for Buffered {
        fn record(&mut self, _: &Arc<Event>) -> Result<(), SinkError> {
            Ok(())
        }
        fn flush(&mut self) -> Result<(), SinkError> {
            let _ = self.0.recv();
            Ok(())
        }
    }
    let gate = gate();
    let (go_on, goes_on) = unbounded();
    let sinks = Sinks::builder()
        .sink("buffered", Buffered(goes_on))
        .start()
        .expect("threads");
    for number in 0..5 {
        sinks.send(event(&gate, number));
    }
    assert_eq!(sinks.close(Duration::from_millis(200)), 5);
    drop(go_on);
}

#[test]
fn closing_a_sink_that_works_loses_nothing() {
    let gate = gate();
    let (seen, all) = unbounded();
    let sinks = Sinks::builder()
        .on(On::Any, move |event| {
            seen.send(number(event)).expect("counted");
        })
        .start()
        .expect("threads");
    for number in 0..500 {
        sinks.send(event(&gate, number));
    }
    assert_eq!(sinks.close(PATIENCE), 0);
    assert_eq!(all.iter().count(), 500, "the sink is gone");
    assert_eq!(sinks.close(PATIENCE), 0, "again");
}

#[test]
fn dropping_the_sinks_hands_over_what_waits() {
    let gate = gate();
    let seen = Arc::new(Mutex::new(Vec::new()));
    let keeps = Arc::clone(&seen);
    let sinks = Sinks::builder()
        .on(On::Any, move |event| {
            keeps.lock().expect("sound").push(number(event));
        })
        .start()
        .expect("threads");
    for number in 0..500 {
        sinks.send(event(&gate, number));
    }
    drop(sinks);
    assert_eq!(*seen.lock().expect("sound"), (0..500).collect::<Vec<_>>());
}

#[test]
fn a_sink_may_hold_the_last_clone_of_all_sinks() {
    let gate = gate();
    let (hand_in, handed) = sync_channel::<Sinks>(1);
    let (seen, all) = unbounded();
    let sinks = Sinks::builder()
        .on(On::Any, move |event| {
            if number(event) == 0 {
                drop(handed.recv().expect("the last clone"));
            }
            seen.send(number(event)).expect("waited for");
        })
        .start()
        .expect("threads");
    sinks.send(event(&gate, 0));
    sinks.send(event(&gate, 1));
    hand_in.send(sinks).expect("received");
    // If it waited for itself, it would abandon the rest.
    for number in [0, 1] {
        assert_eq!(all.recv_timeout(PATIENCE), Ok(number));
    }
}

#[test]
fn a_failing_sink_still_gets_the_next_event() {
    struct Odd;
    impl Sink for Odd {
        fn record(&mut self, event: &Arc<Event>) -> Result<(), SinkError> {
            match number(event) % 3 {
                0 => Ok(()),
                1 => Err(SinkError::new("no room on the disk")),
                _ => panic!("number {}", number(event)),
            }
        }
    }
    let gate = gate();
    let sinks = Sinks::builder().sink("odd", Odd).start().expect("threads");
    for number in 0..9 {
        sinks.send(event(&gate, number));
    }
    assert!(sinks.flush(PATIENCE));
    let stats = only(&sinks);
    assert_eq!(counts(&stats), (3, 0, 6, 0));
    assert_eq!(
        stats.last_error.as_deref(),
        Some("the sink panicked: number 8")
    );
}

#[test]
fn a_failed_flush_reports_how_many_events_are_lost() {
    struct Hoard;
    impl Sink for Hoard {
        fn record(&mut self, _: &Arc<Event>) -> Result<(), SinkError> {
            Ok(())
        }
        fn flush(&mut self) -> Result<(), SinkError> {
            Err(SinkError::new("gone").with_lost(u64::MAX))
        }
    }
    let gate = gate();
    let sinks = Sinks::builder()
        .sink("hoard", Hoard)
        .start()
        .expect("threads");
    for number in 0..5 {
        sinks.send(event(&gate, number));
    }
    assert!(sinks.flush(PATIENCE));
    assert_eq!(
        counts(&only(&sinks)),
        (0, 0, 5, 0),
        "no more than there were"
    );
}

#[test]
fn large_events_fill_a_queue_sooner() {
    let gate = gate();
    let (sink, is_reached, go_on) = blocked();
    let sinks = Sinks::builder()
        .register(SinkRegistration::new("small", sink).with_capacity_bytes(1_000_000))
        .start()
        .expect("threads");
    let large = |bytes: usize| {
        let call = Call::from_text("search", "x".repeat(bytes));
        Event::of(&gate, &call, &gate.judge(&call), SystemTime::UNIX_EPOCH)
    };
    sinks.send(large(10));
    is_reached.recv_timeout(PATIENCE).expect("it is stuck now");
    sinks.send(large(2_000_000));
    sinks.send(large(900_000));
    sinks.send(large(900_000));
    sinks.send(large(10));
    assert_eq!(counts(&only(&sinks)), (0, 2, 0, 3));
    drop(go_on);
    assert!(sinks.flush(PATIENCE));
    sinks.send(large(900_000));
    assert!(sinks.flush(PATIENCE));
    assert_eq!(counts(&only(&sinks)), (4, 2, 0, 0), "there is room again");
}

#[test]
fn every_large_part_of_an_event_is_counted() {
    let gate = gate();
    let large = "x".repeat(1_000_000);
    let of = |call: Call<'_>| {
        Event::of(&gate, &call, &gate.judge(&call), SystemTime::UNIX_EPOCH)
            .at(Place::new("s", 0, 0))
    };
    let small = || Call::from_text("search", "{}");
    let many = format!("[{}]", "1,".repeat(200_000).trim_end_matches(','));
    let mut in_detail = of(small());
    in_detail.operator_detail = Some(large.clone());
    let events = [
        of(Call::from_text(large.as_str(), "{}")),
        of(small().with_id(large.as_str())),
        of(small()).at(Place::new(&large, 0, 0)),
        of(Call::from_text("search", many)),
        in_detail,
    ];
    let (sink, is_reached, go_on) = blocked();
    let sinks = Sinks::builder()
        .register(SinkRegistration::new("small", sink).with_capacity_bytes(200_000))
        .start()
        .expect("threads");
    sinks.send(of(small()));
    is_reached.recv_timeout(PATIENCE).expect("it is stuck now");
    for (dropped, event) in (1..).zip(events) {
        sinks.send(event);
        assert_eq!(counts(&only(&sinks)), (0, dropped, 0, 1));
    }
    drop(go_on);
}

#[test]
fn without_a_sink() {
    let sinks = Sinks::builder().start().expect("no threads");
    assert!(sinks.is_empty() && Sinks::default().is_empty());
    sinks.report(|| panic!("no event is built without a sink"));
    assert!(sinks.flush(Duration::ZERO));
    assert!(sinks.stats().is_empty());
}

#[test]
fn no_event_is_lost_between_many_threads() {
    let gate = gate();
    let (sum, total) = unbounded();
    let sinks = Sinks::builder()
        .on(On::Any, move |event| {
            sum.send(number(event)).expect("added up");
        })
        .start()
        .expect("threads");
    std::thread::scope(|scope| {
        for thread in 0..8 {
            let (sinks, gate) = (sinks.clone(), &gate);
            scope.spawn(move || {
                for number in 0..1_250 {
                    sinks.send(event(gate, thread * 1_250 + number));
                }
                assert!(sinks.flush(PATIENCE));
            });
        }
    });
    assert_eq!(counts(&only(&sinks)), (10_000, 0, 0, 0));
    drop(sinks);
    let mut all: Vec<usize> = total.iter().collect();
    all.sort_unstable();
    assert_eq!(all, (0..10_000).collect::<Vec<_>>());
}

#[test]
fn each_kind_gets_its_own() {
    let gate = gate();
    let kinds = [
        On::Any,
        On::Error,
        On::Refused,
        On::Repaired,
        On::ToolExecuted,
        On::ToolFailed,
    ];
    let (told, heard) = unbounded();
    let mut builder = Sinks::builder();
    for kind in kinds {
        let told = told.clone();
        builder = builder.on(kind, move |event| {
            told.send((kind, event.tool.clone(), event.verdict.name()))
                .expect("heard");
        });
    }
    let sinks = builder.start().expect("threads");
    let judged = |text: &str| {
        let call = Call::from_text("search", text);
        Event::of(&gate, &call, &gate.judge(&call), SystemTime::now())
    };
    sinks.send(judged(r#"{"number": 1}"#).ran(1, Duration::from_micros(5)));
    sinks.send(judged(r#"{"number": "1"}"#).ran(1, Duration::from_micros(5)));
    sinks.send(judged(r#"{"number": "many"}"#));
    let mut failed = judged(r#"{"number": 2}"#).ran(3, Duration::from_micros(5));
    failed.is_error = true;
    sinks.send(failed);
    assert!(sinks.flush(PATIENCE));
    drop(told);
    let delivered: Vec<u64> = sinks
        .stats()
        .iter()
        .map(|(_, stats)| stats.delivered)
        .collect();
    assert_eq!(delivered, [4, 2, 1, 1, 3, 1]);
    drop(sinks);
    let heard: Vec<_> = heard
        .iter()
        .filter(|(kind, ..)| *kind == On::Refused)
        .collect();
    assert_eq!(heard, [(On::Refused, "search".to_owned(), "refused")]);
}

#[test]
fn a_channel_whose_receiver_is_gone_counts_as_failed() {
    let gate = gate();
    let (sink, receiver) = channel(8);
    let sinks = Sinks::builder()
        .sink("channel", sink)
        .start()
        .expect("threads");
    sinks.send(event(&gate, 7));
    let event_out = receiver.recv_timeout(PATIENCE).expect("it comes out");
    assert_eq!(number(&event_out), 7);
    drop(receiver);
    sinks.send(event(&gate, 8));
    assert!(sinks.flush(PATIENCE));
    let stats = only(&sinks);
    assert_eq!(counts(&stats), (1, 0, 1, 0));
    assert!(
        stats
            .last_error
            .expect("a reason")
            .contains("receiver of the channel is gone")
    );
}
