//! Answers through a guard, without a network.

use callwright_gateway::AnswerGuard;
use callwright_http::sse::EventSplitter;

use super::judge::Judge;

/// Sends a stream through a guard in portions.
pub(crate) fn streamed(
    mut guard: AnswerGuard,
    stream: &str,
    portion: usize,
    judge: &mut Judge,
) -> String {
    let mut splitter = EventSplitter::default();
    let mut out = Vec::new();
    for portion in stream.as_bytes().chunks(portion) {
        splitter.push(portion);
        while let Some(event) = splitter.next_event() {
            guard.event(event, judge, &mut out);
        }
    }
    out.push(splitter.rest());
    guard.end(judge, &mut out);
    assert_eq!(guard.unjudged(), None);
    String::from_utf8(out.concat()).expect("text")
}

/// Sends a whole body through a guard.
pub(crate) fn whole(mut guard: AnswerGuard, body: &str, judge: &mut Judge) -> String {
    guard.body(body, judge).unwrap_or_else(|| body.to_owned())
}
