//! One thing in one line.

use crate::decide::Kind;
use crate::propose::{Proof, Proposal};
use crate::summary::Side;

use super::super::number::{count, thousands};
use super::super::phrase;
use super::super::printable::cut;
use super::super::ranking::Ranked;
use super::style::left;

/// How long the bar of the worst tool is.
const BAR: f64 = 16.0;

/// The tool, the place and what is wrong there.
pub(super) fn described(ranked: &Ranked<'_>) -> String {
    let key = ranked.key;
    let side = match key.side {
        Side::Input => "",
        Side::Output => " result",
    };
    let path = if key.path.is_empty() {
        String::new()
    } else {
        format!(" {}", key.path)
    };
    let shape = if key.shape.is_empty() {
        String::new()
    } else {
        format!(" ({})", key.shape)
    };
    format!(
        "{}{side}{path}: {}{shape}",
        key.tool,
        phrase::issue(&key.issue)
    )
}

/// What a change does, in one line or two.
pub(super) fn effect(change: &Proposal) -> String {
    let bugs = match change.accepts_bugs {
        0 => "none that looks like a bug".to_owned(),
        1 => "1 that looks like a bug".to_owned(),
        bugs => format!("{} that look like bugs", thousands(bugs)),
    };
    let proof = match &change.proof {
        Proof::Proved(_) => "proved to loosen only".to_owned(),
        Proof::NotProved(why) => format!("not proved: {}", cut(why, 60)),
    };
    let kind = match change.kind {
        Kind::EdgeCase => "",
        Kind::Unclear => "; unclear whether it should",
        Kind::Bug => "; looks like a bug",
    };
    let allows = count(change.accepts, "call", "calls");
    format!("allows {allows}, {bugs}; {proof}{kind}")
}

/// A part of a bar of sixteen columns, in eighths of a column.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "between zero and 128"
)]
pub(super) fn bar(part: f64) -> String {
    const EIGHTHS: [&str; 8] = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"];
    // Something is never nothing.
    let least = usize::from(part > 0.0);
    let eighths = ((part * BAR * 8.0).round() as usize).max(least);
    let bar = format!("{}{}", "█".repeat(eighths / 8), EIGHTHS[eighths % 8]);
    left(&bar, BAR as usize)
}
