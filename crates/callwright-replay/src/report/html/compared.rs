//! Verdicts that another judge changes, as rows.

use serde::Serialize;

use crate::summary::{Change, ChangeKey};

use super::super::comparison::{direction, objection};
use super::super::phrase;
use super::super::printable::cut;
use super::clusters::{Sample, samples};
use super::tables::Cell;
use super::view::LONGEST;

/// How many examples stand in a row: one shows what is meant.
const SHOWN: usize = 1;

#[derive(Serialize)]
pub(super) struct Row {
    tool: String,
    side: &'static str,
    direction: &'static str,
    from: String,
    to: String,
    path: String,
    objection: String,
    calls: Cell,
    examples: Vec<Sample>,
}

pub(super) fn rows(changes: &[(&ChangeKey, &Change)], most: usize) -> Vec<Row> {
    changes
        .iter()
        .take(most)
        .map(|(key, change)| {
            let mut examples = samples(&change.examples);
            examples.truncate(SHOWN);
            Row {
                tool: cut(&key.tool, LONGEST),
                side: phrase::side(key.side),
                direction: direction(key),
                from: cut(&key.from, LONGEST),
                to: cut(&key.to, LONGEST),
                path: cut(&key.path, LONGEST),
                objection: objection(key),
                calls: Cell::count(change.calls),
                examples,
            }
        })
        .collect()
}
