//! Calls with one secret each, in any place and any form. They are made from bytes, so that a property test, a test of
//! the program and a fuzz target can share them.
//!
//! A case is a tool whose schema marks one place, a call with a token there, and damage: another type, another place,
//! another name, text in text, an extra layer, a cut end, words around it, a result that quotes it.
#![allow(
    unreachable_pub,
    clippy::expect_used,
    reason = "a part of three tests, and a test may panic"
)]

use serde_json::{Map, Value, json};

/// A call whose token must never be revealed.
#[derive(Debug, Clone)]
pub struct Case {
    pub tool: Value,
    /// A line as `check` reads it.
    pub line: Value,
    pub token: String,
}

/// Choices made from bytes; once they run out, always the first option.
struct Bytes<'b>(&'b [u8]);

impl Bytes<'_> {
    fn next(&mut self) -> usize {
        let Some((first, rest)) = self.0.split_first() else {
            return 0;
        };
        self.0 = rest;
        usize::from(*first)
    }

    fn below(&mut self, limit: usize) -> usize {
        self.next() % limit
    }

    fn of<'t, T>(&mut self, all: &'t [T]) -> &'t T {
        &all[self.below(all.len())]
    }
}

/// What a text must not contain: the token, or six characters of it.
pub fn leak<'t>(token: &'t str, text: &str) -> Option<&'t str> {
    let text = text.to_ascii_lowercase();
    let pieces = (0..token.len().saturating_sub(5)).map(|at| &token[at..at + 6]);
    pieces
        .into_iter()
        .find(|piece| text.contains(&piece.to_ascii_lowercase()))
}

impl Case {
    /// The case that some bytes describe; `name` is the tool's.
    pub fn new(bytes: &[u8], name: &str) -> Case {
        let seed = bytes.iter().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
            (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
        });
        let mut bytes = Bytes(bytes);
        let is_number = bytes.below(4) == 0;
        let token = token(seed, is_number);
        let key = *bytes.of(&["password", "api_key", "token", "pin_code", "clientSecret"]);
        let marked = marked(&mut bytes, is_number);
        let secret = if is_number && bytes.below(2) == 0 {
            serde_json::from_str(&token).expect("digits")
        } else {
            json!(token)
        };
        let (schema, mut arguments) = place(&mut bytes, key, &marked, &secret);
        for _ in 0..bytes.below(4) {
            arguments = damage(&mut bytes, &arguments, key, &token);
        }
        let mut called = name.to_owned();
        match bytes.below(12) {
            0 => called = format!("{name}({key}={token})"),
            1 => called = format!("other_{name}"),
            2 => called = name.to_uppercase(),
            _ => {}
        }
        let mut tool = json!({"name": name, "inputSchema": schema});
        if bytes.below(2) == 0 {
            tool["annotations"] = json!({"readOnlyHint": true});
        }
        if bytes.below(3) == 0 {
            tool["outputSchema"] = json!({
                "type": "object",
                "properties": {"state": {"enum": ["on", "off"]}, "key": {"type": "string", "writeOnly": true}},
                "required": ["state"],
            });
        }
        let mut line = json!({"tool": called});
        line["arguments"] = match bytes.below(3) {
            0 => arguments,
            1 => json!(arguments.to_string()),
            _ => json!(damaged_text(
                &mut bytes,
                &arguments.to_string(),
                key,
                &token
            )),
        };
        if bytes.below(10) == 0 {
            line["finish_reason"] = json!("length");
        }
        result(&mut bytes, &mut line, &token);
        Case { tool, line, token }
    }
}

fn token(seed: u64, is_number: bool) -> String {
    let mut state = seed | 1;
    let mut next = |from: &[u8]| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        let count = u64::try_from(from.len()).expect("few");
        char::from(from[usize::try_from((state >> 8) % count).expect("few")])
    };
    if is_number {
        let rest: String = (0..14).map(|_| next(b"0123456789")).collect();
        return format!("7{rest}");
    }
    let letters = b"ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz0123456789";
    let rest: String = (0..14).map(|_| next(letters)).collect();
    format!("zQ{rest}")
}

