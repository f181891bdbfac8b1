//! Which call a result of a history belongs to.
//!
//! Takes calls and results in their order; returns the number of the call that a result answers. Each step takes constant time on
//! average, however many calls are open. It keeps no arguments and no results.

use std::collections::{HashMap, VecDeque};

use super::CallResult;
use crate::call::Call;

/// Calls of a history that have no result yet.
#[derive(Debug, Default)]
pub struct OpenCalls {
    /// Whether each call is still open, by its number.
    is_open: Vec<bool>,
    by_key: HashMap<Key, VecDeque<usize>>,
}

#[derive(Debug, PartialEq, Eq, Hash)]
enum Key {
    Id(String),
    Tool(String),
    /// A tool by a call without an id.
    ToolWithoutId(String),
}

impl OpenCalls {
    /// A call. Calls are numbered from zero on.
    pub fn push(&mut self, call: &Call<'_>) {
        let number = self.is_open.len();
        self.is_open.push(true);
        let mut put = |key| self.by_key.entry(key).or_default().push_back(number);
        put(Key::Tool(call.tool.to_string()));
        put(match &call.id {
            Some(id) => Key::Id(id.to_string()),
            None => Key::ToolWithoutId(call.tool.to_string()),
        });
    }

    /// The number of the call that a result answers: the first one open with its id, or of its tool. That call is then closed.
    pub fn take(&mut self, result: &CallResult<'_>) -> Option<usize> {
        match (&result.id, &result.tool) {
            (Some(id), _) => self.first(&Key::Id(id.to_string())),
            // A result may leave out the id of its call.
            (None, Some(tool)) => self
                .first(&Key::ToolWithoutId(tool.to_string()))
                .or_else(|| self.first(&Key::Tool(tool.to_string()))),
            (None, None) => None,
        }
    }

    /// The numbers of the calls that are open.
    pub fn numbers(&self) -> impl Iterator<Item = usize> {
        let open = self.is_open.iter().enumerate();
        open.filter_map(|(number, is_open)| is_open.then_some(number))
    }

    fn first(&mut self, key: &Key) -> Option<usize> {
        let numbers = self.by_key.get_mut(key)?;
        // A call is under two keys, and may have been taken by the other.
        while let Some(number) = numbers.pop_front() {
            if let Some(is_open) = self.is_open.get_mut(number)
                && std::mem::take(is_open)
            {
                return Some(number);
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::Value;

    fn result(id: Option<&'static str>, tool: Option<&'static str>) -> CallResult<'static> {
        CallResult {
            id: id.map(|id| Value::String(id.into())),
            tool: tool.map(Into::into),
            output: Value::Null,
            is_error: false,
        }
    }

    #[test]
    fn a_result_belongs_to_the_first_call_that_fits() {
        let mut open = OpenCalls::default();
        for id in [Some("a"), None, Some("b"), Some("b")] {
            let mut call = Call::from_text("look", "{}");
            call.id = id.map(|id| Value::String(id.into()));
            open.push(&call);
        }
        assert_eq!(open.take(&result(Some("c"), Some("look"))), None);
        assert_eq!(open.take(&result(Some("b"), None)), Some(2));
        assert_eq!(open.take(&result(None, Some("look"))), Some(1), "no id");
        assert_eq!(open.take(&result(None, Some("look"))), Some(0));
        assert_eq!(open.take(&result(Some("a"), None)), None, "taken");
        assert_eq!(open.take(&result(None, None)), None);
        assert_eq!(open.numbers().collect::<Vec<_>>(), [3]);
    }
}
