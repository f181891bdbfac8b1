//! The lines in which two texts differ, with one line of context before and after each.

use similar::algorithms::{Capture, Compact, Replace, patience};
use similar::{ChangeTag, DiffOp, group_diff_ops};

/// Lines of context around a change. More would show environment variables, which often contain keys.
const AROUND: usize = 1;

/// The most characters shown of a line: a whole file on one line is not worth reading.
const LONGEST: usize = 400;

/// Each line with `+`, `-` or a space, and `…` between two places.
pub(super) fn lines(before: &str, after: &str) -> Vec<(char, String)> {
    let (before, after): (Vec<&str>, Vec<&str>) =
        (before.lines().collect(), after.lines().collect());
    let groups = group_diff_ops(compared(&before, &after), AROUND);
    let mut shown = Vec::new();
    for (at, group) in groups.iter().enumerate() {
        if at > 0 {
            shown.push(('…', String::new()));
        }
        for change in group
            .iter()
            .flat_map(|step| step.iter_changes(&before, &after))
        {
            let mark = match change.tag() {
                ChangeTag::Equal => ' ',
                ChangeTag::Delete => '-',
                ChangeTag::Insert => '+',
            };
            // Tabs would be shown as escapes, like everything that moves the cursor.
            let line = &change.value().replace('\t', "    ");
            let cut = line
                .char_indices()
                .nth(LONGEST)
                .map(|(end, _)| format!("{}…", &line[..end]));
            shown.push((mark, cut.unwrap_or_else(|| line.to_owned())));
        }
    }
    shown
}

/// The steps from one list of lines to the other. Calls the one algorithm directly: `capture_diff_slices` chooses at run time, which
/// links all six.
fn compared(before: &[&str], after: &[&str]) -> Vec<DiffOp> {
    let mut steps = Compact::new(Replace::new(Capture::new()), before, after);
    let Ok(()) = patience::diff(&mut steps, before, 0..before.len(), after, 0..after.len());
    steps.into_inner().into_inner().into_ops()
}
