//! Asking a model again for calls that were refused: a request of our own that the client does not see.
//!
//! The request is the client's, byte for byte, with the first answer and a result for each of its calls appended. The
//! answer yields arguments only: they are put into the call that the model made first, which keeps its id, its
//! signature and its place. An answer with other tools, with more or fewer calls, with text only, or with a call that
//! is refused again yields nothing.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use callwright::call::{Arguments, Call, Completeness};
use callwright::failure::{Cause, Failure};
use callwright::feedback::Feedback;
use callwright::internal::{RawObject, raw_items, raw_span};
use callwright::json::Value;
use callwright::parse::read_value;
use callwright::repair::Grade;
use callwright::wire::{AnswerReader, Provider, render_result};
use callwright::{Gate, Refused, ToolSpec, Verdict};
use hyper::header::{CONTENT_ENCODING, HeaderName, HeaderValue};
use hyper::{HeaderMap, Uri};
use tokio::time::{Instant, timeout_at};

use crate::first_answer::FirstAnswer;
use crate::guard::{Decision, NewCall};
use crate::relay::Relay;
use crate::rewrite::replace;

/// Marks a request of our own, for logs and gateways on the way.
const X_REASK: HeaderName = HeaderName::from_static("x-callwright-reask");

/// A second request under the key of the first would be answered like the first, or not at all.
const IDEMPOTENCY_KEY: &str = "idempotency-key";

/// What the model reads of calls that were not refused.
const NOT_RUN: &str = "Not run yet. Do not send it again.";

/// About how many bytes a token has, where the provider does not count them.
const BYTES_PER_TOKEN: u64 = 4;

/// A call that was refused.
#[derive(Debug, Clone)]
pub(crate) struct RefusedCall {
    /// Its number in the answer.
    pub(crate) number: usize,
    /// What the model reads about it.
    instruction: String,
    /// The tools that an accepted call may be of; none, if the model is not asked again.
    tools: Vec<String>,
    sent_tool: String,
    sent: Option<Value<'static>>,
}

impl RefusedCall {
    /// `writes` says whether calls may be asked for that change something.
    pub(crate) fn new(number: usize, gate: &Gate, call: &Call<'_>, refused: &Refused<'_>, writes: bool) -> Self {
        let may_ask = |tool: &ToolSpec| {
            !tool.may_destroy() && !tool.spends() && (writes || tool.only_reads())
        };
        let names: Vec<&str> = match &refused.failure.cause {
            Cause::UnknownTool { nearest, .. } => nearest.iter().map(String::as_str).collect(),
            _ if may_be_corrected(&refused.failure) => refused.tool().map(|tool| tool.name()).into_iter().collect(),
            _ => Vec::new(),
        };
        let is_allowed = |name: &&str| gate.tool(name).is_some_and(|tool| may_ask(tool.spec()));
        RefusedCall {
            number,
            instruction: Feedback::default().render_with(&refused.failure, refused.notice.as_ref()),
            tools: names.into_iter().filter(is_allowed).map(str::to_owned).collect(),
            sent_tool: call.tool.to_string(),
            sent: sent_value(call),
        }
    }
}

/// Whether other arguments would help. A call that was cut off needs to be shorter, and a loop has to end.
fn may_be_corrected(failure: &Failure) -> bool {
    matches!(
        failure.cause,
        Cause::Arguments(_) | Cause::Syntax { .. } | Cause::Blank | Cause::SeveralValues { .. } | Cause::TwoReadings { .. }
    )
}

fn sent_value(call: &Call<'_>) -> Option<Value<'static>> {
    match &call.arguments {
        Arguments::Absent => None,
        Arguments::Text(text) => read_value(text).ok().map(Value::into_owned),
        Arguments::Value(value) => Some(value.clone().into_owned()),
    }
}

/// Limits of asking again.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ReaskLimits {
    pub(crate) tries: u32,
    pub(crate) within: Duration,
    pub(crate) max_tokens: u64,
}

/// A request that may be sent again.
#[derive(Debug)]
pub(crate) struct Reasker {
    pub(crate) provider: Provider,
    pub(crate) path: String,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Bytes,
    pub(crate) limits: ReaskLimits,
}

/// What came of asking again.
#[derive(Debug, Default)]
pub(crate) struct Asked {
    /// What came of each try: `accepted`, or why not.
    pub(crate) outcomes: Vec<&'static str>,
    pub(crate) tokens: u64,
    /// What the refused calls become, in their order.
    pub(crate) new_calls: Option<Vec<NewCall>>,
}

impl Asked {
    fn not(outcome: &'static str) -> Self {
        Asked { outcomes: vec![outcome], ..Asked::default() }
    }

