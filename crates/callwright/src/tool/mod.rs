//! Tools: name, schema, effect.
//!
//! [`crate::wire::read_tools`] takes them out of any provider's shape as [`ToolSpec`]s; the gate compiles each
//! into a [`Tool`]. A schema that cannot be compiled quarantines its one tool: its calls pass
//! unvalidated, and the others work.

mod lookup;

use std::borrow::Cow;
use std::sync::Arc;

pub use crate::validate::normalise;
pub use crate::words::{DeclaredBy, Effect, ToolSpec};
pub(crate) use lookup::{ToolSet, UnknownTool};
use serde_json::Value as Schema;

use crate::validate::{CompiledSchema, SchemaCache, Secrets, marks_secret, text_size};
use crate::words::{OutputPolicy, Validation};

/// The longest schema that is compiled, in bytes of text. The largest of 14,000 public tool schemas
/// has a few hundred kilobytes; compiling tens of megabytes takes minutes and gigabytes.
const LARGEST_SCHEMA: usize = 4 * 1024 * 1024;

/// How many references a schema may have. The engine recurses along them, and tens of thousands in a
/// chain overflow its stack; the largest real schemas have some hundreds.
const MOST_REFERENCES: usize = 3_000;

/// A tool that the gate knows: declared, and compiled if possible.
#[derive(Debug)]
pub struct Tool {
    spec: ToolSpec,
    schema: Result<Arc<CompiledSchema>, Arc<str>>,
    secrets: Option<Arc<Secrets>>,
    validation: Validation,
    output_schema: Option<Result<Arc<CompiledSchema>, Arc<str>>>,
    output_secrets: Option<Arc<Secrets>>,
    output_policy: OutputPolicy,
}

impl Tool {
    /// Compiles a tool's schemas, or takes them from the cache.
    pub(crate) fn compile(
        spec: ToolSpec,
        validation: Validation,
        output_policy: OutputPolicy,
        cache: &SchemaCache,
    ) -> Tool {
        let schema = match &spec.input_schema {
            Some(declared) if validation != Validation::Off => compile(declared, cache),
            _ => cache.compile(Arc::new(Schema::Bool(true))),
        };
        let output_schema = match &spec.output_schema {
            Some(declared) if output_policy.mode != Validation::Off => {
                Some(compile(declared, cache))
            }
            _ => None,
        };
        let compiled = schema.as_ref().ok().and_then(|schema| schema.secrets());
        let compiled_output = output_schema
            .as_ref()
            .and_then(|schema| schema.as_ref().ok()?.secrets());
        Tool {
            secrets: secrets(spec.input_schema.as_deref(), compiled),
            output_secrets: secrets(spec.output_schema.as_deref(), compiled_output),
            schema,
            validation,
            output_schema,
            output_policy,
            spec,
        }
    }

    /// What an objection to the arguments leads to.
    pub(crate) fn validation(&self) -> Validation {
        self.validation
    }

    /// The compiled schema of results; `None` if none is declared, it is not asked, or it is in quarantine.
    pub fn output_schema(&self) -> Option<&CompiledSchema> {
        self.output_schema.as_ref()?.as_deref().ok()
    }

    /// Why the schema of results could not be compiled, if it could not. Results then pass unvalidated.
    pub fn output_quarantined(&self) -> Option<&str> {
        self.output_schema
            .as_ref()?
            .as_ref()
            .err()
            .map(AsRef::as_ref)
    }

    /// How results are judged.
    pub fn output_policy(&self) -> &OutputPolicy {
        &self.output_policy
    }

    /// Whether some part of a result is marked `writeOnly` or `format: password`.
    pub(crate) fn returns_secrets(&self) -> bool {
        self.output_secrets.is_some()
    }

    /// Whether some argument is marked `writeOnly` or `format: password`, quarantined or not.
    pub(crate) fn takes_secrets(&self) -> bool {
        self.secrets.is_some()
    }

    /// Which arguments must not be shown, if any.
    pub(crate) fn secrets(&self) -> Option<&Arc<Secrets>> {
        self.secrets.as_ref()
    }

    /// What of the results must not be shown, if anything.
    pub(crate) fn output_secrets(&self) -> Option<&Arc<Secrets>> {
        self.output_secrets.as_ref()
    }

    /// What the model calls it by.
    pub fn name(&self) -> &str {
        &self.spec.name
    }

    /// The tool as it was declared; its effect as the policy says, where it says something.
    pub fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    /// The compiled schema; `None` if the tool is quarantined. Where validation is off, it accepts anything.
    pub fn schema(&self) -> Option<&CompiledSchema> {
        self.schema.as_deref().ok()
    }

    /// Why the schema could not be compiled, if it could not. Calls then pass unvalidated.
    pub fn quarantined(&self) -> Option<&str> {
        self.schema.as_ref().err().map(AsRef::as_ref)
    }
}

fn compile(declared: &Arc<Schema>, cache: &SchemaCache) -> Result<Arc<CompiledSchema>, Arc<str>> {
    if !matches!(**declared, Schema::Object(_) | Schema::Bool(_)) {
        return Err(Arc::from(
            "a schema is an object, or `true` to accept anything",
        ));
    }
    if count_references(declared) > MOST_REFERENCES {
        return Err(Arc::from(format!(
            "the schema has more than the {MOST_REFERENCES} references that are followed"
        )));
    }
    let size = text_size(declared);
    if size > LARGEST_SCHEMA {
        return Err(Arc::from(format!(
            "the schema has about {} MB, more than the {} MB that are compiled",
            size / 1_000_000,
            LARGEST_SCHEMA / 1_000_000,
        )));
    }
    cache.compile(match normalise(declared) {
        Cow::Borrowed(_) => Arc::clone(declared),
        Cow::Owned(rewritten) => Arc::new(rewritten),
    })
}

/// The secrets of a schema as it was declared; those of its compiled form, where that has any.
fn secrets(declared: Option<&Schema>, compiled: Option<&Arc<Secrets>>) -> Option<Arc<Secrets>> {
    let declared = declared.filter(|declared| marks_secret(declared))?;
    if let Some(compiled) = compiled {
        return Some(Arc::clone(compiled));
    }
    let is_small =
        count_references(declared) <= MOST_REFERENCES && text_size(declared) <= LARGEST_SCHEMA;
    let found = if is_small {
        Secrets::of(declared)
    } else {
        None
    };
    Some(Arc::new(found.unwrap_or_else(Secrets::everything)))
}

fn count_references(node: &Schema) -> usize {
    match node {
        Schema::Object(members) => members
            .iter()
            .map(|(key, member)| usize::from(key == "$ref") + count_references(member))
            .sum(),
        Schema::Array(items) => items.iter().map(count_references).sum(),
        _ => 0,
    }
}
