//! What a record shows: tools, calls, results, and their place in a conversation.
//!
//! The common form into which every format is read. Nothing is judged here.

use std::borrow::Cow;

use callwright::json::Value;
use callwright::{Call, ToolSpec};

/// One thing that a record shows, in the order in which it happened.
#[derive(Debug, Clone)]
pub enum Seen<'a> {
    /// The tools offered to the model from here on. A request carries all of them.
    Tools(Vec<ToolSpec>),
    /// The model called a tool.
    Call(Box<SeenCall<'a>>),
    /// A tool answered a call that is recorded elsewhere.
    Result(SeenResult<'a>),
}

/// A call, its place, and its outcome if the same record has it.
#[derive(Debug, Clone)]
pub struct SeenCall<'a> {
    /// The call.
    pub call: Call<'a>,
    /// Where and when.
    pub at: At<'a>,
    /// The tool's answer.
    pub answer: Option<ToolAnswer<'a>>,
    /// How long the tool took, in microseconds.
    pub latency_us: Option<u64>,
    /// Whether several records show the same call, as requests show their whole history: then it is counted once.
    pub in_history: bool,
    /// How it is recognised then; `None` for calls that have their own record.
    pub identity: Option<CallIdentity>,
    /// What the guard that recorded it knew about its tool; `None` if it says nothing beyond the name.
    pub recorded_tool: Option<RecordedTool<'a>>,
}

/// What a guard knew about the name that a call gave to its tool: it had the complete list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RecordedTool<'a> {
    /// It took the name for that of this tool.
    Meant(Cow<'a, str>),
    /// There was no such tool.
    Unknown,
}

/// How a call shown by several records is recognised: its place in the conversation, whatever its id looks like.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CallIdentity {
    /// A hash of its id, its tool and its arguments.
    pub call: u64,
    /// How many such calls the record shows before it.
    pub nth: u32,
    /// Whether the record shows the conversation from its beginning, so that other such records show as many.
    pub from_start: bool,
    /// A hash of the id of the model's answer, if that is recorded without the conversation.
    pub answer: Option<u64>,
    /// A hash of the call, and of the conversation if the record names it: a history and a separately recorded answer
    /// have this in common.
    pub anywhere: u64,
}

/// Where and when something happened.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct At<'a> {
    /// The conversation.
    pub session: Option<Cow<'a, str>>,
    /// The user message that it answers.
    pub turn: Option<u64>,
    /// The model answer that it is part of.
    pub round: Option<u64>,
    /// When, in microseconds since 1970.
    pub time: Option<i64>,
    /// Which model.
    pub model: Option<Cow<'a, str>>,
}

/// The result of a call that another record, or an earlier part of this one, shows.
#[derive(Debug, Clone)]
pub struct SeenResult<'a> {
    /// The id of the call.
    pub id: Value<'a>,
    /// Where and when. Possibly only the call or only the result knows the session.
    pub at: At<'a>,
    /// What the tool answered.
    pub answer: ToolAnswer<'a>,
}

/// A tool's answer.
#[derive(Debug, Clone)]
pub struct ToolAnswer<'a> {
    /// Text, or a value, which may be an MCP result.
    pub output: Value<'a>,
    /// Whether it is an error.
    pub is_error: bool,
}

/// The longest name of a tool, a model or a conversation that is kept in full. Providers allow 64 or 128 characters
/// for a tool; a log may have megabytes.
pub(crate) const LONGEST_NAME: usize = 256;

/// A name, or the beginning of one that is too long.
pub(crate) fn short(name: &str) -> &str {
    if name.len() <= LONGEST_NAME {
        return name;
    }
    let mut ends = (0..=LONGEST_NAME).rev();
    let end = ends.find(|end| name.is_char_boundary(*end));
    &name[..end.unwrap_or(0)]
}
