//! What a call of a tool does to the world, as declared and as its name implies.
//!
//! The operator's declaration takes precedence over a name, and a name over a server's hint. A name only ever makes the gate
//! more careful: a tool whose name implies nothing has an unknown effect, never a read.

use std::sync::LazyLock;

use regex::Regex;
use serde::Serialize;

use super::nearest::FoldedName;
use super::tool::ToolSpec;
use super::word_list;

/// What a call of a tool does to the world.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Effect {
    /// Nothing was declared.
    #[default]
    Unknown,
    /// It only reads.
    Read,
    /// It adds or changes something that can be changed back.
    Write,
    /// It may destroy something.
    Destructive,
}

impl Effect {
    /// All effects with their names.
    pub const ALL: [(&'static str, Effect); 4] = [
        ("unknown", Effect::Unknown),
        ("read", Effect::Read),
        ("write", Effect::Write),
        ("destructive", Effect::Destructive),
    ];
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
    /// Whether it is declared read-only, and its name does not contradict a mere hint.
    pub fn only_reads(&self) -> bool {
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
            (Effect::Read, DeclaredBy::Hint) => {
                by_name() && !only_looks(&FoldedName::new(&self.name).words().collect::<Vec<_>>())
            }
        }
    }

    /// Whether running the same call again would spend twice: the name implies a payment, and the tool is not declared
    /// read-only or idempotent.
    pub fn spends(&self) -> bool {
        !self.only_reads() && !self.idempotent && says_spend(&self.name)
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

/// Whether a word or a name implies that something is destroyed, taken away or replaced in bulk. A false positive costs one
/// repair, so long stems match anywhere (`bulkdelete`, `deleted_items`).
pub(crate) fn says_destroy(name: &str) -> bool {
    let name = FoldedName::new(name);
    let has = |words: &[&str]| name.words().any(|word| words.contains(&word));
    let many = || has(MANY) || MANY.iter().any(|many| name.folded.ends_with(many));
    let changes = |word: &str| {
        let mut verbs = EDITING_WORDS.iter();
        verbs.any(|verb| word.starts_with(verb) || word.ends_with(verb))
    };
    let has_stem = |stems: &Regex| stems.is_match(&name.folded);
    DESTROYING.as_ref().is_none_or(has_stem)
        || name.words().any(destroys)
        || (many() && name.words().any(changes))
}

/// All stems in one pattern: arguments are searched for them, and one by one they would cost more than the rest of a repair.
static DESTROYING: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(&DESTROYING_STEMS.join("|")).ok());

/// Whether a word is destructive. Most words start and end with other letters, which rules them out without comparing them all.
fn destroys(word: &str) -> bool {
    const BEGIN: u32 = letters(true);
    const END: u32 = letters(false);
    const fn letters(first: bool) -> u32 {
        let (mut set, mut at) = (0, 0);
        while at < DESTROYING_WORDS.len() {
            let word = DESTROYING_WORDS[at].as_bytes();
            let letter = word[if first { 0 } else { word.len() - 1 }];
            set |= 1 << (letter - b'a');
            at += 1;
        }
        set
    }
    let is_in = |letter: Option<&u8>, set: u32| {
        let number = letter.map_or(u8::MAX, |letter| letter.wrapping_sub(b'a'));
        number < 26 && set & (1 << number) != 0
    };
    let bytes = word.as_bytes();
    is_in(bytes.first(), BEGIN) && is_in(bytes.last(), END) && DESTROYING_WORDS.contains(&word)
}

/// Long enough to occur in few other words.
#[rustfmt::skip]
const DESTROYING_STEMS: &[&str] = &[
    "delet", "remov", "destroy", "destruct", "purge", "erase", "erasing", "truncat", "overwrit", "revok", "revocation",
    "uninstall", "unpublish", "terminat", "wipe", "wiping", "obliterat", "shred", "discard", "rollback", "deprovision",
    "decommission", "deactivat", "unlink", "evict", "cleanup", "garbage", "nuke", "expunge", "shutdown", "unsubscrib",
    "blacklist", "suspend", "invalidat", "annihilat", "teardown", "unregister", "deregister", "dropdb", "droptable", "flush",
    "resetdb", "hardreset", "factoryreset", "clearcache", "clearall", "killall", "rmrf", "rmtree", "rmdir", "deldb",
    "emptytrash", "forcepush", "cancel", "forget", "formatdisk", "drain", "scrub", "retire", "liquidat", "offboard",
    "dispos", "anonymi", "redact",
    // The same in other languages used for tool names.
    "supprim", "effac", "vider", "lösch", "loesch", "entfern", "verwerf", "borrar", "elimin", "apagar", "cancella", "rimuov",
    "usuń", "usun", "hapus", "удал", "стереть", "очист", "删除", "刪除", "削除", "삭제", "حذف", "מחק",
];

/// Too short, or part of harmless words (`dropdown`, `resetting`, `clearance`).
#[rustfmt::skip]
const DESTROYING_WORDS: &[&str] = &[
    "drop", "drops", "clear", "clean", "reset", "rm", "del", "kill", "prune", "ban", "kick", "void", "trash", "empty", "unset",
    "detach", "disable", "stop", "abort", "expire", "override", "replace", "revert", "restore", "undo", "force", "zap", "gc",
    "vacuum", "archive", "block", "unassign", "close", "reject", "sell", "fire",
];

/// Changing one thing is ordinary; changing many without a filter cannot be undone by changing one back.
#[rustfmt::skip]
const EDITING_WORDS: &[&str] = &[
    "update", "set", "edit", "modify", "patch", "move", "rename", "write", "assign", "upsert", "merge", "mark", "change", "apply",
];
const MANY: &[&str] = &["many", "all", "bulk", "batch", "mass", "multiple", "where"];

/// Whether a name implies that it runs whatever it is given, the effect of which nothing declares.
pub(crate) fn says_run(name: &str) -> bool {
    let name = FoldedName::new(name);
    name.words().any(|word| RUNNING_WORDS.contains(&word))
}

#[rustfmt::skip]
const RUNNING_WORDS: &[&str] = &[
    "exec", "execute", "bash", "shell", "sh", "zsh", "cmd", "command", "powershell", "terminal", "ssh", "sudo", "eval", "sql", "script",
    "subprocess", "deploy", "reboot", "restart",
];

/// Whether a name implies that money moves.
fn says_spend(name: &str) -> bool {
    let name = FoldedName::new(name);
    let may_say = |words: &Regex| words.is_match(&name.folded);
    if !SPENDING.as_ref().is_none_or(may_say) {
        return false;
    }
    let words: Vec<&str> = name.words().collect();
    let pays = |word: &&str| {
        let other = ["payload", "payloads", "display", "payee", "payees", "payer"];
        (word.starts_with("pay") || word.ends_with("pay")) && !other.contains(word)
    };
    let says = SPENDING_STEMS.iter().any(|stem| name.folded.contains(stem))
        || words
            .iter()
            .any(|word| SPENDING_WORDS.contains(word) || pays(word));
    says && !only_looks(&words)
}

/// All of it in one pattern, anywhere in the name: almost no name contains any of it.
static SPENDING: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let all = [SPENDING_STEMS, SPENDING_WORDS, &["pay"]].concat();
    Regex::new(&all.join("|")).ok()
});

