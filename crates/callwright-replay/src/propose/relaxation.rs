//! Determines how the schema would have to be relaxed to allow a cluster.

use std::cmp::Ordering;

use callwright::json::Path;
use callwright::validate::IssueCode as Code;
use serde_json::Value as Json;

use crate::decide::values;
use crate::schema::SizeLimit;
use crate::summary::{Cluster, ClusterKey, ValueShape};

/// What a schema has to allow.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Relaxation {
    /// Another type besides its own, including `null`.
    Type(SchemaType),
    /// Another value besides those listed.
    Value(Json),
    /// A missing key.
    Optional(String),
    /// A key that the schema does not name, with values of this type.
    Key(String, SchemaType),
    /// Values up (or down) to this, beyond a limit.
    Limit(&'static SizeLimit, f64),
    /// What a keyword forbids.
    Without(&'static str),
    /// Texts besides those that a format or a pattern allows: their pattern, if it is known.
    Look(&'static str, TextLook),
}

/// What texts that a format or a pattern forbids look like.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct TextLook {
    /// Its name in the summary.
    pub(super) name: String,
    /// Letters and digits by their kind; empty for the empty text, `None` for long ones.
    sketch: Option<String>,
}

/// A type as a schema may state it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum SchemaType {
    /// No value was seen.
    Any,
    Null,
    Boolean,
    Integer,
    Number,
    String,
    /// Texts of a format.
    Formatted(&'static str),
    Object,
    Array,
    /// With items of one type.
    ArrayOf(String),
}

/// Relaxations of one family at one place become one change.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Family {
    Null,
    Type,
    Value,
    Optional(String),
    Key(String),
    /// All keys, if too many would have to be named.
    AnyKey,
    Keyword(&'static str),
}

impl Relaxation {
    /// What a cluster needs, or the reason why no single schema change would do.
    pub(super) fn of(key: &ClusterKey, cluster: &Cluster) -> Result<Self, String> {
        let shape = &key.shape;
        let name = || {
            let path = Path::from_pointer(key.path.as_str());
            path.last().map(|name| name.replace("~2", "*"))
        };
        let code = key.issue_code();
        if let Some(limit) = code
            .and_then(SizeLimit::of)
            .filter(|_| *shape != ValueShape::Null)
        {
            let farthest = limit.farthest(cluster);
            return (farthest.map(|to| Relaxation::Limit(limit, to))).ok_or_else(|| unknown(key));
        }
        let relaxation = match code {
            Some(Code::Required) => name().map(Relaxation::Optional),
            Some(Code::UnknownKey) => name().filter(|name| name != "*").map(|name| {
                let kind = match SchemaType::of(shape) {
                    // The values of a new key are not known to be dates always.
                    Some(SchemaType::Formatted(_)) => SchemaType::String,
                    kind => kind.unwrap_or(SchemaType::Any),
                };
                Relaxation::Key(name, kind)
            }),
            _ if *shape == ValueShape::Null => Some(Relaxation::Type(SchemaType::Null)),
            Some(Code::Type | Code::Union) => SchemaType::of(shape).map(Relaxation::Type),
            Some(Code::Enum | Code::Const) => shape
                .value()
                .or_else(|| match &values(cluster)[..] {
                    [only] => Some(only.clone()),
                    _ => None,
                })
                .map(Relaxation::Value),
            Some(Code::MultipleOf) => Some(Relaxation::Without("multipleOf")),
            Some(Code::UniqueItems) => Some(Relaxation::Without("uniqueItems")),
            Some(Code::Format) => Some(Relaxation::Look("format", TextLook::of(key))),
            Some(Code::Pattern) => Some(Relaxation::Look("pattern", TextLook::of(key))),
            _ => None,
        };
        relaxation.ok_or_else(|| unknown(key))
    }

    /// The place whose schema changes: for a missing or an unknown key, its surroundings.
    pub(super) fn place(&self, key: &ClusterKey) -> String {
        match self {
            Relaxation::Optional(_) | Relaxation::Key(_, _) => {
                let path = Path::from_pointer(key.path.as_str());
                path.parent().as_pointer().to_owned()
            }
            _ => key.path.clone(),
        }
    }

    pub(super) fn family(&self) -> Family {
        match self {
            Relaxation::Type(SchemaType::Null) | Relaxation::Value(Json::Null) => Family::Null,
            Relaxation::Type(_) => Family::Type,
            Relaxation::Value(_) => Family::Value,
            Relaxation::Optional(key) => Family::Optional(key.clone()),
            Relaxation::Key(key, _) => Family::Key(key.clone()),
            Relaxation::Limit(limit, _) => Family::Keyword(limit.keyword),
            Relaxation::Without(keyword) | Relaxation::Look(keyword, _) => Family::Keyword(keyword),
        }
    }
}

fn unknown(key: &ClusterKey) -> String {
    format!("no single change is known for \"{}\"", key.issue)
}

/// Changes at one place are made and reported in the order of these names.
impl Ord for Family {
    fn cmp(&self, other: &Self) -> Ordering {
        self.name().cmp(&other.name())
    }
}

impl PartialOrd for Family {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Family {
    fn name(&self) -> String {
        match self {
            Family::Null => "null".to_owned(),
            Family::Type => "type".to_owned(),
            Family::Value => "value".to_owned(),
            Family::Optional(key) => format!("optional {key}"),
            Family::Key(key) => format!("key {key}"),
            Family::AnyKey => "any key".to_owned(),
            Family::Keyword(keyword) => (*keyword).to_owned(),
        }
    }
}

impl SchemaType {
    /// The type of a shape. Dates are texts with a format: allowing dates need not allow every text.
    fn of(shape: &ValueShape) -> Option<Self> {
        Some(match shape {
            ValueShape::Missing => return None,
            ValueShape::Null => SchemaType::Null,
            ValueShape::Boolean => SchemaType::Boolean,
            ValueShape::Integer => SchemaType::Integer,
            ValueShape::Number => SchemaType::Number,
            ValueShape::Object | ValueShape::EmptyObject => SchemaType::Object,
            ValueShape::MixedArray | ValueShape::EmptyArray => SchemaType::Array,
            ValueShape::ArrayOf(items) => SchemaType::ArrayOf(items.clone()),
            ValueShape::Date => SchemaType::Formatted("date"),
            ValueShape::DateTime => SchemaType::Formatted("date-time"),
            _ => SchemaType::String,
        })
    }

    pub(super) fn of_value(value: &Json) -> Self {
        match value {
            Json::Null => SchemaType::Null,
            Json::Bool(_) => SchemaType::Boolean,
            Json::Number(number) if number.is_f64() => SchemaType::Number,
            Json::Number(_) => SchemaType::Integer,
            Json::String(_) => SchemaType::String,
            Json::Array(_) => SchemaType::Array,
            Json::Object(_) => SchemaType::Object,
        }
    }

    /// What a schema states under `type`.
    pub(super) fn keyword(&self) -> &'static str {
        match self {
            SchemaType::Any => "",
            SchemaType::Null => "null",
            SchemaType::Boolean => "boolean",
            SchemaType::Integer => "integer",
            SchemaType::Number => "number",
            SchemaType::String | SchemaType::Formatted(_) => "string",
            SchemaType::Object => "object",
            SchemaType::Array | SchemaType::ArrayOf(_) => "array",
        }
    }

    /// For people: `array of string`.
    pub(super) fn name(&self) -> String {
        match self {
            SchemaType::Formatted(format) => format!("string as {format}"),
            SchemaType::ArrayOf(items) => format!("array of {items}"),
            plain => plain.keyword().to_owned(),
        }
    }

    /// For people: `an array of string`.
    pub(super) fn with_article(&self) -> String {
        let name = self.name();
        match name.chars().next() {
            _ if *self == SchemaType::Null => name,
            Some('a' | 'e' | 'i' | 'o' | 'u') => format!("an {name}"),
            _ => format!("a {name}"),
        }
    }
}

impl TextLook {
    fn of(key: &ClusterKey) -> Self {
        TextLook {
            name: key.shape.to_string(),
            sketch: match &key.shape {
                ValueShape::EmptyText => Some(String::new()),
                ValueShape::Sketch(sketch) => Some(sketch.clone()),
                _ => None,
            },
        }
    }

    /// A pattern for all such texts: as many digits, words of any length. `None` if their look is unknown.
    pub(super) fn pattern(&self, only_ascii: bool) -> Option<String> {
        let letters = if only_ascii { "[A-Za-z]+" } else { "\\p{L}+" };
        let mut pattern = String::from("^");
        let mut left = self.sketch.as_ref()?.chars().peekable();
        while let Some(letter) = left.next() {
            match letter {
                'A' => pattern.push_str("[A-Z]+"),
                'a' => pattern.push_str(letters),
                '9' => {
                    let mut digits = 1;
                    while left.next_if_eq(&'9').is_some() {
                        digits += 1;
                    }
                    pattern.push_str("[0-9]");
                    if digits > 1 {
                        pattern.push_str(&format!("{{{digits}}}"));
                    }
                }
                sign if "\\.+*?()|[]{}^$/".contains(sign) => {
                    pattern.push('\\');
                    pattern.push(sign);
                }
                other => pattern.push(other),
            }
        }
        pattern.push('$');
        Some(pattern)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::summary::Side;

    #[test]
    fn sketches_become_patterns() {
        let pattern = |shape: &str| {
            let key = ClusterKey {
                tool: "t".to_owned(),
                side: Side::Input,
                path: "/a".to_owned(),
                issue: "pattern".into(),
                shape: shape.into(),
            };
            TextLook::of(&key).pattern(true)
        };
        assert_eq!(
            pattern("like 9999-99").as_deref(),
            Some("^[0-9]{4}-[0-9]{2}$")
        );
        assert_eq!(
            pattern("like a@a.a").as_deref(),
            Some(r"^[A-Za-z]+@[A-Za-z]+\.[A-Za-z]+$")
        );
        assert_eq!(pattern("like A-9").as_deref(), Some("^[A-Z]+-[0-9]$"));
        assert_eq!(pattern("empty string").as_deref(), Some("^$"));
        assert_eq!(pattern("long text"), None);
    }
}
