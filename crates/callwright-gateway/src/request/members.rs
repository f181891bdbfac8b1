//! The request members that matter, by the names each API gives them, and their values.

use std::collections::VecDeque;
use std::ops::Range;

use crate::api::Api;
use crate::text_calls::TakenIds;

/// The members that are kept, by the names each API gives them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RequestMember {
    Tools,
    /// The predecessor of `tools` in chat completions.
    Functions,
    Model,
    ToolChoice,
    ToolConfig,
    ParallelToolCalls,
    ResponseFormat,
    Text,
    OutputConfig,
    OutputFormat,
    GenerationConfig,
    /// These three name a conversation stored by the provider.
    PreviousResponse,
    Conversation,
    Thread,
}

pub(crate) const MEMBERS: [(&[u8], RequestMember); 16] = [
    (b"tools", RequestMember::Tools),
    (b"functions", RequestMember::Functions),
    (b"model", RequestMember::Model),
    (b"tool_choice", RequestMember::ToolChoice),
    (b"toolConfig", RequestMember::ToolConfig),
    (b"tool_config", RequestMember::ToolConfig),
    (b"parallel_tool_calls", RequestMember::ParallelToolCalls),
    (b"response_format", RequestMember::ResponseFormat),
    (b"text", RequestMember::Text),
    (b"output_config", RequestMember::OutputConfig),
    (b"output_format", RequestMember::OutputFormat),
    (b"generationConfig", RequestMember::GenerationConfig),
    (b"generation_config", RequestMember::GenerationConfig),
    (b"previous_response_id", RequestMember::PreviousResponse),
    (b"conversation", RequestMember::Conversation),
    (b"thread", RequestMember::Thread),
];

/// The keys of the conversation, in any API.
pub(crate) fn history_keys() -> impl Iterator<Item = &'static [u8]> {
    Api::ALL.iter().map(|api| api.history_key().as_bytes())
}

/// The keys of call ids in a conversation.
pub(crate) const IDS: [&[u8]; 2] = [b"id", b"call_id"];

/// Parts of a conversation that bring tools besides those in the list.
pub(crate) const TOOLS_ELSEWHERE: [&[u8]; 3] =
    [b"tool_addition", b"additional_tools", b"tool_search_output"];

/// The members found in a request.
#[derive(Debug, Default)]
pub(crate) struct RequestMembers {
    pub(crate) members: Vec<(RequestMember, Vec<u8>)>,
    /// Where the last messages of the conversation are in the body.
    pub(crate) messages: VecDeque<Range<usize>>,
    /// The ids in the conversation.
    pub(crate) ids: TakenIds,
    /// Whether the conversation itself may bring tools, so that the list is incomplete.
    pub(crate) has_tools_elsewhere: bool,
}

impl RequestMembers {
    /// The text of a member, as sent.
    pub(crate) fn member(&self, wanted: RequestMember) -> Option<&str> {
        let found = self.members.iter().find(|(member, _)| *member == wanted)?;
        std::str::from_utf8(&found.1).ok().map(str::trim_end)
    }
}
