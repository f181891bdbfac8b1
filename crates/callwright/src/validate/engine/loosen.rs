//! Two versions of a schema → whether the new one accepts everything that the old one did.
//!
//! For people who change schemas, never for a call. The answer comes from the crate's own algebra, which may give up. Both are
//! read as the gate reads them: normalised first. Schemas that are too large are not compared, so that the answer is quick.

use jsonschema::PatternOptions;
use jsonschema::canonical::{self, CanonicalSchema, Containment};
use serde_json::Value as Schema;

use super::super::cost::text_size;
use super::super::normalise;
use super::super::schema::children;
use crate::panics::caught;

/// The longest schema that is compared, in bytes of text. The time does not depend on length: with this limit lifted, 13,000
/// comparisons of real tools' schemas, up to 44 KB long, took at most 25 ms and in the median 35 µs. It depends on unions,
/// which the algebra multiplies out: a made-up schema of 1 KB, an `allOf` of six unions, took 1.6 s until the algebra gave up.
/// The limit keeps such a schema from being many times as large. Two in a thousand of those real schemas are longer.
const LARGEST: usize = 16 * 1024;

/// How deep a schema may be nested: the algebra recurses along it.
const DEEPEST: usize = 48;

/// The outcome of a comparison.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Loosening {
    /// Everything that the old schema accepts, the new one accepts too.
    Proved,
    /// The new schema rejects something that the old one accepts.
    Refuted,
    /// Neither could be shown; the reason.
    Unknown(String),
}

/// Compares two versions of a schema.
pub fn only_loosens(old: &Schema, new: &Schema) -> Loosening {
    if old == new {
        return Loosening::Proved;
    }
    if [old, new].into_iter().any(is_too_large) {
        return Loosening::Unknown("the schema is too large to compare".to_owned());
    }
    let answer = caught(|| {
        let (wider, narrower) = (canonical(&normalise(new))?, canonical(&normalise(old))?);
        wider.covers(&narrower).map_err(|error| error.to_string())
    });
    match answer {
        Ok(Ok(Containment::Yes)) => Loosening::Proved,
        Ok(Ok(Containment::No)) => Loosening::Refuted,
        Ok(Ok(_)) => Loosening::Unknown("the schemas are too complex to compare".to_owned()),
        Ok(Err(reason)) | Err(reason) => Loosening::Unknown(reason),
    }
}

fn canonical(schema: &Schema) -> Result<CanonicalSchema, String> {
    canonical::options()
        .offline()
        .should_validate_formats(true)
        .with_pattern_options(PatternOptions::regex())
        .canonicalize(schema)
        .map_err(|error| error.to_string())
}

fn is_too_large(schema: &Schema) -> bool {
    text_size(schema) > LARGEST || is_deeper_than(schema, DEEPEST)
}

fn is_deeper_than(schema: &Schema, levels: usize) -> bool {
    let Some(below) = levels.checked_sub(1) else {
        return true;
    };
    children(schema).any(|(_, inner)| is_deeper_than(inner, below))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[track_caller]
    #[expect(clippy::needless_pass_by_value, reason = "reads better below")]
    fn compare(old: Schema, new: Schema, expected: Loosening) {
        assert_eq!(only_loosens(&old, &new), expected, "{old} → {new}");
    }

    #[test]
    fn looser_stricter_and_equal_schemas() {
        let integer = json!({"type": "integer"});
        let number = json!({"type": "number"});
        compare(integer.clone(), number.clone(), Loosening::Proved);
        assert_ne!(only_loosens(&number, &integer), Loosening::Proved);
        let (few, more) = (json!({"maximum": 5}), json!({"maximum": 9}));
        compare(few.clone(), more.clone(), Loosening::Proved);
        compare(more, few, Loosening::Refuted);
        compare(integer.clone(), integer, Loosening::Proved);
    }

    #[test]
    fn common_non_standard_forms_are_understood() {
        compare(
            json!({"type": "STRING"}),
            json!({"type": "STRING", "nullable": true}),
            Loosening::Proved,
        );
        compare(
            json!({"type": "string", "nullable": true}),
            json!({"type": "string"}),
            Loosening::Refuted,
        );
    }

    #[test]
    fn a_schema_that_refers_to_itself_ends() {
        let list = |limit: u32| {
            json!({"$ref": "#/$defs/node", "$defs": {"node": {
                "type": "object",
                "properties": {"next": {"$ref": "#/$defs/node"}, "size": {"maximum": limit}},
            }}})
        };
        assert_ne!(only_loosens(&list(5), &list(9)), Loosening::Refuted);
        assert_ne!(only_loosens(&list(9), &list(5)), Loosening::Proved);
    }

    #[test]
    fn schemas_that_are_too_large_are_not_compared() {
        let values: Vec<String> = (0..5_000).map(|at| format!("value {at}")).collect();
        let mut deep = json!({"type": "string"});
        for _ in 0..200 {
            deep = json!({"items": deep});
        }
        for old in [json!({"enum": values}), deep] {
            let answer = only_loosens(&old, &json!({"type": "string"}));
            assert!(matches!(answer, Loosening::Unknown(_)), "{answer:?}");
        }
    }

    #[test]
    fn an_unresolved_reference_does_not_panic() {
        let answer = only_loosens(&json!({"$ref": "#/nowhere"}), &json!({"type": "string"}));
        assert!(matches!(answer, Loosening::Unknown(_)), "{answer:?}");
    }
}
