//! The APIs whose answers are judged, recognised by the path of a request.
//!
//! Everything that differs between APIs matches on [`Api`] without a catch-all arm, so the compiler lists what a new
//! one needs.

use callwright::wire::Provider;
use hyper::Uri;

/// An API whose answers are judged. Not `non_exhaustive`: code that handles each API should fail to compile when one
/// is added.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Api {
    /// OpenAI chat completions.
    Chat,
    /// OpenAI responses.
    Responses,
    /// Anthropic messages.
    Messages,
    /// Gemini `generateContent`.
    Gemini,
}

/// How the paths of an API end. The prefix (`/v1`, `/openai/deployments/…`) differs between hosts.
const PATHS: [(&str, Api); 7] = [
    ("/chat/completions", Api::Chat),
    ("/responses", Api::Responses),
    ("/messages", Api::Messages),
    // Anthropic's models on Vertex.
    (":rawPredict", Api::Messages),
    (":streamRawPredict", Api::Messages),
    (":generateContent", Api::Gemini),
    (":streamGenerateContent", Api::Gemini),
];

impl Api {
    /// All APIs.
    pub const ALL: [Api; 4] = [Api::Chat, Api::Responses, Api::Messages, Api::Gemini];

    /// The API of a path; `None` if its requests pass through unjudged.
    pub fn of_path(path: &str) -> Option<Api> {
        let path = path.trim_end_matches('/');
        let found = PATHS.iter().find(|(end, _)| path.ends_with(end));
        found.map(|(_, api)| *api)
    }

    /// Its name in records and metrics.
    pub fn name(self) -> &'static str {
        match self {
            Api::Chat => "chat",
            Api::Responses => "responses",
            Api::Messages => "messages",
            Api::Gemini => "gemini",
        }
    }

    /// The provider whose wire format it uses.
    pub fn provider(self) -> Provider {
        match self {
            Api::Chat => Provider::OpenAiChat,
            Api::Responses => Provider::OpenAiResponses,
            Api::Messages => Provider::Anthropic,
            Api::Gemini => Provider::Gemini,
        }
    }

    /// The request member that contains the conversation.
    pub(crate) fn history_key(self) -> &'static str {
        match self {
            Api::Chat | Api::Messages => "messages",
            Api::Responses => "input",
            Api::Gemini => "contents",
        }
    }

    /// The role of the model's own messages.
    pub(crate) fn model_role(self) -> &'static str {
        match self {
            Api::Chat | Api::Responses | Api::Messages => "assistant",
            Api::Gemini => "model",
        }
    }

    /// Whether the provider stores answers unless the request says otherwise.
    pub(crate) fn keeps_answers(self) -> bool {
        match self {
            Api::Responses => true,
            Api::Chat | Api::Messages | Api::Gemini => false,
        }
    }

    /// Whether a stream event has a list of parts, to which calls can be added.
    pub(crate) fn events_hold_parts(self) -> bool {
        match self {
            Api::Gemini => true,
            Api::Chat | Api::Responses | Api::Messages => false,
        }
    }

    /// Whether an answer without a finish reason is incomplete.
    pub(crate) fn always_says_how_it_ended(self) -> bool {
        match self {
            Api::Responses | Api::Messages => true,
            Api::Chat | Api::Gemini => false,
        }
    }
}

/// The model named in a path rather than in the body: Gemini, Vertex, and Azure deployments.
pub(crate) fn model_in_path(path: &str) -> Option<&str> {
    let after = |key: &str| path.rsplit_once(key).map(|(_, after)| after);
    let model = after("/models/").or_else(|| after("/deployments/"))?;
    model.split([':', '/']).next()
}

/// Whether the answer is streamed as a JSON array: Gemini, unless an event stream is requested.
pub(crate) fn streams_an_array(asked: &Uri) -> bool {
    let mut query = asked.query().unwrap_or_default().split('&');
    asked.path().ends_with(":streamGenerateContent") && !query.any(|pair| pair == "alt=sse")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_may_name_the_model() {
        for (path, model) in [
            ("/v1beta/models/gemini-3:generateContent", Some("gemini-3")),
            (
                "/v1/projects/p/locations/l/publishers/anthropic/models/claude-5@1:rawPredict",
                Some("claude-5@1"),
            ),
            ("/openai/deployments/gpt/chat/completions", Some("gpt")),
            ("/v1/chat/completions", None),
        ] {
            assert_eq!(model_in_path(path), model, "{path}");
        }
    }

    #[test]
    fn a_path_suffix_identifies_the_api() {
        for (path, api) in [
            ("/v1/chat/completions", Some("chat")),
            ("/openai/deployments/gpt/chat/completions", Some("chat")),
            ("/v1/responses", Some("responses")),
            ("/v1/responses/compact", None),
            ("/v1/messages", Some("messages")),
            ("/v1/messages/count_tokens", None),
            ("/v1beta/models/gemini-3:generateContent", Some("gemini")),
            (
                "/v1beta/models/gemini-3:streamGenerateContent",
                Some("gemini"),
            ),
            ("/v1/models", None),
            ("/", None),
        ] {
            assert_eq!(Api::of_path(path).map(Api::name), api, "{path}");
        }
    }
}
