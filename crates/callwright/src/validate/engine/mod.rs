//! The only folder that uses the `jsonschema` crate.
//!
//! Compiles a schema that then answers two questions about a [`Value`]: do you accept it (cheap), and what are your objections
//! (only asked after a no). The crate walks our own tree in place ([`tree`]), so no `serde_json::Value` is built for a call,
//! and unions are examined one level at a time ([`outline`]). Nothing is ever loaded from the network or the disk, and the
//! crate's messages never leave this folder except to tell an operator why a schema does not compile.

mod build;
mod loosen;
mod outline;
mod tree;
mod work;

use std::sync::OnceLock;

use jsonschema::error::{TypeKind, ValidationErrorKind};
use jsonschema::{Draft, EmailOptions, JsonType, PatternOptions, ValidationError, Validator};
use serde_json::Number;

use self::build::{EngineOptions, build};
pub use self::loosen::{Loosening, only_loosens};
use self::outline::{Outline, can_outline, has_unions};
use self::tree::{ValueTree, with_copy};
use self::work::{bounded, objections, objections_to_part, wanting};
use super::cost::text_size;
use super::schema::children;
use super::violation::{Violation, ViolationKind};
use crate::json::{Path, Value, is_deeper};
use crate::text::{cut_line, snippet};
use crate::vocabulary::{Comparison, Expected, IssueCode, SchemaType, Unit};

/// How often all patterns together may backtrack in one call before they count as undecided. A harmless pattern with a
/// lookahead needs a few steps for each character of a long text; a million take tens of milliseconds.
const MOST_STEPS: usize = 1_000_000;

/// How often a pattern may backtrack on one text: the more texts, the fewer. Patterns that are not designed to be slow need a
/// few dozen steps on a short text.
const STEPS_PER_TEXT: [usize; 5] = [MOST_STEPS, 100_000, 10_000, 1_000, 100];

/// How deep a value may be for its objections to be collected if unions are not opaque: six branches in each of six levels are
/// 50,000.
const UNION_LEVELS: usize = 6;

/// A compiled schema.
#[derive(Debug)]
pub(crate) struct SchemaEngine {
    validator: Validator<ValueTree>,
    explainer: Explainer,
    /// Whether the validator also produces the objections of branches, which it does not return one by one.
    has_unions: bool,
    /// How many objections are collected at most: each may contain a copy of a part of the schema.
    most_objections: usize,
}

/// Explains why a value is rejected.
#[derive(Debug)]
enum Explainer {
    /// The validator itself.
    Same,
    /// For schemas with unions; built when the first call is refused.
    Outline(OnceLock<Option<Outline>>),
    /// For schemas with a pattern that may backtrack too often to be decided.
    Backtracking(Box<Backtracking>),
}

/// Validators of one schema, each with a lower backtracking limit than the one before; built on demand.
#[derive(Debug, Default)]
struct Backtracking {
    /// How many patterns of the schema may backtrack.
    patterns: usize,
    judges: [OnceLock<Option<Validator<ValueTree>>>; STEPS_PER_TEXT.len()],
}

impl Backtracking {
    /// Which of the validators to use for a value: given its texts and the patterns, the steps stay within the limit.
    fn level(&self, value: &Value<'_>) -> usize {
        let matches = texts(value).saturating_mul(self.patterns).max(1);
        let fits = |steps: &usize| steps.saturating_mul(matches) <= MOST_STEPS;
        let level = STEPS_PER_TEXT.iter().position(fits);
        level.unwrap_or(STEPS_PER_TEXT.len() - 1)
    }

    /// The validator for a level; `first` is the one for level 0.
    fn judge<'j>(
        &'j self,
        level: usize,
        first: &'j Validator<ValueTree>,
        schema: &serde_json::Value,
    ) -> Option<&'j Validator<ValueTree>> {
        if level == 0 {
            return Some(first);
        }
        let make = || build(&options_with(schema, STEPS_PER_TEXT[level]), schema).ok();
        self.judges[level].get_or_init(make).as_ref()
    }
}

