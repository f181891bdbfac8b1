//! Options and a schema → a validator.
//!
//! The `jsonschema` crate first validates a schema against the schema of its draft. Natively that meta-schema is compiled once;
//! for WebAssembly the crate compiles it again each time, which costs twenty times as much as a usual schema. There the crate's
//! single cached copy is used instead, and what is compiled is a reference to the schema, in the draft with the smallest
//! meta-schema.

use std::sync::Arc;

use jsonschema::json::Json;
use jsonschema::{Retrieve, ValidationError, ValidationOptions, Validator};
use serde_json::Value as Schema;

/// The crate's options for values of some type.
pub(super) type EngineOptions<'o, F> = ValidationOptions<'o, Arc<dyn Retrieve>, F>;

/// Compiles a schema.
pub(super) fn build<F: Json>(
    options: &EngineOptions<'_, F>,
    schema: &Schema,
) -> Result<Validator<F>, ValidationError<'static>> {
    #[cfg(target_family = "wasm")]
    if let Some(validator) = by_reference::build(options.clone(), schema) {
        return Ok(validator);
    }
    options.build(schema)
}

#[cfg(any(target_family = "wasm", test))]
pub(super) mod by_reference {
    use jsonschema::json::{Json, SerdeJson};
    use jsonschema::{Draft, Registry, Validator, meta};
    use serde_json::{Value as Schema, json};

    use super::super::outline::names_resource;
    use super::EngineOptions;

    /// The URI under which the engine finds the schema.
    const ADDRESS: &str = "urn:callwright:schema";

    /// The draft of the schema that only refers to another.
    const DRAFT: Draft = Draft::Draft4;

    /// Compiles a reference to the schema; `None` if that fails, so that the normal way can say why.
    pub(super) fn build<F: Json>(
        options: EngineOptions<'_, F>,
        schema: &Schema,
    ) -> Option<Validator<F>> {
        let draft = Draft::default().detect(schema);
        // If the schema contains names, relative references depend on the URI.
        let is_plain = draft != Draft::Unknown && !names_resource(schema);
        if !is_plain || !meta::is_valid_for::<SerdeJson>(schema).ok()? {
            return None;
        }
        let registry = Registry::new().draft(draft).add(ADDRESS, schema).ok()?;
        let registry = registry.prepare().ok()?;
        let options = options.with_draft(DRAFT).with_registry(&registry);
        options.build(&json!({"$ref": ADDRESS})).ok()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::options;
    use super::by_reference;

    /// A reference to a schema means the same as the schema in its own draft, and reports objections in the same words.
    #[test]
    fn a_reference_means_the_schema() {
        let cases = [
            (
                json!({"prefixItems": [{"type": "integer"}], "items": false}),
                json!([1, 2]),
            ),
            (
                json!({"$schema": "http://json-schema.org/draft-07/schema#", "items": [{"type": "integer"}]}),
                json!(["x", 2]),
            ),
            (
                json!({"$schema": "http://json-schema.org/draft-07/schema#", "definitions": {"a": {"const": 1}}, "$ref": "#/definitions/a", "type": "string"}),
                json!(1),
            ),
            (
                json!({"$schema": "http://json-schema.org/draft-04/schema#", "minimum": 3, "exclusiveMinimum": true}),
                json!(3),
            ),
            (
                json!({"$defs": {"n": {"$anchor": "n", "enum": ["a"]}}, "properties": {"x": {"$ref": "#n"}, "y": {"$ref": "#"}}}),
                json!({"y": {"x": 1}}),
            ),
            (
                json!({"$dynamicAnchor": "node", "properties": {"next": {"$dynamicRef": "#node"}}, "required": ["v"]}),
                json!({"v": 1, "next": {}}),
            ),
            (
                json!({"dependentRequired": {"a": ["b"]}, "unevaluatedProperties": false, "properties": {"a": {"format": "uuid"}}}),
                json!({"a": "x", "c": 1}),
            ),
            (
                json!({"anyOf": [{"type": "object", "required": ["a"]}, {"type": "null"}]}),
                json!({}),
            ),
        ];
        for (schema, value) in cases {
            let text = value.to_string();
            let value = crate::json::read_value(&text).expect("JSON");
            let told = |validator: &jsonschema::Validator<super::super::ValueTree>| {
                let errors = validator.iter_errors(&value);
                errors
                    .map(|error| {
                        format!("{} {} {error}", error.instance_path(), error.schema_path())
                    })
                    .collect::<Vec<_>>()
            };
            let usual = options(&schema).build(&schema).expect("a schema");
            let referred = by_reference::build(options(&schema), &schema).expect("a schema");
            assert_eq!(told(&referred), told(&usual), "{schema}");
            assert_eq!(
                referred.is_valid(&value),
                usual.is_valid(&value),
                "{schema}"
            );
        }
        for refused in [
            json!({"type": 3}),
            json!({"properties": {"x": {"$id": "b", "type": "integer"}}}),
            json!({"$ref": "#/nowhere"}),
            json!(5),
            json!({"$schema": "urn:own"}),
        ] {
            assert!(
                by_reference::build(options(&refused), &refused).is_none(),
                "{refused}"
            );
        }
    }
}
