//! The request members that matter, by the names each API gives them, and their values.

use std::collections::VecDeque;
use std::ops::Range;

use crate::api::Api;
use crate::call_ids::TakenIds;

/// The members that are kept, by the names each API gives them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Member {
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

pub(crate) const MEMBERS: [(&[u8], Member); 16] = [
    (b"tools", Member::Tools),
    (b"functions", Member::Functions),
    (b"model", Member::Model),
    (b"tool_choice", Member::ToolChoice),
    (b"toolConfig", Member::ToolConfig),
    (b"tool_config", Member::ToolConfig),
    (b"parallel_tool_calls", Member::ParallelToolCalls),
    (b"response_format", Member::ResponseFormat),
    (b"text", Member::Text),
    (b"output_config", Member::OutputConfig),
    (b"output_format", Member::OutputFormat),
    (b"generationConfig", Member::GenerationConfig),
    (b"generation_config", Member::GenerationConfig),
    (b"previous_response_id", Member::PreviousResponse),
    (b"conversation", Member::Conversation),
    (b"thread", Member::Thread),
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
    pub(crate) members: Vec<(Member, Vec<u8>)>,
    /// Where the last messages of the conversation are in the body.
    pub(crate) messages: VecDeque<Range<usize>>,
    /// The ids in the conversation.
    pub(crate) ids: TakenIds,
    /// Whether the conversation itself may bring tools, so that the list is incomplete.
    pub(crate) has_tools_elsewhere: bool,
}

impl RequestMembers {
    /// The text of a member, as sent.
    pub(crate) fn member(&self, wanted: Member) -> Option<&str> {
        let found = self.members.iter().find(|(member, _)| *member == wanted)?;
        std::str::from_utf8(&found.1).ok().map(str::trim_end)
    }
}
