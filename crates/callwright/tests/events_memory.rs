//! A million events pass through a bounded queue without leaking memory.
#![allow(clippy::expect_used, reason = "a test may panic")]

use std::time::{Duration, SystemTime};

use callwright::event::{Event, JsonLines, SinkRegistration, Sinks};
use callwright::{Call, Gate, ToolSpec};

/// The memory of this process in bytes, where the system reports it. No other test may run in it.
fn resident() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("VmRSS:"))?;
    let kilobytes: u64 = line.trim().strip_suffix(" kB")?.parse().ok()?;
    Some(kilobytes * 1024)
}

#[test]
fn memory_is_flat_over_a_million_events() {
    const WAITING: usize = 256;
    let gate = Gate::builder()
        .tool(ToolSpec::without_schema("read_file"))
        .build()
        .expect("one tool");
    let sinks = Sinks::builder()
        .register(
            SinkRegistration::new("sink", JsonLines::new(std::io::sink())).with_capacity(WAITING),
        )
        .start()
        .expect("a thread");
    let send = |events: usize| {
        for number in 0..events {
            let text =
                format!(r#"{{"path": "a file with a long name that has the number {number}"}}"#);
            let call = Call::from_text("read_file", text);
            sinks.send(Event::of(
                &gate,
                &call,
                &gate.judge(&call),
                SystemTime::UNIX_EPOCH,
            ));
            // Lets the sink keep up: nothing is dropped below.
            if number % WAITING == WAITING - 1 {
                assert!(sinks.flush(Duration::from_secs(60)));
            }
        }
        assert!(sinks.flush(Duration::from_secs(60)));
    };
    // After this, the buffers have their final size.
    send(10_000);
    let before = resident();
    send(1_000_000);
    match (before, resident()) {
        (Some(before), Some(after)) => {
            // An event has hundreds of bytes. This would detect a leak of sixteen bytes per event.
            assert!(after < before + 16_000_000, "{before} bytes became {after}");
        }
        _ => println!("this system does not tell how much memory is used"),
    }
    let (_, stats) = &sinks.stats()[0];
    assert_eq!(
        (stats.delivered, stats.dropped, stats.failed),
        (1_010_000, 0, 0)
    );
}
