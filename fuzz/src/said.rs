//! Checks that everything in a text is still there: the oracle of `judge` and `rescue`.
//!
//! Takes a text and what it was turned into. Words that chat templates write around a call carry no meaning, and
//! neither do the keys of a JSON call and its id; they are taken from the crate's own tables. Any other missing word is
//! a bug.

use std::sync::LazyLock;

use callwright::internal::{ID_KEYS, reasoning_tags, words_around_calls};
use callwright::json;

/// Words that may be dropped, in lower case. The tables contain names such as `tool_use`, which is two words.
static WORDS: LazyLock<Vec<String>> = LazyLock::new(|| {
    let mut all: Vec<String> = words_around_calls().flat_map(words).collect();
    all.sort();
    all.dedup();
    all
});

/// Shorter words of the tables only count as whole words, not inside others.
const SHORTEST_PART: usize = 2;

/// Shorter words of the tables are not recognised with a slip.
const SHORTEST_WITH_SLIP: usize = 4;

/// Longer words do not come from a template.
const LONGEST: usize = 48;

/// What is left of a text that may have been turned into a call.
pub struct Kept {
    had_id: bool,
    had_reasoning: bool,
    text: String,
    names: Vec<String>,
}

impl Kept {
    /// Empty. The flags say whether a call was opened that may have had an id, and whether a block of reasoning may
    /// have been dropped.
    pub fn new(had_id: bool, had_reasoning: bool) -> Self {
        Kept {
            had_id,
            had_reasoning,
            text: String::new(),
            names: Vec::new(),
        }
    }

    /// The name of a called tool: it may be missing from the text, in any spelling.
    pub fn add_name(&mut self, name: &str) {
        self.names.push(words(name).concat());
    }

    pub fn add_text(&mut self, text: &str) {
        self.text.extend(words(text));
        self.text.push(' ');
    }

    /// Keys and leaves.
    pub fn add_value(&mut self, value: &json::Value<'_>) {
        match value {
            json::Value::Array(items) => items.iter().for_each(|item| self.add_value(item)),
            json::Value::Object(members) => members.iter().for_each(|(key, item)| {
                self.add_text(key);
                self.add_value(item);
            }),
            json::Value::String(text) => self.add_text(text),
            leaf => self.add_text(&leaf.to_string()),
        }
    }

    /// The missing words of a text, one list for each level of escapes: text may be nested in text. If nothing is
    /// missing at any level, nothing is lost.
    pub fn missing(&self, text: &str) -> Option<Vec<String>> {
        let mut level = text.to_owned();
        if self.had_reasoning {
            level = without_reasoning(&level);
        }
        if self.had_id {
            level = without_ids(&level);
        }
        let mut missing = Vec::new();
        for _ in 0..5 {
            missing.push(self.first_missing(&level)?);
            level = unescaped(&level);
        }
        Some(missing)
    }

    fn first_missing(&self, text: &str) -> Option<String> {
        let all: Vec<(usize, &str)> = runs(text).collect();
        let last = all.len().saturating_sub(1);
        let gone = |(at, (place, run)): &(usize, (usize, &str))| {
            let word = run.to_lowercase();
            let before = text[..*place].chars().next_back();
            // `tool_call_1`, `functions.search:0`
            let counts = word.len() <= 3
                && word.bytes().all(|c| c.is_ascii_digit())
                && matches!(before, Some('_' | '-' | ':' | '▁'));
            let is_null = match word.as_str() {
                "none" | "nil" => self.text.contains("null"),
                // Next to a JSON call, a provider's message has members without a value: `"content": null`.
                "null" => self.had_id,
                _ => false,
            };
            // A tag may have lost its beginning before the value or after it: `_call>`, `{…}nel|>commentary`,
            // `{…}l▁end｜>`.
            let in_tag = |c: char| c.is_alphanumeric() || "|｜/_▁".contains(c);
            let after = text[*place + run.len()..].trim_start_matches(in_tag);
            let is_cut = (
                *at == 0 || *at == last || after.starts_with('>'),
                *at == last,
            );
            let is_kept = self.text.contains(&word) || is_null || self.is_name(&word);
            !(is_kept || counts || goes(&word, is_cut))
        };
        let found = all.into_iter().enumerate().find(gone);
        found.map(|(_, (_, word))| word.to_owned())
    }

