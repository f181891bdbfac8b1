//! Which tools judge a call: those that were given, or those that the log itself shows.
//!
//! A request carries the tools that the model was offered, and its calls are judged by these. Anything else in a log is
//! judged by the newest declaration of each tool that was found anywhere in it.

use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use callwright::admit::Ledger;
use callwright::validate::SchemaCache;
use callwright::wire::{self, Provider};
use callwright::{Error, Policy, ToolSpec};
use memchr::memmem::Finder;
use xxhash_rust::xxh3::{Xxh3, xxh3_64, xxh3_128};

use crate::judge::Judge;
use crate::read::{Reader, Reading, RecordPlace};
use crate::seen::{LONGEST_NAME, Seen};
use crate::source::{Input, Pieces};
use crate::summary::{Summary, ToolSummary, Version};

/// How many bytes of declarations are kept as the newest ones: those of some thousand tools.
const MOST_DECLARED_BYTES: usize = 4 * 1024 * 1024;

/// How many bytes of declarations are kept compiled, which takes ten to a hundred times as many. Some dozen tools make
/// nearly all calls.
const MOST_COMPILED_BYTES: usize = 512 * 1024;

/// How many tools may be known before one that nothing declares counts as made up.
const MOST_UNDECLARED: usize = 2_000;

/// A record without one of these declares no tool.
const SIGNS: [&str; 4] = [
    "tools\"",
    "functions\"",
    "functionDeclarations",
    "tool.definitions",
];

/// Which tools judge.
#[derive(Debug)]
pub(super) enum Tools {
    /// Those that were given.
    Given(Arc<ToolSet>),
    /// Those that the log itself shows.
    FromLog(Box<FromLog>),
}

impl Tools {
    /// Adds the declared tools that were never called to a summary: a report names them too. Their declaration is left
    /// out: nothing is said about it, and a part of a log in which they are called has it.
    pub(super) fn add_idle(&self, summary: &mut Summary) {
        let mut add = |set: &ToolSet| {
            for (name, declared) in set.declared.values() {
                let Some(declared) = declared
                    .as_ref()
                    .filter(|_| summary.tools.get(name).is_none())
                else {
                    continue;
                };
                let version = Version {
                    quarantined: declared.quarantined.clone(),
                    ..Version::default()
                };
                let mut idle = ToolSummary::default();
                idle.versions.add(declared.hash.clone(), version);
                summary.tools.add(name.clone(), idle);
            }
        };
        match self {
            Tools::Given(set) => add(set),
            // One by one: compiled, all of them together could be very large.
            Tools::FromLog(log) => {
                let newest = std::mem::take(&mut log.known().newest);
                for spec in newest.into_values() {
                    log.compile(vec![spec], true).iter().for_each(&mut add);
                }
            }
        }
    }
}

/// A set of tools that judges, and how each of them was declared.
#[derive(Debug)]
pub struct ToolSet {
    judge: Arc<Judge>,
    /// The name of each tool and how it was declared, by the address of the compiled tool. Calls of a tool that nothing
    /// declares are counted, and cannot be judged.
    declared: HashMap<usize, (String, Option<Declaration>)>,
}

/// How a tool was declared.
#[derive(Debug, Clone)]
pub(super) struct Declaration {
    /// In MCP's shape, as JSON.
    pub(super) text: String,
    /// A hash of it.
    pub(super) hash: String,
    /// Why its schema does not compile, if it does not.
    pub(super) quarantined: Option<String>,
}

impl ToolSet {
    /// Compiles tools.
    ///
    /// # Errors
    /// Fails if two tools have one name.
    pub fn new(
        tools: Vec<ToolSpec>,
        policy: &Policy,
        ledger: Arc<dyn Ledger>,
    ) -> Result<Self, Error> {
        let judge = Judge::new(tools, policy, ledger, SchemaCache::shared())?;
        Ok(ToolSet::of(judge, true))
    }

    /// The tools of a judge, which are known only by name if nothing declares them.
    fn of(judge: Judge, are_declared: bool) -> Self {
        let tools = judge.gate().tools().map(|tool| {
            let declared = are_declared.then(|| {
                let text = declaration(tool.spec());
                Declaration {
                    hash: format!("{:032x}", xxh3_128(text.as_bytes())),
                    text,
                    quarantined: tool.quarantined().map(str::to_owned),
                }
            });
            let address = std::ptr::from_ref(tool).addr();
            (address, (tool.name().to_owned(), declared))
        });
        ToolSet {
            declared: tools.collect(),
            judge: Arc::new(judge),
        }
    }

    /// What judges calls of these tools.
    pub fn judge(&self) -> &Arc<Judge> {
        &self.judge
    }

