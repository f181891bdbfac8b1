//! Whether one schema accepts all that another accepts.
//!
//! Asked offline, about two versions of a schema. The answer comes out of the crate's own algebra, which may give up.

use jsonschema::PatternOptions;
use jsonschema::canonical::{self, CanonicalSchema, Containment};

use super::super::Loosening;
use crate::panics::caught;

/// Whether `wider` accepts every value that `narrower` accepts.
pub(crate) fn covers(wider: &serde_json::Value, narrower: &serde_json::Value) -> Loosening {
    let answer = caught(|| {
        let (wider, narrower) = (canonical(wider)?, canonical(narrower)?);
        wider.covers(&narrower).map_err(|error| error.to_string())
    });
    match answer {
        Ok(Ok(Containment::Yes)) => Loosening::Proved,
        Ok(Ok(Containment::No)) => Loosening::Refuted,
        Ok(Ok(_)) => Loosening::Unknown("the schemas are too intricate to compare".to_owned()),
        Ok(Err(reason)) | Err(reason) => Loosening::Unknown(reason),
    }
}

fn canonical(schema: &serde_json::Value) -> Result<CanonicalSchema, String> {
    canonical::options()
        .offline()
        .should_validate_formats(true)
        .with_pattern_options(PatternOptions::regex())
        .canonicalize(schema)
        .map_err(|error| error.to_string())
}
