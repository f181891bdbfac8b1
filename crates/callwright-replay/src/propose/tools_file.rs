//! Finds the schemas of a tool in a tool file, in any format that a tool file may have.

use callwright::internal::{input_schema_keys, output_schema_keys, tool_list_keys};
use callwright::json::Path;
use serde_json::Value as Json;

use crate::summary::Side;

/// How deep tool lists may be nested.
const DEEPEST: usize = 8;

/// A tool of a tool file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct DeclaredTool {
    pub(super) name: String,
    /// Where the tool is in the file.
    pub(super) at: Path,
    /// Where its schemas are, relative to the tool.
    input: Option<Path>,
    output: Option<Path>,
}

impl DeclaredTool {
    /// Where one of its schemas is, relative to the tool.
    pub(super) fn schema_at(&self, side: Side) -> Option<&Path> {
        match side {
            Side::Input => self.input.as_ref(),
            Side::Output => self.output.as_ref(),
        }
    }
}

/// All tools of a file.
pub(super) fn entries(file: &Json) -> Vec<DeclaredTool> {
    let mut found = Vec::new();
    collect(file, &Path::root(), DEEPEST, &mut found);
    found
}

fn collect(value: &Json, at: &Path, levels: usize, found: &mut Vec<DeclaredTool>) {
    let Some(below) = levels.checked_sub(1) else {
        return;
    };
    match value {
        Json::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                collect(item, &at.index(index), below, found);
            }
        }
        Json::Object(members) => {
            let list = tool_list_keys()
                .find_map(|key| Some((key, members.get(key).filter(|list| list.is_array())?)));
            if let Some((key, list)) = list {
                return collect(list, &at.key(key), below, found);
            }
            if let Some(result @ Json::Object(_)) = members.get("result") {
                return collect(result, &at.key("result"), below, found);
            }
            let (inside, tool) = match members.get("function") {
                Some(function @ Json::Object(_)) => (Path::root().key("function"), function),
                _ => (Path::root(), value),
            };
            let Some(name) = tool.get("name").and_then(Json::as_str) else {
                return;
            };
            let is_stated = |key: &&str| tool.get(key).is_some_and(|it| !it.is_null());
            let at_key = |key: &str| inside.key(key);
            found.push(DeclaredTool {
                name: name.to_owned(),
                at: at.clone(),
                input: input_schema_keys().find(is_stated).map(at_key),
                output: output_schema_keys().find(is_stated).map(at_key),
            });
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn every_shape_is_found() {
        let file = json!({"tools": [
            {"name": "a", "inputSchema": {}, "outputSchema": {}},
            {"type": "function", "function": {"name": "b", "parameters": {}}},
            {"type": "function", "name": "c", "parameters": {}},
            {"name": "d", "input_schema": {}},
            {"functionDeclarations": [{"name": "e", "parameters": {}}]},
            {"type": "web_search"},
            {"function_declarations": [{"name": "f", "parameters_json_schema": {}}]},
        ]});
        let found: Vec<(String, String)> = entries(&file)
            .into_iter()
            .map(|entry| {
                let schema = entry.at.join(&entry.input.unwrap());
                (entry.name, schema.as_pointer().to_owned())
            })
            .collect();
        let expected = [
            ("a", "/tools/0/inputSchema"),
            ("b", "/tools/1/function/parameters"),
            ("c", "/tools/2/parameters"),
            ("d", "/tools/3/input_schema"),
            ("e", "/tools/4/functionDeclarations/0/parameters"),
            (
                "f",
                "/tools/6/function_declarations/0/parameters_json_schema",
            ),
        ];
        let expected = expected.map(|(name, at)| (name.to_owned(), at.to_owned()));
        assert_eq!(found, expected);
    }
}
