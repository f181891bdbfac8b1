//! Asking a model again for calls that were refused, by a request that the client does not see.
//!
//! The request is the client's, byte for byte, with the first answer and a result for each of its calls appended. The
//! answer yields arguments only: they are put into the call that the model made first, which keeps its id, its
//! signature and its place. An answer with other tools, with more or fewer calls, with text only, or with a call that
//! is refused again yields nothing.

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use bytes::Bytes;
use callwright::call::{Arguments, Call, Completeness};
use callwright::event::Event;
use callwright::failure::{Cause, Failure};
use callwright::feedback::Feedback;
use callwright::internal::RawObject;
use callwright::json::Value;
use callwright::parse::read_value;
use callwright::repair::Grade;
use callwright::tool::Tool;
use callwright::wire::{AnswerReader, Provider};
use callwright::{Gate, Refused, ToolSpec, Verdict};
use hyper::header::{ACCEPT, CONTENT_ENCODING, HeaderName, HeaderValue};
use hyper::{HeaderMap, Uri};
use tokio::time::{Instant, timeout_at};

use crate::first_answer::FirstAnswer;
use crate::given_up;
use crate::guard::{Decision, NewCall};
use crate::relay::Relay;
use crate::side_request::{side_request, total_tokens, whole_path};

/// Marks the gateway's own requests, for logs and gateways on the way.
const X_REASK: HeaderName = HeaderName::from_static("x-callwright-reask");

/// A second request under the key of the first would be answered like the first, or not at all.
pub(crate) const IDEMPOTENCY_KEY: &str = "idempotency-key";

/// About how many bytes a token has, where the provider does not count them.
const BYTES_PER_TOKEN: u64 = 4;

/// A call that was refused.
#[derive(Debug, Clone)]
pub(crate) struct RefusedCall {
    /// Its number in the answer.
    pub(crate) number: usize,
    /// What the model reads about it.
    pub(crate) instruction: String,
    /// The tools that an accepted call may be of; none, if the model is not asked again.
    tools: Vec<String>,
    sent_tool: String,
    sent: Option<Value<'static>>,
    id: Option<Value<'static>>,
}

impl RefusedCall {
    /// `writes` says whether calls may be asked for that change something.
    pub(crate) fn new(
        number: usize,
        gate: &Gate,
        call: &Call<'_>,
        refused: &Refused<'_>,
        writes: bool,
    ) -> Self {
        let may_ask = |tool: &ToolSpec| may_ask_for(tool, writes);
        let names: Vec<&str> = match &refused.failure.cause {
            Cause::UnknownTool { nearest, .. } => nearest.iter().map(String::as_str).collect(),
            _ if may_be_corrected(&refused.failure) => {
                refused.tool().map(Tool::name).into_iter().collect()
            }
            _ => Vec::new(),
        };
        let is_allowed = |name: &&str| gate.tool(name).is_some_and(|tool| may_ask(tool.spec()));
        RefusedCall {
            number,
            instruction: Feedback::default().render_with(&refused.failure, refused.notice.as_ref()),
            tools: names
                .into_iter()
                .filter(is_allowed)
                .map(str::to_owned)
                .collect(),
            sent_tool: call.tool.to_string(),
            sent: sent_value(call),
            id: call.id.clone().map(Value::into_owned),
        }
    }
}

/// Whether calls of a tool may be asked for; `writes` says whether also of those that change something.
pub(crate) fn may_ask_for(tool: &ToolSpec, writes: bool) -> bool {
    !tool.may_destroy() && !tool.spends() && (writes || tool.only_reads())
}

