//! Messages and items in the shapes of their providers → the calls and the results in them.

use std::borrow::Cow;

use callwright::internal::{RawObject, raw_items};
use callwright::wire::Provider;

use super::conversation::{
    ArgumentsInHistory, CallInHistory, HistoryMessage, HistoryPart, Id, MendedHistory,
    ResultInHistory, SpokenBy,
};

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

    /// A message of blocks or parts.
    pub(super) fn read_blocks(
        &mut self,
        text: &'a str,
        message: &RawObject<'a>,
    ) -> Option<HistoryMessage<'a>> {
        let is_gemini = self.provider == Provider::Gemini;
        let side = match message.text("role").as_deref() {
            Some("assistant" | "model") => SpokenBy::Model,
            Some("user" | "function" | "tool") => SpokenBy::User,
            // Contents without a role are the user's.
            None if is_gemini => SpokenBy::User,
            _ => SpokenBy::Neutral,
        };
        let list = message.get(if is_gemini { "parts" } else { "content" });
        let list = list.filter(|list| list.starts_with('['));
        let mut parts = Vec::new();
        for block in list.map_or(Ok(Vec::new()), raw_items).ok()? {
            let object = RawObject::read(block).ok()?;
            let mut result = None;
            if is_gemini {
                if let Some(call) = object
                    .object("functionCall")
                    .ok()?
                    .filter(|_| side == SpokenBy::Model)
                {
                    let arguments = self.arguments(&call, "args");
                    self.call(
                        identity(&call, "id"),
                        call.text("name"),
                        "functionCall".into(),
                        Some(arguments),
                    );
                } else if let Some(of_call) = object.object("functionResponse").ok()? {
                    result =
                        Some(self.result(block, identity(&of_call, "id"), of_call.text("name")));
                }
            } else if object.is_a("tool_use") && side == SpokenBy::Model {
                let arguments = self.arguments(&object, "input");
                self.call(
                    identity(&object, "id"),
                    object.text("name"),
                    "tool_use".into(),
                    Some(arguments),
                );
            } else if object.is_a("tool_result") {
                result = Some(self.result(block, identity(&object, "tool_use_id"), None));
            }
            parts.push(HistoryPart {
                text: block,
                result,
            });
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
        id: Option<Id<'a>>,
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

    fn result(&mut self, text: &'a str, id: Option<Id<'a>>, tool: Option<Cow<'a, str>>) -> usize {
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

fn identity<'a>(object: &RawObject<'a>, key: &str) -> Option<Id<'a>> {
    Some((object.text(key)?, object.get(key)?))
}
