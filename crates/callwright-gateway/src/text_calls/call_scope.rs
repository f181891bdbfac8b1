//! Which calls a request permits, if they are rescued from text.
//!
//! The API keeps models that call properly within the limits of the request. A model that writes a call as text has
//! no such limits, so they are enforced here: nothing is rescued that the client could not have got otherwise.

use serde_json::Value;

/// Which calls may be extracted from text.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct CallScope {
    /// The tools that may be called; `None` means all the tools offered.
    pub tools: Option<Vec<String>>,
    /// Whether an answer may contain only one call.
    pub is_single: bool,
}

/// What a request says about the calls it wants, each member as sent.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct WantedCalls<'a> {
    /// From chat completions, responses and messages.
    pub(crate) tool_choice: Option<&'a str>,
    /// From Gemini.
    pub(crate) tool_config: Option<&'a str>,
    pub(crate) parallel_tool_calls: Option<&'a str>,
}

impl CallScope {
    /// Whether a tool may be called, in an answer with this many calls.
    pub(crate) fn allows(&self, tool: &str, calls: usize) -> bool {
        let is_allowed = |tools: &Vec<String>| tools.iter().any(|allowed| allowed == tool);
        self.tools.as_ref().is_none_or(is_allowed) && (calls <= 1 || !self.is_single)
    }

    /// `None` if the request forbids calls.
    pub(crate) fn of(wanted: WantedCalls<'_>) -> Option<Self> {
        let read = |written: Option<&str>| {
            written.and_then(|text| serde_json::from_str::<Value>(text).ok())
        };
        let choice = read(wanted.tool_choice).unwrap_or_default();
        let config = read(wanted.tool_config).unwrap_or_default();
        let either = |keys: [&str; 2], of: &Value| {
            keys.iter()
                .find_map(|key| of.get(key).cloned())
                .unwrap_or_default()
        };
        let calling = either(
            ["functionCallingConfig", "function_calling_config"],
            &config,
        );
        let says_none = |value: &Value| {
            value
                .as_str()
                .is_some_and(|word| word.eq_ignore_ascii_case("none"))
        };
        let kinds = [
            &choice,
            &either(["type", "mode"], &choice),
            &either(["mode", "mode"], &calling),
        ];
        if kinds.into_iter().any(says_none) {
            return None;
        }
        let mut tools = Vec::new();
        names(&choice, &mut tools);
        let listed = either(["allowedFunctionNames", "allowed_function_names"], &calling);
        let listed = listed
            .as_array()
            .into_iter()
            .flatten()
            .filter_map(Value::as_str);
        tools.extend(listed.map(str::to_owned));
        Some(CallScope {
            tools: (!tools.is_empty()).then_some(tools),
            is_single: wanted.parallel_tool_calls == Some("false")
                || choice.get("disable_parallel_tool_use") == Some(&Value::Bool(true)),
        })
    }
}

/// The tool names in a tool choice: `{"type": "tool", "name": …}`, or nested deeper.
fn names(choice: &Value, found: &mut Vec<String>) {
    match choice {
        Value::Object(members) => {
            for (key, value) in members {
                match value.as_str() {
                    Some(name) if key == "name" => found.push(name.to_owned()),
                    _ => names(value, found),
                }
            }
        }
        Value::Array(items) => items.iter().for_each(|item| names(item, found)),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of_choice(tool_choice: &str) -> Option<CallScope> {
        CallScope::of(WantedCalls {
            tool_choice: Some(tool_choice),
            ..WantedCalls::default()
        })
    }

    fn of_config(tool_config: &str) -> Option<CallScope> {
        CallScope::of(WantedCalls {
            tool_config: Some(tool_config),
            ..WantedCalls::default()
        })
    }

    #[test]
    fn a_request_may_forbid_calls() {
        for choice in [r#""none""#, r#"{"type": "none"}"#] {
            assert_eq!(of_choice(choice), None, "{choice}");
        }
        assert_eq!(
            of_config(r#"{"functionCallingConfig": {"mode": "NONE"}}"#),
            None
        );
        for choice in [
            r#""auto""#,
            r#""required""#,
            r#"{"type": "any"}"#,
            "5",
            "nonsense",
        ] {
            assert_eq!(of_choice(choice), Some(CallScope::default()), "{choice}");
        }
        assert_eq!(
            of_config(r#"{"functionCallingConfig": {"mode": "AUTO"}}"#),
            Some(CallScope::default())
        );
    }

    #[test]
    fn a_request_may_restrict_calls() {
        for choice in [
            r#"{"type": "function", "function": {"name": "look"}}"#,
            r#"{"type": "tool", "name": "look"}"#,
            r#"{"type": "allowed_tools", "allowed_tools": {"mode": "auto", "tools": [{"type": "function", "function": {"name": "look"}}]}}"#,
        ] {
            let scope = of_choice(choice).expect("calls");
            assert!(
                scope.allows("look", 2) && !scope.allows("drop", 1),
                "{choice}"
            );
        }
        let scope = of_config(
            r#"{"function_calling_config": {"mode": "ANY", "allowed_function_names": ["look"]}}"#,
        );
        assert!(scope.is_some_and(|scope| scope.allows("look", 1) && !scope.allows("drop", 1)));
        let scope =
            of_choice(r#"{"type": "auto", "disable_parallel_tool_use": true}"#).expect("calls");
        assert!(scope.allows("look", 1) && !scope.allows("look", 2));
        let single = CallScope::of(WantedCalls {
            parallel_tool_calls: Some("false"),
            ..WantedCalls::default()
        });
        assert!(single.is_some_and(|scope| scope.is_single));
    }
}