/// Whether other arguments would help. A call that was cut off needs to be shorter, and a loop has to end.
fn may_be_corrected(failure: &Failure) -> bool {
    matches!(
        failure.cause,
        Cause::Arguments(_)
            | Cause::Syntax { .. }
            | Cause::Blank
            | Cause::SeveralValues { .. }
            | Cause::TwoReadings { .. }
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

/// The outcome of asking again.
#[derive(Debug, Default)]
pub(crate) struct AskedAgain {
    /// The outcome of each try: `accepted`, or why not.
    pub(crate) outcomes: Vec<&'static str>,
    pub(crate) tokens: u64,
    /// What the refused calls become, in their order, with the records of the new ones.
    pub(crate) new_calls: Option<Vec<(NewCall, Event)>>,
    /// What takes the place of an answer that gave up.
    pub(crate) instead: Option<String>,
}

impl AskedAgain {
    fn not(outcome: &'static str) -> Self {
        AskedAgain {
            outcomes: vec![outcome],
            ..AskedAgain::default()
        }
    }

    /// What was decided, with the new calls in it.
    pub(crate) fn decisions(
        &self,
        mut decisions: Vec<Decision>,
        refused: &[RefusedCall],
    ) -> Option<Vec<Decision>> {
        for (refused, (new, _)) in refused.iter().zip(self.new_calls.as_ref()?) {
            *decisions.get_mut(refused.number)? = Decision::Change(new.clone());
        }
        Some(decisions)
    }
}

impl Reasker {
    /// A request whose answer may be asked for again; `None` if a second one would be consumed, stored or mixed up.
    pub(crate) fn new(
        provider: Provider,
        asked: &Uri,
        headers: &HeaderMap,
        body: Bytes,
        limits: ReaskLimits,
    ) -> Option<Self> {
        let request = RawObject::read(std::str::from_utf8(&body).ok()?).ok()?;
        let elsewhere = ["thread", "conversation"]
            .iter()
            .any(|key| request.get(key).is_some());
        let in_background = request.get("background") == Some("true");
        let candidates = || {
            ["generationConfig", "generation_config"]
                .into_iter()
                .find_map(|key| {
                    let config = request.object(key).ok()??;
                    config
                        .number("candidateCount")
                        .or_else(|| config.number("candidate_count"))
                })
        };
        let choices = request.number("n").or_else(candidates).unwrap_or(1);
        if elsewhere || in_background || choices > 1 {
            return None;
        }
        let mut headers = headers.clone();
        for name in [CONTENT_ENCODING, HeaderName::from_static(IDEMPOTENCY_KEY)] {
            headers.remove(name);
        }
        headers.insert(ACCEPT, HeaderValue::from_static("application/json"));
        headers.insert(X_REASK, HeaderValue::from_static("1"));
        Some(Reasker {
            provider,
            path: whole_path(asked),
            headers,
            body,
            limits,
        })
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
    ) -> AskedAgain {
        let Some(first) = first else {
            return AskedAgain::not("answer_shape");
        };
        let guessed = || u64::try_from(self.body.len()).unwrap_or(u64::MAX) / BYTES_PER_TOKEN;
        if first.prompt_tokens.unwrap_or_else(guessed) > self.limits.max_tokens {
            return AskedAgain::not("prompt_too_long");
        }
        let body = std::str::from_utf8(&self.body).ok();
        let body = body
            .and_then(|body| side_request(self.provider, body, &first.messages, &calls, &refused));
        let Some(body) = body else {
            return AskedAgain::not("request_shape");
        };
        let body = Bytes::from(body);
        self.ask_until(relay, body, |asked, answer| {
            asked.new_calls = Some(accept(self.provider, &gate, &refused, &answer)?);
            Ok(())
        })
        .await
    }

    /// Sends the same request again, after an answer that gave up, until an answer can take its place.
    pub(crate) async fn ask_the_same(self, relay: Arc<Relay>, gate: Arc<Gate>) -> AskedAgain {
        let writes = relay.options.reask_writes;
        let may_ask = |tool: &ToolSpec| may_ask_for(tool, writes);
        self.ask_until(Arc::clone(&relay), self.body.clone(), |asked, answer| {
            given_up::accept(&gate, may_ask, &answer)?;
            asked.instead = Some(answer);
            Ok(())
        })
        .await
    }

    /// Sends a request until an answer is accepted, at most so often and so long.
    async fn ask_until(
        &self,
        relay: Arc<Relay>,
        body: Bytes,
        mut accept: impl FnMut(&mut AskedAgain, String) -> Result<(), &'static str>,
    ) -> AskedAgain {
        let deadline = Instant::now() + self.limits.within;
        let mut asked = AskedAgain::default();
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
            match accept(&mut asked, answer) {
                Ok(()) => {
                    asked.outcomes.push("accepted");
                    break;
                }
                Err(outcome) => asked.outcomes.push(outcome),
            }
        }
        asked
    }
}

/// What the refused calls become by an answer; otherwise why it is not accepted.
fn accept(
    provider: Provider,
    gate: &Gate,
    refused: &[RefusedCall],
    answer: &str,
) -> Result<Vec<(NewCall, Event)>, &'static str> {
    let mut reader = AnswerReader::new(provider);
    reader.read(answer).map_err(|_| "answer_shape")?;
    reader.end();
    let calls = &reader.answer().calls;
    if calls.is_empty() {
        return Err("no_call");
    }
    let is_cut = |completeness| {
        matches!(
            completeness,
            Some(Completeness::CutOff | Completeness::Doubtful)
        )
    };
    if reader
        .answer()
        .choices
        .iter()
        .any(|choice| is_cut(choice.completeness))
    {
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
            let name = verdict.tool().map(Tool::name);
            name.is_some_and(|name| refused.tools.iter().any(|tool| tool == name))
        };
        let Some(at) = left.iter().position(is_its) else {
            let is_same = |call: &Call<'_>| call.tool == refused.sent_tool.as_str();
            return Err(if left.iter().any(is_same) {
                "refused_again"
            } else {
                "other_tool"
            });
        };
        let call = left.remove(at);
        if call.tool == refused.sent_tool.as_str()
            && refused.sent.is_some()
            && sent_value(&call) == refused.sent
        {
            return Err("same_again");
        }
        let verdict = gate.judge(&call);
        let is_exact = match &verdict {
            Verdict::Valid(_) => true,
            Verdict::Repaired(repaired) => repaired
                .edits()
                .iter()
                .all(|edit| edit.grade == Grade::Lossless),
            _ => false,
        };
        let new = verdict.tool().zip(verdict.arguments()).filter(|_| is_exact);
        let (tool, arguments) = new.ok_or("refused_again")?;
        let new = NewCall {
            tool: tool.name().to_owned(),
            arguments: arguments.to_string(),
        };
        let mut event = Event::of(gate, &call, &verdict, SystemTime::now());
        event.id.clone_from(&refused.id);
        new_calls.push((new, event));
    }
    Ok(new_calls)
}
