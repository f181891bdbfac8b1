//! Tools that are not all compiled at once: those that a log declares, or a very large number that was given.
//!
//! Takes declarations, and then names of called tools; returns what judges their calls. A call is judged by its
//! tool's declaration alone, which is compiled when the tool is called. The declarations and the compiled tools that
//! are kept are both bounded.

use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use callwright::admit::Ledger;
use callwright::call::Arguments;
use callwright::tool::Tool;
use callwright::validate::SchemaCache;
use callwright::{Call, Error, Policy, ToolSpec};
use memchr::memmem::Finder;
use xxhash_rust::xxh3::{Xxh3, xxh3_64};

use super::declared::PackedSpec;
use super::tools::{ToolSet, declaration};
use crate::judge::Judge;
use crate::read::{Reader, Reading, RecordPlace};
use crate::seen::{LONGEST_NAME, RecordedTool, Seen, SeenCall};
use crate::source::{Input, Pieces};
use crate::summary::Summary;

/// How many bytes of a log's newest declarations are kept: those of a few thousand tools.
const MOST_DECLARED_BYTES: usize = 4 * 1024 * 1024;

/// How many bytes of declarations are kept compiled, which takes ten to a hundred times as much. A few dozen tools
/// account for nearly all calls.
const MOST_COMPILED_BYTES: usize = 256 * 1024;

/// How many bytes of declarations a list may have to be remembered parsed, which takes ten times as much. Requests carry
/// a few dozen tools.
const MOST_REMEMBERED_BYTES: usize = 256 * 1024;

/// How many tools may be known before an undeclared one counts as made up.
const MOST_UNDECLARED: usize = 2_000;

/// A record without one of these declares no tool.
const SIGNS: [&str; 4] = [
    "tools\"",
    "functions\"",
    "functionDeclarations",
    "tool.definitions",
];

/// See the module.
#[derive(Debug)]
pub(super) struct ToolStore {
    policy: Policy,
    ledger: Arc<dyn Ledger>,
    cache: SchemaCache,
    /// Whether all of the log was searched before the run: then nothing new comes.
    has_learned: AtomicBool,
    known: Mutex<KnownTools>,
    /// The names of the given tools, which show what another name may mean. `None` for those of a log.
    given: Option<Arc<ToolSet>>,
}

#[derive(Debug, Default)]
struct KnownTools {
    /// The newest declaration of each tool, and their total size.
    newest: BTreeMap<String, PackedSpec>,
    bytes: usize,
    /// What was learned last, unless it is long: requests carry the same list again and again.
    last: Vec<ToolSpec>,
    /// The names of all of them, which show what another name may mean. Compiled when a call needs it.
    names: Option<Arc<ToolSet>>,
    /// Tools that are called but never declared.
    undeclared: BTreeSet<String>,
    compiled: CompiledSets,
}

/// Sets of tools by a hash, as many as there is room for; the oldest are dropped first.
#[derive(Debug, Default)]
struct CompiledSets {
    sets: HashMap<u64, Arc<ToolSet>>,
    order: VecDeque<(u64, usize)>,
    bytes: usize,
}

impl CompiledSets {
    fn add(&mut self, hash: u64, set: &Arc<ToolSet>) {
        // A gate takes some room, whatever its tools are.
        let bytes = 256 + set.declared_bytes();
        self.sets.insert(hash, Arc::clone(set));
        self.order.push_back((hash, bytes));
        self.bytes += bytes;
        while self.bytes > MOST_COMPILED_BYTES
            && let Some((oldest, bytes)) = self.order.pop_front()
        {
            self.sets.remove(&oldest);
            self.bytes -= bytes;
        }
    }
}

impl ToolStore {
    /// The tools of a log, none of which is known yet.
    pub(super) fn of_log(policy: Policy, ledger: Arc<dyn Ledger>) -> Self {
        ToolStore {
            policy,
            ledger,
            cache: SchemaCache::new(MOST_COMPILED_BYTES as u64),
            has_learned: AtomicBool::new(false),
            known: Mutex::default(),
            given: None,
        }
    }

