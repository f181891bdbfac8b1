//! The one table of codes.
//!
//! One row per code: its class, what to do next, the hint that goes to the model, what it means, and
//! an example. `callwright explain` prints a row, `docs/codes.md` is generated from all of them, and a
//! test fails if a row lacks a message, a hint or a corpus case. A new code is a new row, and nothing
//! else needs to know.

use serde::Serialize;

/// The families of failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Class {
    /// The call itself is wrong; nothing was run.
    Validation,
}

/// What the model should do next.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Next {
    /// Send the call again with other arguments.
    FixArguments,
    /// Send the same call again, now.
    RetrySame,
    /// Send the same call again, later.
    RetryLater,
    /// Do something else.
    ChangeApproach,
    /// Go on with what came, or ask for the next part.
    Continue,
    /// Ask the user.
    AskUser,
    /// Stop.
    Stop,
}

/// The stable names of what can go wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Code {
    /// The arguments do not fit the schema.
    InvalidArguments,
    /// The arguments are not JSON.
    InvalidJson,
    /// The call ends before its arguments do.
    TruncatedCall,
    /// There is no such tool.
    UnknownTool,
    /// The call can be read in more than one way.
    AmbiguousCall,
    /// The arguments are larger than allowed.
    ArgumentsTooLarge,
}

/// Everything there is to say about a code.
#[derive(Debug, Clone, Copy)]
pub struct CodeRow {
    /// The code.
    pub code: Code,
    /// Its stable name.
    pub name: &'static str,
    /// Its family.
    pub class: Class,
    /// What the model should do next.
    pub next: Next,
    /// The hint for the model.
    pub hint: &'static str,
    /// What it means, for people.
    pub meaning: &'static str,
    /// A call that gets it.
    pub example: &'static str,
}

/// All codes, in the order of the stages that give them.
pub const TABLE: &[CodeRow] = &[
    CodeRow {
        code: Code::UnknownTool,
        name: "unknown_tool",
        class: Class::Validation,
        next: Next::ChangeApproach,
        hint: "Call one of the tools you were given, by its exact name.",
        meaning: "The model called a tool that does not exist. The feedback names the three nearest \
                  names at most, never the whole list.",
        example: r#"{"tool": "serch", "arguments": {}} where only `search` exists"#,
    },
    CodeRow {
        code: Code::ArgumentsTooLarge,
        name: "arguments_too_large",
        class: Class::Validation,
        next: Next::ChangeApproach,
        hint: "Send less at once, in several smaller calls.",
        meaning: "The arguments have more bytes, or are nested deeper, than the gate reads. Both limits \
                  are settings (8 MiB and 100 levels by default).",
        example: r#"{"tool": "write", "arguments": "[[[[…"} nested 101 deep"#,
    },
    CodeRow {
        code: Code::TruncatedCall,
        name: "truncated_call",
        class: Class::Validation,
        next: Next::ChangeApproach,
        hint: "Send it again with less content, split into several smaller calls.",
        meaning: "The call was cut off before its arguments were complete: the provider says so (finish \
                  reason), or the text ends in the middle. It is never completed and never run.",
        example: r#"{"tool": "save", "arguments": "{\"orders\": [{\"id\": \"O-1\", \"total\""}"#,
    },
    CodeRow {
        code: Code::AmbiguousCall,
        name: "ambiguous_call",
        class: Class::Validation,
        next: Next::FixArguments,
        hint: "Send exactly one JSON object per call.",
        meaning: "The arguments can be read in more than one way, such as two JSON objects glued \
                  together. None of the readings is run and none is dropped.",
        example: r#"{"tool": "add", "arguments": "{\"x\": 1}{\"x\": 2}"}"#,
    },
    CodeRow {
        code: Code::InvalidJson,
        name: "invalid_json",
        class: Class::Validation,
        next: Next::FixArguments,
        hint: "Send the arguments as one valid JSON object.",
        meaning: "The arguments are not JSON. The feedback gives line, column, the nearest path and what \
                  was expected there.",
        example: r#"{"tool": "search", "arguments": "{\"limit\": 5,}"}"#,
    },
    CodeRow {
        code: Code::InvalidArguments,
        name: "invalid_arguments",
        class: Class::Validation,
        next: Next::FixArguments,
        hint: "Correct the listed arguments and call the tool again.",
        meaning: "The arguments are JSON and do not fit the tool's schema. Every issue is listed in the \
                  data, the five most useful ones in the feedback.",
        example: r#"{"tool": "search", "arguments": {"limit": "abc"}} where `limit` is an integer"#,
    },
];

impl Code {
    /// The row of this code.
    pub fn row(self) -> &'static CodeRow {
        // Every code has a row, which a test checks; the fallback keeps this free of panics.
        TABLE
            .iter()
            .find(|row| row.code == self)
            .unwrap_or(&TABLE[0])
    }

    /// The stable name.
    pub fn name(self) -> &'static str {
        self.row().name
    }

    /// The code of this name.
    pub fn from_name(name: &str) -> Option<Code> {
        TABLE
            .iter()
            .find(|row| row.name == name)
            .map(|row| row.code)
    }

    /// The codes whose names are nearest to `name`, the closest first, three at most.
    pub fn nearest(name: &str) -> Vec<&'static str> {
        crate::nearest::nearest(name, TABLE.iter().map(|row| row.name), 3)
    }
}

impl Class {
    /// The stable name.
    pub fn name(self) -> &'static str {
        match self {
            Class::Validation => "validation",
        }
    }
}

impl Next {
    /// The stable name.
    pub fn name(self) -> &'static str {
        match self {
            Next::FixArguments => "fix_arguments",
            Next::RetrySame => "retry_same",
            Next::RetryLater => "retry_later",
            Next::ChangeApproach => "change_approach",
            Next::Continue => "continue",
            Next::AskUser => "ask_user",
            Next::Stop => "stop",
        }
    }

    /// Whether the very same call may be sent again: what older shapes call `retryable`.
    pub fn is_retry(self) -> bool {
        matches!(self, Next::RetrySame | Next::RetryLater)
    }
}
