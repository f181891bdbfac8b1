//! A sketch of texts → a pattern for them.

/// A pattern for all texts of a sketch (`like 9999-99`): as many digits, words of any length. `None` where the sketch is
/// none, as of long texts.
pub(super) fn pattern_of(sketch: &str, only_ascii: bool) -> Option<String> {
    if sketch == "empty string" {
        return Some("^$".to_owned());
    }
    let letters = if only_ascii { "[A-Za-z]+" } else { "\\p{L}+" };
    let mut pattern = String::from("^");
    let mut left = sketch.strip_prefix("like ")?.chars().peekable();
    while let Some(letter) = left.next() {
        match letter {
            'A' => pattern.push_str("[A-Z]+"),
            'a' => pattern.push_str(letters),
            '9' => {
                let mut digits = 1;
                while left.next_if_eq(&'9').is_some() {
                    digits += 1;
                }
                pattern.push_str("[0-9]");
                if digits > 1 {
                    pattern.push_str(&format!("{{{digits}}}"));
                }
            }
            sign if "\\.+*?()|[]{}^$/".contains(sign) => {
                pattern.push('\\');
                pattern.push(sign);
            }
            other => pattern.push(other),
        }
    }
    pattern.push('$');
    Some(pattern)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sketches_become_patterns() {
        let pattern = |sketch| pattern_of(sketch, true);
        assert_eq!(
            pattern("like 9999-99").as_deref(),
            Some("^[0-9]{4}-[0-9]{2}$")
        );
        assert_eq!(
            pattern("like a@a.a").as_deref(),
            Some(r"^[A-Za-z]+@[A-Za-z]+\.[A-Za-z]+$")
        );
        assert_eq!(pattern("like A-9").as_deref(), Some("^[A-Z]+-[0-9]$"));
        assert_eq!(pattern("empty string").as_deref(), Some("^$"));
        assert_eq!(pattern("long text"), None);
    }
}
