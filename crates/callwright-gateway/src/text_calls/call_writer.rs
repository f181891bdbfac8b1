//! Writes added calls in the format of each API: as part of a whole answer, or as events of a stream.

use std::ops::Range;

use bytes::Bytes;
use callwright::internal::Replacement;
use callwright_http::sse;
use serde_json::{Value, json};

use super::added_calls::{AddedCall, AddedCalls};
use crate::api::Api;
use crate::guard::own_events::like;

/// Gemini requires a signature beside each call, and documents this one for calls that it did not make.
const NO_SIGNATURE: &str = "skip_thought_signature_validator";

/// How many events a call takes in a stream of the responses API.
const EVENTS_OF_RESPONSES: u64 = 4;

/// A call as an entry of the API's list of calls.
pub(crate) fn entry(api: Api, call: &AddedCall) -> String {
    let AddedCall { id, call } = call;
    let (name, arguments) = (&call.tool, &call.arguments);
    match api {
        Api::Chat => {
            json!({"id": id, "type": "function", "function": {"name": name, "arguments": arguments}}).to_string()
        }
        Api::Responses => item(id, name, arguments, "completed").to_string(),
        // The arguments are copied verbatim: parsing them could change numbers.
        Api::Messages => {
            let [id, name] = [id, name].map(|text| json!(text));
            format!(r#"{{"type":"tool_use","id":{id},"name":{name},"input":{arguments}}}"#)
        }
        Api::Gemini => {
            let [id, name] = [id, name].map(|text| json!(text));
            format!(
                r#"{{"functionCall":{{"id":{id},"name":{name},"args":{arguments}}},"thoughtSignature":"{NO_SIGNATURE}"}}"#
            )
        }
    }
}

/// A call of the responses API. Some clients reject an item without an id.
fn item(id: &str, name: &str, arguments: &str, status: &str) -> Value {
    json!({"type": "function_call", "id": item_id(id), "call_id": id, "name": name, "arguments": arguments,
        "status": status})
}

fn item_id(call_id: &str) -> String {
    call_id.replacen("call_", "fc_", 1)
}

/// The calls as list entries, without the brackets.
pub(crate) fn entries(api: Api, calls: &AddedCalls) -> String {
    let entries = calls.calls.iter().map(|call| entry(api, call));
    entries.collect::<Vec<_>>().join(",")
}

/// The calls as entries of a chat completion chunk.
pub(crate) fn delta_entries(calls: &AddedCalls) -> String {
    let numbered = (calls.first_number..).zip(&calls.calls);
    let entries = numbered.map(|(index, AddedCall { id, call })| {
        json!({"index": index, "id": id, "type": "function",
            "function": {"name": call.tool, "arguments": call.arguments}})
        .to_string()
    });
    entries.collect::<Vec<_>>().join(",")
}

/// Replaces the last parts of a list that were nothing but calls with `entries`; returns the replacements by range.
/// `inner` is the range of the list, without its brackets.
pub(crate) fn replaced_parts(
    inner: &Range<usize>,
    parts: &[(Range<usize>, Option<usize>)],
    rest: usize,
    entries: &str,
) -> Option<Replacement> {
    let is_gone = |start: Option<usize>| start.is_some_and(|start| start >= rest);
    let gone = parts
        .iter()
        .rev()
        .take_while(|(_, start)| is_gone(*start))
        .count();
    let kept = parts.get(..parts.len() - gone).unwrap_or_default();
    if gone == 0 && entries.is_empty() {
        return None;
    }
    let start = kept.last().map_or(inner.start, |(span, _)| span.end);
    let end = parts.last().map_or(inner.end, |(span, _)| span.end);
    let comma = if kept.is_empty() || entries.is_empty() {
        ""
    } else {
        ","
    };
    Some((start..end, format!("{comma}{entries}")))
}

/// The number of the last event of a stream, after these calls.
pub(crate) fn later_number(number: u64, calls: &AddedCalls) -> u64 {
    let calls = u64::try_from(calls.calls.len()).unwrap_or_default();
    number.saturating_add(calls * EVENTS_OF_RESPONSES)
}

/// The calls as events. `sample` is the data of an earlier event, `number` that of the event they precede.
pub(crate) fn events(
    api: Api,
    calls: &AddedCalls,
    choice: u64,
    sample: Option<&str>,
    number: Option<u64>,
) -> Vec<Bytes> {
    match api {
        Api::Chat => {
            let entries = delta_entries(calls);
            let choice = format!(
                r#"{{"index":{choice},"delta":{{"tool_calls":[{entries}]}},"finish_reason":null}}"#
            );
            let event = like(sample.unwrap_or("{}"), "choices", &choice);
            event.into_iter().collect()
        }
        Api::Gemini => {
            let parts = entries(api, calls);
            let candidate =
                format!(r#"{{"index":{choice},"content":{{"role":"model","parts":[{parts}]}}}}"#);
            let event = like(sample.unwrap_or("{}"), "candidates", &candidate);
            event.into_iter().collect()
        }
        Api::Messages => {
            let numbered = (calls.first_number..).zip(&calls.calls);
            numbered
                .flat_map(|(index, call)| block_events(index, call))
                .collect()
        }
        Api::Responses => {
            let numbered = (calls.first_number..).zip(&calls.calls);
            let events = numbered.flat_map(|(index, call)| item_events(index, call));
            let events = events.enumerate().map(|(at, mut event)| {
                if let (Some(number), Ok(at)) = (number, u64::try_from(at)) {
                    event["sequence_number"] = number.saturating_add(at).into();
                }
                named(&event)
            });
            events.collect()
        }
    }
}

fn block_events(index: u64, AddedCall { id, call }: &AddedCall) -> [Bytes; 3] {
    let block = json!({"type": "tool_use", "id": id, "name": call.tool, "input": {}});
    let delta = json!({"type": "input_json_delta", "partial_json": call.arguments});
    [
        json!({"type": "content_block_start", "index": index, "content_block": block}),
        json!({"type": "content_block_delta", "index": index, "delta": delta}),
        json!({"type": "content_block_stop", "index": index}),
    ]
    .map(|event| named(&event))
}

fn item_events(index: u64, AddedCall { id, call }: &AddedCall) -> [Value; 4] {
    let (name, arguments) = (&call.tool, &call.arguments);
    let item_id = item_id(id);
    [
        json!({"type": "response.output_item.added", "output_index": index, "item": item(id, name, "", "in_progress")}),
        json!({"type": "response.function_call_arguments.delta", "item_id": item_id, "output_index": index,
            "delta": arguments}),
        json!({"type": "response.function_call_arguments.done", "item_id": item_id, "output_index": index,
            "name": name, "arguments": arguments}),
        json!({"type": "response.output_item.done", "output_index": index,
            "item": item(id, name, arguments, "completed")}),
    ]
}

/// An event named after its type.
fn named(event: &Value) -> Bytes {
    let name = event
        .get("type")
        .and_then(Value::as_str)
        .unwrap_or_default();
    sse::event(name, event.to_string().as_bytes()).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_parts_that_were_calls_are_replaced_with_calls() {
        for (list, starts, rest, expected) in [
            ("[]", vec![], 0, "[C]"),
            ("[ ]", vec![], 0, "[C]"),
            ("[aa]", vec![Some(0)], 0, "[C]"),
            ("[aa , bb]", vec![None, Some(0)], 0, "[aa,C]"),
            ("[aa , bb ]", vec![Some(0), Some(2)], 2, "[aa,C ]"),
            ("[aa,bb]", vec![Some(0), Some(2)], 1, "[aa,C]"),
            ("[aa,bb]", vec![Some(0), Some(2)], 3, "[aa,bb,C]"),
            // A part that contains more than text is kept, and so is everything before it.
            ("[aa,bb]", vec![Some(0), None], 0, "[aa,bb,C]"),
        ] {
            let at = |name: &str| list.find(name).map(|at| at..at + 2);
            let parts = ["aa", "bb"]
                .iter()
                .filter_map(|name| at(name))
                .zip(starts)
                .collect::<Vec<_>>();
            let (span, instead) =
                replaced_parts(&(1..list.len() - 1), &parts, rest, "C").expect("calls go in");
            let mut written = list.to_owned();
            written.replace_range(span, &instead);
            assert_eq!(written, expected);
        }
        assert_eq!(replaced_parts(&(1..3), &[(1..3, Some(0))], 1, ""), None);
        assert_eq!(
            replaced_parts(&(1..3), &[(1..3, Some(0))], 0, ""),
            Some((1..3, String::new()))
        );
    }
}
