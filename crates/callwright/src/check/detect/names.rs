//! Compares names of members, arguments and tools in any spelling: `next_cursor`, `nextCursor` and `Next-Cursor` are one name,
//! and `getOrder` has two words. Comparing does not allocate.

use crate::json::Value;

/// Whether `key` is `name`, which is in lower case without separators.
pub(super) fn is(key: &str, name: &str) -> bool {
    let mut letters = key
        .bytes()
        .filter(|byte| byte.is_ascii_alphanumeric() || !byte.is_ascii())
        .map(|byte| byte.to_ascii_lowercase());
    name.bytes().all(|wanted| letters.next() == Some(wanted)) && letters.next().is_none()
}

/// Whether `key` is one of `names`, which are in lower case without separators.
pub(super) fn is_one_of(key: &str, names: &[&str]) -> bool {
    names.iter().any(|name| is(key, name))
}

/// The first member of an object with one of these names.
pub(super) fn member<'v, 'a>(
    object: &'v Value<'a>,
    names: &[&str],
) -> Option<(&'v str, &'v Value<'a>)> {
    object
        .as_object()?
        .iter()
        .find(|(key, _)| is_one_of(key, names))
        .map(|(key, value)| (key.as_ref(), value))
}

/// The words of a name, in lower case: `searchOrders`, `search_orders` and `search-orders` have two.
pub(super) fn words(name: &str) -> Vec<String> {
    let letters: Vec<char> = name.chars().collect();
    let mut words: Vec<String> = Vec::new();
    let mut is_new = true;
    for (at, letter) in letters.iter().enumerate() {
        if !letter.is_alphanumeric() {
            is_new = true;
            continue;
        }
        let before = at.checked_sub(1).and_then(|at| letters.get(at));
        let after = letters.get(at + 1);
        // In `orderId` and `HTTPServer`, a word starts at a capital letter.
        let is_border = letter.is_uppercase()
            && (before.is_some_and(|before| before.is_lowercase() || before.is_numeric())
                || (before.is_some_and(|before| before.is_uppercase())
                    && after.is_some_and(|after| after.is_lowercase())));
        if is_new || is_border {
            words.push(String::new());
            is_new = false;
        }
        if let Some(word) = words.last_mut() {
            word.extend(letter.to_lowercase());
        }
    }
    words
}

/// The content of a value that only wraps another: `{"result": …}`, as some servers wrap every result.
pub(super) fn unwrapped<'v, 'a>(mut value: &'v Value<'a>) -> &'v Value<'a> {
    // At most two layers, the server's and the API's; more is data.
    for _ in 0..2 {
        match value.as_object() {
            Some([(key, inner)]) if is_one_of(key, &["result", "data", "response", "output"]) => {
                value = inner;
            }
            _ => break,
        }
    }
    value
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spelling_does_not_count() {
        for key in ["next_cursor", "nextCursor", "Next-Cursor", "NEXTCURSOR"] {
            assert!(is(key, "nextcursor"), "{key}");
        }
        for key in ["next_cursors", "cursor", "", "next_cursoré"] {
            assert!(!is(key, "nextcursor"), "{key}");
        }
    }

    #[test]
    fn names_have_words() {
        for (name, expected) in [
            ("search_orders", "search orders"),
            ("getOrderID", "get order id"),
            ("HTTPServer", "http server"),
            ("mcp__shop__get-order", "mcp shop get order"),
            ("sha256Sum", "sha256 sum"),
            ("avoid", "avoid"),
        ] {
            assert_eq!(words(name).join(" "), expected);
        }
    }
}
