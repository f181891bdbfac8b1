//! Judges the lines of a recording and renders the verdicts as text.
//!
//! Takes pieces of input; returns rendered verdicts and counts. Never runs a tool.
//!
//! Calls are judged and their verdicts written in batches. Calls that belong to conversations must also be admitted
//! in order: a piece that contains any takes three passes, of which only the short middle one waits for other pieces.

use std::borrow::Cow;
use std::collections::BTreeMap;

use callwright::check::{Checked, OutputVerdict};
use callwright::feedback::Feedback;
use callwright::rescue::{Message, NoCall};
use callwright::wire::{self, Recorded, RecordedLine};
use callwright::{Call, Gate, Opened, Settled, Verdict};
use callwright_replay::run::{TurnTicket, Turnstile};
use callwright_replay::source::{NotText, Piece, Record};

use super::table::Table;

/// Why a response has no call when its text was not searched.
const ONLY_TEXT: &str = "the response has text but no call; --rescue looks for calls in the text";

/// How many records are judged at once: few enough that their memory is still in the CPU cache when the next batch
/// reuses it.
const BATCH: usize = 32;

fn is_of_conversation(line: &RecordedLine<'_>) -> bool {
    matches!(line, RecordedLine::Call(recorded) if recorded.session.is_some())
}

/// Judges lines; shared by all workers.
pub(super) struct LineJudge {
    pub(super) gate: Gate,
    pub(super) feedback: Feedback,
    /// The table for text output; `None` for JSON Lines.
    pub(super) table: Option<Table>,
    /// Show every repair that was tried.
    pub(super) explain: bool,
    /// Also extract calls from messages.
    pub(super) rescue: bool,
    /// Also mask secrets in JSON.
    pub(super) mask: bool,
    pub(super) admission: Turnstile,
}

/// The verdicts on some lines.
#[derive(Debug, Default)]
pub(super) struct Verdicts {
    /// What to print.
    pub(super) text: String,
    /// Lines that are not calls, with the reason.
    pub(super) malformed: Vec<(u64, String)>,
    pub(super) malformed_lines: usize,
    pub(super) valid: usize,
    /// Calls of tools whose schema cannot be read or compiled.
    pub(super) unjudged: usize,
    pub(super) repaired: usize,
    /// Refusals per code.
    pub(super) refused: BTreeMap<&'static str, usize>,
    /// Bad results per code.
    pub(super) results: BTreeMap<String, usize>,
    /// Messages that contain no call.
    pub(super) without_call: usize,
}

/// The contents of a line. A message may contain several calls.
enum Held<'l> {
    Recorded(&'l Recorded<'l>),
    Rescued(Call<'l>),
    /// A message without a call, and the reason if rescue looked for one.
    NoCall(&'l Message<'l>, Option<NoCall>),
}

impl LineJudge {
    /// Judges a piece of the input.
    pub(super) fn judge(&self, turn: usize, piece: &Piece) -> Verdicts {
        let mut verdicts = Verdicts::default();
        // Releases the next piece even if this one fails.
        let mut ticket = Some(self.admission.ticket(turn));
        verdicts.text.reserve(piece.bytes.len() * 2);
        let mut records = piece.records().peekable();
        let mut lines = Vec::new();
        while records.peek().is_some() {
            for record in records.by_ref().take(BATCH) {
                self.read(record, &mut lines, &mut verdicts.malformed);
            }
            let is_last = records.peek().is_none();
            // Calls of conversations wait for their turn once, after all calls of the piece are judged.
            if is_last || !lines.iter().any(|(_, line)| is_of_conversation(line)) {
                self.judge_lines(&lines, ticket.take_if(|_| is_last), &mut verdicts);
                lines.clear();
            }
        }
        verdicts
    }

    /// Parses a record.
    fn read<'p>(
        &self,
        Record { line, text }: Record<'p>,
        lines: &mut Vec<(u64, RecordedLine<'p>)>,
        malformed: &mut Vec<(u64, String)>,
    ) {
        match text {
            Ok(text) => wire::read_record(text, self.rescue, &mut |read| match read {
                Ok(read) => lines.push((line, read)),
                Err(error) => malformed.push((line, self.why(&error))),
            }),
            Err(NotText { valid_up_to }) => malformed.push((
                line,
                format!("not UTF-8: invalid byte at offset {valid_up_to}; save it as UTF-8"),
            )),
        }
    }

