//! A second family of tools and patterns, from other fields than the first: calendar, customers, things at home, money,
//! code, maps, people, files.
//!
//! The rule was written with the first family in view. This one was written without looking at the rule, so its results
//! say more about the rule. Once the rule has been changed because of it, it is no longer unseen: see `kept`.

mod bugs;
mod edge_cases;

use super::pattern::Pattern;

pub(crate) const TOOLS: &str = include_str!("tools.json");

pub(crate) fn patterns() -> Vec<Pattern> {
    let mut all = edge_cases::edge_cases();
    all.extend(bugs::bugs());
    all
}
