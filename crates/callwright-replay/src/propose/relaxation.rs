//! Determines how the schema would have to be relaxed to allow a cluster.

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
    Type(AddedType),
    /// Another value besides those listed.
    Value(Json),
    /// A missing key.
    Optional(String),
    /// A key that the schema does not name, with values of this type.
    Key(String, AddedType),
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

/// A type that a schema has to allow, as the schema would state it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum AddedType {
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
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Family {
    /// All keys, if too many would have to be named.
    AnyKey,
    Key(String),
    Keyword(&'static str),
    Null,
    Optional(String),
    Type,
    Value,
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
                let kind = match AddedType::of(shape) {
                    // The values of a new key are not known to be dates always.
                    Some(AddedType::Formatted(_)) => AddedType::String,
                    kind => kind.unwrap_or(AddedType::Any),
                };
                Relaxation::Key(name, kind)
            }),
            _ if *shape == ValueShape::Null => Some(Relaxation::Type(AddedType::Null)),
            Some(Code::Type | Code::Union) => AddedType::of(shape).map(Relaxation::Type),
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
            Relaxation::Type(AddedType::Null) | Relaxation::Value(Json::Null) => Family::Null,
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

impl AddedType {
    /// The type of a shape. Dates are texts with a format: allowing dates need not allow every text.
    fn of(shape: &ValueShape) -> Option<Self> {
        Some(match shape {
            ValueShape::Missing => return None,
            ValueShape::Null => AddedType::Null,
            ValueShape::Boolean => AddedType::Boolean,
            ValueShape::Integer => AddedType::Integer,
            ValueShape::Number => AddedType::Number,
            ValueShape::Object | ValueShape::EmptyObject => AddedType::Object,
            ValueShape::MixedArray | ValueShape::EmptyArray => AddedType::Array,
            ValueShape::ArrayOf(items) => AddedType::ArrayOf(items.clone()),
            ValueShape::Date => AddedType::Formatted("date"),
            ValueShape::DateTime => AddedType::Formatted("date-time"),
            _ => AddedType::String,
        })
    }

    pub(super) fn of_value(value: &Json) -> Self {
        match value {
            Json::Null => AddedType::Null,
            Json::Bool(_) => AddedType::Boolean,
            Json::Number(number) if number.is_f64() => AddedType::Number,
            Json::Number(_) => AddedType::Integer,
            Json::String(_) => AddedType::String,
            Json::Array(_) => AddedType::Array,
            Json::Object(_) => AddedType::Object,
        }
    }

    /// What a schema states under `type`.
    pub(super) fn keyword(&self) -> &'static str {
        match self {
            AddedType::Any => "",
            AddedType::Null => "null",
            AddedType::Boolean => "boolean",
            AddedType::Integer => "integer",
            AddedType::Number => "number",
            AddedType::String | AddedType::Formatted(_) => "string",
            AddedType::Object => "object",
            AddedType::Array | AddedType::ArrayOf(_) => "array",
        }
    }

    /// For people: `array of string`.
    pub(super) fn name(&self) -> String {
        match self {
            AddedType::Formatted(format) => format!("string as {format}"),
            AddedType::ArrayOf(items) => format!("array of {items}"),
            plain => plain.keyword().to_owned(),
        }
    }

    /// For people: `an array of string`.
    pub(super) fn with_article(&self) -> String {
        let name = self.name();
        match name.chars().next() {
            _ if *self == AddedType::Null => name,
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
