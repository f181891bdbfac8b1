//! The names of tags and control tokens, recognised by the words they are made of.
//!
//! Chat templates invent new names every month from the same few words: `tool`, `call`, `begin`, `turn`. A name made of these
//! words alone names a part of a message and says nothing about a call. Any other word may mean something (`dry_run`,
//! `do_not_run`, `example`) or speak for another role (`user`, `tool_response`). So the list is of words, not of names, and
//! anything not on it is not debris.

use crate::vocabulary::nearest::is_english_word;
use crate::vocabulary::word_list;

/// The words that names are made of, with or without separators.
const PARTS: &[&str] = word_list![
    action actions arg args argument arguments assistant begin beginning block bos bot call calling calls channel chatbot
    code constrain content end eod eom eos eot func function functions header im input inst invocation invoke
    json key list message msg name of pad param parameter parameters params payload plugin python
    recipient request reserved role section sentence sep separator sot special start tag tags text token tokens
    tool tools turn use value xml
];

/// Words that are too short to be searched for inside others.
const SHORT_PARTS: &[&str] = word_list![
    ai api bom box execute execution fim fn id js mcp middle prefix py run s sop suffix
];

/// What a token delimits, with no words other than those for a beginning and an end: `<|end_of_document|>`. Next to others they
/// speak for another role: `tool_response`.
const BOUNDED: &[&str] = word_list![answer response solution utterance];

/// The same for a text that is not the model's: its beginning introduces a quotation, its end only ends something.
const ENDED: &[&str] = word_list![doc document file];
const BOUNDS: &[&str] = word_list![begin beginof end endof sep start startof];
const ENDS: &[&str] = word_list![end endof sep];

/// Tokens that vocabularies hold in reserve, with a number: `<unused95>`, `<extra_id_1>`.
const FILLERS: &[&str] = word_list![ctrl extra mask reserved special unused];

/// The vendors of templates, who put their names before a tag: `minimax:tool_call`.
pub(super) const MAKERS: &[&str] = word_list![
    antml apriel atem bielik deepseek dots dsml ernie exaone functionary gemma glm granite hermes hy inkling internlm
    jamba kimi laguna lfm llama longcat minicpm minimax mistral mm moonshot nemotron nova olmo opensource phi poolside qwen
    reka seed smollm steptml tml xai xlam
];

/// What may be alone between `<` and `>`. The other parts may be the keys of a call, such as `<content>` or `<name>`.
const TAGS: &[&str] = word_list![
    tool tools call calls function functions invoke argument arguments arg args parameter parameters param params json xml
    output response answer action actions assistant end s bos eos eot eom eoa eoc eop pad sop toolcall unk
];

/// HTML tags that only lay out their content. (`<del>` strikes it out.) In a message they display it.
const LAYOUT: &[&str] = word_list![br code div p pre span];

/// What may be alone between `<|` and `|>`. `<|tool|>` and `<|function|>` speak for another role.
const TOKENS: &[&str] = word_list![
    assistant begin bom bos call channel chatbot close constrain content end eod eom eos eot from im interpreter message open
    pad plugin recipient return sep separator start turn
];

/// Tokens that hand over to another role, which may end a message.
const LAST_TOKENS: &[&str] = word_list![observation stop user];

/// What may be alone between `[` and `]`.
const MARKERS: &[&str] = word_list![args bos end eos eot gmask inst pad sep toolcall toolcalls];

/// How a name is delimited.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum NameShape {
    /// `<name>`
    Tag,
    /// `<|name|>`
    Token,
    /// `[name]`
    Marker,
}

/// Every word that debris may contain: what a test need not look for in a repaired call.
pub(super) fn all_words() -> impl Iterator<Item = &'static str> {
    let of_names = [
        PARTS,
        SHORT_PARTS,
        BOUNDED,
        ENDED,
        FILLERS,
        MAKERS,
        TAGS,
        LAYOUT,
        TOKENS,
        LAST_TOKENS,
        MARKERS,
    ];
    let of_lines = [LABELS, BARE_LABELS, LANGUAGES];
    of_names.into_iter().chain(of_lines).flatten().copied()
}

/// Longer names do not belong to a template; the longest known one has 36 letters.
const LONGEST: usize = 48;

/// Whether this is the name of a vendor of templates.
pub(crate) fn is_maker(name: &str) -> bool {
    MAKERS.contains(&name.to_lowercase().as_str())
}

/// Whether a name belongs to a chat template, also with one typing error: `tool_cal`.
pub(super) fn is_of_template(name: &str, shape: NameShape) -> bool {
    let Some(words) = chunks(name) else {
        return false;
    };
    let alone = match shape {
        NameShape::Tag => TAGS,
        NameShape::Token => TOKENS,
        NameShape::Marker => MARKERS,
    };
    match words.as_slice() {
        // `<:` is a face.
        [] => name.is_empty(),
        [one] if alone.contains(&one.as_str()) => true,
        words if is_bound(words) || is_filler(words) => true,
        words => parts_of(words).is_some_and(|found| found.count > 1),
    }
}

