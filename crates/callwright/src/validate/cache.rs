//! Compiled schemas, cached by content.
//!
//! Compiling a schema costs about sixty times as much as validating a call with it, and the same schemas arrive again and
//! again: from a server that reconnects, from a list that is requested twice, from tools that share one. Takes a schema and
//! returns the compiled one, for the price of a hash if it was seen before. The cache is bounded; the least recently used entry
//! is evicted first.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, LazyLock};

use parking_lot::Mutex;
use serde_json::Value as Schema;
use xxhash_rust::xxh3::Xxh3;

use super::cost::{Cost, text_size};
use super::normalise;
use super::schema::CompiledSchema;

/// About how many bytes of compiled schemas the shared cache remembers. 2,000 real tools need 100 MB of it.
const SHARED_CAPACITY: u64 = 256 * 1024 * 1024;

/// About how many bytes the schemas of one list may take beyond what any text of their length does. Patterns take about ten
/// thousand each, and few tools have any; a list that needs more than this is designed to be expensive.
const LIST_EXTRA: usize = 48 * 1024 * 1024;

/// The remaining budget for compiling the schemas of one list of tools.
#[derive(Debug)]
pub(crate) struct CompileBudget(usize);

impl Default for CompileBudget {
    fn default() -> Self {
        CompileBudget(LIST_EXTRA)
    }
}

impl CompileBudget {
    pub(super) fn spend(&mut self, cost: Cost) -> Result<(), String> {
        let left = self.0.checked_sub(cost.extra);
        self.0 = left.ok_or_else(|| {
            let (needed, left) = (cost.extra.div_ceil(1_000_000), self.0 / 1_000_000);
            format!("its patterns and parts take about {needed} MB, but only {left} MB are left for the list of tools")
        })?;
        Ok(())
    }
}

/// About how many bytes an entry takes besides its schema: its key twice, its slot and its lock.
const ENTRY_BYTES: u64 = 256;

/// A bounded cache of compiled schemas. Cheap to clone: clones share their content.
#[derive(Debug, Clone)]
pub struct SchemaCache(Arc<Mutex<Store>>);

/// A schema as declared, and its compiled form or the reason why there is none: a failure is not tried again either.
#[derive(Debug, Clone)]
struct CachedSchema {
    declared: Arc<Schema>,
    bytes: usize,
    compiled: Result<Arc<CompiledSchema>, Arc<str>>,
}

/// The slot of an entry. Its lock is held while the schema is compiled, so that this happens once.
type CacheSlot = Arc<Mutex<Option<CachedSchema>>>;

/// Slots by the hash of their schema, in the order of their last use. Uses are counted; there is no clock.
#[derive(Debug)]
struct Store {
    capacity: u64,
    held: u64,
    uses: u64,
    slots: HashMap<u128, CacheEntry>,
    by_last_use: BTreeMap<u64, u128>,
}

#[derive(Debug)]
struct CacheEntry {
    slot: CacheSlot,
    bytes: u64,
    last_use: u64,
}

impl Store {
    /// The slot of a schema, empty if it is new. It becomes the most recently used one.
    fn slot(&mut self, key: u128) -> CacheSlot {
        self.uses += 1;
        if let Some(place) = self.slots.get_mut(&key) {
            self.by_last_use.remove(&place.last_use);
            place.last_use = self.uses;
            self.by_last_use.insert(self.uses, key);
            return Arc::clone(&place.slot);
        }
        let slot = CacheSlot::default();
        self.insert(key, Arc::clone(&slot), ENTRY_BYTES);
        slot
    }

    fn insert(&mut self, key: u128, slot: CacheSlot, bytes: u64) {
        let last_use = self.uses;
        self.held += bytes;
        self.by_last_use.insert(last_use, key);
        self.slots.insert(
            key,
            CacheEntry {
                slot,
                bytes,
                last_use,
            },
        );
    }

    fn remove(&mut self, key: u128) -> Option<CacheSlot> {
        let place = self.slots.remove(&key)?;
        self.by_last_use.remove(&place.last_use);
        self.held -= place.bytes;
        Some(place.slot)
    }

    /// Counts what was compiled into a slot. The least recently used entries are evicted; an entry larger than the cache is
    /// evicted immediately, before it displaces everything else.
    fn weigh(&mut self, key: u128, bytes: usize) {
        let bytes = u64::try_from(bytes)
            .unwrap_or(u64::MAX)
            .saturating_add(ENTRY_BYTES);
        let Some(slot) = self.remove(key) else { return };
        if bytes > self.capacity {
            return;
        }
        self.uses += 1;
        self.insert(key, slot, bytes);
        while self.held > self.capacity {
            let Some((_, &oldest)) = self.by_last_use.first_key_value() else {
                return;
            };
            self.remove(oldest);
        }
    }
}

impl SchemaCache {
    /// A cache that remembers compiled schemas of up to `capacity` bytes in total, by an estimate. A compiled schema takes
    /// about thirty times as much as its text, and patterns take about ten thousand bytes each.
    pub fn new(capacity: u64) -> Self {
        SchemaCache(Arc::new(Mutex::new(Store {
            capacity,
            held: 0,
            uses: 0,
            slots: HashMap::new(),
            by_last_use: BTreeMap::new(),
        })))
    }

    /// The cache of this process, which every gate uses unless it is given another.
    pub fn shared() -> Self {
        static SHARED: LazyLock<SchemaCache> = LazyLock::new(|| SchemaCache::new(SHARED_CAPACITY));
        SHARED.clone()
    }

