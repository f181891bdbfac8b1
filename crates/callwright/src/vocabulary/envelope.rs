//! A call as JSON: the name of a tool and its arguments, under the keys that models give them.
//!
//! Takes a value and returns both, if it contains nothing else: another key could matter, and would be silently dropped. Which
//! tool is meant, and whether the arguments fit, is decided elsewhere. Repair and rescue read the same forms.

use std::borrow::Cow;

use super::json::{Value, has_duplicate, read_value};
use super::macros::word_list;
use super::nearest::FoldedName;

/// The keys under which models name a tool.
pub(crate) const NAMES: &[&str] = word_list![
    name tool tool_name toolName function_name functionName function tool_call action recipient_name
];

/// The keys under which models send its arguments.
pub(crate) const ARGUMENTS: &[&str] = word_list![
    arguments parameters params args input action_input actionInput tool_input toolInput kwargs
];

/// The keys around the two, one level up.
pub(crate) const LAYERS: &[&str] = word_list![
    function tool_call toolCall function_call functionCall tool_use toolUse tool action
];

/// The keys around a list of calls.
pub(crate) const LISTS: &[&str] =
    word_list![tool_calls toolCalls function_calls tool_uses calls actions];

/// Members that may be dropped without loss: the kind of a call; its id, since the answer goes to the message's own; its
/// position among others; the role of the model; and empty members of a message.
const KINDS: &[&str] = word_list![function tool_use tool_call function_call];
/// Every word around arguments that is dropped when they are extracted.
pub(crate) fn words() -> impl Iterator<Item = &'static str> {
    let keys = [NAMES, ARGUMENTS, LAYERS, LISTS, KINDS, SILENT];
    keys.into_iter().flatten().copied().chain(["assistant"])
}

pub(crate) const IDS: &[&str] = word_list![id call_id tool_call_id toolUseId];
const EMPTY: &[&str] = word_list![content refusal text thought];

/// All keys of members that may say nothing.
pub(crate) const SILENT: &[&str] = word_list![
    type id call_id tool_call_id toolUseId content refusal text thought role index
];

/// Whether a member next to a call says nothing about it.
pub(crate) fn says_nothing(key: &str, value: &Value<'_>) -> bool {
    match value {
        Value::String(kind) if key == "type" => KINDS.contains(&kind.as_ref()),
        Value::String(role) if key == "role" => role == "assistant",
        Value::String(_) if IDS.contains(&key) => true,
        Value::Number(_) => key == "index",
        Value::String(text) => EMPTY.contains(&key) && text.is_empty(),
        Value::Null => EMPTY.contains(&key),
        _ => false,
    }
}

/// A call that has not been judged.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Envelope<'t> {
    pub(crate) tool: Cow<'t, str>,
    pub(crate) arguments: Option<Value<'t>>,
    /// The keys of the members around the arguments that were left out, other than nulls.
    left_out: Vec<&'static str>,
}

impl Envelope<'_> {
    /// Whether a member that was left out may be an argument, and the arguments lack it: an `id` or an `index` that the tool
    /// takes, in any spelling.
    pub(crate) fn loses_argument(&self, takes: &dyn Fn(&FoldedName) -> bool) -> bool {
        let of_text = match &self.arguments {
            Some(Value::String(text)) => read_value(text).ok(),
            _ => None,
        };
        let sent = of_text.as_ref().or(self.arguments.as_ref());
        let sent = sent.and_then(Value::as_object).unwrap_or_default();
        let is_sent = |name: &FoldedName| {
            let mut keys = sent.iter().map(|(key, _)| FoldedName::new(key));
            keys.any(|key| key.folded == name.folded)
        };
        let mut left_out = self.left_out.iter().map(|key| FoldedName::new(key));
        left_out.any(|name| takes(&name) && !is_sent(&name))
    }
}

/// Why a value is not an envelope.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NotEnvelope {
    /// Something is missing, or there is something else.
    Other,
    /// It names two tools, or has arguments twice.
    Twice,
}

/// Opens the envelope of one call, or of each call in a list.
pub(crate) fn open_all(value: Value<'_>) -> Result<Vec<Envelope<'_>>, NotEnvelope> {
    match value {
        Value::Array(items) => items.into_iter().map(open).collect(),
        Value::Object(members) if is_list(&members) => {
            let (list, around): (Vec<_>, Vec<_>) =
                members.into_iter().partition(|(key, _)| is_list_key(key));
            let mut calls: Vec<Envelope<'_>> = match list.into_iter().next() {
                Some((_, Value::Array(items))) => {
                    items.into_iter().map(open).collect::<Result<_, _>>()?
                }
                Some((_, one)) => vec![open(one)?],
                None => return Err(NotEnvelope::Other),
            };
            let is_around = |silent: &&str| {
                let mut around = around.iter();
                around.any(|(key, value)| key == silent && *value != Value::Null)
            };
            let left_out = SILENT.iter().copied().filter(is_around);
            let left_out: Vec<&str> = left_out.collect();
            for call in &mut calls {
                call.left_out.extend(&left_out);
            }
            Ok(calls)
        }
        one => Ok(vec![open(one)?]),
    }
}

