//! Harmony: `<|channel|>commentary to=functions.name <|constrain|>json<|message|>{…}<|call|>`.
//!
//! The text is a sequence of messages, each with a header and a body. Messages to a function are calls; reasoning before them
//! is skipped; text to the user before them counts as text before a call, and a final answer, or anything after them, means
//! that there is no call.

use super::NoCall;
use super::arguments::{self, Border};
use super::cursor::{Cursor, RescueResult};
use crate::call::Call;
use crate::vocabulary::template::is_finished;

pub(super) const START: &str = "<|start|>";
pub(super) const CHANNEL: &str = "<|channel|>";
pub(super) const MESSAGE: &str = "<|message|>";
pub(super) const CALL: &str = "<|call|>";
pub(super) const END: &str = "<|end|>";

/// Whether a message starts here.
pub(super) fn starts(text: &str) -> bool {
    text.starts_with(START) || text.starts_with(CHANNEL)
}

pub(super) fn read<'t>(cursor: &mut Cursor<'t>) -> RescueResult<Vec<Call<'t>>> {
    let mut calls = Vec::new();
    while !cursor.is_at_end() {
        let rest = cursor.rest();
        if !rest.starts_with(START) && !rest.starts_with(CHANNEL) {
            return Err(NoCall::TextAfter);
        }
        if calls.is_empty() {
            cursor.start_calls();
        }
        let header = Header::of(cursor.until(MESSAGE).ok_or(NoCall::CutOff)?)?;
        if let Some(tool) = header.tool {
            let border = Border {
                end: None,
                next: MESSAGE,
            };
            let text = arguments::read(cursor, &border)?;
            calls.push(Call::from_text(tool, text));
            // The token that hands over to the tool also stops the model, and servers cut it off.
            let _ = cursor.eat_spaced(CALL) || cursor.eat(END);
        } else if !calls.is_empty() || header.channel == "final" {
            return Err(NoCall::TextAfter);
        } else {
            let body = cursor.until(END).ok_or(NoCall::NoMark)?;
            if header.channel == "analysis" {
                if !is_finished(body) {
                    return Err(NoCall::Ambiguous);
                }
            } else {
                cursor.has_words = true;
            }
        }
        cursor.skip_blank();
    }
    Ok(calls)
}

/// What comes before a body.
pub(super) struct Header<'t> {
    pub(super) channel: &'t str,
    /// The function it is addressed to, if any.
    pub(super) tool: Option<&'t str>,
}

impl<'t> Header<'t> {
    /// Words and tokens in any order: `<|start|>assistant to=functions.name<|channel|>commentary json`.
    pub(super) fn of(header: &'t str) -> RescueResult<Self> {
        let mut found = Header {
            channel: "",
            tool: None,
        };
        let words = header
            .split(char::is_whitespace)
            .flat_map(|word| word.split_inclusive("|>"))
            .flat_map(split_token)
            .filter(|word| !word.is_empty());
        for word in words {
            match word {
                START | CHANNEL | "<|constrain|>" | "assistant" | "json" | "code" => {}
                "analysis" | "commentary" | "final" if found.channel.is_empty() => {
                    found.channel = word;
                }
                _ => {
                    let tool = word.strip_prefix("to=functions.");
                    let tool = tool.ok_or(NoCall::Unreadable)?;
                    if found.tool.replace(tool).is_some() {
                        return Err(NoCall::Ambiguous);
                    }
                }
            }
        }
        Ok(found)
    }
}

/// `assistant<|channel|>` → `assistant`, `<|channel|>`.
fn split_token(word: &str) -> [&str; 2] {
    let (before, token) = word.split_at(word.find("<|").unwrap_or(word.len()));
    [before, token]
}
