//! A generated schema → one that is easy for a model to read.
//!
//! Every rewrite keeps the set of accepted values, or narrows it to what the type accepts. It removes what only describes
//! Rust's representation, folds documented variants into one `enum`, and writes "or null" in its short form.

use schemars::Schema as Generated;
use schemars::transform::transform_subschemas;
use serde_json::{Value as Schema, json};

use super::{SchemaMembers, numbers};

/// Rewrites a schema and everything inside it, from the inside out.
pub(super) fn tidy(schema: &mut Generated) {
    transform_subschemas(&mut tidy, schema);
    let Some(members) = schema.as_object_mut() else {
        return;
    };
    numbers::exact_limits(members);
    addresses(members);
    fold_variants(members);
    fold_null(members);
    write_out_anything(members);
}

/// `ip` is not a JSON Schema format, so it would not be checked; `ipv4` and `ipv6` are.
fn addresses(members: &mut SchemaMembers) {
    if members.get("format").is_some_and(|format| format == "ip") && !members.contains_key("anyOf")
    {
        members.remove("format");
        let kinds = json!([{"format": "ipv4"}, {"format": "ipv6"}]);
        members.insert("anyOf".to_owned(), kinds);
    }
}

/// An enum without content whose variants are documented is generated as a union of constants. Models read a plain list better,
/// and it is a third of the length.
fn fold_variants(members: &mut SchemaMembers) {
    if members.contains_key("type") || members.contains_key("enum") {
        return;
    }
    let Some(branches) = members.get("oneOf").and_then(Schema::as_array) else {
        return;
    };
    let Some(variants) = branches.iter().map(variants_of).collect::<Option<Vec<_>>>() else {
        return;
    };
    let kind = variants.first().and_then(|variant| variant.kind);
    let same_kind = variants.iter().all(|variant| variant.kind == kind);
    let kind = kind.filter(|_| same_kind).cloned();
    let documented = variants.iter().filter_map(Variants::line);
    let lines = documented.collect::<Vec<_>>().join("\n");
    let values = variants.iter().flat_map(|variant| variant.values);
    let values: Vec<Schema> = values.cloned().collect();
    members.remove("oneOf");
    if let Some(kind) = kind {
        members.insert("type".to_owned(), kind);
    }
    members.insert("enum".to_owned(), values.into());
    add_to_description(members, &lines);
}

/// The constants of one branch of a union.
struct Variants<'s> {
    values: &'s [Schema],
    kind: Option<&'s Schema>,
    documentation: Option<&'s str>,
}

impl Variants<'_> {
    fn line(&self) -> Option<String> {
        let words: Vec<&str> = self.documentation?.split_whitespace().collect();
        let values = self.values.iter().map(|value| match value.as_str() {
            Some(text) => format!("`{text}`"),
            None => format!("`{value}`"),
        });
        let values: Vec<String> = values.collect();
        Some(format!("- {}: {}", values.join(", "), words.join(" ")))
    }
}

fn variants_of(branch: &Schema) -> Option<Variants<'_>> {
    let members = branch.as_object()?;
    let known = |key: &String| matches!(key.as_str(), "const" | "enum" | "type" | "description");
    if !members.keys().all(known) {
        return None;
    }
    let values = match (members.get("const"), members.get("enum")) {
        (Some(value), None) => std::slice::from_ref(value),
        (None, Some(Schema::Array(values))) => values,
        _ => return None,
    };
    Some(Variants {
        values,
        kind: members.get("type"),
        documentation: members.get("description").and_then(Schema::as_str),
    })
}

fn add_to_description(members: &mut SchemaMembers, addition: &str) {
    if addition.is_empty() {
        return;
    }
    let description = match members.get("description").and_then(Schema::as_str) {
        Some(text) => format!("{text}\n{addition}"),
        None => addition.to_owned(),
    };
    members.insert("description".to_owned(), description.into());
}

/// Keywords that apply to values of any type, so that `null` would have to satisfy them too.
const ABOUT_ANY_TYPE: [&str; 10] = [
    "allOf",
    "anyOf",
    "oneOf",
    "not",
    "if",
    "then",
    "else",
    "$ref",
    "$dynamicRef",
    "nullable",
];

/// `anyOf: [X, null]` → X with `null` among its types.
fn fold_null(members: &mut SchemaMembers) {
    let Some([wanted, null]) = members
        .get("anyOf")
        .and_then(Schema::as_array)
        .map(Vec::as_slice)
    else {
        return;
    };
    let Some(inner) = wanted
        .as_object()
        .filter(|_| *null == json!({"type": "null"}))
    else {
        return;
    };
    let clashes = |key: &String| {
        ABOUT_ANY_TYPE.contains(&key.as_str())
            || (key != "description" && members.contains_key(key))
    };
    let Some(Schema::String(kind)) = inner.get("type") else {
        return;
    };
    if inner.keys().any(clashes) {
        return;
    }
    let kinds = json!([kind, "null"]);
    let mut inner = inner.clone();
    members.remove("anyOf");
    inner.insert("type".to_owned(), kinds);
    if let Some(only) = inner.remove("const") {
        inner.insert("enum".to_owned(), json!([only]));
    }
    if let Some(Schema::Array(values)) = inner.get_mut("enum") {
        values.push(Schema::Null);
    }
    if let Some(Schema::String(text)) = inner.remove("description") {
        add_to_description(members, &text);
    }
    members.extend(inner);
}

/// A property or an item that may be anything is written `{}`: several providers reject `true` there.
fn write_out_anything(members: &mut SchemaMembers) {
    let anything = || Schema::Object(SchemaMembers::new());
    for key in ["properties", "patternProperties"] {
        let Some(Schema::Object(properties)) = members.get_mut(key) else {
            continue;
        };
        for property in properties.values_mut() {
            if *property == Schema::Bool(true) {
                *property = anything();
            }
        }
    }
    if members.get("items") == Some(&Schema::Bool(true)) {
        members.insert("items".to_owned(), anything());
    }
}
