//! Writes a new value into a JSON text and keeps everything else as written.
//!
//! Only the smallest differing parts are rewritten, on one line if they were on one line.

use std::collections::BTreeMap;

use callwright::internal::{Replacements, span_in};
use serde::Serialize;
use serde_json::Value as Json;
use serde_json::ser::{PrettyFormatter, Serializer};
use serde_json::value::RawValue;

/// Writes the changes into the text.
pub(super) fn rewrite(text: &str, old: &Json, new: &Json) -> Option<String> {
    let mut spans = Vec::new();
    differing(text, 0..text.len(), old, new, &mut spans)?;
    let spans = spans.into_iter();
    let changes = spans.map(|(span, value)| Some((span.clone(), written(text, &span, value)?)));
    let rewritten = changes.collect::<Option<Replacements>>()?.in_text(text);
    let is_right = serde_json::from_str::<Json>(&rewritten).is_ok_and(|read| read == *new);
    is_right.then_some(rewritten)
}

type Span = std::ops::Range<usize>;

fn differing<'n>(
    text: &str,
    span: Span,
    old: &Json,
    new: &'n Json,
    spans: &mut Vec<(Span, &'n Json)>,
) -> Option<()> {
    if old == new {
        return Some(());
    }
    let slice = text.get(span.clone())?;
    match (old, new) {
        (Json::Object(before), Json::Object(after))
            if before.len() == after.len() && before.keys().eq(after.keys()) =>
        {
            let members: BTreeMap<String, &RawValue> = serde_json::from_str(slice).ok()?;
            for (key, value) in before {
                let inner = span_in(text, members.get(key)?.get());
                differing(text, inner, value, after.get(key)?, spans)?;
            }
        }
        (Json::Array(before), Json::Array(after)) if before.len() == after.len() => {
            let items: Vec<&RawValue> = serde_json::from_str(slice).ok()?;
            for (index, value) in before.iter().enumerate() {
                let inner = span_in(text, items.get(index)?.get());
                differing(text, inner, value, after.get(index)?, spans)?;
            }
        }
        _ => spans.push((trimmed(text, span)?, new)),
    }
    Some(())
}

fn trimmed(text: &str, span: Span) -> Option<Span> {
    let slice = text.get(span.clone())?;
    let start = span.start + (slice.len() - slice.trim_start().len());
    Some(start..start + slice.trim().len())
}

/// A value in the style of what is currently there.
fn written(text: &str, span: &Span, value: &Json) -> Option<String> {
    let white = |text: &str| -> String {
        let is_white = |sign: &char| sign.is_whitespace();
        text.chars().take_while(is_white).collect()
    };
    let indented = text.lines().find(|line| line.starts_with([' ', '\t']));
    let indent = indented.map_or_else(|| "  ".to_owned(), white);
    if text.get(span.clone())?.contains('\n') {
        let line = text[..span.start].rsplit('\n').next().unwrap_or_default();
        let line_end = format!("\n{}", white(line));
        return Some(pretty(value, &indent)?.replace('\n', &line_end));
    }
    // In a text with spaces between tokens, a short part is written with spaces, too. Line breaks inside strings are
    // escaped, so all those present are between tokens.
    Some(if text.contains("\": ") {
        (pretty(value, "")?.replace(",\n", ", ")).replace('\n', "")
    } else {
        value.to_string()
    })
}

/// Over several lines, each indented by a unit per level.
fn pretty(value: &Json, unit: &str) -> Option<String> {
    let mut out = Vec::new();
    let formatter = PrettyFormatter::with_indent(unit.as_bytes());
    let mut serializer = Serializer::with_formatter(&mut out, formatter);
    value.serialize(&mut serializer).ok()?;
    String::from_utf8(out).ok()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn only_differences_are_rewritten() {
        let text = "{\n    \"a\": [1,2],\n    \"b\": {\"c\": [\n        1\n    ]}\n}\n";
        let old: Json = serde_json::from_str(text).unwrap();
        let new = json!({"a": [1, 2, 3], "b": {"c": [1, {"d": 2}]}});
        assert_eq!(
            rewrite(text, &old, &new).unwrap(),
            "{\n    \"a\": [1, 2, 3],\n    \"b\": {\"c\": [\n        1,\n        {\n            \"d\": 2\n        }\n    ]}\n}\n"
        );
    }

    #[test]
    fn a_text_on_one_line_stays_on_one() {
        let text = r#"[{"a":1,"b":{"c":2}}]"#;
        let old: Json = serde_json::from_str(text).unwrap();
        let new = json!([{"a": 1, "b": {"c": [2, 3]}}]);
        assert_eq!(
            rewrite(text, &old, &new).unwrap(),
            r#"[{"a":1,"b":{"c":[2,3]}}]"#
        );
    }
}
