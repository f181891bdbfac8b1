//! Errors of ours and of the operator: a bad tool file, two tools with the same name, a bad policy.
//!
//! A refused call is never an error. It is a verdict.

use std::fmt;

/// Something that the operator of the gate has to fix. Its text names the place and the next step.
#[derive(Debug)]
pub struct Error(Box<ErrorKind>);

/// What went wrong.
#[derive(Debug)]
pub(crate) enum ErrorKind {
    ToolsNotJson(serde_json::Error),
    NotATool {
        place: String,
        found: &'static str,
    },
    ToolsNotAList {
        place: String,
        key: &'static str,
    },
    ErrorAnswer,
    NamelessTool {
        place: String,
    },
    DuplicateTool {
        name: String,
    },
    CallNotJson {
        column: usize,
        reason: String,
        /// The same message without a piece of the line.
        unquoted: String,
    },
    NotACall(String),
    #[cfg(feature = "toolbox")]
    ToolDefects(String),
    #[cfg(feature = "toolbox")]
    NoThread(std::io::Error),
    #[cfg(feature = "toolbox")]
    TwoSetsOfSinks,
    #[cfg(feature = "toolbox")]
    ArgumentsNotAnObject {
        name: String,
        found: String,
    },
    #[cfg(feature = "policy")]
    Policy(String),
    #[cfg(feature = "policy")]
    LongPolicy {
        longest: usize,
    },
}

/// One sentence each.
impl fmt::Display for ErrorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ErrorKind::ToolsNotJson(error) => write!(
                f,
                "not JSON: {error}; a tool file is a JSON array of tools, or an object with `tools`"
            ),
            ErrorKind::NotATool { place, found } => write!(
                f,
                "{place}: expected a tool (an object with a `name`), found {found}; see the shapes in `callwright check --help`"
            ),
            ErrorKind::ToolsNotAList { place, key } => {
                write!(f, "{place}: `{key}` must be a list of tools")
            }
            ErrorKind::ErrorAnswer => f.write_str(
                "this is an MCP error response; save the response to a `tools/list` request that worked",
            ),
            ErrorKind::NamelessTool { place } => write!(
                f,
                "{place}: the tool has no `name`; add one, since models call tools by name"
            ),
            ErrorKind::DuplicateTool { name } => write!(
                f,
                "two tools are named {name:?}; rename or remove one, since calls could mean either"
            ),
            ErrorKind::CallNotJson { column, reason, .. } => write!(
                f,
                "not JSON at column {column}: {reason}; one call per line, as a JSON object"
            ),
            ErrorKind::NotACall(sentence) => f.write_str(sentence),
            #[cfg(feature = "toolbox")]
            ErrorKind::ToolDefects(sentence) => f.write_str(sentence),
            #[cfg(feature = "toolbox")]
            ErrorKind::NoThread(error) => {
                write!(f, "cannot start the thread of a sink: {error}")
            }
            #[cfg(feature = "toolbox")]
            ErrorKind::TwoSetsOfSinks => f.write_str(
                "`sinks` takes all sinks of a toolbox; add those of `sink` and `on` to its `Sinks::builder()`",
            ),
            #[cfg(feature = "toolbox")]
            ErrorKind::ArgumentsNotAnObject { name, found } => write!(
                f,
                "`{name}` as arguments: a call carries an object, but this type is {found}; wrap it in a struct with a named field"
            ),
            #[cfg(feature = "policy")]
            ErrorKind::Policy(sentence) => f.write_str(sentence),
            #[cfg(feature = "policy")]
            ErrorKind::LongPolicy { longest } => write!(
                f,
                "the policy is longer than {longest} bytes; use patterns for many tools"
            ),
        }
    }
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

impl std::error::Error for Error {}
