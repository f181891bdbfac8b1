//! What repair changed, so that the model learns.

use super::PATH;
use crate::json::Value;
use crate::text::{dotted_within, snippet};
use crate::vocabulary::{Edit, EditKind, Grade};

/// The note about edits.
pub(in crate::feedback) fn receipt(lines: &[String]) -> String {
    format!("Note: the arguments were corrected: {}.", lines.join("; "))
}

/// What was changed.
pub(in crate::feedback) fn edit(edit: &Edit) -> String {
    // Shown as written, it would look like its escape.
    let mut sent = edit.before.as_str().unwrap_or_default().chars();
    let is_raw_control = sent.next().is_some_and(char::is_control) && sent.next().is_none();
    let edit = edit.shown();
    let place = dotted_within(&edit.path, PATH);
    let named = if edit.path.is_root() {
        edit.rule
    } else {
        &place
    };
    let before = snippet(&edit.before.to_string(), 24);
    let after = snippet(&edit.after.to_string(), 24);
    match edit.kind {
        EditKind::LeftOut if edit.grade == Grade::Lossy => {
            format!("{place} is unknown and was {before}; left out")
        }
        EditKind::LeftOut => format!("{place} was {before}; left out"),
        EditKind::Added => format!("{place} was missing; its default {after} was taken"),
        EditKind::Renamed => format!("key {before} was taken for {after}"),
        // Words, comments, fences.
        EditKind::Read if edit.after.as_str() == Some("") => format!("{before} was left out"),
        EditKind::Read if is_raw_control => format!(
            "{place}: a raw {} was read as its escape",
            written(&edit.before)
        ),
        // JSON text that was read as other JSON text: in quotes, both would look like values.
        EditKind::Read => {
            let [before, after] = [&edit.before, &edit.after].map(|it| written(it));
            format!("{named}: {before} was read as {after}")
        }
        EditKind::Replaced if !edit.path.is_root() => {
            format!("{place} was {before}; sent on as {after}")
        }
        EditKind::Replaced | EditKind::ToolName => {
            format!("{named}: {before} was read as {after}")
        }
    }
}

/// A piece of text as written.
fn written(text: &Value<'_>) -> String {
    snippet(text.as_str().unwrap_or_default(), 24)
}
