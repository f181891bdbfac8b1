//! MCP's own headers.
//!
//! Since 2026-07-28 some of them repeat parts of the message: its method, its tool, and the arguments that the tool's
//! schema marks with `x-mcp-header`. A server refuses a message that disagrees with them. They are written here for a
//! client on stdio, and corrected for a repaired call. A client's other headers are never changed: if they disagree
//! with its message, it is for the server to say so.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::Arc;

use data_encoding::BASE64;
use hyper::HeaderMap;
use hyper::header::{ACCEPT, CONTENT_TYPE, HeaderName, HeaderValue};
use serde_json::Value;
use serde_json::value::RawValue;

use crate::members::{members, string};
use crate::message::Message;

pub(super) const SESSION: HeaderName = HeaderName::from_static("mcp-session-id");
/// The event after which a stream is resumed.
pub(super) const LAST_EVENT: HeaderName = HeaderName::from_static("last-event-id");
pub(super) const VERSION: HeaderName = HeaderName::from_static("mcp-protocol-version");
const METHOD: HeaderName = HeaderName::from_static("mcp-method");
/// The tool, prompt or resource of the message.
const NAME: HeaderName = HeaderName::from_static("mcp-name");
/// The prefix of headers that repeat an argument.
const PARAMETER: &str = "mcp-param-";

pub(super) const OF_MESSAGES: [(HeaderName, HeaderValue); 2] = [
    (CONTENT_TYPE, HeaderValue::from_static("application/json")),
    (
        ACCEPT,
        HeaderValue::from_static("application/json, text/event-stream"),
    ),
];

/// Headers for the guard's own request for the tools, based on those of the call that waits for it.
pub(super) fn for_tools_list(headers: &HeaderMap) -> HeaderMap {
    let is_of_call = |name: &HeaderName| {
        *name == LAST_EVENT || *name == NAME || name.as_str().starts_with(PARAMETER)
    };
    let kept = headers.iter().filter(|(name, _)| !is_of_call(name));
    let mut headers: HeaderMap = kept
        .map(|(name, value)| (name.clone(), value.clone()))
        .collect();
    for (name, value) in OF_MESSAGES {
        headers.insert(name, value);
    }
    if headers.contains_key(METHOD) {
        headers.insert(METHOD, HeaderValue::from_static("tools/list"));
    }
    headers
}

/// The parts of a request that headers repeat.
struct Repeated<'m> {
    protocol: Option<Cow<'m, str>>,
    method: Cow<'m, str>,
    name: Option<Cow<'m, str>>,
    arguments: Option<&'m RawValue>,
}

impl<'m> Repeated<'m> {
    fn of(message: &'m [u8]) -> Option<Self> {
        let Message::Request { method, params, .. } = Message::read(message) else {
            return None;
        };
        let [name, uri, arguments, meta] =
            members(params?.get(), ["name", "uri", "arguments", "_meta"]).ok()?;
        let meta = meta
            .and_then(|meta| members(meta.get(), ["io.modelcontextprotocol/protocolVersion"]).ok());
        let name = match method.as_ref() {
            "tools/call" | "prompts/get" => name,
            "resources/read" => uri,
            _ => None,
        };
        Some(Repeated {
            protocol: meta.and_then(|[protocol]| string(protocol?)),
            method,
            name: name.and_then(string),
            arguments,
        })
    }
}

/// Writes the headers of a message that came without any, if its protocol requires them. `schema` looks up the input
/// schemas of tools.
pub(super) fn mirror(
    headers: &mut HeaderMap,
    message: &[u8],
    schema: impl FnOnce(&str) -> Option<Arc<Value>>,
) {
    if let Some(message) = Repeated::of(message)
        && let Some(protocol) = &message.protocol
    {
        set(headers, VERSION, protocol);
        set(headers, METHOD, &message.method);
        set_name_and_arguments(headers, &message, schema);
    }
}

/// Corrects the headers of a repaired call, if it came with such headers.
pub(super) fn mirror_repaired(
    headers: &mut HeaderMap,
    message: &[u8],
    schema: impl FnOnce(&str) -> Option<Arc<Value>>,
) {
    if headers.contains_key(NAME)
        && let Some(message) = Repeated::of(message)
    {
        set_name_and_arguments(headers, &message, schema);
    }
}

