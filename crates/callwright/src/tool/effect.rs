//! What a call of a tool does to the world: as it is declared, and as the tool's name says.
//!
//! A declaration counts before a name. A name only ever makes the gate more careful: a tool whose name says
//! nothing is of unknown effect, never a read.

use serde::Serialize;

use super::ToolSpec;
use crate::nearest::has_word;

/// What a call of a tool does to the world.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Effect {
    /// Nothing was declared.
    #[default]
    Unknown,
    /// It only looks.
    Read,
    /// It adds or changes something that can be changed back.
    Write,
    /// It may destroy something.
    Destructive,
}

/// Who declared the effect of a tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum DeclaredBy {
    /// The list that the tool came from: MCP's annotations. A hint makes repair careful and limits nothing, since
    /// servers give `destructiveHint` to every click.
    #[default]
    Hint,
    /// The operator, in a policy file, or the author of the program.
    Operator,
}

impl ToolSpec {
    /// Whether it is declared to only read.
    pub fn only_reads(&self) -> bool {
        self.effect == Effect::Read
    }

    /// Whether a call may destroy something: it is declared so, or nothing is declared and the name says so.
    pub fn may_destroy(&self) -> bool {
        match self.effect {
            Effect::Destructive => true,
            Effect::Unknown => says_destroy(&self.name),
            Effect::Read | Effect::Write => false,
        }
    }

    /// Whether a second run of the same call would spend twice: the name says that it pays, and nothing declares that
    /// it reads or that twice is as good as once.
    pub fn spends(&self) -> bool {
        !self.only_reads() && !self.idempotent && says_spend(&self.name)
    }

    /// Whether a call must not be repeated without asking: the operator declared that it changes something, or the name
    /// says that money moves, and twice is not as good as once.
    pub(crate) fn is_once(&self) -> bool {
        (self.is_declared_to_change() && !self.idempotent) || self.spends()
    }

    /// Whether the operator declared that it changes something.
    pub fn is_declared_to_change(&self) -> bool {
        self.declared_by == DeclaredBy::Operator
            && matches!(self.effect, Effect::Write | Effect::Destructive)
    }
}

/// Whether a word or a name says that something is destroyed, taken away or replaced in bulk. Wrongly saying yes
/// costs a repair, so long stems count wherever they occur (`bulkdelete`, `deleted_items`).
pub(crate) fn says_destroy(name: &str) -> bool {
    /// Long enough to occur in no other word.
    const STEMS: [&str; 48] = [
        "delet",
        "remov",
        "destroy",
        "purge",
        "erase",
        "erasing",
        "truncat",
        "overwrit",
        "revoke",
        "revoking",
        "uninstall",
        "unpublish",
        "terminat",
        "wipe",
        "wiping",
        "obliterat",
        "shred",
        "discard",
        "rollback",
        "deprovision",
        "decommission",
        "deactivat",
        "unlink",
        "evict",
        "cleanup",
        "garbage",
        "nuke",
        "expunge",
        "shutdown",
        "factoryreset",
        "unsubscrib",
        "blacklist",
        "suspend",
        "invalidat",
        "annihilat",
        "teardown",
        "unregister",
        "deregister",
        // The same in other languages that tools are named in.
        "supprim",
        "effac",
        "lösch",
        "loesch",
        "entfern",
        "borrar",
        "elimin",
        "apagar",
        "удал",
        "删除",
    ];
    /// Too short, or part of harmless words (`dropdown`, `resetting`, `clearance`).
    const WORDS: [&str; 37] = [
        "drop", "drops", "clear", "clean", "reset", "rm", "rmdir", "del", "kill", "prune", "flush",
        "cancel", "ban", "kick", "void", "trash", "empty", "unset", "detach", "disable", "stop",
        "abort", "expire", "override", "replace", "revert", "restore", "undo", "force", "zap",
        "gc", "vacuum", "archive", "block", "unassign", "close", "reject",
    ];
    /// Changing one thing is ordinary; changing many without a filter is not undone by changing one back.
    const CHANGES: [&str; 12] = [
        "update", "set", "edit", "modify", "patch", "move", "rename", "write", "assign", "upsert",
        "merge", "mark",
    ];
    const MANY: [&str; 6] = ["many", "all", "bulk", "batch", "mass", "multiple"];
    let folded: String = name
        .chars()
        .filter(|c| c.is_alphanumeric())
        .flat_map(char::to_lowercase)
        .collect();
    STEMS.iter().any(|stem| folded.contains(stem))
        || has_word(name, &WORDS)
        || (CHANGES.iter().any(|verb| folded.contains(verb))
            && (has_word(name, &MANY) || MANY.iter().any(|many| folded.ends_with(many))))
}

/// Whether a name says that money moves.
fn says_spend(name: &str) -> bool {
    const STEMS: [&str; 16] = [
        "money",
        "payment",
        "refund",
        "transfer",
        "purchas",
        "withdraw",
        "checkout",
        "payout",
        "remit",
        "reimburs",
        "disburs",
        "überweis",
        "ueberweis",
        "zahlung",
        "donat",
        "billcustomer",
    ];
    const WORDS: [&str; 9] = [
        "pay", "charge", "buy", "wire", "debit", "tip", "bid", "payroll", "topup",
    ];
    /// Looking at money spends none.
    const LOOKS: [&str; 14] = [
        "get", "list", "read", "find", "search", "query", "fetch", "show", "describe", "view",
        "check", "status", "count", "history",
    ];
    let folded: String = name
        .chars()
        .filter(|c| c.is_alphanumeric())
        .flat_map(char::to_lowercase)
        .collect();
    let says = STEMS.iter().any(|stem| folded.contains(stem)) || has_word(name, &WORDS);
    says && !has_word(name, &LOOKS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_destroy_are_known_in_any_spelling() {
        for name in [
            "delete-many",
            "deleteMany",
            "DELETE_MANY",
            "deletemany",
            "mcp__mongo__delete-many",
            "remove_user",
            "dropTable",
            "update-many",
            "updateMany",
            "bulk_update",
            "reset_password",
            "rm",
            "overwrite_file",
            "revokeToken",
            "datei_löschen",
            "удалить_файл",
        ] {
            assert!(says_destroy(name), "{name}");
        }
        for name in [
            "get_weather",
            "search_orders",
            "create_issue",
            "update_issue",
            "send_email",
            "list_dropdown_options",
        ] {
            assert!(!says_destroy(name), "{name}");
        }
    }

    #[test]
    fn names_that_spend_are_known() {
        for name in [
            "pay",
            "pay_invoice",
            "bank.transfer",
            "refund",
            "chargeCard",
            "buy_stock",
            "send_money",
        ] {
            assert!(says_spend(name), "{name}");
        }
        for name in [
            "get_payment_status",
            "list_transfers",
            "payload",
            "search",
            "display",
        ] {
            assert!(!says_spend(name), "{name}");
        }
    }

    #[test]
    fn a_declaration_counts_before_a_name() {
        let spec = ToolSpec::without_schema("delete_file");
        assert!(spec.may_destroy());
        assert!(!spec.with_effect(Effect::Read).may_destroy());
        let spec = ToolSpec::without_schema("click").with_effect(Effect::Destructive);
        assert!(spec.may_destroy() && spec.is_declared_to_change());
    }
}
