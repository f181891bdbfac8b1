//! A second family of tools and patterns, from other trades than the first: calendar, customers, things at home, money,
//! code, maps, people, files.
//!
//! The rule was made with the first family before its eyes. This one was written without looking at the rule, so what
//! it says of the rule is worth more. Once the rule was changed because of it, it is no longer unseen: see `kept`.

mod bugs;
mod edge_cases;

use super::pattern::Pattern;

pub(crate) const TOOLS: &str = include_str!("tools.json");

pub(crate) fn patterns() -> Vec<Pattern> {
    let mut all = edge_cases::edge_cases();
    all.extend(bugs::bugs());
    all
}
