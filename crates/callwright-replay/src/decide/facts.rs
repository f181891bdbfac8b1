//! The facts that the rule examines: a cluster, its tool, its neighbours, and what the schema says about the place.

use callwright::json::Path;
use callwright::validate::IssueCode;
use serde_json::Value as Json;

use super::neighbours::Neighbours;
use crate::schema::nodes;
use crate::summary::{Cluster, ClusterKey, Side, Summary, ToolSummary, ValueShape};

/// A tool's newest declaration, parsed.
#[derive(Debug, Default)]
pub(crate) struct ToolDeclaration {
    /// The tool's description.
    pub(crate) description: String,
    input: Option<Json>,
    output: Option<Json>,
}

impl ToolDeclaration {
    /// Parses the newest declaration of a tool. Unreadable parts count as absent.
    pub(crate) fn newest_of(tool: Option<&ToolSummary>) -> Self {
        let text = tool.and_then(ToolSummary::newest);
        let Some(Json::Object(mut members)) =
            text.and_then(|version| serde_json::from_str(&version.declared).ok())
        else {
            return ToolDeclaration::default();
        };
        let description = members.get("description").and_then(Json::as_str);
        ToolDeclaration {
            description: description.unwrap_or_default().to_owned(),
            input: members.remove("inputSchema"),
            output: members.remove("outputSchema"),
        }
    }

    /// One of the two schemas.
    pub(crate) fn schema(&self, side: Side) -> Option<&Json> {
        match side {
            Side::Input => self.input.as_ref(),
            Side::Output => self.output.as_ref(),
        }
    }
}

/// The newest declarations of tools that come one after another. They are parsed one at a time, since all of them
/// take much memory.
pub(crate) struct Declarations<'s> {
    summary: &'s Summary,
    current: Option<(&'s str, ToolDeclaration)>,
}

impl<'s> Declarations<'s> {
    pub(crate) fn of(summary: &'s Summary) -> Self {
        let current = None;
        Declarations { summary, current }
    }

    pub(crate) fn get(&mut self, tool: &'s str) -> &ToolDeclaration {
        let current = self.current.take_if(|(known, _)| *known == tool);
        let current = current.unwrap_or_else(|| {
            let counts = self.summary.tools.get(tool);
            (tool, ToolDeclaration::newest_of(counts))
        });
        &self.current.insert(current).1
    }
}

/// Everything known about a cluster.
#[derive(Debug)]
pub(super) struct Facts<'f> {
    pub(super) key: &'f ClusterKey,
    /// What is wrong, unless it is unrelated to the schema.
    pub(super) code: Option<IssueCode>,
    pub(super) shape: &'f ValueShape,
    pub(super) cluster: &'f Cluster,
    pub(super) tool: Option<&'f ToolSummary>,
    pub(super) declaration: &'f ToolDeclaration,
    pub(super) neighbours: &'f Neighbours<'f>,
    /// The complete values of the cluster.
    pub(super) values: Vec<Json>,
    /// The parts of the schema about the place; including that of a missing key.
    pub(super) nodes: Vec<&'f Json>,
    /// The parts about what surrounds the place.
    pub(super) around: Vec<&'f Json>,
    /// The last step of the path: the name of the key.
    pub(super) name: String,
}

impl<'f> Facts<'f> {
    /// Gathers them.
    pub(super) fn gather(
        key: &'f ClusterKey,
        cluster: &'f Cluster,
        tool: Option<&'f ToolSummary>,
        declaration: &'f ToolDeclaration,
        neighbours: &'f Neighbours<'f>,
    ) -> Self {
        let path = Path::from_pointer(key.path.as_str());
        let schema = declaration.schema(key.side);
        let at = |path: &str| schema.map_or_else(Vec::new, |root| nodes(root, path));
        Facts {
            key,
            code: key.issue_code(),
            shape: &key.shape,
            cluster,
            tool,
            declaration,
            neighbours,
            values: values(cluster),
            nodes: at(&key.path),
            around: if path.is_root() {
                Vec::new()
            } else {
                at(path.parent().as_pointer())
            },
            name: path.last().unwrap_or_default().into_owned(),
        }
    }

    /// All calls of the tool: for results, those with a result.
    pub(super) fn tool_calls(&self) -> u64 {
        self.tool.map_or(0, |tool| match self.key.side {
            Side::Input => tool.tally.calls,
            Side::Output => tool.tally.results,
        })
    }
}

/// The values of a cluster that were kept completely.
pub(crate) fn values(cluster: &Cluster) -> Vec<Json> {
    let kept = cluster.values.iter().map(|(value, _)| value);
    let mut values: Vec<Json> = kept
        .filter_map(|value| serde_json::from_str(value).ok())
        .collect();
    for example in cluster.examples.iter().filter(|example| example.whole) {
        if let Ok(value) = serde_json::from_str(&example.value)
            && !values.contains(&value)
        {
            values.push(value);
        }
    }
    values
}