/// Whether this tag only lays out its content.
pub(super) fn is_layout(name: &str) -> bool {
    LAYOUT.contains(&name.to_lowercase().as_str())
}

/// Whether words are the beginning or the end of a part of a message: `end_of_document`, `endofresponse`.
fn is_bound(words: &[String]) -> bool {
    let whole = words.concat();
    let is_part = |part: &&str, bounds: &[&str]| {
        let Some((before, after)) = whole.split_once(part) else {
            return false;
        };
        let is_rest = |rest: &str| rest.is_empty() || bounds.contains(&rest);
        is_rest(before) && is_rest(after) && !(before.is_empty() && after.is_empty())
    };
    BOUNDED.iter().any(|part| is_part(part, BOUNDS)) || ENDED.iter().any(|part| is_part(part, ENDS))
}

/// Whether words are a reserved token: `unused95`, `extra_id_1`, `SPECIAL_12`.
fn is_filler(words: &[String]) -> bool {
    let is_number = |word: &str| !word.is_empty() && word.bytes().all(|c| c.is_ascii_digit());
    let [first, rest @ ..] = words else {
        return false;
    };
    let name = first.trim_end_matches(|c: char| c.is_ascii_digit());
    let is_rest =
        |word: &String| is_number(word) || matches!(word.as_str(), "id" | "special" | "token");
    let has_number = name.len() < first.len() || rest.last().is_some_and(|last| is_number(last));
    FILLERS.contains(&name) && has_number && rest.iter().all(is_rest)
}

/// Whether this is the name of a token that does nothing but end a message.
pub(super) fn is_last_token(name: &str) -> bool {
    LAST_TOKENS.contains(&name.to_lowercase().as_str())
}

/// Whether a name may be the end of a template's name whose beginning is lost.
pub(super) fn may_end_name(name: &str) -> bool {
    let is_end = |first: &str| PARTS.iter().any(|part| part.ends_with(first));
    chunks(name).is_some_and(|words| is_lost(&words, is_end))
}

/// Whether a name may be the beginning of a template's name whose end is lost.
pub(super) fn may_begin_name(name: &str) -> bool {
    let Some(mut words) = chunks(name) else {
        return false;
    };
    words.reverse();
    is_lost(&words, |last| {
        // `toolca`
        (0..=last.len())
            .filter(|at| last.is_char_boundary(*at))
            .any(|at| {
                let (whole, begun) = last.split_at(at);
                let is_whole =
                    whole.is_empty() || begun.len() != 1 && parts_of(&[whole.to_owned()]).is_some();
                is_whole && PARTS.iter().any(|part| part.starts_with(begun))
            })
    })
}

/// Whether all words but the first are complete.
fn is_lost(words: &[String], is_part: impl Fn(&str) -> bool) -> bool {
    match words {
        [] => true,
        [first, rest @ ..] => is_part(first) && (rest.is_empty() || parts_of(rest).is_some()),
    }
}

/// A name in lower case, split at everything that is not a letter or a digit; `None` if it is too long, or if a number in it
/// is not part of the name: `tool_call_1` counts calls, `tool call 1` and `calls｜1` may say something.
fn chunks(name: &str) -> Option<Vec<String>> {
    if name.len() > LONGEST {
        return None;
    }
    let lower = name.to_lowercase();
    let mut words: Vec<String> = Vec::new();
    let mut before = None;
    for piece in lower.split_inclusive(|c: char| !c.is_alphanumeric()) {
        let word = piece.trim_end_matches(|c: char| !c.is_alphanumeric());
        let is_number = !word.is_empty() && word.bytes().all(|c| c.is_ascii_digit());
        if is_number && !words.is_empty() && !matches!(before, Some('_' | '-' | ':' | '▁')) {
            return None;
        }
        if !word.is_empty() {
            words.push(word.to_owned());
        }
        before = piece.chars().next_back();
    }
    Some(words)
}

/// The parts that words are made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct NameParts {
    count: usize,
    slips: usize,
}

/// The parts that words are made of, with one typing error at most, if there is nothing else in them.
fn parts_of(words: &[String]) -> Option<NameParts> {
    let mut all = NameParts { count: 0, slips: 0 };
    for word in words {
        // A number at the end counts calls: `tool_call_1`.
        let is_number =
            all.count > 0 && word.len() <= 3 && word.bytes().all(|c| c.is_ascii_digit());
        let is_known = is_number
            || SHORT_PARTS.contains(&word.as_str())
            || MAKERS.contains(&word.as_str())
            || TOKENS.contains(&word.as_str());
        let found = if is_known {
            NameParts { count: 1, slips: 0 }
        } else {
            segmented(word)?
        };
        all.count += found.count;
        all.slips += found.slips;
    }
    // A typing error needs another word next to it that shows what is meant.
    (all.slips == 0 || all.slips == 1 && all.count > 1).then_some(all)
}

