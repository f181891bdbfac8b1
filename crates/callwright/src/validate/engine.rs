//! The only file that knows the `jsonschema` crate.
//!
//! Out goes a compiled schema that answers two questions about a [`Value`]: do you accept it
//! (cheap), and what do you object to (only asked when the first answer was no). The engine walks
//! our own tree in place through the crate's representation trait, so no `serde_json::Value` is built
//! for a call. It never loads a schema from the network or the disk, and its messages never leave
//! this file except to tell an operator why a schema does not compile.

use std::borrow::Cow;
use std::collections::HashSet;

use jsonschema::error::{TypeKind, ValidationErrorKind};
use jsonschema::json::{Array, Json, JsonNumber, Node, NodeIdentity, Object};
use jsonschema::{JsonType, PatternOptions, ValidationError, Validator};
use jsonschema_value::LazyInstance;

use super::fault::{Bound, Fault, FaultKind};
use crate::json::{Member, Number, Path, Value};

/// How often a pattern may step back before it counts as not matching. Patterns of real tools need
/// a few hundred steps; one that needs more is an attack or a mistake.
const BACKTRACK_LIMIT: usize = 100_000;

/// How much of a property name is kept for the message about it.
const NAME_PREVIEW_BYTES: usize = 256;

/// A compiled schema.
#[derive(Debug)]
pub(crate) struct Engine(Validator<Tree>);

impl Engine {
    /// Compiles a schema; the error is a sentence for the operator.
    pub(crate) fn compile(schema: &serde_json::Value) -> Result<Engine, String> {
        jsonschema::options_for::<Tree>()
            .offline()
            .should_validate_formats(true)
            .with_pattern_options(PatternOptions::fancy_regex().backtrack_limit(BACKTRACK_LIMIT))
            .build(schema)
            .map(Engine)
            .map_err(|error| build_error(&error))
    }

    /// The fast question.
    pub(crate) fn accepts(&self, value: &Value<'_>) -> bool {
        self.0.is_valid(value)
    }

    /// Every objection, up to `limit`. With `routes`, each says by which way it was reached.
    pub(crate) fn faults(&self, value: &Value<'_>, limit: usize, routes: bool) -> Vec<Fault> {
        self.0
            .iter_errors(value)
            .take(limit)
            .map(|error| fault(error, routes))
            .collect()
    }
}

fn build_error(error: &ValidationError<'_>) -> String {
    let place = match error.instance_path().as_str() {
        "" => String::new(),
        pointer => format!(" (at {pointer})"),
    };
    let mut text = error.to_string();
    // The crate prints the whole instance; an operator wants the beginning.
    if let Some((cut, _)) = text.char_indices().nth(200) {
        text.truncate(cut);
        text.push('…');
    }
    format!("{text}{place}")
}

fn fault(error: ValidationError<'_>, routes: bool) -> Fault {
    let route = routes.then(|| Path::from_pointer(error.evaluation_path().as_str()));
    let parts = error.into_parts();
    let name = match (&parts.kind, parts.instance.as_ref()) {
        (ValidationErrorKind::PropertyNames { error }, _) => {
            error.instance().as_str().unwrap_or_default().to_owned()
        }
        _ => String::new(),
    };
    Fault {
        at: Path::from_pointer(parts.instance_path.as_str()),
        keyword: Path::from_pointer(parts.schema_path.as_str()),
        route,
        kind: fault_kind(parts.kind, name, routes),
    }
}

