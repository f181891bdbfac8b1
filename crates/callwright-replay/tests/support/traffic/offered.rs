//! A tool as seen from its calls: arguments, results and refusals.

use callwright::ToolSpec;
use serde_json::{Value, json};

use super::pattern::Pattern;
use super::random::Random;
use super::values::Values;

/// A tool, and the patterns that may be planted in its calls.
pub(crate) struct Offered {
    pub(crate) spec: ToolSpec,
    pub(crate) patterns: Vec<usize>,
}

impl Offered {
    pub(crate) fn arguments(&self, random: &mut Random) -> Value {
        match &self.spec.input_schema {
            Some(schema) => Values::of(schema).value(random),
            None => json!({}),
        }
    }

    pub(crate) fn result(&self, random: &mut Random) -> Value {
        match &self.spec.output_schema {
            Some(schema) => Values::of(schema).value(random),
            None if random.chance(0.5) => json!("ok"),
            None => json!({"ok": true, "items": random.below(40)}),
        }
    }

    /// How a server refuses a call.
    pub(crate) fn refusal(&self, random: &mut Random, pattern: &Pattern) -> String {
        let place = pattern.path.rsplit('/').next().unwrap_or_default();
        match random.below(3) {
            0 => format!("400 Bad Request: invalid value for '{place}'"),
            1 => format!("{}: validation failed ({place})", self.name()),
            _ => format!("422 {place} is not acceptable"),
        }
    }

    pub(crate) fn name(&self) -> &str {
        &self.spec.name
    }
}
