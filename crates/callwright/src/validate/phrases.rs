//! What a keyword asks for, as a noun phrase: one function for each keyword that needs more than a word.

use serde_json::{Map, Value as Schema};

use super::describe::{alternative, count, count_text, format, literal, options};
use super::fault::{Bound, FaultKind};
use super::schema::CompiledSchema;
use crate::json::Value;
use crate::nearest::single_nearest;
use crate::text::quoted;
use crate::words::IssueCode;

/// What a `not` rules out. Its type alone would say too much where more keywords narrow it.
pub(super) fn ruled_out_phrase(ruled_out: &Schema, schema: &CompiledSchema) -> String {
    let has = |keywords: &[&str]| {
        keywords
            .iter()
            .any(|keyword| ruled_out.get(keyword).is_some())
    };
    let told = match ruled_out.as_object().map_or(0, Map::len) {
        0 | 1 => true,
        2 => has(&["type"]) && has(&["minimum", "maximum", "pattern", "format"]),
        _ => false,
    };
    if told || has(&["enum", "const"]) {
        alternative(ruled_out, schema)
    } else {
        literal(ruled_out)
    }
}

/// The allowed value that a received one is nearest to.
pub(super) fn near_value(value: &Value<'_>, allowed: &[Schema]) -> Option<String> {
    let names = || allowed.iter().filter_map(Schema::as_str);
    match value {
        Value::String(text) => single_nearest(text, names()).map(str::to_owned),
        // `5` where `"5"` is meant.
        Value::Number(number) => names()
            .find(|name| *name == number.as_str())
            .map(str::to_owned),
        _ => None,
    }
}

pub(super) fn property_name_rule(kind: FaultKind) -> String {
    let rule = match kind {
        FaultKind::Pattern(regex) => return format!("key matching {}", quoted(&regex, 40)),
        FaultKind::Bound(bound, limit) => {
            return format!("key of {}", bound_phrase(bound, &limit).1);
        }
        FaultKind::Enum(allowed) => {
            options(allowed.as_array().map(Vec::as_slice).unwrap_or_default())
        }
        FaultKind::Const(wanted) => literal(&wanted),
        FaultKind::Format(name) => format(&name),
        _ => "allowed by the schema".to_owned(),
    };
    format!("key that is {rule}")
}

pub(super) fn other_keyword(node: Option<&Schema>, keyword: &str) -> String {
    match node.and_then(|node| node.get(keyword)) {
        Some(Schema::String(rule)) => format!("{keyword} {}", quoted(rule, 30)),
        _ => format!("value that satisfies {keyword}"),
    }
}

pub(super) fn extra_items(node: Option<&Schema>) -> String {
    let prefix = node.and_then(|node| {
        let items = node.get("prefixItems").or_else(|| node.get("items"))?;
        items.as_array().map(Vec::len)
    });
    match prefix {
        Some(limit) => format!("at most {}", count(limit, "item")),
        None => "no further items".to_owned(),
    }
}

pub(super) fn bound_phrase(bound: Bound, limit: &str) -> (IssueCode, String) {
    use IssueCode as Code;
    let least = |noun| format!("at least {}", count_text(limit, noun));
    let most = |noun| format!("at most {}", count_text(limit, noun));
    match bound {
        Bound::Minimum => (Code::Minimum, format!("at least {limit}")),
        Bound::Maximum => (Code::Maximum, format!("at most {limit}")),
        Bound::ExclusiveMinimum => (Code::Minimum, format!("more than {limit}")),
        Bound::ExclusiveMaximum => (Code::Maximum, format!("less than {limit}")),
        Bound::MinLength => (Code::MinLength, least("character")),
        Bound::MaxLength => (Code::MaxLength, most("character")),
        Bound::MinItems => (Code::MinItems, least("item")),
        Bound::MaxItems => (Code::MaxItems, most("item")),
        Bound::MinProperties => (Code::MinProperties, least("key")),
        Bound::MaxProperties => (Code::MaxProperties, most("key")),
    }
}
