//! Reads messages and items in each provider's format; collects the calls and results in them.

use std::borrow::Cow;

use callwright::internal::{RawObject, raw_items};

use super::conversation::{
    ArgumentsInHistory, CallId, CallInHistory, HistoryMessage, HistoryPart, MendedHistory,
    ResultInHistory, SpokenBy,
};
use super::words;

impl<'a> MendedHistory<'a> {
    pub(super) fn read_chat(
        &mut self,
        text: &'a str,
        message: &RawObject<'a>,
    ) -> Option<HistoryMessage<'a>> {
        let (mut side, mut result) = (SpokenBy::User, None);
        match message.text("role").as_deref() {
            Some("assistant") => {
                side = SpokenBy::Model;
                for entry in message.list("tool_calls").ok()? {
                    let entry = RawObject::read(entry).ok()?;
                    let function = entry.object("function").ok()?;
                    let custom = entry.object("custom").ok()?;
                    let arguments = function
                        .as_ref()
                        .map(|function| self.arguments(function, "arguments"));
                    let named = function.as_ref().or(custom.as_ref());
                    let tool = named.and_then(|named| named.text("name"));
                    self.call(identity(&entry, "id"), tool, "function".into(), arguments);
                }
            }
            Some("tool") => {
                side = SpokenBy::Neutral;
                let (id, tool) = (identity(message, "tool_call_id"), message.text("name"));
                result = Some(self.result(text, id, tool));
            }
            _ => {}
        }
        Some(HistoryMessage {
            text,
            side,
            list: None,
            parts: vec![HistoryPart { text, result }],
        })
    }

    pub(super) fn read_item(&mut self, text: &'a str, item: &RawObject<'a>) -> HistoryMessage<'a> {
        let kind = item.text("type").unwrap_or("message".into());
        let (mut side, mut result) = (SpokenBy::Neutral, None);
        match kind.as_ref() {
            "message" if item.text("role").as_deref() == Some("assistant") => {
                side = SpokenBy::Model;
            }
            "message" => side = SpokenBy::User,
            "function_call" | "custom_tool_call" => {
                side = SpokenBy::Model;
                let arguments =
                    (kind == "function_call").then(|| self.arguments(item, "arguments"));
                self.call(
                    identity(item, "call_id"),
                    item.text("name"),
                    kind,
                    arguments,
                );
            }
            "function_call_output" | "custom_tool_call_output" => {
                result = Some(self.result(text, identity(item, "call_id"), None));
            }
            "reasoning" => side = SpokenBy::Model,
            kind if kind.ends_with("_call") => side = SpokenBy::Model,
            _ => {}
        }
        HistoryMessage {
            text,
            side,
            list: None,
            parts: vec![HistoryPart { text, result }],
        }
    }

    /// A message made of blocks, or a single string.
    pub(super) fn read_blocks(
        &mut self,
        text: &'a str,
        message: &RawObject<'a>,
    ) -> Option<HistoryMessage<'a>> {
        let side = match message.text("role").as_deref() {
            Some("assistant") => SpokenBy::Model,
            Some("user") => SpokenBy::User,
            _ => SpokenBy::Neutral,
        };
        self.read_list(text, message, side, |history, text, block| {
            if block.is_a("tool_use") && side == SpokenBy::Model {
                let arguments = history.arguments(block, "input");
                let (id, tool) = (identity(block, "id"), block.text("name"));
                history.call(id, tool, "tool_use".into(), Some(arguments));
            } else if block.is_a("tool_result") {
                return Some(Some(history.result(
                    text,
                    identity(block, "tool_use_id"),
                    None,
                )));
            }
            Some(None)
        })
    }

    /// A message made of Gemini parts. Without a role it is a user message.
    pub(super) fn read_parts(
        &mut self,
        text: &'a str,
        message: &RawObject<'a>,
    ) -> Option<HistoryMessage<'a>> {
        let side = match message.text("role").as_deref() {
            Some("model") => SpokenBy::Model,
            Some("user" | "function" | "tool") | None => SpokenBy::User,
            Some(_) => SpokenBy::Neutral,
        };
        self.read_list(text, message, side, |history, text, part| {
            let call = part.object("functionCall").ok()?;
            if let Some(call) = call.filter(|_| side == SpokenBy::Model) {
                let arguments = history.arguments(&call, "args");
                let (id, tool) = (identity(&call, "id"), call.text("name"));
                history.call(id, tool, "functionCall".into(), Some(arguments));
            } else if let Some(result) = part.object("functionResponse").ok()? {
                let (id, tool) = (identity(&result, "id"), result.text("name"));
                return Some(Some(history.result(text, id, tool)));
            }
            Some(None)
        })
    }

    /// A message with a list of parts. `read` takes each part, and returns which result it is.
    fn read_list(
        &mut self,
        text: &'a str,
        message: &RawObject<'a>,
        side: SpokenBy,
        read: impl Fn(&mut Self, &'a str, &RawObject<'a>) -> Option<Option<usize>>,
    ) -> Option<HistoryMessage<'a>> {
        let list = message.get(words::parts_key(self.api));
        let list = list.filter(|list| list.starts_with('['));
        let mut parts = Vec::new();
        for text in list.map_or(Ok(Vec::new()), raw_items).ok()? {
            let result = read(self, text, &RawObject::read(text).ok()?)?;
            parts.push(HistoryPart { text, result });
        }
        Some(HistoryMessage {
            text,
            side,
            list,
            parts,
        })
    }

    fn arguments(&self, object: &RawObject<'a>, key: &'static str) -> ArgumentsInHistory<'a> {
        if let Some(written) = object.written(key) {
            return ArgumentsInHistory::Written(written);
        }
        let (at, comma) = object.room(self.body);
        ArgumentsInHistory::Missing {
            key,
            room: (at.start, comma),
        }
    }

    fn call(
        &mut self,
        id: Option<CallId<'a>>,
        tool: Option<Cow<'a, str>>,
        kind: Cow<'a, str>,
        arguments: Option<ArgumentsInHistory<'a>>,
    ) {
        self.calls.push(CallInHistory {
            message: self.messages.len(),
            round: 0,
            id,
            tool: tool.unwrap_or_default(),
            kind,
            arguments: arguments.unwrap_or(ArgumentsInHistory::NotJson),
            result: None,
        });
    }

    fn result(
        &mut self,
        text: &'a str,
        id: Option<CallId<'a>>,
        tool: Option<Cow<'a, str>>,
    ) -> usize {
        self.results.push(ResultInHistory {
            message: self.messages.len(),
            text,
            id,
            tool,
            call: None,
            is_in_place: false,
        });
        self.results.len() - 1
    }
}

fn identity<'a>(object: &RawObject<'a>, key: &str) -> Option<CallId<'a>> {
    Some((object.text(key)?, object.get(key)?))
}