impl SchemaEngine {
    /// Compiles a schema; the error is a sentence for the operator.
    pub(crate) fn compile(schema: &serde_json::Value) -> Result<SchemaEngine, String> {
        // Patterns that never backtrack take linear time. Few need the engine that may.
        let linear = options(schema).with_pattern_options(PatternOptions::regex());
        if let Ok(validator) = build(&linear, schema) {
            let explainer = if can_outline(schema) {
                Explainer::Outline(OnceLock::new())
            } else {
                Explainer::Same
            };
            return Ok(SchemaEngine {
                validator,
                explainer,
                has_unions: has_unions(schema),
                most_objections: most_objections(schema),
            });
        }
        let validator = build(&options(schema), schema);
        Ok(SchemaEngine {
            validator: validator.map_err(|error| build_error(&error))?,
            has_unions: has_unions(schema),
            most_objections: most_objections(schema),
            explainer: Explainer::Backtracking(Box::new(Backtracking {
                patterns: count_patterns(schema),
                ..Backtracking::default()
            })),
        })
    }

    /// How many compiled forms of its schema there may be.
    pub(crate) fn forms(&self) -> usize {
        match self.explainer {
            Explainer::Same => 1,
            Explainer::Outline(_) => 3,
            Explainer::Backtracking(_) => STEPS_PER_TEXT.len(),
        }
    }

    /// The fast question. If it cannot be answered within the limits, the answer is no. `schema` is the one that was compiled.
    pub(crate) fn accepts(&self, schema: &serde_json::Value, value: &Value<'_>) -> bool {
        let validator = match &self.explainer {
            Explainer::Backtracking(backtracking) => {
                backtracking.judge(backtracking.level(value), &self.validator, schema)
            }
            _ => Some(&self.validator),
        };
        let accepts =
            |validator: &Validator<ValueTree>| bounded(value, || validator.is_valid(value));
        validator.and_then(accepts).unwrap_or(false)
    }

    /// Every objection to a value, up to `most`, or the first ones if finding all takes too long; none if even one takes too
    /// long. `schema` is the one that was compiled.
    pub(crate) fn violations(
        &self,
        schema: &serde_json::Value,
        value: &Value<'_>,
        most: usize,
    ) -> Vec<Violation> {
        let limit = most.min(self.most_objections);
        match &self.explainer {
            // Unions within unions multiply, and again with each outcome that the engine assumes for an undecided pattern.
            Explainer::Backtracking(_) if can_outline(schema) && is_deeper(value, UNION_LEVELS) => {
                Vec::new()
            }
            Explainer::Backtracking(backtracking) => {
                let judge = backtracking.judge(backtracking.level(value), &self.validator, schema);
                let ask = |judge| with_copy(value, |value| collect(judge, value, limit));
                let found = judge.and_then(|judge| bounded(value, || ask(judge)));
                found.unwrap_or_default()
            }
            Explainer::Same if self.has_unions => {
                // The engine collects all objections of the branches, however few are wanted.
                let ask = || collect(&self.validator, value, most);
                let found = (limit == most).then(|| bounded(value, ask)).flatten();
                found.unwrap_or_default()
            }
            _ => {
                let ask = |limit: usize| match self.outline(schema) {
                    Some(outline) => outline.violations(&Path::root(), value, limit),
                    None => Some(collect_first(&self.validator, value, limit)),
                };
                let found = objections(value, limit, ask);
                found.flatten().unwrap_or_default()
            }
        }
    }

    /// The objections of one branch of a union; `None` if the union cannot be examined. All requests after one call of
    /// [violations](Self::violations) share one limit.
    pub(crate) fn branch_violations(
        &self,
        schema: &serde_json::Value,
        branch: &Path,
        value: &Value<'_>,
        limit: usize,
    ) -> Option<Vec<Violation>> {
        let outline = self.outline(schema)?;
        let limit = limit.min(self.most_objections);
        objections_to_part(|| outline.violations(branch, value, limit))?
    }

    fn outline(&self, schema: &serde_json::Value) -> Option<&Outline> {
        let Explainer::Outline(outline) = &self.explainer else {
            return None;
        };
        let make = || Outline::compile(schema, Draft::default().detect(schema));
        outline.get_or_init(make).as_ref()
    }
}

/// How many bytes of a schema all objections to one call may copy: half a millisecond.
const MOST_COPIED: usize = 200_000;

/// How many objections to one call may be collected. Those of a `not` and of a pattern contain a copy of it.
fn most_objections(schema: &serde_json::Value) -> usize {
    fn largest_copy(node: &serde_json::Value) -> usize {
        let copies = children(node).map(|(keyword, member)| match (keyword, member) {
            ("not", ruled_out) => text_size(ruled_out),
            ("pattern", serde_json::Value::String(pattern)) => pattern.len(),
            (_, member) => largest_copy(member),
        });
        copies.max().unwrap_or(0)
    }
    (MOST_COPIED / largest_copy(schema).max(1)).max(1)
}