/// Whether the first or second word, or the last, implies that something is only looked up. `list_and_pay` does both.
fn only_looks(words: &[&str]) -> bool {
    let is = |word: Option<&&str>, among: &[&str]| word.is_some_and(|word| among.contains(word));
    let begins = is(words.first(), LOOKING) || is(words.get(1), LOOKING);
    (begins || is(words.last(), LOOKED_AT)) && !words.contains(&"and")
}

#[rustfmt::skip]
const SPENDING_STEMS: &[&str] = &[
    "money", "refund", "transfer", "purchas", "withdraw", "checkout", "remit", "reimburs", "disburs", "donat", "billcustomer",
    "redeem",
    // The same in other languages used for tool names.
    "überweis", "ueberweis", "zahlung", "bezahl", "auszahl", "kaufen", "virement", "rembours", "pagamento", "comprar", "reembols",
    "rimbors", "acquist", "оплат", "платеж", "платёж", "купить", "支付", "付款", "汇款", "匯款", "转账", "轉帳", "送金", "购买", "購入",
    "購買", "退款", "支払", "振込", "返金", "결제", "송금", "환불", "구매",
];
#[rustfmt::skip]
const SPENDING_WORDS: &[&str] = &[
    "charge", "buy", "wire", "debit", "tip", "bid", "topup", "deposit", "invest", "trade", "zahlen", "einzahlen", "acheter", "pagar",
];

/// Words in the name of a tool that looks something up. A name with one of them may be taken for harmless.
pub(crate) const LOOKING: &[&str] =
    word_list![get list read find search query fetch show describe view count];
const LOOKED_AT: &[&str] = &[
    "status", "history", "methods", "details", "info", "summary", "report",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn destructive_names_are_recognised_in_any_spelling() {
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
    fn spending_names_are_recognised() {
        for name in [
            "pay",
            "pay_invoice",
            "bank.transfer",
            "refund",
            "chargeCard",
            "buy_stock",
            "paybill",
            "repay_loan",
            "list_and_pay_all",
            "refund_check",
            "send_money",
            "deposit",
            "送金",
            "bezahlen",
            "realizar_pagamento",
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
    fn a_name_takes_precedence_over_a_hint() {
        let hinted = |name: &str, effect| {
            let spec = ToolSpec::without_schema(name).with_effect(effect);
            ToolSpec {
                declared_by: DeclaredBy::Hint,
                ..spec
            }
        };
        for name in ["delete_file", "execute_sql", "bash", "cleanup"] {
            let spec = hinted(name, Effect::Read);
            assert!(spec.may_destroy() && !spec.only_reads(), "{name}");
        }
        for name in ["list_deleted_files", "get_command_history", "search"] {
            let spec = hinted(name, Effect::Read);
            assert!(!spec.may_destroy() && spec.only_reads(), "{name}");
        }
        assert!(hinted("drop_table", Effect::Write).may_destroy());
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
