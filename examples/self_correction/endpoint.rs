//! The model, over HTTP: one request, one answer, and an error that says what to do if there is none.

use std::env;
use std::error::Error;
use std::time::Duration;

use callwright::Call;
use callwright::call::Completeness;
use callwright::json;
use callwright::wire;
use reqwest::header::CONTENT_TYPE;
use reqwest::{Client, StatusCode};
use serde::Deserialize;
use serde_json::{Value, json};

/// A running server accepts within seconds, even from the other side of the world.
const CONNECT: Duration = Duration::from_secs(10);

/// Connecting, waiting and reading together. A model that thinks for long is silent for minutes; anything longer is a
/// lost connection.
const WHOLE_ANSWER: Duration = Duration::from_secs(300);

/// An answer has some ten thousand tokens at most, a few hundred kilobytes. More is a mistake.
const MOST_BYTES: usize = 4 * 1024 * 1024;

/// How much of a server's own message is shown: a line or two.
const SHOWN: usize = 160;

/// Where a model can be asked.
pub(crate) struct Endpoint {
    client: Client,
    url: String,
    model: String,
    key: Option<String>,
}

/// Why there is no answer, and what to do about it.
#[derive(Debug, thiserror::Error)]
pub(crate) enum EndpointError {
    #[error("OPENAI_BASE_URL is set and OPENAI_MODEL is not: name the model to be asked")]
    NoModel,
    #[error("cannot speak TLS: add `--features tls` for an https address")]
    NoTls,
    #[error("the HTTP client cannot be set up: {0}")]
    NoClient(String),
    #[error("cannot connect to {url}: {why}; check OPENAI_BASE_URL and whether the server runs")]
    Unreachable { url: String, why: String },
    #[error("{url} did not answer in time; try again, or ask a faster model with OPENAI_MODEL")]
    TimedOut { url: String },
    #[error("the connection to {url} broke: {why}; try again")]
    Broken { url: String, why: String },
    #[error("{url} answered {status}: {said}; {advice}")]
    Refused {
        url: String,
        status: StatusCode,
        said: String,
        advice: &'static str,
    },
    #[error("{url} sent more than {MOST_BYTES} bytes; ask for shorter answers")]
    TooLarge { url: String },
    #[error("{url} did not answer with a chat completion ({why}): {said}; {BASE_ADVICE}")]
    NoCompletion {
        url: String,
        why: String,
        said: String,
    },
    #[error("the model's call cannot be read: {0}")]
    NoCall(#[from] callwright::Error),
}

const BASE_ADVICE: &str =
    "OPENAI_BASE_URL must be the part before /chat/completions, such as http://localhost:11434/v1";

/// One answer of the model.
#[derive(Deserialize)]
pub(crate) struct Answer {
    /// The message as it came, for the history.
    pub(crate) message: Value,
    finish_reason: Option<String>,
}

#[derive(Deserialize)]
struct Completion {
    choices: Vec<Answer>,
}

impl Answer {
    /// The calls in it. The provider's finish reason applies to each.
    pub(crate) fn calls(&self) -> Result<Vec<Call<'_>>, EndpointError> {
        let calls = self.message["tool_calls"].as_array();
        calls
            .into_iter()
            .flatten()
            .map(|call| {
                let call = wire::read_call(json::Value::from(call))?;
                Ok(call.with_completeness(self.completeness()))
            })
            .collect()
    }

    /// What the model says in words.
    pub(crate) fn words(&self) -> Option<&str> {
        let words = self.message["content"].as_str();
        words.filter(|words| !words.trim().is_empty())
    }

    /// Whether the provider says that the answer was cut off.
    pub(crate) fn is_cut_off(&self) -> bool {
        self.completeness() == Completeness::CutOff
    }

    fn completeness(&self) -> Completeness {
        let reason = self.finish_reason.as_deref();
        reason.map_or(Completeness::Unknown, Completeness::from_finish_reason)
    }
}

impl Endpoint {
    /// The model named in the environment; `None` if there is none.
    pub(crate) fn from_environment() -> Result<Option<Self>, EndpointError> {
        let given = |name| env::var(name).ok().filter(|value| !value.is_empty());
        let Some(base) = given("OPENAI_BASE_URL") else {
            return Ok(None);
        };
        if base.starts_with("https:") && !cfg!(feature = "tls") {
            return Err(EndpointError::NoTls);
        }
        let model = given("OPENAI_MODEL").ok_or(EndpointError::NoModel)?;
        Endpoint::new(Client::builder(), &base, model, given("OPENAI_API_KEY")).map(Some)
    }

