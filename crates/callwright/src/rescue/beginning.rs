//! Where in a message that is still coming calls may begin.
//!
//! Takes the text so far and says up to where it may be shown at once: whatever follows, if the whole message turns out to
//! be calls, what is left of it ([`super::Rescued::rest`]) is at least that long. Says as early as it can that a message is
//! none. A text is gone through once, however it is cut; nothing is read or judged here.

use super::chance::{Chance, after_debris, beginning_of_calls};
use super::cursor::Read;
use super::harmony;
use super::offer::Offer;
use super::surroundings::after_blanks;
use super::told::{self, MOST_WORDS};
use crate::words::template::{self, is_finished, reasoning_tags};

/// What a message that is still coming may turn out to be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Beginning {
    /// Whatever follows, the message is not calls.
    Never,
    /// What is before this byte stays text in any case. From there on, calls may begin.
    From(usize),
}

/// Follows a message while it comes, for [`Gate::call_may_begin`](crate::Gate::call_may_begin).
#[derive(Debug, Clone, Default)]
pub struct CallWatch(Stage);

/// What comes next in a message. Places are in its text.
#[derive(Debug, Clone, Copy, Default)]
enum Stage {
    /// A header, reasoning, or the body.
    #[default]
    Start,
    /// Reasoning that is opened at a place, up to a tag that is not in the text up to `searched`.
    Reasoning { opened: usize, searched: usize },
    /// Calls, or words before them.
    Body { start: usize },
    /// Words around calls of tools that only read, of which none begins up to `searched`.
    Told { start: usize, searched: usize },
    /// One of the messages of harmony.
    Harmony { message: usize, searched: usize },
    /// Nothing but the end of the message tells more.
    Decided(Beginning),
}

/// How long a beginning may be before it is held to the end of the message: looking at it again and again would take too
/// long, and nothing that a call begins with is nearly as long.
const LONGEST_BEGINNING: usize = 1024;

impl CallWatch {
    /// Where calls may begin in a message of which this has come. Texts of one message only get longer; another one is
    /// looked at from its beginning.
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

    /// One stage on, or what is known until more comes.
    fn step(&self, offer: &Offer<'_>, text: &str) -> (Stage, Option<Beginning>) {
        match self.0 {
            Stage::Decided(beginning) => known(beginning),
            Stage::Start => start(text),
            Stage::Reasoning { opened, searched } => reasoning(text, opened, searched),
            Stage::Body { start } => body(offer, text, start),
            Stage::Told { start, searched } => told(offer, text, start, searched),
            Stage::Harmony { message, searched } => {
                let next = harmony_message(offer, text, message, searched);
                next.unwrap_or(known(Beginning::Never))
            }
        }
    }
}

impl Stage {
    /// The places from which the text is read on.
    fn places(self) -> [usize; 2] {
        match self {
            Stage::Start | Stage::Decided(Beginning::Never) => [0, 0],
            Stage::Reasoning { opened, searched } => [opened, searched],
            Stage::Body { start } => [0, start],
            Stage::Told { start, searched } => [start, searched],
            Stage::Harmony { message, searched } => [message, searched],
            Stage::Decided(Beginning::From(hold)) => [0, hold],
        }
    }
}

fn known(beginning: Beginning) -> (Stage, Option<Beginning>) {
    (Stage::Decided(beginning), Some(beginning))
}

/// More has to come, unless there is a lot already.
fn undecided(stage: Stage, text: &str, from: usize, hold: usize) -> (Stage, Option<Beginning>) {
    let beginning = Beginning::From(hold);
    if text.len().saturating_sub(from) > LONGEST_BEGINNING {
        return known(beginning);
    }
    (stage, Some(beginning))
}

/// Where no calls begin from here on: they may still come after words, if tools that only read are offered.
fn after_nothing(offer: &Offer<'_>, start: usize) -> (Stage, Option<Beginning>) {
    if offer.allows_any_words() {
        let searched = start;
        (Stage::Told { start, searched }, None)
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

/// Words are shown up to the first place where calls may begin.
fn told(
    offer: &Offer<'_>,
    text: &str,
    start: usize,
    searched: usize,
) -> (Stage, Option<Beginning>) {
    for at in told::starts(text, searched).chain([text.len()]) {
        if at - start > MOST_WORDS {
            return known(Beginning::Never);
        }
        let hold = trimmed(text, at);
        match beginning_of_calls(offer, &text[at..]) {
            Chance::Yes => return known(Beginning::From(hold)),
            Chance::Maybe => {
                let stage = Stage::Told {
                    start,
                    searched: at,
                };
                return undecided(stage, text, at, hold);
            }
            Chance::No => {}
        }
    }
    // The end of a text may begin anything.
    known(Beginning::From(trimmed(text, text.len())))
}

/// Messages before the first call stay text, once they have ended. An error is a message that makes all of it text.
fn harmony_message(
    offer: &Offer<'_>,
    text: &str,
    message: usize,
    searched: usize,
) -> Read<(Stage, Option<Beginning>)> {
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
    // A call as JSON, for which the tool is not named in the header.
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

/// Where the text before a place ends.
fn trimmed(text: &str, at: usize) -> usize {
    text[..at].trim_ascii_end().len()
}

fn find(text: &str, token: &str, from: usize) -> Option<usize> {
    text[from..].find(token).map(|at| from + at)
}

/// Up to where a token need not be looked for again.
fn not_found(text: &str, token: &str, searched: usize) -> usize {
    let mut at = (text.len() + 1).saturating_sub(token.len()).max(searched);
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}
