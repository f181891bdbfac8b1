//! The records of a piece → calls and results, each with the tools that judge it.

use std::sync::Arc;

use callwright::Error;
use xxhash_rust::xxh3::xxh3_64;

use super::counts::Counts;
use super::tools::{ToolSet, Tools};
use crate::read::{Format, Reader, Reading, RecordPlace};
use crate::seen::{Seen, SeenCall, SeenResult, ToolAnswer};
use crate::source::Piece;
use crate::summary::Trouble;

/// About how many bytes a record has: room is made for as many as a piece then holds. A guess will do.
const USUAL_RECORD: usize = 300;

/// The record in which something was seen.
#[derive(Debug, Clone, Copy)]
pub(super) struct Spot<'s> {
    pub(super) file: &'s str,
    pub(super) line: u64,
    /// A hash of the record, which decides whether it is kept as an example and whether its call is sampled.
    pub(super) hash: u64,
}

/// A call or a result that a record shows, with what is needed to judge it.
#[derive(Debug)]
pub(super) struct Sighting<'p> {
    pub(super) spot: Spot<'p>,
    pub(super) set: JudgingSet<'p>,
    pub(super) what: Sighted<'p>,
}

#[derive(Debug)]
pub(super) enum Sighted<'p> {
    Call {
        seen: Box<SeenCall<'p>>,
        /// Whether its result may be in another record.
        answered_elsewhere: bool,
        /// Whether other records may show it again, as requests show the whole conversation.
        shown_again: bool,
    },
    Result(SeenResult<'p>),
}

/// The tools that judge. Those that were given are borrowed, so that workers do not contend for a reference count.
#[derive(Debug)]
pub(super) enum JudgingSet<'p> {
    Given(&'p Arc<ToolSet>),
    Shown(Arc<ToolSet>),
}

impl std::ops::Deref for JudgingSet<'_> {
    type Target = Arc<ToolSet>;

    fn deref(&self) -> &Arc<ToolSet> {
        match self {
            JudgingSet::Given(set) => set,
            JudgingSet::Shown(set) => set,
        }
    }
}

impl<'p> Sighting<'p> {
    /// The tool's answer, if it is here.
    pub(super) fn answer(&self) -> Option<&ToolAnswer<'p>> {
        match &self.what {
            Sighted::Call { seen, .. } => seen.answer.as_ref(),
            Sighted::Result(result) => Some(&result.answer),
        }
    }

    /// Takes the answer of a call that is looked at only once, so that nothing of it is copied.
    pub(super) fn take_answer(&mut self) -> Option<ToolAnswer<'p>> {
        match &mut self.what {
            Sighted::Call {
                seen,
                answered_elsewhere: false,
                shown_again: false,
            } => seen.answer.take(),
            _ => None,
        }
    }

    /// When it happened.
    pub(super) fn time(&self) -> Option<i64> {
        match &self.what {
            Sighted::Call { seen, .. } => seen.at.time,
            Sighted::Result(result) => result.at.time,
        }
    }

    /// Whether what is known before it matters: it belongs to a conversation, or others may have shown it.
    pub(super) fn depends_on_others(&self) -> bool {
        match &self.what {
            Sighted::Call {
                seen, shown_again, ..
            } => *shown_again || seen.at.session.is_some(),
            Sighted::Result(_) => true,
        }
    }
}

/// Everything that the records of a piece show. What cannot be read is noted.
pub(super) fn sightings<'p>(
    tools: &'p Tools,
    piece: &'p Piece,
    reader: &mut Reader,
    counts: &mut Counts,
) -> Vec<Sighting<'p>> {
    let mut found = Vec::with_capacity(piece.bytes().len() / USUAL_RECORD);
    let mut reading = Reading::default();
    let file = piece.file();
    let input = &mut counts.summary.input;
    input.bytes += piece.bytes().len() as u64;
    for record in piece.records() {
        input.records += 1;
        let line = record.line;
        let mut trouble = |what: String| input.troubles.add(what, Trouble::at(file, line));
        let text = match record.text {
            Ok(text) => text,
            Err(error) => {
                trouble(error.to_string());
                continue;
            }
        };
        reader.read(text, RecordPlace { file, line }, &mut reading);
        for what in reading.troubles.drain(..) {
            trouble(what.into_owned());
        }
        let spot = Spot {
            file,
            line,
            hash: xxh3_64(text.as_bytes()),
        };
        let is_empty = reading.seen.is_empty();
        if let Err(error) = sort_out(tools, &mut reading, spot, &mut found) {
            trouble(error.to_string());
        }
        if let Some(format) = reading.format {
            match input.formats.get_mut(format.name()) {
                Some(count) => *count += 1,
                None => drop(input.formats.insert(format.name().to_owned(), 1)),
            }
            input.without_calls += u64::from(is_empty);
        }
    }
    found
}

/// Gives every call the tools that judge it: those that its record carries, or else all that are known.
fn sort_out<'p>(
    tools: &'p Tools,
    reading: &mut Reading<'p>,
    spot: Spot<'p>,
    found: &mut Vec<Sighting<'p>>,
) -> Result<(), Error> {
    // A record in one of these formats has all there is about its call.
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
            Seen::Call(seen) => Sighted::Call {
                answered_elsewhere: !in_one && seen.answer.is_none(),
                shown_again: is_chat || seen.in_history,
                seen,
            },
            Seen::Result(result) => Sighted::Result(result),
        };
        let set = match (tools, &offered, &what) {
            (Tools::Given(set), ..) => JudgingSet::Given(set),
            (_, Some(set), _) => JudgingSet::Shown(Arc::clone(set)),
            (Tools::FromLog(log), None, Sighted::Call { seen, .. }) => {
                JudgingSet::Shown(log.all_with(&seen.call.tool)?)
            }
            (Tools::FromLog(log), None, Sighted::Result(_)) => JudgingSet::Shown(log.all()?),
        };
        found.push(Sighting { spot, set, what });
    }
    Ok(())
}
