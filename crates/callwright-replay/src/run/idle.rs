//! Tools that are declared and that nobody calls: a report names them too.

use super::tools::ToolSet;
use crate::summary::{Summary, ToolSummary, Version};

/// Adds the tools that the summary does not have yet. What they look like is left out: nothing is said about it, and a
/// part of a log in which they are called knows it.
pub(super) fn add(tools: &ToolSet, summary: &mut Summary) {
    for (name, declared) in tools.all_declared() {
        if summary.tools.get(name).is_some() {
            continue;
        }
        let version = Version {
            quarantined: declared.quarantined.clone(),
            ..Version::default()
        };
        let mut idle = ToolSummary::default();
        idle.versions.add(declared.hash.clone(), version);
        summary.tools.add(name.to_owned(), idle);
    }
}