/// The length of the longest part with one surplus letter.
const LONGEST_PIECE: usize = {
    let (mut at, mut longest) = (0, 0);
    while at < PARTS.len() {
        if PARTS[at].len() > longest {
            longest = PARTS[at].len();
        }
        at += 1;
    }
    longest + 1
};

/// A word as a sequence of parts, with as few typing errors as possible.
fn segmented(word: &str) -> Option<NameParts> {
    let mut best: Vec<Option<NameParts>> = vec![None; word.len() + 1];
    best[0] = Some(NameParts { count: 0, slips: 0 });
    for end in 1..=word.len() {
        let first = end.saturating_sub(LONGEST_PIECE);
        // Nothing within reach can be continued. Most words of any text end here.
        if best[first..end].iter().all(Option::is_none) {
            return None;
        }
        for start in first..end {
            let (Some(before), Some(piece)) = (best[start], word.get(start..end)) else {
                continue;
            };
            let slips = if PARTS.contains(&piece) {
                0
            } else if before.slips == 0 && is_slip(piece) {
                1
            } else {
                continue;
            };
            let found = NameParts {
                count: before.count + 1,
                slips: before.slips + slips,
            };
            if best[end].is_none_or(|other| found.slips < other.slips) {
                best[end] = Some(found);
            }
        }
    }
    best[word.len()]
}

/// Whether this is a part with one typing error, and not another word (`start`, `stark`). A letter in front of a word may
/// reverse its meaning. In short parts another letter is almost always another word (`test`, `fall`), so there a letter may
/// only be missing, doubled or swapped with its neighbour.
fn is_slip(piece: &str) -> bool {
    const SHORTEST: usize = 4;
    const SHORTEST_CHANGED: usize = 6;
    let near = |part: &str| {
        part.len() >= SHORTEST
            && part.len().abs_diff(piece.len()) <= 1
            && part.as_bytes().first() == piece.as_bytes().first()
            && strsim::damerau_levenshtein(part, piece) == 1
    };
    let keeps_letters = |part: &str| {
        let letters = |word: &str| {
            let mut letters: Vec<char> = word.chars().collect();
            letters.sort_unstable();
            letters.dedup();
            letters
        };
        let (own, others) = (letters(piece), letters(part));
        own.iter().all(|letter| others.contains(letter)) && own.len() + 1 >= others.len()
    };
    let meant = |part: &&str| near(part) && (part.len() >= SHORTEST_CHANGED || keeps_letters(part));
    piece.len() >= SHORTEST - 1 && PARTS.iter().any(meant) && !is_english_word(piece)
}

/// The words of a line that only announces what follows it, followed by a colon: `Action Input:`.
const LABELS: &[&str] = word_list![
    action ai argument arguments args assistant bot call calls code function functions input inputs invocation invoke json
    model name parameter parameters params payload request tool tools
];

/// Words that form a whole line before a call without a colon, as remains of a fence or a prompt.
const BARE_LABELS: &[&str] = word_list![json functools functioncall assistant model];

/// Whether a line only says that a call follows: `Tool call:`, or without a colon `Function call`.
pub(super) fn is_label(line: &str) -> bool {
    let line = line.trim();
    let (label, has_colon) = match line.strip_suffix([':', '=']) {
        Some(label) => (label.trim_end(), true),
        None => (line, false),
    };
    let is_plain = label
        .chars()
        .all(|c| c.is_alphabetic() || matches!(c, ' ' | '_' | '-' | '*'));
    let words = chunks(label).filter(|_| is_plain).unwrap_or_default();
    let all = words.iter().all(|word| LABELS.contains(&word.as_str()));
    let is_bare = BARE_LABELS.contains(&label.to_lowercase().as_str());
    is_bare || all && words.len() > usize::from(!has_colon)
}

/// Whether a word is one of those before a call, or the start of one.
pub(super) fn may_begin_label(word: &str) -> bool {
    let word = word
        .trim_matches(['#', '*', '_', '-', ':', '='])
        .to_lowercase();
    LABELS
        .iter()
        .chain(BARE_LABELS)
        .any(|label| label.starts_with(&word))
}

/// Whether a line only waits for the result of the call before it.
pub(super) fn is_last_label(line: &str) -> bool {
    // The role starts another message, which is empty.
    matches!(line.trim(), "Observation:" | "Observation" | "assistant")
}

