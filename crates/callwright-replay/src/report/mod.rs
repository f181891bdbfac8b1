//! A summary and what was made of it → pages, texts and JSON.
//!
//! [`html()`] for a team, [`text()`] for the terminal, [`json()`] for programs. All three show the same numbers in the
//! same order, and clusters and proposals by the same numbers. Nothing is judged here.

mod comparison;
mod date;
mod error;
mod html;
mod json;
mod next;
mod note;
mod number;
mod outlook;
mod phrase;
mod printable;
mod ranking;
mod text;
mod window;

use serde::Serialize;

use crate::decide::{Judgement, decide};
use crate::propose::{Proposals, propose};
use crate::summary::Summary;

pub use error::Error;
pub use html::{Page, html};
pub use json::json;
pub use text::text;

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
