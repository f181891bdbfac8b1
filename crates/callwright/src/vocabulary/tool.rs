//! A tool as it was declared: name, schemas, effect.

use std::sync::Arc;

use serde_json::Value as Schema;

use super::effect::{DeclaredBy, Effect};
use super::macros::named;

/// A tool as it was declared, not yet compiled. [`crate::wire::read_tools`] reads them from any provider's declarations.
///
/// ```
/// use callwright::ToolSpec;
/// use callwright::tool::Effect;
/// use serde_json::json;
///
/// let refund = ToolSpec::new("refund", json!({"type": "object", "required": ["order"]}))
///     .with_description("Pays an order back.")
///     .with_effect(Effect::Write);
/// assert!(!refund.idempotent);
/// ```
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct ToolSpec {
    /// The name that the model uses.
    pub name: String,
    /// Its description for the model.
    pub description: Option<String>,
    /// The JSON Schema of its arguments, as declared; `None` if there is none.
    pub input_schema: Option<Arc<Schema>>,
    /// Why the declared schema of its arguments cannot be read, if so. Its calls are not judged.
    pub input_fault: Option<Arc<str>>,
    /// The JSON Schema of its results, as declared.
    pub output_schema: Option<Arc<Schema>>,
    /// Why the declared schema of its results cannot be read, if so.
    pub output_fault: Option<Arc<str>>,
    /// What a call does to the world.
    pub effect: Effect,
    /// Who declared the effect.
    pub declared_by: DeclaredBy,
    /// Whether a second call with the same arguments has no further effect.
    pub idempotent: bool,
}

impl ToolSpec {
    /// A tool with a name and the schema of its arguments.
    pub fn new(name: impl Into<String>, input_schema: impl Into<Arc<Schema>>) -> Self {
        ToolSpec {
            input_schema: Some(input_schema.into()),
            ..ToolSpec::without_schema(name)
        }
    }

    /// A tool that declares nothing about its arguments.
    pub fn without_schema(name: impl Into<String>) -> Self {
        ToolSpec {
            name: name.into(),
            description: None,
            input_schema: None,
            input_fault: None,
            output_schema: None,
            output_fault: None,
            effect: Effect::Unknown,
            declared_by: DeclaredBy::default(),
            idempotent: false,
        }
    }

    /// The same tool with a description.
    #[must_use]
    pub fn with_description(mut self, description: impl Into<String>) -> Self {
        self.description = Some(description.into());
        self
    }

    /// The same tool with the schema of its results.
    #[must_use]
    pub fn with_output_schema(mut self, schema: impl Into<Arc<Schema>>) -> Self {
        self.output_schema = Some(schema.into());
        self
    }

    /// The same tool, declared idempotent.
    #[must_use]
    pub fn idempotent(mut self) -> Self {
        self.idempotent = true;
        self
    }

    /// The same tool, declared by its operator to have this effect.
    #[must_use]
    pub fn with_effect(mut self, effect: Effect) -> Self {
        self.effect = effect;
        self.declared_by = DeclaredBy::Operator;
        self
    }
}

named! {
    /// Whether a tool's arguments and results are held to their schemas.
    #[derive(Default)]
    #[non_exhaustive]
    pub enum Validation {
        /// The schema is not used. Arguments must still be a JSON object without repeated keys.
        Off = "off",
        /// Anything that the schema does not accept passes unchanged, and the operator is told. Nothing is repaired.
        Warn = "warn",
        /// Anything that the schema does not accept is refused.
        #[default]
        Strict = "strict",
    }
}
