//! Which settings apply to a tool: names, and patterns in which `*` matches any text.
//!
//! Takes the names that have settings; returns the positions of those that match a tool, in order. Exact names are looked up,
//! so thousands of them cost nothing; patterns are tried one by one.

use ahash::AHashMap;

/// Names and patterns, prepared for lookup.
#[derive(Debug)]
pub(crate) struct Names<'n> {
    exact: AHashMap<&'n str, Vec<usize>>,
    patterns: Vec<(usize, &'n str)>,
}

impl<'n> Names<'n> {
    pub(crate) fn new(names: impl IntoIterator<Item = &'n str>) -> Self {
        let (mut exact, mut patterns) = (AHashMap::<&str, Vec<usize>>::new(), Vec::new());
        for (at, name) in names.into_iter().enumerate() {
            if name.contains('*') {
                patterns.push((at, name));
            } else {
                exact.entry(name).or_default().push(at);
            }
        }
        Names { exact, patterns }
    }

    /// The positions of all matches, in order.
    pub(crate) fn matching(&self, name: &str) -> Vec<usize> {
        let patterns = self.patterns.iter();
        let mut all: Vec<usize> = patterns
            .filter(|(_, pattern)| matches_name(pattern, name))
            .map(|(at, _)| *at)
            .collect();
        if let Some(exact) = self.exact.get(name) {
            all.extend(exact);
            all.sort_unstable();
        }
        all
    }
}

/// Whether a name matches a pattern in which `*` matches any text.
pub(crate) fn matches_name(pattern: &str, name: &str) -> bool {
    let Some((first, rest)) = pattern.split_once('*') else {
        return pattern == name;
    };
    let (middle, last) = rest.rsplit_once('*').unwrap_or(("", rest));
    let inner = name
        .strip_prefix(first)
        .and_then(|rest| rest.strip_suffix(last));
    let Some(mut rest) = inner else {
        return false;
    };
    for part in middle.split('*') {
        let Some(at) = rest.find(part) else {
            return false;
        };
        rest = &rest[at + part.len()..];
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stars_match_any_text() {
        for (pattern, name) in [
            ("read", "read"),
            ("*", ""),
            ("**", "x"),
            ("mcp__*", "mcp__memory__read"),
            ("*_status", "get_status"),
            ("a*b*c", "a-b-b-c"),
            ("a*b*b*c", "abbc"),
            ("*x*x", "xx"),
            ("*é*", "café!"),
        ] {
            assert!(matches_name(pattern, name), "{pattern} {name}");
        }
        for (pattern, name) in [
            ("read", "reads"),
            ("", "a"),
            ("a*a", "a"),
            ("*x*x", "x"),
            ("b*", "ab"),
            ("a*b*b*c", "abc"),
        ] {
            assert!(!matches_name(pattern, name), "{pattern} {name}");
        }
    }

    #[test]
    fn matches_come_in_order() {
        let names = Names::new(["get_order", "*", "get_order", "set_*", "get_*"]);
        assert_eq!(names.matching("get_order"), [0, 1, 2, 4]);
        assert_eq!(names.matching("search"), [1]);
    }
}
