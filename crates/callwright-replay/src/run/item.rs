//! The records of a piece → calls and results, each with the tools that judge it.

use std::sync::Arc;

use callwright::Error;
use xxhash_rust::xxh3::xxh3_64;

use super::local::{Local, Spot};
use super::tools::{FromLog, ToolSet};
use crate::read::{self, Format, Reader, Reading};
use crate::seen::{Answer, Seen, SeenCall, SeenResult};
use crate::source::Piece;
use crate::summary::{Input, Trouble};

/// Which tools judge.
#[derive(Debug)]
pub(super) enum Tools {
    /// Those that were given.
    Given(Arc<ToolSet>),
    /// Those that the log itself shows.
    FromLog(Box<FromLog>),
}

impl Tools {
    /// All tools that are declared, if nothing is wrong with them.
    pub(super) fn all(&self) -> Option<Arc<ToolSet>> {
        match self {
            Tools::Given(set) => Some(Arc::clone(set)),
            Tools::FromLog(log) => log.all().ok(),
        }
    }
}

/// Something that a record shows, with what is needed to judge it.
#[derive(Debug)]
pub(super) struct Item<'p> {
    pub(super) spot: Spot<'p>,
    pub(super) set: Set<'p>,
    pub(super) what: What<'p>,
}

/// A call of which it is clear that it counts.
#[derive(Debug)]
pub(super) struct Settled<'p> {
    pub(super) spot: Spot<'p>,
    pub(super) set: Set<'p>,
    pub(super) call: Box<SeenCall<'p>>,
    /// The record that shows it.
    pub(super) record: &'p str,
}

/// The tools that judge. Those that were given are borrowed: all workers counting how often they are used would be felt.
#[derive(Debug, Clone)]
pub(super) enum Set<'p> {
    Given(&'p Arc<ToolSet>),
    Shown(Arc<ToolSet>),
}

impl std::ops::Deref for Set<'_> {
    type Target = Arc<ToolSet>;

    fn deref(&self) -> &Arc<ToolSet> {
        match self {
            Set::Given(set) => set,
            Set::Shown(set) => set,
        }
    }
}

#[derive(Debug)]
pub(super) enum What<'p> {
    Call {
        seen: Box<SeenCall<'p>>,
        /// Whether its result may stand in another record.
        answered_elsewhere: bool,
        /// Whether other records may show it again, as requests show the whole conversation.
        shown_again: bool,
    },
    Result(SeenResult<'p>),
}

impl<'p> What<'p> {
    /// What a tool answered, if that is here.
    pub(super) fn answer(&self) -> Option<&Answer<'p>> {
        match self {
            What::Call { seen, .. } => seen.answer.as_ref(),
            What::Result(result) => Some(&result.answer),
        }
    }
}

impl<'p> Item<'p> {
    /// The call, if it can be counted at once: nothing else shows it, and no result of it comes later.
    #[expect(
        clippy::result_large_err,
        reason = "no error, and as large as what it was"
    )]
    pub(super) fn into_settled(self, record: &'p str) -> Result<Settled<'p>, Item<'p>> {
        let Item { spot, set, what } = self;
        match what {
            What::Call {
                seen: call,
                answered_elsewhere: false,
                shown_again: false,
            } => Ok(Settled {
                spot,
                set,
                call,
                record,
            }),
            what => Err(Item { spot, set, what }),
        }
    }

    /// When it happened.
    pub(super) fn time(&self) -> Option<i64> {
        match &self.what {
            What::Call { seen, .. } => seen.at.time,
            What::Result(result) => result.at.time,
        }
    }
}

/// Everything that the records of a piece show, with the record, goes to `found`. What cannot be read is noted.
pub(super) fn items<'p>(
    tools: &'p Tools,
    piece: &'p Piece,
    reader: &mut Reader,
    local: &mut Local,
    mut found: impl FnMut(Item<'p>, &'p str, &mut Local),
) {
    let mut reading = Reading::default();
    let file = piece.file();
    local.summary.input.bytes += piece.bytes().len() as u64;
    for record in piece.records() {
        let input = &mut local.summary.input;
        input.records += 1;
        let line = record.line;
        let text = match record.text {
            Ok(text) => text,
            Err(error) => {
                let trouble = Trouble::at(file, line);
                input.troubles.add(error.to_string(), trouble);
                continue;
            }
        };
        reader.read(text, read::Place { file, line }, &mut reading);
        for trouble in reading.troubles.drain(..) {
            input
                .troubles
                .add(trouble.into_owned(), Trouble::at(file, line));
        }
        if let Some(format) = reading.format {
            count_format(input, format);
            input.without_calls += u64::from(reading.seen.is_empty());
        }
        let spot = Spot {
            file,
            line,
            hash: xxh3_64(text.as_bytes()),
        };
        let sorted = sort_out(tools, &mut reading, spot, |item| found(item, text, local));
        if let Err(error) = sorted {
            local
                .summary
                .input
                .troubles
                .add(error.to_string(), Trouble::at(file, line));
        }
    }
}

fn count_format(input: &mut Input, format: Format) {
    match input.formats.get_mut(format.name()) {
        Some(count) => *count += 1,
        None => {
            input.formats.insert(format.name().to_owned(), 1);
        }
    }
}

/// Gives every call the tools that judge it: those that its record carries, or else all that are known.
fn sort_out<'p>(
    tools: &'p Tools,
    reading: &mut Reading<'p>,
    spot: Spot<'p>,
    mut found: impl FnMut(Item<'p>),
) -> Result<(), Error> {
    // These say all about a call in one record.
    let in_one = matches!(reading.format, Some(Format::Event | Format::Call));
    let is_chat = matches!(
        reading.format,
        Some(Format::OpenAiChat | Format::OpenAiResponses | Format::Anthropic | Format::Gemini)
    );
    let mut offered: Option<Arc<ToolSet>> = None;
    for seen in reading.seen.drain(..) {
        let what = match seen {
            Seen::Tools(shown) => {
                if let Tools::FromLog(log) = tools {
                    log.learn(&shown);
                    offered = Some(log.of_request(&shown)?);
                }
                continue;
            }
            Seen::Call(seen) => What::Call {
                answered_elsewhere: !in_one && seen.answer.is_none(),
                shown_again: is_chat || seen.in_history,
                seen,
            },
            Seen::Result(result) => What::Result(result),
        };
        let set = match (tools, &offered, &what) {
            (Tools::Given(set), ..) => Set::Given(set),
            (_, Some(set), _) => Set::Shown(Arc::clone(set)),
            (Tools::FromLog(log), None, What::Call { seen, .. }) => {
                Set::Shown(log.all_with(&seen.call.tool)?)
            }
            (Tools::FromLog(log), None, What::Result(_)) => Set::Shown(log.all()?),
        };
        found(Item { spot, set, what });
    }
    Ok(())
}
