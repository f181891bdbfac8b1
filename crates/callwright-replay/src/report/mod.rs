//! Renders a summary and its conclusions as text, JSON and a page.
//!
//! [`text()`] is for the terminal, [`json()`] for programs, [`html()`] for a team. All three are made from one
//! `View`, so they show the same numbers in the same order and use the same names for clusters and proposals. Nothing
//! is judged here.

mod columns;
mod date;
mod headline;
mod html;
mod json;
mod next;
mod phrase;
mod printable;
mod sentences;
mod template;
mod text;
mod view;
mod window;

use crate::decide::{ClusterJudgement, decide};
use crate::propose::{Proposals, propose};
use crate::summary::Summary;

pub use html::{PageHeader, html};
pub use json::{json, write_json};
pub use next::WrittenFiles;
pub use text::text;

/// Everything that is reported.
#[derive(Debug, Clone)]
pub struct Report {
    /// The numbers.
    pub summary: Summary,
    /// The judgements on the clusters.
    pub judgements: Vec<ClusterJudgement>,
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

/// A report could not be rendered: a bug in this crate, whatever the log is.
#[derive(Debug, thiserror::Error)]
#[error("the report could not be written")]
pub struct ReportError(#[source] Box<dyn std::error::Error + Send + Sync>);

impl ReportError {
    fn new(source: impl std::error::Error + Send + Sync + 'static) -> Self {
        ReportError(Box::new(source))
    }
}