fn set_name_and_arguments(
    headers: &mut HeaderMap,
    message: &Repeated<'_>,
    schema: impl FnOnce(&str) -> Option<Arc<Value>>,
) {
    let Some(name) = &message.name else { return };
    set(headers, NAME, name);
    let Some(schema) = schema(name).filter(|_| message.method == "tools/call") else {
        return;
    };
    for (path, header) in marked(&schema) {
        let value = message.arguments.and_then(|all| scalar(all, &path));
        match value {
            Some(value) => set(headers, header, &value),
            // A missing argument has no header either.
            None => drop(headers.remove(header)),
        }
    }
}

type Marked<'s> = (Vec<&'s str>, HeaderName);

/// The arguments that a schema marks; none if a mark is invalid, since servers then ignore all of them.
fn marked(schema: &Value) -> Vec<Marked<'_>> {
    let mut found = Vec::new();
    let are_valid = collect_marked(schema, &mut Vec::new(), &mut found);
    are_valid.map_or(Vec::new(), |()| found)
}

fn collect_marked<'s>(
    schema: &'s Value,
    path: &mut Vec<&'s str>,
    found: &mut Vec<Marked<'s>>,
) -> Option<()> {
    let properties = schema.get("properties").and_then(Value::as_object);
    for (key, property) in properties.into_iter().flatten() {
        path.push(key);
        if let Some(mark) = property.get("x-mcp-header") {
            let header = marked_header(property, mark)?;
            if found.iter().any(|(_, other)| *other == header) {
                return None;
            }
            found.push((path.clone(), header));
        }
        collect_marked(property, path, found)?;
        path.pop();
    }
    Some(())
}

fn marked_header(property: &Value, mark: &Value) -> Option<HeaderName> {
    let kind = property.get("type")?.as_str()?;
    let mark = mark.as_str().filter(|mark| !mark.is_empty())?;
    matches!(kind, "string" | "integer" | "boolean").then_some(())?;
    HeaderName::try_from(format!("{PARAMETER}{mark}")).ok()
}

/// The text of the value at a path; `None` if it is absent, `null`, an array or an object.
fn scalar(arguments: &RawValue, path: &[&str]) -> Option<String> {
    let mut at = arguments;
    for key in path {
        let members: HashMap<String, &RawValue> = serde_json::from_str(at.get()).ok()?;
        at = members.get(*key)?;
    }
    match at.get().as_bytes().first()? {
        b'"' => serde_json::from_str(at.get()).ok(),
        b'{' | b'[' | b'n' => None,
        // Numbers and booleans, as written.
        _ => Some(at.get().to_owned()),
    }
}

fn set(headers: &mut HeaderMap, name: HeaderName, value: &str) {
    if let Ok(value) = HeaderValue::from_str(&encoded(value)) {
        headers.insert(name, value);
    }
}

/// A header value: as it is, or as base64 if it would not arrive unchanged.
fn encoded(value: &str) -> String {
    let is_plain = value.bytes().all(|byte| (b' '..=b'~').contains(&byte))
        && value.trim() == value
        && !(value.starts_with("=?base64?") && value.ends_with("?="));
    if is_plain {
        return value.to_owned();
    }
    format!("=?base64?{}?=", BASE64.encode(value.as_bytes()))
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
        mirror(&mut headers, &call(arguments), |_| Some(Arc::new(schema)));
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
    fn the_request_for_the_tools_has_its_own_headers() {
        let sent = [
            ("mcp-method", "tools/call"),
            ("mcp-name", "Add"),
            ("mcp-param-a", "1"),
            ("x-own", "2"),
        ];
        let sent = sent.map(|(name, value)| {
            let name = HeaderName::from_static(name);
            (name, HeaderValue::from_static(value))
        });
        let list = for_tools_list(&sent.into_iter().collect());
        assert_eq!(list[METHOD], "tools/list");
        assert_eq!(list["x-own"], "2");
        assert!(!list.contains_key(NAME) && !list.contains_key("mcp-param-a"));
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
    fn values_that_headers_cannot_carry_are_encoded() {
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
    fn only_repaired_calls_that_came_with_headers_get_new_ones() {
        let message =
            br#"{"id":1,"method":"tools/call","params":{"name":"add","arguments":{"region":"x"}}}"#;
        let mut headers = HeaderMap::new();
        mirror_repaired(&mut headers, message, |_| Some(Arc::new(schema())));
        assert!(headers.is_empty());
        headers.insert(NAME, HeaderValue::from_static("Add"));
        headers.insert("mcp-param-depth", HeaderValue::from_static("1"));
        mirror_repaired(&mut headers, message, |name| {
            assert_eq!(name, "add");
            Some(Arc::new(schema()))
        });
        assert_eq!(headers[NAME], "add");
        assert_eq!(headers["mcp-param-region"], "x");
        assert!(!headers.contains_key("mcp-param-depth"));
    }
}
