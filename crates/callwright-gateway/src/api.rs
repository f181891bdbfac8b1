//! The APIs that are judged: recognised by the path of a request.

use callwright::wire::Provider;
use hyper::Uri;

/// An API whose answers are judged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Api {
    /// Its name in records, metrics and headers.
    pub(crate) name: &'static str,
    pub(crate) provider: Provider,
}

const CHAT: Api = Api {
    name: "chat",
    provider: Provider::OpenAiChat,
};
const RESPONSES: Api = Api {
    name: "responses",
    provider: Provider::OpenAiResponses,
};
const MESSAGES: Api = Api {
    name: "messages",
    provider: Provider::Anthropic,
};
const GEMINI: Api = Api {
    name: "gemini",
    provider: Provider::Gemini,
};

/// How the paths of an API end. What is before that (`/v1`, `/openai/deployments/…`) differs between hosts.
const PATHS: [(&str, Api); 7] = [
    ("/chat/completions", CHAT),
    ("/responses", RESPONSES),
    ("/messages", MESSAGES),
    // Anthropic's models on Vertex.
    (":rawPredict", MESSAGES),
    (":streamRawPredict", MESSAGES),
    (":generateContent", GEMINI),
    (":streamGenerateContent", GEMINI),
];

impl Api {
    /// The API of a path; `None` if requests to it pass as they are.
    pub(crate) fn of_path(path: &str) -> Option<Api> {
        let path = path.trim_end_matches('/');
        let found = PATHS.iter().find(|(end, _)| path.ends_with(end));
        found.map(|(_, api)| *api)
    }
}

/// Whether the answer to a request comes as a JSON list, piece by piece: Gemini's unless an event stream is asked for.
pub(crate) fn streams_an_array(asked: &Uri) -> bool {
    let mut query = asked.query().unwrap_or_default().split('&');
    asked.path().ends_with(":streamGenerateContent") && !query.any(|pair| pair == "alt=sse")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_end_of_a_path_tells_the_api() {
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
            assert_eq!(Api::of_path(path).map(|api| api.name), api, "{path}");
        }
    }
}
