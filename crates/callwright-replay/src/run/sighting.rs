//! Extracts the calls and results of a record, each with the tools that judge it.

use std::sync::Arc;

use callwright::{Error, ToolSpec};
use xxhash_rust::xxh3::xxh3_64;

use super::tools::{ToolSet, Tools};
use crate::read::{Format, Reader, Reading, RecordPlace};
use crate::seen::{LONGEST_NAME, Seen, SeenCall, SeenResult, ToolAnswer};
use crate::source::{Piece, Record};
use crate::summary::{Input, Trouble};

/// The record in which something was seen.
#[derive(Debug, Clone, Copy)]
pub(super) struct Spot<'s> {
    pub(super) file: &'s str,
    pub(super) line: u64,
    /// A hash of the record, which decides whether it is kept as an example and whether its call is sampled.
    pub(super) hash: u64,
}

/// A call or a result in a record, with what is needed to judge it.
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
    /// In a box, since sightings are moved and nearly all are calls.
    Result(Box<SeenResult<'p>>),
}

/// The tools that judge. Given tools are borrowed, so that workers do not contend for a reference count.
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

    /// The call, if it can be counted immediately: no other record shows it or has its result.
    pub(super) fn standalone_call(&mut self) -> Option<&mut SeenCall<'p>> {
        match &mut self.what {
            Sighted::Call {
                seen,
                answered_elsewhere: false,
                shown_again: false,
            } => Some(seen),
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
}

/// The calls and results of a record. Anything unreadable is recorded.
pub(super) fn sightings<'p>(
    tools: &'p Tools,
    piece: &'p Piece,
    record: Record<'p>,
    (reader, reading): (&mut Reader, &mut Reading<'p>),
    input: &mut Input,
    found: &mut Vec<Sighting<'p>>,
) {
    let (file, line) = (&*piece.file, record.line);
    input.records += 1;
    let trouble = |input: &mut Input, what| input.troubles.add(what, Trouble::at(file, line));
    let text = match record.text {
        Ok(text) => text,
        Err(error) => return trouble(input, error.to_string()),
    };
    reader.read(text, RecordPlace { file, line }, reading);
    for what in reading.troubles.drain(..) {
        trouble(input, what.into_owned());
    }
    if let Some(format) = reading.format {
        match input.formats.get_mut(format.name()) {
            Some(count) => *count += 1,
            None => drop(input.formats.insert(format.name().to_owned(), 1)),
        }
        input.without_calls += u64::from(reading.seen.is_empty());
    }
    let spot = Spot {
        file,
        line,
        hash: xxh3_64(text.as_bytes()),
    };
    if let Err(error) = sort_out(tools, reading, spot, found) {
        trouble(input, error.to_string());
    }
}

/// Assigns every call the tools that judge it: those that its record carries, or else all known ones.
fn sort_out<'p>(
    tools: &'p Tools,
    reading: &mut Reading<'p>,
    spot: Spot<'p>,
    found: &mut Vec<Sighting<'p>>,
) -> Result<(), Error> {
    // A record in one of these formats contains everything about its call.
    let in_one = matches!(reading.format, Some(Format::Event | Format::Call));
    let is_chat = matches!(
        reading.format,
        Some(Format::OpenAiChat | Format::OpenAiResponses | Format::Anthropic | Format::Gemini)
    );
    let mut offered: Option<Vec<ToolSpec>> = None;
    for seen in reading.seen.drain(..) {
        let what = match seen {
            Seen::Tools(mut shown) => {
                if let Tools::Stored(store) = tools
                    && !store.is_given()
                {
                    shown.retain(|tool| tool.name.len() <= LONGEST_NAME);
                    store.learn(&shown);
                    offered = Some(shown);
                }
                continue;
            }
            Seen::Call(seen) => Sighted::Call {
                answered_elsewhere: !in_one && seen.answer.is_none(),
                shown_again: is_chat || seen.in_history,
                seen,
            },
            Seen::Result(result) => Sighted::Result(Box::new(result)),
        };
        let set = match (tools, &what) {
            (Tools::Given(set), _) => JudgingSet::Given(set),
            (Tools::Stored(store), Sighted::Call { seen, .. }) => {
                JudgingSet::Shown(store.judging(offered.as_deref(), seen)?)
            }
            (Tools::Stored(store), Sighted::Result(_)) => JudgingSet::Shown(store.none()?),
        };
        found.push(Sighting { spot, set, what });
    }
    Ok(())
}
