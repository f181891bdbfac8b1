//! The tags of a page, and a check that every opened tag is closed.

/// Elements without an end tag.
const VOID: [&str; 4] = ["meta", "link", "input", "br"];

/// SVG elements that close themselves.
const EMPTY: [&str; 2] = ["rect", "path"];

/// The names of all elements, in order.
///
/// # Panics
///
/// If a tag is not written the way our templates write tags, or is not closed.
#[track_caller]
pub(crate) fn elements(page: &str) -> Vec<String> {
    let mut names = Vec::new();
    let mut open: Vec<String> = Vec::new();
    let mut rest = page.strip_prefix("<!doctype html>").expect("a doctype");
    while let Some(start) = rest.find('<') {
        rest = &rest[start + 1..];
        let end = end_of_tag(rest);
        let tag = &rest[..end];
        rest = &rest[end + 1..];
        if let Some(name) = tag.strip_prefix('/') {
            let last = open.pop();
            assert_eq!(last.as_deref(), Some(name), "</{name}> closes {last:?}");
            continue;
        }
        let name: String = tag
            .chars()
            .take_while(char::is_ascii_alphanumeric)
            .collect();
        assert!(!name.is_empty(), "no name in <{tag}>");
        names.push(name.clone());
        if tag.ends_with('/') {
            assert!(EMPTY.contains(&&*name), "<{tag}> closes itself");
        } else if name == "style" || name == "script" {
            let close = format!("</{name}>");
            let end = rest.find(&close).expect("an end of style and script");
            rest = &rest[end + close.len()..];
        } else if !VOID.contains(&&*name) {
            open.push(name);
        }
    }
    assert!(open.is_empty(), "still open: {open:?}");
    names
}

/// Where the tag ends; a `>` in quotes is part of it.
fn end_of_tag(text: &str) -> usize {
    let mut quoted = false;
    for (at, character) in text.char_indices() {
        match character {
            '"' => quoted = !quoted,
            '>' if !quoted => return at,
            '<' if !quoted => panic!("a tag in a tag: {}", &text[..at]),
            _ => {}
        }
    }
    panic!("a tag without an end");
}
