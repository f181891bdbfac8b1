//! The hash by which a schema is recognised.

use serde_json::Value as Json;
use xxhash_rust::xxh3::xxh3_64;

/// A hash of a schema that does not depend on the order of its keys.
pub(super) fn schema_hash(schema: &Json) -> String {
    let mut sorted = schema.clone();
    sorted.sort_all_objects();
    format!("{:016x}", xxh3_64(sorted.to_string().as_bytes()))
}
