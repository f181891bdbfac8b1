//! Advice that changes no verdict: better descriptions, and schemas that could be tighter.

use callwright::json::Path;
use callwright::validate::IssueCode as Code;
use serde_json::Value as Json;

use super::SchemaAdvice;
use super::node::{requires, type_names};
use super::title::{label, shortened};
use crate::decide::{ClusterJudgement, Declarations, ToolDeclaration, ViolationKind, ratio};
use crate::number::count;
use crate::schema::nodes;
use crate::summary::{
    Cluster, ClusterKey, FieldUse, HeldInText, Parameter, Side, Summary, ValueShape,
};

/// From this many calls on, a mistake is worth a word in the description.
const OFTEN: u64 = 20;

/// Or from this share of the tool's calls on, if there are at least a few.
const SHARE: f64 = 0.02;

/// How many are a few.
const FEW: u64 = 3;

/// How much advice about descriptions is given: a longer list is not read to the end.
const MOST: usize = 50;

/// The longest value quoted in advice; longer ones are cut.
const LONGEST_VALUE: usize = 40;

/// How many valid calls must have been examined before "always" and "never" mean something.
const ENOUGH: u64 = 1_000;

/// If a parameter has few values, each came at least this often.
const EACH: u64 = 20;

/// Looks for frequent bugs that a better description would prevent.
pub(super) fn describe_better(
    summary: &Summary,
    judgements: &[ClusterJudgement],
    advice: &mut Vec<SchemaAdvice>,
) {
    let before = advice.len();
    for judgement in judgements {
        let key = &judgement.cluster;
        if judgement.kind != ViolationKind::Bug || key.side != Side::Input {
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
        let declaration = ToolDeclaration::newest_of(Some(tool));
        let schema = declaration.schema(Side::Input);
        let nodes = schema.map_or_else(Vec::new, |root| nodes(root, &key.path));
        if let Some(text) = better_description(key, cluster, &nodes) {
            advice.push(SchemaAdvice {
                tool: key.tool.clone(),
                path: key.path.clone(),
                text,
            });
        }
    }
}

fn better_description(key: &ClusterKey, cluster: &Cluster, nodes: &[&Json]) -> Option<String> {
    let place = label(key.side, &key.path);
    let calls = count(cluster.calls, "call", "calls");
    let sent = most_frequent_value(cluster);
    let shape = &key.shape;
    let code = key.issue_code()?;
    Some(match code {
        Code::Type => {
            let wanted = nodes.iter().flat_map(|node| type_names(node)).next()?;
            let wanted = match wanted.to_lowercase().as_str() {
                "integer" => "a whole number",
                "number" => "a number",
                "boolean" => "true or false",
                "array" => "a list",
                "object" => "an object",
                "string" => "a text",
                _ => return None,
            };
            let other = match shape {
                ValueShape::Holds(
                    HeldInText::Integer | HeldInText::Number | HeldInText::Boolean,
                ) => ", without quotes",
                ValueShape::Holds(
                    HeldInText::Object | HeldInText::Array | HeldInText::BrokenJson,
                ) => ", not JSON inside a text",
                ValueShape::Null => ", and to be left out where there is none",
                _ => "",
            };
            format!(
                "say in the description of {place} that it is {wanted}{other}: {calls} sent {sent}"
            )
        }
        Code::Required => format!(
            "say in the description of {place} that it is always needed, and what to send where nothing is known: {calls} left it out"
        ),
        Code::UnknownKey => format!(
            "say in the description of the tool that there is no {place}, or what to use instead: {calls} sent it"
        ),
        // The values of a secret do not belong in a description.
        Code::Enum | Code::Const if *shape == ValueShape::Masked => return None,
        Code::Enum | Code::Const => {
            let listed = nodes.iter().find_map(|node| node.get("enum")?.as_array())?;
            let listed: Vec<String> = listed.iter().take(8).map(Json::to_string).collect();
            format!(
                "name the values of {place} in its description ({}), and which is meant for {sent}: {calls} sent it",
                listed.join(", ")
            )
        }
        Code::Format | Code::Pattern => {
            let keyword = code.name();
            let rule = nodes.iter().find_map(|node| node.get(keyword)?.as_str())?;
            format!(
                "give an example for {place} in its description ({keyword} {rule}): {calls} sent {sent}"
            )
        }
        Code::Maximum
        | Code::Minimum
        | Code::MaxLength
        | Code::MinLength
        | Code::MaxItems
        | Code::MinItems => {
            format!("say the limits of {place} in its description: {calls} sent {sent}")
        }
        _ => return None,
    })
}

fn most_frequent_value(cluster: &Cluster) -> String {
    let often = cluster.values.iter().max_by_key(|(_, calls)| **calls);
    let shown = often.map(|(value, _)| value.as_str());
    let shown = shown.or_else(|| Some(cluster.examples.iter().next()?.value.as_str()));
    shortened(shown.unwrap_or("something else"), LONGEST_VALUE)
}

/// Looks for schemas that are looser than all traffic. Only advice: what was never sent may be sent tomorrow.
pub(super) fn tighten(summary: &Summary, advice: &mut Vec<SchemaAdvice>) {
    let mut declarations = Declarations::of(summary);
    for (Parameter { tool, name }, seen) in summary.parameters.iter() {
        let enough = summary.tools.get(tool).filter(|it| it.sampled >= ENOUGH);
        let Some(counts) = enough else {
            continue;
        };
        let Some(schema) = declarations.get(tool).schema(Side::Input) else {
            continue;
        };
        let path = Path::root().key(name);
        let path = path.as_pointer();
        // The first part about a place is the closest one.
        let Some(node) = nodes(schema, path).first().copied() else {
            continue;
        };
        let is_required = requires(schema, name);
        for text in tighter(node, is_required, seen, counts.sampled) {
            advice.push(SchemaAdvice {
                tool: tool.clone(),
                path: path.to_owned(),
                text: format!("{} {text}", label(Side::Input, path)),
            });
        }
    }
}

/// Suggestions for a parameter.
fn tighter(node: &Json, is_required: bool, seen: &FieldUse, sampled: u64) -> Vec<String> {
    let counted = |calls: u64| count(calls, "call", "calls");
    let mut texts = Vec::new();
    if seen.present == sampled && !is_required {
        texts.push(format!(
            "is optional, and all of {} gave it: it could be required",
            counted(sampled)
        ));
    }
    let types = type_names(node);
    let is_only = |name: &str| matches!(types[..], [only] if only.eq_ignore_ascii_case(name));
    let has = |keywords: &[&str]| keywords.iter().any(|keyword| node.get(*keyword).is_some());
    let is_free = !has(&["enum", "const", "format", "pattern"]);
    let few = seen.values.get();
    let few = few.filter(|values| values.values().all(|calls| *calls >= EACH));
    if !is_free || seen.present < ENOUGH {
        return texts;
    }
    if let Some(values) = few.filter(|_| is_only("string")) {
        let values: Vec<&str> = values.keys().map(String::as_str).collect();
        texts.push(format!(
            "is any text, and only ever was {}: an enum is possible",
            values.join(", ")
        ));
    }
    let is_number = is_only("integer") || is_only("number");
    let has_most = has(&["maximum", "exclusiveMaximum"]);
    if let Some(largest) = (seen.largest).filter(|_| is_number && !has_most && few.is_none()) {
        texts.push(format!(
            "has no maximum, and was never more than {largest} in {}",
            counted(seen.present)
        ));
    }
    texts
}
