//! The place of a violation, as its cluster sees it.
//!
//! All items of a list are one place, and so are all keys that the schema does not name: `/items/*/price`,
//! `/headers/*`.

use callwright::json::{Path, Value};
use serde_json::Value as Schema;

/// How many schemas are examined for one place. References may be circular.
const MOST_NODES: usize = 256;

/// The place as a JSON Pointer with `*` for what varies. The last key is kept if the fault is about that key.
pub(super) fn place(path: &Path, value: Option<&Value<'_>>, schema: Option<&Schema>) -> String {
    let mut out = String::new();
    let mut value = value;
    let mut nodes: Vec<&Schema> = schema.into_iter().collect();
    let segments: Vec<_> = path.segments().collect();
    for (at, segment) in segments.iter().enumerate() {
        out.push('/');
        let is_last = at + 1 == segments.len();
        if let Some(Value::Array(items)) = value {
            out.push('*');
            value = segment
                .parse()
                .ok()
                .and_then(|index: usize| items.get(index));
            nodes = below(schema, &nodes, |node| {
                let items = node.get("items");
                let first = node.get("prefixItems");
                items.into_iter().chain(first).collect()
            });
            continue;
        }
        value = value.and_then(|value| value.get(segment));
        let mut named = false;
        nodes = below(schema, &nodes, |node| {
            let property = node
                .get("properties")
                .and_then(|known| known.get(segment.as_ref()));
            named |= property.is_some();
            match property {
                Some(property) => vec![property],
                None => node.get("additionalProperties").into_iter().collect(),
            }
        });
        if named || is_last && nodes.is_empty() || schema.is_none() {
            push_segment(&mut out, segment);
        } else {
            out.push('*');
        }
    }
    out
}

/// A key as JSON Pointer writes it. A key that is itself a star is escaped, so that it does not mean any key.
fn push_segment(out: &mut String, segment: &str) {
    if segment == "*" {
        out.push_str("~2");
        return;
    }
    for character in segment.chars() {
        match character {
            '~' => out.push_str("~0"),
            '/' => out.push_str("~1"),
            other => out.push(other),
        }
    }
}

/// The schemas one step below those that apply here, through all combinations and references.
fn below<'s>(
    root: Option<&'s Schema>,
    nodes: &[&'s Schema],
    mut step: impl FnMut(&'s Schema) -> Vec<&'s Schema>,
) -> Vec<&'s Schema> {
    let mut found = Vec::new();
    let mut todo: Vec<&Schema> = nodes.to_vec();
    let mut seen = 0;
    while let Some(node) = todo.pop() {
        seen += 1;
        if seen > MOST_NODES {
            break;
        }
        for key in ["anyOf", "oneOf", "allOf"] {
            todo.extend(
                node.get(key)
                    .and_then(Schema::as_array)
                    .into_iter()
                    .flatten(),
            );
        }
        for key in ["if", "then", "else"] {
            todo.extend(node.get(key));
        }
        let target = node.get("$ref").and_then(Schema::as_str);
        let target = target.and_then(|target| target.strip_prefix('#'));
        todo.extend(target.and_then(|pointer| root?.pointer(pointer)));
        found.extend(step(node).into_iter().filter(|node| node.is_object()));
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn what_varies_becomes_a_star() {
        let schema = json!({
            "properties": {
                "rows": {"type": "array", "items": {"$ref": "#/$defs/row"}},
                "headers": {"type": "object", "additionalProperties": {"type": "string"}},
            },
            "additionalProperties": false,
            "$defs": {"row": {"anyOf": [{"properties": {"price": {}}}, {"type": "null"}]}},
        });
        let arguments = r#"{"rows": [{}, {"price": 1, "odd": 1}], "headers": {"X-1": 1}, "extra": 1, "a/b": 1}"#;
        let value = callwright::parse::read_value(arguments).expect("JSON");
        let cases = [
            ("", ""),
            ("/rows/1/price", "/rows/*/price"),
            ("/rows/1/odd", "/rows/*/odd"),
            ("/rows/0", "/rows/*"),
            ("/headers/X-1", "/headers/*"),
            ("/extra", "/extra"),
            ("/a~1b", "/a~1b"),
            ("/missing", "/missing"),
        ];
        for (path, expected) in cases {
            let path = Path::from_pointer(path);
            assert_eq!(place(&path, Some(&value), Some(&schema)), expected);
        }
    }
}