    /// What was decided, with the new calls in it.
    pub(crate) fn decisions(&self, mut decisions: Vec<Decision>, refused: &[RefusedCall]) -> Option<Vec<Decision>> {
        for (refused, new) in refused.iter().zip(self.new_calls.as_ref()?) {
            *decisions.get_mut(refused.number)? = Decision::Change(new.clone());
        }
        Some(decisions)
    }
}

impl Reasker {
    /// A request whose answer may be asked for again; `None` if a second one would be consumed, stored or mixed up.
    pub(crate) fn new(provider: Provider, asked: &Uri, headers: &HeaderMap, body: Bytes, limits: ReaskLimits) -> Option<Self> {
        let request = RawObject::read(std::str::from_utf8(&body).ok()?).ok()?;
        let elsewhere = ["thread", "conversation"].iter().any(|key| request.get(key).is_some());
        let in_background = request.get("background") == Some("true");
        let candidates = || ["generationConfig", "generation_config"].into_iter().find_map(|key| {
            let config = request.object(key).ok()??;
            config.number("candidateCount").or_else(|| config.number("candidate_count"))
        });
        let choices = request.number("n").or_else(candidates).unwrap_or(1);
        if elsewhere || in_background || choices > 1 {
            return None;
        }
        let mut headers = headers.clone();
        for name in [CONTENT_ENCODING, HeaderName::from_static(IDEMPOTENCY_KEY)] {
            headers.remove(name);
        }
        headers.insert(X_REASK, HeaderValue::from_static("1"));
        Some(Reasker { provider, path: whole_path(asked), headers, body, limits })
    }

    /// Whether all of these calls may be asked for again. One that may not be would come again with the others.
    pub(crate) fn may_ask(refused: &[RefusedCall]) -> bool {
        !refused.is_empty() && refused.iter().all(|call| !call.tools.is_empty())
    }

    /// Asks until an answer is accepted, at most so often and so long. `calls` are those of the first answer.
    pub(crate) async fn ask(
        self,
        relay: Arc<Relay>,
        gate: Arc<Gate>,
        first: Option<FirstAnswer>,
        calls: Vec<Call<'static>>,
        refused: Vec<RefusedCall>,
    ) -> Asked {
        let Some(first) = first else {
            return Asked::not("answer_shape");
        };
        let guessed = || u64::try_from(self.body.len()).unwrap_or(u64::MAX) / BYTES_PER_TOKEN;
        if first.prompt_tokens.unwrap_or_else(guessed) > self.limits.max_tokens {
            return Asked::not("prompt_too_long");
        }
        let body = std::str::from_utf8(&self.body).ok();
        let body = body.and_then(|body| side_request(self.provider, body, &first.messages, &calls, &refused));
        let Some(body) = body else {
            return Asked::not("request_shape");
        };
        let body = Bytes::from(body);
        let deadline = Instant::now() + self.limits.within;
        let mut asked = Asked::default();
        for _ in 0..self.limits.tries {
            let answer = relay.side_request(&self.path, self.headers.clone(), body.clone());
            let answer = match timeout_at(deadline, answer).await {
                Ok(Some(answer)) => answer,
                Ok(None) => {
                    asked.outcomes.push("error");
                    break;
                }
                Err(_) => {
                    asked.outcomes.push("too_late");
                    break;
                }
            };
            asked.tokens += total_tokens(&answer);
            match accept(self.provider, &gate, &refused, &answer) {
                Ok(new_calls) => {
                    asked.outcomes.push("accepted");
                    asked.new_calls = Some(new_calls);
                    break;
                }
                Err(outcome) => asked.outcomes.push(outcome),
            }
        }
        asked
    }
}

/// The path of a request for a whole answer.
fn whole_path(asked: &Uri) -> String {
    let path = asked.path().replace(":streamGenerateContent", ":generateContent");
    let path = path.replace(":streamRawPredict", ":rawPredict");
    let query = asked.query().unwrap_or_default().split('&').filter(|pair| !pair.is_empty() && *pair != "alt=sse");
    let query: Vec<&str> = query.collect();
    if query.is_empty() { path } else { format!("{path}?{}", query.join("&")) }
}

