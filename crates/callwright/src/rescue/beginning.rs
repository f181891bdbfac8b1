//! Where in a message that is still coming calls may begin.
//!
//! Takes the text so far and says up to where it may be shown at once: whatever follows, if the whole message turns out to
//! be calls, what is left of it ([`super::Rescued::rest`]) is at least that long. Says as early as it can that a message is
//! none. A text is gone through once, however it is cut; nothing is read or judged here.

use super::chance::{Chance, beginning_of_calls, begun_by, marked};
use super::cursor::Read;
use super::prose::{announces, is_finished, may_announce};
use super::surroundings::{END_TOKENS, FENCE, HEADERS, LANGUAGES, REASONING};
use super::{harmony, mistral};
use crate::tool::ToolSet;

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
    /// Reasoning, up to a tag that is not in the text up to `searched`.
    Reasoning {
        close: &'static str,
        searched: usize,
    },
    /// A code block, calls, or an announcement of them.
    Body { start: usize },
    /// A code block, which may hold calls if the text up to `searched` does not end it.
    Fenced {
        content: usize,
        searched: usize,
        hold: usize,
        is_begun: bool,
    },
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
    pub(crate) fn look(&mut self, tools: &ToolSet, text: &str) -> Beginning {
        if !self
            .0
            .places()
            .iter()
            .all(|place| text.is_char_boundary(*place))
        {
            self.0 = Stage::Start;
        }
        loop {
            match self.step(tools, text) {
                (stage, None) => self.0 = stage,
                (stage, Some(beginning)) => {
                    self.0 = stage;
                    return beginning;
                }
            }
        }
    }

    /// One stage on, or what is known until more comes.
    fn step(&self, tools: &ToolSet, text: &str) -> (Stage, Option<Beginning>) {
        match self.0 {
            Stage::Decided(beginning) => known(beginning),
            Stage::Start => start(text),
            Stage::Reasoning { close, searched } => reasoning(text, close, searched),
            Stage::Body { start } => body(tools, text, start),
            Stage::Fenced {
                content,
                searched,
                hold,
                is_begun,
            } => {
                // Once it is known how it begins, only its end is looked for.
                let begun = is_begun.then_some(Chance::Yes);
                fenced(tools, text, (content, searched, hold), begun)
            }
            Stage::Harmony { message, searched } => {
                let next = harmony_message(tools, text, message, searched);
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
            Stage::Reasoning { searched, .. } => [0, searched],
            Stage::Body { start } => [0, start],
            Stage::Fenced {
                content, searched, ..
            } => [content, searched],
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

fn start(text: &str) -> (Stage, Option<Beginning>) {
    let start = after_blanks(text, 0);
    let rest = &text[start..];
    let header = HEADERS.iter().find(|header| rest.starts_with(**header));
    if header.is_none() && HEADERS.iter().any(|header| header.starts_with(rest)) {
        return undecided(Stage::Start, text, 0, 0);
    }
    let start = start + header.map_or(0, |header| header.len());
    let at = after_blanks(text, start);
    let rest = &text[at..];
    for (open, close) in REASONING {
        if rest.starts_with(open) {
            let searched = at + open.len();
            return (Stage::Reasoning { close, searched }, None);
        }
        if open.starts_with(rest) {
            return undecided(Stage::Start, text, 0, trimmed(text, start));
        }
    }
    (Stage::Body { start }, None)
}

/// Reasoning stays text, and so does the tag that ends it.
fn reasoning(text: &str, close: &'static str, searched: usize) -> (Stage, Option<Beginning>) {
    let Some(at) = find(text, close, searched) else {
        let searched = not_found(text, close, searched);
        return (
            Stage::Reasoning { close, searched },
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

fn body(tools: &ToolSet, text: &str, start: usize) -> (Stage, Option<Beginning>) {
    let stage = Stage::Body { start };
    let hold = trimmed(text, start);
    let at = after_blanks(text, start);
    let rest = &text[at..];
    if FENCE.starts_with(rest) {
        return undecided(stage, text, start, hold);
    }
    if let Some(block) = rest.strip_prefix(FENCE) {
        let language = block.split('\n').next().unwrap_or_default();
        let is_whole = language.len() < block.len();
        let named = language.trim_ascii();
        let is_known = if is_whole {
            LANGUAGES.contains(&named)
        } else {
            LANGUAGES.iter().any(|known| known.starts_with(named))
        };
        return match (is_known, is_whole) {
            (false, _) => known(Beginning::Never),
            (true, false) => undecided(stage, text, start, hold),
            (true, true) => {
                let content = at + FENCE.len() + language.len() + 1;
                (
                    Stage::Fenced {
                        content,
                        searched: content,
                        hold,
                        is_begun: false,
                    },
                    None,
                )
            }
        };
    }
    match beginning_of_calls(tools, rest) {
        _ if harmony::starts(rest) => (
            Stage::Harmony {
                message: at,
                searched: at,
            },
            None,
        ),
        Chance::Yes => known(Beginning::From(hold)),
        Chance::Maybe => undecided(stage, text, start, hold),
        Chance::No => prose(tools, text, at, stage),
    }
}

/// A code block holds calls only if nothing but the end of the message follows it.
fn fenced(
    tools: &ToolSet,
    text: &str,
    (content, searched, hold): (usize, usize, usize),
    begun: Option<Chance>,
) -> (Stage, Option<Beginning>) {
    if let Some(end) = find(text, FENCE, searched) {
        let after = end + FENCE.len();
        if !text[content..end].ends_with('\n') || !may_be_end(&text[after..]) {
            return known(Beginning::Never);
        }
        let stage = Stage::Fenced {
            content,
            searched: end,
            hold,
            is_begun: true,
        };
        return undecided(stage, text, after, hold);
    }
    let chance = begun.unwrap_or_else(|| match text[content..].trim_ascii_start() {
        "" => Chance::Maybe,
        inner => beginning_of_calls(tools, inner),
    });
    if chance == Chance::No {
        return known(Beginning::Never);
    }
    let is_begun = chance == Chance::Yes || text.len() - content > LONGEST_BEGINNING;
    let searched = not_found(text, FENCE, searched);
    let stage = Stage::Fenced {
        content,
        searched,
        hold,
        is_begun,
    };
    (stage, Some(Beginning::From(hold)))
}

/// Messages before the first call stay text, once they have ended. An error is a message that makes all of it text.
fn harmony_message(
    tools: &ToolSet,
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
        return Ok(if tools.get(tool).is_some() {
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
        _ => announces(&text[body..end]),
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

/// Text before calls of tools that only read, if it may announce them.
fn prose(tools: &ToolSet, text: &str, at: usize, stage: Stage) -> (Stage, Option<Beginning>) {
    let body = &text[at..];
    let readers = || tools.iter().filter(|tool| tool.spec().only_reads());
    let tag = body.find(['<', '[', '{']);
    let before = &body[..tag.unwrap_or(body.len())];
    // A tool may be named at the beginning of a line, with its mark after it.
    let line = before.rfind('\n').map_or(0, |end| end + 1);
    let (sentences, name) = before.split_at(line);
    let hold = trimmed(text, at + line);
    let is_name = |tool: &str| {
        if tag.is_some() {
            tool == name
        } else {
            tool.starts_with(name)
        }
    };
    let is_named =
        !name.is_empty() && readers().any(|tool| is_name(tool.name())) && announces(sentences);
    if readers().next().is_none() || !is_named && !may_announce(before) {
        return known(Beginning::Never);
    }
    let Some(tag) = tag else {
        let shown = text.trim_ascii_end().len();
        let hold = if is_named { hold } else { shown };
        return undecided(stage, text, shown, hold);
    };
    let after = &body[tag..];
    let is_marked = before.ends_with('\n') && announces(before);
    let named = if is_named {
        begun_by(after, mistral::ARGS)
    } else {
        Chance::No
    };
    let marked = if is_marked { marked(after) } else { Chance::No };
    match named.max(marked) {
        _ if is_marked && harmony::starts(after) => {
            let message = at + tag;
            (
                Stage::Harmony {
                    message,
                    searched: message,
                },
                None,
            )
        }
        Chance::Yes => known(Beginning::From(hold)),
        Chance::Maybe => undecided(stage, text, at + line, hold),
        Chance::No => known(Beginning::Never),
    }
}

/// Whether a text is what ends messages, as far as it goes.
fn may_be_end(text: &str) -> bool {
    let mut rest = text.trim_ascii_start();
    while let Some(after) = END_TOKENS.iter().find_map(|token| rest.strip_prefix(token)) {
        rest = after.trim_ascii_start();
    }
    END_TOKENS.iter().any(|token| token.starts_with(rest))
}

fn after_blanks(text: &str, from: usize) -> usize {
    text.len() - text[from..].trim_ascii_start().len()
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
