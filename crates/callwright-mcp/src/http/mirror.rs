//! Headers that repeat what a message says, as protocols since 2026-07-28 want it: its method, its tool, and the arguments
//! that the tool's schema marks with `x-mcp-header`. A server refuses a message that they do not agree with.
//!
//! In come headers and a message, out go headers that tell of it. What a client wrote stays as it is unless its message
//! was repaired: if they disagree, the server is to say so.

use std::collections::HashMap;
use std::sync::Arc;

use hyper::HeaderMap;
use hyper::header::{HeaderName, HeaderValue};
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use super::headers::{METHOD, NAME, PARAMETER, VERSION};
use crate::message::Message;

#[derive(Deserialize)]
struct Params<'m> {
    name: Option<String>,
    uri: Option<String>,
    #[serde(borrow)]
    arguments: Option<&'m RawValue>,
    #[serde(rename = "_meta", default)]
    meta: Meta,
}

#[derive(Deserialize, Default)]
struct Meta {
    #[serde(rename = "io.modelcontextprotocol/protocolVersion")]
    protocol: Option<String>,
}

/// The headers of a message that comes without any, if its protocol wants some. `schema` knows how a tool declares its
/// arguments.
pub(crate) fn tell(
    headers: &mut HeaderMap,
    message: &[u8],
    schema: impl FnOnce(&str) -> Option<Arc<Value>>,
) {
    let Message::Request {
        method,
        params: Some(params),
        ..
    } = Message::read(message)
    else {
        return;
    };
    let Ok(params) = serde_json::from_str::<Params<'_>>(params.get()) else {
        return;
    };
    let Some(protocol) = &params.meta.protocol else {
        return;
    };
    let name = match method.as_ref() {
        "tools/call" | "prompts/get" => params.name.as_deref(),
        "resources/read" => params.uri.as_deref(),
        _ => None,
    };
    set(headers, VERSION, protocol);
    set(headers, METHOD, &method);
    if let Some(name) = name {
        set(headers, NAME, name);
    }
    if method == "tools/call" {
        repeat_arguments(headers, &params, schema);
    }
}

/// The headers of a call that was repaired, if it came with such.
pub(crate) fn repaired(
    headers: &mut HeaderMap,
    message: &[u8],
    schema: impl FnOnce(&str) -> Option<Arc<Value>>,
) {
    if !headers.contains_key(NAME) {
        return;
    }
    if let Message::Request {
        params: Some(params),
        ..
    } = Message::read(message)
        && let Ok(params) = serde_json::from_str::<Params<'_>>(params.get())
        && let Some(name) = &params.name
    {
        set(headers, NAME, name);
        repeat_arguments(headers, &params, schema);
    }
}

/// An argument that is not there has no header either.
fn repeat_arguments(
    headers: &mut HeaderMap,
    params: &Params<'_>,
    schema: impl FnOnce(&str) -> Option<Arc<Value>>,
) {
    let Some(schema) = params.name.as_deref().and_then(schema) else {
        return;
    };
    for (path, header) in marked(&schema) {
        let value = params.arguments.and_then(|all| scalar(all, &path));
        match value {
            Some(value) => set(headers, header, &value),
            None => drop(headers.remove(header)),
        }
    }
}

/// A way from the arguments down to one of them, and its header.
type Marked<'s> = (Vec<&'s str>, HeaderName);

/// The arguments that a schema marks. None, if a mark is not as it should be: then servers look at none of them.
fn marked(schema: &Value) -> Vec<Marked<'_>> {
    let mut found = Vec::new();
    if walk(schema, &mut Vec::new(), &mut found) {
        found
    } else {
        Vec::new()
    }
}

fn walk<'s>(schema: &'s Value, path: &mut Vec<&'s str>, found: &mut Vec<Marked<'s>>) -> bool {
    let Some(properties) = schema.get("properties").and_then(Value::as_object) else {
        return true;
    };
    properties.iter().all(|(key, property)| {
        path.push(key);
        let is_fine = match property.get("x-mcp-header") {
            None => true,
            Some(mark) => mark_of(property, mark).is_some_and(|header| {
                let is_new = found.iter().all(|(_, other)| *other != header);
                found.push((path.clone(), header));
                is_new
            }),
        };
        let is_fine = is_fine && walk(property, path, found);
        path.pop();
        is_fine
    })
}

fn mark_of(property: &Value, mark: &Value) -> Option<HeaderName> {
    let kind = property.get("type")?.as_str()?;
    let mark = mark.as_str().filter(|mark| !mark.is_empty())?;
    matches!(kind, "string" | "integer" | "boolean").then_some(())?;
    HeaderName::try_from(format!("{PARAMETER}{mark}")).ok()
}

/// The text of the value at a path; `None` for `null`, lists and objects, and where nothing is.
fn scalar(arguments: &RawValue, path: &[&str]) -> Option<String> {
    let mut at = arguments;
    for key in path {
        let members: HashMap<String, &RawValue> = serde_json::from_str(at.get()).ok()?;
        at = members.get(*key)?;
    }
    match at.get().as_bytes().first()? {
        b'"' => serde_json::from_str(at.get()).ok(),
        b'{' | b'[' | b'n' => None,
        // Numbers and truth values are written as they are.
        _ => Some(at.get().to_owned()),
    }
}

