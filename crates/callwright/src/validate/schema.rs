//! A compiled schema, with the source it was compiled from.
//!
//! The engine validates; the source is kept so that an objection can be explained in the schema's own terms. A compiled schema
//! never changes and is shared between threads and tools.

use std::sync::Arc;

use serde_json::Value as Schema;

use super::advise;
use super::cache::CompileBudget;
use super::cost::Cost;
use super::engine::SchemaEngine;
use super::explain::{self, LocatedIssue};
use super::secrets::Secrets;
use super::violation::Violation;
use crate::json::{Path, Value, keyword, member};
use crate::vocabulary::{Expected, Issue, IssueCode, Received};

/// How many objections to one call are collected. The model gets five; a few hundred are enough for any report, and a hostile
/// array of a million wrong items stays cheap.
const MOST_VIOLATIONS: usize = 256;

/// How many references to references are followed before a schema counts as circular.
const MOST_REFERENCES: usize = 16;

/// A JSON Schema that is ready to judge values.
#[derive(Debug)]
pub struct CompiledSchema {
    source: Arc<Schema>,
    engine: SchemaEngine,
    secrets: Option<Arc<Secrets>>,
    /// The fixed cost, in steps, of validating any value.
    judging_steps: usize,
}

impl CompiledSchema {
    /// Compiles a schema of any draft. References are resolved inside the schema only; nothing is ever loaded.
    ///
    /// # Errors
    /// Returns why the schema cannot be compiled, as a sentence for the operator.
    pub fn compile(source: impl Into<Arc<Schema>>) -> Result<Self, String> {
        let source = source.into();
        CompileBudget::default().spend(Cost::of(&source)?)?;
        Self::build(source)
    }

    /// The same for a schema whose cost is known.
    pub(super) fn build(source: Arc<Schema>) -> Result<Self, String> {
        let engine = SchemaEngine::compile(&source)?;
        Ok(CompiledSchema {
            secrets: Secrets::of(&source).map(Arc::new),
            judging_steps: judging_steps(&source),
            engine,
            source,
        })
    }

    /// How many compiled forms of the schema there may be: some are built on demand.
    pub(super) fn forms(&self) -> usize {
        self.engine.forms()
    }

    /// The schema that was compiled.
    pub fn source(&self) -> &Schema {
        &self.source
    }

    /// Whether the schema accepts a value: the cheap question.
    pub fn accepts(&self, value: &Value<'_>) -> bool {
        self.engine.accepts(&self.source, value)
    }

    /// The schema's objections to a value: the first 256 issues, the most useful first; empty exactly if
    /// [`accepts`](Self::accepts) returns true.
    pub fn issues(&self, value: &Value<'_>) -> Vec<Issue> {
        self.explain(value, self.objections(value))
    }

    /// The same, for objections that have been collected.
    pub(super) fn explain(&self, value: &Value<'_>, objections: Vec<LocatedIssue>) -> Vec<Issue> {
        advise::issues(self, value, objections)
    }

    /// Every objection with its path in the schema; none to a value that it accepts, which is asked first because it is cheap.
    pub(crate) fn located_issues(&self, value: &Value<'_>) -> Vec<LocatedIssue> {
        if self.accepts(value) {
            return Vec::new();
        }
        self.objections(value)
    }

    /// Every objection with its path in the schema, in the engine's order.
    pub(super) fn objections(&self, value: &Value<'_>) -> Vec<LocatedIssue> {
        let violations = self.engine.violations(&self.source, value, MOST_VIOLATIONS);
        let mut found = explain::located_issues(self, value, violations);
        if found.is_empty() && !self.accepts(value) {
            found.push(LocatedIssue {
                issue: self.undecided(value),
                owner: Path::root(),
            });
        }
        found
    }

    /// The fixed cost, in steps, of validating any value, besides the part that depends on the value.
    pub(crate) fn judging_steps(&self) -> usize {
        self.judging_steps
    }

    /// The engine rejects the value without a reason: it would have had to visit values too often, or a pattern to backtrack
    /// too often.
    fn undecided(&self, value: &Value<'_>) -> Issue {
        let received = if self.hides(&Path::root()) {
            Received::Hidden(value.kind())
        } else {
            Received::value(value)
        };
        let (code, expected) = (IssueCode::Other, Expected::FittingArguments);
        Issue::new(Path::root(), code, expected, received)
    }

    /// The secrets of the schema, if any.
    pub(crate) fn secrets(&self) -> Option<&Arc<Secrets>> {
        self.secrets.as_ref()
    }

    /// Whether the value at a place must not be shown.
    pub(crate) fn hides(&self, at: &Path) -> bool {
        self.secrets
            .as_ref()
            .is_some_and(|secrets| secrets.hide(at))
    }

    /// The objections of one branch of a union to the value at a path.
    pub(crate) fn branch_violations(
        &self,
        branch: &Path,
        value: &Value<'_>,
        at: &Path,
    ) -> Option<Vec<Violation>> {
        let violations =
            self.engine
                .branch_violations(&self.source, branch, value, MOST_VIOLATIONS)?;
        let placed = violations.into_iter().map(|violation| Violation {
            at: at.join(&violation.at),
            ..violation
        });
        Some(placed.collect())
    }

    /// The schema at a JSON Pointer into this schema, with references resolved.
    pub(crate) fn node(&self, at: &Path) -> Option<&Schema> {
        let mut segments = at.segments();
        let node = segments.try_fold(&*self.source, |node, segment| child(node, &segment))?;
        Some(self.follow(node))
    }

    /// The whole schema, as it was compiled.
    pub(super) fn root(&self) -> &Schema {
        &self.source
    }

    /// The target of a local reference; the node itself if it is not one.
    pub(crate) fn follow<'s>(&'s self, mut node: &'s Schema) -> &'s Schema {
        for _ in 0..MOST_REFERENCES {
            let target = keyword(node, "$ref")
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
}

/// Everything directly inside a node, with its keyword or name in an object.
pub(super) fn children(node: &Schema) -> impl Iterator<Item = (&str, &Schema)> {
    let members = node.as_object().into_iter().flatten();
    let items = node.as_array().into_iter().flatten();
    let members = members.map(|(name, member)| (name.as_str(), member));
    members.chain(items.map(|item| ("", item)))
}

/// The cost, in steps, of evaluating one part of a schema for the same value, and of doing so if the engine also tracks which
/// keys the part knows.
const PER_PART: usize = 25;
const PER_EVALUATED_PART: usize = 700;

/// How many steps all parts of a schema that may apply to one value take.
fn judging_steps(schema: &Schema) -> usize {
    fn count(node: &Schema, parts: &mut usize, notes_keys: &mut bool) {
        for (keyword, inner) in children(node) {
            match keyword {
                "allOf" | "anyOf" | "oneOf" | "dependentSchemas" => {
                    *parts += children(inner).count();
                }
                "unevaluatedProperties" | "unevaluatedItems" => *notes_keys = true,
                _ => {}
            }
            count(inner, parts, notes_keys);
        }
    }
    let (mut parts, mut notes_keys) = (0, false);
    count(schema, &mut parts, &mut notes_keys);
    parts
        * if notes_keys {
            PER_EVALUATED_PART
        } else {
            PER_PART
        }
}

/// One step down a JSON Pointer. (`serde_json`'s own walk allocates for every step.)
fn child<'s>(node: &'s Schema, segment: &str) -> Option<&'s Schema> {
    match node {
        Schema::Object(members) => member(members, segment),
        Schema::Array(items) => items.get(segment.parse::<usize>().ok()?),
        _ => None,
    }
}
