//! Which tools judge a call: those that were given, or those that the log itself shows.
//!
//! A request carries the tools that the model was offered, and its calls are judged by these. Anything else in a log is
//! judged by the newest declaration of each tool that was found anywhere in it.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use callwright::admit::Ledger;
use callwright::wire::{self, Provider};
use callwright::{Error, Policy, ToolSpec};
use memchr::memmem::Finder;
use xxhash_rust::xxh3::{Xxh3, xxh3_128};

use crate::judge::Judge;
use crate::read::{Reader, Reading, RecordPlace};
use crate::seen::Seen;
use crate::source::{Input, Pieces};
use crate::summary::{Summary, ToolSummary, Version};

/// How many sets of tools are kept compiled at once. A fleet of agents has some dozen.
const MOST_SETS: usize = 256;

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
        let all = match self {
            Tools::Given(set) => Some(Arc::clone(set)),
            Tools::FromLog(log) => log.all().ok(),
        };
        let declared = all.iter().flat_map(|set| set.declared.values());
        for (name, declared) in declared {
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
        ToolSet::with_undeclared(tools, &BTreeSet::new(), policy, ledger)
    }

    /// Compiles tools, and others that are known only by name.
    fn with_undeclared(
        mut tools: Vec<ToolSpec>,
        undeclared: &BTreeSet<String>,
        policy: &Policy,
        ledger: Arc<dyn Ledger>,
    ) -> Result<Self, Error> {
        tools.extend(undeclared.iter().map(ToolSpec::without_schema));
        let judge = Arc::new(Judge::new(tools, policy, ledger)?);
        let declared = judge
            .gate()
            .tools()
            .map(|tool| {
                let declared = (!undeclared.contains(tool.name())).then(|| {
                    let text = declaration(tool.spec());
                    Declaration {
                        hash: format!("{:032x}", xxh3_128(text.as_bytes())),
                        text,
                        quarantined: tool.quarantined().map(str::to_owned),
                    }
                });
                let address = std::ptr::from_ref(tool).addr();
                (address, (tool.name().to_owned(), declared))
            })
            .collect();
        Ok(ToolSet { judge, declared })
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

/// Tools that the log itself shows.
#[derive(Debug)]
pub(super) struct FromLog {
    policy: Policy,
    ledger: Arc<dyn Ledger>,
    known: Mutex<KnownTools>,
}

#[derive(Debug, Default)]
struct KnownTools {
    /// The newest declaration of each tool.
    newest: BTreeMap<String, ToolSpec>,
    /// Tools that are called, and that nothing declares.
    undeclared: BTreeSet<String>,
    /// All of them, compiled.
    all: Option<Arc<ToolSet>>,
    /// Sets as requests carried them, by a hash.
    sets: HashMap<u64, Arc<ToolSet>>,
}

impl FromLog {
    pub(super) fn new(policy: Policy, ledger: Arc<dyn Ledger>) -> Self {
        FromLog {
            policy,
            ledger,
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
                        self.learn(tools);
                    }
                }
            }
        }
    }

    /// Takes note of tools that the log shows.
    pub(super) fn learn(&self, tools: &[ToolSpec]) {
        let mut known = self.known();
        for tool in tools {
            let same = known.newest.get(&tool.name) == Some(tool);
            if !same {
                known.newest.insert(tool.name.clone(), tool.clone());
                known.undeclared.remove(&tool.name);
                known.all = None;
            }
        }
    }

    /// All tools that are known by now.
    ///
    /// # Errors
    /// Fails if they cannot be compiled, which the names of a map do not allow.
    pub(super) fn all(&self) -> Result<Arc<ToolSet>, Error> {
        let mut known = self.known();
        if let Some(all) = &known.all {
            return Ok(Arc::clone(all));
        }
        let tools = known.newest.values().cloned().collect();
        let ledger = Arc::clone(&self.ledger);
        let all = ToolSet::with_undeclared(tools, &known.undeclared, &self.policy, ledger)?;
        let all = Arc::new(all);
        known.all = Some(Arc::clone(&all));
        Ok(all)
    }

    /// All tools, with this one. Where nothing declares it, it is a tool without a schema.
    ///
    /// # Errors
    /// See [`FromLog::all`].
    pub(super) fn all_with(&self, tool: &str) -> Result<Arc<ToolSet>, Error> {
        let all = self.all()?;
        if all.judge().gate().tool(tool).is_some() {
            return Ok(all);
        }
        let mut known = self.known();
        if known.newest.len() + known.undeclared.len() >= MOST_UNDECLARED {
            return Ok(all);
        }
        if !known.newest.contains_key(tool) {
            known.undeclared.insert(tool.to_owned());
        }
        known.all = None;
        drop(known);
        self.all()
    }

    /// The tools that one request carried. Where two have the same name, the last one counts.
    ///
    /// # Errors
    /// See [`FromLog::all`].
    pub(super) fn of_request(&self, tools: &[ToolSpec]) -> Result<Arc<ToolSet>, Error> {
        let unique: BTreeMap<&str, &ToolSpec> = tools
            .iter()
            .map(|tool| (tool.name.as_str(), tool))
            .collect();
        let mut hasher = Xxh3::new();
        for tool in unique.values() {
            hasher.update(declaration(tool).as_bytes());
        }
        let hash = hasher.digest();
        let mut known = self.known();
        if let Some(set) = known.sets.get(&hash) {
            return Ok(Arc::clone(set));
        }
        let tools = unique.into_values().cloned().collect();
        let set = Arc::new(ToolSet::new(tools, &self.policy, Arc::clone(&self.ledger))?);
        if known.sets.len() >= MOST_SETS {
            known.sets.clear();
        }
        known.sets.insert(hash, Arc::clone(&set));
        Ok(set)
    }
}