/// The client's request with the first answer and a result for each of its calls at the end.
fn side_request(
    provider: Provider,
    body: &str,
    answer: &[String],
    calls: &[Call<'_>],
    refused: &[RefusedCall],
) -> Option<String> {
    let request = RawObject::read(body).ok()?;
    let results = calls.iter().enumerate().map(|(number, call)| {
        let refused = refused.iter().find(|refused| refused.number == number);
        let text = refused.map_or(NOT_RUN, |refused| &refused.instruction);
        render_result(provider, call, text.to_owned(), refused.is_some()).to_string()
    });
    let results: Vec<String> = results.collect();
    let results = match provider {
        Provider::Anthropic => format!("{{\"role\":\"user\",\"content\":[{}]}}", results.join(",")),
        Provider::Gemini => format!("{{\"role\":\"user\",\"parts\":[{}]}}", results.join(",")),
        _ => results.join(","),
    };
    let added = format!("{},{results}", answer.join(","));
    let key = match provider {
        Provider::OpenAiResponses => "input",
        Provider::Gemini => "contents",
        _ => "messages",
    };
    let list = request.get(key)?;
    let mut pieces = Vec::new();
    match raw_items(list) {
        Ok(items) => {
            let end = raw_span(body, list).end.checked_sub(1)?;
            let comma = if items.is_empty() { "" } else { "," };
            pieces.push((end..end, format!("{comma}{added}")));
        }
        // A text is a message of the user.
        Err(_) if list.starts_with('"') => {
            let user = format!("{{\"role\":\"user\",\"content\":{list}}}");
            pieces.push((raw_span(body, list), format!("[{user},{added}]")));
        }
        Err(_) => return None,
    }
    if let Some(stream) = request.get("stream") {
        pieces.push((raw_span(body, stream), "false".to_owned()));
    }
    // It is refused where there is no stream.
    if let Some(span) = request.member_span(body, "stream_options") {
        pieces.push((span, String::new()));
    }
    if provider == Provider::OpenAiResponses {
        pieces.push(match request.written("store") {
            Some(store) => (raw_span(body, store), "false".to_owned()),
            None => {
                let (span, comma) = request.room(body);
                (span, format!("\"store\":false{comma}"))
            }
        });
    }
    Some(replace(body, pieces))
}

/// What the refused calls become by an answer; otherwise why it is not accepted.
fn accept(provider: Provider, gate: &Gate, refused: &[RefusedCall], answer: &str) -> Result<Vec<NewCall>, &'static str> {
    let mut reader = AnswerReader::new(provider);
    reader.read(answer).map_err(|_| "answer_shape")?;
    reader.end();
    let calls = &reader.answer().calls;
    if calls.is_empty() {
        return Err("no_call");
    }
    let is_cut = |completeness| matches!(completeness, Some(Completeness::CutOff | Completeness::Doubtful));
    if reader.answer().choices.iter().any(|choice| is_cut(choice.completeness)) {
        return Err("cut_off");
    }
    if calls.len() != refused.len() || calls.iter().any(|call| call.is_foreign) {
        return Err("other_calls");
    }
    let mut left: Vec<Call<'_>> = (0..calls.len()).filter_map(|at| reader.call(at)).collect();
    let mut new_calls = Vec::new();
    for refused in refused {
        let is_its = |call: &Call<'_>| {
            let verdict = gate.judge(call);
            let name = verdict.tool().map(|tool| tool.name());
            name.is_some_and(|name| refused.tools.iter().any(|tool| tool == name))
        };
        let Some(at) = left.iter().position(is_its) else {
            let is_same = |call: &Call<'_>| call.tool == refused.sent_tool.as_str();
            return Err(if left.iter().any(is_same) { "refused_again" } else { "other_tool" });
        };
        let call = left.remove(at);
        if call.tool == refused.sent_tool.as_str() && refused.sent.is_some() && sent_value(&call) == refused.sent {
            return Err("same_again");
        }
        let verdict = gate.judge(&call);
        let is_exact = match &verdict {
            Verdict::Valid(_) => true,
            Verdict::Repaired(repaired) => repaired.edits().iter().all(|edit| edit.grade == Grade::Lossless),
            _ => false,
        };
        let new = verdict.tool().zip(verdict.arguments()).filter(|_| is_exact);
        let (tool, arguments) = new.ok_or("refused_again")?;
        new_calls.push(NewCall {
            tool: tool.name().to_owned(),
            arguments: arguments.to_string(),
        });
    }
    Ok(new_calls)
}

/// What an answer cost, as far as it says so.
fn total_tokens(answer: &str) -> u64 {
    let Ok(answer) = serde_json::from_str::<serde_json::Value>(answer) else {
        return 0;
    };
    let number = |key: &str| {
        let usage = answer.get("usage").or_else(|| answer.get("usageMetadata"));
        usage.and_then(|usage| usage.get(key)?.as_u64())
    };
    let total = number("total_tokens").or_else(|| number("totalTokenCount"));
    total.unwrap_or_else(|| {
        let parts = ["input_tokens", "output_tokens", "cache_read_input_tokens", "cache_creation_input_tokens"];
        parts.into_iter().filter_map(number).sum()
    })
}