/// Names that a fence may give its content, besides those of a template. Any other word may mean something: `example`.
const LANGUAGES: &[&str] = word_list![
    json json5 jsonc jsonl ndjson js javascript ts typescript python py python3 xml html yaml yml toml text txt plaintext
    plain bash sh shell http markdown md tool_code java go rust ruby sql
];

/// Whether a fence may give its content this name.
pub(crate) fn is_language(word: &str) -> bool {
    let lower = word.to_lowercase();
    lower.is_empty()
        || LANGUAGES.contains(&lower.as_str())
        || lower.len() > 2 && is_of_template(&lower, NameShape::Tag)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn template_names_are_recognised_by_their_words() {
        for (name, shape) in [
            ("tool_call", NameShape::Tag),
            ("TOOLCALL", NameShape::Tag),
            ("toolCalls", NameShape::Tag),
            ("tool-call", NameShape::Tag),
            ("minimax:tool_call", NameShape::Tag),
            ("end_of_turn", NameShape::Tag),
            ("function_call", NameShape::Tag),
            ("functioncall", NameShape::Tag),
            ("tool_cal", NameShape::Tag),
            ("tol_call", NameShape::Tag),
            ("tool_clal", NameShape::Tag),
            ("toool_call", NameShape::Tag),
            ("funtion_call", NameShape::Tag),
            ("functiom_call", NameShape::Tag),
            ("use_mcp_tool", NameShape::Tag),
            ("arg_value", NameShape::Tag),
            ("im_end", NameShape::Token),
            ("endoftext", NameShape::Token),
            ("tool▁calls▁begin", NameShape::Token),
            ("END_OF_TURN_TOKEN", NameShape::Token),
            ("reserved_special_token_5", NameShape::Token),
            ("tool_call_argument_begin", NameShape::Token),
            ("action_start", NameShape::Token),
            ("TOOL_CALLS", NameShape::Marker),
            ("END_TOOL_REQUEST", NameShape::Marker),
            ("INST", NameShape::Marker),
            ("end_of_document", NameShape::Token),
            ("endofresponse", NameShape::Token),
            ("START_RESPONSE", NameShape::Token),
            ("unused95", NameShape::Tag),
            ("extra_id_1", NameShape::Tag),
            ("SPECIAL_12", NameShape::Tag),
            ("tool_calls:opensource", NameShape::Tag),
            ("execute_tool", NameShape::Tag),
        ] {
            assert!(is_of_template(name, shape), "{name}");
        }
    }

    #[test]
    fn meaningful_names_are_not_debris() {
        for name in [
            "dry_run",
            "user",
            "system",
            "do_not_run",
            "no_tool_call",
            "notool",
            "example",
            "example_call",
            "test_call",
            "tall_call",
            "tool_fall",
            "fool_call",
            "tool_all",
            "task_call",
            "last_call",
            "tool_response",
            "tool_output",
            "function_results",
            "skip_call",
            "fake_tool_call",
            "cancel",
            "stop_call",
            "draft",
            "mock",
            "undo_call",
            "simulated:tool_call",
            "content",
            "name",
            "text",
            "document",
            "tool_answer",
            "extra_call",
            "special",
            "mask",
            "recall",
            "uncall",
            "send_tool",
            "不要执行",
            "observation",
            "begin_of_document",
            "file_start",
            "prompt_text",
            "human",
            "think",
        ] {
            assert!(!is_of_template(name, NameShape::Tag), "{name}");
        }
        for name in [
            "tool",
            "function",
            "user",
            "tool_output",
            "dry-run",
            "NEVER",
            "input",
        ] {
            assert!(!is_of_template(name, NameShape::Token), "{name}");
        }
    }

    #[test]
    fn names_may_have_lost_an_end() {
        for name in ["", "tool", "tool_ca", "toolca", "im_e", "functio"] {
            assert!(may_begin_name(name), "{name}");
        }
        for name in ["", "call", "ool_call", "l_call", "_end"] {
            assert!(may_end_name(name), "{name}");
        }
        for name in ["dry", "user", "no_ca", "tool_z"] {
            assert!(!may_begin_name(name), "{name}");
        }
        for name in ["dry_call", "not_call", "call_undo"] {
            assert!(!may_end_name(name), "{name}");
        }
    }

    #[test]
    fn labels_say_nothing_but_that_a_call_follows() {
        for label in [
            "Action Input:",
            "Tool call:",
            "arguments =",
            "**Function call:",
            "JSON:",
            "tool_call",
            "json",
        ] {
            assert!(is_label(label), "{label}");
        }
        for label in [
            "Example call:",
            "call",
            "No call:",
            "Output:",
            "Do not call:",
            "Aufruf:",
            "Tool call 5:",
        ] {
            assert!(!is_label(label), "{label}");
        }
    }
}
