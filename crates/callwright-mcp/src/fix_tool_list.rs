//! Corrects tool lists that clients cannot read.
//!
//! A single malformed schema makes some clients reject every request. Takes the answer to a `tools/list`; returns the
//! same answer with such schemas corrected and everything else byte for byte. Never corrects anything that has more
//! than one reading.

use std::borrow::Cow;

use callwright::internal::{Replacements, appended, span_in};
use callwright::tool::normalise;
use serde_json::value::RawValue;
use serde_json::{Map, Value as Schema, json};

use crate::members::{member, members, string};
use crate::message::not_null;

/// A corrected list, and which tools needed it.
#[derive(Debug)]
pub(crate) struct FixedToolList {
    /// The names of the tools with malformed schemas, in list order. A schema without `properties` is well formed,
    /// though some clients require them.
    pub(crate) tools: Vec<String>,
    pub(crate) message: Vec<u8>,
}

/// Corrects the list in a message; `None` if there is nothing to correct.
pub(crate) fn fix_tool_list(message: &[u8], result: &RawValue) -> Option<FixedToolList> {
    let list: Vec<&RawValue> = serde_json::from_str(member(Some(result), "tools")?.get()).ok()?;
    let mut tools = Vec::new();
    let mut changes = Vec::new();
    for tool in list {
        let Ok([Some(name), input, output]) =
            members(tool.get(), ["name", "inputSchema", "outputSchema"])
        else {
            continue;
        };
        let mut is_faulty = true;
        let before = changes.len();
        if output.is_some() && not_null(output).is_none() {
            // `null` means nothing, so leaving the member out means the same.
            let whole = span_in(message, tool.get());
            changes.extend(without_output(tool.get()).map(|text| (whole, text)));
        } else {
            match (input, input.and_then(fixed_input)) {
                (Some(input), Some((schema, is_well_formed))) => {
                    is_faulty = !is_well_formed;
                    changes.push((span_in(message, input.get()), schema.to_string()));
                }
                (None, _) => {
                    let schema = format!("\"inputSchema\":{}", no_arguments());
                    changes.push(appended(message, tool.get(), &schema));
                }
                (Some(_), None) => {}
            }
            if let Some(output) = output
                && let Some(schema) = fixed_output(output)
            {
                is_faulty = true;
                changes.push((span_in(message, output.get()), schema.to_string()));
            }
        }
        if is_faulty && changes.len() > before {
            tools.extend(string(name).map(Cow::into_owned));
        }
    }
    (!changes.is_empty()).then(|| FixedToolList {
        tools,
        message: Replacements::from_iter(changes).in_bytes(message),
    })
}

fn no_arguments() -> Schema {
    json!({"type": "object", "properties": {}})
}

/// The corrected input schema, and whether it was well formed anyway.
fn fixed_input(declared: &RawValue) -> Option<(Schema, bool)> {
    let declared: Schema = serde_json::from_str(declared.get()).ok()?;
    let mut root = match normalise(&declared).into_owned() {
        Schema::Object(root) => root,
        Schema::Null | Schema::Bool(true) => Map::new(),
        _ => return None,
    };
    // Arguments are always an object, whatever else the schema says.
    let accepts_objects = match root.get("type") {
        None => true,
        Some(Schema::Array(names)) => names.contains(&json!("object")),
        Some(name) => name == "object",
    };
    if !accepts_objects {
        return None;
    }
    if root.get("type") != Some(&json!("object")) {
        root.remove("type");
        root.shift_insert(0, "type".to_owned(), json!("object"));
    }
    let is_well_formed = declared.as_object() == Some(&root);
    if !root.contains_key("properties") {
        root.insert("properties".to_owned(), json!({}));
    }
    let fixed = Schema::Object(root);
    (fixed != declared).then_some((fixed, is_well_formed))
}

/// Results may be anything, so nothing is added here.
fn fixed_output(declared: &RawValue) -> Option<Schema> {
    let declared: Schema = serde_json::from_str(declared.get()).ok()?;
    let fixed = normalise(&declared);
    (*fixed != declared).then(|| fixed.into_owned())
}

