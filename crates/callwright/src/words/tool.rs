//! A tool as it was declared: name, schemas, effect.

use std::sync::Arc;

use serde::Serialize;
use serde_json::Value as Schema;

use super::effect::{DeclaredBy, Effect};

/// A tool as it was declared, not yet compiled.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct ToolSpec {
    /// What the model calls it by.
    pub name: String,
    /// What the model is told about it.
    pub description: Option<String>,
    /// The JSON Schema of its arguments, as declared; `None` where none was.
    pub input_schema: Option<Arc<Schema>>,
    /// Why the schema of its arguments cannot be read, if one is declared and cannot. Its calls are not judged.
    pub input_fault: Option<Arc<str>>,
    /// The JSON Schema of its results, as declared.
    pub output_schema: Option<Arc<Schema>>,
    /// Why the schema of its results cannot be read, if one is declared and cannot.
    pub output_fault: Option<Arc<str>>,
    /// What a call does to the world.
    pub effect: Effect,
    /// Who said so.
    pub declared_by: DeclaredBy,
    /// Whether calling it twice with the same arguments is as good as once.
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

    /// The same tool, twice being as good as once.
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

/// Whether a tool's arguments are held to its schema, and its results to theirs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Validation {
    /// What the schema does not accept is refused.
    #[default]
    Strict,
    /// What the schema does not accept goes on as it is, and the operator hears of it. Nothing is repaired.
    Warn,
    /// The schema is not asked. Arguments must still be a JSON object in which no key occurs twice.
    Off,
}
