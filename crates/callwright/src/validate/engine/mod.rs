//! The only folder that knows the `jsonschema` crate.
//!
//! Out goes a compiled schema that answers two questions about a [`Value`]: do you accept it
//! (cheap), and what do you object to (only asked when the first answer was no). The crate walks our
//! own tree in place ([`tree`]), so no `serde_json::Value` is built for a call, and unions are looked
//! into one level at a time ([`outline`]). Nothing is ever loaded from the network or the disk, and
//! the crate's messages never leave this folder except to tell an operator why a schema does not
//! compile.

mod containment;
mod outline;
mod tree;

use std::sync::{Arc, OnceLock};

use jsonschema::error::{TypeKind, ValidationErrorKind};
use jsonschema::{
    EmailOptions, JsonType, PatternOptions, Retrieve, ValidationError, ValidationOptions, Validator,
};

pub(crate) use self::containment::covers;
use self::outline::{Outline, can_outline};
use self::tree::Tree;
use super::fault::{Bound, Fault, FaultKind};
use crate::json::{Path, Value};
use crate::text::{cut_line, snippet};

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
    pub(crate) fn faults(
        &self,
        schema: &serde_json::Value,
        value: &Value<'_>,
        limit: usize,
    ) -> Vec<Fault> {
        let root = Path::root();
        match &self.explainer {
            Explainer::Copying(copying) => {
                let make = || copying_options().build(schema).ok();
                let copy = serde_json::Value::from(value);
                let validator = copying.get_or_init(make).as_ref();
                let errors = validator.into_iter().flat_map(|all| all.iter_errors(&copy));
                errors
                    .take(limit)
                    .map(|error| fault(error, &root))
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
    pub(crate) fn branch_faults(
        &self,
        schema: &serde_json::Value,
        branch: &Path,
        value: &Value<'_>,
        limit: usize,
    ) -> Option<Vec<Fault>> {
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
) -> Vec<Fault> {
    let errors = validator.iter_errors(value).take(limit);
    errors.map(|error| fault(error, base)).collect()
}

/// `base` is the part of the schema that the validator was made of. The engine counts from there
/// until it follows a reference, and from the root of the schema behind one.
fn fault(error: ValidationError<'_>, base: &Path) -> Fault {
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
            FaultKind::Union
        }
        other => fault_kind(other, base),
    };
    Fault {
        at: Path::from_pointer(parts.instance_path.as_str()),
        keyword,
        kind,
    }
}

fn fault_kind(kind: ValidationErrorKind, base: &Path) -> FaultKind {
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
        K::AnyOf { .. } | K::OneOfNotValid { .. } | K::OneOfMultipleValid { .. } => {
            FaultKind::Union
        }
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
        K::BacktrackLimitExceeded { .. } | K::RegexEngineFailure { .. } => FaultKind::Undecided,
        K::MultipleOf { multiple_of } => FaultKind::MultipleOf(multiple_of.to_string()),
        K::UniqueItems => FaultKind::UniqueItems,
        K::Contains => FaultKind::Contains,
        K::PropertyNames { error } => FaultKind::PropertyName {
            name: error.instance().as_str().unwrap_or_default().to_owned(),
            inner: Box::new(fault(*error, base)),
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