fn fault_kind(kind: ValidationErrorKind, name: String, routes: bool) -> FaultKind {
    use ValidationErrorKind as K;
    match kind {
        K::Type { kind } => FaultKind::Type(match kind {
            TypeKind::Single(only) => vec![type_name(only)],
            TypeKind::Multiple(set) => set.iter().map(type_name).collect(),
        }),
        K::Required { property } => {
            FaultKind::Required(property.as_str().unwrap_or_default().to_owned())
        }
        K::AdditionalProperties { unexpected } | K::UnevaluatedProperties { unexpected } => {
            FaultKind::UnknownKeys(unexpected)
        }
        K::AdditionalItems { .. } | K::UnevaluatedItems { .. } => FaultKind::ExtraItems,
        K::Enum { options } => FaultKind::Enum(options),
        K::Constant { expected_value } => FaultKind::Const(expected_value),
        K::AnyOf { context } | K::OneOfNotValid { context } => FaultKind::Union(
            context
                .into_iter()
                .map(|branch| {
                    branch
                        .into_iter()
                        .map(|error| fault(error, routes))
                        .collect()
                })
                .collect(),
        ),
        K::OneOfMultipleValid { .. } => FaultKind::SeveralBranches,
        K::Format { format } => FaultKind::Format(format),
        K::Pattern { pattern } => FaultKind::Pattern(pattern),
        K::Minimum { limit } => FaultKind::Bound(Bound::Minimum, limit.to_string()),
        K::Maximum { limit } => FaultKind::Bound(Bound::Maximum, limit.to_string()),
        K::ExclusiveMinimum { limit } => {
            FaultKind::Bound(Bound::ExclusiveMinimum, limit.to_string())
        }
        K::ExclusiveMaximum { limit } => {
            FaultKind::Bound(Bound::ExclusiveMaximum, limit.to_string())
        }
        K::MinLength { limit } => FaultKind::Bound(Bound::MinLength, limit.to_string()),
        K::MaxLength { limit } => FaultKind::Bound(Bound::MaxLength, limit.to_string()),
        K::MinItems { limit } => FaultKind::Bound(Bound::MinItems, limit.to_string()),
        K::MaxItems { limit } => FaultKind::Bound(Bound::MaxItems, limit.to_string()),
        K::MinProperties { limit } => FaultKind::Bound(Bound::MinProperties, limit.to_string()),
        K::MaxProperties { limit } => FaultKind::Bound(Bound::MaxProperties, limit.to_string()),
        K::MultipleOf { multiple_of } => FaultKind::MultipleOf(multiple_of.to_string()),
        K::UniqueItems => FaultKind::UniqueItems,
        K::Contains => FaultKind::Contains,
        K::PropertyNames { error } => FaultKind::PropertyName {
            name,
            inner: Box::new(fault(*error, routes)),
        },
        K::Not { schema } => FaultKind::Not(schema),
        K::FalseSchema => FaultKind::Never,
        other => FaultKind::Other(other.keyword().to_owned()),
    }
}

fn type_name(kind: JsonType) -> &'static str {
    match kind {
        JsonType::Array => "array",
        JsonType::Boolean => "boolean",
        JsonType::Integer => "integer",
        JsonType::Null => "null",
        JsonType::Number => "number",
        JsonType::Object => "object",
        JsonType::String => "string",
    }
}

/// Our tree as a representation that the engine can walk.
#[derive(Debug)]
struct Tree;

impl Json for Tree {
    type Node<'a> = &'a Value<'a>;
    type PreparedKey = Box<str>;
    type StringBuffer = Value<'static>;

    // A lookup here is itself a pass over the members.
    const KEYS_PER_LOOKUP: usize = 4;

    fn prepare_key(key: &str) -> Box<str> {
        key.into()
    }

    fn with_string_node<T>(
        buffer: &mut Value<'static>,
        string: &str,
        f: impl for<'n> FnOnce(&'n Value<'n>) -> T,
    ) -> T {
        *buffer = Value::String(Cow::Owned(string.to_owned()));
        f(buffer)
    }
}