fn without_output(tool: &str) -> Option<String> {
    let mut members: Map<String, Schema> = serde_json::from_str(tool).ok()?;
    members.shift_remove("outputSchema");
    let input = members.get("inputSchema").unwrap_or(&Schema::Null);
    let input = RawValue::from_string(input.to_string()).ok()?;
    if let Some((schema, _)) = fixed_input(&input) {
        members.insert("inputSchema".to_owned(), schema);
    }
    Some(Schema::Object(members).to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::message::Message;

    /// The list with this single tool, corrected.
    fn fix(tool: &str) -> Option<String> {
        let message = format!(r#"{{"id": 1, "result":{{"tools":[ {tool} ],"x":[ ]}}}}"#);
        let Message::Response { result, .. } = Message::read(message.as_bytes()) else {
            panic!("an answer")
        };
        let fixed = fix_tool_list(message.as_bytes(), result.expect("a result"))?;
        let text = String::from_utf8(fixed.message).expect("text");
        let (before, after) = (r#"{"id": 1, "result":{"tools":[ "#, r#" ],"x":[ ]}}"#);
        let text = text
            .strip_prefix(before)
            .and_then(|text| text.strip_suffix(after));
        Some(text.expect("nothing else changes").to_owned())
    }

    #[track_caller]
    fn becomes(declared: &str, expected: &str) {
        let tool = |schema: &str| format!(r#"{{"name":"t", "inputSchema": {schema} ,"y":1.0}}"#);
        assert_eq!(fix(&tool(declared)), Some(tool(expected)));
        assert_eq!(fix(&tool(expected)), None, "once is enough");
    }

    #[test]
    fn well_formed_lists_are_unchanged() {
        for schema in [
            r#"{"type":"object","properties":{}}"#,
            r#"{ "properties" : {"a":{"type":["string","null"]}},"type":"object", "required":["a"]}"#,
            // The meaning of these is unknown.
            r#"{"type":"string"}"#,
            r#"{"type":"wibble"}"#,
            "false",
            "7",
        ] {
            let tool = format!(
                r#"{{"name":"t","inputSchema":{schema},"outputSchema":{{"type":"object"}}}}"#
            );
            assert_eq!(fix(&tool), None, "{schema}");
        }
    }

    #[test]
    fn schemas_that_clients_reject_are_corrected() {
        becomes("null", r#"{"type":"object","properties":{}}"#);
        becomes("{}", r#"{"type":"object","properties":{}}"#);
        becomes(
            r#"{"properties":{"a":{"type":"any"}}}"#,
            r#"{"type":"object","properties":{"a":{}}}"#,
        );
        becomes(
            r#"{"type":"object","properties":[]}"#,
            r#"{"type":"object","properties":{}}"#,
        );
        becomes(
            r#"{"type":["object","null"],"properties":{}}"#,
            r#"{"type":"object","properties":{}}"#,
        );
        becomes(
            r#"{"type":"OBJECT","properties":{"a":{"type":"STRING","required":true},"b":{"type":"integer","nullable":true}}}"#,
            r#"{"type":"object","properties":{"a":{"type":"string"},"b":{"type":["integer","null"]}},"required":["a"]}"#,
        );
    }

    #[test]
    fn missing_schemas() {
        assert_eq!(
            fix(r#"{"name":"t" }"#).as_deref(),
            Some(r#"{"name":"t" ,"inputSchema":{"type":"object","properties":{}}}"#)
        );
        assert_eq!(
            fix(r#"{"name":"t","outputSchema":null,"inputSchema":{"type":"object"},"z":1.50}"#)
                .as_deref(),
            Some(r#"{"name":"t","inputSchema":{"type":"object","properties":{}},"z":1.5}"#)
        );
        assert_eq!(
            fix(r#"{"name":"t","inputSchema":{"type":"object","properties":{}},"outputSchema":{"type":"OBJECT"}}"#)
                .as_deref(),
            Some(r#"{"name":"t","inputSchema":{"type":"object","properties":{}},"outputSchema":{"type":"object"}}"#)
        );
    }
}
