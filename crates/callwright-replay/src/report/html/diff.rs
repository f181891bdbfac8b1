//! Two JSON values → the lines that differ, with some of those around them.

use serde::Serialize;
use serde_json::Value as Json;

use super::super::printable::cut;

/// Lines that are the same and shown, on either side of a difference.
const AROUND: usize = 3;

/// So few lines are shown whole.
const FEW: usize = 14;

/// The most lines that are compared: a table of a million cells. What is longer is shown as wholly changed.
const COMPARED: usize = 1_000;

/// The most lines that are shown.
const SHOWN: usize = 120;

/// The longest line that is shown.
const LONGEST: usize = 200;

/// One line.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub(super) struct Line {
    /// `added`, `removed`, `same` or `left_out`.
    kind: &'static str,
    /// `+`, `-`, a blank or `…`.
    mark: &'static str,
    text: String,
}

impl Line {
    fn new(kind: &'static str, text: &str) -> Self {
        let mark = match kind {
            "added" => "+",
            "removed" => "-",
            "left_out" => "…",
            _ => " ",
        };
        Line {
            kind,
            mark,
            text: cut(text, LONGEST),
        }
    }
}

/// What is different.
pub(super) fn diff(before: &Json, after: &Json) -> Vec<Line> {
    let (before, after) = (lines(before), lines(after));
    let edits = edits(&before, &after);
    shorten(&edits)
}

/// The lines of a value, without the commas at their ends: they change with the lines around them.
fn lines(value: &Json) -> Vec<String> {
    let text = format!("{value:#}");
    text.lines()
        .map(|line| line.strip_suffix(',').unwrap_or(line).to_owned())
        .collect()
}

/// The shortest way from one to the other, by the longest lines that both have in common.
fn edits(before: &[String], after: &[String]) -> Vec<(&'static str, String)> {
    if before.len() > COMPARED || after.len() > COMPARED {
        let removed = before.iter().map(|line| ("removed", line.clone()));
        let added = after.iter().map(|line| ("added", line.clone()));
        return removed.chain(added).collect();
    }
    // `common[i][j]`: how many lines `before[i..]` and `after[j..]` have in common.
    let mut common = vec![vec![0u16; after.len() + 1]; before.len() + 1];
    for i in (0..before.len()).rev() {
        for j in (0..after.len()).rev() {
            common[i][j] = if before[i] == after[j] {
                common[i + 1][j + 1] + 1
            } else {
                common[i + 1][j].max(common[i][j + 1])
            };
        }
    }
    let (mut i, mut j) = (0, 0);
    let mut edits = Vec::new();
    while i < before.len() || j < after.len() {
        let same = i < before.len() && j < after.len() && before[i] == after[j];
        if same {
            edits.push(("same", before[i].clone()));
            i += 1;
            j += 1;
        } else if j >= after.len() || (i < before.len() && common[i + 1][j] >= common[i][j + 1]) {
            edits.push(("removed", before[i].clone()));
            i += 1;
        } else {
            edits.push(("added", after[j].clone()));
            j += 1;
        }
    }
    edits
}

/// Leaves out what is far from every difference, and what is too much.
fn shorten(edits: &[(&'static str, String)]) -> Vec<Line> {
    let differs: Vec<usize> = edits
        .iter()
        .enumerate()
        .filter(|(_, (kind, _))| *kind != "same")
        .map(|(index, _)| index)
        .collect();
    let near = |index: usize| {
        if edits.len() <= FEW {
            return true;
        }
        let next = differs.partition_point(|at| *at < index);
        let after = differs.get(next).is_some_and(|at| at - index <= AROUND);
        let before = next
            .checked_sub(1)
            .and_then(|previous| differs.get(previous))
            .is_some_and(|at| index - at <= AROUND);
        after || before
    };
    let mut lines = Vec::new();
    let mut skipped: &[(&'static str, String)] = &[];
    for (index, (kind, text)) in edits.iter().enumerate() {
        if lines.len() >= SHOWN {
            skipped = &edits[index..];
            break;
        }
        if near(index) {
            left_out(&mut lines, skipped);
            skipped = &[];
            lines.push(Line::new(kind, text));
        } else {
            skipped = &edits[index - skipped.len()..=index];
        }
    }
    left_out(&mut lines, skipped);
    lines
}

fn left_out(lines: &mut Vec<Line>, skipped: &[(&'static str, String)]) {
    match skipped {
        [] => {}
        // To say that it is left out takes as much room.
        [(kind, text)] => lines.push(Line::new(kind, text)),
        more => lines.push(Line::new("left_out", &format!("{} lines", more.len()))),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn shown(before: &Json, after: &Json) -> Vec<String> {
        diff(before, after)
            .iter()
            .map(|line| format!("{}{}", line.mark, line.text))
            .collect()
    }

    #[test]
    fn a_comma_is_no_difference() {
        let lines = shown(
            &json!({"enum": ["a", "b"]}),
            &json!({"enum": ["a", "b", "c"]}),
        );
        assert_eq!(
            lines,
            [
                " {",
                "   \"enum\": [",
                "     \"a\"",
                "     \"b\"",
                "+    \"c\"",
                "   ]",
                " }"
            ]
        );
    }

    #[test]
    fn one_value_for_another() {
        assert_eq!(
            shown(&json!({"type": "integer"}), &json!({"type": "number"})),
            [
                " {",
                "-  \"type\": \"integer\"",
                "+  \"type\": \"number\"",
                " }"
            ]
        );
        assert_eq!(shown(&json!(1), &json!(1)), [" 1"]);
    }

    #[test]
    fn what_is_far_is_left_out() {
        let before: Vec<u32> = (0..50).collect();
        let after: Vec<u32> = (0..51).collect();
        let lines = shown(&json!(before), &json!(after));
        assert_eq!(lines.first().unwrap(), "…48 lines");
        assert!(lines.contains(&"+  50".to_owned()));
        assert_eq!(lines.len(), 6);
    }

    #[test]
    fn much_is_bounded() {
        let before: Vec<u32> = (0..5_000).collect();
        let after: Vec<u32> = (0..6_000).collect();
        let lines = shown(&json!(before), &json!(after));
        assert_eq!(lines.len(), SHOWN + 1);
        assert!(lines.last().unwrap().starts_with('…'));
    }
}
