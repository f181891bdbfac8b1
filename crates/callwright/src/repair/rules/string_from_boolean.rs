//! A boolean for a text that is `"true"` or `"false"`: `true` for `"True"`.
//!
//! Tools that pass options on declare switches as texts. A guess, and only where the schema itself writes
//! such a word, in its allowed values, its default, its examples or its description: that says that the
//! text is a switch, and whether it is `true`, `True` or `TRUE`. Without it nobody knows (`yes`, `on`,
//! `1`), and with two spellings neither.

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
    let mut written = SPELLINGS
        .iter()
        .filter(|words| words.iter().any(|word| writes(node, word)));
    match (written.next(), written.next()) {
        (Some([yes, no]), None) => {
            let word = if *sent { *yes } else { *no };
            Some(site.replace(Value::String(word.into())))
        }
        _ => None,
    }
}

/// Whether a schema node writes this very word, as a value or in its description.
fn writes(node: &Schema, word: &str) -> bool {
    let is = |value: &Schema| value.as_str() == Some(word);
    let values = ["enum", "examples"]
        .iter()
        .filter_map(|key| node.get(key)?.as_array())
        .flatten();
    let single = ["default", "const"].iter().filter_map(|key| node.get(key));
    let description = node.get("description").and_then(Schema::as_str);
    let said = description.is_some_and(|text| {
        let mut words = text.split(|c: char| !c.is_alphanumeric());
        words.any(|said| said == word)
    });
    said || values.chain(single).any(is)
}
