//! A `tools/call` message: where its name and arguments are, and the same message with others.

use std::collections::BTreeMap;

use callwright::Call;
use callwright::call::Arguments;
use callwright::internal::{Replacements, appended, span_in};
use callwright::json::Value;
use callwright::parse::read_value;
use serde_json::json;
use serde_json::value::RawValue;

use crate::members::{member, members};
use crate::message::not_null;

#[derive(Debug, Clone, Copy)]
pub(crate) struct CallParams<'m> {
    name: &'m RawValue,
    arguments: Option<&'m RawValue>,
    pub(crate) meta: Option<&'m RawValue>,
    pub(crate) input_responses: Option<&'m RawValue>,
    pub(crate) request_state: Option<&'m RawValue>,
}

const PARAMS: [&str; 5] = [
    "name",
    "arguments",
    "_meta",
    "inputResponses",
    "requestState",
];

/// The name of our question among the input requests of a result.
pub(crate) const ASKED_AS: &str = "callwright";

/// Whether the parameters of `initialize`, or anything else with `capabilities`, say that the client can show the
/// user a form.
pub(crate) fn can_elicit(params: Option<&RawValue>) -> bool {
    has_forms(member(params, "capabilities"))
}

/// An empty object means forms, which were once the only kind.
fn has_forms(capabilities: Option<&RawValue>) -> bool {
    let modes = member(capabilities, "elicitation").map(|it| members(it.get(), ["form", "url"]));
    matches!(modes, Some(Ok([Some(_), _] | [None, None])))
}

impl<'m> CallParams<'m> {
    /// Reads the parameters; `None` if they are not those of a call, or are ambiguous.
    pub(crate) fn read(params: Option<&'m RawValue>) -> Option<Self> {
        let [name, arguments, meta, input_responses, request_state] =
            members(params?.get(), PARAMS).ok()?;
        Some(CallParams {
            name: name?,
            arguments,
            meta: not_null(meta),
            input_responses: not_null(input_responses),
            request_state: not_null(request_state),
        })
    }

    /// The call, with the id of its request; `None` if it does not name a tool. Unreadable arguments are left for the
    /// gate to refuse.
    pub(crate) fn call(&self, id: &'m str) -> Option<Call<'m>> {
        let Value::String(tool) = read_value(self.name.get()).ok()? else {
            return None;
        };
        let arguments = match not_null(self.arguments) {
            Some(arguments) => match read_value(arguments.get()) {
                Ok(value) => Arguments::Value(value),
                Err(_) => Arguments::Text(arguments.get().into()),
            },
            None => Arguments::Absent,
        };
        let mut call = Call::new(tool, arguments);
        call.id = read_value(id).ok();
        Some(call)
    }

    /// Whether the call names its protocol, as calls do since 2026-07-28.
    pub(crate) fn names_protocol(&self) -> bool {
        member(self.meta, "io.modelcontextprotocol/protocolVersion").is_some()
    }

    /// Whether it says that its client can ask the user, as calls do since then.
    pub(crate) fn elicits(&self) -> bool {
        let capabilities = "io.modelcontextprotocol/clientCapabilities";
        has_forms(member(self.meta, capabilities))
    }

    /// The user's answer, as passed on by the client program.
    pub(crate) fn consent(&self) -> Option<&'m RawValue> {
        member(self.meta, "callwright/consent")
    }

    /// The user's answer to our question, if the call continues after one.
    pub(crate) fn input_response(&self) -> Option<Value<'static>> {
        let [response] = members(self.input_responses?.get(), [ASKED_AS]).ok()?;
        let response = read_value(response?.get()).ok()?;
        Some(response.into_owned())
    }

    /// The message without the answer, which is not for the server.
    pub(crate) fn without_answers(message: &[u8], params: &RawValue) -> Option<Vec<u8>> {
        let mut all: BTreeMap<String, &RawValue> = serde_json::from_str(params.get()).ok()?;
        all.retain(|name, _| name != "inputResponses" && name != "requestState");
        let kept: Vec<String> = all
            .iter()
            .map(|(name, value)| format!("{}:{value}", json!(name)))
            .collect();
        let kept = format!("{{{}}}", kept.join(","));
        let change = (span_in(message, params.get()), kept);
        Some(Replacements::from_iter([change]).in_bytes(message))
    }

    /// Whether it continues a call for which the server had a question.
    pub(crate) fn is_continuation(&self) -> bool {
        self.input_responses.is_some() || self.request_state.is_some()
    }

    /// The message with another tool name and other arguments, and everything else byte for byte.
    pub(crate) fn rewritten(
        &self,
        message: &[u8],
        params: &RawValue,
        tool: &str,
        arguments: &Value<'_>,
    ) -> Vec<u8> {
        let name = (
            span_in(message, self.name.get()),
            Value::String(tool.into()).to_string(),
        );
        let mut changes = Replacements::from_iter([name]);
        if let Some(sent) = self.arguments {
            changes.add((span_in(message, sent.get()), arguments.to_string()));
        } else if !matches!(arguments, Value::Object(members) if members.is_empty()) {
            let arguments = format!("\"arguments\":{arguments}");
            changes.add(appended(message, params.get(), &arguments));
        }
        changes.in_bytes(message)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::message::Message;

    fn rewrite(text: &str, tool: &str, arguments: &str) -> String {
        let Message::Request { params, .. } = Message::read(text.as_bytes()) else {
            panic!("a request")
        };
        let read = CallParams::read(params).expect("a call");
        let value = read_value(arguments).expect("JSON");
        let bytes = read.rewritten(text.as_bytes(), params.expect("some"), tool, &value);
        String::from_utf8(bytes).expect("text")
    }

    #[test]
    fn newer_calls_name_their_protocol() {
        let names = |params: &str| {
            let params: &RawValue = serde_json::from_str(params).expect("JSON");
            CallParams::read(Some(params))
                .expect("a call")
                .names_protocol()
        };
        assert!(names(
            r#"{"name":"t","_meta":{"x":1,"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}"#
        ));
        assert!(!names(r#"{"name":"t","_meta":{"progressToken":1}}"#));
        assert!(!names(r#"{"name":"t"}"#));
    }

    #[test]
    fn only_name_and_arguments_change() {
        assert_eq!(
            rewrite(
                r#"{"id": 1 ,"method":"tools/call","params":{"arguments" : {"a":"1"} ,"x":[ ],"name":"T"}, "y":null}"#,
                "t",
                r#"{"a":1}"#
            ),
            r#"{"id": 1 ,"method":"tools/call","params":{"arguments" : {"a":1} ,"x":[ ],"name":"t"}, "y":null}"#,
        );
        assert_eq!(
            rewrite(
                r#"{"id":1,"method":"tools/call","params":{"name":"t"}}"#,
                "t",
                r#"{"a":1}"#
            ),
            r#"{"id":1,"method":"tools/call","params":{"name":"t","arguments":{"a":1}}}"#,
        );
        assert_eq!(
            rewrite(
                r#"{"id":1,"method":"tools/call","params":{"name":"T"}}"#,
                "t",
                "{}"
            ),
            r#"{"id":1,"method":"tools/call","params":{"name":"t"}}"#,
        );
        assert_eq!(
            rewrite(
                r#"{"id":1,"method":"tools/call","params":{"arguments":null,"name":"T"}}"#,
                "t",
                "{}"
            ),
            r#"{"id":1,"method":"tools/call","params":{"arguments":{},"name":"t"}}"#,
        );
    }
}