/// A marked schema.
fn marked(bytes: &mut Bytes<'_>, is_number: bool) -> Value {
    let mut schema = if is_number {
        json!({"type": "integer", "writeOnly": true})
    } else {
        json!({"type": "string", "format": "password"})
    };
    match bytes.below(8) {
        0 => schema["minLength"] = json!(40),
        1 => schema["maxLength"] = json!(4),
        2 => schema["pattern"] = json!("^tk_"),
        3 => schema["enum"] = json!(["one", "two"]),
        4 => schema["maximum"] = json!(5),
        _ => {}
    }
    match bytes.below(7) {
        0 => json!({"anyOf": [schema, {"type": "null"}]}),
        1 => json!({"type": "array", "items": schema}),
        2 => {
            json!({"type": "object", "writeOnly": true, "properties": {"seed": {"type": "string"}}})
        }
        3 => json!({"type": "boolean", "writeOnly": true}),
        4 => json!({"oneOf": [schema, {"type": "object", "properties": {"inner": schema}}]}),
        _ => schema,
    }
}

/// A schema that contains the marked one, and arguments with the secret there.
fn place(bytes: &mut Bytes<'_>, key: &str, marked: &Value, secret: &Value) -> (Value, Value) {
    let mut definitions = Map::new();
    let reference = match bytes.below(3) {
        0 => {
            definitions.insert("secret".to_owned(), marked.clone());
            json!({"$ref": "#/$defs/secret"})
        }
        _ => marked.clone(),
    };
    let named = |schema: Value| json!({"type": "object", "properties": {key: schema}});
    let (schema, value) = match bytes.below(7) {
        0 => (
            json!({"auth": named(reference)}),
            json!({"auth": {key: secret}}),
        ),
        1 => (
            json!({"accounts": {"type": "array", "items": named(reference)}}),
            json!({"accounts": [{key: secret}]}),
        ),
        2 => (
            json!({"env": {"type": "object", "additionalProperties": reference}}),
            json!({"env": {"SOME_NAME": secret}}),
        ),
        3 => (
            json!({"headers": {"type": "object", "patternProperties": {"^x-": reference}}}),
            json!({"headers": {"x-auth": secret}}),
        ),
        4 => (
            json!({"login": {"anyOf": [named(reference), {"type": "string", "maxLength": 3}]}}),
            json!({"login": {key: secret}}),
        ),
        _ => (json!({key: reference}), json!({key: secret})),
    };
    let mut properties = json!({
        "user": {"type": "string", "minLength": 2},
        "limit": {"type": "integer", "maximum": 10},
        "mode": {"enum": ["fast", "careful"]},
        "when": {"type": "string", "format": "date"},
        "tags": {"type": "array", "items": {"type": "string"}},
        "options": {"type": "object", "properties": {"deep": {"type": "boolean"}}},
    });
    extend(&mut properties, schema);
    let mut schema = json!({"type": "object", "properties": properties});
    if !definitions.is_empty() {
        schema["$defs"] = Value::Object(definitions);
    }
    if bytes.below(2) == 0 {
        schema["additionalProperties"] = json!(false);
    }
    if bytes.below(2) == 0 {
        schema["required"] = json!(["user", key]);
    }
    let mut arguments = value;
    let plain = [
        json!({"user": "ann"}),
        json!({"user": 5, "limit": "7"}),
        json!({"user": "ann", "limit": 99, "mode": "fst"}),
        json!({"user": "a", "when": "yesterday", "tags": "x"}),
        json!({"usr": "ann", "options": {"deep": "yes"}}),
    ];
    extend(&mut arguments, bytes.of(&plain).clone());
    (schema, arguments)
}

fn extend(object: &mut Value, more: Value) {
    if let (Value::Object(object), Value::Object(more)) = (object, more) {
        object.extend(more);
    }
}

