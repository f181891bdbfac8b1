//! A boolean for a text that is `"true"` or `"false"`: `true` for `"True"`.
//!
//! Tools that pass options on declare switches as texts. A guess, and only where the schema itself writes
//! such a word among its allowed values, as its default or example, or both words in its description: that
//! says that the text is a switch, and whether it is `true`, `True` or `TRUE`. Without it nobody knows
//! (`yes`, `on`, `1`), and with two spellings neither.

use serde_json::Value as Schema;

use super::super::Grade;
use super::{Change, Rule, Site};
use crate::json::Value;

pub(super) const RULE: Rule = Rule {
    name: "string_from_boolean",
    grade: Grade::Guess,
    cost: 1,
    propose,
};

/// The words for true and false, per spelling.
const SPELLINGS: [[&str; 2]; 3] = [["true", "false"], ["True", "False"], ["TRUE", "FALSE"]];

fn propose(site: &Site<'_>) -> Option<Change> {
    let Value::Bool(sent) = site.value()? else {
        return None;
    };
    let node = site.schema.follow(site.schema.node(&site.finding.owner)?);
    if node.get("type")?.as_str()? != "string" {
        return None;
    }
    let mut written = SPELLINGS.iter().filter(|words| writes(node, words));
    match (written.next(), written.next()) {
        (Some([yes, no]), None) => {
            let word = if *sent { *yes } else { *no };
            Some(site.replace(Value::String(word.into())))
        }
        _ => None,
    }
}

/// Whether a schema node writes one of these words as a value, or both in its description.
fn writes(node: &Schema, words: &[&str; 2]) -> bool {
    let is_word = |value: &Schema| value.as_str().is_some_and(|text| words.contains(&text));
    let values = ["enum", "examples"]
        .iter()
        .filter_map(|key| node.get(key)?.as_array())
        .flatten();
    let single = ["default", "const"].iter().filter_map(|key| node.get(key));
    let description = node.get("description").and_then(Schema::as_str);
    let said = |word: &&str| {
        let mut said = description
            .unwrap_or_default()
            .split(|c: char| !c.is_alphanumeric());
        said.any(|said| said == *word)
    };
    words.iter().all(said) || values.chain(single).any(is_word)
}
