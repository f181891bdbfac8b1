//! Blocks of reasoning before a call, recognised by the name of their tags.
//!
//! Takes a text and returns where the block at its start ends, if that is certain. Templates spell these tags in many ways
//! (`<think>`, `[THINK]`, `<|begin_of_thought|>`, `<mm:think>`), always with a word for their content; the closing tag of a
//! block follows from the opening one.

use super::header_length;
use super::names::MAKERS;
use crate::vocabulary::nearest::words as words_of;
use crate::vocabulary::word_list;

/// Words that mean reasoning.
const REASONING: &[&str] = word_list![
    think thinking thought thoughts reasoning reflection analysis scratchpad monologue rationale cot
];

/// The words next to them. Any other may mean something else: `<no_thinking>`, `<thought_experiment>`.
const BESIDE: &[&str] = word_list![
    ant begin block chain content inner internal of opensource pad prefix process scratch section start tokens
];

/// Every word that its tags may contain.
pub(super) fn words() -> impl Iterator<Item = &'static str> {
    REASONING.iter().chain(BESIDE).copied()
}

/// The words that open a block, and those that close it.
const PAIRS: [(&str, &str); 6] = [
    ("begin", "end"),
    ("start", "end"),
    ("prefix", "suffix"),
    ("BEGIN", "END"),
    ("START", "END"),
    ("PREFIX", "SUFFIX"),
];

/// Longer tags are ignored.
const LONGEST: usize = 48;

/// The tag that opens a block at the start of a text, and the one that closes it.
pub(crate) fn reasoning_tags(text: &str) -> Option<(&str, String)> {
    let (open, close) = match text.chars().next()? {
        '<' => ("<", '>'),
        '[' => ("[", ']'),
        '◁' => ("◁", '▷'),
        _ => return None,
    };
    // A channel that is named by the word after its token.
    for open in ["<|channel>thought", "<|channel>analysis"] {
        if text.starts_with(open) {
            return Some((&text[..open.len()], "<channel|>".to_owned()));
        }
    }
    let end = text.find(close).filter(|end| *end <= LONGEST)?;
    let tag = &text[..end + close.len_utf8()];
    let inside = &text[open.len()..end];
    let (bars, name) = match inside.strip_prefix(['|', '｜']) {
        Some(token) => (
            &inside[..inside.len() - token.len()],
            token.strip_suffix(bars_of(inside)?)?,
        ),
        None => ("", inside),
    };
    if !name
        .chars()
        .all(|c| c.is_alphanumeric() || matches!(c, '_' | '-' | ':' | '▁'))
        || !says_reasoning(name)
    {
        return None;
    }
    let pair = PAIRS.iter().find(|(begin, _)| name.contains(begin));
    let closing = match pair {
        Some((begin, end)) => tag.replacen(begin, end, 1),
        None => format!("{open}{bars}/{name}{bars}{close}"),
    };
    Some((tag, closing))
}

/// The bar on both sides of a token.
fn bars_of(inside: &str) -> Option<char> {
    inside.chars().next()
}

fn says_reasoning(name: &str) -> bool {
    let words = words_of(name);
    let is_reasoning = |word: &String| REASONING.contains(&word.as_str());
    // `scratch_pad`, and the block of models without tags for it: `inner_prefix`.
    let says = words.iter().any(is_reasoning)
        || words.iter().map(String::as_str).eq(["scratch", "pad"])
        || words.iter().map(String::as_str).eq(["inner", "prefix"]);
    let is_known = |word: &String| {
        is_reasoning(word) || BESIDE.contains(&word.as_str()) || MAKERS.contains(&word.as_str())
    };
    says && words.iter().all(is_known)
}

/// The length of a tag at the start of a text that closes reasoning opened by the prompt.
pub(super) fn closing_tag(text: &str) -> Option<usize> {
    let inside = text.strip_prefix("</")?;
    let end = inside.find('>').filter(|end| *end <= LONGEST)?;
    says_reasoning(&inside[..end]).then_some("</".len() + end + 1)
}

/// Where a block of reasoning at the start of a text ends; `None` if that is not certain, because one of its tags occurs again,
/// or because it ends in the middle.
fn block_end(text: &str, open: &str, close: &str) -> Option<usize> {
    let (reasoning, after) = text.split_once(close)?;
    let is_repeated =
        after.contains(close) || after.contains(open) || reasoning[open.len()..].contains(open);
    (!is_repeated && is_finished(reasoning)).then_some(reasoning.len() + close.len())
}

/// Where the text after a header and a block of reasoning starts, if that is certain; at its start if it has none.
pub(crate) fn after_reasoning(text: &str) -> Option<usize> {
    let header = header_length(text);
    let start = text.len() - text[header..].trim_ascii_start().len();
    match reasoning_tags(&text[start..]) {
        Some((open, close)) => Some(start + block_end(&text[start..], open, &close)?),
        None => Some(0),
    }
}

/// The name of the tag that opens reasoning after a header.
pub(crate) fn reasoning_name(text: &str) -> Option<&str> {
    let (tag, _) = reasoning_tags(text[header_length(text)..].trim_ascii_start())?;
    Some(tag.trim_matches(|c: char| !c.is_alphanumeric()))
}

/// Where reasoning ends that the prompt opened, so that only its closing tag is in the text: `… so I look.</think>`. A bracket
/// or a quotation mark before the tag may have opened a value that quotes it: `{"note": "…</think>…"}`.
pub(crate) fn after_closing_tag(text: &str) -> Option<usize> {
    const TAGS: [(&str, &str); 2] = [("<think>", "</think>"), ("<thinking>", "</thinking>")];
    TAGS.iter().find_map(|(open, close)| {
        let (reasoning, after) = text.split_once(close)?;
        let is_certain = !text.contains(open)
            && !after.contains(close)
            && !reasoning.contains(['{', '[', '(', '<', '"'])
            && is_finished(reasoning);
        is_certain.then_some(reasoning.len() + close.len())
    })
}

/// Whether reasoning is finished. After a colon or inside quotation marks, the tag that seems to end it may be quoted: `It says
/// "done</think>…`, of which the rest may be cut off.
pub(crate) fn is_finished(reasoning: &str) -> bool {
    let open = |c: char| "\"'`“‘„«‹([{<:".contains(c);
    let is_even = |quote: char| reasoning.matches(quote).count().is_multiple_of(2);
    !reasoning.trim_end().ends_with(open) && is_even('"') && is_even('`')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tags_are_recognised_by_their_words() {
        for (open, close) in [
            ("<think>", "</think>"),
            ("<Thought>", "</Thought>"),
            ("<seed:think>", "</seed:think>"),
            ("<think:opensource>", "</think:opensource>"),
            ("[THINK]", "[/THINK]"),
            ("<|START_THINKING|>", "<|END_THINKING|>"),
            ("<|begin_of_thought|>", "<|end_of_thought|>"),
            ("<|thinking|>", "<|/thinking|>"),
            ("◁think▷", "◁/think▷"),
            ("<scratch_pad>", "</scratch_pad>"),
            ("<antThinking>", "</antThinking>"),
            ("<|inner_prefix|>", "<|inner_suffix|>"),
        ] {
            let text = format!("{open}I look.");
            let found = reasoning_tags(&text).map(|(_, close)| close);
            assert_eq!(found.as_deref(), Some(close), "{open}");
        }
        for text in [
            "<no_thinking>",
            "<thought_experiment>",
            "<pad>",
            "</think>",
            "<of>",
            "<plan>",
            "<think twice>",
            "<|think>",
        ] {
            assert_eq!(reasoning_tags(text), None, "{text}");
        }
    }
}
