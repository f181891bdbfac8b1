//! Asks a model again for refused calls, with a request that the client does not see.
//!
//! Takes a request, its first answer and the refused calls; returns new arguments for them. The request is the
//! client's, byte for byte, with the first answer and a result for each of its calls appended. Only the arguments are
//! taken from the new answer: they are put into the model's first call, which keeps its id, signature and place.
//! `refused_call` decides which answer is accepted.

pub(crate) mod first_answer;
pub(crate) mod given_up;
pub(crate) mod refused_call;
mod side_request;

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use callwright::call::Call;
use callwright::event::Event;
use callwright::internal::RawObject;
use callwright::{Gate, ToolSpec};
use hyper::header::{ACCEPT, CONTENT_ENCODING, HeaderName, HeaderValue};
use hyper::{HeaderMap, Uri};
use tokio::time::{Instant, timeout_at};

use self::first_answer::FirstAnswer;
use self::refused_call::{RefusedCall, accept, may_ask_for};
use self::side_request::{side_request, total_tokens, whole_path};
use crate::api::Api;
use crate::guard::{Decision, NewCall};
use crate::relay::Relay;

/// Marks the gateway's own requests, for logs and for other gateways on the way.
const X_REASK: HeaderName = HeaderName::from_static("x-callwright-reask");

/// A second request with the same idempotency key would get the first answer again, or none.
pub(crate) const IDEMPOTENCY_KEY: &str = "idempotency-key";

/// About how many bytes a token has, if the provider does not report token counts.
const BYTES_PER_TOKEN: u64 = 4;

/// Limits for asking again.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ReaskLimits {
    pub(crate) tries: u32,
    pub(crate) within: Duration,
    pub(crate) max_tokens: u64,
}

/// A request that may be sent again.
#[derive(Debug)]
pub(crate) struct Reasker {
    pub(crate) api: Api,
    pub(crate) path: String,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Bytes,
    pub(crate) limits: ReaskLimits,
}

/// The outcome of asking again.
#[derive(Debug, Default)]
pub(crate) struct AskedAgain {
    /// The outcome of each attempt: `accepted`, or why not.
    pub(crate) outcomes: Vec<&'static str>,
    pub(crate) tokens: u64,
    /// The replacements of the refused calls, in order, with their event records.
    pub(crate) new_calls: Option<Vec<(NewCall, Event)>>,
    /// The replacement of an answer in which the model gave up.
    pub(crate) instead: Option<String>,
}

impl AskedAgain {
    pub(crate) fn not(outcome: &'static str) -> Self {
        AskedAgain {
            outcomes: vec![outcome],
            ..AskedAgain::default()
        }
    }

    /// The earlier decisions, with the new calls in them.
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
    /// Prepares asking again; `None` if a second request would be consumed, stored or mixed up.
    pub(crate) fn new(
        api: Api,
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
            api,
            path: whole_path(asked),
            headers,
            body,
            limits,
        })
    }

    /// Asks until an answer is accepted, within the limits. `calls` are those of the first answer.
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
        let body =
            body.and_then(|body| side_request(self.api, body, &first.messages, &calls, &refused));
        let Some(body) = body else {
            return AskedAgain::not("request_shape");
        };
        let body = Bytes::from(body);
        self.ask_until(relay, body, |asked, answer| {
            asked.new_calls = Some(accept(self.api, &gate, &refused, &answer)?);
            Ok(())
        })
        .await
    }

    /// Sends the same request again after the model gave up, until an answer can replace the first.
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

    /// Sends a request until an answer is accepted, within the limits.
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