fn set(headers: &mut HeaderMap, name: HeaderName, value: &str) {
    if let Ok(value) = HeaderValue::from_str(&encoded(value)) {
        headers.insert(name, value);
    }
}

/// A value as a header carries it. What would not arrive as it is travels as base64.
fn encoded(value: &str) -> String {
    let is_plain = value.bytes().all(|byte| (b' '..=b'~').contains(&byte))
        && value.trim() == value
        && !(value.starts_with("=?base64?") && value.ends_with("?="));
    if is_plain {
        return value.to_owned();
    }
    format!("=?base64?{}?=", base64(value.as_bytes()))
}

const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

fn base64(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for three in bytes.chunks(3) {
        let byte = |at: usize| u32::from(three.get(at).copied().unwrap_or(0));
        let bits = byte(0) << 16 | byte(1) << 8 | byte(2);
        for (at, shift) in [18, 12, 6, 0].into_iter().enumerate() {
            // Each letter is six of the 24 bits; one more than there are bytes has any.
            let letter = (bits >> shift) & 63;
            text.push(if at > three.len() {
                '='
            } else {
                char::from(LETTERS[letter as usize])
            });
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn call(arguments: &Value) -> Vec<u8> {
        let meta = json!({"io.modelcontextprotocol/protocolVersion": "2026-07-28"});
        let params = json!({"name": "Söka", "arguments": arguments, "_meta": meta});
        json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params})
            .to_string()
            .into_bytes()
    }

    fn schema() -> Value {
        json!({"type": "object", "properties": {
            "region": {"type": "string", "x-mcp-header": "Region"},
            "in": {"type": "object", "properties": {
                "depth": {"type": "integer", "x-mcp-header": "Depth"},
            }},
            "sure": {"type": "boolean", "x-mcp-header": "Sure"},
            "query": {"type": "string"},
        }})
    }

    fn told(arguments: &Value, schema: Value) -> Vec<(String, String)> {
        let mut headers = HeaderMap::new();
        headers.insert("mcp-param-sure", HeaderValue::from_static("true"));
        tell(&mut headers, &call(arguments), |_| Some(Arc::new(schema)));
        let mut told: Vec<(String, String)> = headers
            .iter()
            .map(|(name, value)| {
                let value = value.to_str().expect("a text");
                (name.as_str().to_owned(), value.to_owned())
            })
            .collect();
        told.sort();
        told
    }

    fn pairs(pairs: &[(&str, &str)]) -> Vec<(String, String)> {
        pairs
            .iter()
            .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
            .collect()
    }

    #[test]
    fn marked_arguments_are_repeated() {
        let arguments =
            json!({"region": "us west", "in": {"depth": 42}, "sure": null, "query": "x"});
        assert_eq!(
            told(&arguments, schema()),
            pairs(&[
                ("mcp-method", "tools/call"),
                ("mcp-name", "=?base64?U8O2a2E=?="),
                ("mcp-param-depth", "42"),
                ("mcp-param-region", "us west"),
                ("mcp-protocol-version", "2026-07-28"),
            ])
        );
    }

    #[test]
    fn a_schema_with_a_bad_mark_marks_nothing() {
        for (at, bad) in [
            ("region", json!({"type": "string", "x-mcp-header": "SURE"})),
            ("region", json!({"type": "string", "x-mcp-header": "a b"})),
            ("region", json!({"type": "string", "x-mcp-header": ""})),
            ("query", json!({"type": "number", "x-mcp-header": "Query"})),
        ] {
            let mut schema = schema();
            schema["properties"][at] = bad;
            let told = told(&json!({"region": "x", "sure": false}), schema);
            assert!(
                told.contains(&("mcp-param-sure".to_owned(), "true".to_owned())),
                "{told:?}"
            );
            assert_eq!(told.len(), 4, "{told:?}");
        }
    }

    #[test]
    fn what_would_not_arrive_is_encoded() {
        for (value, header) in [
            ("", ""),
            ("us west 1", "us west 1"),
            (" padded ", "=?base64?IHBhZGRlZCA=?="),
            ("line1\nline2", "=?base64?bGluZTEKbGluZTI=?="),
            ("Hello, 世界", "=?base64?SGVsbG8sIOS4lueVjA==?="),
            ("=?base64?eA==?=", "=?base64?PT9iYXNlNjQ/ZUE9PT89?="),
        ] {
            assert_eq!(encoded(value), header);
        }
    }

    #[test]
    fn only_calls_with_headers_get_others_when_they_are_repaired() {
        let message =
            br#"{"id":1,"method":"tools/call","params":{"name":"add","arguments":{"region":"x"}}}"#;
        let mut headers = HeaderMap::new();
        repaired(&mut headers, message, |_| Some(Arc::new(schema())));
        assert!(headers.is_empty());
        headers.insert(NAME, HeaderValue::from_static("Add"));
        headers.insert("mcp-param-depth", HeaderValue::from_static("1"));
        repaired(&mut headers, message, |name| {
            assert_eq!(name, "add");
            Some(Arc::new(schema()))
        });
        assert_eq!(headers[NAME], "add");
        assert_eq!(headers["mcp-param-region"], "x");
        assert!(!headers.contains_key("mcp-param-depth"));
    }
}