/// How many texts a value has, including the keys of its objects.
fn texts(value: &Value<'_>) -> usize {
    match value {
        Value::String(_) => 1,
        Value::Array(items) => items.iter().map(texts).sum(),
        Value::Object(members) => members.iter().map(|(_, value)| 1 + texts(value)).sum(),
        _ => 0,
    }
}

/// How many patterns of a schema may backtrack: those with lookaround or backreferences.
fn count_patterns(node: &serde_json::Value) -> usize {
    const LOOKS: [&str; 5] = ["(?=", "(?!", "(?<=", "(?<!", "\\k<"];
    let refers = |pair: &[u8]| matches!(pair, [b'\\', b'1'..=b'9']);
    let steps_back = |pattern: &str| {
        LOOKS.iter().any(|look| pattern.contains(look)) || pattern.as_bytes().windows(2).any(refers)
    };
    let below = children(node).map(|(keyword, member)| {
        let here = match (keyword, member) {
            ("pattern", serde_json::Value::String(pattern)) => usize::from(steps_back(pattern)),
            ("patternProperties", serde_json::Value::Object(parts)) => {
                parts.keys().filter(|pattern| steps_back(pattern)).count()
            }
            _ => 0,
        };
        here + count_patterns(member)
    });
    below.sum()
}

fn options<'o>(schema: &serde_json::Value) -> EngineOptions<'o, ValueTree> {
    options_with(schema, MOST_STEPS)
}

fn options_with<'o>(schema: &serde_json::Value, steps: usize) -> EngineOptions<'o, ValueTree> {
    let options = jsonschema::options_for::<ValueTree>()
        .offline()
        .should_validate_formats(true)
        .with_email_options(EmailOptions::default().without_display_text())
        .with_pattern_options(PatternOptions::fancy_regex().backtrack_limit(steps));
    // Drafts 4 to 7 do not know the format.
    let draft = schema.get("$schema").and_then(serde_json::Value::as_str);
    if draft.is_some_and(|draft| draft.contains("/draft-0")) {
        options
    } else {
        options.with_format("uuid", is_uuid)
    }
}

/// Whether a text is a UUID in one of the forms that tools' libraries accept: with its four dashes or without any, in braces,
/// or as a URN. The format is a hint by the schema's author, and a gate must not be stricter than the tool.
fn is_uuid(text: &str) -> bool {
    let bare = text.strip_prefix("urn:uuid:").unwrap_or(text);
    let inner = bare.strip_prefix('{').and_then(|it| it.strip_suffix('}'));
    let bare = inner.unwrap_or(bare).as_bytes();
    let is_dash = |at: usize| bare.len() == 36 && matches!(at, 8 | 13 | 18 | 23);
    let fits = |(at, byte): (usize, &u8)| {
        if is_dash(at) {
            *byte == b'-'
        } else {
            byte.is_ascii_hexdigit()
        }
    };
    matches!(bare.len(), 32 | 36) && bare.iter().enumerate().all(fits)
}

fn build_error(error: &ValidationError<'_>) -> String {
    let place = match error.instance_path().as_str() {
        "" => String::new(),
        pointer => format!(" (at {pointer})"),
    };
    let reason = match error.kind() {
        ValidationErrorKind::Referencing(referencing) => {
            format!("unresolved reference, and nothing is ever loaded: {referencing}")
        }
        _ if error.instance_path().as_str().ends_with("/type") => {
            format!("unknown type {}", error.instance())
        }
        _ => error.to_string(),
    };
    // The crate prints the whole instance; an operator wants the beginning.
    snippet(&format!("{}{place}", cut_line(reason, 200)), 400)
}

fn collect(validator: &Validator<ValueTree>, value: &Value<'_>, limit: usize) -> Vec<Violation> {
    let errors = validator.iter_errors(value).take(limit);
    errors.map(violation).collect()
}

/// The same, if every objection is returned: the engine need not continue once there are enough.
fn collect_first(
    validator: &Validator<ValueTree>,
    value: &Value<'_>,
    limit: usize,
) -> Vec<Violation> {
    wanting(limit, || collect(validator, value, limit))
}

fn violation(error: ValidationError<'_>) -> Violation {
    let parts = error.into_parts();
    let (keyword, kind) = match parts.kind {
        ValidationErrorKind::Custom { message, .. } => (message, ViolationKind::Union),
        other => (parts.schema_path.as_str().to_owned(), violation_kind(other)),
    };
    Violation {
        at: Path::from_pointer(parts.instance_path.as_str()),
        keyword: Path::from_pointer(keyword),
        kind,
    }
}

