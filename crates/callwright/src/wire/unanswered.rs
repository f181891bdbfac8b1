//! Calls in a history that have no result yet.

use super::read_call;
use crate::call::Call;
use crate::json::Value;

/// The calls of a history that have no result, in order, as an agent leaves them when it is stopped or crashes. Answer
/// them (as cancelled, say) before the history goes to a provider again; all providers reject a call without a result.
///
/// Takes messages of OpenAI (chat and responses), Anthropic and Gemini, in any mixture; anything else is skipped.
///
/// ```
/// use callwright::parse::read_value;
/// use callwright::wire::unanswered;
///
/// let history = read_value(r#"[
///     {"role": "user", "content": "How warm is it?"},
///     {"role": "assistant", "tool_calls": [
///         {"id": "a", "type": "function", "function": {"name": "get_weather", "arguments": "{}"}},
///         {"id": "b", "type": "function", "function": {"name": "get_time", "arguments": "{}"}}]},
///     {"role": "tool", "tool_call_id": "a", "content": "11 °C"}
/// ]"#).unwrap();
/// let open = unanswered(&history);
/// assert_eq!(open.len(), 1);
/// assert_eq!(open[0].tool, "get_time");
/// ```
pub fn unanswered<'h>(history: &'h Value<'_>) -> Vec<Call<'h>> {
    let mut open: Vec<Call<'h>> = Vec::new();
    for message in history.as_array().unwrap_or_default() {
        for part in parts(message) {
            if let Some(answered) = answered(part) {
                answered.find(&open).map(|at| open.remove(at));
            } else if is_call(part) {
                // A call that cannot be read cannot be answered.
                open.extend(read_call(part.clone()));
            }
        }
    }
    open
}

/// The parts of a message that may be calls or results; the message itself, if it is one.
fn parts<'m>(message: &'m Value<'_>) -> impl Iterator<Item = &'m Value<'m>> {
    let lists = ["tool_calls", "content", "parts"]
        .into_iter()
        .filter_map(|key| message.get(key)?.as_array());
    std::iter::once(message).chain(lists.flatten())
}

fn is_call(part: &Value<'_>) -> bool {
    let kind = part.get("type").and_then(Value::as_str);
    matches!(kind, Some("function_call" | "tool_use"))
        || part.get("functionCall").is_some()
        || matches!(part.get("function"), Some(Value::Object(_)))
}

/// Which call a result belongs to.
enum Answered<'m> {
    Id(&'m Value<'m>),
    /// Gemini numbers calls only in some of its APIs.
    Name(&'m str),
}

impl Answered<'_> {
    /// The first call that it answers.
    fn find(&self, open: &[Call<'_>]) -> Option<usize> {
        let first = |is: &dyn Fn(&Call<'_>) -> bool| open.iter().position(is);
        match self {
            Answered::Id(id) => first(&|call| call.id.as_ref() == Some(*id)),
            // A result may leave out the id that its call has.
            Answered::Name(name) => first(&|call| call.tool == *name && call.id.is_none())
                .or_else(|| first(&|call| call.tool == *name)),
        }
    }
}

fn answered<'m>(part: &'m Value<'_>) -> Option<Answered<'m>> {
    let kind = part.get("type").and_then(Value::as_str);
    if let Some(response) = part.get("functionResponse") {
        return match response.get("id").filter(|id| **id != Value::Null) {
            Some(id) => Some(Answered::Id(id)),
            None => response.get("name")?.as_str().map(Answered::Name),
        };
    }
    let key = match kind {
        Some("function_call_output") => "call_id",
        Some("tool_result") => "tool_use_id",
        _ if part.get("role").and_then(Value::as_str) == Some("tool") => "tool_call_id",
        _ => return None,
    };
    part.get(key).map(Answered::Id)
}
