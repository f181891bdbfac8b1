//! Where a schema is looser than all traffic. Advice only: what was never sent may be sent tomorrow.

use serde_json::Value as Json;

use super::Advice;
use super::advice::counted;
use super::node::type_names;
use super::title::label;
use crate::decide::Declaration;
use crate::schema::places;
use crate::summary::{FieldUse, Side, Summary};

/// So many valid calls must have been looked at before "always" and "never" mean something.
const ENOUGH: u64 = 1_000;

/// So many different values at most look like a list of values.
const FEW_VALUES: usize = 8;

/// Each of which came so often at least.
const EACH: u64 = 20;

/// Looks at what valid calls give for each parameter.
pub(super) fn than_all_traffic(summary: &Summary, advice: &mut Vec<Advice>) {
    for (name, tool) in summary
        .tools
        .iter()
        .filter(|(_, tool)| tool.sampled >= ENOUGH)
    {
        let declared = Declaration::newest_of(Some(tool));
        let Some(schema) = declared.schema(Side::Input) else {
            continue;
        };
        for (field, seen) in tool.fields.iter() {
            let path = callwright::json::Path::root().key(field);
            let found = places(schema, path.as_pointer());
            let Some(node) = found
                .first()
                .and_then(|it| schema.pointer(it.at.as_pointer()))
            else {
                continue;
            };
            let label = label(Side::Input, path.as_pointer());
            for text in findings(schema, field, node, seen, tool.sampled, &label) {
                advice.push(Advice {
                    tool: name.clone(),
                    path: path.as_pointer().to_owned(),
                    text,
                });
            }
        }
    }
}

fn findings(
    schema: &Json,
    field: &str,
    node: &Json,
    seen: &FieldUse,
    sampled: u64,
    label: &str,
) -> Vec<String> {
    let mut texts = Vec::new();
    let is_required = super::node::requires(schema, field);
    if seen.present == sampled && !is_required {
        texts.push(format!(
            "{label} is optional, and all of {} gave it: it could be required",
            counted(sampled)
        ));
    }
    let types = type_names(node);
    let is_only = |name: &str| types.len() == 1 && types[0].eq_ignore_ascii_case(name);
    let is_free = ["enum", "const", "format", "pattern"]
        .iter()
        .all(|keyword| node.get(*keyword).is_none());
    let is_few = seen.values.len() <= FEW_VALUES
        && seen.values.dropped() == 0
        && seen.values.iter().map(|(_, calls)| *calls).sum::<u64>() == seen.present
        && seen.values.iter().all(|(_, calls)| *calls >= EACH);
    if is_only("string") && is_free && is_few && seen.present >= ENOUGH {
        let values: Vec<&str> = seen
            .values
            .iter()
            .map(|(value, _)| value.as_str())
            .collect();
        texts.push(format!(
            "{label} is any text, and only ever was {}: an enum is possible",
            values.join(", ")
        ));
    }
    let is_number = is_only("integer") || is_only("number");
    let has_most = ["maximum", "exclusiveMaximum"]
        .iter()
        .any(|keyword| node.get(*keyword).is_some());
    if let Some(largest) = seen
        .largest
        .filter(|_| is_number && is_free && !has_most && !is_few && seen.present >= ENOUGH)
    {
        texts.push(format!(
            "{label} has no maximum, and was never more than {largest} in {}",
            counted(seen.present)
        ));
    }
    texts
}
