//! Finds where calls may start in a message that is still streaming.
//!
//! Takes the text so far and returns how much of it may be shown at once: whatever follows, if the whole message turns out to
//! be calls, the text left over ([`super::Rescued::rest`]) is at least that long. Reports as early as possible that a message
//! does not consist of calls. Scans each text once, however it is split; never parses or judges a call.

use super::among_words::{self, MOST_WORDS};
use super::chance::{Chance, after_debris, beginning_of_calls};
use super::cursor::RescueResult;
use super::harmony;
use super::offer::Offer;
use super::surroundings::after_blanks;
use crate::text::first_bytes;
use crate::vocabulary::template::{self, is_finished, reasoning_tags};

/// What a message that is still streaming may turn out to be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Beginning {
    /// Whatever follows, the message does not consist of calls.
    Never,
    /// Everything before this byte is text in any case. From there on, calls may start.
    From(usize),
}

/// Follows a message as it streams, for [`Gate::call_may_begin`](crate::Gate::call_may_begin).
#[derive(Debug, Clone, Default)]
pub struct CallWatch(Stage);

/// What comes next in a message. All positions are in its text.
#[derive(Debug, Clone, Copy, Default)]
enum Stage {
    /// A header, reasoning, or the body.
    #[default]
    Start,
    /// Reasoning opened at a position; its closing tag is not in the text up to `searched`.
    Reasoning { opened: usize, searched: usize },
    /// Calls, or words before them.
    Body { start: usize },
    /// Words around calls of read-only tools, none of which starts before `searched`.
    AmongWords { start: usize, searched: usize },
    /// One of the messages of harmony.
    Harmony { message: usize, searched: usize },
    /// Only the end of the message can tell more.
    Decided(Beginning),
}

/// How long the start of a call may be before the decision is left to the end of the message: examining it again and again
/// would take too long, and nothing that starts a call is nearly as long.
const LONGEST_BEGINNING: usize = 1024;

impl CallWatch {
    /// Where calls may start in a message that has arrived up to here. The texts of one message only grow; another message is
    /// examined from its start.
    pub(crate) fn look(&mut self, offer: &Offer<'_>, text: &str) -> Beginning {
        if !self
            .0
            .places()
            .iter()
            .all(|place| text.is_char_boundary(*place))
        {
            self.0 = Stage::Start;
        }
        loop {
            match self.step(offer, text) {
                (stage, None) => self.0 = stage,
                (stage, Some(beginning)) => {
                    self.0 = stage;
                    return beginning;
                }
            }
        }
    }

    /// Advances one stage, or returns what is known until more arrives.
    fn step(&self, offer: &Offer<'_>, text: &str) -> (Stage, Option<Beginning>) {
        match self.0 {
            Stage::Decided(beginning) => known(beginning),
            Stage::Start => start(text),
            Stage::Reasoning { opened, searched } => reasoning(text, opened, searched),
            Stage::Body { start } => body(offer, text, start),
            Stage::AmongWords { start, searched } => among_words(offer, text, start, searched),
            Stage::Harmony { message, searched } => {
                let next = harmony_message(offer, text, message, searched);
                next.unwrap_or(known(Beginning::Never))
            }
        }
    }
}

impl Stage {
    /// The positions from which reading continues.
    fn places(self) -> [usize; 2] {
        match self {
            Stage::Start | Stage::Decided(Beginning::Never) => [0, 0],
            Stage::Reasoning { opened, searched } => [opened, searched],
            Stage::Body { start } => [0, start],
            Stage::AmongWords { start, searched } => [start, searched],
            Stage::Harmony { message, searched } => [message, searched],
            Stage::Decided(Beginning::From(hold)) => [0, hold],
        }
    }
}

fn known(beginning: Beginning) -> (Stage, Option<Beginning>) {
    (Stage::Decided(beginning), Some(beginning))
}

/// More has to arrive, unless there is already a lot.
fn undecided(stage: Stage, text: &str, from: usize, hold: usize) -> (Stage, Option<Beginning>) {
    let beginning = Beginning::From(hold);
    if text.len().saturating_sub(from) > LONGEST_BEGINNING {
        return known(beginning);
    }
    (stage, Some(beginning))
}

/// No calls start here: they may still come after words, if read-only tools are offered.
fn after_nothing(offer: &Offer<'_>, start: usize) -> (Stage, Option<Beginning>) {
    if offer.allows_any_words() {
        let searched = start;
        (Stage::AmongWords { start, searched }, None)
    } else {
        known(Beginning::Never)
    }
}

fn start(text: &str) -> (Stage, Option<Beginning>) {
    let at = after_blanks(text, template::header_length(text));
    let rest = &text[at..];
    if let Some((tag, _)) = reasoning_tags(rest) {
        let (opened, searched) = (at, at + tag.len());
        return (Stage::Reasoning { opened, searched }, None);
    }
    if template::may_become_debris(rest, &|_| false) {
        return undecided(Stage::Start, text, 0, 0);
    }
    (Stage::Body { start: 0 }, None)
}