    /// The compiled form of a declared schema, including non-standard forms in common use (see [`normalise`]). Threads that
    /// request the same schema at once compile it once.
    ///
    /// # Errors
    /// Returns why the schema cannot be compiled, as a sentence for the operator.
    pub fn compile(&self, declared: &Arc<Schema>) -> Result<Arc<CompiledSchema>, Arc<str>> {
        self.compile_within(declared, &mut CompileBudget::default())
    }

    /// The same, within the remaining budget of a list of tools. A cached schema costs nothing.
    pub(crate) fn compile_within(
        &self,
        declared: &Arc<Schema>,
        budget: &mut CompileBudget,
    ) -> Result<Arc<CompiledSchema>, Arc<str>> {
        let key = content_hash(declared);
        let slot = self.0.lock().slot(key);
        let mut entry = slot.lock();
        if let Some(entry) = &*entry {
            // The hash is fast, not cryptographic, and schemas come from strangers: two that were made to collide must not be
            // confused.
            return if Arc::ptr_eq(&entry.declared, declared) || entry.declared == *declared {
                entry.compiled.clone()
            } else {
                compile(declared, budget)?.compiled
            };
        }
        let compiled = compile(declared, budget);
        // A schema that exceeded a list's budget is not remembered: another list may have room for it.
        let bytes = match &compiled {
            Ok(compiled) => compiled.bytes,
            Err(_) => usize::MAX,
        };
        *entry = compiled.as_ref().ok().cloned();
        self.0.lock().weigh(key, bytes);
        compiled?.compiled
    }
}

/// The entry of a schema, or why the budget is too small for it.
fn compile(declared: &Arc<Schema>, budget: &mut CompileBudget) -> Result<CachedSchema, Arc<str>> {
    let entry = |bytes, compiled| CachedSchema {
        declared: Arc::clone(declared),
        bytes,
        compiled,
    };
    let cost = match Cost::of(declared) {
        Ok(cost) => cost,
        Err(reason) => return Ok(entry(text_size(declared), Err(reason.into()))),
    };
    budget.spend(cost)?;
    let compiled = match normalise(declared) {
        Cow::Borrowed(_) => CompiledSchema::build(Arc::clone(declared)),
        Cow::Owned(rewritten) => CompiledSchema::build(Arc::new(rewritten)),
    };
    let compiled = compiled.map(Arc::new).map_err(Arc::from);
    let forms = compiled.as_ref().map_or(1, |schema| schema.forms());
    Ok(entry(cost.bytes.saturating_mul(forms), compiled))
}

/// A hash of the structure; the order of keys matters.
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

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn one_schema_is_compiled_once() {
        let cache = SchemaCache::new(1 << 20);
        let schema = json!({"type": "object", "required": ["a"]});
        let first = cache.compile(&Arc::new(schema.clone())).expect("compiles");
        let again = cache.compile(&Arc::new(schema)).expect("compiles");
        assert!(Arc::ptr_eq(&first, &again));
        let other = cache
            .compile(&Arc::new(json!({"type": "object"})))
            .expect("compiles");
        assert!(!Arc::ptr_eq(&first, &other));
    }

    #[test]
    fn the_bound_holds() {
        let cache = SchemaCache::new(20_000);
        for n in 0..1_000 {
            cache
                .compile(&Arc::new(json!({"const": n})))
                .expect("compiles");
        }
        let store = cache.0.lock();
        assert!(store.held <= 20_000, "{} bytes", store.held);
        let sum: u64 = store.slots.values().map(|place| place.bytes).sum();
        assert_eq!(store.held, sum);
        assert_eq!(store.slots.len(), store.by_last_use.len());
        assert!(store.slots.len() > 3, "{} are kept", store.slots.len());
    }

    #[test]
    fn the_least_recently_used_schema_is_evicted_first() {
        let cache = SchemaCache::new(20_000);
        let often = Arc::new(json!({"const": "often"}));
        let first = cache.compile(&often).expect("compiles");
        for n in 0..1_000 {
            let other = Arc::new(json!({"const": n}));
            cache.compile(&other).expect("compiles");
            let again = cache.compile(&often).expect("compiles");
            assert!(Arc::ptr_eq(&first, &again));
        }
    }

    #[test]
    fn a_schema_larger_than_the_cache_evicts_nothing() {
        let cache = SchemaCache::new(20_000);
        let small = Arc::new(json!({"const": 1}));
        let first = cache.compile(&small).expect("compiles");
        let values: Vec<u32> = (0..5_000).collect();
        let large = Arc::new(json!({"enum": values}));
        cache.compile(&large).expect("compiles");
        let again = cache.compile(&small).expect("compiles");
        assert!(Arc::ptr_eq(&first, &again));
    }

    #[test]
    fn threads_compile_a_schema_once() {
        let cache = SchemaCache::new(1 << 20);
        let schema = Arc::new(json!({"enum": (0..500).collect::<Vec<u32>>()}));
        let compile = || cache.compile(&schema).expect("compiles");
        let all: Vec<_> = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..8).map(|_| scope.spawn(compile)).collect();
            threads
                .into_iter()
                .map(|thread| thread.join().expect("ends"))
                .collect()
        });
        assert!(all.iter().all(|each| Arc::ptr_eq(each, &all[0])));
    }

    #[test]
    fn a_bad_schema_says_why_every_time() {
        let cache = SchemaCache::new(1 << 20);
        let bad = json!({"type": "nonsense"});
        let first = cache
            .compile(&Arc::new(bad.clone()))
            .expect_err("not a type");
        assert_eq!(
            cache.compile(&Arc::new(bad)).expect_err("not a type"),
            first
        );
    }
}
