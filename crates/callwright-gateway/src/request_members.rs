//! The members of a request that matter, by the names that the APIs give them, and what was found of them.

use std::collections::VecDeque;
use std::ops::Range;

use crate::api::Api;
use crate::call_ids::TakenIds;

/// The members that are kept, by the names that APIs give them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Member {
    Tools,
    /// What came before `tools` in chat completions.
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
    /// These three name a conversation that the provider keeps.
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

/// Where the conversation is, in any API.
pub(crate) fn history_keys() -> impl Iterator<Item = &'static [u8]> {
    Api::ALL.iter().map(|api| api.history_key().as_bytes())
}

/// The keys under which a conversation has the ids of its calls.
pub(crate) const IDS: [&[u8]; 2] = [b"id", b"call_id"];

/// Names of parts of a conversation that bring tools besides those of the list.
pub(crate) const TOOLS_ELSEWHERE: [&[u8]; 3] =
    [b"tool_addition", b"additional_tools", b"tool_search_output"];

/// What a request says.
#[derive(Debug, Default)]
pub(crate) struct Found {
    pub(crate) members: Vec<(Member, Vec<u8>)>,
    /// Where the last messages of the conversation are in the body.
    pub(crate) messages: VecDeque<Range<usize>>,
    /// The ids in the conversation.
    pub(crate) ids: TakenIds,
    /// Whether the conversation itself may bring tools, so that the list is not all of them.
    pub(crate) has_tools_elsewhere: bool,
}

impl Found {
    /// The text of a member, as it was sent.
    pub(crate) fn member(&self, wanted: Member) -> Option<&str> {
        let found = self.members.iter().find(|(member, _)| *member == wanted)?;
        std::str::from_utf8(&found.1).ok().map(str::trim_end)
    }
}
