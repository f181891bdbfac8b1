//! Reads MCP: JSON-RPC messages, alone or in a log line after its prefix.
//!
//! Ids start over with every connection: without a session in the record they belong to the file.

use std::borrow::Cow;

use callwright::internal::first_bytes;
use callwright::json::Value;

use super::dialogue::Dialogue;
use super::pick::{has, has_list, is_true, list, present, text};
use super::{Format, time};
use crate::source::end_of_json;

/// How long the prefix of a log line may be before its JSON.
const LONGEST_BEGINNING: usize = 512;

/// How many braces are tried as the beginning of its JSON.
const MOST_BRACES: usize = 8;

/// Whether this is a JSON-RPC message.
pub(super) fn is_message(value: &Value<'_>) -> bool {
    has(value, "jsonrpc")
        || (text(value, "method").is_some_and(|method| method.contains('/'))
            && has(value, "params"))
}

/// One message.
pub(super) fn read<'a>(dialogue: &mut Dialogue<'a, '_>, mut value: Value<'a>) {
    dialogue.format(Format::Mcp);
    if let Some(method) = text(&value, "method") {
        if method == "tools/call" {
            dialogue.read_call(value);
        }
        return;
    }
    let Some(id) = present(&mut value, "id") else {
        return;
    };
    if let Some(error) = present(&mut value, "error") {
        dialogue.result(Some(id), None, error, true);
        return;
    }
    let Some(mut result) = present(&mut value, "result") else {
        return;
    };
    if has_list(&result, "tools") {
        let tools = list(&mut result, "tools");
        dialogue.tools(&Value::Array(tools));
    } else if has_list(&result, "content") || has(&result, "structuredContent") {
        let is_error = is_true(&result, "isError");
        dialogue.result(Some(id), None, result, is_error);
    } else if let Some(said) = result.take("toolResult") {
        // From the oldest protocol revision.
        dialogue.result(Some(id), None, said, false);
    }
}

/// A line of a text log: its time, its name, and the JSON in it, if any.
#[derive(Debug)]
pub(super) struct LogLine<'a> {
    pub(super) time: Option<i64>,
    /// The contents of the first brackets: the name of the server.
    pub(super) name: Option<Cow<'a, str>>,
    pub(super) json: Option<&'a str>,
}

/// Reads `2026-01-31T10:00:00.000Z [name] [info] Message from client: {…} …`; `None` if the line has neither a time nor
/// JSON.
pub(super) fn log_line(line: &str) -> Option<LogLine<'_>> {
    let time = line
        .split_once(['[', ' '])
        .and_then(|(first, _)| time::of_text(first).filter(|_| first.contains(':')))
        .or_else(|| line.get(..23).and_then(time::of_text))
        .or_else(|| line.get(..19).and_then(time::of_text));
    let beginning = first_bytes(line, LONGEST_BEGINNING);
    let json = beginning
        .match_indices('{')
        .take(MOST_BRACES)
        .find_map(|(at, _)| {
            let end = end_of_json(&line.as_bytes()[at..])?;
            let json = line.get(at..at + end)?;
            // `{ metadata: undefined }` is not JSON.
            json[1..]
                .trim_ascii_start()
                .starts_with('"')
                .then_some((at, json))
        });
    if time.is_none() && json.is_none() {
        return None;
    }
    let before = &line[..json.map_or(beginning.len(), |(at, _)| at)];
    let name = before
        .split_once('[')
        .and_then(|(_, rest)| rest.split_once(']'))
        .map(|(name, _)| Cow::Borrowed(name))
        .filter(|name| !matches!(name.as_ref(), "info" | "debug" | "error" | "warn"));
    Some(LogLine {
        time,
        name,
        json: json.map(|(_, json)| json),
    })
}