/// Reasoning stays text, and so does the tag that ends it.
fn reasoning(text: &str, opened: usize, searched: usize) -> (Stage, Option<Beginning>) {
    let Some((_, close)) = reasoning_tags(&text[opened..]) else {
        return (Stage::Body { start: 0 }, None);
    };
    let Some(at) = find(text, &close, searched) else {
        let searched = not_found(text, &close, searched);
        return (
            Stage::Reasoning { opened, searched },
            Some(Beginning::From(text.len())),
        );
    };
    if !is_finished(&text[..at]) {
        return known(Beginning::Never);
    }
    (
        Stage::Body {
            start: at + close.len(),
        },
        None,
    )
}

fn body(offer: &Offer<'_>, text: &str, start: usize) -> (Stage, Option<Beginning>) {
    let hold = trimmed(text, start);
    let at = after_blanks(text, start);
    let rest = &text[at..];
    if harmony::starts(rest) {
        let (message, searched) = (at, at);
        return (Stage::Harmony { message, searched }, None);
    }
    match beginning_of_calls(offer, rest) {
        Chance::Yes => known(Beginning::From(hold)),
        Chance::Maybe => undecided(Stage::Body { start }, text, start, hold),
        Chance::No => after_nothing(offer, start),
    }
}

/// Words are shown up to the first position where calls may start.
fn among_words(
    offer: &Offer<'_>,
    text: &str,
    start: usize,
    searched: usize,
) -> (Stage, Option<Beginning>) {
    for at in among_words::starts(text, searched).chain([text.len()]) {
        if at - start > MOST_WORDS {
            return known(Beginning::Never);
        }
        let hold = trimmed(text, at);
        match beginning_of_calls(offer, &text[at..]) {
            Chance::Yes => return known(Beginning::From(hold)),
            Chance::Maybe => {
                let stage = Stage::AmongWords {
                    start,
                    searched: at,
                };
                return undecided(stage, text, at, hold);
            }
            Chance::No => {}
        }
    }
    // The end of a text may be the start of anything.
    known(Beginning::From(trimmed(text, text.len())))
}

/// Messages before the first call stay text once they have ended. An error means a message that turns everything into text.
fn harmony_message(
    offer: &Offer<'_>,
    text: &str,
    message: usize,
    searched: usize,
) -> RescueResult<(Stage, Option<Beginning>)> {
    let never = known(Beginning::Never);
    let (at, hold) = (after_blanks(text, message), trimmed(text, message));
    let rest = &text[at..];
    if !harmony::starts(rest) {
        let is_begun = [harmony::START, harmony::CHANNEL]
            .iter()
            .any(|token| token.starts_with(rest));
        let stage = Stage::Harmony { message, searched };
        return Ok(if is_begun {
            undecided(stage, text, message, hold)
        } else {
            never
        });
    }
    // A call as JSON, whose header does not name the tool.
    if rest.len() <= LONGEST_BEGINNING {
        match after_debris(offer, rest) {
            Chance::Yes => return Ok(known(Beginning::From(hold))),
            Chance::Maybe => {
                let stage = Stage::Harmony { message, searched };
                return Ok(undecided(stage, text, message, hold));
            }
            Chance::No => {}
        }
    }
    let Some(length) = rest.find(harmony::MESSAGE) else {
        return Ok(undecided(
            Stage::Harmony { message, searched },
            text,
            message,
            hold,
        ));
    };
    let header = harmony::Header::of(&rest[..length])?;
    if let Some(tool) = header.tool {
        return Ok(if offer.tool(tool).is_some() {
            known(Beginning::From(hold))
        } else {
            never
        });
    }
    if header.channel == "final" {
        return Ok(never);
    }
    let body = at + length + harmony::MESSAGE.len();
    let searched = searched.max(body);
    let Some(end) = find(text, harmony::END, searched) else {
        let searched = not_found(text, harmony::END, searched);
        return Ok((
            Stage::Harmony { message, searched },
            Some(Beginning::From(text.len())),
        ));
    };
    let is_harmless = match header.channel {
        "analysis" => is_finished(&text[body..end]),
        _ => offer.allows_any_words(),
    };
    let message = end + harmony::END.len();
    Ok(if is_harmless {
        (
            Stage::Harmony {
                message,
                searched: message,
            },
            None,
        )
    } else {
        never
    })
}

/// Where the text before a position ends.
fn trimmed(text: &str, at: usize) -> usize {
    text[..at].trim_ascii_end().len()
}

fn find(text: &str, token: &str, from: usize) -> Option<usize> {
    text[from..].find(token).map(|at| from + at)
}

/// Up to where a token need not be searched for again.
fn not_found(text: &str, token: &str, searched: usize) -> usize {
    let at = (text.len() + 1).saturating_sub(token.len()).max(searched);
    first_bytes(text, at).len()
}
