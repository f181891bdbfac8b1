//! Two JSON values → the lines that differ, with some of those around them.

use serde::Serialize;
use serde_json::Value as Json;
use similar::{Algorithm, ChangeTag, capture_diff_slices};

use super::super::printable::cut;

/// Lines that are the same and shown, on either side of a difference.
const AROUND: usize = 3;

/// So few lines are shown whole.
const FEW: usize = 14;

/// The most lines that are compared, since that may take the square of their number in steps. What is longer is shown as
/// wholly changed.
const COMPARED: usize = 1_000;

/// The most lines that are shown.
const SHOWN: usize = 120;

/// The longest line that is shown.
const LONGEST: usize = 200;

/// What happens to a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum LineKind {
    Added,
    Removed,
    Same,
    /// Stands for several lines that are not shown.
    LeftOut,
}

/// One line.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub(super) struct DiffLine {
    kind: LineKind,
    /// What a diff has before the line.
    mark: char,
    text: String,
}

impl DiffLine {
    fn new(kind: LineKind, text: &str) -> Self {
        let mark = match kind {
            LineKind::Added => '+',
            LineKind::Removed => '-',
            LineKind::Same => ' ',
            LineKind::LeftOut => '…',
        };
        let text = cut(text, LONGEST);
        DiffLine { kind, mark, text }
    }
}

/// What is different.
pub(super) fn diff(before: &Json, after: &Json) -> Vec<DiffLine> {
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

/// What happens to each line on the way from one to the other.
fn edits(before: &[String], after: &[String]) -> Vec<(LineKind, String)> {
    let line = |kind: LineKind| move |line: &String| (kind, line.clone());
    if before.len() > COMPARED || after.len() > COMPARED {
        let removed = before.iter().map(line(LineKind::Removed));
        let added = after.iter().map(line(LineKind::Added));
        return removed.chain(added).collect();
    }
    let steps = capture_diff_slices(Algorithm::Myers, before, after);
    let lines = steps
        .iter()
        .flat_map(|step| step.iter_changes(before, after));
    let told = lines.map(|change| {
        let kind = match change.tag() {
            ChangeTag::Equal => LineKind::Same,
            ChangeTag::Delete => LineKind::Removed,
            ChangeTag::Insert => LineKind::Added,
        };
        (kind, change.value())
    });
    told.collect()
}

/// Leaves out what is far from every difference, and what is too much.
fn shorten(edits: &[(LineKind, String)]) -> Vec<DiffLine> {
    let differs: Vec<usize> = edits
        .iter()
        .enumerate()
        .filter(|(_, (kind, _))| *kind != LineKind::Same)
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
    let mut skipped: &[(LineKind, String)] = &[];
    for (index, (kind, text)) in edits.iter().enumerate() {
        if lines.len() >= SHOWN {
            skipped = &edits[index..];
            break;
        }
        if near(index) {
            left_out(&mut lines, skipped);
            skipped = &[];
            lines.push(DiffLine::new(*kind, text));
        } else {
            skipped = &edits[index - skipped.len()..=index];
        }
    }
    left_out(&mut lines, skipped);
    lines
}

fn left_out(lines: &mut Vec<DiffLine>, skipped: &[(LineKind, String)]) {
    match skipped {
        [] => {}
        // To say that it is left out takes as much room.
        [(kind, text)] => lines.push(DiffLine::new(*kind, text)),
        more => lines.push(DiffLine::new(
            LineKind::LeftOut,
            &format!("{} lines", more.len()),
        )),
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
