//! Reads tool declarations inside records.
//!
//! Requests carry the same tools again and again: lists are remembered, so that a request costs a hash of its tools
//! instead of parsing them.

use std::collections::VecDeque;

use callwright::ToolSpec;
use callwright::json::Value;
use callwright::wire::read_tools;
use xxhash_rust::xxh3::Xxh3;

/// How many tool lists are remembered. An agent has a few, a gateway a few dozen.
const REMEMBERED: usize = 32;

/// How many bytes of text they may have together.
const MOST_BYTES: usize = 1024 * 1024;

/// Lists of tools that were read before.
#[derive(Debug, Default)]
pub(super) struct ToolLists {
    lists: VecDeque<(u64, usize, Vec<ToolSpec>)>,
    bytes: usize,
}

impl ToolLists {
    /// The tools of a list, and how many entries are not tools.
    pub(super) fn read(&mut self, list: &Value<'_>) -> (Vec<ToolSpec>, usize) {
        let mut hash = ListHash::default();
        hash.add(list);
        let digest = hash.state.digest();
        if let Some((.., known)) = self.lists.iter().find(|(known, ..)| *known == digest) {
            return (known.clone(), 0);
        }
        let (tools, bad) = read_list(list);
        if bad == 0 {
            self.bytes += hash.bytes;
            self.lists.push_back((digest, hash.bytes, tools.clone()));
        }
        while (self.bytes > MOST_BYTES || self.lists.len() > REMEMBERED)
            && let Some((_, bytes, _)) = self.lists.pop_front()
        {
            self.bytes -= bytes;
        }
        (tools, bad)
    }
}

/// Reads each entry by itself: a bad one does not spoil the others.
fn read_list(list: &Value<'_>) -> (Vec<ToolSpec>, usize) {
    let mut tools = Vec::new();
    let mut bad = 0;
    for entry in list.as_array().unwrap_or_default() {
        // Bedrock puts each into a `toolSpec`, with the schema under `json`.
        let entry = entry.get("toolSpec").unwrap_or(entry);
        let mut json = serde_json::Value::from(entry);
        if let Some(schema) = json.pointer_mut("/inputSchema/json") {
            let schema = schema.take();
            json["inputSchema"] = schema;
        }
        match read_tools(&json.to_string()) {
            Ok(read) => tools.extend(read),
            Err(_) => bad += 1,
        }
    }
    (tools, bad)
}

#[derive(Default)]
struct ListHash {
    state: Xxh3,
    bytes: usize,
}

impl ListHash {
    fn add(&mut self, value: &Value<'_>) {
        match value {
            Value::Null => self.text(b"n", ""),
            Value::Bool(yes) => self.text(if *yes { b"t" } else { b"f" }, ""),
            Value::Number(number) => self.text(b"0", number.as_str()),
            Value::String(text) => self.text(b"\"", text),
            Value::Array(items) => {
                self.text(b"[", "");
                for item in items {
                    self.add(item);
                }
                self.text(b"]", "");
            }
            Value::Object(members) => {
                self.text(b"{", "");
                for (key, value) in members {
                    self.text(b":", key);
                    self.add(value);
                }
                self.text(b"}", "");
            }
        }
    }

    fn text(&mut self, kind: &[u8], text: &str) {
        self.state.update(kind);
        self.state.update(&(text.len() as u64).to_le_bytes());
        self.state.update(text.as_bytes());
        self.bytes += text.len() + 2;
    }
}
