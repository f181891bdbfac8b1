//! Reads streamed answers: chunks or events in one array, or the text of server-sent events.

use callwright::json::Value;
use callwright::parse::read_value;
use callwright::wire::{AnswerReader, Provider};

use super::Format;
use super::dialogue::Dialogue;
use super::pick::{has, present, text};

/// Whether this is a piece of a stream.
pub(super) fn is_piece(value: &Value<'_>) -> bool {
    text(value, "object") == Some("chat.completion.chunk")
        || matches!(
            text(value, "type"),
            Some("message_start" | "content_block_start" | "content_block_delta" | "message_delta")
        )
}

/// Whether this is the text of server-sent events.
pub(super) fn is_text(text: &str) -> bool {
    let text = text.trim_ascii_start();
    text.starts_with("data:") || text.starts_with("event:")
}

/// Reads an answer that arrived in pieces.
pub(super) fn read<'a>(dialogue: &mut Dialogue<'a, '_>, value: Value<'a>) {
    match value {
        Value::Array(pieces) => {
            let pieces = pieces.into_iter().map(|piece| (piece.to_string(), piece));
            read_pieces(dialogue, pieces);
        }
        Value::String(text) => {
            let data = text
                .lines()
                .filter_map(|line| line.trim_ascii().strip_prefix("data:"));
            let pieces = data
                .filter_map(|data| Some((data.to_owned(), read_value(data).ok()?.into_owned())));
            read_pieces(dialogue, pieces);
        }
        _ => {}
    }
}

/// Reads pieces, each as it is written and as a value.
fn read_pieces<'a>(
    dialogue: &mut Dialogue<'a, '_>,
    pieces: impl Iterator<Item = (String, Value<'a>)>,
) {
    let mut reader = None;
    for (data, mut piece) in pieces {
        dialogue.context.add(&piece);
        let reader = reader.get_or_insert_with(|| {
            let (provider, format) = provider(&piece);
            dialogue.format(format);
            AnswerReader::new(provider)
        });
        if let Err(error) = reader.read(&data) {
            return dialogue.trouble(format!("a streamed answer cannot be read: {error}"));
        }
        for answer in ["message", "response"] {
            if let Some(answer) = present(&mut piece, answer) {
                dialogue.context.add(&answer);
            }
        }
    }
    let Some(reader) = reader else { return };
    let calls = reader.answer().calls.iter().enumerate();
    let own = calls.filter(|(_, call)| !call.is_foreign);
    let own = own.filter_map(|(at, _)| Some(reader.call(at)?.into_owned()));
    dialogue.answered(own.map(Ok));
}

/// The provider of a stream, by its first piece.
fn provider(piece: &Value<'_>) -> (Provider, Format) {
    if has(piece, "choices") {
        (Provider::OpenAiChat, Format::OpenAiChat)
    } else if has(piece, "candidates") {
        (Provider::Gemini, Format::Gemini)
    } else if text(piece, "type").is_some_and(|kind| kind.starts_with("response.")) {
        (Provider::OpenAiResponses, Format::OpenAiResponses)
    } else {
        (Provider::Anthropic, Format::Anthropic)
    }
}
