//! All liberties and repair rules as one table, for people: `callwright explain --repairs` prints it.

use super::liberties::LIBERTIES;
use super::rules::RULES;
use super::stakes::Stakes;
use super::{Edit, Grade};

/// A kind of edit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct RuleRow {
    /// The stable name, as in the `rule` of an edit.
    pub name: &'static str,
    /// How far it departs from what was sent.
    pub grade: Grade,
    /// The highest stakes at which it is applied, regardless of the configured grade.
    pub up_to: Stakes,
    /// What it does.
    pub about: &'static str,
}

/// All kinds of edits: those of the name, those of reading, then those of values in the order in which they are tried.
pub fn rules() -> Vec<RuleRow> {
    let name = RuleRow {
        name: Edit::TOOL_NAME,
        grade: Grade::Lossless,
        up_to: Stakes::Destroys,
        about: "The tool was called by another spelling of its name, or with a meaningless namespace, marks of a template, quotes or empty parentheses, or by its name several times in a row.",
    };
    let values = RULES.iter().map(|rule| rule.row);
    let reading = LIBERTIES.iter().copied();
    std::iter::once(name).chain(reading).chain(values).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The search takes rules in table order, and those of equal grade and cost as one tier.
    #[test]
    fn rules_are_in_the_order_of_their_grade_and_cost() {
        assert!(RULES.is_sorted_by_key(|rule| (rule.row.grade, rule.cost)));
    }

    #[test]
    fn every_rule_has_its_own_name_and_says_what_it_does() {
        let rules = rules();
        for (at, rule) in rules.iter().enumerate() {
            assert!(rule.about.ends_with('.'), "{}", rule.name);
            assert!(
                rules[..at].iter().all(|other| other.name != rule.name),
                "{}",
                rule.name
            );
        }
    }

    /// An edit that drops meaningful words is a guess, and only for read-only tools.
    #[test]
    fn words_are_dropped_only_for_read_only_tools() {
        for name in ["prose", "comment", "null_text_left_out"] {
            let rule = rules().into_iter().find(|rule| rule.name == name);
            assert!(
                rule.is_some_and(|rule| rule.grade == Grade::Guess && rule.up_to == Stakes::Reads)
            );
        }
    }
}
