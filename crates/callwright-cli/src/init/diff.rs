//! The lines in which two texts differ, with one line of context before and after each.

use similar::{Algorithm, ChangeTag, capture_diff_slices, group_diff_ops};

/// Lines of context around a change. More would show environment variables, which often contain keys.
const AROUND: usize = 1;

/// The most characters shown of a line: a whole file on one line is not worth reading.
const LONGEST: usize = 400;

/// Each line with `+`, `-` or a space, and `…` between two places.
pub(super) fn lines(before: &str, after: &str) -> Vec<(char, String)> {
    let (before, after): (Vec<&str>, Vec<&str>) =
        (before.lines().collect(), after.lines().collect());
    let groups = group_diff_ops(
        capture_diff_slices(Algorithm::Patience, &before, &after),
        AROUND,
    );
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