    /// Given tools; declarations in the log are then ignored.
    ///
    /// # Errors
    /// Fails if two tools have the same name.
    pub(super) fn given(
        tools: Vec<PackedSpec>,
        policy: Policy,
        ledger: Arc<dyn Ledger>,
    ) -> Result<Self, Error> {
        let mut store = ToolStore::of_log(policy, ledger);
        let names = tools.iter().map(|tool| only_named(&tool.rest)).collect();
        store.given = Some(Arc::new(store.compile(names, false)?));
        let packed = tools.into_iter().map(|it| (it.rest.name.clone(), it));
        store.known().newest = packed.collect();
        Ok(store)
    }

    /// Whether calls are judged only by the given tools.
    pub(super) fn is_given(&self) -> bool {
        self.given.is_some()
    }

    /// See [`super::tools::Tools::add_idle`]. One tool after another: compiled, all of them together could be very
    /// large.
    pub(super) fn add_idle(&self, summary: &mut Summary) {
        let newest = std::mem::take(&mut self.known().newest);
        for (name, spec) in newest {
            if summary.tools.get(&name).is_none()
                && let Ok(set) = self.compile(vec![spec.unpacked()], true)
            {
                set.add_idle(summary);
            }
        }
    }

    fn known(&self) -> MutexGuard<'_, KnownTools> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Learns all tools in these inputs, until `stop` is set. Unreadable records are reported by the second pass.
    pub(super) fn learn_all(&self, inputs: Vec<Input>, stop: Option<&AtomicBool>) {
        let signs = SIGNS.map(Finder::new);
        let may_declare = |bytes: &[u8]| signs.iter().any(|sign| sign.find(bytes).is_some());
        let mut reader = Reader::new();
        self.has_learned.store(true, Ordering::Relaxed);
        for piece in Pieces::new(inputs).flatten() {
            if stop.is_some_and(|stop| stop.load(Ordering::Relaxed)) {
                return;
            }
            if !may_declare(&piece.bytes) {
                continue;
            }
            let mut reading = Reading::default();
            for record in piece.records() {
                let Some(text) = record.text.ok().filter(|it| may_declare(it.as_bytes())) else {
                    continue;
                };
                let (file, line) = (&*piece.file, record.line);
                reader.read(text, RecordPlace { file, line }, &mut reading);
                for seen in &reading.seen {
                    if let Seen::Tools(tools) = seen {
                        self.known().learn(tools);
                    }
                }
            }
        }
    }

    /// Learns tools that the log declares, unless already done.
    pub(super) fn learn(&self, tools: &[ToolSpec]) {
        if !self.has_learned.load(Ordering::Relaxed) {
            self.known().learn(tools);
        }
    }

    /// What judges a call of this tool: the declaration that its record carries, or else the newest one. If it was
    /// never declared, it is a tool without a schema.
    ///
    /// # Errors
    /// Fails if tools cannot be compiled, which cannot happen with different names.
    pub(super) fn judging(
        &self,
        offered: Option<&[ToolSpec]>,
        call: &SeenCall<'_>,
    ) -> Result<Arc<ToolSet>, Error> {
        let tool = call.call.tool.as_ref();
        if let Some(offered) = offered {
            // If two have the same name, the last one counts. A name that is not offered may be meant for one that
            // is.
            let meant: BTreeMap<&str, &ToolSpec> = match offered.iter().rfind(|it| it.name == tool)
            {
                Some(own) => [(tool, own)].into(),
                None => offered.iter().map(|it| (it.name.as_str(), it)).collect(),
            };
            let mut hasher = Xxh3::new();
            for tool in meant.values() {
                hasher.update(declaration(tool).as_bytes());
            }
            let tools = || meant.into_values().cloned().collect();
            return self.compiled(&mut self.known(), hasher.digest(), true, tools);
        }
        let declares = |name: &str| self.known().newest.contains_key(name);
        match &call.recorded_tool {
            // Given tools are complete by themselves.
            Some(recorded) if self.given.is_none() && !declares(tool) => match recorded {
                RecordedTool::Meant(meant) if declares(meant) => self.judging_name(meant),
                RecordedTool::Unknown if !self.known().newest.is_empty() => {
                    self.judging_other_name(&self.names()?, tool)
                }
                _ => self.judging_name(tool),
            },
            _ => self.judging_name(tool),
        }
    }

