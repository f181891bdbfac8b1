//! Replaces arguments that are not a JSON object.

use std::sync::LazyLock;

use callwright::call::Call;
use callwright::internal::{Replacement, raw_text, span_in};
use callwright::{Gate, ToolSpec, Verdict};
use serde_json::json;
use serde_json::value::RawValue;

use super::conversation::{ArgumentsInHistory, CallInHistory};
use crate::api::Api;

/// How much of an unreadable text is kept: enough for a model to recognise its call.
const KEPT_CHARACTERS: usize = 200;

/// A gate that can read near-JSON, and knows no tools.
static READER: LazyLock<Option<Gate>> = LazyLock::new(|| {
    let tool = ToolSpec::without_schema(ANY_TOOL);
    Gate::builder().tool(tool).build().ok()
});

const ANY_TOOL: &str = "any";

/// The range of a call's arguments and their replacement; `None` if they are readable.
pub(super) fn readable(body: &str, call: &CallInHistory<'_>, api: Api) -> Option<Replacement> {
    let (is_text, may_be_missing) = match api {
        Api::Chat | Api::Responses => (true, false),
        Api::Messages => (false, false),
        Api::Gemini => (false, true),
    };
    let (written, key) = match &call.arguments {
        ArgumentsInHistory::NotJson => return None,
        ArgumentsInHistory::Written(written) => (*written, None),
        ArgumentsInHistory::Missing { .. } if may_be_missing => return None,
        ArgumentsInHistory::Missing { key, room } => ("null", Some((key, room))),
    };
    let text = raw_text(written);
    let json = match &text {
        Some(text) if is_text && is_object(text) => return None,
        None if !is_text && is_object(written) => return None,
        Some(text) => repaired(text),
        None => repaired(written),
    };
    let json = if is_text {
        json!(json).to_string()
    } else {
        json
    };
    Some(match key {
        None => (span_in(body, written), json),
        Some((key, (at, comma))) => (*at..*at, format!("\"{key}\":{json}{comma}")),
    })
}

fn is_object(text: &str) -> bool {
    text.trim_start().starts_with('{') && serde_json::from_str::<&RawValue>(text).is_ok()
}

/// The object that a text was certainly meant to be; otherwise one that says it could not be read.
fn repaired(text: &str) -> String {
    if is_object(text) {
        return text.to_owned();
    }
    // Nothing was sent and the call is over, so nothing can be lost.
    if matches!(text.trim(), "" | "null") {
        return "{}".to_owned();
    }
    let call = Call::from_text(ANY_TOOL, text);
    if let Some(gate) = READER.as_ref()
        && let Verdict::Repaired(repaired) = gate.judge(&call)
    {
        return repaired.arguments().to_string();
    }
    let kept: String = text.chars().take(KEPT_CHARACTERS).collect();
    json!({"unreadable": kept}).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn certain_repairs_are_made_and_nothing_is_invented() {
        assert_eq!(repaired(r#"{"a": 1,}"#), r#"{"a":1}"#);
        assert_eq!(repaired(r#""{\"a\": 1}""#), r#"{"a":1}"#);
        assert_eq!(
            repaired(r#"{"command": ""#),
            r#"{"unreadable":"{\"command\": \""}"#
        );
        assert_eq!(repaired("[1]"), r#"{"unreadable":"[1]"}"#);
        assert_eq!(repaired(" "), "{}");
    }
}
