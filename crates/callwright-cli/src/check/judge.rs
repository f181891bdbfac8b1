//! A chunk of lines → the verdicts on them, as text.
//!
//! In three passes: all calls and answers are read and judged, then those that belong to a conversation are admitted when it is this
//! chunk's turn, then all are written. Only the middle one, which is short, waits for other chunks.

use std::collections::BTreeMap;

use callwright::admit::Outcome;
use callwright::feedback::Feedback;
use callwright::wire::{self, Recorded};
use callwright::{Gate, Opened, Settled, Verdict};

use super::chunks::Chunk;
use super::table::Table;
use super::turnstile::Turnstile;

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
    turnstile: Turnstile,
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
}

impl Judge {
    pub(super) fn new(gate: Gate, feedback: Feedback, output: Output, explain: bool) -> Self {
        Judge {
            gate,
            feedback,
            output,
            explain,
            turnstile: Turnstile::default(),
        }
    }

    /// Judges chunk number `turn`, counted from zero.
    pub(super) fn chunk(&self, turn: usize, chunk: Chunk) -> Judged {
        let mut judged = Judged::default();
        // Lets the next chunk pass in any case.
        let ticket = self.turnstile.ticket(turn);
        match chunk {
            Chunk::Lines { first_line, bytes } => {
                judged.bytes = bytes.len();
                judged.text.reserve(bytes.len() * 2);
                let mut recorded = Vec::new();
                let mut start = 0;
                let ends = memchr::memchr_iter(b'\n', &bytes).chain([bytes.len()]);
                for (at, end) in ends.enumerate() {
                    let line = &bytes[start..end];
                    start = (end + 1).min(bytes.len());
                    if !line.trim_ascii().is_empty() {
                        match read(first_line + at, line) {
                            Ok(call) => recorded.push((first_line + at, call)),
                            Err(why) => judged.malformed.push((first_line + at, why)),
                        }
                    }
                }
                let mut verdicts: Vec<Settled<'_>> = recorded
                    .iter()
                    .map(|(_, recorded)| Settled::from(self.gate.judge(&recorded.call)))
                    .collect();
                if recorded
                    .iter()
                    .any(|(_, recorded)| recorded.session.is_some())
                {
                    let outcomes: Vec<Option<Outcome>> = recorded
                        .iter()
                        .map(|(_, recorded)| recorded.outcome())
                        .collect();
                    ticket.wait();
                    verdicts = recorded
                        .iter()
                        .zip(verdicts)
                        .zip(outcomes)
                        .map(|(((_, recorded), judged), outcome)| {
                            self.admit(recorded, judged, outcome)
                        })
                        .collect();
                }
                drop(ticket);
                for ((number, recorded), settled) in recorded.iter().zip(&verdicts) {
                    self.write(*number, recorded, settled, &mut judged);
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

    /// Asks whether a call of a conversation may run, and notes what came of it.
    fn admit<'c>(
        &'c self,
        recorded: &'c Recorded<'_>,
        judged: Settled<'c>,
        outcome: Option<Outcome>,
    ) -> Settled<'c> {
        let Some(place) = recorded.place() else {
            return judged;
        };
        let opened = self.gate.admit(&recorded.call, judged.verdict, place);
        match (opened, outcome) {
            (Opened::Refused(refused), _) => Verdict::Refused(refused).into(),
            (Opened::Admitted(ticket), Some(outcome)) => self.gate.close(ticket, &outcome),
            (Opened::Admitted(ticket), None) => ticket.into(),
        }
    }

    fn write(
        &self,
        number: usize,
        recorded: &Recorded<'_>,
        settled: &Settled<'_>,
        judged: &mut Judged,
    ) {
        let (call, verdict) = (&recorded.call, &settled.verdict);
        match verdict {
            Verdict::Repaired(_) => judged.repaired += 1,
            Verdict::Refused(refused) => {
                let code = refused.failure.code.name();
                *judged.refused.entry(code).or_default() += 1;
            }
            _ => judged.valid += 1,
        }
        match &self.output {
            Output::Json => {
                let line = settled.line(call, &self.feedback);
                line.write(&mut judged.text);
                judged.text.push('\n');
            }
            Output::Text(table) => {
                table.row(number, call, settled, &self.feedback, &mut judged.text);
                if self.explain {
                    Table::trials(&self.gate.explain(call), &self.feedback, &mut judged.text);
                }
            }
        }
    }
}

/// Reads one line as a call; says what is wrong with it if it is none.
fn read(number: usize, line: &[u8]) -> Result<Recorded<'_>, String> {
    let text = std::str::from_utf8(line).map_err(|error| {
        let offset = error.valid_up_to();
        format!("not UTF-8: invalid byte at offset {offset}; save it as UTF-8")
    })?;
    let text = match number {
        1 => text.trim_start_matches('\u{feff}'),
        _ => text,
    };
    wire::read_recorded(text).map_err(|error| error.to_string())
}

impl Judged {
    /// Adds the counts of a part.
    pub(super) fn add_counts(&mut self, part: &Judged) {
        self.valid += part.valid;
        self.repaired += part.repaired;
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
        format!(
            "{calls} call{plural}: {valid} valid, {repaired} repaired, {refused} refused{codes}"
        )
    }
}
