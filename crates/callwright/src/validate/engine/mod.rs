//! The only folder that knows the `jsonschema` crate.
//!
//! Compiles a schema that then answers two questions about a [`Value`]: do you accept it
//! (cheap), and what do you object to (only asked when the first answer was no). The crate walks our
//! own tree in place ([`tree`]), so no `serde_json::Value` is built for a call, and unions are looked
//! into one level at a time ([`outline`]). Nothing is ever loaded from the network or the disk, and
//! the crate's messages never leave this folder except to tell an operator why a schema does not
//! compile.

mod loosen;
mod outline;
mod tree;

use std::sync::{Arc, OnceLock};

use jsonschema::error::{TypeKind, ValidationErrorKind};
use jsonschema::{
    EmailOptions, JsonType, PatternOptions, Retrieve, ValidationError, ValidationOptions, Validator,
};
use serde_json::Number;

pub use self::loosen::{Loosening, only_loosens};
use self::outline::{Outline, can_outline};
use self::tree::Tree;
use super::violation::{Violation, ViolationKind};
use crate::json::{Path, Value};
use crate::text::{cut_line, snippet};
use crate::words::{Comparison, Expected, IssueCode, SchemaType, Unit};

/// How often a pattern may step back before it counts as undecided. A harmless pattern with a lookahead
/// needs some steps for each character of a long text; a million take some tens of milliseconds.
const BACKTRACK_LIMIT: usize = 1_000_000;

/// A compiled schema.
#[derive(Debug)]
pub(crate) struct Engine {
    validator: Validator<Tree>,
    explainer: Explainer,
}

/// What says why a value is refused.
#[derive(Debug)]
enum Explainer {
    /// The validator itself.
    Same,
    /// For schemas with unions; made when the first call is refused.
    Outline(OnceLock<Option<Outline>>),
    /// For schemas with a pattern that may step back too often to be decided. The crate then looks the
    /// value up in its own copy of the arguments, which our tree does not give it.
    Copying(OnceLock<Option<jsonschema::Validator>>),
}

impl Engine {
    /// Compiles a schema; the error is a sentence for the operator.
    pub(crate) fn compile(schema: &serde_json::Value) -> Result<Engine, String> {
        // Patterns that never step back take linear time. Few need the engine that may.
        let linear = options().with_pattern_options(PatternOptions::regex());
        if let Ok(validator) = linear.build(schema) {
            let explainer = if can_outline(schema) {
                Explainer::Outline(OnceLock::new())
            } else {
                Explainer::Same
            };
            return Ok(Engine {
                validator,
                explainer,
            });
        }
        let validator = options().build(schema);
        Ok(Engine {
            validator: validator.map_err(|error| build_error(&error))?,
            explainer: Explainer::Copying(OnceLock::new()),
        })
    }

    /// The fast question.
    pub(crate) fn accepts(&self, value: &Value<'_>) -> bool {
        self.validator.is_valid(value)
    }

    /// Every objection to a value, up to `limit`. `schema` is the one that was compiled.
    pub(crate) fn violations(
        &self,
        schema: &serde_json::Value,
        value: &Value<'_>,
        limit: usize,
    ) -> Vec<Violation> {
        let root = Path::root();
        match &self.explainer {
            Explainer::Copying(copying) => {
                let make = || copying_options().build(schema).ok();
                let copy = serde_json::Value::from(value);
                let validator = copying.get_or_init(make).as_ref();
                let errors = validator.into_iter().flat_map(|all| all.iter_errors(&copy));
                errors
                    .take(limit)
                    .map(|error| violation(error, &root))
                    .collect()
            }
            Explainer::Outline(_) => {
                let outline = self.outline(schema);
                let validator = outline.map_or(&self.validator, Outline::root);
                collect(validator, value, limit, &root)
            }
            Explainer::Same => collect(&self.validator, value, limit, &root),
        }
    }

    /// What one branch of a union objects to; `None` where the union cannot be looked into.
    pub(crate) fn branch_violations(
        &self,
        schema: &serde_json::Value,
        branch: &Path,
        value: &Value<'_>,
        limit: usize,
    ) -> Option<Vec<Violation>> {
        let outline = self.outline(schema)?;
        let validator = outline.part(branch)?;
        Some(collect(validator, value, limit, branch))
    }

    fn outline(&self, schema: &serde_json::Value) -> Option<&Outline> {
        match &self.explainer {
            Explainer::Outline(outline) => {
                outline.get_or_init(|| Outline::compile(schema)).as_ref()
            }
            _ => None,
        }
    }
}

fn options<'o>() -> ValidationOptions<'o, Arc<dyn Retrieve>, Tree> {
    jsonschema::options_for::<Tree>()
        .offline()
        .should_validate_formats(true)
        .with_email_options(EmailOptions::default().without_display_text())
        .with_pattern_options(PatternOptions::fancy_regex().backtrack_limit(BACKTRACK_LIMIT))
}

/// The same options on the crate's own values.
fn copying_options<'o>() -> ValidationOptions<'o> {
    jsonschema::options()
        .offline()
        .should_validate_formats(true)
        .with_email_options(EmailOptions::default().without_display_text())
        .with_pattern_options(PatternOptions::fancy_regex().backtrack_limit(BACKTRACK_LIMIT))
}

fn build_error(error: &ValidationError<'_>) -> String {
    let place = match error.instance_path().as_str() {
        "" => String::new(),
        pointer => format!(" (at {pointer})"),
    };
    let reason = match error.kind() {
        ValidationErrorKind::Referencing(referencing) => {
            format!("a reference leads nowhere, and nothing is ever loaded: {referencing}")
        }
        _ if error.instance_path().as_str().ends_with("/type") => {
            format!("there is no type {}", error.instance())
        }
        _ => error.to_string(),
    };
    // The crate prints the whole instance; an operator wants the beginning.
    snippet(&format!("{}{place}", cut_line(reason, 200)), 400)
}

fn collect(
    validator: &Validator<Tree>,
    value: &Value<'_>,
    limit: usize,
    base: &Path,
) -> Vec<Violation> {
    let errors = validator.iter_errors(value).take(limit);
    errors.map(|error| violation(error, base)).collect()
}

/// `base` is the part of the schema that the validator was made of. The engine counts from there
/// until it follows a reference, and from the root of the schema after that.
fn violation(error: ValidationError<'_>, base: &Path) -> Violation {
    let through_reference =
        base.is_root() || error.evaluation_path().as_str() != error.schema_path().as_str();
    let parts = error.into_parts();
    let own = Path::from_pointer(parts.schema_path.as_str());
    let mut keyword = if through_reference {
        own
    } else {
        base.join(&own)
    };
    let kind = match parts.kind {
        ValidationErrorKind::Custom { message, .. } => {
            keyword = Path::from_pointer(message);
            ViolationKind::Union
        }
        other => violation_kind(other, base),
    };
    Violation {
        at: Path::from_pointer(parts.instance_path.as_str()),
        keyword,
        kind,
    }
}

fn violation_kind(kind: ValidationErrorKind, base: &Path) -> ViolationKind {
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
            let rule = violation(*error, base).kind.expected();
            ViolationKind::PropertyName(name, rule.filter(|it| *it != Expected::ShorterText))
        }
        K::Not { schema } => ViolationKind::Not(schema),
        K::FalseSchema => ViolationKind::Never,
        other => ViolationKind::Other(other.keyword().to_owned()),
    }
}

/// A number of the schema, as it is written there.
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