    /// What judges a call of this tool, if nothing else is known about it.
    ///
    /// # Errors
    /// See [`ToolStore::judging`].
    pub(super) fn judging_name(&self, tool: &str) -> Result<Arc<ToolSet>, Error> {
        let mut known = self.known();
        let hash = xxh3_64(tool.as_bytes());
        if let Some(set) = known.compiled.sets.get(&hash) {
            return Ok(Arc::clone(set));
        }
        if let Some(own) = known.newest.get(tool).map(PackedSpec::unpacked) {
            return self.compiled(&mut known, hash, true, || vec![own]);
        }
        if let Some(given) = &self.given {
            drop(known);
            return self.judging_other_name(given, tool);
        }
        let has_room = known.newest.len() + known.undeclared.len() < MOST_UNDECLARED;
        if known.undeclared.contains(tool) || (has_room && tool.len() <= LONGEST_NAME) {
            known.undeclared.insert(tool.to_owned());
            let own = ToolSpec::without_schema(tool);
            return self.compiled(&mut known, hash, false, || vec![own]);
        }
        self.compiled(&mut known, 0, true, Vec::new)
    }

    /// What judges a call of a name that no tool has: the tool that it means, or all names.
    fn judging_other_name(&self, names: &Arc<ToolSet>, name: &str) -> Result<Arc<ToolSet>, Error> {
        let call = Call::new(name, Arguments::Absent);
        let verdict = names.judge().gate().judge(&call);
        let meant = verdict.tool().map(Tool::name);
        match meant.filter(|meant| *meant != name) {
            Some(meant) => self.judging_name(meant),
            None => Ok(Arc::clone(names)),
        }
    }

    /// The names of all tools that the log has declared so far.
    fn names(&self) -> Result<Arc<ToolSet>, Error> {
        let mut known = self.known();
        if let Some(names) = &known.names {
            return Ok(Arc::clone(names));
        }
        let all = known.newest.values().map(|it| only_named(&it.rest));
        let names = Arc::new(self.compile(all.collect(), false)?);
        known.names = Some(Arc::clone(&names));
        Ok(names)
    }

    /// No tools: used where it does not matter.
    ///
    /// # Errors
    /// See [`ToolStore::judging`].
    pub(super) fn none(&self) -> Result<Arc<ToolSet>, Error> {
        self.compiled(&mut self.known(), 0, true, Vec::new)
    }

    fn compiled(
        &self,
        known: &mut KnownTools,
        hash: u64,
        are_declared: bool,
        tools: impl FnOnce() -> Vec<ToolSpec>,
    ) -> Result<Arc<ToolSet>, Error> {
        if let Some(set) = known.compiled.sets.get(&hash) {
            return Ok(Arc::clone(set));
        }
        let set = Arc::new(self.compile(tools(), are_declared)?);
        known.compiled.add(hash, &set);
        Ok(set)
    }

    fn compile(&self, tools: Vec<ToolSpec>, are_declared: bool) -> Result<ToolSet, Error> {
        let (ledger, cache) = (Arc::clone(&self.ledger), self.cache.clone());
        let judge = Judge::new(tools, &self.policy, ledger, cache)?;
        Ok(ToolSet::of(judge, are_declared))
    }
}

/// A tool without its schemas: what decides whether a name means it.
fn only_named(tool: &ToolSpec) -> ToolSpec {
    let mut named = ToolSpec::without_schema(&*tool.name);
    (named.effect, named.declared_by) = (tool.effect, tool.declared_by);
    named
}

impl KnownTools {
    fn learn(&mut self, tools: &[ToolSpec]) {
        if self.last == tools {
            return;
        }
        let mut list_bytes = 0;
        for tool in tools.iter().filter(|tool| tool.name.len() <= LONGEST_NAME) {
            let packed = PackedSpec::new(tool.clone());
            list_bytes += packed.bytes();
            let before = self.newest.get(&tool.name);
            if before == Some(&packed) {
                continue;
            }
            let bytes = self.bytes - before.map_or(0, PackedSpec::bytes) + packed.bytes();
            if bytes <= MOST_DECLARED_BYTES {
                self.bytes = bytes;
                self.newest.insert(tool.name.clone(), packed);
                self.names = None;
                self.undeclared.remove(&tool.name);
                self.compiled.sets.remove(&xxh3_64(tool.name.as_bytes()));
            }
        }
        self.last.clear();
        if list_bytes <= MOST_REMEMBERED_BYTES {
            self.last.extend_from_slice(tools);
        }
    }
}
