//! Builds the request that asks again: the client's own, with the new messages appended.

use callwright::call::Call;
use callwright::internal::{RawObject, Replacements, appended, raw_items, span_in};
use callwright::wire::render_result;
use hyper::Uri;

use super::refused_call::RefusedCall;
use crate::api::Api;

/// What the model reads about calls that were not refused.
const NOT_RUN: &str = "Not run yet. Do not send it again.";

/// The path that requests a non-streamed answer.
pub(crate) fn whole_path(asked: &Uri) -> String {
    let path = asked
        .path()
        .replace(":streamGenerateContent", ":generateContent");
    let path = path.replace(":streamRawPredict", ":rawPredict");
    let query = asked
        .query()
        .unwrap_or_default()
        .split('&')
        .filter(|pair| !pair.is_empty() && *pair != "alt=sse");
    let query: Vec<&str> = query.collect();
    if query.is_empty() {
        path
    } else {
        format!("{path}?{}", query.join("&"))
    }
}

/// The client's request with the first answer and a result for each of its calls appended.
pub(crate) fn side_request(
    api: Api,
    body: &str,
    answer: &[String],
    calls: &[Call<'_>],
    refused: &[RefusedCall],
) -> Option<String> {
    let request = RawObject::read(body).ok()?;
    let results = calls.iter().enumerate().map(|(number, call)| {
        let refused = refused.iter().find(|refused| refused.number == number);
        let text = refused.map_or(NOT_RUN, |refused| &refused.instruction);
        render_result(api.provider(), call, text.to_owned(), refused.is_some()).to_string()
    });
    let results: Vec<String> = results.collect();
    let results = match api {
        Api::Messages => format!("{{\"role\":\"user\",\"content\":[{}]}}", results.join(",")),
        Api::Gemini => format!("{{\"role\":\"user\",\"parts\":[{}]}}", results.join(",")),
        Api::Chat | Api::Responses => results.join(","),
    };
    let added = format!("{},{results}", answer.join(","));
    let list = request.get(api.history_key())?;
    let mut changes = Replacements::default();
    match raw_items(list) {
        Ok(_) => changes.add(appended(body, list, &added)),
        // A string is a user message.
        Err(_) if list.starts_with('"') => {
            let user = format!("{{\"role\":\"user\",\"content\":{list}}}");
            changes.add((span_in(body, list), format!("[{user},{added}]")));
        }
        Err(_) => return None,
    }
    if let Some(stream) = request.get("stream") {
        changes.add((span_in(body, stream), "false".to_owned()));
    }
    // Providers reject it without a stream.
    if let Some(span) = request.member_span(body, "stream_options") {
        changes.add((span, String::new()));
    }
    if api.keeps_answers() {
        changes.add(if let Some(store) = request.written("store") {
            (span_in(body, store), "false".to_owned())
        } else {
            let (span, comma) = request.room(body);
            (span, format!("\"store\":false{comma}"))
        });
    }
    Some(changes.in_text(body))
}

/// How many tokens an answer cost, if it says so.
pub(crate) fn total_tokens(answer: &str) -> u64 {
    let Ok(answer) = serde_json::from_str::<serde_json::Value>(answer) else {
        return 0;
    };
    let number = |key: &str| {
        let usage = answer.get("usage").or_else(|| answer.get("usageMetadata"));
        usage.and_then(|usage| usage.get(key)?.as_u64())
    };
    let total = number("total_tokens").or_else(|| number("totalTokenCount"));
    total.unwrap_or_else(|| {
        let parts = [
            "input_tokens",
            "output_tokens",
            "cache_read_input_tokens",
            "cache_creation_input_tokens",
        ];
        parts.into_iter().filter_map(number).sum()
    })
}
