//! A call with a fault, counted in its cluster.
//!
//! In come a cluster, the fault and where the call stands; the cluster knows one more call then. It never decides whether a
//! cluster is kept.

use xxhash_rust::xxh3::xxh3_64;

use super::local::{Counted, Spot};
use crate::judge::Fault;
use crate::seen::At;
use crate::summary::{Cluster, Example};

/// Counts a call with a fault.
pub(super) fn add_call(
    cluster: &mut Cluster,
    fault: &Fault,
    counted: &Counted<'_>,
    spot: Spot<'_>,
) {
    let at = counted.at;
    cluster.calls += 1;
    cluster.measured(fault.measure);
    if let Some(time) = at.time {
        cluster.seen_at(time);
    }
    if let Some(session) = counted.session {
        cluster.sessions.add(session);
    }
    if let Some(model) = &at.model {
        cluster
            .models
            .update(model.as_ref(), |count: &mut u64| *count += 1);
    }
    if fault.whole && !fault.value.is_empty() {
        cluster
            .values
            .update(fault.value.as_str(), |count: &mut u64| *count += 1);
    }
    let hash = spot.hash ^ xxh3_64(fault.value.as_bytes());
    if cluster.examples.wants(hash) {
        let example = example(fault.value.clone(), fault.whole, at, spot);
        cluster.examples.add(hash, example);
    }
}

pub(super) fn example(value: String, whole: bool, at: &At<'_>, spot: Spot<'_>) -> Example {
    Example {
        value,
        whole,
        place: format!("{}:{}", spot.file, spot.line),
        time: at.time,
        session: at.session.as_deref().map(str::to_owned),
        model: at.model.as_deref().map(str::to_owned),
    }
}
