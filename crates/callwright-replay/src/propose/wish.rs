//! A cluster → what it wants of the schema.

use callwright::json::Path;
use serde_json::Value as Json;

use crate::decide::values;
use crate::summary::{Cluster, ClusterKey};

/// What a cluster wants of the schema.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Wish {
    /// Another type beside those that there are; `null` too.
    Type(String),
    /// Another value beside those that are listed.
    Value(Json),
    /// A key that need not be there.
    Optional(String),
    /// A key that the schema does not name, with values of this type.
    Key(String, String),
    /// A larger limit: at least this.
    AtMost(Limit, f64),
    /// A smaller limit: at most this.
    AtLeast(Limit, f64),
    /// A keyword out of the way.
    Without(&'static str),
    /// Another look beside a format or a pattern, as a sketch.
    Look(&'static str, String),
}

/// What is limited.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum Limit {
    /// The size of a number.
    Number,
    /// The characters of a text.
    Length,
    /// The items of a list.
    Items,
    /// The keys of an object.
    Keys,
}

impl Limit {
    /// The keyword for the largest, and for the smallest.
    pub(super) fn keyword(self, most: bool) -> &'static str {
        match (self, most) {
            (Limit::Number, true) => "maximum",
            (Limit::Number, false) => "minimum",
            (Limit::Length, true) => "maxLength",
            (Limit::Length, false) => "minLength",
            (Limit::Items, true) => "maxItems",
            (Limit::Items, false) => "minItems",
            (Limit::Keys, true) => "maxProperties",
            (Limit::Keys, false) => "minProperties",
        }
    }
}

impl Limit {
    /// What is counted, where something is.
    pub(super) fn unit(self) -> Option<&'static str> {
        match self {
            Limit::Number => None,
            Limit::Length => Some("characters"),
            Limit::Items => Some("items"),
            Limit::Keys => Some("keys"),
        }
    }
}

impl Wish {
    /// What a cluster wants; the reason where no change of a schema is known for it.
    pub(super) fn of(key: &ClusterKey, cluster: &Cluster) -> Result<Wish, String> {
        let name = || {
            let path = Path::from_pointer(key.path.as_str());
            path.last().map(|name| name.replace("~2", "*"))
        };
        let most = |limit| cluster.largest.map(|largest| Wish::AtMost(limit, largest));
        let least = |limit| cluster.smallest.map(|least| Wish::AtLeast(limit, least));
        let wish = match key.issue.as_str() {
            "required" => name().map(Wish::Optional),
            "unknown_key" => name().filter(|name| name != "*").map(|name| {
                let kind = type_of(&key.shape).unwrap_or_default();
                // Of a key that is new anyway, nobody knows that it is always a date.
                let is_text = kind.starts_with("string as ");
                Wish::Key(name, if is_text { "string".to_owned() } else { kind })
            }),
            _ if key.shape == "null" => Some(Wish::Type("null".to_owned())),
            "type" | "union" => type_of(&key.shape).map(Wish::Type),
            "enum" | "const" => serde_json::from_str(&key.shape)
                .ok()
                .or_else(|| match &values(cluster)[..] {
                    [only] => Some(only.clone()),
                    _ => None,
                })
                .map(Wish::Value),
            "maximum" => most(Limit::Number),
            "minimum" => least(Limit::Number),
            "max_length" => most(Limit::Length),
            "min_length" => least(Limit::Length),
            "max_items" => most(Limit::Items),
            "min_items" => least(Limit::Items),
            "max_properties" => most(Limit::Keys),
            "min_properties" => least(Limit::Keys),
            "multiple_of" => Some(Wish::Without("multipleOf")),
            "unique_items" => Some(Wish::Without("uniqueItems")),
            "format" => Some(Wish::Look("format", key.shape.clone())),
            "pattern" => Some(Wish::Look("pattern", key.shape.clone())),
            _ => None,
        };
        wish.ok_or_else(|| format!("no single change is known for \"{}\"", key.issue))
    }

    /// Where the wish is about: of a key that is missing or unknown, what is around it.
    pub(super) fn place(&self, key: &ClusterKey) -> String {
        match self {
            Wish::Optional(_) | Wish::Key(_, _) => {
                let path = Path::from_pointer(key.path.as_str());
                path.parent().as_pointer().to_owned()
            }
            _ => key.path.clone(),
        }
    }

    /// What one change can fulfil together: wishes of one family at one place.
    pub(super) fn family(&self) -> String {
        match self {
            Wish::Type(name) if name == "null" => "null".to_owned(),
            Wish::Type(_) => "type".to_owned(),
            Wish::Value(Json::Null) => "null".to_owned(),
            Wish::Value(_) => "value".to_owned(),
            Wish::Optional(key) => format!("optional {key}"),
            Wish::Key(key, _) => format!("key {key}"),
            Wish::AtMost(limit, _) => limit.keyword(true).to_owned(),
            Wish::AtLeast(limit, _) => limit.keyword(false).to_owned(),
            Wish::Without(keyword) | Wish::Look(keyword, _) => (*keyword).to_owned(),
        }
    }
}

/// The type of a shape: `array of string` stays what it is, for the items' type is part of it. Dates are texts with a
/// format: whoever takes dates need not take every text.
fn type_of(shape: &str) -> Option<String> {
    let name = match shape {
        "null" | "boolean" | "integer" | "number" | "object" => shape,
        "empty object" => "object",
        "empty array" | "array of several types" => "array",
        "" => return None,
        array if array.starts_with("array of ") => array,
        "date in a string" => "string as date",
        "date-time in a string" => "string as date-time",
        _ => "string",
    };
    Some(name.to_owned())
}
