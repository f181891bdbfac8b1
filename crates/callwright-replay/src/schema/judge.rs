//! What single parts of a schema accept, asked again and again.

use std::collections::HashMap;

use callwright::json::{Path, Value};
use callwright::tool::normalise;
use callwright::validate::CompiledSchema;
use serde_json::Value as Json;

use super::closed::closed;

/// Judges values by parts of one schema, in the form in which the gate compiles them. Each part is compiled once.
#[derive(Debug)]
pub(crate) struct PartValidator<'s> {
    root: &'s Json,
    parts: HashMap<Path, Option<CompiledSchema>>,
}

impl<'s> PartValidator<'s> {
    /// Asks this schema.
    pub(crate) fn of(root: &'s Json) -> Self {
        PartValidator {
            root,
            parts: HashMap::new(),
        }
    }

    /// Whether the part at a place accepts a value; `None` if nobody can say.
    pub(crate) fn accepts(&mut self, at: &Path, value: &Json) -> Option<bool> {
        let root = self.root;
        let part = self
            .parts
            .entry(at.clone())
            .or_insert_with(|| compile(&closed(root, at)?));
        Some(part.as_ref()?.accepts(&Value::from(value)))
    }
}

fn compile(part: &Json) -> Option<CompiledSchema> {
    CompiledSchema::compile(normalise(part).into_owned()).ok()
}
