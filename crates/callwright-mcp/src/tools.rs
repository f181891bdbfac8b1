//! The tools of a server, as its own lists tell them.
//!
//! In come the answers to `tools/list` that pass by, or that we asked for ourselves; out goes a gate for what they list.
//! A list may come in pages, and a client may stop at the first.

use std::collections::HashSet;
use std::sync::Arc;

use callwright::Gate;
use callwright::tool::{ToolSpec, read_tools};
use serde::Deserialize;

use crate::guard::Settings;

/// What is known of a server's tools.
#[derive(Debug, Default)]
pub(crate) struct Tools {
    gate: Option<Arc<Gate>>,
    specs: Vec<ToolSpec>,
    /// Whether there are pages that nobody has asked for.
    is_part: bool,
    /// Whether the server said that they have changed.
    is_stale: bool,
    /// Whether the server does not list tools at all.
    is_unlisted: bool,
    /// What was said already: clients ask again and again.
    said: HashSet<String>,
}

/// How many sentences are remembered. Who has more of them gets to read some again.
const MOST_SAID: usize = 10_000;

/// A page of a list.
#[derive(Debug)]
pub(crate) struct Page {
    pub(crate) specs: Vec<ToolSpec>,
    pub(crate) next: Option<String>,
}

#[derive(Deserialize)]
struct Cursor {
    #[serde(rename = "nextCursor")]
    next: Option<String>,
}

impl Page {
    /// Reads the result of a `tools/list`; `None` if it is none.
    pub(crate) fn read(result: &str) -> Option<Self> {
        let Cursor { next } = serde_json::from_str(result).ok()?;
        let specs = read_tools(result).ok()?;
        Some(Page {
            specs,
            next: next.filter(|next| !next.is_empty()),
        })
    }
}

impl Tools {
    /// The gate for a call of a tool; `None` if the tools have to be asked for first.
    pub(crate) fn gate_for(&self, tool: &str) -> Option<&Arc<Gate>> {
        let gate = self.gate.as_ref().filter(|_| !self.is_stale)?;
        (gate.tool(tool).is_some() || !self.is_part).then_some(gate)
    }

    /// Whether calls pass unjudged, because the server does not say which tools it has.
    pub(crate) fn are_unlisted(&self) -> bool {
        self.is_unlisted
    }

    /// The server does not say which tools it has.
    pub(crate) fn not_listed(&mut self) {
        self.is_unlisted = true;
    }

    /// The server says that they have changed.
    pub(crate) fn changed(&mut self) {
        self.is_stale = true;
        self.is_unlisted = false;
    }

    /// Takes in a page: the first of a list, or one behind it. Says what is wrong with the tools on it.
    pub(crate) fn learn(&mut self, page: Page, is_first: bool, settings: &Settings) -> Vec<String> {
        let mut specs = std::mem::take(&mut self.specs);
        if is_first {
            specs.clear();
        }
        let new: HashSet<&str> = page.specs.iter().map(|spec| spec.name.as_str()).collect();
        specs.retain(|spec| !new.contains(spec.name.as_str()));
        let mut seen = HashSet::new();
        let mut warnings = Vec::new();
        for spec in page.specs {
            if seen.insert(spec.name.clone()) {
                specs.push(spec);
            } else {
                let name = spec.name;
                warnings.push(format!(
                    "tool {name:?} is listed twice; the first one counts"
                ));
            }
        }
        self.specs = specs;
        self.is_part = page.next.is_some();
        self.is_stale = false;
        self.is_unlisted = false;
        match settings.gate(self.specs.clone()) {
            Ok(gate) => {
                for tool in gate.tools().filter(|tool| seen.contains(tool.name())) {
                    let name = tool.name();
                    let reasons = [
                        ("calls", tool.quarantined()),
                        ("results", tool.output_quarantined()),
                    ];
                    for (what, reason) in reasons {
                        warnings.extend(reason.map(|reason| {
                            format!("tool {name:?}: its {what} pass unvalidated: {reason}")
                        }));
                    }
                }
                if !self.is_part {
                    let names = gate.tools().map(callwright::tool::Tool::name);
                    let unmatched = settings.policy.warnings(names);
                    warnings.extend(unmatched.iter().map(|what| format!("policy, {what}")));
                }
                self.gate = Some(Arc::new(gate));
            }
            Err(error) => {
                warnings.push(format!("the tools cannot be guarded: {error}"));
                self.is_unlisted = true;
            }
        }
        warnings.sort();
        warnings.retain(|warning| {
            let is_full = self.said.len() >= MOST_SAID;
            !self.said.contains(warning) && (is_full || self.said.insert(warning.clone()))
        });
        warnings
    }
}
