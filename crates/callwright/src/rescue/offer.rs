//! The tools that a message may call, and what may be guessed about calls of them.

use super::chance::begins_name;
use crate::nearest::{FoldedName, same_spelling};
use crate::tool::{Tool, ToolSet};
use crate::vocabulary::Grade;
use crate::vocabulary::template::{self, CallSide, Debris, DebrisContext};

/// The tools of a gate, with the highest grade of repair for each.
#[derive(Clone, Copy)]
pub(crate) struct Offer<'g> {
    pub(crate) tools: &'g ToolSet,
    pub(crate) cap: &'g dyn Fn(&Tool) -> Option<Grade>,
    /// The only tool that may be called, if the text is its arguments and not a message to people, where a call may be quoted.
    pub(crate) arguments_of: Option<&'g Tool>,
}

impl<'g> Offer<'g> {
    /// The tool with this name, or with another spelling of it if names are repaired.
    pub(super) fn tool(&self, name: &str) -> Option<&'g Tool> {
        if let Some(own) = self.arguments_of {
            return (name == own.name() || same_spelling(name, own.name())).then_some(own);
        }
        let exact = self.tools.get(name);
        let meant = || {
            let tool = self.tools.meant_tool(name)?;
            // `-drop` is an entry of a list. What a stream does not hold back is not a call either.
            let is_name = name.starts_with(char::is_alphabetic) && begins_name(self, name);
            (self.cap)(tool).filter(|_| is_name).map(|_| tool)
        };
        exact.or_else(meant).map(AsRef::as_ref)
    }

    /// Whether a tool has a parameter of this name, in any spelling.
    pub(super) fn has_key(&self, name: &str) -> bool {
        let name = FoldedName::new(name);
        match self.arguments_of {
            Some(own) => own.may_take(&name),
            None => self.tools.iter().any(|tool| tool.may_take(&name)),
        }
    }

    pub(super) fn only_reads(&self, name: &str) -> bool {
        self.tool(name).is_some_and(Tool::only_reads)
    }

    /// Whether there may be words around a call of this tool: it is declared read-only, and guesses are allowed.
    pub(super) fn allows_words(&self, tool: &Tool) -> bool {
        tool.only_reads() && (self.cap)(tool) == Some(Grade::Guess)
    }

    /// Whether that holds for any tool.
    pub(super) fn allows_any_words(&self) -> bool {
        match self.arguments_of {
            Some(own) => self.allows_words(own),
            None => self.tools.iter().any(|tool| self.allows_words(tool)),
        }
    }

    /// The debris at the start of a text on this side of a call, and its length.
    pub(super) fn leading_debris<'t>(&self, text: &'t str, side: CallSide) -> (Debris<'t>, usize) {
        let around = DebrisContext {
            side,
            is_message: self.arguments_of.is_none(),
            is_tool: &|name| self.tool(name).is_some(),
            is_key: &|name| self.has_key(name),
        };
        let (mut debris, length) = template::leading_debris(text, &around);
        let is_exact = |name: &&str| self.tools.get(name).is_some();
        let in_namespace = debris.tool.filter(|name| !is_exact(name));
        let bare = in_namespace.and_then(template::without_namespace);
        debris.tool = bare.filter(is_exact).or(debris.tool);
        (debris, length)
    }
}