fn violation_kind(kind: ValidationErrorKind) -> ViolationKind {
    use Comparison::{AtLeast, AtMost, LessThan, MoreThan};
    use IssueCode as Code;
    use Unit::{Characters, Items, Keys};
    use ValidationErrorKind as K;
    let limit = |code, comparison, limit: Number, unit| {
        let expected = Expected::Limit {
            comparison,
            limit,
            unit,
        };
        ViolationKind::Expected(code, expected)
    };
    match kind {
        K::Type { kind } => ViolationKind::Type(match kind {
            TypeKind::Single(only) => vec![schema_type(only)],
            TypeKind::Multiple(set) => set.iter().map(schema_type).collect(),
        }),
        K::Required { property } => {
            ViolationKind::Required(property.as_str().unwrap_or_default().to_owned())
        }
        K::AdditionalProperties { unexpected } | K::UnevaluatedProperties { unexpected } => {
            ViolationKind::UnknownKeys(unexpected)
        }
        K::AdditionalItems { .. } | K::UnevaluatedItems { .. } => ViolationKind::ExtraItems,
        K::Enum { options } => ViolationKind::Enum(options),
        K::Constant { expected_value } => ViolationKind::Const(expected_value),
        K::AnyOf { .. } | K::OneOfNotValid { .. } | K::OneOfMultipleValid { .. } => {
            ViolationKind::Union
        }
        K::Format { format } => ViolationKind::Expected(Code::Format, Expected::Format(format)),
        K::Pattern { pattern } => {
            ViolationKind::Expected(Code::Pattern, Expected::Pattern(pattern))
        }
        K::BacktrackLimitExceeded { .. } | K::RegexEngineFailure { .. } => {
            ViolationKind::Expected(Code::Pattern, Expected::ShorterText)
        }
        K::Minimum { limit: it } => limit(Code::Minimum, AtLeast, number(&it), None),
        K::Maximum { limit: it } => limit(Code::Maximum, AtMost, number(&it), None),
        K::ExclusiveMinimum { limit: it } => limit(Code::Minimum, MoreThan, number(&it), None),
        K::ExclusiveMaximum { limit: it } => limit(Code::Maximum, LessThan, number(&it), None),
        K::MinLength { limit: it } => limit(Code::MinLength, AtLeast, it.into(), Some(Characters)),
        K::MaxLength { limit: it } => limit(Code::MaxLength, AtMost, it.into(), Some(Characters)),
        K::MinItems { limit: it } => limit(Code::MinItems, AtLeast, it.into(), Some(Items)),
        K::MaxItems { limit: it } => limit(Code::MaxItems, AtMost, it.into(), Some(Items)),
        K::MinProperties { limit: it } => {
            limit(Code::MinProperties, AtLeast, it.into(), Some(Keys))
        }
        K::MaxProperties { limit: it } => limit(Code::MaxProperties, AtMost, it.into(), Some(Keys)),
        K::MultipleOf { multiple_of } => {
            ViolationKind::Expected(Code::MultipleOf, Expected::MultipleOf(number(&multiple_of)))
        }
        K::UniqueItems => ViolationKind::Expected(Code::UniqueItems, Expected::UniqueItems),
        K::Contains => ViolationKind::Contains,
        K::PropertyNames { error } => {
            let name = error.instance().as_str().unwrap_or_default().to_owned();
            let rule = violation(*error).kind.expected();
            ViolationKind::PropertyName(name, rule.filter(|it| *it != Expected::ShorterText))
        }
        K::Not { schema } => ViolationKind::Not(schema),
        K::FalseSchema => ViolationKind::Never,
        other => ViolationKind::Other(other.keyword().to_owned()),
    }
}

/// A number of the schema, as written there.
fn number(written: &impl ToString) -> Number {
    let written = written.to_string();
    written.parse().unwrap_or_else(|_| Number::from(0))
}

fn schema_type(kind: JsonType) -> SchemaType {
    match kind {
        JsonType::Array => SchemaType::Array,
        JsonType::Boolean => SchemaType::Boolean,
        JsonType::Integer => SchemaType::Integer,
        JsonType::Null => SchemaType::Null,
        JsonType::Number => SchemaType::Number,
        JsonType::Object => SchemaType::Object,
        JsonType::String => SchemaType::String,
    }
}