/// Other arguments with the same secret: in another place, in another form or repeated.
fn damage(bytes: &mut Bytes<'_>, arguments: &Value, key: &str, token: &str) -> Value {
    let kind = bytes.below(22);
    let mut changed = arguments.clone();
    match kind {
        // Another form of the secret.
        0 => replace(&mut changed, token, &json!([token])),
        1 => replace(&mut changed, token, &json!({"value": token})),
        2 => replace(&mut changed, token, &json!({token: true})),
        3 => replace(&mut changed, token, &json!(format!("{token} "))),
        4 => replace(&mut changed, token, &json!(json!({key: token}).to_string())),
        5 => replace(&mut changed, token, &json!(token)),
        // Another name.
        6 => rename(&mut changed, key, &key[..key.len() - 1]),
        7 => rename(&mut changed, key, &key.to_uppercase()),
        8 => rename(&mut changed, key, &format!("{}{key}", &key[..1])),
        9 => rename(&mut changed, key, "zzz"),
        10 => rename(&mut changed, key, &format!("user_{key}")),
        // Another place.
        11 => extend(&mut changed, json!({key: token})),
        12 => extend(&mut changed, json!({"options": {key: token}})),
        13 => return json!({"arguments": changed}),
        14 => return json!([changed]),
        15 => return json!({"input": changed.to_string()}),
        16 => return json!(changed.to_string()),
        // Repeated elsewhere.
        17 => extend(
            &mut changed,
            json!({"user": token, "mode": token, key: token}),
        ),
        18 => extend(
            &mut changed,
            json!({"user": [format!("x {token} y")], "when": token, token: 1, key: token}),
        ),
        19 => extend(&mut changed, json!({"name": key, "value": token})),
        20 => extend(&mut changed, json!({token: key})),
        _ => extend(
            &mut changed,
            json!({"tags": format!("{key}={token}"), "when": format!("the {key} is {token}")}),
        ),
    }
    changed
}

/// Puts another value where the token is.
fn replace(value: &mut Value, token: &str, other: &Value) {
    let is_token = match &*value {
        Value::String(text) => text == token,
        Value::Number(number) => number.to_string() == token,
        _ => false,
    };
    if is_token {
        *value = other.clone();
        return;
    }
    match value {
        Value::Array(items) => items.iter_mut().for_each(|it| replace(it, token, other)),
        Value::Object(members) => members
            .values_mut()
            .for_each(|it| replace(it, token, other)),
        _ => {}
    }
}

/// Renames a key, wherever it is.
fn rename(value: &mut Value, from: &str, to: &str) {
    match value {
        Value::Array(items) => items.iter_mut().for_each(|it| rename(it, from, to)),
        Value::Object(members) => {
            let renamed = std::mem::take(members)
                .into_iter()
                .map(|(key, mut member)| {
                    rename(&mut member, from, to);
                    (if key == from { to.to_owned() } else { key }, member)
                });
            *members = renamed.collect();
        }
        _ => {}
    }
}

/// A text of arguments that is barely JSON.
fn damaged_text(bytes: &mut Bytes<'_>, text: &str, key: &str, token: &str) -> String {
    let mut text = text.to_owned();
    for _ in 0..=bytes.below(2) {
        text = match bytes.below(12) {
            0 => text.chars().take(bytes.next()).collect(),
            1 => format!("Sure, the {key} is {token}: {text}"),
            2 => format!("```json\n{text}\n```"),
            3 => text.replacen('}', ",}", 1),
            4 => text.replace('"', "'"),
            5 => text.replacen('}', "", 1),
            6 => text.replacen('"', "", 1),
            7 => text.replacen(token, &format!("{token}\" or \"{token}"), 1),
            8 => format!("{text} {text}"),
            9 => format!("{text}\n{token}"),
            10 => format!("{{{key}: {token}}}"),
            _ => {
                let middle = text.len() / 2;
                let at = (0..=middle).rev().find(|at| text.is_char_boundary(*at));
                let (front, back) = text.split_at(at.unwrap_or(0));
                format!(
                    "{front}{}{back}",
                    bytes.of(&["\"", "{", ",", "\\", ":", "\n"])
                )
            }
        };
    }
    text
}

/// The tool's result, if any.
fn result(bytes: &mut Bytes<'_>, line: &mut Value, token: &str) {
    line["output"] = match bytes.below(9) {
        0 => json!(format!("denied: {token} is not valid")),
        1 => json!({"error": format!("bad credentials {token}")}),
        2 => json!({"state": token, token: token}),
        3 => json!({"state": "on", "key": 5, "said": [token]}),
        4 => json!(format!("{{\"state\": {token}")),
        5 => json!({"content": [{"type": "text", "text": token}], "next_cursor": token}),
        6 => json!([]),
        7 => json!({"state": "on", "key": token, "items": [], "total": 3}),
        _ => return,
    };
    if bytes.below(2) == 0 {
        line["is_error"] = json!(true);
    }
}
