//! A chunk of lines → the verdicts on them, as text.

use std::collections::BTreeMap;

use callwright::feedback::Feedback;
use callwright::rescue::Message;
use callwright::wire::{self, Answer};
use callwright::{Call, Gate, Verdict};

use super::chunks::Chunk;
use super::table::Table;

/// What to print for a verdict.
pub(super) enum Output {
    Json,
    Text(Table),
}

/// Judges lines; shared by all workers.
pub(super) struct Judge {
    gate: Gate,
    feedback: Feedback,
    output: Output,
    explain: bool,
    rescue: bool,
}

/// What came of some lines.
#[derive(Debug, Default)]
pub(super) struct Judged {
    /// What to print.
    pub(super) text: String,
    /// How many bytes of input this was.
    pub(super) bytes: usize,
    /// Lines that are no calls, and why.
    pub(super) malformed: Vec<(usize, String)>,
    pub(super) malformed_lines: usize,
    pub(super) valid: usize,
    pub(super) repaired: usize,
    /// How often which code was given.
    pub(super) refused: BTreeMap<&'static str, usize>,
    /// Messages in which no call is written.
    pub(super) without_call: usize,
}

impl Judge {
    pub(super) fn new(gate: Gate, feedback: Feedback, output: Output) -> Self {
        Judge {
            gate,
            feedback,
            output,
            explain: false,
            rescue: false,
        }
    }

    /// The same judge, showing every repair that was tried.
    pub(super) fn explaining(mut self, explain: bool) -> Self {
        self.explain = explain;
        self
    }

    /// The same judge, taking calls out of messages too.
    pub(super) fn rescuing(mut self, rescue: bool) -> Self {
        self.rescue = rescue;
        self
    }

    pub(super) fn chunk(&self, chunk: Chunk) -> Judged {
        let mut judged = Judged::default();
        match chunk {
            Chunk::Lines { first_line, bytes } => {
                judged.bytes = bytes.len();
                judged.text.reserve(bytes.len() * 2);
                let mut start = 0;
                let ends = memchr::memchr_iter(b'\n', &bytes).chain([bytes.len()]);
                for (at, end) in ends.enumerate() {
                    let line = &bytes[start..end];
                    start = (end + 1).min(bytes.len());
                    if !line.trim_ascii().is_empty() {
                        self.line(first_line + at, line, &mut judged);
                    }
                }
            }
            Chunk::TooLong { line, bytes } => {
                judged.bytes = bytes;
                let longest = Chunk::LONGEST_LINE;
                let why =
                    format!("has {bytes} bytes, more than the {longest} that are read; split it");
                judged.malformed.push((line, why));
            }
        }
        judged
    }

    fn line(&self, number: usize, line: &[u8], judged: &mut Judged) {
        let text = match std::str::from_utf8(line) {
            Ok(text) => text,
            Err(error) => {
                let offset = error.valid_up_to();
                let why = format!("not UTF-8: invalid byte at offset {offset}; save it as UTF-8");
                judged.malformed.push((number, why));
                return;
            }
        };
        let text = match number {
            1 => text.trim_start_matches('\u{feff}'),
            _ => text,
        };
        let answer = if self.rescue {
            wire::read_answer(text)
        } else {
            wire::read_line(text).map(Answer::Call)
        };
        match answer {
            Ok(Answer::Call(call)) => self.call(number, &call, judged),
            Ok(Answer::Message(message)) => self.message(number, &message, judged),
            Ok(_) => {}
            Err(error) => judged.malformed.push((number, error.to_string())),
        }
    }

    /// The calls in a message; one without any gets a line that says why.
    fn message(&self, number: usize, message: &Message<'_>, judged: &mut Judged) {
        let reason = match self.gate.rescue(message) {
            Ok(rescued) => {
                for call in &rescued.calls {
                    self.call(number, call, judged);
                }
                return;
            }
            Err(reason) => reason,
        };
        judged.without_call += 1;
        match &self.output {
            Output::Json => {
                let id = message.id.as_ref();
                let id = id.map_or(String::new(), |id| format!("\"id\":{id},"));
                let reason = reason.name();
                judged.text +=
                    &format!("{{{id}\"verdict\":\"no_call\",\"reason\":\"{reason}\"}}\n");
            }
            Output::Text(table) => table.no_call_row(number, &reason, &mut judged.text),
        }
    }

    fn call(&self, number: usize, call: &Call<'_>, judged: &mut Judged) {
        let verdict = self.gate.judge(call);
        match &verdict {
            Verdict::Repaired(_) => judged.repaired += 1,
            Verdict::Refused(refused) => {
                let code = refused.failure.code.name();
                *judged.refused.entry(code).or_default() += 1;
            }
            _ => judged.valid += 1,
        }
        match &self.output {
            Output::Json => {
                verdict.line(call, &self.feedback).write(&mut judged.text);
                judged.text.push('\n');
            }
            Output::Text(table) => {
                table.row(number, call, &verdict, &self.feedback, &mut judged.text);
                if self.explain {
                    Table::trials(&self.gate.explain(call), &self.feedback, &mut judged.text);
                }
            }
        }
    }
}

impl Judged {
    /// Adds the counts of a part.
    pub(super) fn add_counts(&mut self, part: &Judged) {
        self.valid += part.valid;
        self.repaired += part.repaired;
        self.without_call += part.without_call;
        for (code, count) in &part.refused {
            *self.refused.entry(code).or_default() += count;
        }
    }

    /// `5 calls: 3 valid, 2 refused (1 invalid_arguments, 1 invalid_json)`
    pub(super) fn summary(&self) -> String {
        let refused: usize = self.refused.values().sum();
        let calls = self.valid + self.repaired + refused;
        let plural = if calls == 1 { "" } else { "s" };
        let codes: Vec<String> = self
            .refused
            .iter()
            .map(|(code, count)| format!("{count} {code}"))
            .collect();
        let codes = match codes.as_slice() {
            [] => String::new(),
            codes => format!(" ({})", codes.join(", ")),
        };
        let (valid, repaired) = (self.valid, self.repaired);
        let messages = match self.without_call {
            0 => String::new(),
            1 => "; 1 message without a call".to_owned(),
            count => format!("; {count} messages without a call"),
        };
        format!(
            "{calls} call{plural}: {valid} valid, {repaired} repaired, {refused} refused{codes}{messages}"
        )
    }
}