    /// Judges some lines. Only the last batch of a piece, which gets the piece's ticket, may contain calls of
    /// conversations.
    fn judge_lines(
        &self,
        lines: &[(u64, RecordedLine<'_>)],
        ticket: Option<TurnTicket<'_>>,
        verdicts: &mut Verdicts,
    ) {
        let held = self.held(lines);
        let mut settled: Vec<Option<Settled<'_>>> = held
            .iter()
            .map(|(_, held)| Some(self.judge_alone(held.call()?, held.recorded())))
            .collect();
        if let Some(ticket) = ticket
            && held
                .iter()
                .any(|(_, held)| held.in_conversation().is_some())
        {
            ticket.wait();
            for ((_, held), settled) in held.iter().zip(&mut settled) {
                if let Some(recorded) = held.in_conversation() {
                    *settled = settled.take().map(|judged| self.admit(recorded, judged));
                }
            }
        }
        for ((number, held), settled) in held.iter().zip(&settled) {
            match (held, held.call(), settled) {
                (Held::NoCall(message, reason), ..) => {
                    self.write_no_call(*number, message, reason.as_ref(), verdicts);
                }
                (_, Some(call), Some(settled)) => self.write(*number, call, settled, verdicts),
                _ => {}
            }
        }
    }

    /// Judges a call and its recorded result without history.
    fn judge_alone<'c>(
        &'c self,
        call: &'c Call<'_>,
        recorded: Option<&'c Recorded<'_>>,
    ) -> Settled<'c> {
        let verdict = self.gate.judge(call);
        let result = recorded.and_then(|recorded| self.result(recorded, &verdict));
        // Digesting a long result takes a while, so it happens before the piece's turn.
        if let (Some(result), Some(_)) = (&result, recorded.and_then(Recorded::place)) {
            result.outcome();
        }
        let mut settled = Settled::from(verdict);
        settled.result = result;
        settled
    }

    /// Why a line is not a call. An unreadable line may contain a secret of any tool.
    fn why(&self, error: &callwright::Error) -> String {
        if self.gate.takes_secrets() {
            error.unquoted()
        } else {
            error.to_string()
        }
    }

