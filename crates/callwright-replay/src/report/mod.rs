//! A summary and what was made of it → pages, texts and JSON.

use serde::Serialize;

use crate::decide::{Judgement, decide};
use crate::propose::{Proposals, propose};
use crate::summary::Summary;

/// Everything that is reported.
#[derive(Debug, Clone, Serialize)]
pub struct Report {
    /// The numbers.
    pub summary: Summary,
    /// What the clusters are.
    pub judgements: Vec<Judgement>,
    /// What to change.
    pub proposals: Proposals,
}

impl Report {
    /// Draws the conclusions.
    pub fn new(summary: Summary) -> Self {
        let judgements = decide(&summary);
        let proposals = propose(&summary, &judgements);
        Report {
            summary,
            judgements,
            proposals,
        }
    }
}