    /// The name of the tool at this address, and how it was declared, if it was.
    pub(super) fn declared(&self, address: usize) -> Option<(&str, Option<&Declaration>)> {
        let (name, declared) = self.declared.get(&address)?;
        Some((name, declared.as_ref()))
    }
}

/// The declaration of a tool in MCP's shape, as JSON.
fn declaration(tool: &ToolSpec) -> String {
    wire::declare(Provider::Mcp, tool).to_string()
}

/// Tools that the log itself shows. A call is judged by the declaration of its tool alone, which is compiled when the tool
/// is called; what is kept of declarations is bounded.
#[derive(Debug)]
pub(super) struct FromLog {
    policy: Policy,
    ledger: Arc<dyn Ledger>,
    cache: SchemaCache,
    /// Whether all of the log was looked through before the run: then nothing new comes.
    has_learned: AtomicBool,
    known: Mutex<KnownTools>,
}

#[derive(Debug, Default)]
struct KnownTools {
    /// The newest declaration of each tool, and how many bytes they are.
    newest: BTreeMap<String, ToolSpec>,
    bytes: usize,
    /// Tools that are called, and that nothing declares.
    undeclared: BTreeSet<String>,
    compiled: CompiledSets,
}

/// Sets of tools by a hash, as many as there is room for; the oldest goes first.
#[derive(Debug, Default)]
struct CompiledSets {
    sets: HashMap<u64, Arc<ToolSet>>,
    order: VecDeque<(u64, usize)>,
    bytes: usize,
}

impl CompiledSets {
    fn add(&mut self, hash: u64, set: &Arc<ToolSet>) {
        let declared = set.declared.values().filter_map(|(_, it)| it.as_ref());
        // A gate takes some room, whatever its tools are.
        let bytes = 256 + declared.map(|it| it.text.len()).sum::<usize>();
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

impl FromLog {
    pub(super) fn new(policy: Policy, ledger: Arc<dyn Ledger>) -> Self {
        FromLog {
            policy,
            ledger,
            cache: SchemaCache::new(MOST_COMPILED_BYTES as u64),
            has_learned: AtomicBool::new(false),
            known: Mutex::default(),
        }
    }

    fn known(&self) -> MutexGuard<'_, KnownTools> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes note of all tools in these inputs, until `stop` is set. What cannot be read is reported by the second pass.
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

    /// Takes note of tools that the log shows, unless that was done before.
    pub(super) fn learn(&self, tools: &[ToolSpec]) {
        if !self.has_learned.load(Ordering::Relaxed) {
            self.known().learn(tools);
        }
    }

    /// What judges a call of this tool: the declaration that its record carries, or else the newest one. Where nothing
    /// declares it, it is a tool without a schema.
    ///
    /// # Errors
    /// Fails if tools cannot be compiled, which different names do not allow.
    pub(super) fn judging(
        &self,
        offered: Option<&[ToolSpec]>,
        tool: &str,
    ) -> Result<Arc<ToolSet>, Error> {
        if let Some(offered) = offered {
            // Where two have the same name, the last one counts. A name that is not offered may be meant for one that is.
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
        let mut known = self.known();
        let hash = xxh3_64(tool.as_bytes());
        if let Some(set) = known.compiled.sets.get(&hash) {
            return Ok(Arc::clone(set));
        }
        if let Some(own) = known.newest.get(tool).cloned() {
            return self.compiled(&mut known, hash, true, || vec![own]);
        }
        let has_room = known.newest.len() + known.undeclared.len() < MOST_UNDECLARED;
        if known.undeclared.contains(tool) || (has_room && tool.len() <= LONGEST_NAME) {
            known.undeclared.insert(tool.to_owned());
            let own = ToolSpec::without_schema(tool);
            return self.compiled(&mut known, hash, false, || vec![own]);
        }
        self.compiled(&mut known, 0, true, Vec::new)
    }

    /// No tools: what judges where it does not matter.
    ///
    /// # Errors
    /// See [`FromLog::judging`].
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

impl KnownTools {
    fn learn(&mut self, tools: &[ToolSpec]) {
        for tool in tools.iter().filter(|tool| tool.name.len() <= LONGEST_NAME) {
            let before = self.newest.get(&tool.name);
            if before == Some(tool) {
                continue;
            }
            let bytes = |tool: &ToolSpec| declaration(tool).len();
            let (before, bytes) = (before.map_or(0, bytes), bytes(tool));
            if self.bytes - before + bytes <= MOST_DECLARED_BYTES {
                self.bytes = self.bytes - before + bytes;
                self.newest.insert(tool.name.clone(), tool.clone());
                self.undeclared.remove(&tool.name);
                self.compiled.sets.remove(&xxh3_64(tool.name.as_bytes()));
            }
        }
    }
}
