//! What the rule looks at: a cluster, its tool, and what the schema says about the place.

use serde_json::Value as Json;

use crate::schema::{Place, fragments, places};
use crate::summary::{Cluster, ClusterKey, Side, ToolSummary};

/// A tool's newest declaration, read.
#[derive(Debug, Default)]
pub(crate) struct Declared {
    /// The tool's description.
    pub(crate) description: String,
    input: Option<Json>,
    output: Option<Json>,
}

impl Declared {
    /// Reads the newest declaration of a tool. What cannot be read is as if it were not there.
    pub(crate) fn of(tool: Option<&ToolSummary>) -> Self {
        let text = tool.and_then(ToolSummary::newest);
        let Some(Json::Object(mut members)) =
            text.and_then(|version| serde_json::from_str(&version.declared).ok())
        else {
            return Declared::default();
        };
        let description = members.get("description").and_then(Json::as_str);
        Declared {
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

/// Everything that is known about a cluster.
#[derive(Debug)]
pub(super) struct Facts<'f> {
    pub(super) key: &'f ClusterKey,
    pub(super) cluster: &'f Cluster,
    pub(super) tool: Option<&'f ToolSummary>,
    pub(super) declared: &'f Declared,
    /// The values of the cluster that are whole.
    pub(super) values: Vec<Json>,
    /// The parts of the schema that speak about the place; of a key that is missing too.
    pub(super) nodes: Vec<&'f Json>,
    /// The parts that speak about what is around the place.
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
        declared: &'f Declared,
    ) -> Self {
        let path = callwright::json::Path::from_pointer(key.path.as_str());
        let schema = declared.schema(key.side);
        let at = |path: &str| schema.map_or_else(Vec::new, |root| nodes(root, path));
        Facts {
            key,
            cluster,
            tool,
            declared,
            values: values(cluster),
            nodes: at(&key.path),
            around: if path.is_root() {
                Vec::new()
            } else {
                at(path.parent().as_pointer())
            },
            name: path
                .last()
                .map(std::borrow::Cow::into_owned)
                .unwrap_or_default(),
        }
    }

    /// The descriptions of the parameter.
    pub(super) fn descriptions(&self) -> impl Iterator<Item = &'f str> {
        self.nodes
            .iter()
            .filter_map(|node| node.get("description")?.as_str())
    }

    /// All calls of the tool: for results, those with a result.
    pub(super) fn tool_calls(&self) -> u64 {
        self.tool.map_or(0, |tool| match self.key.side {
            Side::Input => tool.tally.calls,
            Side::Output => tool.tally.results,
        })
    }
}

/// All parts of a schema that speak about a place.
fn nodes<'s>(root: &'s Json, path: &str) -> Vec<&'s Json> {
    let found = places(root, path);
    let found = found
        .iter()
        .flat_map(|place: &Place| fragments(root, place));
    found
        .filter_map(|place| root.pointer(place.at.as_pointer()))
        .collect()
}

/// The values of a cluster that were kept whole.
pub(crate) fn values(cluster: &Cluster) -> Vec<Json> {
    let kept = cluster.values.iter().map(|(value, _)| value.as_str());
    let shown = cluster.examples.iter().filter(|example| example.whole);
    let mut values: Vec<Json> = kept
        .filter_map(|value| serde_json::from_str(value).ok())
        .collect();
    for example in shown {
        if let Ok(value) = serde_json::from_str(&example.value)
            && !values.contains(&value)
        {
            values.push(value);
        }
    }
    values
}
