//! A chunk of lines → the verdicts on them, as text.
//!
//! Calls are judged and written one by one. From the first that belongs to a conversation on, there are three passes:
//! all are judged, then those of conversations are admitted when it is this chunk's turn, then all are written. Only
//! the middle one, which is short, waits for other chunks.

use std::borrow::Cow;
use std::collections::BTreeMap;

use callwright::check::{Checked, OutputVerdict};
use callwright::feedback::Feedback;
use callwright::rescue::{Message, NoCall};
use callwright::wire::{self, Answer, Recorded};
use callwright::{Call, Gate, Opened, Settled, Verdict};
use callwright_replay::run::{Ticket, Turnstile};

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
    mask: bool,
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
    /// How often which code was given to a result.
    pub(super) results: BTreeMap<String, usize>,
    /// Messages in which no call is written.
    pub(super) without_call: usize,
}

/// A line that could be read.
enum Line<'l> {
    Call(Recorded<'l>),
    Message(Message<'l>),
}

/// What a line holds.
enum Item<'l> {
    Recorded(&'l Recorded<'l>),
    Rescued(Call<'l>),
    NoCall(&'l Message<'l>, NoCall),
}

impl Judge {
    pub(super) fn new(gate: Gate, feedback: Feedback, output: Output) -> Self {
        Judge {
            gate,
            feedback,
            output,
            explain: false,
            rescue: false,
            mask: false,
            turnstile: Turnstile::default(),
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

    /// The same judge, hiding secrets from programs too.
    pub(super) fn masking(mut self, mask: bool) -> Self {
        self.mask = mask;
        self
    }

    /// Judges chunk number `turn`, counted from zero.
    pub(super) fn chunk(&self, turn: usize, chunk: Chunk) -> Judged {
        let mut judged = Judged::default();
        // Lets the next chunk pass in any case.
        let ticket = self.turnstile.ticket(turn);
        let (first_line, bytes) = match chunk {
            Chunk::Lines { first_line, bytes } => (first_line, bytes),
            Chunk::TooLong { line, bytes } => {
                judged.bytes = bytes;
                let longest = Chunk::LONGEST_LINE;
                let why =
                    format!("has {bytes} bytes, more than the {longest} that are read; split it");
                judged.malformed.push((line, why));
                return judged;
            }
        };
        judged.bytes = bytes.len();
        judged.text.reserve(bytes.len() * 2);
        // From the first line of a conversation on, lines wait for the chunk's turn.
        let mut waiting = Vec::new();
        let mut start = 0;
        let ends = memchr::memchr_iter(b'\n', &bytes).chain([bytes.len()]);
        for (at, end) in ends.enumerate() {
            let (number, line) = (first_line + at, &bytes[start..end]);
            start = (end + 1).min(bytes.len());
            if line.trim_ascii().is_empty() {
                continue;
            }
            match self.read_line(number, line) {
                Ok(line) if waiting.is_empty() && !line.is_in_conversation() => {
                    self.at_once(number, &line, &mut judged);
                }
                Ok(line) => waiting.push((number, line)),
                Err(why) => judged.malformed.push((number, why)),
            }
        }
        if !waiting.is_empty() {
            self.in_turn(&waiting, ticket, &mut judged);
        }
        judged
    }

    /// Judges and writes a line that belongs to no conversation.
    fn at_once(&self, number: usize, line: &Line<'_>, judged: &mut Judged) {
        match line {
            Line::Call(recorded) => {
                let verdict = self.gate.judge(&recorded.call);
                let result = self.result(recorded, &verdict);
                let mut settled = Settled::from(verdict);
                settled.result = result;
                self.write(number, &recorded.call, &settled, judged);
            }
            Line::Message(message) => match self.gate.rescue(message) {
                Ok(rescued) => {
                    for call in &rescued.calls {
                        self.write(number, call, &self.gate.judge(call).into(), judged);
                    }
                }
                Err(reason) => self.write_no_call(number, message, &reason, judged),
            },
        }
    }

    /// Judges lines, admits those that belong to a conversation in their turn, and writes them.
    fn in_turn(&self, lines: &[(usize, Line<'_>)], ticket: Ticket<'_>, judged: &mut Judged) {
        let items = self.items(lines);
        let mut settled: Vec<Option<Settled<'_>>> = items
            .iter()
            .map(|(_, item)| item.call().map(|call| self.gate.judge(call).into()))
            .collect();
        // Long answers take a while to read, and nobody need wait for that.
        for ((_, item), settled) in items.iter().zip(&mut settled) {
            if let (Item::Recorded(recorded), Some(settled)) = (item, settled) {
                settled.result = self.result(recorded, &settled.verdict);
                if let Some(result) = &settled.result
                    && recorded.session.is_some()
                {
                    result.outcome();
                }
            }
        }
        ticket.wait();
        for ((_, item), judged) in items.iter().zip(&mut settled) {
            *judged = judged.take().map(|judged| self.admit(item, judged));
        }
        drop(ticket);
        for ((number, item), settled) in items.iter().zip(&settled) {
            match (item, item.call(), settled) {
                (Item::NoCall(message, reason), ..) => {
                    self.write_no_call(*number, message, reason, judged);
                }
                (_, Some(call), Some(settled)) => self.write(*number, call, settled, judged),
                _ => {}
            }
        }
    }

    fn read_line<'l>(&self, number: usize, line: &'l [u8]) -> Result<Line<'l>, String> {
        let text = std::str::from_utf8(line).map_err(|error| {
            let offset = error.valid_up_to();
            format!("not UTF-8: invalid byte at offset {offset}; save it as UTF-8")
        })?;
        let text = match number {
            1 => text.trim_start_matches('\u{feff}'),
            _ => text,
        };
        if self.rescue {
            match wire::read_answer(text) {
                Ok(Answer::Message(message)) => return Ok(Line::Message(message)),
                Ok(_) => {}
                Err(error) => return Err(self.why(&error)),
            }
        }
        let recorded = wire::read_recorded(text);
        recorded.map(Line::Call).map_err(|error| self.why(&error))
    }

    /// Why a line is not a call. What cannot be read may hold a secret of any tool.
    fn why(&self, error: &callwright::Error) -> String {
        if self.gate.takes_secrets() {
            error.unquoted()
        } else {
            error.to_string()
        }
    }

    /// The calls in the lines, in order, those in messages included.
    fn items<'l>(&self, lines: &'l [(usize, Line<'l>)]) -> Vec<(usize, Item<'l>)> {
        let mut items = Vec::with_capacity(lines.len());
        for (number, line) in lines {
            match line {
                Line::Call(recorded) => items.push((*number, Item::Recorded(recorded))),
                Line::Message(message) => match self.gate.rescue(message) {
                    Ok(rescued) => {
                        let calls = rescued.calls.into_iter();
                        items.extend(calls.map(|call| (*number, Item::Rescued(call))));
                    }
                    Err(reason) => items.push((*number, Item::NoCall(message, reason))),
                },
            }
        }
        items
    }

    /// Asks whether a call of a conversation may run, and notes what came of it.
    fn admit<'c>(&'c self, item: &'c Item<'_>, judged: Settled<'c>) -> Settled<'c> {
        let Item::Recorded(recorded) = item else {
            return judged;
        };
        let Some(place) = recorded.place() else {
            return judged;
        };
        let opened = self.gate.admit(&recorded.call, judged.verdict, place);
        match (opened, judged.result) {
            (Opened::Refused(refused), _) => Verdict::Refused(refused).into(),
            (Opened::Admitted(ticket), Some(result)) => self.gate.settle(ticket, result),
            (Opened::Admitted(ticket), None) => ticket.into(),
        }
    }

    /// What to make of a recorded result, if the call would have run.
    fn result<'c>(&self, recorded: &'c Recorded<'_>, verdict: &Verdict<'_>) -> Option<Checked<'c>> {
        let (tool, arguments) = match verdict {
            Verdict::Valid(valid) => (valid.tool(), valid.arguments()),
            Verdict::Repaired(repaired) => (repaired.tool(), repaired.arguments()),
            _ => return None,
        };
        Some(self.gate.check(tool, arguments, recorded.ran()?))
    }

    /// A message without any call gets a line that says why.
    fn write_no_call(
        &self,
        number: usize,
        message: &Message<'_>,
        reason: &NoCall,
        judged: &mut Judged,
    ) {
        judged.without_call += 1;
        match &self.output {
            Output::Json => {
                let id = message.id.as_ref();
                let id = id.map_or(String::new(), |id| format!("\"id\":{id},"));
                let reason = reason.name();
                judged.text +=
                    &format!("{{{id}\"verdict\":\"no_call\",\"reason\":\"{reason}\"}}\n");
            }
            Output::Text(table) => table.no_call_row(number, reason, &mut judged.text),
        }
    }

    /// What the model called the tool, as it may be shown.
    fn shown_name<'c>(&self, call: &'c Call<'_>, verdict: &'c Verdict<'_>) -> Cow<'c, str> {
        match verdict {
            Verdict::Refused(refused) => Cow::Borrowed(refused.shown_name(call)),
            Verdict::Repaired(repaired) if repaired.tool().name() != call.tool => {
                self.gate.secrecy(call, verdict).name(&call.tool)
            }
            _ => Cow::Borrowed(&call.tool),
        }
    }

    fn write(&self, number: usize, call: &Call<'_>, settled: &Settled<'_>, judged: &mut Judged) {
        match &settled.verdict {
            Verdict::Repaired(_) => judged.repaired += 1,
            Verdict::Refused(refused) => {
                let code = refused.failure.code.name();
                *judged.refused.entry(code).or_default() += 1;
            }
            _ => judged.valid += 1,
        }
        if let Some(result) = &settled.result
            && let Some(failure) = &result.failure
            && result.verdict != OutputVerdict::Warned
        {
            let code = failure.code_name().to_owned();
            *judged.results.entry(code).or_default() += 1;
        }
        match &self.output {
            Output::Json => {
                let mut line = settled.line(call, &self.feedback);
                if self.mask {
                    line = line.masked(self.gate.secrecy(call, &settled.verdict));
                }
                line.write(&mut judged.text);
                judged.text.push('\n');
            }
            Output::Text(table) => {
                let name = self.shown_name(call, &settled.verdict);
                table.row(number, &name, settled, &self.feedback, &mut judged.text);
                if self.explain {
                    Table::trials(&self.gate.explain(call), &self.feedback, &mut judged.text);
                }
            }
        }
    }
}

impl Line<'_> {
    fn is_in_conversation(&self) -> bool {
        matches!(self, Line::Call(recorded) if recorded.session.is_some())
    }
}

impl<'l> Item<'l> {
    fn call(&self) -> Option<&Call<'l>> {
        match self {
            Item::Recorded(recorded) => Some(&recorded.call),
            Item::Rescued(call) => Some(call),
            Item::NoCall(..) => None,
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
        for (code, count) in &part.results {
            *self.results.entry(code.clone()).or_default() += count;
        }
    }

    /// `5 calls: 3 valid, 2 refused (1 invalid_arguments, 1 invalid_json)`
    pub(super) fn summary(&self) -> String {
        let refused: usize = self.refused.values().sum();
        let calls = self.valid + self.repaired + refused;
        let plural = if calls == 1 { "" } else { "s" };
        let codes = by_code(&self.refused);
        let (valid, repaired) = (self.valid, self.repaired);
        let messages = match self.without_call {
            0 => String::new(),
            1 => "; 1 message without a call".to_owned(),
            count => format!("; {count} messages without a call"),
        };
        let results = match self.results.values().sum::<usize>() {
            0 => String::new(),
            1 => format!("; 1 bad result{}", by_code(&self.results)),
            count => format!("; {count} bad results{}", by_code(&self.results)),
        };
        format!(
            "{calls} call{plural}: {valid} valid, {repaired} repaired, {refused} refused{codes}{results}{messages}"
        )
    }
}

/// ` (1 invalid_arguments, 1 invalid_json)`
fn by_code<C: std::fmt::Display>(counts: &BTreeMap<C, usize>) -> String {
    let codes: Vec<String> = counts
        .iter()
        .map(|(code, count)| format!("{count} {code}"))
        .collect();
    match codes.as_slice() {
        [] => String::new(),
        codes => format!(" ({})", codes.join(", ")),
    }
}
