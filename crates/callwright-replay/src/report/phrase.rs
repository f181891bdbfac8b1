//! Turns machine names into words for people.

use callwright::internal::visible;

/// One line per name: the kind, the name, a colon, the words.
const PHRASES: &str = include_str!("templates/phrases.txt");

/// The words for a name of this kind. An unlisted name is shown as it is.
fn words(kind: &str, name: &str) -> String {
    let mut known = PHRASES.lines().filter_map(|line| {
        let rest = line.strip_prefix(kind)?.strip_prefix(' ')?;
        rest.strip_prefix(name)?.strip_prefix(": ")
    });
    let shown = || visible(name).replace('_', " ");
    known.next().map_or_else(shown, str::to_owned)
}

/// What is wrong.
pub(crate) fn issue(code: &str) -> String {
    words("issue", code)
}

/// What the stricter judge objects to.
pub(crate) fn objection(code: &str) -> String {
    match code {
        "" => "no reason is known".to_owned(),
        code => issue(code),
    }
}

/// What admission would have stopped.
pub(crate) fn stopped(code: &str) -> String {
    words("stopped", code)
}

/// What kind of change it is.
pub(crate) fn change(kind: &str) -> String {
    words("change", kind)
}

/// Whether the other judge is stricter, in one word.
pub(crate) fn direction(stricter: bool) -> &'static str {
    if stricter { "stricter" } else { "looser" }
}

#[cfg(test)]
mod tests {
    use callwright::validate::IssueCode;

    use super::*;

    #[test]
    fn every_issue_has_its_own_words() {
        let mut words: Vec<String> = Vec::new();
        for (name, _) in IssueCode::ALL {
            let phrase = issue(name);
            assert!(phrase.contains(' '), "{name} reads {phrase:?}");
            assert!(!words.contains(&phrase), "{phrase:?} is said twice");
            words.push(phrase);
        }
    }

    #[test]
    fn an_unknown_code_is_shown_as_it_is() {
        assert_eq!(issue("empty_first_page"), "empty first page");
        assert_eq!(stopped("of_our_own\u{7}"), "of our own\\u{7}");
    }
}
