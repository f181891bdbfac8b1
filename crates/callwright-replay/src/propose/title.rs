//! Describes a change in a few words.

use callwright::json::Path;

use super::ChangeKind;
use crate::summary::Side;

/// How much of what is allowed is named.
const LONGEST: usize = 80;

/// A few words for a change.
pub(super) fn title(
    side: Side,
    path: &str,
    key: Option<&str>,
    change: ChangeKind,
    what: &str,
) -> String {
    let place = label(side, path);
    let what = shortened(what, LONGEST);
    match change {
        _ if what.starts_with("any value") || what.starts_with("any text") => {
            format!("{place} may be {what}")
        }
        ChangeKind::Optional => format!("{} may be left out", inside(side, path, key)),
        ChangeKind::MoreKeys if what == "any key" => format!("{place} may have any key"),
        ChangeKind::MoreKeys if what.is_empty() => {
            format!("{} may be there", inside(side, path, key))
        }
        ChangeKind::MoreKeys => format!("{} may be there: {what}", inside(side, path, key)),
        ChangeKind::WiderRange => format!("{place} may go {what}"),
        ChangeKind::WiderLength => format!("{place} may have {what}"),
        ChangeKind::DefaultAllowed => format!("{place} may be its own default, {what}"),
        _ => format!("{place} may also be {what}"),
    }
}

/// A place as people write it: `` `items[].price` ``.
pub(super) fn label(side: Side, path: &str) -> String {
    let mut name = String::new();
    for segment in Path::from_pointer(path).segments() {
        if segment == "*" {
            name.push_str("[]");
            continue;
        }
        if !name.is_empty() {
            name.push('.');
        }
        name.push_str(&segment);
    }
    match (name.is_empty(), side) {
        (true, Side::Input) => "the arguments".to_owned(),
        (true, Side::Output) => "the result".to_owned(),
        (false, _) => format!("`{name}`"),
    }
}

fn inside(side: Side, path: &str, key: Option<&str>) -> String {
    let path = Path::from_pointer(path);
    let inner = key.map_or_else(|| path.clone(), |key| path.key(key));
    label(side, inner.as_pointer())
}

/// At most so many characters of a text.
pub(super) fn shortened(text: &str, longest: usize) -> String {
    match text.char_indices().nth(longest) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}
