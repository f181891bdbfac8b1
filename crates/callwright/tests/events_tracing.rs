//! The span of a call, as a subscriber sees it.
#![allow(clippy::expect_used, reason = "a test may panic")]

use std::collections::BTreeMap;
use std::fmt::Debug;
use std::sync::{Arc, Mutex};
use std::time::SystemTime;

use callwright::check::Ran;
use callwright::event::{Event, Sink, SinkError, Sinks, ToolSpan};
use callwright::json::Value;
use callwright::{Call, Gate, Opened, Settled, ToolSpec};
use serde_json::json;
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Subscriber, subscriber};
use tracing_subscriber::Registry;
use tracing_subscriber::layer::{Context, Layer, SubscriberExt};

type Fields = BTreeMap<&'static str, String>;

/// Keeps the fields of all spans and events.
#[derive(Clone, Default)]
struct Collector(Arc<Mutex<Vec<(&'static str, Fields)>>>);

struct Visitor<'f>(&'f mut Fields);

impl Visit for Visitor<'_> {
    fn record_str(&mut self, field: &Field, value: &str) {
        self.0.insert(field.name(), value.to_owned());
    }

    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        self.0.insert(field.name(), format!("{value:?}"));
    }
}

impl<S: Subscriber> Layer<S> for Collector {
    fn on_new_span(&self, attributes: &Attributes<'_>, _: &Id, _: Context<'_, S>) {
        let mut fields = Fields::new();
        attributes.record(&mut Visitor(&mut fields));
        self.0
            .lock()
            .expect("sound")
            .push((attributes.metadata().name(), fields));
    }

    fn on_event(&self, event: &tracing::Event<'_>, _: Context<'_, S>) {
        let mut fields = Fields::new();
        event.record(&mut Visitor(&mut fields));
        self.0.lock().expect("sound").push(("event", fields));
    }

    fn on_record(&self, _: &Id, record: &Record<'_>, _: Context<'_, S>) {
        let mut spans = self.0.lock().expect("sound");
        record.record(&mut Visitor(&mut spans.last_mut().expect("a span").1));
    }
}

fn spans(work: impl FnOnce()) -> Vec<(&'static str, Fields)> {
    let collector = Collector::default();
    subscriber::with_default(Registry::default().with(collector.clone()), work);
    let spans = collector.0.lock().expect("sound");
    spans.clone()
}

fn fields(pairs: &[(&'static str, &str)]) -> Fields {
    pairs
        .iter()
        .map(|(key, value)| (*key, (*value).to_owned()))
        .collect()
}

#[test]
fn a_successful_call_uses_the_names_of_the_conventions() {
    let tool = ToolSpec::new(
        "search",
        json!({"properties": {"limit": {"type": "integer"}}}),
    );
    let gate = Gate::builder().tool(tool).build().expect("one tool");
    let call = Call::from_text("search", r#"{"limit": "10"}"#).with_id("call_1");
    let found = spans(|| {
        let span = ToolSpan::new(|| "search", call.id.as_ref(), Some("chat-7"));
        let Opened::Admitted(ticket) = gate.open(&call, None) else {
            panic!("it is repaired");
        };
        let answer = span.in_scope(|| "found");
        span.record_settled(&gate.close(ticket, Ran::ok(answer)), 1);
    });
    let expected = fields(&[
        ("otel.name", "execute_tool search"),
        ("otel.kind", "internal"),
        ("gen_ai.operation.name", "execute_tool"),
        ("gen_ai.tool.name", "search"),
        ("gen_ai.tool.type", "function"),
        ("gen_ai.tool.call.id", "call_1"),
        ("gen_ai.conversation.id", "chat-7"),
        ("callwright.verdict", "repaired"),
        ("callwright.output_verdict", "ok"),
        ("callwright.edits", "1"),
        ("callwright.attempts", "1"),
    ]);
    assert_eq!(
        found,
        [("execute_tool", expected)],
        "no argument, no result"
    );
}

#[test]
fn a_call_that_was_refused_is_an_error() {
    let gate = Gate::builder().build().expect("no tools");
    let call = Call::from_text("nope", "{}");
    let refused = Settled::from(gate.judge(&call));
    let found = spans(|| {
        let id = Value::Number(7_u64.into());
        ToolSpan::new(|| "nope", Some(&id), None).record_settled(&refused, 0);
    });
    let (_, fields) = &found[0];
    assert_eq!(fields["error.type"], "unknown_tool");
    assert_eq!(fields["otel.status_code"], "ERROR");
    assert_eq!(fields["gen_ai.tool.call.id"], "7");
    assert!(!fields.contains_key("gen_ai.conversation.id"));
}

#[test]
fn a_future_runs_inside_its_span() {
    use std::pin::pin;
    use std::task::{Context as Task, Poll, Waker};

    let found = spans(|| {
        let span = ToolSpan::new(|| "outer", None, None);
        let mut future = pin!(span.instrument(async {
            assert!(!tracing::Span::current().is_none());
            7
        }));
        let poll = future.as_mut().poll(&mut Task::from_waker(Waker::noop()));
        assert_eq!(poll, Poll::Ready(7));
        assert!(tracing::Span::current().is_none());
    });
    assert_eq!(found.len(), 1);
}

#[test]
fn events_lost_when_the_sinks_are_dropped_cause_a_warning() {
    struct Full;
    impl Sink for Full {
        fn record(&mut self, _: &Arc<Event>) -> Result<(), SinkError> {
            Err(SinkError::new("no room on the disk"))
        }
    }
    let gate = Gate::builder().build().expect("no tools");
    let call = Call::from_text("nope", "{}");
    let found = spans(|| {
        let sinks = Sinks::builder().sink("full", Full).start();
        let sinks = sinks.expect("a thread");
        for _ in 0..3 {
            let (verdict, time) = (gate.judge(&call), SystemTime::UNIX_EPOCH);
            sinks.send(Event::of(&gate, &call, &verdict, time));
        }
        drop(sinks);
    });
    let expected = [
        ("message", "events were lost"),
        ("sink", "full"),
        ("lost", "3"),
    ];
    assert_eq!(found, [("event", fields(&expected))]);
}

#[test]
fn without_a_subscriber_nothing_happens() {
    let span = ToolSpan::new(|| "search", None, None);
    let gate = Gate::builder().build().expect("no tools");
    let call = Call::from_text("search", "{}");
    span.record_settled(&gate.judge(&call).into(), 0);
    assert_eq!(span.in_scope(|| 1), 1);
}