pub(crate) fn is_list_key(key: &str) -> bool {
    LISTS.contains(&key)
}

/// Whether members are a list of calls, and nothing that says more.
fn is_list(members: &[(Cow<'_, str>, Value<'_>)]) -> bool {
    let is_said = |(key, value): &&(Cow<'_, str>, Value<'_>)| !says_nothing(key, value);
    let mut said = members.iter().filter(is_said);
    let is_calls = matches!(
        said.next(),
        Some((key, Value::Array(_) | Value::Object(_))) if is_list_key(key)
    );
    is_calls && said.next().is_none()
}

/// Opens the envelope of one call.
pub(crate) fn open(value: Value<'_>) -> Result<Envelope<'_>, NotEnvelope> {
    opened(value, true, Vec::new())
}

fn opened<'t>(
    value: Value<'t>,
    is_outer: bool,
    mut left_out: Vec<&'static str>,
) -> Result<Envelope<'t>, NotEnvelope> {
    let Value::Object(members) = value else {
        return Err(NotEnvelope::Other);
    };
    if has_duplicate(&members) {
        return Err(NotEnvelope::Twice);
    }
    let (mut tool, mut arguments, mut inner) = (None, None, None);
    for (key, value) in members {
        let key = key.as_ref();
        let is_twice = match value {
            Value::String(name) if NAMES.contains(&key) => tool.replace(name).is_some(),
            value if ARGUMENTS.contains(&key) => arguments.replace(value).is_some(),
            value @ Value::Object(_) if is_outer && LAYERS.contains(&key) => {
                inner.replace(value).is_some()
            }
            value if says_nothing(key, &value) => {
                if value != Value::Null {
                    left_out.extend(SILENT.iter().copied().find(|silent| *silent == key));
                }
                false
            }
            _ => return Err(NotEnvelope::Other),
        };
        if is_twice {
            return Err(NotEnvelope::Twice);
        }
    }
    match (tool, arguments, inner) {
        (Some(tool), arguments, None) => Ok(Envelope {
            tool,
            arguments,
            left_out,
        }),
        (None, None, Some(inner)) => opened(inner, false, left_out),
        _ => Err(NotEnvelope::Other),
    }
}

#[cfg(test)]
mod tests {
    use super::super::json::read_value;
    use super::*;

    fn read(text: &str) -> Result<(String, String), NotEnvelope> {
        let opened = open(read_value(text).expect("JSON"))?;
        let arguments = opened
            .arguments
            .map_or(String::new(), |value| value.to_string());
        Ok((opened.tool.into_owned(), arguments))
    }

    #[test]
    fn every_pair_of_keys_opens() {
        for name in NAMES {
            for arguments in ARGUMENTS {
                let plain = format!("{{\"{name}\": \"look\", \"{arguments}\": {{\"x\": 1}}}}");
                let call = Ok(("look".to_owned(), "{\"x\":1}".to_owned()));
                assert_eq!(read(&plain), call, "{plain}");
                for layer in LAYERS {
                    let nested = format!("{{\"type\": \"function\", \"{layer}\": {plain}}}");
                    assert_eq!(read(&nested), call, "{nested}");
                }
            }
        }
    }

    #[test]
    fn nothing_is_dropped() {
        for text in [
            r#"{"name": "look", "arguments": {}, "dry_run": true}"#,
            r#"{"name": "look", "query": "x"}"#,
            r#"{"function": {"function": {"name": "look", "arguments": {}}}}"#,
            r#"{"name": 7, "arguments": {}}"#,
            r#"{"arguments": {}}"#,
            r#"{"type": "text", "name": "look", "arguments": {}}"#,
            r#"{"role": "user", "name": "look", "arguments": {}}"#,
            r#"{"content": "Not yet.", "name": "look", "arguments": {}}"#,
            r#"{"index": "first", "name": "look", "arguments": {}}"#,
            r#"["look", {}]"#,
        ] {
            assert_eq!(read(text), Err(NotEnvelope::Other), "{text}");
        }
        for text in [
            r#"{"name": "look", "tool": "drop", "arguments": {}}"#,
            r#"{"name": "look", "arguments": {}, "parameters": {}}"#,
            r#"{"name": "look", "name": "drop", "arguments": {}}"#,
        ] {
            assert_eq!(read(text), Err(NotEnvelope::Twice), "{text}");
        }
    }
}
