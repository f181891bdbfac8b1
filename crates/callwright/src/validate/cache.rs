//! Compiled schemas, kept by content.
//!
//! Compiling a schema costs about sixty times as much as judging a call with it, and the same
//! schemas arrive again and again: from a server that reconnects, from a list that is asked for
//! twice, from tools that share one. Takes a schema and returns the compiled one, at the price of a
//! hash if it was seen before. The cache is bounded; what was used least leaves first.

use std::borrow::Cow;
use std::sync::{Arc, LazyLock};

use moka::sync::Cache;
use serde_json::Value as Schema;
use xxhash_rust::xxh3::Xxh3;

use super::normalise;
use super::schema::{CompiledSchema, children};

/// How many bytes of schema text the shared cache remembers. 2,000 real tools need 3 MB of it. The
/// compiled form is much larger, by a factor of ten to a hundred, and larger again for schemas with
/// unions once a call was refused; a gate that serves strangers' schemas should get a smaller cache.
const SHARED_CAPACITY: u64 = 16 * 1024 * 1024;

/// The longest schema that is compiled, in bytes of text. The largest of 14,000 public tool schemas
/// has a few hundred kilobytes; compiling tens of megabytes takes minutes and gigabytes.
const LARGEST_SCHEMA: usize = 4 * 1024 * 1024;

/// How many references a schema may have. The engine recurses along them, and tens of thousands in a
/// chain overflow its stack; the largest real schemas have some hundreds.
const MOST_REFERENCES: usize = 3_000;

/// A bounded cache of compiled schemas. Cheap to clone: clones share their content.
#[derive(Debug, Clone)]
pub struct SchemaCache(Cache<u128, Entry>);

/// A schema as it was declared, and its compiled form or why there is none: that is not tried again either.
#[derive(Debug, Clone)]
struct Entry {
    declared: Arc<Schema>,
    compiled: Result<Arc<CompiledSchema>, Arc<str>>,
}

impl SchemaCache {
    /// A cache that remembers schemas of up to `capacity` bytes of text in all.
    pub fn new(capacity: u64) -> Self {
        let weigher =
            |_: &u128, entry: &Entry| u32::try_from(text_size(&entry.declared)).unwrap_or(u32::MAX);
        SchemaCache(
            Cache::builder()
                .max_capacity(capacity)
                .weigher(weigher)
                .build(),
        )
    }

    /// The cache of this process, which every gate uses unless it is given another.
    pub fn shared() -> Self {
        static SHARED: LazyLock<SchemaCache> = LazyLock::new(|| SchemaCache::new(SHARED_CAPACITY));
        SHARED.clone()
    }

    /// The compiled form of a schema as it was declared, in the field's own forms too (see [`normalise`]). Threads that
    /// ask for the same schema at once compile it once.
    ///
    /// # Errors
    /// Returns why the schema cannot be compiled, as a sentence for the operator.
    pub fn compile(&self, declared: Arc<Schema>) -> Result<Arc<CompiledSchema>, Arc<str>> {
        let key = content_hash(&declared);
        let entry = self.0.get_with(key, || Entry {
            compiled: compile(&declared),
            declared: Arc::clone(&declared),
        });
        // The hash is fast, not cryptographic, and schemas come from strangers: two that were made to collide must not
        // be taken for each other.
        if Arc::ptr_eq(&entry.declared, &declared) || entry.declared == declared {
            entry.compiled
        } else {
            compile(&declared)
        }
    }
}

fn compile(declared: &Arc<Schema>) -> Result<Arc<CompiledSchema>, Arc<str>> {
    refuse_large(declared)?;
    let compiled = match normalise(declared) {
        Cow::Borrowed(_) => CompiledSchema::compile(Arc::clone(declared)),
        Cow::Owned(rewritten) => CompiledSchema::compile(rewritten),
    };
    Ok(Arc::new(compiled?))
}

