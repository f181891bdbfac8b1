//! The cases of `corpus/present`, shared by the tests of everything that shows a settled call to a model: this crate,
//! the MCP guard and the adapters. `corpus/README.md` describes the cases.
#![allow(dead_code, reason = "each place uses a part of it")]
#![allow(clippy::expect_used, reason = "a test may panic")]

use std::path::Path;

use callwright::feedback::{Feedback, Receipts};
use callwright::wire::read_tools;
use callwright::{Policy, ToolSpec};
use serde_json::{Value, json};

/// The name of the tool in all cases.
pub(crate) const TOOL: &str = "lookup";

/// The keys of a case. A misspelt one would make the case pass silently.
const KEYS: [&str; 10] = [
    "name",
    "tool",
    "policy",
    "arguments",
    "times",
    "answer",
    "failed",
    "expect",
    "over_mcp",
    "receipts",
];

/// A settled call, and what the model reads.
#[derive(Debug, Clone)]
pub(crate) struct PresentCase {
    case: Value,
    tool: Value,
}

/// All cases.
pub(crate) fn cases() -> Vec<PresentCase> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpus/present/settled.json");
    let text = std::fs::read_to_string(path).expect("the cases are there");
    let file: Value = serde_json::from_str(&text).expect("they are JSON");
    let cases = file["cases"].as_array().expect("`cases` is a list");
    let cases: Vec<PresentCase> = cases
        .iter()
        .map(|case| PresentCase::new(case, &file["tool"]))
        .collect();
    assert!(cases.len() >= 15, "{} cases", cases.len());
    cases
}

impl PresentCase {
    fn new(case: &Value, tool: &Value) -> Self {
        let keys = case.as_object().expect("a case is an object").keys();
        let unknown: Vec<_> = keys.filter(|key| !KEYS.contains(&key.as_str())).collect();
        assert!(unknown.is_empty(), "{}: {unknown:?}", case["name"]);
        let mut tool = tool.clone();
        if let Some(own) = case["tool"].as_object() {
            tool.as_object_mut().expect("a tool").extend(own.clone());
        }
        PresentCase {
            case: case.clone(),
            tool,
        }
    }

    pub(crate) fn name(&self) -> &str {
        self.case["name"].as_str().expect("a name")
    }

    /// The tool as MCP declares it.
    pub(crate) fn tool(&self) -> &Value {
        &self.tool
    }

    pub(crate) fn spec(&self) -> ToolSpec {
        let mut specs = read_tools(&self.tool.to_string()).expect("a tool");
        specs.pop().expect("one tool")
    }

    pub(crate) fn policy(&self) -> Policy {
        let lines = self.case["policy"]
            .as_array()
            .map_or(&[][..], Vec::as_slice);
        let lines: Vec<&str> = lines.iter().filter_map(Value::as_str).collect();
        Policy::from_toml(&lines.join("\n")).expect("a policy")
    }

    pub(crate) fn feedback(&self) -> Feedback {
        let mut feedback = Feedback::default();
        feedback.receipts = match self.case["receipts"].as_bool() {
            None => Receipts::default(),
            Some(false) => Receipts::Never,
            Some(true) => Receipts::Always,
        };
        feedback
    }

    pub(crate) fn arguments(&self) -> Value {
        self.case
            .get("arguments")
            .cloned()
            .unwrap_or_else(|| json!({"id": 7}))
    }

    /// How often the same call is made. The expectation applies to the last one.
    pub(crate) fn times(&self) -> u64 {
        self.case["times"].as_u64().unwrap_or(1)
    }

    /// What the tool returns: a text, or a value.
    pub(crate) fn answer(&self) -> &Value {
        &self.case["answer"]
    }

    /// Whether the tool reports a failure; its answer is then the description of it.
    pub(crate) fn failed(&self) -> bool {
        self.case["failed"] == true
    }

    /// What the tool returns, as an MCP server does.
    pub(crate) fn mcp_result(&self) -> Value {
        let answer = self.answer();
        let text = answer
            .as_str()
            .map_or_else(|| answer.to_string(), str::to_owned);
        let mut result = json!({"content": [{"type": "text", "text": text}]});
        if answer.is_object() {
            result["structuredContent"] = answer.clone();
        }
        if self.failed() {
            result["isError"] = json!(true);
        }
        result
    }

    fn expects(&self, key: &str) -> &Value {
        self.case["expect"]
            .get(key)
            .unwrap_or_else(|| panic!("{}: no `{key}`", self.name()))
    }

    /// Checks the decision itself.
    #[track_caller]
    pub(crate) fn check(
        &self,
        content: &str,
        shown: Option<&str>,
        note: Option<&str>,
        is_error: bool,
    ) {
        let got = json!({"content": content, "shown": shown, "note": note, "is_error": is_error});
        for (key, got) in got.as_object().expect("an object") {
            assert_eq!(got, self.expects(key), "`{key}` of {:?}", self.name());
        }
    }

    /// Checks a place that shows one text. Some have no flag for errors.
    #[track_caller]
    pub(crate) fn check_text(&self, place: &str, text: &str, is_error: Option<bool>) {
        assert_eq!(text, self.expects("text"), "{place}: {:?}", self.name());
        let over_mcp = self.case["over_mcp"].get("is_error");
        let over_mcp = over_mcp.filter(|_| place == "mcp");
        let expected = over_mcp.unwrap_or_else(|| self.expects("is_error"));
        let is_error = is_error.map_or_else(|| expected.clone(), Value::Bool);
        assert_eq!(is_error, *expected, "{place}: {:?}", self.name());
    }

    /// Checks an MCP result: the remaining content, then the note, in separate blocks.
    #[track_caller]
    pub(crate) fn check_blocks(&self, place: &str, result: &Value) {
        let blocks = result["content"].as_array().map_or(&[][..], Vec::as_slice);
        let blocks: Vec<&str> = blocks
            .iter()
            .filter_map(|block| block["text"].as_str())
            .collect();
        let expected = [self.expects("shown"), self.expects("note")];
        let expected: Vec<&str> = expected.into_iter().filter_map(Value::as_str).collect();
        assert_eq!(blocks, expected, "{place}: {:?}", self.name());
        self.check_structure(place, result);
    }

    /// Checks the flag and the structured content of an MCP result, wherever its text is.
    #[track_caller]
    pub(crate) fn check_structure(&self, place: &str, result: &Value) {
        let over_mcp = self.case["over_mcp"].get("is_error");
        let is_error = over_mcp.unwrap_or_else(|| self.expects("is_error"));
        assert_eq!(
            result["isError"] == true,
            *is_error == true,
            "{place}: {:?}",
            self.name()
        );
        let is_whole = *self.expects("content") == "kept" && self.answer().is_object();
        let structure = result.get("structuredContent").filter(|it| !it.is_null());
        let expected = is_whole.then(|| self.answer());
        assert_eq!(structure, expected, "{place}: {:?}", self.name());
    }
}
