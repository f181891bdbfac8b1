//! Compares names of members in any spelling: `next_cursor`, `nextCursor` and `Next-Cursor` are one name. Comparing does not
//! allocate.

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
}
