//! What a wrong edit could do, determined before any edit is proposed.
//!
//! Takes a tool and, if they can be parsed, the arguments of a call; returns how careful repair has to be. It knows no rule. A
//! word that is not on the list of destructive ones never makes repair bolder than for an ordinary change: only a declaration
//! does.

use std::cell::OnceCell;

use crate::json::Value;
use crate::tool::Tool;
use crate::vocabulary::{Edit, named, says_destroy, says_spend};

named! {
    /// What a wrong edit could do, from harmless to fatal.
    pub enum Stakes {
        /// The tool is declared read-only.
        Reads = "reads",
        /// The call may change something.
        Changes = "changes",
        /// The call may destroy or spend something: by declaration, or by the name of the tool or of a requested operation.
        Destroys = "destroys",
    }
}

impl Stakes {
    /// The stakes of any call of this tool.
    pub(super) fn of_tool(tool: &Tool) -> Stakes {
        if tool.only_reads() {
            Stakes::Reads
        } else if tool.may_destroy_or_spend() {
            Stakes::Destroys
        } else {
            Stakes::Changes
        }
    }

    /// The stakes of a call with these arguments, at least those of the tool.
    pub(super) fn with(self, arguments: &Value<'_>) -> Stakes {
        match self {
            Stakes::Changes if names_destruction(arguments, &mut { MOST_NODES }) => {
                Stakes::Destroys
            }
            other => other,
        }
    }
}

/// The stakes of one call. Its arguments are searched when the first rule depends on it: most edits are allowed at any stakes.
#[derive(Debug)]
pub(super) struct CallStakes<'v> {
    of_tool: Stakes,
    arguments: &'v Value<'v>,
    of_call: OnceCell<Stakes>,
}

impl<'v> CallStakes<'v> {
    pub(super) fn new(of_tool: Stakes, arguments: &'v Value<'v>) -> Self {
        CallStakes {
            of_tool,
            arguments,
            of_call: OnceCell::new(),
        }
    }

    pub(super) fn get(&self) -> Stakes {
        *self
            .of_call
            .get_or_init(|| self.of_tool.with(self.arguments))
    }

    /// Whether something that is allowed up to these stakes is allowed for some arguments of the tool.
    pub(super) fn may_allow(&self, up_to: Stakes) -> bool {
        self.of_tool <= up_to
    }

    /// Whether something that is allowed up to these stakes is allowed for this call.
    pub(super) fn allow(&self, up_to: Stakes) -> bool {
        up_to == Stakes::Destroys || self.get() <= up_to
    }
}

/// Whether an edit introduces something that may name a destructive operation; the rest of the arguments is unchanged.
pub(super) fn names_operation(edit: &Edit) -> bool {
    let key = edit.path.last();
    key.is_some_and(|key| says_destroy(&key)) || names_destruction(&edit.after, &mut { MOST_NODES })
}

/// How many values are examined. Operations are named among the first, at any depth.
const MOST_NODES: usize = 256;

/// How much of a text is examined: operations are named at its start (`DELETE FROM users`).
const BEGINNING: usize = 120;

/// Whether a value is the name of an operation that pays. In a sentence money is merely mentioned.
fn is_payment(text: &str) -> bool {
    !text.contains(char::is_whitespace) && text.len() <= BEGINNING && says_spend(text)
}

/// Whether a key or a value in the arguments names a destructive operation: `{"action": "delete"}`, `{"purge": true}`. Also
/// true if the limit was reached and one may have been missed.
fn names_destruction(value: &Value<'_>, nodes_left: &mut usize) -> bool {
    let Some(left) = nodes_left.checked_sub(1) else {
        return true;
    };
    *nodes_left = left;
    match value {
        Value::String(text) => {
            let end = text.char_indices().nth(BEGINNING).map(|(end, _)| end);
            says_destroy(&text[..end.unwrap_or(text.len())]) || is_payment(text)
        }
        Value::Object(members) => members.iter().any(|(key, inner)| {
            let is_off = matches!(inner, Value::Bool(false) | Value::Null);
            (!is_off && says_destroy(key)) || names_destruction(inner, nodes_left)
        }),
        Value::Array(items) => items
            .iter()
            .any(|inner| names_destruction(inner, nodes_left)),
        Value::Null | Value::Bool(_) | Value::Number(_) => false,
    }
}
