//! Names of the machine → words for people.

use crate::propose::ChangeKind;

use super::printable::printable;

pub(crate) fn change(change: ChangeKind) -> &'static str {
    match change {
        ChangeKind::Nullable => "null allowed",
        ChangeKind::Optional => "key optional",
        ChangeKind::WiderEnum => "more values",
        ChangeKind::OpenEnum => "any value",
        ChangeKind::WiderType => "wider type",
        ChangeKind::WiderRange => "wider range",
        ChangeKind::WiderLength => "wider length",
        ChangeKind::NoFormat => "format dropped",
        ChangeKind::MoreKeys => "more keys",
        ChangeKind::DefaultAllowed => "default allowed",
    }
}

/// Whether the other judge is stricter, in one word.
pub(crate) fn direction(stricter: bool) -> &'static str {
    if stricter { "stricter" } else { "looser" }
}

/// What the stricter judge objects to.
pub(crate) fn objection(code: &str) -> String {
    match code {
        "" => "no reason is known".to_owned(),
        code => issue(code),
    }
}

/// Codes of issues and failures, and what is wrong, to be read after the place: `/limit: wrong type`.
const ISSUES: [(&str, &str); 35] = [
    ("required", "required key is missing"),
    (
        "dependent_required",
        "key is missing that another key requires",
    ),
    ("unknown_key", "key that the schema does not name"),
    ("duplicate_key", "key appears twice"),
    ("type", "wrong type"),
    ("union", "fits none of the alternatives"),
    ("enum", "not one of the allowed values"),
    ("const", "not the one allowed value"),
    ("format", "not in the format"),
    ("pattern", "does not match the pattern"),
    ("minimum", "number is too small"),
    ("maximum", "number is too large"),
    ("multiple_of", "not a multiple"),
    ("min_length", "text is too short"),
    ("max_length", "text is too long"),
    ("min_items", "too few items"),
    ("max_items", "too many items"),
    ("unique_items", "item appears twice"),
    ("contains", "lacks an item that is required"),
    ("min_properties", "too few keys"),
    ("max_properties", "too many keys"),
    ("property_name", "name of a key is not allowed"),
    (
        "several_branches",
        "fits several alternatives of which one is allowed",
    ),
    ("not", "fits what is ruled out"),
    ("not_allowed", "nothing is allowed here"),
    ("other", "breaks the schema in another way"),
    ("invalid_json", "arguments are not JSON"),
    ("truncated_call", "call is cut off"),
    ("unknown_tool", "no such tool"),
    ("arguments_too_large", "arguments are too large"),
    ("ambiguous_call", "several repairs are possible"),
    ("invalid_output_json", "result is not JSON"),
    ("truncated_response", "result is cut off"),
    ("schema_violation", "result breaks its schema"),
    ("empty_result", "result is empty"),
];

/// Codes of admission, and what it would have stopped.
const STOPPED: [(&str, &str); 7] = [
    ("retry_budget_exceeded", "the same call beyond its budget"),
    ("call_limit_exceeded", "more calls than the limit"),
    ("repeated_call", "the same call again and again"),
    ("repeated_result", "the same result again and again"),
    ("cycle", "a few calls in a cycle"),
    ("error_streak", "one error after another"),
    (
        "unknown_tool_streak",
        "tools that do not exist, again and again",
    ),
];

/// What is wrong.
pub(crate) fn issue(code: &str) -> String {
    words(&ISSUES, code)
}

/// What admission would have stopped.
pub(crate) fn stopped(code: &str) -> String {
    words(&STOPPED, code)
}

/// The words for a code. A code that is not listed is shown as it is.
fn words(table: &[(&str, &str)], code: &str) -> String {
    let row = table.iter().find(|(known, _)| *known == code);
    row.map_or_else(
        || printable(code).replace('_', " "),
        |(_, words)| (*words).to_owned(),
    )
}

#[cfg(test)]
mod tests {
    use callwright::validate::IssueCode;

    use super::*;

    #[test]
    fn every_issue_has_words_of_its_own() {
        let mut words: Vec<String> = Vec::new();
        for code in IssueCode::ALL {
            let name = code.name();
            let phrase = issue(name);
            assert!(phrase.contains(' '), "{name} reads {phrase:?}");
            assert!(!words.contains(&phrase), "{phrase:?} is said twice");
            words.push(phrase);
        }
    }

    #[test]
    fn an_unknown_code_is_told_as_it_is() {
        assert_eq!(issue("empty_first_page"), "empty first page");
        assert_eq!(stopped("of_our_own\u{7}"), "of our own\\u{7}");
    }
}