    fn is_name(&self, word: &str) -> bool {
        let is_part = |name: &String| name.contains(word) && word.len() > 1 || name == word;
        self.names.iter().any(is_part)
    }
}

/// Checks that the oracle can fail: a missing key, value, sentence or word in a tag must be noticed, and a missing
/// template must not. A panic ends a target, so this runs when one starts.
pub fn assert_can_miss() {
    let mut kept = Kept::new(true, true);
    kept.add_name("send_mail");
    kept.add_value(&json::Value::from(&serde_json::json!({"to": "Ann", "limit": 5})).into_owned());
    let call = r#"{"to": "Ann", "limit": 5}"#;
    for (before, after) in [
        ("<tool_call>", "</tool_call>"),
        ("<tool_cal>", "</tool_call"),
        (
            "<|im_start|>assistant\n<｜tool▁calls▁begin｜>send_mail\n",
            "<|im_end|>",
        ),
        (
            "{\"name\": \"sendMail\", \"id\": \"chk 9f\", \"arguments\": ",
            "}",
        ),
        ("<think>Now or never?</think>```json\n", "\n```"),
    ] {
        let text = format!("{before}{call}{after}");
        assert_eq!(kept.missing(&text), None, "{text}");
    }
    for text in [
        r#"{"to": "Ann", "limit": 5, "dry_run": true}"#,
        r#"{"to": ["Ann", "Bob"], "limit": 5}"#,
        r#"{"to": "Ann", "limit": 50}"#,
        r#"<tool_call>{"to": "Ann", "limit": 5} not yet</tool_call>"#,
        r#"<|dry_run|>{"to": "Ann", "limit": 5}"#,
        r#"Do not do this: <tool_call>{"to": "Ann", "limit": 5}</tool_call>"#,
    ] {
        assert!(kept.missing(text).is_some(), "{text}");
    }
}

/// Runs of letters and digits, with their places.
fn runs(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let place = move |run: &str| run.as_ptr() as usize - text.as_ptr() as usize;
    let runs = text.split(|c: char| !c.is_alphanumeric());
    runs.filter(|run| !run.is_empty())
        .map(move |run| (place(run), run))
}

fn words(text: &str) -> Vec<String> {
    runs(text).map(|(_, run)| run.to_lowercase()).collect()
}

/// Whether a word carries no meaning: it is in the tables, or made of several such words, with at most one slip. At
/// either end of a text it may be cut.
fn goes(word: &str, (is_first, is_last): (bool, bool)) -> bool {
    let whole = |word: &str| WORDS.iter().any(|known| known == word);
    // The rest of `\n` when one level of escapes is missing.
    let is_escape = word.len() == 1 && "bfnrtu".contains(word);
    // `&lt;tool_call&gt;`
    let is_entity = matches!(word, "lt" | "gt");
    // Reserved tokens are numbered: `unused12`.
    let bare = word.trim_end_matches(|c: char| c.is_ascii_digit());
    let is_numbered = bare.len() < word.len() && whole(bare);
    let ends = |(at, _): (usize, char)| {
        let (end, rest) = word.split_at(at);
        WORDS.iter().any(|known| known.ends_with(end)) && consists(rest, 1, is_last)
    };
    word.len() <= LONGEST
        && (whole(word)
            || is_escape
            || is_entity
            || is_numbered
            || consists(word, 1, is_last)
            || is_first
                && (word.char_indices().skip(1).any(ends)
                    || WORDS.iter().any(|known| known.ends_with(word))))
}

fn consists(word: &str, slips: usize, may_be_cut: bool) -> bool {
    if word.is_empty() {
        return true;
    }
    let parts = || WORDS.iter().filter(|known| known.len() >= SHORTEST_PART);
    parts().any(|part| {
        word.strip_prefix(part.as_str())
            .is_some_and(|rest| consists(rest, slips, may_be_cut))
            || may_be_cut && part.starts_with(word)
    }) || slips > 0
        && parts()
            .filter(|part| part.len() >= SHORTEST_WITH_SLIP)
            .any(|part| {
                (part.len() - 1..=part.len() + 1)
                    .filter_map(|length| word.split_at_checked(length))
                    .any(|(piece, rest)| is_slip(piece, part) && consists(rest, 0, may_be_cut))
            })
}

