//! Errors of ours and of the operator: a bad tool file, two tools with the same name, a bad policy.
//!
//! A refused call is never an error. It is a verdict.

use std::fmt;

/// Something that the operator of the gate has to fix. Its text names the place and the next step.
#[derive(Debug)]
pub struct Error(Box<ErrorKind>);

/// What went wrong, one sentence each.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ErrorKind {
    #[error("not JSON: {0}; a tool file is a JSON array of tools, or an object with `tools`")]
    ToolsNotJson(serde_json::Error),
    #[error(
        "{place}: expected a tool (an object with a `name`), found {found}; see the shapes in `callwright check --help`"
    )]
    NotATool { place: String, found: &'static str },
    #[error("{place}: `{key}` must be a list of tools")]
    ToolsNotAList { place: String, key: &'static str },
    #[error(
        "this is an MCP error response; save the response to a `tools/list` request that worked"
    )]
    ErrorAnswer,
    #[error("{place}: the tool has no `name`; add one, since models call tools by name")]
    NamelessTool { place: String },
    #[error("two tools are named {name:?}; rename or remove one, since calls could mean either")]
    DuplicateTool { name: String },
    #[error("not JSON at column {column}: {reason}; one call per line, as a JSON object")]
    CallNotJson {
        column: usize,
        reason: String,
        /// The same message without a piece of the line.
        unquoted: String,
    },
    #[error("{0}")]
    NotACall(String),
    #[cfg(feature = "toolbox")]
    #[error("{0}")]
    ToolDefects(String),
    #[cfg(feature = "toolbox")]
    #[error("cannot start the thread of a sink: {0}")]
    NoThread(std::io::Error),
    #[cfg(feature = "toolbox")]
    #[error(
        "`sinks` takes all sinks of a toolbox; add those of `sink` and `on` to its `Sinks::builder()`"
    )]
    TwoSetsOfSinks,
    #[cfg(feature = "toolbox")]
    #[error(
        "`{name}` as arguments: a call carries an object, but this type is {found}; wrap it in a struct with a named field"
    )]
    ArgumentsNotAnObject { name: String, found: String },
    #[cfg(feature = "policy")]
    #[error("{0}")]
    Policy(String),
    #[cfg(feature = "policy")]
    #[error("the policy is longer than {longest} bytes; use patterns for many tools")]
    LongPolicy { longest: usize },
}

impl From<ErrorKind> for Error {
    fn from(kind: ErrorKind) -> Self {
        Error(Box::new(kind))
    }
}

impl Error {
    /// The text without any piece of an unreadable line, which may contain a secret.
    pub fn unquoted(&self) -> String {
        match &*self.0 {
            ErrorKind::CallNotJson {
                column, unquoted, ..
            } => ErrorKind::CallNotJson {
                column: *column,
                reason: unquoted.clone(),
                unquoted: String::new(),
            }
            .to_string(),
            other => other.to_string(),
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, f)
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.0.source()
    }
}
