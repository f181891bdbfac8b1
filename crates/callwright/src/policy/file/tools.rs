//! The tables `[tool."name"]`: settings for the tools whose names match.
//!
//! Each table becomes a [`ToolPolicy`] and a [`ToolAdmission`]. They are put into the order in which they count:
//! patterns as they stand in the file, then exact names, which beat any pattern.

use toml::de::{DeTable, DeValue};

use super::keys::Section;
use super::values::{Entry, Reader, entries};
use super::{repair, settings};
use crate::admit::{Steps, ToolAdmission};
use crate::policy::{Pattern, Policy, ToolPolicy};
use crate::words::Effect;

/// How many patterns there may be. Each tool is held against each of them, and there may be 10,000 tools.
const MOST_PATTERNS: usize = 1_000;

pub(super) fn read(reader: &mut Reader, entry: &Entry<'_>, policy: &mut Policy) {
    let expected = "tables with the names of tools, such as [tool.\"get_*\"]";
    let Some(table) = reader.table(entry, expected) else {
        return;
    };
    let mut tools = entries(table);
    let many = tools.iter().filter(|tool| tool.key.contains('*')).count();
    if many > MOST_PATTERNS {
        let what = format!("{many} patterns, more than the {MOST_PATTERNS} that are read");
        return reader.object(&entry.key_span, what);
    }
    // The sort is stable, so that patterns stay in the order of the file.
    tools.sort_by_key(|tool| !tool.key.contains('*'));
    for tool in tools {
        let DeValue::Table(settings) = tool.value else {
            reader.no_tool(&tool);
            continue;
        };
        if tool.key.is_empty() {
            reader.object(
                &tool.key_span,
                "a tool has a name; \"*\" stands for all tools",
            );
            continue;
        }
        let (own, admission) = read_tool(reader, tool.key, settings, policy.admission.tool_calls);
        policy.tools.push(own);
        policy.admission.tools.push(admission);
        policy.patterns.push(Pattern {
            text: tool.key.to_owned(),
            line: tool.key_span.start,
        });
    }
}

fn read_tool(
    reader: &mut Reader,
    name: &str,
    settings: &DeTable<'_>,
    tool_calls: Steps,
) -> (ToolPolicy, ToolAdmission) {
    let (mut own, mut admission) = (ToolPolicy::new(name), ToolAdmission::new(name));
    for entry in entries(settings) {
        match entry.key {
            "effect" => own.effect = effect(reader, &entry),
            "idempotent" => own.idempotent = reader.flag(&entry),
            "repair" => own.repair = repair(reader, &entry),
            "budget" => admission.budget = reader.number(&entry, 1, ""),
            "poller" => admission.poller = reader.flag(&entry),
            "volatile" => admission.volatile = reader.places(&entry),
            "calls" => admission.calls = reader.steps(&entry, tool_calls, 1),
            _ if settings::read(reader, &entry, &mut own) => {}
            _ => reader.unknown(&entry, Section::Tool),
        }
    }
    (own, admission)
}

fn effect(reader: &mut Reader, entry: &Entry<'_>) -> Option<Effect> {
    reader.choice(
        entry,
        &[
            ("unknown", Effect::Unknown),
            ("read", Effect::Read),
            ("write", Effect::Write),
            ("destructive", Effect::Destructive),
        ],
    )
}
