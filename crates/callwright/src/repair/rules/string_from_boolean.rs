//! A boolean for a text that is `"true"` or `"false"`: `true` for `"True"`.
//!
//! Tools that pass options on declare switches as texts. Lossless, and only where the schema itself writes
//! such a word among its allowed values, as its default or example, or both words in its description: that
//! says that the text is a switch, and whether it is `true`, `True` or `TRUE`. Without it the word is not known
//! (`yes`, `on`, `1`), and with two spellings neither. The word itself must be there, or be
//! spelt as it was sent: nothing is invented.

use serde_json::Value as Schema;

use super::super::{Grade, Stakes};
use super::{Change, Rule, Site};
use crate::json::Value;

pub(super) const RULE: Rule = Rule {
    name: "string_from_boolean",
    grade: Grade::Lossless,
    cost: 3,
    up_to: Stakes::Changes,
    about: "A boolean for a text that the schema lists, `true` for `\"True\"`, becomes that text.",
    propose,
};

/// The words for true and false, per spelling.
const SPELLINGS: [[&str; 2]; 3] = [["true", "false"], ["True", "False"], ["TRUE", "FALSE"]];

fn propose(site: &Site<'_>) -> Option<Change> {
    let Value::Bool(sent) = site.value()? else {
        return None;
    };
    let node = site.schema.follow(site.node()?);
    if node.get("type")?.as_str()? != "string" {
        return None;
    }
    let mut written = SPELLINGS.iter().filter(|words| writes(node, words));
    match (written.next(), written.next()) {
        (Some([yes, no]), None) => {
            let word = if *sent { *yes } else { *no };
            let as_sent = [yes, no] == [&"true", &"false"];
            let known = as_sent || words_of(node).any(|written| written == word);
            known.then(|| site.replace(Value::String(word.into())))
        }
        _ => None,
    }
}

/// Whether a schema node writes one of these words as a value, or both in its description.
fn writes(node: &Schema, words: &[&str; 2]) -> bool {
    let described = |word: &&str| description(node).any(|said| said == *word);
    words.iter().all(described) || values(node).any(|value| words.contains(&value))
}

/// All words that a schema node writes.
fn words_of(node: &Schema) -> impl Iterator<Item = &str> {
    values(node).chain(description(node))
}

fn values(node: &Schema) -> impl Iterator<Item = &str> {
    let lists = ["enum", "examples"]
        .into_iter()
        .filter_map(|key| node.get(key)?.as_array());
    let single = ["default", "const"]
        .into_iter()
        .filter_map(|key| node.get(key));
    lists.flatten().chain(single).filter_map(Schema::as_str)
}

fn description(node: &Schema) -> impl Iterator<Item = &str> {
    let text = node.get("description").and_then(Schema::as_str);
    text.unwrap_or_default()
        .split(|c: char| !c.is_alphanumeric())
}
