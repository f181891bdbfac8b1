//! Prints who said what.

use callwright::call::Arguments;
use callwright::feedback::Feedback;
use callwright::{Call, Settled};

/// The column where the text begins.
const INDENT: usize = 12;

/// The column where it ends: the width of a common terminal, and of a documentation page.
const WIDTH: usize = 100;

/// Another turn begins.
pub(crate) fn turn(number: u64) {
    println!("--- turn {number} ---");
}

/// One line of the conversation. Control characters in it could take over the terminal, so they become spaces.
pub(crate) fn say(who: &str, words: &str) {
    let mut who = who;
    let lines = words
        .lines()
        .map(|line| line.replace(char::is_control, " "));
    for line in lines.flat_map(|line| wrapped(&line)) {
        println!("{who:INDENT$}{line}");
        who = "";
    }
}

/// The model calls a tool.
pub(crate) fn call(call: &Call<'_>) {
    let arguments = match &call.arguments {
        Arguments::Absent => String::new(),
        Arguments::Text(text) => text.to_string(),
        Arguments::Value(value) => value.to_string(),
    };
    say("model", &cut(&format!("{} {arguments}", call.tool)));
}

/// What the model gets: a result on one line, and all of callwright's feedback.
pub(crate) fn result(settled: &Settled<'_>, feedback: &Feedback) {
    let code = match settled.failure() {
        Some(failure) => format!("{} -> {}", failure.code_name(), failure.next().name()),
        None => String::new(),
    };
    let text = settled.text(feedback);
    if settled.is_error() {
        let notice = match settled.notice() {
            Some(notice) => format!(", notice {}", notice.code.name()),
            None => String::new(),
        };
        say("callwright", &format!("{code}{notice}\n{text}"));
        return;
    }
    let (result, beside) = text.split_once("\n\n[").unwrap_or((&text, ""));
    say("tool", &cut(result));
    if let Some(beside) = beside.strip_suffix(']') {
        say("callwright", &format!("{code}\n{beside}"));
    }
}

/// The beginning of a text, in one line.
fn cut(text: &str) -> String {
    let most = WIDTH - INDENT;
    match text.char_indices().nth(most) {
        None => text.to_owned(),
        Some(_) => text.chars().take(most - 1).chain(['…']).collect(),
    }
}

/// Wraps a text; a word that is too long is kept whole.
fn wrapped(text: &str) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in text.split(' ') {
        let Some(line) = lines.last_mut() else { break };
        if line.is_empty() {
            line.push_str(word);
        } else if INDENT + line.chars().count() + 1 + word.chars().count() <= WIDTH {
            line.push(' ');
            line.push_str(word);
        } else {
            lines.push(word.to_owned());
        }
    }
    lines
}