    /// The scripted model on this machine, past any proxy.
    pub(crate) fn scripted(base: &str) -> Result<Self, EndpointError> {
        Endpoint::new(Client::builder().no_proxy(), base, "scripted".into(), None)
    }

    fn new(
        client: reqwest::ClientBuilder,
        base: &str,
        model: String,
        key: Option<String>,
    ) -> Result<Self, EndpointError> {
        // Every client needs a TLS provider, even for plain HTTP. An existing one is kept.
        #[cfg(feature = "tls")]
        let _ = rustls::crypto::ring::default_provider().install_default();
        let client = client
            .connect_timeout(CONNECT)
            .timeout(WHOLE_ANSWER)
            .build()
            .map_err(|error| EndpointError::NoClient(root_cause(&error)))?;
        Ok(Endpoint {
            client,
            url: format!("{}/chat/completions", base.trim_end_matches('/')),
            model,
            key,
        })
    }

    /// Asks the model for its next answer.
    pub(crate) async fn ask(
        &self,
        messages: &[Value],
        tools: &[Value],
    ) -> Result<Answer, EndpointError> {
        let body = json!({"model": self.model, "messages": messages, "tools": tools});
        let mut request = self
            .client
            .post(&self.url)
            .header(CONTENT_TYPE, "application/json")
            .body(body.to_string());
        if let Some(key) = &self.key {
            request = request.bearer_auth(key);
        }
        let mut response = request.send().await.map_err(|error| self.failed(&error))?;
        let status = response.status();
        let mut body = Vec::new();
        while let Some(part) = response
            .chunk()
            .await
            .map_err(|error| self.failed(&error))?
        {
            if body.len() + part.len() > MOST_BYTES {
                return Err(EndpointError::TooLarge {
                    url: self.url.clone(),
                });
            }
            body.extend_from_slice(&part);
        }
        if !status.is_success() {
            return Err(EndpointError::Refused {
                url: self.url.clone(),
                status,
                said: said(&body),
                advice: advice(status),
            });
        }
        self.read(&body)
    }

    fn read(&self, body: &[u8]) -> Result<Answer, EndpointError> {
        let no_completion = |why: String| EndpointError::NoCompletion {
            url: self.url.clone(),
            why,
            said: said(body),
        };
        let completion: Completion =
            serde_json::from_slice(body).map_err(|error| no_completion(error.to_string()))?;
        let first = completion.choices.into_iter().next();
        first.ok_or_else(|| no_completion("no choices".to_owned()))
    }

    fn failed(&self, error: &reqwest::Error) -> EndpointError {
        let (url, why) = (self.url.clone(), root_cause(error));
        if error.is_timeout() {
            EndpointError::TimedOut { url }
        } else if error.is_connect() || error.is_builder() {
            EndpointError::Unreachable { url, why }
        } else {
            EndpointError::Broken { url, why }
        }
    }
}

fn advice(status: StatusCode) -> &'static str {
    match status.as_u16() {
        401 | 403 => "set OPENAI_API_KEY to a key that is valid for this server",
        404 => "check OPENAI_BASE_URL (it usually ends with /v1) and OPENAI_MODEL",
        408 | 429 => "wait, then try again",
        500.. => "the server failed: try again later, or look into its log",
        _ => "the server does not take the request: check whether OPENAI_MODEL can call tools",
    }
}

/// The beginning of the server's response: its error message, if it has the usual format.
fn said(body: &[u8]) -> String {
    let text = String::from_utf8_lossy(body);
    let message = serde_json::from_slice::<Value>(body)
        .ok()
        .and_then(|body| Some(body["error"]["message"].as_str()?.to_owned()));
    let text = message
        .as_deref()
        .unwrap_or(&text)
        .trim()
        .trim_end_matches('.');
    if text.is_empty() {
        return "nothing".to_owned();
    }
    // Untrusted text: no line breaks and no control characters on the terminal.
    text.chars()
        .take(SHOWN)
        .flat_map(char::escape_debug)
        .collect()
}

/// `reqwest` wraps the cause in several layers.
fn root_cause(error: &reqwest::Error) -> String {
    let mut cause: &dyn Error = error;
    while let Some(deeper) = cause.source() {
        cause = deeper;
    }
    cause.to_string()
}
