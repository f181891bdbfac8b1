//! How a model's answer ended: finish reasons of all providers → [`Completeness`].

use super::provider::vocabularies;
use crate::call::Completeness;
use crate::json::Value;

/// The normal finish reasons of gateways and libraries that have no file here.
const FINISHED_ELSEWHERE: [&str; 4] = [
    // Cohere.
    "COMPLETE",
    "TOOL_CALL",
    // Vercel AI SDK.
    "tool-calls",
    // text-generation-inference, watsonx.
    "eos_token",
];

/// The finish reasons of others for a cut answer.
const CUT_OFF_ELSEWHERE: [&str; 1] = [
    // Mistral.
    "model_length",
];

impl Completeness {
    /// Reads a finish or stop reason of any provider. An unknown one is doubtful: new ones appear every year, and most of them
    /// name a failure.
    pub fn from_finish_reason(reason: &str) -> Self {
        let is = |word: &&str| word.eq_ignore_ascii_case(reason);
        if CUT_OFF_ELSEWHERE.iter().any(is) || vocabularies().any(|own| own.cut_off.iter().any(is))
        {
            Completeness::CutOff
        } else if FINISHED_ELSEWHERE.iter().any(is)
            || vocabularies().any(|own| own.finished.iter().any(is))
        {
            Completeness::Complete
        } else {
            Completeness::Doubtful
        }
    }
}

/// What a provider reports about the end of an answer, if anything, next to the call or around it. If there are several
/// reports, the worst counts.
pub(super) fn declared_completeness(value: &Value<'_>) -> Option<Completeness> {
    const AROUND: [&str; 6] = [
        "function",
        "functionCall",
        "function_call",
        "params",
        "metadata",
        "response_metadata",
    ];
    let members = value.as_object().unwrap_or_default();
    let around = members
        .iter()
        .filter(|(key, _)| AROUND.contains(&key.as_ref()));
    let inner = around.flat_map(|(_, inner)| inner.as_object().unwrap_or_default());
    let inner = inner.filter(|(key, _)| key != "status");
    members
        .iter()
        .chain(inner)
        .filter_map(|(key, said)| said_of_the_end(key, said))
        .max()
}

/// What one member of a provider's answer says about its end.
fn said_of_the_end(key: &str, said: &Value<'_>) -> Option<Completeness> {
    /// As providers, gateways and libraries spell them, in any case.
    const REASONS: [&str; 15] = [
        "finish_reason",
        "finishReason",
        "finish-reason",
        "stop_reason",
        "stopReason",
        "stop-reason",
        // OpenRouter.
        "native_finish_reason",
        // Ollama.
        "done_reason",
        "doneReason",
        "finish_details",
        "completion_reason",
        "termination_reason",
        // OpenAI responses.
        "status",
        "incomplete_details",
        "incompleteDetails",
    ];
    let cut = match (key, said) {
        ("truncated" | "incomplete", Value::Bool(cut)) => *cut,
        ("done" | "complete" | "is_complete", Value::Bool(done)) => !done,
        _ => false,
    };
    if cut {
        return Some(Completeness::CutOff);
    }
    if !REASONS.iter().any(|name| name.eq_ignore_ascii_case(key)) {
        return None;
    }
    match said {
        Value::Null => None,
        // `{"reason": "max_output_tokens"}`, present only if something is incomplete.
        _ if key.starts_with("incomplete") => Some(Completeness::CutOff),
        // In recordings this is the outcome of the call, not the end of the answer.
        Value::String(status) if key == "status" && is_of_the_run(status) => None,
        Value::String(reason) => Some(Completeness::from_finish_reason(reason)),
        // `{"type": "max_tokens"}`.
        Value::Object(_) => {
            let kind = said.get("type").and_then(Value::as_str);
            Some(kind.map_or(Completeness::Doubtful, Completeness::from_finish_reason))
        }
        _ => Some(Completeness::Doubtful),
    }
}

fn is_of_the_run(status: &str) -> bool {
    let of_runs = ["ok", "success", "succeeded", "done", "finished"];
    of_runs.iter().any(|word| word.eq_ignore_ascii_case(status))
}