/// Whether one letter is missing, added, replaced or swapped with its neighbour.
fn is_slip(piece: &str, word: &str) -> bool {
    let (piece, word): (Vec<char>, Vec<char>) = (piece.chars().collect(), word.chars().collect());
    let same =
        |left: &[char], right: &[char]| left.iter().zip(right).take_while(|(l, r)| l == r).count();
    let front = same(&piece, &word);
    let (piece, word) = (&piece[front..], &word[front..]);
    match (piece, word) {
        ([], [_]) | ([_], []) => true,
        ([_, left @ ..], [_, right @ ..]) if left == right => true,
        ([_, left @ ..], right) | (right, [_, left @ ..]) if left == right => true,
        ([a, b, left @ ..], [c, d, right @ ..]) => a == d && b == c && left == right,
        _ => false,
    }
}

/// Removes reasoning if it is closed, even if the prompt opened it. It may contain anything.
fn without_reasoning(text: &str) -> String {
    let block = text.char_indices().find_map(|(start, _)| {
        let (open, close) = reasoning_tags(&text[start..])?;
        let inside = start + open.len();
        let length = text[inside..].find(&close)?;
        Some((start, inside + length + close.len()))
    });
    let only_closed = || {
        let end = |close: &&str| Some((0, text.find(*close)? + close.len()));
        ["</think>", "</thinking>"]
            .iter()
            .find_map(|close| end(&close))
    };
    match block.or_else(only_closed) {
        Some((start, end)) => format!("{} {}", &text[..start], &text[end..]),
        None => text.to_owned(),
    }
}

/// A text without the ids of calls: `"id": "c1"`, `id="c1"`, `[CALL_ID]c1`.
fn without_ids(text: &str) -> String {
    let mut rest = text;
    let mut out = String::new();
    let keys = || ID_KEYS.iter().copied().chain(["index", "CALL_ID"]);
    while let Some((end, key)) = keys()
        .filter_map(|key| Some((rest.find(key)? + key.len(), key)))
        .min()
    {
        out.push_str(&rest[..end]);
        rest = &rest[end..];
        let after = rest.trim_start_matches(['"', '\'', '\\', ' ', ':', '=', ']']);
        let signs = &rest[..rest.len() - after.len()];
        let is_value = signs.contains([':', '=']) || key == "CALL_ID" && signs == "]";
        let length = match signs.chars().next_back() {
            _ if !is_value => 0,
            Some(quote @ ('"' | '\'')) => after.find([quote, '\\']).unwrap_or(after.len()),
            _ => after
                .find(|c: char| !(c.is_alphanumeric() || "_-".contains(c)))
                .unwrap_or(after.len()),
        };
        out.push_str(signs);
        rest = &after[length..];
    }
    out + rest
}

/// A text with the escapes of JSON decoded, wherever they are.
pub fn unescaped(text: &str) -> String {
    let mut units: Vec<u16> = Vec::new();
    let mut rest = text;
    while let Some(next) = rest.chars().next() {
        rest = &rest[next.len_utf8()..];
        let kind = rest.chars().next().filter(|_| next == '\\');
        let decoded = match kind {
            Some('n') => '\n',
            Some('t') => '\t',
            Some('r') => '\r',
            Some('b') => '\u{8}',
            Some('f') => '\u{c}',
            Some(plain @ ('"' | '\'' | '\\' | '/')) => plain,
            Some('u') => {
                if let Some(Ok(unit)) = rest.get(1..5).map(|hex| u16::from_str_radix(hex, 16)) {
                    units.push(unit);
                    rest = &rest[5..];
                    continue;
                }
                units.push(u16::from(b'\\'));
                continue;
            }
            _ => {
                units.extend(next.encode_utf16(&mut [0; 2]).iter());
                continue;
            }
        };
        rest = &rest[1..];
        units.extend(decoded.encode_utf16(&mut [0; 2]).iter());
    }
    String::from_utf16_lossy(&units)
}
