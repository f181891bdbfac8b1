//! What the name of a tool, or of an operation, implies: that something is destroyed, run, paid or only looked up.
//!
//! Takes a name and splits it into words. The lists fail closed: a word that is not on one of them is never taken for
//! harmless, and a name that does two things does the more harmful one.

use std::sync::LazyLock;

use regex::Regex;

use crate::vocabulary::nearest::{FoldedName, has_word};
use crate::vocabulary::word_list;

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
    "dispos", "anonymi", "redact", "dedup", "formatdrive", "formatvolume", "getridof", "retract",
    // The same in other languages used for tool names, also as they are spelt without accents.
    "supprim", "effac", "annul", "lösch", "loesch", "losch", "entfern", "verwerf", "stornier", "zurücksetz", "zuruecksetz",
    "kündig", "kuendig", "abbrech", "verwijder", "fjern", "avbryt", "poista", "peruuta", "odstran", "smaza", "vymaz", "zrusit",
    "zrušit", "töröl", "șterge", "ştergere", "borrar", "elimin", "apagar", "excluir", "limpiar", "vaciar", "cancella", "rimuov",
    "usuń", "usun", "skasuj", "anuluj", "hapus", "batalkan", "xóa", "xoá", "hủy", "удал", "видал", "изтри", "стереть", "очист",
    "отмен", "сброс", "скасу", "διαγρα", "ακύρω", "删除", "刪除", "清空", "清除", "移除", "撤销", "撤銷", "注销", "註銷", "取消", "销毁",
    "銷毀", "削除", "消去", "破棄", "解約", "初期化", "삭제", "제거", "취소", "초기화", "حذف", "إلغاء", "מחק", "ביטול", "हटा", "ลบ",
];

/// Too short, or part of harmless words (`dropdown`, `resetting`, `clearance`).
#[rustfmt::skip]
const DESTROYING_WORDS: &[&str] = &[
    "drop", "drops", "clear", "clean", "reset", "rm", "del", "kill", "prune", "ban", "kick", "void", "trash", "empty", "unset",
    "detach", "disable", "stop", "abort", "expire", "override", "replace", "revert", "restore", "undo", "force", "zap", "gc",
    "vacuum", "archive", "block", "unassign", "close", "reject", "deny", "decline", "sell", "fire", "expel", "eject", "halt", "burn",
    "downgrade", "alter", "squash", "rebase", "unbind", "unmount", "unshare",
    "mkfs",
    // German, French, Scandinavian, Spanish, Romanian, Turkish, Vietnamese.
    "leeren", "vider", "slet", "slett", "slette", "radera", "quitar", "anular", "sterge", "sil", "silmek", "iptal", "xoa",
];

/// Whether a name implies that what exists is edited: an argument is then a new value, and null may be one.
pub(crate) fn says_edit(name: &str) -> bool {
    const WORDS: &[&str] = word_list![update edit modify patch change set upsert];
    has_word(name, WORDS)
}

/// Changing one thing is ordinary; changing many without a filter cannot be undone by changing one back.
#[rustfmt::skip]
const EDITING_WORDS: &[&str] = &[
    "update", "set", "edit", "modify", "patch", "move", "rename", "write", "assign", "upsert", "merge", "mark", "change", "apply",
];
const MANY: &[&str] = &["many", "all", "bulk", "batch", "mass", "multiple", "where"];

/// Whether a name implies that it runs whatever it is given, the effect of which nothing declares.
pub(crate) fn says_run(name: &str) -> bool {
    let name = FoldedName::new(name);
    let words: Vec<&str> = name.words().collect();
    words.iter().any(|word| RUNNING_WORDS.contains(word)) || has_pair(&words, RUNNING_PAIRS)
}

/// Whether two words that are next to each other, or written as one, are among these.
fn has_pair(words: &[&str], pairs: &[&str]) -> bool {
    let is_pair = |pair: &[&str]| pairs.contains(&pair.concat().as_str());
    words.iter().any(|word| pairs.contains(word)) || words.windows(2).any(is_pair)
}

#[rustfmt::skip]
const RUNNING_WORDS: &[&str] = &[
    "exec", "execute", "bash", "shell", "sh", "zsh", "cmd", "command", "powershell", "terminal", "ssh", "sudo", "eval", "sql", "script",
    "subprocess", "deploy", "reboot", "restart", "migration", "repl", "interpreter",
];
const RUNNING_PAIRS: &[&str] = &["runcode", "runpython", "runjavascript", "runjs"];

/// Whether a name implies that money moves.
pub(crate) fn says_spend(name: &str) -> bool {
    let name = FoldedName::new(name);
    let may_say = |words: &Regex| words.is_match(&name.folded);
    if !SPENDING.as_ref().is_none_or(may_say) {
        return false;
    }
    let words: Vec<&str> = name.words().collect();
    let pays = |word: &&str| {
        let other = ["payload", "payloads", "display", "payee", "payees"];
        (word.starts_with("pay") || word.ends_with("pay")) && !other.contains(word)
    };
    let says = SPENDING_STEMS.iter().any(|stem| name.folded.contains(stem))
        || words
            .iter()
            .any(|word| SPENDING_WORDS.contains(word) || pays(word))
        || has_pair(&words, SPENDING_PAIRS)
        || words == ["order"];
    says && !only_looks(&words)
}

/// All of it in one pattern, anywhere in the name: almost no name contains any of it.
static SPENDING: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let all = [
        SPENDING_STEMS,
        SPENDING_WORDS,
        SPENDING_PAIRS,
        &["pay", "order"],
    ]
    .concat();
    Regex::new(&all.join("|")).ok()
});

