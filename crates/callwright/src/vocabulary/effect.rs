//! What a call of a tool does to the world, as declared and as its name implies.
//!
//! The operator's declaration takes precedence over a name, and a name over a server's hint. A name only ever makes the gate
//! more careful: a tool whose name implies nothing has an unknown effect, never a read.

mod names;

use serde::Serialize;

use self::names::only_looks_at_destruction;
pub(crate) use self::names::says_run;
pub(crate) use self::names::{JOINING, LOOKING, says_destroy, says_edit, says_spend};
use super::named;
use super::tool::ToolSpec;

named! {
    /// What a call of a tool does to the world.
    #[derive(Default)]
    pub enum Effect {
        /// Nothing was declared.
        #[default]
        Unknown = "unknown",
        /// It only reads.
        Read = "read",
        /// It adds or changes something that can be changed back.
        Write = "write",
        /// It may destroy something.
        Destructive = "destructive",
    }
}

/// Who declared the effect of a tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum DeclaredBy {
    /// The list that the tool came from: MCP annotations. A hint makes repair careful but limits nothing, since servers give
    /// `destructiveHint` to every click.
    #[default]
    Hint,
    /// The operator, in a policy file, or the author of the program.
    Operator,
}

impl ToolSpec {
    /// Whether it is declared read-only, and its name does not contradict a mere hint: that it destroys or runs something, or
    /// pays.
    pub fn only_reads(&self) -> bool {
        let pays = || self.declared_by == DeclaredBy::Hint && says_spend(&self.name);
        self.may_only_read() && !pays()
    }

    /// The same for limits: `tip_of_the_day` need not be a payment, and a hint that it reads keeps its calls from being counted
    /// as such.
    fn may_only_read(&self) -> bool {
        self.effect == Effect::Read && !self.may_destroy()
    }

    /// Whether a call may destroy something: by declaration, or by its name unless the operator declares otherwise. A hint that
    /// a tool only adds something is not enough, and a hint that it only reads is believed if the name says that it looks
    /// something up (`list_deleted_files`).
    pub fn may_destroy(&self) -> bool {
        let by_name = || says_destroy(&self.name) || says_run(&self.name);
        match (self.effect, self.declared_by) {
            (Effect::Destructive, _) => true,
            (Effect::Read | Effect::Write, DeclaredBy::Operator) => false,
            (Effect::Unknown, _) | (Effect::Write, DeclaredBy::Hint) => by_name(),
            (Effect::Read, DeclaredBy::Hint) => by_name() && !only_looks_at_destruction(&self.name),
        }
    }

    /// Whether running the same call again would spend twice: the name implies a payment, and the tool is not declared
    /// read-only or idempotent.
    pub fn spends(&self) -> bool {
        !self.may_only_read() && !self.idempotent && says_spend(&self.name)
    }

    /// Whether a call must not be repeated without asking: the operator declared that it changes something, or the name implies
    /// that money moves, and it is not idempotent.
    pub(crate) fn is_once(&self) -> bool {
        (self.is_declared_to_change() && !self.idempotent) || self.spends()
    }

    /// Whether the operator declared that it changes something.
    pub fn is_declared_to_change(&self) -> bool {
        self.declared_by == DeclaredBy::Operator
            && matches!(self.effect, Effect::Write | Effect::Destructive)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_takes_precedence_over_a_hint() {
        let hinted = |name: &str, effect| {
            let spec = ToolSpec::without_schema(name).with_effect(effect);
            ToolSpec {
                declared_by: DeclaredBy::Hint,
                ..spec
            }
        };
        for name in [
            "delete_file",
            "execute_sql",
            "bash",
            "cleanup",
            "run_code",
            "clear_history",
            "delete_report",
            "find_replace",
            "fetchRemove",
            "get_or_delete",
            "find_replace_text",
            "get_rid_of_files",
        ] {
            let spec = hinted(name, Effect::Read);
            assert!(spec.may_destroy() && !spec.only_reads(), "{name}");
        }
        for name in [
            "list_deleted_files",
            "deleted_files_report",
            "get_command_history",
            "get_block",
            "search",
        ] {
            let spec = hinted(name, Effect::Read);
            assert!(!spec.may_destroy() && spec.only_reads(), "{name}");
        }
        assert!(hinted("drop_table", Effect::Write).may_destroy());
        for name in ["pay_invoice", "transfer_funds", "überweisung", "下单"] {
            assert!(!hinted(name, Effect::Read).only_reads(), "{name}");
        }
        for name in ["get_payment_status", "list_transfers"] {
            assert!(hinted(name, Effect::Read).only_reads(), "{name}");
        }
    }

    #[test]
    fn a_declaration_takes_precedence_over_a_name() {
        let spec = ToolSpec::without_schema("delete_file");
        assert!(spec.may_destroy());
        assert!(!spec.with_effect(Effect::Read).may_destroy());
        let spec = ToolSpec::without_schema("click").with_effect(Effect::Destructive);
        assert!(spec.may_destroy() && spec.is_declared_to_change());
    }
}
