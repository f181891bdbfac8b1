//! Determines the format of a record by its keys, and passes it to the reader of that format.

use callwright::json::Value;
use callwright::parse::read_value;

use super::context::Context;
use super::dialogue::{Dialogue, set_session};
use super::exchange::is_item;
use super::pick::{has, has_list, has_object, list, opened, present, set, text};
use super::tools::ToolLists;
use super::{Format, Reading, RecordPlace, exchange, line, mcp, messages, otel, stream, words};

/// The names under which logs keep what they log.
const WRAPPERS: &str = "message payload data body event record entry standard_logging_object kwargs msg content \
                        jsonPayload raw response request params";

/// How many wrappers there may be.
const DEEPEST: usize = 4;

/// Reads one record.
pub(super) struct RecordReader<'a, 'r> {
    pub(super) reading: &'r mut Reading<'a>,
    pub(super) tools: &'r mut ToolLists,
    pub(super) place: RecordPlace<'a>,
}

impl<'a> RecordReader<'a, '_> {
    pub(super) fn dialogue(&mut self, context: Context<'a>) -> Dialogue<'a, '_> {
        Dialogue::new(self.reading, self.tools, self.place, context)
    }

    /// Reads a record.
    pub(super) fn value(&mut self, value: Value<'a>, context: Context<'a>) {
        if let Err(value) = self.known(value, context, 0) {
            self.reading.troubles.push(words::unknown(&value));
        }
    }

    /// Reads a line of a text log; `false` if it is not one.
    pub(super) fn log_line(&mut self, text: &'a str) -> bool {
        let Some(line) = mcp::log_line(text) else {
            return false;
        };
        let value = line.json.and_then(|json| read_value(json).ok());
        let Some(value) = value else {
            // Servers print all kinds of things; only a line with a time is a log line.
            if line.time.is_none() {
                return false;
            }
            self.reading.set_format(Format::Mcp);
            return true;
        };
        let mut context = Context::default();
        if let Some(time) = line.time {
            context.set_time(time);
        }
        if mcp::is_message(&value) {
            let mut dialogue = self.dialogue(context);
            mcp::read(&mut dialogue, value);
            dialogue.end_in_file(line.name.as_deref());
            return true;
        }
        match self.known(value, context, 1) {
            Ok(()) => true,
            Err(_) if line.time.is_some() => {
                self.reading.set_format(Format::Mcp);
                true
            }
            Err(_) => false,
        }
    }

    /// Reads a value in any known format; returns it if the format is unknown.
    fn known(
        &mut self,
        mut value: Value<'a>,
        mut context: Context<'a>,
        depth: usize,
    ) -> Result<(), Value<'a>> {
        if let Value::Array(items) = value {
            return self.array(items, &context, depth);
        }
        if text(&value, "tool").is_some() {
            line::read(value, context, self.reading);
            return Ok(());
        }
        if otel::is_spans(&value) {
            otel::read(self, value, &context);
            return Ok(());
        }
        context.add(&value);
        if mcp::is_message(&value) {
            return self.in_file(context, Format::Mcp, |dialogue| mcp::read(dialogue, value));
        }
        if exchange::is_request(&value) || exchange::is_response(&value) || stream::is_piece(&value)
        {
            exchange::read(self.dialogue(context), value);
            return Ok(());
        }
        if let Some((asked, answered)) = exchange::take_pair(&mut value) {
            // Tools may be next to both.
            let beside = list(&mut value, "tools");
            if mcp::is_message(&asked) {
                return self.in_file(context, Format::Mcp, |dialogue| {
                    mcp::read(dialogue, asked);
                    mcp::read(dialogue, answered);
                });
            }
            let mut dialogue = self.dialogue(context);
            dialogue.tools(&Value::Array(beside));
            exchange::read_pair(dialogue, asked, answered);
            return Ok(());
        }
        self.single(value, context, depth)
    }

    /// Reads something that belongs to the conversation of its file, unless it names another.
    #[expect(
        clippy::unnecessary_wraps,
        reason = "what every way to read a record returns"
    )]
    fn in_file(
        &mut self,
        context: Context<'a>,
        format: Format,
        read: impl FnOnce(&mut Dialogue<'a, '_>),
    ) -> Result<(), Value<'a>> {
        let mut dialogue = self.dialogue(context);
        read(&mut dialogue);
        dialogue.format(format);
        dialogue.end_in_file(None);
        Ok(())
    }

    /// A message, a call, a result or a tool list by itself; or a wrapper around something.
    fn single(
        &mut self,
        mut value: Value<'a>,
        context: Context<'a>,
        depth: usize,
    ) -> Result<(), Value<'a>> {
        let kind = text(&value, "type");
        if text(&value, "role").is_some()
            && (has(&value, "content") || has(&value, "tool_calls") || has(&value, "function_call"))
        {
            return self.in_file(context, Format::OpenAiChat, |dialogue| {
                messages::read_one(dialogue, value, None);
            });
        }
        if has_list(&value, "tool_calls") {
            return self.in_file(context, Format::OpenAiChat, |dialogue| {
                set(&mut value, "role", "assistant");
                messages::read_one(dialogue, value, None);
            });
        }
        let is_result = match kind {
            Some("function_call_output") => Some(Format::OpenAiResponses),
            Some("tool_result") => Some(Format::Anthropic),
            _ => None,
        };
        if let Some(format) = is_result {
            return self.in_file(context, format, |dialogue| {
                dialogue.history(Value::Array(vec![value]));
            });
        }
        if is_call(&value) {
            let before = self.reading.seen.len();
            line::read(value, context, self.reading);
            // A wrapped call is part of the file's conversation.
            if depth > 0 {
                set_session(&mut self.reading.seen[before..], self.place.file.into());
            }
            return Ok(());
        }
        if let Some(Value::Array(items)) = value.get("calls")
            && items
                .first()
                .is_some_and(|call| has(call, "tool") || is_call(call))
        {
            let calls = list(&mut value, "calls");
            self.calls(calls, &context);
            return Ok(());
        }
        if has_list(&value, "tools") {
            let tools = list(&mut value, "tools");
            let mut dialogue = self.dialogue(context);
            dialogue.tools(&Value::Array(tools));
            dialogue.format(Format::Mcp);
            return Ok(());
        }
        if is_item(&value) && !has(&value, "message") {
            self.reading.set_format(Format::OpenAiResponses);
            return Ok(());
        }
        self.wrapped(value, &context, depth)
    }

    /// The calls of one conversation, each as a plain line.
    fn calls(&mut self, calls: Vec<Value<'a>>, context: &Context<'a>) {
        let before = self.reading.seen.len();
        for call in calls {
            line::read(call, context.clone(), self.reading);
        }
        let own = format!("{}:{}", self.place.file, self.place.line);
        set_session(&mut self.reading.seen[before..], own.into());
    }

    /// Looks into wrappers, and puts back what is not recognised.
    fn wrapped(
        &mut self,
        mut value: Value<'a>,
        context: &Context<'a>,
        depth: usize,
    ) -> Result<(), Value<'a>> {
        if depth >= DEEPEST {
            return Err(value);
        }
        for key in WRAPPERS.split(' ') {
            let Some(inner) = present(&mut value, key) else {
                continue;
            };
            let inner = opened(inner);
            let back = if matches!(inner, Value::Object(_) | Value::Array(_)) {
                match self.known(inner, context.clone(), depth + 1) {
                    Ok(()) => return Ok(()),
                    Err(inner) => inner,
                }
            } else {
                inner
            };
            if let Value::Object(members) = &mut value {
                members.push((key.into(), back));
            }
        }
        Err(value)
    }

    /// An array: a conversation, a streamed answer, or several records.
    fn array(
        &mut self,
        items: Vec<Value<'a>>,
        context: &Context<'a>,
        depth: usize,
    ) -> Result<(), Value<'a>> {
        let Some(first) = items.first() else {
            return Err(Value::Array(items));
        };
        if stream::is_piece(first) {
            let mut dialogue = self.dialogue(context.clone());
            stream::read(&mut dialogue, Value::Array(items));
            dialogue.end();
            return Ok(());
        }
        if is_part(first) {
            let mut dialogue = self.dialogue(context.clone());
            dialogue.begins_here();
            dialogue.in_history = true;
            exchange::conversation(&mut dialogue, items);
            dialogue.format(Format::OpenAiChat);
            dialogue.end();
            return Ok(());
        }
        if depth >= DEEPEST {
            return Err(Value::Array(items));
        }
        for item in items {
            if let Err(item) = self.known(item, context.clone(), depth + 1) {
                self.reading.troubles.push(words::unknown(&item));
            }
        }
        Ok(())
    }
}

/// Whether an array that begins with this is one conversation or one answer.
pub(super) fn is_part(value: &Value<'_>) -> bool {
    has(value, "role") || is_item(value) || stream::is_piece(value)
}

/// A single call in any provider's format.
fn is_call(value: &Value<'_>) -> bool {
    let named = text(value, "name").is_some();
    let has_arguments = || {
        ["arguments", "input", "args", "parameters"]
            .iter()
            .any(|key| value.get(key).is_some())
    };
    matches!(text(value, "type"), Some("function_call" | "tool_use"))
        || has_object(value, "functionCall")
        || (has_object(value, "function") && !has_list(value, "tools"))
        || (named && has_arguments())
}