/// Whether the first or second word, or the last, implies that something is only looked up. `list_and_pay` does both.
fn only_looks(words: &[&str]) -> bool {
    let is = |word: Option<&&str>, among: &[&str]| word.is_some_and(|word| among.contains(word));
    let begins = [words.first(), words.get(1)]
        .into_iter()
        .any(|word| is(word, LOOKING));
    let begins = begins || is(words.first(), EXAMINING);
    (begins || is(words.last(), LOOKED_AT)) && !words.iter().any(|word| JOINING.contains(word))
}

/// Whether a name only looks up what was destroyed: `list_deleted_files`. If the word that destroys comes first, it is what the
/// tool does (`clear_history`), and so it is if it comes last and is not a noun as well (`fetch_remove`, but `get_block`).
pub(super) fn only_looks_at_destruction(name: &str) -> bool {
    let name = FoldedName::new(name);
    let words: Vec<&str> = name.words().collect();
    let happened = |word: &str| word.ends_with("ed");
    let begins = words
        .first()
        .is_some_and(|word| says_destroy(word) && !happened(word));
    let is_verb = |word: &str| {
        let has_stem = |stems: &Regex| stems.is_match(word);
        DESTROYING.as_ref().is_none_or(has_stem) && !happened(word)
    };
    // `find_replace_text`, `get_rid_of_files`
    let acts = words.contains(&"replace") || words.starts_with(&["get", "rid"]);
    only_looks(&words) && !begins && !acts && !words.last().is_some_and(|word| is_verb(word))
}

#[rustfmt::skip]
const SPENDING_STEMS: &[&str] = &[
    "money", "refund", "transfer", "purchas", "withdraw", "checkout", "remit", "reimburs", "disburs", "donat", "billcustomer",
    "redeem",
    // The same in other languages used for tool names, also as they are spelt without accents.
    "überweis", "ueberweis", "uberweis", "zahlung", "bezahl", "auszahl", "kauf", "bestell", "betaal", "overboek", "virement",
    "rembours", "pagamento", "comprar", "reembols", "rimbors", "acquist", "maksa", "zaplat", "zapła", "przelew", "przelej", "fizet",
    "utalás", "vásárol", "plăt", "cumpăr", "ödeme", "thanhtoán", "thanhtoan", "chuyểntiền", "chuyentien", "bayar",
    "оплат", "платеж", "платёж", "заплат", "плати", "платіж", "купить", "купити", "заказать", "деньг", "денег", "πληρω", "αγορά",
    "支付", "付款", "付钱", "付費", "缴费", "汇款", "匯款", "转账", "轉帳", "送金", "购买", "購入", "購買", "下单", "下單", "充值", "打赏", "退款",
    "支払", "振込", "振り込", "注文", "課金", "決済", "返金", "결제", "송금", "환불", "구매", "주문", "이체", "지불", "دفع", "شراء", "לשלם",
    "תשלום", "भुगतान", "खरीद",
];
#[rustfmt::skip]
const SPENDING_WORDS: &[&str] = &[
    "charge", "buy", "wire", "debit", "tip", "bid", "deposit", "invest", "trade", "recharge", "spend", "bet", "wager", "gamble", "zelle",
    "venmo", "sepa", "settle",
    // German, French, Spanish, Portuguese, Italian, Dutch, Scandinavian, Polish, Indonesian.
    "zahle", "zahlen", "einzahlen", "acheter", "commander", "virer", "verser", "pagar", "paga", "pague", "abonar", "cobrar", "pagare",
    "compra", "ordina", "kopen", "koop", "bestel", "betala", "betalen", "zaplac", "betale", "köp", "køb", "kjøp", "kup", "beli",
];

/// Two words that say so only next to each other, also written as one.
#[rustfmt::skip]
const SPENDING_PAIRS: &[&str] = &[
    "topup", "cashout", "placeorder", "submitorder", "createorder", "confirmorder", "executeorder", "marketorder", "limitorder",
    "orderfood", "orderpizza", "ordernow", "placebet", "sendfunds", "addfunds", "movefunds", "fundwallet", "fundaccount",
    "creditaccount", "issuecredit", "swaptokens", "swaptoken", "minttoken", "mintnft", "sendeth", "sendbtc", "sendcrypto",
    "sendtransaction", "signtransaction", "sendgift", "upgradeplan", "renewsubscription", "enviardinero",
];

/// Words in the name of a tool that looks something up. A name with one of them may be taken for harmless.
pub(crate) const LOOKING: &[&str] =
    word_list![get list read find search query fetch show describe view count];

/// The same at its start: `await_payment`. Elsewhere they may be a part of what it does.
const EXAMINING: &[&str] =
    word_list![await wait verify validate track lookup estimate calculate preview];

const LOOKED_AT: &[&str] = &[
    "status", "history", "methods", "details", "info", "summary", "report",
];

/// Words in the name of a tool that does two things, of which only one looks something up or waits.
pub(crate) const JOINING: &[&str] = word_list![and or then];

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
            "lo\u{308}schen",
            "清空购物车",
            "annuler_commande",
            "verwijder_bestand",
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
            "get_provider",
            "send_newsletter",
            "write_offset",
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
            "place_order",
            "topUp",
            "top_up_card",
            "payer_facture",
            "betaal_factuur",
            "下单",
            "注文する",
            "verify_then_pay",
        ] {
            assert!(says_spend(name), "{name}");
        }
        for name in [
            "get_payment_status",
            "list_transfers",
            "payload",
            "search",
            "display",
            "await_payment",
            "list_orders",
            "select_best_element",
        ] {
            assert!(!says_spend(name), "{name}");
        }
    }
}
