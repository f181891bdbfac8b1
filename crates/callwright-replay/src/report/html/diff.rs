//! The differing lines of two JSON values, with some context.

use serde_json::Value as Json;
use similar::algorithms::{Capture, Compact, Replace, myers};
use similar::{ChangeTag, DiffOp, group_diff_ops};

use super::super::printable::cut;

/// Unchanged lines shown on either side of a difference.
const AROUND: usize = 3;

/// Texts with this few lines are shown completely.
const FEW: usize = 14;

/// The most lines that are compared, since that may take quadratic time. Anything longer is shown as completely
/// changed.
const COMPARED: usize = 1_000;

/// The most lines that are shown.
const SHOWN: usize = 120;

/// The longest line that is shown.
const LONGEST: usize = 200;

/// A line, and its diff marker: `+`, `-`, a space, or `…` for omitted lines.
type DiffLine = (char, String);

/// What is different.
pub(super) fn diff(before: &Json, after: &Json) -> Vec<DiffLine> {
    let (before, after) = (lines(before), lines(after));
    let steps = if before.len().max(after.len()) <= COMPARED {
        compared(&before, &after)
    } else {
        let (old_len, new_len) = (before.len(), after.len());
        vec![DiffOp::Replace {
            old_index: 0,
            old_len,
            new_index: 0,
            new_len,
        }]
    };
    let few = steps
        .iter()
        .map(|step| step.iter_changes(&before, &after).count());
    let groups = if few.sum::<usize>() <= FEW {
        vec![steps]
    } else {
        group_diff_ops(steps, AROUND)
    };
    let mut shown = Vec::new();
    let mut reached = 0;
    for group in groups {
        let begin = group.first().map_or(reached, |step| step.old_range().start);
        left_out(&mut shown, &before[reached..begin]);
        reached = group.last().map_or(reached, |step| step.old_range().end);
        for change in (group.iter()).flat_map(|step| step.iter_changes(&before, &after)) {
            let mark = match change.tag() {
                ChangeTag::Equal => ' ',
                ChangeTag::Delete => '-',
                ChangeTag::Insert => '+',
            };
            shown.push((mark, cut(&change.value(), LONGEST)));
        }
    }
    left_out(&mut shown, &before[reached..]);
    if let more @ 2.. = shown.len().saturating_sub(SHOWN) {
        shown.truncate(SHOWN);
        shown.push(('…', format!("{more} lines")));
    }
    shown
}

/// The steps from one list of lines to the other. Calls the one algorithm directly: `capture_diff_slices` chooses at run time, which
/// links all six.
fn compared(before: &[String], after: &[String]) -> Vec<DiffOp> {
    let mut steps = Compact::new(Replace::new(Capture::new()), before, after);
    let Ok(()) = myers::diff(&mut steps, before, 0..before.len(), after, 0..after.len());
    steps.into_inner().into_inner().into_ops()
}

/// The lines of a value, without trailing commas: they change with the lines around them.
fn lines(value: &Json) -> Vec<String> {
    let text = format!("{value:#}");
    text.lines()
        .map(|line| line.strip_suffix(',').unwrap_or(line).to_owned())
        .collect()
}

/// Replaces unchanged lines that are far from every difference.
fn left_out(shown: &mut Vec<DiffLine>, lines: &[String]) {
    match lines {
        [] => {}
        // Saying that it is left out takes as much room.
        [only] => shown.push((' ', cut(only, LONGEST))),
        more => shown.push(('…', format!("{} lines", more.len()))),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn shown(before: &Json, after: &Json) -> Vec<String> {
        diff(before, after)
            .iter()
            .map(|(mark, text)| format!("{mark}{text}"))
            .collect()
    }

    #[test]
    fn a_comma_is_not_a_difference() {
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
    fn distant_lines_are_omitted() {
        let before: Vec<u32> = (0..50).collect();
        let after: Vec<u32> = (0..51).collect();
        let lines = shown(&json!(before), &json!(after));
        assert_eq!(lines.first().unwrap(), "…48 lines");
        assert!(lines.contains(&"+  50".to_owned()));
        assert_eq!(lines.len(), 6);
    }

    #[test]
    fn the_output_is_bounded() {
        let before: Vec<u32> = (0..5_000).collect();
        let after: Vec<u32> = (0..6_000).collect();
        let lines = shown(&json!(before), &json!(after));
        assert_eq!(lines.len(), SHOWN + 1);
        assert!(lines.last().unwrap().starts_with('…'));
    }
}
