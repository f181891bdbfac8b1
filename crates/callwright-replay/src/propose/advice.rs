//! What models get wrong often → what the description should say.

use serde_json::Value as Json;

use super::Advice;
use super::node::type_names;
use super::title::label;
use crate::decide::{Declaration, Judgement, Kind, ratio};
use crate::schema::{fragments, places};
use crate::summary::{Cluster, ClusterKey, Side, Summary};

/// From so many calls on a mistake is worth a word in the description.
const OFTEN: u64 = 20;

/// Or from this share of the tool's calls on, if there are at least a few.
const SHARE: f64 = 0.02;

/// How many are a few.
const FEW: u64 = 3;

/// How much advice of this kind is given: what nobody reads to the end helps nobody.
const MOST: usize = 50;

/// Words that advice is about; longer ones are cut.
const LONGEST_VALUE: usize = 40;

/// Looks for frequent bugs that a better description would prevent.
pub(super) fn describe_better(
    summary: &Summary,
    judgements: &[Judgement],
    advice: &mut Vec<Advice>,
) {
    let before = advice.len();
    for judgement in judgements {
        let key = &judgement.cluster;
        if judgement.kind != Kind::Bug || key.side != Side::Input {
            continue;
        }
        let (Some(cluster), Some(tool)) = (summary.clusters.get(key), summary.tools.get(&key.tool))
        else {
            continue;
        };
        let is_often = cluster.calls >= OFTEN
            || cluster.calls >= FEW && ratio(cluster.calls, tool.tally.calls) >= SHARE;
        if !is_often || advice.len() - before >= MOST {
            continue;
        }
        let declared = Declaration::newest_of(Some(tool));
        if let Some(text) = text(key, cluster, declared.schema(Side::Input)) {
            advice.push(Advice {
                tool: key.tool.clone(),
                path: key.path.clone(),
                text,
            });
        }
    }
}

fn text(key: &ClusterKey, cluster: &Cluster, schema: Option<&Json>) -> Option<String> {
    let place = label(key.side, &key.path);
    let calls = counted(cluster.calls);
    let nodes = schema
        .map(|root| nodes(root, &key.path))
        .unwrap_or_default();
    let sent = example(cluster);
    let types: Vec<&str> = nodes.iter().flat_map(type_names).collect();
    let listed = nodes.iter().find_map(|node| node.get("enum")?.as_array());
    Some(match key.issue.as_str() {
        "type" => {
            let wanted = types.first().map(|name| name.to_lowercase());
            let wanted = match wanted.as_deref() {
                Some("integer") => "a whole number",
                Some("number") => "a number",
                Some("boolean") => "true or false",
                Some("array") => "a list",
                Some("object") => "an object",
                Some("string") => "a text",
                _ => return None,
            };
            let other = match key.shape.as_str() {
                "integer in a string" | "number in a string" | "boolean in a string" => {
                    ", without quotes"
                }
                "object in a string" | "array in a string" | "broken JSON in a string" => {
                    ", not JSON inside a text"
                }
                "null" => ", and to be left out where there is none",
                _ => "",
            };
            format!(
                "say in the description of {place} that it is {wanted}{other}: {calls} sent {sent}"
            )
        }
        "required" => format!(
            "say in the description of {place} that it is always needed, and what to send where nothing is known: {calls} left it out"
        ),
        "unknown_key" => {
            format!(
                "say in the description of the tool that there is no {place}, or what to use instead: {calls} sent it"
            )
        }
        // The values of a secret are not for a description.
        "enum" | "const" if key.shape == "masked" => return None,
        "enum" | "const" => {
            let listed = listed?.iter().take(8).map(Json::to_string);
            let listed: Vec<String> = listed.collect();
            format!(
                "name the values of {place} in its description ({}), and which is meant for {sent}: {calls} sent it",
                listed.join(", ")
            )
        }
        "format" | "pattern" => {
            let rule = nodes
                .iter()
                .find_map(|node| node.get(key.issue.as_str())?.as_str())?;
            format!(
                "give an example for {place} in its description ({} {rule}): {calls} sent {sent}",
                key.issue
            )
        }
        "maximum" | "minimum" | "max_length" | "min_length" | "max_items" | "min_items" => {
            format!("say the limits of {place} in its description: {calls} sent {sent}")
        }
        _ => return None,
    })
}

fn nodes(root: &Json, path: &str) -> Vec<Json> {
    let places = places(root, path);
    let parts = places.iter().flat_map(|place| fragments(root, place));
    parts
        .filter_map(|part| root.pointer(part.at.as_pointer()).cloned())
        .collect()
}

/// The most frequent value of a cluster.
fn example(cluster: &Cluster) -> String {
    let often = cluster.values.iter().max_by_key(|(_, calls)| **calls);
    let shown = often.map(|(value, _)| value.as_str());
    let shown = shown.or_else(|| Some(cluster.examples.iter().next()?.value.as_str()));
    let shown = shown.unwrap_or("something else");
    if shown.chars().count() <= LONGEST_VALUE {
        return shown.to_owned();
    }
    let beginning: String = shown.chars().take(LONGEST_VALUE).collect();
    format!("{beginning}…")
}

/// `1,204 calls`
pub(super) fn counted(calls: u64) -> String {
    let digits = calls.to_string();
    let mut grouped = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    let noun = if calls == 1 { "call" } else { "calls" };
    format!("{grouped} {noun}")
}
