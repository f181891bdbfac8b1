//! OpenAI responses: items of `input` and `output`.

use callwright::call::Completeness;
use callwright::json::Value;

use super::dialogue::{Dialogue, output};
use super::messages;
use super::pick::{first_of, has, list, present, take, text};

/// Whether something is an item of a responses conversation, and not a message of a chat.
pub(super) fn is_item(value: &Value<'_>) -> bool {
    matches!(
        text(value, "type"),
        Some(
            "function_call"
                | "function_call_output"
                | "reasoning"
                | "message"
                | "mcp_call"
                | "mcp_list_tools"
                | "custom_tool_call"
                | "web_search_call"
                | "file_search_call"
                | "item_reference"
        )
    )
}

/// Items in their order. What the model says and calls without something coming in between is one answer.
pub(super) fn items<'a>(
    dialogue: &mut Dialogue<'a, '_>,
    items: Vec<Value<'a>>,
    reason: Option<&str>,
) {
    let mut in_answer = false;
    for mut item in items {
        let kind = text(&item, "type").unwrap_or("message");
        let is_message = kind == "message";
        let by_model = match kind {
            "function_call_output"
            | "mcp_list_tools"
            | "custom_tool_call_output"
            | "item_reference" => false,
            "message" => text(&item, "role") == Some("assistant"),
            _ => true,
        };
        if by_model && !in_answer {
            dialogue.begin_answer();
        } else if !by_model && in_answer {
            dialogue.end_answer(None);
        }
        in_answer = by_model;
        match kind {
            "function_call" => dialogue.read_call(item),
            "function_call_output" => {
                let id = present(&mut item, "call_id");
                let said = output(take(&mut item, "output"));
                dialogue.result(id, None, said, false);
            }
            "mcp_call" => mcp_call(dialogue, item),
            "mcp_list_tools" => dialogue.tools(&Value::Array(list(&mut item, "tools"))),
            "custom_tool_call" => dialogue.trouble(
                "a call of a custom tool: its input is not JSON, so there is nothing to judge",
            ),
            _ if is_message && !by_model => messages::read_one(dialogue, item, None),
            _ => {}
        }
    }
    if in_answer {
        dialogue.end_answer(reason);
    }
}

/// A call of an MCP server's tool, which the provider ran itself.
fn mcp_call<'a>(dialogue: &mut Dialogue<'a, '_>, mut item: Value<'a>) {
    let (name, id) = (present(&mut item, "name"), present(&mut item, "id"));
    let arguments = present(&mut item, "arguments");
    let is_error = has(&item, "error");
    if !matches!(name, Some(Value::String(_))) {
        return dialogue.named_call(None, id, arguments);
    }
    dialogue.named_call(name, id.clone(), arguments);
    if let Some(status) = text(&item, "status") {
        dialogue.set_completeness(Completeness::from_finish_reason(status));
    }
    if let Some(said) = first_of(&mut item, &["error", "output"]) {
        dialogue.result(id, None, said, is_error);
    }
}
