//! A Rust type → the JSON Schema that a model reads.
//!
//! Takes a type with `schemars`' derive; returns its schema with everything inlined (only recursive types keep references),
//! without generator noise, and with the exact limits of its number types. Doc comments become descriptions; that of the type
//! itself describes the tool. This file decides which types may be the arguments of a tool; [`tidy`] makes the schema readable.

mod numbers;
mod tidy;

use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, Schema as Generated};
use serde_json::{Map, Value as Schema, json};

pub(super) use self::numbers::is_limit_of_a_type;
use crate::error::{Error, ErrorKind};

/// The members of a schema.
pub(super) type SchemaMembers = Map<String, Schema>;

/// What a type declares about a tool.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct DerivedSchema {
    /// The JSON Schema of its values.
    pub(crate) schema: Schema,
    /// The doc comment of the type: the description of the tool, unless another one is set.
    pub(crate) description: Option<String>,
}

/// The JSON Schema of a type used as a tool's arguments, as a model sees it.
///
/// # Errors
/// Returns an error unless every value of the type is an object, which is what a call carries. (`()` means "no parameters".)
pub fn input_schema<A: JsonSchema>() -> Result<Schema, Error> {
    derive_input::<A>().map(|derived| derived.schema)
}

/// The JSON Schema of a type as serialised: the output of a tool.
pub fn output_schema<O: JsonSchema>() -> Schema {
    generate::<O>(SchemaSettings::draft2020_12().for_serialize()).into()
}

/// The schema of a tool's arguments, and the doc comment of their type.
pub(crate) fn derive_input<A: JsonSchema>() -> Result<DerivedSchema, Error> {
    let mut generated = generate::<A>(SchemaSettings::draft2020_12());
    let description = match generated.remove("description") {
        Some(Schema::String(text)) => Some(text),
        _ => None,
    };
    let schema = as_arguments(generated.into()).map_err(|found| {
        Error::from(ErrorKind::ArgumentsNotAnObject {
            name: A::schema_name().into_owned(),
            found,
        })
    })?;
    Ok(DerivedSchema {
        schema,
        description,
    })
}

fn generate<T: JsonSchema>(settings: SchemaSettings) -> Generated {
    let settings = settings.with(|settings| {
        settings.meta_schema = None;
        settings.inline_subschemas = true;
    });
    let mut generated = settings.into_generator().into_root_schema_for::<T>();
    let names_the_type = generated
        .get("title")
        .is_some_and(|title| *title == *T::schema_name());
    if names_the_type {
        generated.remove("title");
    }
    tidy::tidy(&mut generated);
    generated
}

/// The schema for use as arguments, which are always an object; otherwise the type of its values.
fn as_arguments(schema: Schema) -> Result<Schema, String> {
    let Schema::Object(mut members) = schema else {
        return Err("any JSON".to_owned());
    };
    match members.get("type") {
        Some(Schema::String(kind)) if kind == "object" => {}
        Some(Schema::String(kind)) if kind == "null" => {
            return Ok(json!({"type": "object", "properties": {}}));
        }
        Some(Schema::String(kind)) => return Err(format!("{} {kind}", article(kind))),
        Some(Schema::Array(kinds)) => {
            let kinds: Vec<&str> = kinds.iter().filter_map(Schema::as_str).collect();
            return Err(kinds.join(" or "));
        }
        _ if only_objects(&members) => {
            members.insert("type".to_owned(), "object".into());
        }
        _ => {
            let annotations = ["title", "description", "default", "examples"];
            let says_nothing = members
                .keys()
                .all(|key| annotations.contains(&key.as_str()));
            let found = if says_nothing {
                "any JSON"
            } else {
                "not always an object"
            };
            return Err(found.to_owned());
        }
    }
    // Some providers reject an object without a list of properties.
    members
        .entry("properties")
        .or_insert_with(|| Map::new().into());
    Ok(members.into())
}

fn article(kind: &str) -> &'static str {
    if kind.starts_with(['a', 'e', 'i', 'o', 'u']) {
        "an"
    } else {
        "a"
    }
}

/// Whether every branch of a union, such as a tagged enum, is an object.
fn only_objects(members: &Map<String, Schema>) -> bool {
    let branches = members.get("oneOf").or_else(|| members.get("anyOf"));
    branches.and_then(Schema::as_array).is_some_and(|branches| {
        let is_object = |branch: &Schema| match branch.get("type") {
            Some(kind) => kind == "object",
            None => branch.as_object().is_some_and(only_objects),
        };
        !branches.is_empty() && branches.iter().all(is_object)
    })
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;

    use super::*;
    use crate::json::{read_value, to_arguments};

    /// Greets somebody.
    ///
    /// Once.
    #[derive(Deserialize, JsonSchema)]
    #[allow(dead_code, reason = "only read")]
    struct Greeting {
        name: String,
    }

    #[derive(Deserialize, JsonSchema)]
    struct Nothing;

    #[test]
    fn the_comment_of_the_type_describes_the_tool() {
        let derived = derive_input::<Greeting>().expect("an object");
        assert_eq!(
            derived.description.as_deref(),
            Some("Greets somebody.\n\nOnce.")
        );
        assert_eq!(derived.schema.get("description"), None);
        assert_eq!(derive_input::<()>().expect("nothing").description, None);
    }

    #[test]
    fn a_type_without_content_takes_an_object() {
        for text in ["{}", r#"{"unknown":1}"#] {
            let arguments = read_value(text).expect("JSON");
            assert_eq!(to_arguments::<()>(&arguments), Ok(()));
            assert!(to_arguments::<Nothing>(&arguments).is_ok());
            // Accepted only as the whole arguments.
            assert!(to_arguments::<(u8, ())>(&arguments).is_err());
        }
        let inside = read_value("[{}]").expect("JSON");
        assert!(to_arguments::<Vec<()>>(&inside).is_err());
    }
}
