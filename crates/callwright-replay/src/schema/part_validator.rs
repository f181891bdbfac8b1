//! Tests what single parts of a schema accept.

use std::collections::HashMap;

use callwright::json::{Path, Value};
use callwright::tool::normalise;
use callwright::validate::CompiledSchema;
use serde_json::Value as Json;

use super::closed::closed;
use super::locate::{SchemaPart, places};

/// Judges values by parts of one schema, in the form in which the gate compiles them. Each part is compiled once.
#[derive(Debug)]
pub(crate) struct PartValidator<'s> {
    root: &'s Json,
    parts: HashMap<Path, Option<CompiledSchema>>,
}

impl<'s> PartValidator<'s> {
    /// Uses this schema.
    pub(crate) fn of(root: &'s Json) -> Self {
        PartValidator {
            root,
            parts: HashMap::new(),
        }
    }

    /// Whether the part at a place accepts a value; `None` if that is unknown.
    pub(crate) fn accepts(&mut self, at: &Path, value: &Json) -> Option<bool> {
        let root = self.root;
        let part = self
            .parts
            .entry(at.clone())
            .or_insert_with(|| compile(&closed(root, at)?));
        Some(part.as_ref()?.accepts(&Value::from(value)))
    }

    /// Whether all parts about a place in the arguments accept a value; one of them, if all are alternatives.
    pub(crate) fn accepts_at(&mut self, path: &str, value: &Json) -> bool {
        let (alternatives, firm): (Vec<_>, Vec<_>) =
            (places(self.root, path).into_iter()).partition(|part| part.is_alternative);
        let mut accepts = |part: &SchemaPart| self.accepts(&part.at, value) == Some(true);
        if firm.is_empty() {
            alternatives.iter().any(accepts)
        } else {
            firm.iter().all(&mut accepts)
        }
    }
}

fn compile(part: &Json) -> Option<CompiledSchema> {
    CompiledSchema::compile(normalise(part).into_owned()).ok()
}
