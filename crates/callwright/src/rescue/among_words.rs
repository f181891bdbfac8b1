//! Calls of read-only tools with words around them.
//!
//! Takes the text of a message that does not consist of calls alone; returns the first calls in it, if guesses are allowed for
//! every tool that is called and nothing else in the message looks like a call. The words before them stay text.

use super::offer::Offer;
use super::{FoundCalls, debris, harmony, read_notation};
use crate::vocabulary::envelope::ARGUMENTS;
use crate::vocabulary::template::{self, CallSide};
use crate::vocabulary::{Notation, ParseLimits};

/// How many bytes of words may come before calls. A longer text is an answer, and the call at its end may be part of it.
pub(super) const MOST_WORDS: usize = 2_000;

/// How long a message may be. Read-only calls are short, and each position where they may start costs another read of it.
const LONGEST: usize = 64 << 10;

/// How many positions are tried: each costs reading a possible call.
const MOST_STARTS: usize = 32;

pub(super) fn read<'t>(
    text: &'t str,
    (start, end): (usize, usize),
    limits: &ParseLimits,
    offer: &Offer<'_>,
) -> Option<FoundCalls<'t>> {
    // Harmony itself marks what is a call.
    if text.len() > LONGEST
        || !offer.allows_any_words()
        || harmony::starts(text[start..].trim_ascii_start())
    {
        return None;
    }
    let near = |at: &usize| at - start <= MOST_WORDS;
    let mut places = starts(text, start).take_while(near).take(MOST_STARTS);
    // The first thing that looks like calls decides, whether it can be read or not: it is not skipped in favour of another.
    let (found, words_after) = places.find_map(|at| {
        let notation = read_notation(text, (at, end), limits, offer);
        if let Ok((_, "")) = notation {
            return Some(notation.ok());
        }
        let among_debris = debris::read(text, at, limits.max_depth, offer);
        match (among_debris, notation) {
            (Ok((found, after)), _) if debris::is_end(&text[after..], offer) => {
                Some(Some((FoundCalls::among_debris(found, at), "")))
            }
            (_, Ok(found)) => Some(Some(found)),
            // `)nights=3`, `)'s`: the call may go on.
            (Ok(((_, Notation::Pythonic), after)), _) if goes_on(&text[after..]) => Some(None),
            (Ok((found, after)), _) => {
                let (_, closed) = offer.leading_debris(&text[after..], CallSide::After);
                let words = &text[after + closed..];
                Some(Some((FoundCalls::among_debris(found, at), words)))
            }
            (Err(_), Err(_)) => debris::opens_call(&text[at..], offer).then_some(None),
        }
    })??;
    let is_allowed = |name: &str| {
        offer
            .tool(name)
            .is_some_and(|tool| offer.allows_words(tool))
    };
    let all = found.calls.iter().all(|call| is_allowed(&call.tool));
    (all && !may_call(words_after)).then_some(FoundCalls {
        has_words: true,
        ..found
    })
}

/// Whether a text directly after a call starts with a word, a quote or a bracket.
fn goes_on(after: &str) -> bool {
    after.starts_with(|c: char| c.is_alphanumeric() || "\"'([{".contains(c))
}

/// Whether words may contain another call.
fn may_call(words: &str) -> bool {
    let is_key = |key: &&str| words.contains(&format!("\"{key}\""));
    let opens =
        |at: usize| !words[at..].starts_with("</") && template::mark_end(words, at).is_some();
    ARGUMENTS.iter().any(is_key) || words.match_indices(['<', '[']).any(|(at, _)| opens(at))
}

/// Where calls may start in a text: at a bracket, a tag or a fence, and at the start of a line.
pub(super) fn starts(text: &str, from: usize) -> impl Iterator<Item = usize> {
    let bytes = text.as_bytes();
    (from..text.len()).filter(move |&at| {
        let before = at.checked_sub(1).map(|before| bytes[before]);
        text.is_char_boundary(at)
            && (matches!(bytes[at], b'<' | b'[' | b'{') && before != Some(bytes[at])
                || bytes[at] == b'`' && before != Some(b'`')
                || matches!(before, None | Some(b'\n')) && !bytes[at].is_ascii_whitespace())
    })
}