    /// The contents of the lines, in order.
    fn held<'l>(&self, lines: &'l [(u64, RecordedLine<'l>)]) -> Vec<(u64, Held<'l>)> {
        let mut held = Vec::with_capacity(lines.len());
        for (number, line) in lines {
            match line {
                RecordedLine::Call(recorded) => match self.parts(recorded) {
                    Some(calls) => {
                        held.extend(calls.into_iter().map(|call| (*number, Held::Rescued(call))));
                    }
                    None => held.push((*number, Held::Recorded(recorded))),
                },
                RecordedLine::Message(message) if !self.rescue => {
                    held.push((*number, Held::NoCall(message, None)));
                }
                RecordedLine::Message(message) => match self.gate.rescue(message) {
                    Ok(rescued) => {
                        let calls = rescued.calls.into_iter();
                        held.extend(calls.map(|call| (*number, Held::Rescued(call))));
                    }
                    Err(reason) => held.push((*number, Held::NoCall(message, Some(reason)))),
                },
                _ => {}
            }
        }
        held
    }

    /// The calls inside a call without a recorded result, if there are several and rescue is on.
    fn parts(&self, recorded: &Recorded<'_>) -> Option<Vec<Call<'static>>> {
        let is_alone = recorded.session.is_none() && recorded.ran().is_none();
        if !self.rescue || !is_alone || self.gate.judge(&recorded.call).failure().is_none() {
            return None;
        }
        self.gate.split(&recorded.call)
    }

    /// Asks whether a call of a conversation may run, and records its outcome.
    fn admit<'c>(&'c self, recorded: &'c Recorded<'_>, judged: Settled<'c>) -> Settled<'c> {
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

    /// Judges a recorded result, if the call would have run.
    fn result<'c>(&self, recorded: &'c Recorded<'_>, verdict: &Verdict<'_>) -> Option<Checked<'c>> {
        let (tool, arguments) = match verdict {
            Verdict::Valid(valid) => (valid.tool(), valid.arguments()),
            Verdict::Repaired(repaired) => (repaired.tool(), repaired.arguments()),
            Verdict::Refused(_) => return None,
        };
        Some(self.gate.check(tool, arguments, recorded.ran()?))
    }

    /// Writes a line that says why a message contains no call.
    fn write_no_call(
        &self,
        number: u64,
        message: &Message<'_>,
        reason: Option<&NoCall>,
        verdicts: &mut Verdicts,
    ) {
        verdicts.without_call += 1;
        let name = reason.map_or("only_text", NoCall::name);
        if let Some(table) = &self.table {
            let words = reason.map_or_else(|| ONLY_TEXT.to_owned(), NoCall::to_string);
            table.no_call_row(number, name, &words, &mut verdicts.text);
            return;
        }
        let id = message.id.as_ref();
        let id = id.map_or(String::new(), |id| format!("\"id\":{id},"));
        verdicts.text += &format!("{{{id}\"verdict\":\"no_call\",\"reason\":\"{name}\"}}\n");
    }

    /// The tool name that the model used, safe to print.
    fn shown_name<'c>(&self, call: &'c Call<'_>, verdict: &'c Verdict<'_>) -> Cow<'c, str> {
        match verdict {
            Verdict::Refused(refused) => Cow::Borrowed(refused.shown_name(call)),
            Verdict::Repaired(repaired) if repaired.tool().name() != call.tool => {
                self.gate.secrecy(call, verdict).name(&call.tool)
            }
            _ => Cow::Borrowed(&call.tool),
        }
    }

    fn write(&self, number: u64, call: &Call<'_>, settled: &Settled<'_>, out: &mut Verdicts) {
        match &settled.verdict {
            Verdict::Repaired(_) => out.repaired += 1,
            Verdict::Refused(refused) => {
                *out.refused.entry(refused.failure.code.name()).or_default() += 1;
            }
            Verdict::Valid(valid) if valid.is_unjudged() => out.unjudged += 1,
            Verdict::Valid(_) => out.valid += 1,
        }
        if let Some(result) = &settled.result
            && let Some(failure) = &result.failure
            && result.verdict != OutputVerdict::Warned
        {
            let code = failure.code_name().to_owned();
            *out.results.entry(code).or_default() += 1;
        }
        if let Some(table) = &self.table {
            let name = self.shown_name(call, &settled.verdict);
            table.row(number, &name, settled, &self.feedback, &mut out.text);
            if self.explain {
                let trials = self.gate.explain(call);
                Table::trials(&trials, &settled.verdict, &self.feedback, &mut out.text);
            }
            return;
        }
        let mut line = settled.line(call, &self.feedback);
        if self.mask {
            line = line.masked(self.gate.secrecy(call, &settled.verdict));
        }
        line.write(&mut out.text);
        out.text.push('\n');
    }
}

impl<'l> Held<'l> {
    fn call(&self) -> Option<&Call<'l>> {
        match self {
            Held::Recorded(recorded) => Some(&recorded.call),
            Held::Rescued(call) => Some(call),
            Held::NoCall(..) => None,
        }
    }

    fn recorded(&self) -> Option<&'l Recorded<'l>> {
        match self {
            Held::Recorded(recorded) => Some(recorded),
            _ => None,
        }
    }

    fn in_conversation(&self) -> Option<&'l Recorded<'l>> {
        self.recorded()
            .filter(|recorded| recorded.session.is_some())
    }
}

impl Verdicts {
    /// Adds the counts of a part.
    pub(super) fn add_counts(&mut self, part: &Verdicts) {
        self.valid += part.valid;
        self.unjudged += part.unjudged;
        self.repaired += part.repaired;
        self.without_call += part.without_call;
        self.malformed_lines += part.malformed.len();
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
        let calls = self.valid + self.unjudged + self.repaired + refused;
        let plural = if calls == 1 { "" } else { "s" };
        let codes = by_code(&self.refused);
        let (valid, repaired) = (self.valid, self.repaired);
        let unjudged = match self.unjudged {
            0 => String::new(),
            count => format!(", {count} unjudged"),
        };
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
            "{calls} call{plural}: {valid} valid, {repaired} repaired, {refused} refused{codes}{unjudged}{results}{messages}"
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
