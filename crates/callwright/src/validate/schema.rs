//! A schema, compiled, with the text it was compiled from.
//!
//! The engine judges; the source is kept so that an objection can be explained in the schema's own
//! words. A compiled schema never changes and is shared between threads and tools.

use serde_json::Value as Schema;

use super::engine::Engine;
use super::explain;
use super::fault::Fault;
use super::issue::Issue;
use crate::json::{Path, Value};

/// How many objections to one call are collected. The model is told five; a thousand is enough for
/// any report, and a hostile array of a million wrong items stays cheap.
const MOST_FAULTS: usize = 1_000;

/// How many references to references are followed before a schema counts as running in circles.
const MOST_REFERENCES: usize = 16;

/// A JSON Schema that is ready to judge values.
#[derive(Debug)]
pub struct CompiledSchema {
    source: Schema,
    engine: Engine,
    holds_secrets: bool,
}

impl CompiledSchema {
    /// Compiles a schema of any draft. References are followed inside the schema only; nothing is
    /// ever loaded.
    ///
    /// # Errors
    /// Returns why the schema cannot be compiled, as a sentence for the operator.
    pub fn compile(source: Schema) -> Result<Self, String> {
        let engine = Engine::compile(&source)?;
        Ok(CompiledSchema {
            holds_secrets: marks_secret(&source),
            engine,
            source,
        })
    }

    /// The schema as it was compiled.
    pub fn source(&self) -> &Schema {
        &self.source
    }

    /// Whether the schema accepts a value. The cheap question.
    pub fn accepts(&self, value: &Value<'_>) -> bool {
        self.engine.accepts(value)
    }

    /// Everything that the schema objects to in a value, the most useful first; empty exactly when
    /// [`accepts`](Self::accepts) says yes.
    pub fn issues(&self, value: &Value<'_>) -> Vec<Issue> {
        let faults = self.engine.faults(value, MOST_FAULTS, self.holds_secrets);
        explain::issues(self, value, faults)
    }

    /// Whether some property is marked `writeOnly` or `format: password`.
    pub(crate) fn holds_secrets(&self) -> bool {
        self.holds_secrets
    }

    /// The schema at a JSON Pointer into this schema, references followed.
    pub(crate) fn node(&self, at: &Path) -> Option<&Schema> {
        let mut segments = at.segments();
        let node = segments.try_fold(&self.source, |node, segment| child(node, &segment))?;
        Some(self.follow(node))
    }

    /// Where a local reference leads; the node itself if it is none.
    pub(crate) fn follow<'s>(&'s self, mut node: &'s Schema) -> &'s Schema {
        for _ in 0..MOST_REFERENCES {
            let target = node
                .get("$ref")
                .and_then(Schema::as_str)
                .and_then(|reference| reference.strip_prefix('#'))
                .and_then(|pointer| self.source.pointer(pointer));
            match target {
                Some(next) => node = next,
                None => break,
            }
        }
        node
    }

    /// Whether the value that a fault is about must not be shown: some schema on the way to it is
    /// marked as a secret.
    pub(crate) fn hides(&self, fault: &Fault) -> bool {
        let Some(route) = &fault.route else {
            return false;
        };
        let mut here = Some(&self.source);
        for segment in route.segments() {
            let Some(node) = here else {
                return false;
            };
            if is_secret(node) {
                return true;
            }
            here = if segment == "$ref" {
                Some(self.follow(node))
            } else {
                child(node, &segment)
            };
        }
        here.is_some_and(is_secret)
    }
}

/// One step down a JSON Pointer. (`serde_json`'s own walk allocates for every step.)
fn child<'s>(node: &'s Schema, segment: &str) -> Option<&'s Schema> {
    match node {
        Schema::Object(members) => members.get(segment),
        Schema::Array(items) => items.get(segment.parse::<usize>().ok()?),
        _ => None,
    }
}

fn is_secret(node: &Schema) -> bool {
    node.get("writeOnly") == Some(&Schema::Bool(true))
        || node.get("format").and_then(Schema::as_str) == Some("password")
}

fn marks_secret(node: &Schema) -> bool {
    is_secret(node)
        || match node {
            Schema::Object(members) => members.values().any(marks_secret),
            Schema::Array(items) => items.iter().any(marks_secret),
            _ => false,
        }
}