/// Objects to a schema that is too much to look at.
pub(crate) fn refuse_large(declared: &Schema) -> Result<(), String> {
    if !matches!(declared, Schema::Object(_) | Schema::Bool(_)) {
        return Err("a schema is an object, or `true` to accept anything".to_owned());
    }
    if count_references(declared) > MOST_REFERENCES {
        return Err(format!(
            "the schema has more than the {MOST_REFERENCES} references that are followed"
        ));
    }
    let size = text_size(declared);
    if size > LARGEST_SCHEMA {
        return Err(format!(
            "the schema has about {} MB, more than the {} MB that are compiled",
            size / 1_000_000,
            LARGEST_SCHEMA / 1_000_000,
        ));
    }
    Ok(())
}

fn count_references(node: &Schema) -> usize {
    let below =
        children(node).map(|(key, member)| usize::from(key == "$ref") + count_references(member));
    below.sum()
}

/// A hash over the structure; the order of keys is part of it.
fn content_hash(schema: &Schema) -> u128 {
    let mut hasher = Xxh3::new();
    hash(schema, &mut hasher);
    hasher.digest128()
}

fn hash(schema: &Schema, hasher: &mut Xxh3) {
    match schema {
        Schema::Null => hasher.update(b"0"),
        Schema::Bool(yes) => hasher.update(if *yes { b"t" } else { b"f" }),
        Schema::Number(number) => {
            hasher.update(b"n");
            hash_text(&number.to_string(), hasher);
        }
        Schema::String(text) => {
            hasher.update(b"s");
            hash_text(text, hasher);
        }
        Schema::Array(items) => {
            hasher.update(b"[");
            for item in items {
                hash(item, hasher);
            }
            hasher.update(b"]");
        }
        Schema::Object(members) => {
            hasher.update(b"{");
            for (key, member) in members {
                hash_text(key, hasher);
                hash(member, hasher);
            }
            hasher.update(b"}");
        }
    }
}

/// Length first, so that no text can imitate a border.
fn hash_text(text: &str, hasher: &mut Xxh3) {
    hasher.update(&(text.len() as u64).to_le_bytes());
    hasher.update(text.as_bytes());
}

/// About as many bytes as the schema has as text.
pub(crate) fn text_size(schema: &Schema) -> usize {
    match schema {
        Schema::String(text) => text.len() + 2,
        Schema::Array(items) => 2 + items.iter().map(|item| text_size(item) + 1).sum::<usize>(),
        Schema::Object(members) => {
            2 + members
                .iter()
                .map(|(key, member)| key.len() + 4 + text_size(member))
                .sum::<usize>()
        }
        _ => 5,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn one_schema_is_compiled_once() {
        let cache = SchemaCache::new(1 << 20);
        let schema = json!({"type": "object", "required": ["a"]});
        let first = cache.compile(Arc::new(schema.clone())).expect("compiles");
        let again = cache.compile(Arc::new(schema)).expect("compiles");
        assert!(Arc::ptr_eq(&first, &again));
        let other = cache
            .compile(Arc::new(json!({"type": "object"})))
            .expect("compiles");
        assert!(!Arc::ptr_eq(&first, &other));
    }

    #[test]
    fn the_bound_holds() {
        let cache = SchemaCache::new(2_000);
        for n in 0..1_000 {
            cache
                .compile(Arc::new(json!({"const": n})))
                .expect("compiles");
        }
        cache.0.run_pending_tasks();
        assert!(cache.0.weighted_size() <= 2_000);
    }

    #[test]
    fn a_bad_schema_says_why_every_time() {
        let cache = SchemaCache::new(1 << 20);
        let bad = json!({"type": "nonsense"});
        let first = cache
            .compile(Arc::new(bad.clone()))
            .expect_err("not a type");
        assert_eq!(cache.compile(Arc::new(bad)).expect_err("not a type"), first);
    }
}
