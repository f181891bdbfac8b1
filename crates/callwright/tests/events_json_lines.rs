//! Events as JSON Lines: whole lines in order, whatever the writer does.
#![allow(clippy::expect_used, reason = "a test may panic")]

use std::io::{self, Write};
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime};

use callwright::event::{Event, JsonLines, SinkStats, Sinks, Values};
use callwright::{Call, Gate, ToolSpec};
use serde_json::{Value, json};

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

fn only(sinks: &Sinks) -> SinkStats {
    sinks.stats()[0].1.clone()
}

fn counts(stats: &SinkStats) -> (u64, u64, u64, u64) {
    (stats.delivered, stats.dropped, stats.failed, stats.waiting)
}

/// A writer whose content the test can read.
#[derive(Clone, Default)]
struct Page {
    written: Arc<Mutex<Vec<u8>>>,
    /// Accepts this many more bytes, then fails once.
    room: Arc<Mutex<Option<usize>>>,
}

impl Page {
    fn text(&self) -> String {
        String::from_utf8(self.written.lock().expect("sound").clone()).expect("text")
    }
}

impl Write for Page {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut room = self.room.lock().expect("sound");
        let taken = match *room {
            None => bytes.len(),
            Some(0) => {
                *room = None;
                return Err(io::Error::other("the disk is full"));
            }
            Some(left) => {
                let taken = left.min(bytes.len());
                *room = Some(left - taken);
                taken
            }
        };
        self.written
            .lock()
            .expect("sound")
            .extend_from_slice(&bytes[..taken]);
        Ok(taken)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn a_writer_that_fails_halfway_spoils_one_line() {
    let gate = gate();
    let line = event(&gate, 0).line().to_string().len() + 1;
    // Fails before a line, in the middle of one, one byte before its end, and after it.
    for room in [0, 1, line / 2, line - 1, line] {
        let page = Page::default();
        let sinks = Sinks::builder()
            .sink("page", JsonLines::new(page.clone()))
            .start()
            .expect("threads");
        let send = |number| {
            sinks.send(event(&gate, number));
            assert!(sinks.flush(PATIENCE));
        };
        send(0);
        *page.room.lock().expect("sound") = Some(room);
        send(1);
        send(2);
        send(3);
        let whole: Vec<u64> = page
            .text()
            .lines()
            .filter_map(|line| serde_json::from_str::<Value>(line).ok())
            .map(|event| event["arguments"]["number"].as_u64().expect("a number"))
            .collect();
        let stats = only(&sinks);
        if room == line {
            // The next line is lost.
            assert_eq!(whole, [0, 1, 3], "{}", page.text());
        } else if room == line - 1 {
            // Only the end of the line is missing; it is written with the next line.
            assert_eq!(whole, [0, 1, 2, 3], "{}", page.text());
        } else {
            assert_eq!(whole, [0, 2, 3], "{}", page.text());
        }
        assert_eq!(counts(&stats), (3, 0, 1, 0), "room for {room}");
        assert_eq!(stats.last_error.as_deref(), Some("the disk is full"));
    }
}

#[test]
fn a_torn_line_is_ended_however_long_that_takes() {
    let gate = gate();
    let page = Page::default();
    let sinks = Sinks::builder()
        .sink("page", JsonLines::new(page.clone()))
        .start()
        .expect("threads");
    // Torn, then no bytes, then no failure; torn, then only the end of the line, then no failure.
    let rooms = [Some(20), Some(0), None, Some(20), Some(1), None];
    for (number, room) in rooms.into_iter().enumerate() {
        *page.room.lock().expect("sound") = room;
        sinks.send(event(&gate, number));
        assert!(sinks.flush(PATIENCE));
    }
    let text = page.text();
    let whole: Vec<bool> = text
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).is_ok())
        .collect();
    assert_eq!(whole, [false, true, false, true], "{text}");
    assert!(text.ends_with('\n'));
    assert_eq!(counts(&only(&sinks)), (2, 0, 4, 0));
}

#[test]
fn a_writer_that_accepts_nothing_fails_and_does_not_hang() {
    struct Nothing;
    impl Write for Nothing {
        fn write(&mut self, _: &[u8]) -> io::Result<usize> {
            Ok(0)
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    let gate = gate();
    let sinks = Sinks::builder()
        .sink("nothing", JsonLines::new(Nothing))
        .start()
        .expect("threads");
    // Enough for more than one write.
    for number in 0..1_000 {
        sinks.send(event(&gate, number));
    }
    assert!(sinks.flush(PATIENCE));
    assert_eq!(counts(&only(&sinks)), (0, 0, 1_000, 0));
}

#[test]
fn lines_are_whole_and_in_order_in_a_real_file() {
    let gate = gate();
    let path = std::env::temp_dir().join(format!("callwright-events-{}.jsonl", std::process::id()));
    let file = std::fs::File::create(&path).expect("a file");
    let sink = JsonLines::new(file).with_values(Values::All);
    let sinks = Sinks::builder()
        .sink("file", sink)
        .start()
        .expect("threads");
    for number in 0..1_000 {
        sinks.send(event(&gate, number));
    }
    // A reader that follows the file sees them without closing it.
    assert!(sinks.flush(PATIENCE));
    let text = std::fs::read_to_string(&path).expect("text");
    std::fs::remove_file(&path).expect("ours");
    assert!(text.ends_with('\n'));
    for (at, line) in text.lines().enumerate() {
        let recorded = callwright::wire::read_recorded(line).expect("a call");
        assert_eq!(
            recorded.call,
            Call::from_text("search", format!(r#"{{"number":{at}}}"#))
        );
    }
    assert_eq!(text.lines().count(), 1_000);
    assert_eq!(counts(&only(&sinks)), (1_000, 0, 0, 0));
}