impl<'a> Node<'a, Tree> for &'a Value<'a> {
    type Object = &'a [Member<'a>];
    type Array = &'a [Value<'a>];
    type Number = &'a Number<'a>;

    fn as_object(&self) -> Option<&'a [Member<'a>]> {
        Value::as_object(self)
    }

    fn as_array(&self) -> Option<&'a [Value<'a>]> {
        Value::as_array(self)
    }

    fn as_string(&self) -> Option<Cow<'a, str>> {
        self.as_str().map(Cow::Borrowed)
    }

    fn as_number(&self) -> Option<&'a Number<'a>> {
        Value::as_number(self)
    }

    fn as_boolean(&self) -> Option<bool> {
        match self {
            Value::Bool(yes) => Some(*yes),
            _ => None,
        }
    }

    fn is_null(&self) -> bool {
        matches!(self, Value::Null)
    }

    fn is_string(&self) -> bool {
        matches!(self, Value::String(_))
    }

    fn json_type(&self) -> JsonType {
        match self {
            Value::Null => JsonType::Null,
            Value::Bool(_) => JsonType::Boolean,
            Value::Number(_) => JsonType::Number,
            Value::String(_) => JsonType::String,
            Value::Array(_) => JsonType::Array,
            Value::Object(_) => JsonType::Object,
        }
    }

    fn equals_value(&self, expected: &serde_json::Value) -> bool {
        match (self, expected) {
            (Value::String(text), serde_json::Value::String(wanted)) => text == wanted,
            (Value::String(_), _) | (_, serde_json::Value::String(_)) => false,
            _ => jsonschema::json::cmp::equal(&(*self).into(), expected),
        }
    }

    fn to_value(&self) -> Cow<'a, serde_json::Value> {
        Cow::Owned((*self).into())
    }

    /// The engine keeps a copy of the offending value in every error. We look the value up in our
    /// own tree by its path, so it gets nothing to copy, except for strings: a property name that
    /// is objected to stands nowhere in the tree.
    fn lazy_value(&self) -> LazyInstance<'a> {
        let text = self.as_str().unwrap_or_default().as_bytes();
        LazyInstance::Deferred {
            bytes: &text[..text.len().min(NAME_PREVIEW_BYTES)],
            tag: 0,
            make: |bytes, _| String::from_utf8_lossy(bytes).into_owned().into(),
            cell: std::sync::OnceLock::new(),
        }
    }

    fn identity(&self) -> Option<NodeIdentity> {
        Some(NodeIdentity::new(std::ptr::from_ref(*self).addr()))
    }
}

impl JsonNumber for &Number<'_> {
    fn as_u64(&self) -> Option<u64> {
        Number::as_u64(self)
    }

    fn as_i64(&self) -> Option<i64> {
        Number::as_i64(self)
    }

    fn as_f64(&self) -> Option<f64> {
        Some(Number::as_f64(self))
    }

    fn as_str(&self) -> Cow<'_, str> {
        Cow::Borrowed(Number::as_str(self))
    }

    fn to_number(&self) -> Cow<'_, serde_json::Number> {
        Cow::Owned((*self).into())
    }

    fn is_integer(&self) -> bool {
        Number::is_integer(self)
    }

    fn is_written_as_integer(&self) -> bool {
        Number::is_written_as_integer(self)
    }
}

#[derive(Debug)]
struct Members<'a>(std::slice::Iter<'a, Member<'a>>);

impl<'a> Iterator for Members<'a> {
    type Item = (&'a str, &'a Value<'a>);

    fn next(&mut self) -> Option<Self::Item> {
        self.0.next().map(|(key, value)| (key.as_ref(), value))
    }
}

impl<'a> Object<'a, Tree> for &'a [Member<'a>] {
    type Node = &'a Value<'a>;
    type MemberName = &'a str;
    type MembersIter = Members<'a>;

    fn len(&self) -> usize {
        <[Member<'a>]>::len(self)
    }

    fn get(&self, key: &Box<str>) -> Option<&'a Value<'a>> {
        self.iter()
            .find(|(name, _)| name.as_ref() == key.as_ref())
            .map(|(_, value)| value)
    }

    fn members(&self) -> Members<'a> {
        Members(self.iter())
    }
}

impl<'a> Array<'a, Tree> for &'a [Value<'a>] {
    type Node = &'a Value<'a>;
    type ElementsIter = std::slice::Iter<'a, Value<'a>>;

    fn len(&self) -> usize {
        <[Value<'a>]>::len(self)
    }

    fn elements(&self) -> std::slice::Iter<'a, Value<'a>> {
        self.iter()
    }

    /// By canonical text, so that ids beyond 64 bits are told apart.
    fn is_unique(&self) -> bool {
        let mut seen = HashSet::with_capacity(self.len());
        self.iter().all(|item| seen.insert(item.canonical()))
    }
}
