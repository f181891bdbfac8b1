//! Given tools, before a run.
//!
//! Takes declarations, one after another; returns them as they are or, if there are many, with their schemas as text, so that
//! not all are parsed at once.

use std::sync::Arc;

use callwright::wire::read_each_tool;
use callwright::{Error, ToolSpec};

use super::tools::declaration;

/// How many bytes of given declarations are compiled at once. A thousand tools have this many, and take about 50 MB.
const MOST_AT_ONCE: usize = 1024 * 1024;

/// The tools that calls are judged by.
#[derive(Debug, Clone, Default)]
pub struct DeclaredTools {
    parsed: Vec<ToolSpec>,
    /// All of them, if they have more bytes than are compiled at once.
    packed: Vec<PackedSpec>,
    bytes: usize,
}

impl DeclaredTools {
    /// The tools in a text, see [`read_tools`](callwright::wire::read_tools).
    ///
    /// # Errors
    /// Fails if the text contains no list of tools.
    pub fn read(text: &str) -> Result<Self, Error> {
        let mut declared = DeclaredTools::default();
        read_each_tool(text, |tool| declared.push(tool))?;
        Ok(declared)
    }

    /// Adds a tool.
    pub fn push(&mut self, tool: ToolSpec) {
        self.bytes += declaration(&tool).len();
        self.parsed.push(tool);
        if self.bytes > MOST_AT_ONCE {
            self.packed
                .extend(self.parsed.drain(..).map(PackedSpec::new));
        }
    }

    /// The tools, with their schemas as text if there are many.
    pub(super) fn into_specs(self) -> Result<Vec<ToolSpec>, Vec<PackedSpec>> {
        if self.packed.is_empty() {
            Ok(self.parsed)
        } else {
            Err(self.packed)
        }
    }
}

impl From<Vec<ToolSpec>> for DeclaredTools {
    fn from(tools: Vec<ToolSpec>) -> Self {
        let mut declared = DeclaredTools::default();
        for tool in tools {
            declared.push(tool);
        }
        declared
    }
}

/// A declaration with its schemas as JSON text: parsed, they take ten times as much memory.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct PackedSpec {
    pub(super) rest: ToolSpec,
    schemas: [Option<Box<str>>; 2],
}

impl PackedSpec {
    pub(super) fn new(mut spec: ToolSpec) -> Self {
        let schemas = [spec.input_schema.take(), spec.output_schema.take()];
        PackedSpec {
            rest: spec,
            schemas: schemas.map(|schema| Some(schema?.to_string().into())),
        }
    }

    pub(super) fn bytes(&self) -> usize {
        let rest = self.rest.name.len() + self.rest.description.as_ref().map_or(0, String::len);
        let schemas = self.schemas.iter().flatten().map(|schema| schema.len());
        rest + schemas.sum::<usize>()
    }

    pub(super) fn unpacked(&self) -> ToolSpec {
        let mut spec = self.rest.clone();
        let [input, output] = self.schemas.each_ref().map(|schema| {
            let schema: Option<serde_json::Value> = serde_json::from_str(schema.as_ref()?).ok();
            schema.map(Arc::new)
        });
        (spec.input_schema, spec.output_schema) = (input, output);
        spec
    }
}
