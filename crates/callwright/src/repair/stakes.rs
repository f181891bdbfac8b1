//! What a wrong edit could do: looked at before any edit is proposed.
//!
//! In come a tool and, where they can be read, the arguments of a call; out goes how careful repair has to be. It
//! knows no rule. A word that is not on the list of destroying ones never makes repair bolder than an ordinary
//! change allows: only a declaration does.

use crate::json::Value;
use crate::tool::{Effect, Tool, says_destroy};

/// What a wrong edit could do, from harmless to fatal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Stakes {
    /// The tool is declared to only read.
    Reads,
    /// The call may change something.
    Changes,
    /// The call may destroy something: by declaration, or by the name of the tool or of an operation that it asks for.
    Destroys,
}

impl Stakes {
    /// The stable name.
    pub fn name(self) -> &'static str {
        match self {
            Stakes::Reads => "reads",
            Stakes::Changes => "changes",
            Stakes::Destroys => "destroys",
        }
    }

    /// The stakes of a call of this tool with these arguments.
    pub(super) fn of(tool: &Tool, arguments: &Value<'_>) -> Stakes {
        let spec = tool.spec();
        if spec.only_reads() {
            Stakes::Reads
        } else if spec.may_destroy()
            || (spec.effect == Effect::Unknown && names_destruction(arguments, LEVELS))
        {
            Stakes::Destroys
        } else {
            Stakes::Changes
        }
    }
}

/// How deep the name of an operation may be: `{"input": {"action": "delete"}}`.
const LEVELS: usize = 2;

/// How many members and items are looked at on each level. Operations are named among the first.
const MOST_MEMBERS: usize = 64;

/// Longer texts are content; the longest names of operations have some thirty letters.
const LONGEST_NAME: usize = 40;

/// Whether a value among the arguments is the name of an operation that destroys: `{"action": "delete"}`.
fn names_destruction(value: &Value<'_>, levels: usize) -> bool {
    match value {
        Value::String(text) => {
            let is_name = text.len() <= LONGEST_NAME && !text.trim().contains(char::is_whitespace);
            is_name && says_destroy(text)
        }
        Value::Object(members) if levels > 0 => members
            .iter()
            .take(MOST_MEMBERS)
            .any(|(_, inner)| names_destruction(inner, levels - 1)),
        Value::Array(items) if levels > 0 => items
            .iter()
            .take(MOST_MEMBERS)
            .any(|inner| names_destruction(inner, levels - 1)),
        _ => false,
    }
}
