//! Answers that only acknowledge the call: `ok`, `{"success": true}`, `Pressed key ArrowDown`.
//!
//! Takes the answer to a call that worked; returns whether it only acknowledges. Pressing a key five times gives five equal
//! answers and five different states, so such an answer is not a sign of a loop. An answer that says more than the call itself
//! (a number, an id, that nothing was found) does not merely acknowledge.

use super::asked::Asked;
use super::outcome::AnswerContent;
use crate::json::Value;
use crate::vocabulary::word_list;

/// The longest acknowledgement, in bytes: a sentence that repeats the arguments.
const LONGEST: usize = 120;

/// The most members of an acknowledging object: `ok`, a status, a message, an id that was sent.
const MOST_MEMBERS: usize = 4;

/// The words of acknowledgements, besides the past tense of the requested verb.
const SAYS_DONE: &[&str] = word_list![
    ok okay done success successful successfully succeeded true sent set ack finished
];

/// Words that say more than an acknowledgement.
const SAYS_MORE: &[&str] = word_list![
    no not none nothing never empty already unchanged failed error errors denied skipped ignored queued started
    expected rejected cancelled found
];

/// Whether an answer says no more than that the call was done.
pub(super) fn acknowledges(answer: &AnswerContent<'_>, asked: &Asked<'_>) -> bool {
    match answer {
        AnswerContent::Text(text) => text_acknowledges(text, asked),
        AnswerContent::Value(value) => value_acknowledges(value, asked),
    }
}

fn value_acknowledges(value: &Value<'_>, asked: &Asked<'_>) -> bool {
    match value {
        Value::Null | Value::Bool(true) => true,
        Value::String(text) => text_acknowledges(text, asked),
        Value::Object(members) => {
            if let Some(text) = only_text(value) {
                return text_acknowledges(text, asked);
            }
            let says_no_more = |value: &Value<'_>| match value {
                Value::Null | Value::Bool(true) => true,
                Value::String(text) => asked.holds(text) || text_acknowledges(text, asked),
                Value::Number(number) => asked.holds(number.as_str()),
                _ => false,
            };
            let few = (1..=MOST_MEMBERS).contains(&members.len());
            few && members.iter().all(|(_, member)| says_no_more(member))
        }
        Value::Bool(false) | Value::Number(_) | Value::Array(_) => false,
    }
}

/// The text of an MCP result that is a single block of text.
fn only_text<'v>(value: &'v Value<'_>) -> Option<&'v str> {
    let [block] = value.get("content")?.as_array()? else {
        return None;
    };
    block.get("text")?.as_str()
}

fn text_acknowledges(text: &str, asked: &Asked<'_>) -> bool {
    let text = text.trim();
    if text.len() > LONGEST || text.contains('\n') {
        return false;
    }
    if text.starts_with('{') {
        let value = crate::json::read_value(text);
        return value.is_ok_and(|value| value_acknowledges(&value, asked));
    }
    let mut says_done = text.is_empty();
    for word in text.split_whitespace() {
        let word = word.trim_matches(|character: char| !character.is_alphanumeric());
        if asked.holds(word) {
            continue;
        }
        if word.contains(|character: char| character.is_ascii_digit()) {
            return false;
        }
        let folded = word.to_lowercase();
        if SAYS_MORE.contains(&folded.as_str()) {
            return false;
        }
        says_done |= SAYS_DONE.contains(&folded.as_str()) || folded.ends_with("ed");
    }
    says_done
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::read_value;

    fn check(arguments: &str, answer: &str) -> bool {
        let arguments = read_value(arguments).expect("JSON");
        acknowledges(&AnswerContent::Text(answer.into()), &Asked::new(&arguments))
    }

    #[test]
    fn answers_that_only_acknowledge() {
        for (arguments, answer) in [
            ("{}", ""),
            ("{}", "ok"),
            ("{}", "Done."),
            (r#"{"key": "ArrowDown"}"#, "Pressed key ArrowDown"),
            (r#"{"key": "F5"}"#, "Successfully pressed key: F5"),
            (r#"{"x": 10, "y": 20}"#, "Clicked at (10, 20)"),
            ("{}", r#"{"success": true}"#),
            (
                r#"{"id": 7}"#,
                r#"{"ok": true, "id": 7, "message": "updated"}"#,
            ),
            (
                "{}",
                r#"{"content": [{"type": "text", "text": "Clicked"}]}"#,
            ),
        ] {
            assert!(check(arguments, answer), "{answer}");
        }
    }

    #[test]
    fn answers_that_say_more() {
        for answer in [
            "result 798619b2da10",
            "No results found",
            "written 12 bytes",
            "job queued",
            "Clicked at (10, 20)",
            "[]",
            "{}",
            "false",
            r#"{"ok": false}"#,
            r#"{"ok": true, "receipt": 17}"#,
            "the weather is fine",
            "Clicked.\nThe page is now the second.",
        ] {
            assert!(!check("{}", answer), "{answer}");
        }
    }
}
