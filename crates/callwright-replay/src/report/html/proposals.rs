//! Proposals as cards.

use std::collections::HashMap;

use serde::Serialize;

use crate::propose::Proof;
use crate::summary::ClusterKey;

use super::super::number::thousands;
use super::super::printable::cut;
use super::super::ranking::Ranked;
use super::super::{Report, phrase};
use super::clusters::class;
use super::diff::{Line, diff};
use super::spans::{Span, spans};
use super::view::LONGEST;

/// How much of a patch is shown; the command writes all of it.
const PATCH: usize = 4_000;

/// How many clusters a proposal names; the rest is counted.
const NAMED: usize = 12;

#[derive(Serialize)]
pub(super) struct Change {
    number: usize,
    tool: String,
    side: &'static str,
    what: &'static str,
    title: Vec<Span>,
    kind: &'static str,
    kind_word: &'static str,
    /// The clusters on the page that it allows.
    clusters: Vec<usize>,
    more_clusters: String,
    pointer: String,
    diff: Vec<Line>,
    patch: String,
    accepts: String,
    accepts_number: u64,
    /// How many places use the part that changes; empty if one.
    shared_by: String,
    touches: String,
    accepts_bugs: String,
    has_bugs: bool,
    proved: bool,
    proof: Vec<Span>,
}

/// All proposals. `shown` clusters are on the page.
pub(super) fn changes(report: &Report, ranked: &[Ranked<'_>], shown: usize) -> Vec<Change> {
    let numbers: HashMap<&ClusterKey, usize> = ranked
        .iter()
        .map(|ranked| (ranked.key, ranked.number))
        .collect();
    report
        .proposals
        .changes
        .iter()
        .map(|proposal| {
            let (proved, proof) = match &proposal.proof {
                Proof::Proved(how) => (true, how),
                Proof::NotProved(why) => (false, why),
            };
            let mut clusters: Vec<usize> = proposal
                .clusters
                .iter()
                .filter_map(|key| numbers.get(key).copied())
                .filter(|number| *number <= shown)
                .collect();
            clusters.sort_unstable();
            clusters.truncate(NAMED);
            let more = proposal.clusters.len().saturating_sub(clusters.len());
            // A patch is a list of plain objects, which can always be written.
            let patch = serde_json::to_string_pretty(&proposal.patch).unwrap_or_default();
            Change {
                number: proposal.number,
                tool: cut(&proposal.tool, LONGEST),
                side: phrase::side(proposal.side),
                what: phrase::change(proposal.change),
                title: spans(&proposal.title, 300),
                kind: class(proposal.kind),
                kind_word: phrase::kind(proposal.kind),
                clusters,
                more_clusters: if more == 0 {
                    String::new()
                } else {
                    format!("{} more", thousands(more as u64))
                },
                pointer: cut(&proposal.pointer, LONGEST),
                diff: diff(&proposal.before, &proposal.after),
                patch: patch_lines(&patch),
                accepts: if proposal.is_estimate {
                    format!("about {}", thousands(proposal.accepts))
                } else {
                    thousands(proposal.accepts)
                },
                shared_by: match proposal.shared_by {
                    0 | 1 => String::new(),
                    places => thousands(places as u64),
                },
                accepts_number: proposal.accepts,
                touches: thousands(proposal.touches),
                accepts_bugs: thousands(proposal.accepts_bugs),
                has_bugs: proposal.accepts_bugs > 0,
                proved,
                proof: spans(proof, 400),
            }
        })
        .collect()
}

/// Escaped line by line, so that the lines stay.
fn patch_lines(patch: &str) -> String {
    let mut out = String::new();
    for line in patch.lines() {
        if out.len() > PATCH {
            out.push('…');
            break;
        }
        out.push_str(&cut(line, 200));
        out.push('\n');
    }
    out
}
